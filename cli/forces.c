// The file has the header time,body,fx,fy,fz,tx,ty,tz. A row holds from its time until the next row
// of the same body; before its first row a body feels nothing. The rows of one body may stand
// anywhere in the file; of two rows with the same time the later one counts.
#include "forces.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

// Times come from text and from adding up steps; both are exact to far better than this, and no
// step is this short.
#define TIME_TOLERANCE 1e-9

enum { NFIELD = 8 };
static const char* const field_name[NFIELD] = {"time", "body", "fx", "fy", "fz", "tx", "ty", "tz"};

typedef struct Row {
  double time;
  int body, line;
  abWrench wrench;
} Row;

struct Forces {
  Row* row;  // sorted by body, then time, then line
  int nrow, capacity;
  int* next;  // per body: the row that comes next, -1 for bodies the file does not name
  int nbody;
};

static int compare_rows(const void* a, const void* b) {
  const Row *p = a, *q = b;
  if (p->body != q->body) return p->body < q->body ? -1 : 1;
  if (p->time != q->time) return p->time < q->time ? -1 : 1;
  return p->line < q->line ? -1 : 1;
}

// Cuts a line at its commas, in place; a field may be quoted. Returns the number of fields, -1 for
// a quote that does not end.
static int split(char* line, char** field, int most) {
  int n = 0;
  char* p = line;
  for (;;) {
    while (*p == ' ' || *p == '\t') p++;
    char *start = p, *out = p;
    if (n < most) field[n] = p;
    n++;
    if (*p == '"') {
      p++;
      while (*p && (*p != '"' || p[1] == '"')) {
        if (*p == '"') p++;
        *out++ = *p++;
      }
      if (!*p) return -1;
      p++;
      while (*p && *p != ',') p++;
    } else {
      while (*p && *p != ',') p++;
      out = p;
      while (out > start && (out[-1] == ' ' || out[-1] == '\t')) out--;
    }
    bool more = *p == ',';
    *out = 0;
    if (!more) return n;
    p++;
  }
}

static bool check_header(const char* path, int line, int n, char** field) {
  bool good = n == NFIELD;
  for (int i = 0; i < NFIELD && good; i++) good = !strcmp(field[i], field_name[i]);
  if (!good)
    cli_fail_at(path, line, "wrong header; the first line must be time,body,fx,fy,fz,tx,ty,tz");
  return good;
}

static int find_moving_body(const char* path, int line, const abModel* model, const char* name) {
  int body = ab_find_body(model, name);
  if (body >= 0 && model->body[body].mover >= 0) return body;
  if (body >= 0) {
    cli_fail_at(path, line, "body '%s' is fixed to the world, a force cannot move it", name);
    return -1;
  }
  const char** known = malloc(sizeof(char*) * (size_t)model->nbody);
  int n = 0;
  for (int i = 1; i < model->nbody && known; i++)
    if (model->body[i].mover >= 0) known[n++] = model->body[i].name;
  cli_fail_at(path, line, "there is no body '%s'%s", name, cli_suggest(name, n, known));
  free(known);
  return -1;
}

static bool read_row(const char* path, int line, char** field, const abModel* model, Row* row) {
  double x[NFIELD] = {0};
  for (int i = 0; i < NFIELD; i++) {
    if (i == 1) continue;
    char* end;
    x[i] = strtod(field[i], &end);
    if (end == field[i] || *end || !isfinite(x[i])) {
      cli_fail_at(path, line, "%s is '%s'; it must be a finite number", field_name[i], field[i]);
      return false;
    }
  }
  row->time = x[0];
  row->line = line;
  row->wrench = (abWrench){{x[2], x[3], x[4]}, {x[5], x[6], x[7]}};
  row->body = find_moving_body(path, line, model, field[1]);
  return row->body >= 0;
}

static bool add_row(Forces* f, Row row) {
  if (f->nrow == f->capacity) {
    int capacity = f->capacity ? 2 * f->capacity : 64;
    Row* more = realloc(f->row, sizeof(Row) * (size_t)capacity);
    if (!more) return cli_fail("no memory for the forces"), false;
    f->row = more;
    f->capacity = capacity;
  }
  f->row[f->nrow++] = row;
  return true;
}

// One line of the file. *header: whether the header has been seen.
static bool read_line(Forces* f, const char* path, int line, char* text, const abModel* model,
                      bool* header) {
  char* field[NFIELD];
  text[strcspn(text, "\r\n")] = 0;
  if (!text[strspn(text, " \t")]) return true;
  int n = split(text, field, NFIELD);
  if (n < 0) return cli_fail_at(path, line, "a quoted field does not end; add the \""), false;
  if (!*header) return *header = check_header(path, line, n, field);
  if (n != NFIELD) {
    cli_fail_at(path, line, "%d fields instead of 8: time,body,fx,fy,fz,tx,ty,tz", n);
    return false;
  }
  Row row;
  return read_row(path, line, field, model, &row) && add_row(f, row);
}

static bool read_all(Forces* f, const char* path, const abModel* model) {
  FILE* file = fopen(path, "r");
  if (!file)
    return cli_fail_at(path, 0, "cannot read the forces: %s; check the name", strerror(errno)),
           false;
  char text[4096];
  bool good = true, header = false;
  size_t total = 0;
  for (int line = 1; good && fgets(text, sizeof text, file); line++) {
    if (!text[0]) {
      cli_fail_at(path, line, "this is not text; is it a table of forces?");
      good = false;
    } else if ((total += strlen(text)) > ab_input_limit()) {
      cli_fail_at(path, line, "%s", cli_too_large());
      good = false;
    } else if (strlen(text) == sizeof text - 1) {
      cli_fail_at(path, line, "this line is too long for a row of forces");
      good = false;
    } else {
      if (line == 1 && !strncmp(text, "\xef\xbb\xbf", 3)) memmove(text, text + 3, strlen(text) - 2);
      good = read_line(f, path, line, text, model, &header);
    }
  }
  if (good && ferror(file)) {
    cli_fail_at(path, 0, "cannot read the forces; is it a folder?");
    good = false;
  }
  fclose(file);
  if (good && !header) {
    cli_fail_at(path, 1, "the file is empty; its first line must be time,body,fx,fy,fz,tx,ty,tz");
    good = false;
  }
  return good;
}

Forces* forces_load(const char* path, const abModel* model) {
  Forces* f = calloc(1, sizeof *f);
  if (!f) return cli_fail("no memory for the forces"), NULL;
  f->nbody = model->nbody;
  f->next = malloc(sizeof(int) * (size_t)model->nbody);
  if (!f->next || !read_all(f, path, model)) {
    forces_free(f);
    return NULL;
  }
  if (f->nrow) qsort(f->row, (size_t)f->nrow, sizeof(Row), compare_rows);
  for (int i = 0; i < model->nbody; i++) f->next[i] = -1;
  for (int i = f->nrow - 1; i >= 0; i--) f->next[f->row[i].body] = i;
  return f;
}

void forces_free(Forces* f) {
  if (!f) return;
  free(f->row);
  free(f->next);
  free(f);
}

void forces_apply(Forces* f, abData* data) {
  for (int body = 0; body < f->nbody; body++) {
    if (f->next[body] < 0) continue;
    for (int i = f->next[body]; i < f->nrow && f->row[i].body == body; i++) {
      if (f->row[i].time > data->time + TIME_TOLERANCE) break;
      data->applied[body] = f->row[i].wrench;
      f->next[body] = i + 1;
    }
    // The last row of this body holds for ever.
    if (f->next[body] >= f->nrow || f->row[f->next[body]].body != body) f->next[body] = -1;
  }
}
