// Reading an HDF5 recording back, a sample at a time, into an abData of which only the recorded
// part is filled. Recordings are files like any other: sizes and offsets are checked before use.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/h5.h"
#include "io/model_json.h"
#include "math/rotation.h"

typedef struct Column {
  abH5Shape shape;
  hid_t id;
  hsize_t rows;
  abBuffer row;  // the last rows read
} Column;

struct abRecording {
  char* path;
  hid_t file;
  abModel* model;
  int nsample;
  Column column[AB_H5_NCOLUMN];
  abData data;
  abContact* contact;
  int contact_capacity;
};

static char* read_text(hid_t file, const char* name) {
  hid_t id = H5Dopen2(file, name, H5P_DEFAULT);
  if (id < 0) return NULL;
  hid_t type = H5Dget_type(id);
  bool fixed = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
  size_t n = H5Tget_size(type);
  char* s = fixed ? ab_alloc_zero(n + 1) : NULL;
  if (s && H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, s) < 0) {
    ab_free(s);
    s = NULL;
  }
  H5Tclose(type);
  H5Dclose(id);
  return s;
}

// What the recording was made with, as far as this build knows it.
static void read_settings(abRecording* r) {
  char name[256] = "";
  r->data.h = r->model->timestep;
  hid_t id = H5Aopen(r->file, "contact", H5P_DEFAULT);
  hid_t type = id >= 0 ? H5Aget_type(id) : -1;
  if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < sizeof name &&
      H5Tis_variable_str(type) == 0 && H5Aread(id, type, name) >= 0)
    r->data.contact = ab_find_contact_model(name);
  if (type >= 0) H5Tclose(type);
  if (id >= 0) H5Aclose(id);
  id = H5Aopen(r->file, "step", H5P_DEFAULT);
  if (id < 0) return;
  H5Aread(id, H5T_NATIVE_DOUBLE, &r->data.h);
  H5Aclose(id);
}

static bool open_column(abRecording* r, abH5Column c) {
  Column* column = &r->column[c];
  column->shape = ab_h5_shape(r->model, c);
  column->id = H5Dopen2(r->file, column->shape.path, H5P_DEFAULT);
  if (column->id < 0) return false;
  hid_t space = H5Dget_space(column->id);
  hsize_t dim[H5S_MAX_RANK] = {0};
  bool good = H5Sget_simple_extent_ndims(space) == column->shape.ndim + 1 &&
              H5Sget_simple_extent_dims(space, dim, NULL) >= 0;
  for (int i = 0; i < column->shape.ndim && good; i++) good = dim[i + 1] == column->shape.dim[i];
  column->rows = dim[0];
  H5Sclose(space);
  return good;
}

static hid_t open_file(const char* path) {
  hid_t access = ab_h5_access();
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  // Files that other tools rewrote in an older format cannot be followed, but can be read.
  if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  return file;
}

static abStatus open_all(abRecording* r, abError* error) {
  r->file = open_file(r->path);
  if (r->file < 0)
    return ab_fail(error, AB_ERROR_FILE, r->path, 0,
                   "cannot read this as an HDF5 file; is it a recording made with --record?");
  char* json = read_text(r->file, "/model/json");
  if (!json)
    return ab_fail(
        error, AB_ERROR_PARSE, r->path, 0,
        "not a recording: /model/json is missing; make one with abut run --record FILE.h5");
  r->model = ab_model_from_json(json, r->path, error);
  ab_free(json);
  if (!r->model) return AB_ERROR_PARSE;
  read_settings(r);
  for (int c = 0; c < AB_H5_NCOLUMN; c++)
    if (!open_column(r, (abH5Column)c))
      return ab_fail(error, AB_ERROR_PARSE, r->path, 0,
                     "the recording is damaged: %s is missing or has another shape",
                     r->column[c].shape.path);
  hsize_t n = r->column[AB_H5_TIME].rows;
  r->nsample = n < INT32_MAX ? (int)n : INT32_MAX;
  return AB_OK;
}

abRecording* ab_recording_open(const char* path, abError* error) {
  abRecording* r = ab_alloc_zero(sizeof *r);
  if (r) r->path = ab_strdup(path);
  if (!r || !r->path) {
    ab_free(r);
    ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the recording");
    return NULL;
  }
  for (int c = 0; c < AB_H5_NCOLUMN; c++) r->column[c].id = -1;
  abStatus status;
  H5E_BEGIN_TRY { status = open_all(r, error); }
  H5E_END_TRY
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
  for (int c = 0; c < AB_H5_NCOLUMN; c++) {
    if (r->column[c].id >= 0) H5Dclose(r->column[c].id);
    ab_buffer_free(&r->column[c].row);
  }
  if (r->file > 0) H5Fclose(r->file);
  ab_recorded_model_free(r->model);
  ab_free(r->data.R);
  ab_free(r->contact);
  ab_free(r->path);
  ab_free(r);
}

int ab_recording_count(const abRecording* r) { return r->nsample; }
const abModel* ab_recording_model(const abRecording* r) { return r->model; }

// Rows first .. first + n - 1 of a column, NULL if they are not there.
static void* rows(abRecording* r, abH5Column c, int64_t first, int64_t n) {
  Column* column = &r->column[c];
  size_t bytes = ab_h5_row_bytes(&column->shape);
  if (first < 0 || n < 0 || (bytes && (hsize_t)(first + n) > column->rows)) return NULL;
  column->row.n = 0;
  size_t need = (size_t)n * bytes + 8;
  if (column->row.capacity < need) {
    ab_buffer_free(&column->row);
    column->row.byte = ab_alloc(need);
    column->row.capacity = column->row.byte ? need : 0;
  }
  if (!column->row.byte || !n || !bytes) return column->row.byte;
  hsize_t start[3] = {(hsize_t)first}, count[3] = {(hsize_t)n};
  for (int i = 0; i < column->shape.ndim; i++) count[i + 1] = column->shape.dim[i];
  hid_t from = H5Dget_space(column->id), to = H5Screate_simple(column->shape.ndim + 1, count, NULL);
  H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count, NULL);
  herr_t status = H5Dread(column->id, ab_h5_type(column->shape.number), to, from, H5P_DEFAULT,
                          column->row.byte);
  H5Sclose(to);
  H5Sclose(from);
  return status < 0 ? NULL : column->row.byte;
}

typedef struct Rows {
  void* of[AB_H5_NCOLUMN];
} Rows;

static bool fill_contact(const abRecording* r, const Rows* row, int k, int64_t nvert,
                         abContact* c) {
  const int32_t* body = row->of[AB_H5_CONTACT_BODY];
  const int32_t* geom = row->of[AB_H5_CONTACT_GEOM];
  const int64_t* offset = row->of[AB_H5_POLYGON_OFFSET];
  int64_t first = offset[k] - offset[0], n = offset[k + 1] - offset[k];
  c->body1 = body[2 * k];
  c->body2 = body[2 * k + 1];
  c->geom1 = geom[2 * k];
  c->geom2 = geom[2 * k + 1];
  int nbody = r->model->nbody, ngeom = r->model->ngeom;
  if (c->body1 < 0 || c->body1 >= nbody || c->body2 < 0 || c->body2 >= nbody || c->geom1 < 0 ||
      c->geom1 >= ngeom || c->geom2 < 0 || c->geom2 >= ngeom || first < 0 || n < 0 ||
      n > INT32_MAX || first + n > nvert)
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
  c->kind = (abPatchKind)((int32_t*)row->of[AB_H5_KIND])[k];
  c->mode = (abContactMode)((int32_t*)row->of[AB_H5_MODE])[k];
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

static bool read_sample(abRecording* r, int i) {
  abData* d = &r->data;
  Rows row;
  for (int c = AB_H5_STATUS; c < AB_H5_NCOLUMN; c++) {
    row.of[c] = rows(r, (abH5Column)c, i, 1);
    if (!row.of[c]) return false;
  }
  d->time = *(double*)row.of[AB_H5_TIME];
  d->q = row.of[AB_H5_Q];
  d->v = row.of[AB_H5_V];
  d->pose = row.of[AB_H5_POSE];
  d->com = row.of[AB_H5_COM];
  d->twist = row.of[AB_H5_TWIST];
  d->stat.status = (abStepStatus) * (int32_t*)row.of[AB_H5_STATUS];
  d->stat.iterations = *(int32_t*)row.of[AB_H5_ITERATIONS];
  d->stat.residual = *(double*)row.of[AB_H5_RESIDUAL];
  d->stat.bad_body = -1;
  for (int b = 0; b < r->model->nbody; b++) d->R[b] = quat_matrix(d->pose[b].q);
  const int64_t* offset = rows(r, AB_H5_OFFSET, i, 2);
  if (!offset || offset[1] < offset[0]) return false;
  return read_contacts(r, offset[0], offset[1] - offset[0]);
}

const abData* ab_recording_sample(abRecording* r, int i, abError* error) {
  if (i < 0 || i >= r->nsample) {
    ab_fail(error, AB_ERROR_ARGUMENT, r->path, 0, "there is no sample %d; the recording has %d", i,
            r->nsample);
    return NULL;
  }
  bool good;
  H5E_BEGIN_TRY { good = read_sample(r, i); }
  H5E_END_TRY
  if (good) return &r->data;
  ab_fail(error, AB_ERROR_PARSE, r->path, 0, "the recording is damaged at sample %d", i);
  return NULL;
}
