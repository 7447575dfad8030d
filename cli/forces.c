// The file has the header time,body,fx,fy,fz,tx,ty,tz, or time,actuator,value. A row holds from its
// time until the next row of the same body (actuator); before its first row a body feels nothing,
// and a control is what the keyframe or the saved state says. The rows of one body may stand
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

enum { MAX_FIELD = 8 };

// One of the two kinds of files.
typedef struct Layout {
  const char* what;    // it holds
  const char* header;  // of the file
  int nfield;
  const char* field[MAX_FIELD];
  int (*find)(const char* path, int line, const abModel* model, const char* name);
  void (*set)(abData* data, int object, const double* value);
} Layout;

typedef struct Row {
  double time;
  int object, line;  // the body, or the actuator
  double value[MAX_FIELD - 2];
} Row;

struct Forces {
  const Layout* layout;
  Row* row;  // sorted by object, then time, then line
  int nrow, capacity;
  int* next;  // per object: the row that comes next, -1 for those the file does not name
  int nobject;
};

static int compare_rows(const void* a, const void* b) {
  const Row *p = a, *q = b;
  if (p->object != q->object) return p->object < q->object ? -1 : 1;
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

static bool check_header(const Layout* l, const char* path, int line, int n, char** field) {
  bool good = n == l->nfield;
  for (int i = 0; i < n && good; i++) good = !strcmp(field[i], l->field[i]);
  if (!good) cli_fail_at(path, line, "wrong header; the first line must be %s", l->header);
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

static int find_actuator(const char* path, int line, const abModel* model, const char* name) {
  int actuator = ab_find_actuator(model, name);
  if (actuator >= 0) return actuator;
  const char** known = malloc(sizeof(char*) * (size_t)(model->nactuator + 1));
  for (int i = 0; i < model->nactuator && known; i++) known[i] = model->actuator[i].name;
  cli_fail_at(path, line, "there is no actuator '%s'%s", name,
              cli_suggest(name, known ? model->nactuator : 0, known));
  free(known);
  return -1;
}

static void set_wrench(abData* data, int body, const double* x) {
  data->applied[body] = (abWrench){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

static void set_control(abData* data, int actuator, const double* x) { data->ctrl[actuator] = *x; }

static const Layout layout_of_forces = {"forces",
                                        "time,body,fx,fy,fz,tx,ty,tz",
                                        8,
                                        {"time", "body", "fx", "fy", "fz", "tx", "ty", "tz"},
                                        find_moving_body,
                                        set_wrench};
static const Layout layout_of_controls = {
    "controls", "time,actuator,value", 3, {"time", "actuator", "value"}, find_actuator,
    set_control};

static bool read_row(const Layout* l, const char* path, int line, char** field,
                     const abModel* model, Row* row) {
  double x[MAX_FIELD] = {0};
  for (int i = 0; i < l->nfield; i++) {
    if (i == 1) continue;
    char* end;
    x[i] = strtod(field[i], &end);
    if (end == field[i] || *end || !isfinite(x[i])) {
      cli_fail_at(path, line, "%s is '%s'; it must be a finite number", l->field[i], field[i]);
      return false;
    }
  }
  row->time = x[0];
  row->line = line;
  memcpy(row->value, x + 2, sizeof row->value);
  row->object = l->find(path, line, model, field[1]);
  return row->object >= 0;
}

static bool add_row(Forces* f, Row row) {
  if (f->nrow == f->capacity) {
    int capacity = f->capacity ? 2 * f->capacity : 64;
    Row* more = realloc(f->row, sizeof(Row) * (size_t)capacity);
    if (!more) return cli_fail("no memory for the %s", f->layout->what), false;
    f->row = more;
    f->capacity = capacity;
  }
  f->row[f->nrow++] = row;
  return true;
}

// One line of the file. *header: whether the header has been seen.
static bool read_line(Forces* f, const char* path, int line, char* text, const abModel* model,
                      bool* header) {
  const Layout* l = f->layout;
  char* field[MAX_FIELD];
  text[strcspn(text, "\r\n")] = 0;
  if (!text[strspn(text, " \t")]) return true;
  int n = split(text, field, l->nfield);
  if (n < 0) return cli_fail_at(path, line, "a quoted field does not end; add the \""), false;
  if (!*header) return *header = check_header(l, path, line, n, field);
  if (n != l->nfield) {
    cli_fail_at(path, line, "%d fields instead of %d: %s", n, l->nfield, l->header);
    return false;
  }
  Row row;
  return read_row(l, path, line, field, model, &row) && add_row(f, row);
}

static bool read_all(Forces* f, const char* path, const abModel* model) {
  FILE* file = fopen(path, "r");
  if (!file)
    return cli_fail_at(path, 0, "cannot read the %s: %s; check the name", f->layout->what,
                       strerror(errno)),
           false;
  char text[4096];
  bool good = true, header = false;
  size_t total = 0;
  for (int line = 1; good && fgets(text, sizeof text, file); line++) {
    if (!text[0]) {
      cli_fail_at(path, line, "this is not text; is it a table of %s?", f->layout->what);
      good = false;
    } else if ((total += strlen(text)) > ab_input_limit()) {
      cli_fail_at(path, line, "%s", cli_too_large());
      good = false;
    } else if (strlen(text) == sizeof text - 1) {
      cli_fail_at(path, line, "this line is too long for a row of %s", f->layout->what);
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
    cli_fail_at(path, 1, "the file is empty; its first line must be %s", f->layout->header);
    good = false;
  }
  return good;
}

static Forces* load(const Layout* layout, int nobject, const char* path, const abModel* model) {
  Forces* f = calloc(1, sizeof *f);
  if (!f) return cli_fail("no memory for the %s", layout->what), NULL;
  f->layout = layout;
  f->nobject = nobject;
  f->next = malloc(sizeof(int) * (size_t)(nobject + 1));
  if (!f->next || !read_all(f, path, model)) {
    forces_free(f);
    return NULL;
  }
  if (f->nrow) qsort(f->row, (size_t)f->nrow, sizeof(Row), compare_rows);
  for (int i = 0; i < nobject; i++) f->next[i] = -1;
  for (int i = f->nrow - 1; i >= 0; i--) f->next[f->row[i].object] = i;
  return f;
}

Forces* forces_load(const char* path, const abModel* model) {
  return load(&layout_of_forces, model->nbody, path, model);
}

Forces* controls_load(const char* path, const abModel* model) {
  return load(&layout_of_controls, model->nactuator, path, model);
}

void forces_free(Forces* f) {
  if (!f) return;
  free(f->row);
  free(f->next);
  free(f);
}

void forces_apply(Forces* f, abData* data) {
  for (int object = 0; object < f->nobject; object++) {
    if (f->next[object] < 0) continue;
    for (int i = f->next[object]; i < f->nrow && f->row[i].object == object; i++) {
      if (f->row[i].time > data->time + TIME_TOLERANCE) break;
      f->layout->set(data, object, f->row[i].value);
      f->next[object] = i + 1;
    }
    // The last row holds for ever.
    if (f->next[object] >= f->nrow || f->row[f->next[object]].object != object)
      f->next[object] = -1;
  }
}
