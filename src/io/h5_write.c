// The HDF5 recorder.
//
// Samples are gathered in memory, and each flush opens the file in HDF5's single-writer,
// multiple-reader mode, appends them and closes the file. Between flushes the file is therefore an
// ordinary closed one: a killed run leaves it complete, and readers of any kind may open it. During
// a flush (milliseconds) the mode orders the writes so that a reader who follows the file sees it
// consistent at every moment. The mode appends only; so the file is made under another name, whole,
// and takes its place in one moment: without samples when the recording begins, and once more when
// the first sample has told the attributes. A descriptor of our own keeps other recorders away.
// Tests: test_record, test_recordings.py.
#define _XOPEN_SOURCE 700
#include <abut/state.h>
#include <abut/version.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/h5.h"
#include "io/h5_file.h"
#include "io/recorder.h"

// Bytes of a chunk: large enough for speed and small enough that a short run's file stays small.
#ifndef AB_H5_CHUNK
#define AB_H5_CHUNK 16384
#endif
enum { CHUNK = AB_H5_CHUNK };

typedef struct Column {
  abH5Shape shape;
  abBuffer pending;
  hsize_t rows;  // in the file
} Column;

typedef struct H5 {
  abRecorder base;
  Column column[AB_H5_NCOLUMN];
  int64_t ncontact, nvert, nword;  // so far
  size_t since;                    // bytes of samples after the last state
  const abModel* model;
  char* place;     // where the file is, links resolved
  int descriptor;  // of the file, locked
  bool begun;      // the attributes that need the first sample are written
  char contact[64];
  double h;
} H5;

static abStatus write_failed(const char* path, abError* error) {
  return ab_fail(error, AB_ERROR_FILE, path, 0,
                 "cannot write the recording; is the folder writable and the disk not full?");
}

// --- creating
// -----------------------------------------------------------------------------------------

// How to create a file, group or data set: without the time of day, so that the same run gives the
// same bytes.
static hid_t timeless(hid_t of_what) {
  hid_t create = H5Pcreate(of_what);
  H5Pset_obj_track_times(create, false);
  return create;
}

static hid_t create_data(hid_t at, const char* name, hid_t type, hid_t space) {
  hid_t create = timeless(H5P_DATASET_CREATE);
  hid_t id = H5Dcreate2(at, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  return id;
}

static bool add_text(hid_t at, const char* name, const char* value, bool attribute) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(value) + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hid_t space = H5Screate(H5S_SCALAR), id;
  herr_t status = -1;
  if (attribute) {
    id = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (id >= 0) status = H5Awrite(id, type, value);
    if (id >= 0) H5Aclose(id);
  } else {
    id = create_data(at, name, type, space);
    if (id >= 0) status = H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value);
    if (id >= 0) H5Dclose(id);
  }
  H5Sclose(space);
  H5Tclose(type);
  return status >= 0;
}

static bool add_number(hid_t at, const char* name, double value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t id = H5Acreate2(at, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = id >= 0 && H5Awrite(id, H5T_NATIVE_DOUBLE, &value) >= 0;
  if (id >= 0) H5Aclose(id);
  H5Sclose(space);
  return good;
}

static const char* body_name(const abModel* m, int i) { return m->body[i].name; }
static const char* joint_name(const abModel* m, int i) { return m->joint[i].name; }
static const char* geom_name(const abModel* m, int i) { return m->geom[i].name; }

// A list of names, each padded with zeros to the longest.
static bool add_names(hid_t file, const char* path, const abModel* model, int n,
                      const char* (*name)(const abModel*, int)) {
  size_t width = 1;
  for (int i = 0; i < n; i++)
    if (name(model, i) && strlen(name(model, i)) + 1 > width) width = strlen(name(model, i)) + 1;
  char* all = ab_alloc_zero((size_t)n * width + 1);
  if (!all) return false;
  for (int i = 0; i < n; i++)
    if (name(model, i)) strcpy(all + (size_t)i * width, name(model, i));
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, width);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hsize_t dim = (hsize_t)n;
  hid_t space = H5Screate_simple(1, &dim, NULL);
  hid_t id = create_data(file, path, type, space);
  bool good = id >= 0 && (n == 0 || H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
  if (id >= 0) H5Dclose(id);
  H5Sclose(space);
  H5Tclose(type);
  ab_free(all);
  return good;
}

static bool add_column(hid_t file, const abH5Shape* s) {
  hsize_t dim[3] = {0}, most[3] = {H5S_UNLIMITED}, chunk[3];
  size_t row = ab_h5_row_bytes(s);
  chunk[0] = row >= CHUNK ? 1 : CHUNK / (row ? row : 1);
  for (int i = 0; i < s->ndim; i++) {
    dim[i + 1] = s->dim[i];
    most[i + 1] = s->dim[i] ? s->dim[i] : H5S_UNLIMITED;
    chunk[i + 1] = s->dim[i] ? s->dim[i] : 1;
  }
  hid_t space = H5Screate_simple(s->ndim + 1, dim, most);
  hid_t create = timeless(H5P_DATASET_CREATE);
  H5Pset_chunk(create, s->ndim + 1, chunk);
  hid_t id =
      H5Dcreate2(file, s->path, ab_h5_type(s->number), space, H5P_DEFAULT, create, H5P_DEFAULT);
  bool good = id >= 0 && add_text(id, "about", s->doc, true);
  if (id >= 0) H5Dclose(id);
  H5Pclose(create);
  H5Sclose(space);
  return good;
}

static bool add_model(hid_t file, const abModel* model) {
  char* json = ab_model_json(model, true);
  if (!json) return false;
  bool good = add_text(file, "/model/json", json, false) &&
              add_names(file, "/model/body_name", model, model->nbody, body_name) &&
              add_names(file, "/model/joint_name", model, model->njoint, joint_name) &&
              add_names(file, "/model/geom_name", model, model->ngeom, geom_name);
  ab_json_free(json);
  return good;
}

static bool fill_file(H5* h5, hid_t file, bool sampled) {
  static const char* const group[] = {"/model", "/contacts", "/stat", "/states"};
  bool good = true;
  hid_t create = timeless(H5P_GROUP_CREATE);
  for (int i = 0; i < 4 && good; i++) {
    hid_t id = H5Gcreate2(file, group[i], H5P_DEFAULT, create, H5P_DEFAULT);
    good = id >= 0;
    if (good) H5Gclose(id);
  }
  H5Pclose(create);
  good = good && add_text(file, "format", "abut recording", true) &&
         add_number(file, "format_version", 1) && add_text(file, "abut_version", AB_VERSION, true);
  if (sampled)
    good = good && add_text(file, "contact", h5->contact, true) && add_number(file, "step", h5->h);
  good = good && add_model(file, h5->model);
  for (int c = 0; c < AB_H5_NCOLUMN && good; c++) good = add_column(file, &h5->column[c].shape);
  return good;
}

// Bytes of the first structure of the file (version 3), of which the last four are its check sum.
enum { SUPERBLOCK = 48, OPEN_FLAGS = 11 };

// An image is that of a file still open, or with a check sum for it: makes it that of a closed one.
static void close_image(char* image) {
  image[OPEN_FLAGS] = 0;
  uint32_t sum = ab_h5_checksum(image, SUPERBLOCK - 4);
  for (int i = 0; i < 4; i++) image[SUPERBLOCK - 4 + i] = (char)(sum >> (8 * i) & 255);
}

// The file without rows, made in memory: HDF5 does not survive a write that fails.
static bool make_image(H5* h5, bool sampled, abBuffer* image) {
  hid_t access = ab_h5_access(), create = timeless(H5P_FILE_CREATE);
  bool good = H5Pset_fapl_core(access, (size_t)1 << 18, false) >= 0;
  hid_t file = good ? H5Fcreate(h5->place, H5F_ACC_TRUNC, create, access) : -1;
  H5Pclose(create);
  H5Pclose(access);
  if (file < 0) return false;
  good = fill_file(h5, file, sampled) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  ssize_t n = good ? H5Fget_file_image(file, NULL, 0) : -1;
  image->byte = n > 0 ? ab_alloc((size_t)n) : NULL;
  good = n > SUPERBLOCK && image->byte && H5Fget_file_image(file, image->byte, (size_t)n) == n;
  if (good) close_image(image->byte);
  image->n = good ? (size_t)n : 0;
  return H5Fclose(file) >= 0 && good;
}

// Writes the file without rows beside its place, locked, and puts it there.
static bool create_file(H5* h5, bool sampled) {
  abBuffer image = {0};
  size_t n = strlen(h5->place) + 6;
  char* name = ab_alloc(n);
  if (name) snprintf(name, n, "%s.part", h5->place);
  bool good = name && make_image(h5, sampled, &image);
  int fd = good ? ab_file_create(name, NULL) : -1;
  good = fd >= 0 && ab_file_write(fd, image.byte, image.n, name, NULL) == AB_OK &&
         rename(name, h5->place) == 0;
  if (!good && fd >= 0) remove(name);
  int other = good ? h5->descriptor : fd;
  if (good) h5->descriptor = fd;
  if (other >= 0) close(other);
  ab_buffer_free(&image);
  ab_free(name);
  return good;
}

static abStatus h5_open(abRecorder* recorder, const abModel* model, abError* error) {
  H5* h5 = (H5*)recorder;
  h5->model = model;
  for (int c = 0; c < AB_H5_NCOLUMN; c++) h5->column[c].shape = ab_h5_shape(model, (abH5Column)c);
  h5->descriptor = ab_file_create(recorder->path, error);
  if (h5->descriptor < 0) return AB_ERROR_FILE;
  h5->place = realpath(recorder->path, NULL);
  bool good;
  H5E_BEGIN_TRY { good = h5->place && create_file(h5, false); }
  H5E_END_TRY
  return good ? AB_OK : write_failed(recorder->path, error);
}

// --- sampling
// -----------------------------------------------------------------------------------------

static void put(H5* h5, abH5Column c, const void* row) {
  ab_buffer_add(&h5->column[c].pending, row, ab_h5_row_bytes(&h5->column[c].shape));
}
static void put_int(H5* h5, abH5Column c, int x) {
  int32_t i = x;
  put(h5, c, &i);
}

static void put_contact(H5* h5, const abContact* c) {
  const int32_t body[2] = {c->body1, c->body2}, geom[2] = {c->geom1, c->geom2};
  put(h5, AB_H5_CONTACT_BODY, body);
  put(h5, AB_H5_CONTACT_GEOM, geom);
  put(h5, AB_H5_POINT, &c->point);
  put(h5, AB_H5_NORMAL, &c->normal);
  put(h5, AB_H5_T1, &c->t1);
  put(h5, AB_H5_T2, &c->t2);
  put(h5, AB_H5_WRENCH, &c->wrench);
  put(h5, AB_H5_NORMAL_WRENCH, &c->normal_wrench);
  put(h5, AB_H5_FRICTION_WRENCH, &c->friction_wrench);
  put(h5, AB_H5_FREE_MOMENT, &c->free_moment);
  put(h5, AB_H5_AREA, &c->area);
  put(h5, AB_H5_DEPTH, &c->depth);
  put_int(h5, AB_H5_KIND, (int)c->kind);
  put_int(h5, AB_H5_MODE, (int)c->mode);
  put(h5, AB_H5_SLIP, c->slip);
  put_int(h5, AB_H5_NFACET, c->nfacet);
  for (int i = 0; i < c->nvert; i++) {
    double none = NAN;
    put(h5, AB_H5_POLYGON, &c->polygon[i]);
    put(h5, AB_H5_PRESSURE, c->pressure ? &c->pressure[i] : &none);
  }
  h5->nvert += c->nvert;
  put(h5, AB_H5_POLYGON_OFFSET, &h5->nvert);
}

// A state is kept with the first sample, and whenever the samples since the last one have taken
// SPARSE times its bytes: the file grows by an eighth at most, and whoever goes on from any moment
// repeats a few steps only. What has no simulation behind it (a sample of a recording) has no
// state.
enum { SPARSE = 8 };
static abStatus put_state(H5* h5, const abModel* model, const abData* data) {
  size_t bytes = data->internal ? ab_state_size(model, data) : 0;
  if (!bytes || (h5->base.nsample > 0 && h5->since / SPARSE < bytes)) return AB_OK;
  size_t words = (bytes + 7) / 8;
  int64_t* word = ab_alloc_zero(words * sizeof *word);
  abStatus status = word ? ab_state_get(model, data, word, bytes) : AB_ERROR_MEMORY;
  if (status == AB_OK) {
    ab_buffer_add(&h5->column[AB_H5_STATE_WORD].pending, word, words * sizeof *word);
    h5->nword += (int64_t)words;
    put(h5, AB_H5_STATE_OFFSET, &h5->nword);
    int64_t exactly = (int64_t)bytes;
    put(h5, AB_H5_STATE_BYTES, &exactly);
    put(h5, AB_H5_STATE_TIME, &data->time);
    h5->since = 0;
  }
  ab_free(word);
  return status;
}

static size_t pending_bytes(const H5* h5) {
  size_t n = 0;
  for (int c = 0; c < AB_H5_NCOLUMN; c++) n += h5->column[c].pending.n;
  return n;
}

static abStatus h5_sample(abRecorder* recorder, const abModel* model, const abData* data,
                          abError* error) {
  H5* h5 = (H5*)recorder;
  size_t before = pending_bytes(h5);
  if (recorder->nsample == 0) {
    int64_t zero = 0;
    put(h5, AB_H5_STATE_OFFSET, &zero);
    put(h5, AB_H5_OFFSET, &zero);
    put(h5, AB_H5_POLYGON_OFFSET, &zero);
    strncpy(h5->contact, data->contact ? data->contact->name : "none", sizeof h5->contact - 1);
    h5->h = data->h;
  }
  for (int i = 0; i < data->ncontact; i++) put_contact(h5, &data->contacts[i]);
  h5->ncontact += data->ncontact;
  put(h5, AB_H5_OFFSET, &h5->ncontact);
  put_int(h5, AB_H5_STATUS, (int)data->stat.status);
  put_int(h5, AB_H5_ITERATIONS, data->stat.iterations);
  put(h5, AB_H5_RESIDUAL, &data->stat.residual);
  put(h5, AB_H5_Q, data->q);
  put(h5, AB_H5_V, data->v);
  put(h5, AB_H5_POSE, data->pose);
  put(h5, AB_H5_COM, data->com);
  put(h5, AB_H5_TWIST, data->twist);
  put(h5, AB_H5_TIME, &data->time);
  h5->since += pending_bytes(h5) - before;
  abStatus status = put_state(h5, model, data);
  for (int c = 0; c < AB_H5_NCOLUMN && status == AB_OK; c++)
    if (h5->column[c].pending.failed) status = AB_ERROR_MEMORY;
  recorder->pending = pending_bytes(h5);
  return status == AB_OK
             ? AB_OK
             : ab_fail(error, status, recorder->path, 0, "no memory for a sample or a state");
}

// --- writing
// ------------------------------------------------------------------------------------------

// Appends the pending rows to one data set.
static bool append(hid_t file, Column* c) {
  size_t row = ab_h5_row_bytes(&c->shape);
  if (!row || !c->pending.n) return true;
  hsize_t n = c->pending.n / row;
  hsize_t start[3] = {c->rows}, count[3] = {n}, size[3] = {c->rows + n};
  for (int i = 0; i < c->shape.ndim; i++) count[i + 1] = size[i + 1] = c->shape.dim[i];
  hid_t id = H5Dopen2(file, c->shape.path, H5P_DEFAULT);
  if (id < 0) return false;
  bool good = H5Dset_extent(id, size) >= 0;
  hid_t to = H5Dget_space(id), from = H5Screate_simple(c->shape.ndim + 1, count, NULL);
  H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, count, NULL);
  good = good &&
         H5Dwrite(id, ab_h5_type(c->shape.number), from, to, H5P_DEFAULT, c->pending.byte) >= 0;
  good = good && H5Dflush(id) >= 0;
  H5Sclose(from);
  H5Sclose(to);
  H5Dclose(id);
  c->rows += n;
  c->pending.n = 0;
  return good;
}

// Takes the room for the pending rows from the disk before HDF5 writes, so that a full disk is
// found while the file is whole. Per data set: the rows, a chunk that is begun, and its share of an
// index. What is too much is given back when the file is closed.
static bool reserve(const H5* h5) {
  size_t n = (size_t)1 << 16;
  for (int c = 0; c < AB_H5_NCOLUMN; c++) {
    size_t row = ab_h5_row_bytes(&h5->column[c].shape), rows = h5->column[c].pending.n;
    n += rows + rows / 64 + 2 * (row > CHUNK ? row : CHUNK) + 8192;
  }
  off_t end = lseek(h5->descriptor, 0, SEEK_END);
  return end >= 0 && posix_fallocate(h5->descriptor, end, (off_t)n) == 0;
}

static bool append_all(H5* h5) {
  bool good = h5->begun || create_file(h5, true);
  h5->begun = true;
  good = good && reserve(h5);
  hid_t access = ab_h5_access();
  hid_t file = good ? H5Fopen(h5->place, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access) : -1;
  H5Pclose(access);
  if (file < 0) return false;
  for (int c = 0; c < AB_H5_NCOLUMN && good; c++) good = append(file, &h5->column[c]);
  return H5Fclose(file) >= 0 && good;
}

static abStatus h5_flush(abRecorder* recorder, abError* error) {
  bool good;
  H5E_BEGIN_TRY { good = append_all((H5*)recorder); }
  H5E_END_TRY
  return good ? AB_OK : write_failed(recorder->path, error);
}

static abStatus h5_close(abRecorder* recorder, bool abandon, abError* error) {
  (void)abandon;
  (void)error;
  H5* h5 = (H5*)recorder;
  for (int c = 0; c < AB_H5_NCOLUMN; c++) ab_buffer_free(&h5->column[c].pending);
  free(h5->place);
  if (h5->descriptor >= 0) close(h5->descriptor);
  return AB_OK;
}

const abRecorderFormat ab_record_h5 = {sizeof(H5), h5_open, h5_sample, h5_flush, h5_close};
