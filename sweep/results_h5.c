// results.h5: one table, /results, a record a run, its fields named like the columns of the CSV
// file; /state where final states are kept; /spec, the specification as text. It bears no
// times, so that equal sweeps give equal files.
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { BLOCK = 4096 };

// Offsets of the fields in the memory of a record: run, doubles, status, residual, time, hash.
typedef struct Layout {
  hid_t type;
  size_t size;
  int ndouble;  // varied and measured
} Layout;

static hid_t status_type(void) {
  hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  for (signed char i = AB_RUN_OK; i <= AB_RUN_REFUSED; i++)
    H5Tenum_insert(type, ab_run_status_name(i), &i);
  return type;
}

static Layout make_layout(const abSweep* s) {
  Layout l = {.ndouble = s->nvary + s->nmeasure};
  size_t at = 8;
  l.size = 8 + 8 * (size_t)l.ndouble + 1 + 16 + (s->keep_hash ? 8 : 0);
  l.type = H5Tcreate(H5T_COMPOUND, l.size);
  H5Tinsert(l.type, "run", 0, H5T_NATIVE_INT64);
  for (int i = 0; i < l.ndouble; i++, at += 8)
    H5Tinsert(l.type, i < s->nvary ? s->vary[i].name : s->measure[i - s->nvary].name, at,
              H5T_NATIVE_DOUBLE);
  hid_t status = status_type();
  H5Tinsert(l.type, "status", at, status);
  H5Tclose(status);
  H5Tinsert(l.type, "residual", at + 1, H5T_NATIVE_DOUBLE);
  H5Tinsert(l.type, "time", at + 9, H5T_NATIVE_DOUBLE);
  if (s->keep_hash) H5Tinsert(l.type, "hash", at + 17, H5T_NATIVE_UINT64);
  return l;
}

static void pack(const abSweep* s, const Layout* l, int64_t run, const double* row, char* out) {
  size_t doubles = 8 * (size_t)l->ndouble;
  const double* end = row + l->ndouble;
  signed char status = (signed char)end[0];
  memcpy(out, &run, 8);
  memcpy(out + 8, row, doubles);
  out += 8 + doubles;
  memcpy(out, &status, 1);
  memcpy(out + 1, end + 1, s->keep_hash ? 24 : 16);
}

static hid_t make_table(hid_t file, const char* name, hid_t type, int rank, const hsize_t* size) {
  hsize_t chunk[2] = {BLOCK, rank > 1 ? size[1] : 1};
  hid_t space = H5Screate_simple(rank, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, false);
  if (size[0] > 0) {
    if (chunk[0] > size[0]) chunk[0] = size[0];
    H5Pset_chunk(how, rank, chunk);
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
  }
  hid_t table = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  return table;
}

static bool write_slab(hid_t table, hid_t type, int rank, const hsize_t* first, const hsize_t* n,
                       const void* bytes) {
  hid_t file = H5Dget_space(table), memory = H5Screate_simple(rank, n, NULL);
  H5Sselect_hyperslab(file, H5S_SELECT_SET, first, NULL, n, NULL);
  herr_t e = H5Dwrite(table, type, memory, file, H5P_DEFAULT, bytes);
  H5Sclose(memory);
  H5Sclose(file);
  return e >= 0;
}

static bool write_text(hid_t file, const char* name, const char* text) {
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(how, false);
  H5Tset_size(type, strlen(text) + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  hid_t d = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  bool good = d >= 0 && H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  if (d >= 0) H5Dclose(d);
  H5Pclose(how);
  H5Tclose(type);
  H5Sclose(space);
  return good;
}

typedef struct H5Out {
  hid_t file, table, state;
  Layout layout;
  char* record;
  double* kept;
} H5Out;

// Why a block could not be written is in *error where reading it failed.
static bool write_block(const abSweep* s, const H5Out* o, int64_t first, int64_t n,
                        const int64_t* run, const double* row) {
  int width = ab_sweep_width(s), nstate = s->nq + s->nv;
  const hsize_t from[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)n, (hsize_t)nstate};
  for (int64_t i = 0; i < n; i++)
    pack(s, &o->layout, run[i], row + i * width, o->record + (size_t)i * o->layout.size);
  if (!write_slab(o->table, o->layout.type, 1, from, count, o->record)) return false;
  if (!s->keep_state) return true;
  for (int64_t i = 0; i < n; i++)
    memcpy(o->kept + i * nstate, row + (i + 1) * width - nstate, sizeof(double) * (size_t)nstate);
  return write_slab(o->state, H5T_NATIVE_DOUBLE, 2, from, count, o->kept);
}

static bool write_all(const abSweep* s, const RowReader* rows, H5Out* o, abError* error) {
  int width = ab_sweep_width(s);
  int64_t* run = malloc(sizeof(int64_t) * BLOCK);
  double* row = malloc(sizeof(double) * BLOCK * (size_t)width);
  o->record = malloc(BLOCK * o->layout.size);
  o->kept = malloc(sizeof(double) * BLOCK * (size_t)(s->nq + s->nv + 1));
  bool good = run && row && o->record && o->kept;
  for (int64_t first = 0; first < rows->nrow && good; first += BLOCK) {
    int64_t n = rows->nrow - first < BLOCK ? rows->nrow - first : BLOCK;
    good = rows->read(rows->context, first, n, run, row, error) == AB_OK &&
           write_block(s, o, first, n, run, row);
  }
  free(o->kept);
  free(o->record);
  free(row);
  free(run);
  return good;
}

abStatus results_write_h5(const abSweep* s, const RowReader* rows, const char* path,
                          abError* error) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);  // this function reports by itself
  H5Out o = {.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), .state = -1};
  const hsize_t size[2] = {(hsize_t)rows->nrow, (hsize_t)(s->nq + s->nv)};
  if (o.file < 0) return sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be made");
  *error = (abError){0};
  o.layout = make_layout(s);
  o.table = make_table(o.file, "results", o.layout.type, 1, size);
  if (s->keep_state) o.state = make_table(o.file, "state", H5T_NATIVE_DOUBLE, 2, size);
  char* spec = json_dumps(s->spec, JSON_INDENT(2));
  bool good =
      o.table >= 0 && spec && write_text(o.file, "spec", spec) && write_all(s, rows, &o, error);
  free(spec);
  if (o.state >= 0) good = H5Dclose(o.state) >= 0 && good;
  if (o.table >= 0) good = H5Dclose(o.table) >= 0 && good;
  H5Tclose(o.layout.type);
  good = H5Fclose(o.file) >= 0 && good;
  if (good) return AB_OK;
  return error->code ? error->code
                     : sweep_fail(error, AB_ERROR_FILE, path, 0,
                                  "cannot be written; is there room on the disk?");
}
