// Reading an HDF5 recording back, a sample at a time, into an abData of which only the recorded
// part is filled. Recordings are files like any other: sizes and offsets are checked before use,
// and the HDF5 library has no part in it (io/h5_file.h says why).
// Tests: test_record, test_recordings.py.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/input.h"
#include "io/buffer.h"
#include "io/h5_data.h"
#include "io/model_json.h"
#include "math/rotation.h"

typedef struct Column {
  abH5Shape shape;
  abH5Data data;
  uint64_t rows;
  abBuffer row, stored;  // the last rows read, and before their conversion
} Column;

struct abRecording {
  char* path;
  abH5File file;
  abModel* model;
  size_t limit;  // bytes of one column in one sample
  int nsample;
  bool has_states;  // older recordings have none
  Column column[AB_H5_NCOLUMN];
  abData data;
  abContact* contact;
  int contact_capacity;
};

// What the recording was made with, as far as this build knows it. A recording in which nothing was
// sampled yet says neither.
static bool read_settings(abRecording* r) {
  char name[256];
  double h = r->model->timestep;
  int contact = ab_h5_text_attribute(&r->file, "contact", name, sizeof name);
  int step = ab_h5_real_attribute(&r->file, "step", &h);
  if (contact == 1) r->data.contact = ab_find_contact_model(name);
  r->data.h = h;
  return contact >= 0 && step >= 0 && isfinite(h) && h > 0;
}

// Whether the file can have the bytes for so many rows; an HDF5 file may claim any number that were
// never written. Deflate makes at most 1032 bytes of one.
static bool can_be_stored(const abH5Data* d, uint64_t rows, uint64_t row_numbers) {
  uint64_t bytes = row_numbers * d->type.bytes, most = d->file->size * (d->nfilter ? 1032 : 1);
  return bytes == 0 || rows <= most / bytes;
}

static bool open_column(abRecording* r, abH5Column c) {
  Column* column = &r->column[c];
  const abH5Space* space = &column->data.space;
  uint64_t numbers = 1;
  column->shape = ab_h5_shape(r->model, c);
  if (!ab_h5_data_open(&r->file, column->shape.path, &column->data) ||
      !ab_h5_holds(&column->data.type, column->shape.number) ||
      space->ndim != column->shape.ndim + 1)
    return false;
  for (int i = 0; i < column->shape.ndim; i++) {
    if (space->dim[i + 1] != column->shape.dim[i]) return false;
    numbers *= column->shape.dim[i];
  }
  column->rows = space->dim[0];
  return can_be_stored(&column->data, column->rows, numbers);
}

static abStatus open_all(abRecording* r, abError* error) {
  if (!ab_h5_open(&r->file, r->path))
    return ab_fail(error, AB_ERROR_FILE, r->path, 0,
                   "cannot read this as an HDF5 file; is it a recording made with --record?");
  char* json = ab_h5_text(&r->file, "/model/json", ab_input_limit());
  r->limit = ab_input_limit() / 4;
  if (!json)
    return ab_fail(error, AB_ERROR_PARSE, r->path, 0,
                   "not a recording: /model/json is missing or is not one text; make one with abut "
                   "run --record FILE.h5");
  r->model = ab_model_from_json(json, r->path, error);
  ab_free(json);
  if (!r->model) return AB_ERROR_PARSE;
  if (!read_settings(r))
    return ab_fail(error, AB_ERROR_PARSE, r->path, 0,
                   "the recording is damaged: its attribute contact or step is no name or no time");
  // Time, which is written last, is looked at first: what it counts is then there, also while the
  // recording grows.
  for (int c = AB_H5_NCOLUMN - 1; c > AB_H5_STATE_TIME; c--)
    if (!open_column(r, (abH5Column)c))
      return ab_fail(error, AB_ERROR_PARSE, r->path, 0,
                     "the recording is damaged: %s is missing, is stored elsewhere, or has another "
                     "type or shape",
                     r->column[c].shape.path);
  r->has_states = true;
  for (int c = AB_H5_STATE_TIME; c >= AB_H5_STATE_WORD; c--)
    r->has_states = r->has_states && open_column(r, (abH5Column)c);
  uint64_t n = r->column[AB_H5_TIME].rows;
  r->nsample = n < INT32_MAX ? (int)n : INT32_MAX;
  return AB_OK;
}

static void close_all(abRecording* r) {
  for (int c = 0; c < AB_H5_NCOLUMN; c++) {
    ab_h5_data_free(&r->column[c].data);
    ab_buffer_free(&r->column[c].row);
    ab_buffer_free(&r->column[c].stored);
    r->column[c] = (Column){0};
  }
  ab_h5_close(&r->file);
  ab_recorded_model_free(r->model);
  r->model = NULL;
}

// A writer leaves structures half written for an instant. What looks damaged is then looked at
// again, a few times: 50 ms are longer than any flush.
enum { OPEN_ATTEMPTS = 10 };
static void wait_for_writer(void) { nanosleep(&(struct timespec){0, 5000000}, NULL); }

abRecording* ab_recording_open(const char* path, abError* error) {
  if (!path) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a recording needs a file name");
    return NULL;
  }
  abRecording* r = ab_alloc_zero(sizeof *r);
  if (r) r->path = ab_strdup(path);
  if (!r || !r->path) {
    ab_free(r);
    ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the recording");
    return NULL;
  }
  abStatus status = open_all(r, error);
  for (int i = 1; i < OPEN_ATTEMPTS && status != AB_OK && r->file.followed; i++) {
    wait_for_writer();
    close_all(r);
    status = open_all(r, error);
  }
  if (status == AB_OK) {
    r->data.R = ab_alloc_zero(sizeof(abMat3) * (size_t)r->model->nbody);
    if (r->data.R) return r;
    ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the recording");
  }
  ab_recording_close(r);
  return NULL;
}

void ab_recording_close(abRecording* r) {
  if (!r) return;
  close_all(r);
  ab_free(r->data.R);
  ab_free(r->contact);
  ab_free(r->path);
  ab_free(r);
}

int ab_recording_count(const abRecording* r) { return r ? r->nsample : 0; }
const abModel* ab_recording_model(const abRecording* r) { return r ? r->model : NULL; }

static bool make_room(abBuffer* b, size_t n) {
  if (b->capacity >= n) return true;
  ab_buffer_free(b);
  b->byte = ab_alloc(n);
  b->capacity = b->byte ? n : 0;
  return b->byte != NULL;
}

// Rows first .. first + n - 1 of a column, NULL if they are not there.
static void* rows(abRecording* r, abH5Column c, int64_t first, int64_t n) {
  Column* column = &r->column[c];
  size_t bytes = ab_h5_row_bytes(&column->shape);
  if (first < 0 || n < 0) return NULL;
  if (bytes && ((uint64_t)first > column->rows || (uint64_t)n > column->rows - (uint64_t)first))
    return NULL;
  // Packed rows may claim a thousand times the bytes of the file: a sample has its limit, too.
  if (bytes && (uint64_t)n > r->limit / bytes) return NULL;
  size_t width = column->shape.number == AB_H5_INT ? 4 : 8, numbers = bytes / width * (size_t)n;
  const abH5Type* type = &column->data.type;
  if (!make_room(&column->row, numbers * width + 8) ||
      !make_room(&column->stored, numbers * type->bytes + 8))
    return NULL;
  if (numbers == 0) return column->row.byte;
  if (!ab_h5_data_rows(&column->data, (uint64_t)first, (uint64_t)n, column->stored.byte))
    return NULL;
  ab_h5_convert(type, column->shape.number, numbers, column->stored.byte, column->row.byte);
  return column->row.byte;
}

typedef struct Rows {
  void* of[AB_H5_NCOLUMN];
} Rows;

static bool fill_contact(const abRecording* r, const Rows* row, int k, int64_t nvert,
                         abContact* c) {
  const int32_t* body = row->of[AB_H5_CONTACT_BODY];
  const int32_t* geom = row->of[AB_H5_CONTACT_GEOM];
  const int64_t* offset = row->of[AB_H5_POLYGON_OFFSET];
  // Both offsets lie in the rows read, so that their differences do not overflow.
  if (offset[k] < offset[0] || offset[k] > offset[0] + nvert || offset[k + 1] < offset[k] ||
      offset[k + 1] > offset[0] + nvert)
    return false;
  int64_t first = offset[k] - offset[0], n = offset[k + 1] - offset[k];
  c->body1 = body[2 * k];
  c->body2 = body[2 * k + 1];
  c->geom1 = geom[2 * k];
  c->geom2 = geom[2 * k + 1];
  int nbody = r->model->nbody, ngeom = r->model->ngeom;
  if (c->body1 < 0 || c->body1 >= nbody || c->body2 < 0 || c->body2 >= nbody || c->geom1 < 0 ||
      c->geom1 >= ngeom || c->geom2 < 0 || c->geom2 >= ngeom || n > INT32_MAX)
    return false;
  c->point = ((abVec3*)row->of[AB_H5_POINT])[k];
  c->normal = ((abVec3*)row->of[AB_H5_NORMAL])[k];
  c->t1 = ((abVec3*)row->of[AB_H5_T1])[k];
  c->t2 = ((abVec3*)row->of[AB_H5_T2])[k];
  c->wrench = ((abWrench*)row->of[AB_H5_WRENCH])[k];
  c->normal_wrench = ((abWrench*)row->of[AB_H5_NORMAL_WRENCH])[k];
  c->friction_wrench = ((abWrench*)row->of[AB_H5_FRICTION_WRENCH])[k];
  c->free_moment = ((double*)row->of[AB_H5_FREE_MOMENT])[k];
  c->area = ((double*)row->of[AB_H5_AREA])[k];
  c->depth = ((double*)row->of[AB_H5_DEPTH])[k];
  int32_t kind = ((int32_t*)row->of[AB_H5_KIND])[k], mode = ((int32_t*)row->of[AB_H5_MODE])[k];
  if (kind < 0 || kind > AB_PATCH_SURFACE || mode < 0 || mode > AB_CONTACT_SEPARATING) return false;
  c->kind = (abPatchKind)kind;
  c->mode = (abContactMode)mode;
  memcpy(c->slip, (double*)row->of[AB_H5_SLIP] + 3 * k, sizeof c->slip);
  c->nfacet = ((int32_t*)row->of[AB_H5_NFACET])[k];
  c->nvert = (int)n;
  c->polygon = (abVec3*)row->of[AB_H5_POLYGON] + first;
  const double* pressure = (double*)row->of[AB_H5_PRESSURE] + first;
  c->pressure = n > 0 && !isnan(pressure[0]) ? pressure : NULL;
  return true;
}

// The contacts [first, first + n).
static bool read_contacts(abRecording* r, int64_t first, int64_t n) {
  Rows row;
  for (int c = AB_H5_POLYGON_OFFSET; c < AB_H5_OFFSET; c++) {
    row.of[c] = rows(r, (abH5Column)c, first, c == AB_H5_POLYGON_OFFSET ? n + 1 : n);
    if (!row.of[c]) return false;
  }
  const int64_t* offset = row.of[AB_H5_POLYGON_OFFSET];
  if (offset[0] < 0 || offset[n] < offset[0]) return false;
  int64_t nvert = offset[n] - offset[0];
  row.of[AB_H5_POLYGON] = rows(r, AB_H5_POLYGON, offset[0], nvert);
  row.of[AB_H5_PRESSURE] = rows(r, AB_H5_PRESSURE, offset[0], nvert);
  if (!row.of[AB_H5_POLYGON] || !row.of[AB_H5_PRESSURE] || n > INT32_MAX) return false;
  if (n > r->contact_capacity) {
    abContact* contact = ab_realloc(r->contact, sizeof(abContact) * (size_t)n);
    if (!contact) return false;
    r->contact = contact;
    r->contact_capacity = (int)n;
  }
  for (int k = 0; k < (int)n; k++) {
    r->contact[k] = (abContact){0};
    if (!fill_contact(r, &row, k, nvert, &r->contact[k])) return false;
  }
  r->data.contacts = r->contact;
  r->data.ncontact = (int)n;
  return true;
}

// What is drawn must be somewhere. (No step ends at a time or a pose that is not finite.)
static bool finite_numbers(const double* x, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool read_sample(abRecording* r, int i) {
  abData* d = &r->data;
  Rows row;
  for (int c = AB_H5_STATUS; c < AB_H5_NCOLUMN; c++) {
    row.of[c] = rows(r, (abH5Column)c, i, 1);
    if (!row.of[c]) return false;
  }
  int32_t status = *(int32_t*)row.of[AB_H5_STATUS];
  if (status < 0 || status > AB_STEP_BROKEN || !finite_numbers(row.of[AB_H5_TIME], 1) ||
      !finite_numbers(row.of[AB_H5_POSE], 7 * r->model->nbody))
    return false;
  d->time = *(double*)row.of[AB_H5_TIME];
  d->q = row.of[AB_H5_Q];
  d->v = row.of[AB_H5_V];
  d->pose = row.of[AB_H5_POSE];
  d->com = row.of[AB_H5_COM];
  d->twist = row.of[AB_H5_TWIST];
  d->stat.status = (abStepStatus)status;
  d->stat.iterations = *(int32_t*)row.of[AB_H5_ITERATIONS];
  d->stat.residual = *(double*)row.of[AB_H5_RESIDUAL];
  d->stat.bad_index = d->stat.bad_body = -1;
  for (int b = 0; b < r->model->nbody; b++) d->R[b] = quat_matrix(d->pose[b].q);
  const int64_t* offset = rows(r, AB_H5_OFFSET, i, 2);
  if (!offset || offset[0] < 0 || offset[1] < offset[0]) return false;
  return read_contacts(r, offset[0], offset[1] - offset[0]);
}

const abData* ab_recording_sample(abRecording* r, int i, abError* error) {
  if (!r) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no recording");
    return NULL;
  }
  if (i < 0 || i >= r->nsample) {
    ab_fail(error, AB_ERROR_ARGUMENT, r->path, 0, "there is no sample %d; the recording has %d", i,
            r->nsample);
    return NULL;
  }
  bool good = read_sample(r, i);
  for (int k = 1; k < OPEN_ATTEMPTS && !good && r->file.followed; k++) {
    wait_for_writer();
    good = read_sample(r, i);
  }
  if (good) return &r->data;
  ab_fail(error, AB_ERROR_PARSE, r->path, 0, "the recording is damaged at sample %d", i);
  return NULL;
}

// The last state at or before the time, -1 where there is none. Their times only grow.
static int64_t find_state(abRecording* r, double time) {
  int64_t low = -1, high = r->has_states ? (int64_t)r->column[AB_H5_STATE_TIME].rows : 0;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    const double* at = rows(r, AB_H5_STATE_TIME, middle, 1);
    // a step that ends at the time ends there up to rounding
    if (at && *at <= time + 1e-9)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static const void* read_state(abRecording* r, double time, size_t* bytes) {
  int64_t k = find_state(r, time);
  const int64_t* offset = k >= 0 ? rows(r, AB_H5_STATE_OFFSET, k, 2) : NULL;
  if (!offset || offset[0] < 0 || offset[1] <= offset[0]) return NULL;
  const int64_t* exactly = rows(r, AB_H5_STATE_BYTES, k, 1);
  int64_t n = offset[1] - offset[0];
  if (!exactly || *exactly <= 0 || *exactly > INT64_MAX - 7 || (*exactly + 7) / 8 != n) return NULL;
  *bytes = (size_t)*exactly;
  return rows(r, AB_H5_STATE_WORD, offset[0], n);
}

const void* ab_recording_state(abRecording* r, double time, size_t* bytes, abError* error) {
  if (!r || !bytes || !isfinite(time)) {
    ab_fail(error, AB_ERROR_ARGUMENT, r ? r->path : NULL, 0,
            "a state needs a recording, a time and room for its size");
    return NULL;
  }
  const void* block = read_state(r, time, bytes);
  for (int k = 1; k < OPEN_ATTEMPTS && !block && r->has_states && r->file.followed; k++) {
    wait_for_writer();
    block = read_state(r, time, bytes);
  }
  if (!block)
    ab_fail(error, AB_ERROR_ARGUMENT, r->path, 0,
            r->has_states
                ? "the recording has no state at or before %g s, or it is damaged; give a "
                  "later time"
                : "the recording was made before recordings kept states (at %g s or "
                  "anywhere); record it again",
            time);
  return block;
}
