// Tests: test_devices.
#include "haptic/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/input.h"
#include "math/rotation.h"

enum { COLUMNS = 8 };

static abPose pose_of(const double* row) {
  return (abPose){{row[1], row[2], row[3]}, {row[4], row[5], row[6], row[7]}};
}

// The numbers of a line: how many, -1 where something is none.
static int read_numbers(const char* line, double* out, int most) {
  int n = 0;
  for (const char* p = line; *p && *p != '\n' && *p != '\r';) {
    char* end;
    double x = strtod(p, &end);
    if (end == p || !isfinite(x) || n == most) return -1;
    out[n++] = x;
    while (*end == ' ' || *end == '\t') end++;
    if (*end == ',') end++;
    p = end;
  }
  return n;
}

static abStatus add_row(abHandTable* t, const double* number, int n, abPose start, const char* path,
                        int line, abError* error) {
  double last = t->n > 0 ? t->row[COLUMNS * (t->n - 1)] : -INFINITY;
  if (n != 4 && n != COLUMNS)
    return ab_fail(error, AB_ERROR_PARSE, path, line,
                   "a row has 4 numbers (time,x,y,z) or 8 (and qw,qx,qy,qz), this has %s",
                   n < 0 ? "something else" : "another count");
  if (!(number[0] > last))
    return ab_fail(error, AB_ERROR_PARSE, path, line, "times must grow: %g follows %g", number[0],
                   last);
  double* bigger = ab_realloc(t->row, sizeof(double) * COLUMNS * (size_t)(t->n + 1));
  if (!bigger) return ab_fail(error, AB_ERROR_MEMORY, path, line, "no memory for the table");
  t->row = bigger;
  double* row = t->row + (ptrdiff_t)COLUMNS * t->n;
  memcpy(row, number, sizeof(double) * 4);
  abQuat q = n == COLUMNS ? (abQuat){number[4], number[5], number[6], number[7]} : start.q;
  if (!(quat_norm(q) > 0.5))
    return ab_fail(error, AB_ERROR_PARSE, path, line, "the quaternion is not of length 1");
  q = quat_unit(q);
  row[4] = q.w, row[5] = q.x, row[6] = q.y, row[7] = q.z;
  t->n++;
  return AB_OK;
}

// A line of the file, as a text of its own; false where it is too long to be one of a table.
static bool take_line(const char** at, const char* end, char* line, size_t size) {
  const char* stop = memchr(*at, '\n', (size_t)(end - *at));
  size_t n = (size_t)((stop ? stop : end) - *at);
  if (n >= size) return false;
  memcpy(line, *at, n);
  line[n] = 0;
  *at = stop ? stop + 1 : end;
  return true;
}

static abStatus read_rows(abHandTable* t, const char* at, const char* end, abPose start,
                          const char* path, abError* error) {
  char line[1024];
  double number[COLUMNS];
  abStatus status = AB_OK;
  for (int i = 1; at < end && status == AB_OK; i++) {
    if (!take_line(&at, end, line, sizeof line))
      return ab_fail(error, AB_ERROR_PARSE, path, i, "the line is too long for a row of numbers");
    if (line[0] == '#' || line[0] == 0 || line[0] == '\r') continue;
    if (i == 1 && strncmp(line, "time", 4) == 0) continue;
    status = add_row(t, number, read_numbers(line, number, COLUMNS), start, path, i, error);
  }
  return status;
}

abStatus ab_hand_table_read(const char* path, abPose start, abHandTable* t, abError* error) {
  *t = (abHandTable){0};
  char* bytes;
  size_t n;
  abStatus status = ab_input_read(path, &bytes, &n, error);
  if (status != AB_OK) return status;
  status = read_rows(t, bytes, bytes + n, start, path, error);
  ab_free(bytes);
  if (status == AB_OK && t->n == 0)
    status = ab_fail(error, AB_ERROR_PARSE, path, 0, "the hand's table has no rows");
  if (status != AB_OK) ab_hand_table_free(t);
  return status;
}

void ab_hand_table_free(abHandTable* t) {
  ab_free(t->row);
  *t = (abHandTable){0};
}

// The row at or before the time; -1 before the first.
static int row_before(const abHandTable* t, double time) {
  int low = -1, high = t->n - 1;
  while (low < high) {
    int middle = low + (high - low + 1) / 2;
    if (t->row[COLUMNS * middle] <= time)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static abHand rest_at(const double* row) { return (abHand){.pose = pose_of(row)}; }

// From a to b: the share s of the way, at the rate ds of it per second.
static abHand between(const double* a, const double* b, double s, double ds) {
  abPose p = pose_of(a), q = pose_of(b);
  abQuat d = quat_mul(q.q, quat_conj(p.q));
  double sign = d.w < 0 ? -1 : 1, n = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  double angle = 2 * atan2(n, sign * d.w);
  abVec3 turn = n > 0 ? v3_scale(sign * angle / n, v3(d.x, d.y, d.z)) : v3_zero();
  return (abHand){
      .pose = {v3_lerp(p.p, q.p, s), quat_unit(quat_mul(quat_from_rotvec(v3_scale(s, turn)), p.q))},
      .twist = {v3_scale(ds, v3_sub(q.p, p.p)), v3_scale(ds, turn)}};
}

abHand ab_hand_table_reach(const abHandTable* t, double time) {
  int i = row_before(t, time);
  if (i < 0) return rest_at(t->row);
  if (i + 1 >= t->n) return rest_at(t->row + (ptrdiff_t)COLUMNS * (t->n - 1));
  const double *a = t->row + (ptrdiff_t)COLUMNS * i, *b = a + COLUMNS;
  double T = b[0] - a[0], x = (time - a[0]) / T, y = 1 - x;
  return between(a, b, x * x * x * (10 - 15 * x + 6 * x * x), 30 * x * x * y * y / T);
}

// The velocity at a row: from its neighbours; rest at the ends.
static abVec3 slope(const abHandTable* t, int i) {
  if (i <= 0 || i + 1 >= t->n) return v3_zero();
  const double *a = t->row + (ptrdiff_t)COLUMNS * (i - 1), *b = a + 2 * COLUMNS;
  return v3_scale(1 / (b[0] - a[0]), v3_sub(pose_of(b).p, pose_of(a).p));
}

abHand ab_hand_table_follow(const abHandTable* t, double time) {
  int i = row_before(t, time);
  if (i < 0) return rest_at(t->row);
  if (i + 1 >= t->n) return rest_at(t->row + (ptrdiff_t)COLUMNS * (t->n - 1));
  const double *a = t->row + (ptrdiff_t)COLUMNS * i, *b = a + COLUMNS;
  double T = b[0] - a[0], s = (time - a[0]) / T, s2 = s * s, s3 = s2 * s;
  abHand hand = between(a, b, s, 1 / T);
  abVec3 p = pose_of(a).p, q = pose_of(b).p, u = slope(t, i), v = slope(t, i + 1);
  abVec3 d = v3_sub(q, p);
  hand.pose.p = v3_axpy(3 * s2 - 2 * s3, d, p);
  hand.pose.p = v3_axpy(T * (s3 - 2 * s2 + s), u, v3_axpy(T * (s3 - s2), v, hand.pose.p));
  hand.twist.lin = v3_scale((6 * s - 6 * s2) / T, d);
  hand.twist.lin = v3_axpy(3 * s2 - 4 * s + 1, u, v3_axpy(3 * s2 - 2 * s, v, hand.twist.lin));
  return hand;
}

static abStatus set_argument(const char* word, size_t n, const char* const* names, double* values,
                             abError* error) {
  for (int i = 0; names[i]; i++) {
    size_t length = strlen(names[i]);
    if (n <= length || strncmp(word, names[i], length) != 0 || word[length] != '=') continue;
    char* end;
    values[i] = strtod(word + length + 1, &end);
    if (end == word + n && isfinite(values[i])) return AB_OK;
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "'%.*s': a number must follow the '='",
                   (int)n, word);
  }
  char known[256] = "";
  for (int i = 0; names[i]; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
  }
  return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                 "'%.*s' is no argument of this device; there are: %s", (int)n, word, known);
}

abStatus ab_device_arguments(const char* text, const char* const* names, double* values, char* file,
                             size_t size, abError* error) {
  if (file) file[0] = 0;
  abStatus status = AB_OK;
  for (const char* p = text; *p && status == AB_OK;) {
    size_t n = strcspn(p, ",");
    bool first = p == text && file && !memchr(p, '=', n);
    if (first && n >= size)
      status = ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "the path '%.60s...' is too long", p);
    else if (first)
      memcpy(file, p, n), file[n] = 0;
    else
      status = set_argument(p, n, names, values, error);
    p += n + (p[n] == ',');
  }
  return status;
}
