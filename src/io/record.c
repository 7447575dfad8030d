// Choosing a format by the file's name, and when to flush.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/recorder.h"

static const abRecorderFormat* format_of(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* last = slash ? slash + 1 : path;
  const char* dot = strrchr(last, '.');
  if (!dot || dot == last || !dot[1]) return &ab_record_csv;
  if (!strcmp(dot, ".h5") || !strcmp(dot, ".hdf5")) return &ab_record_h5;
  if (!strcmp(dot, ".glb")) return &ab_record_glb;
  if (!strcmp(dot, ".html") || !strcmp(dot, ".htm")) return &ab_record_html;
  return NULL;
}

abRecorder* ab_record_open(const char* path, const abModel* model, abError* error) {
  if (!path || !path[0] || !model) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a recording needs a file name and a model");
    return NULL;
  }
  const abRecorderFormat* format = format_of(path);
  if (!format) {
    ab_fail(error, AB_ERROR_ARGUMENT, path, 0,
            "no such recording format; use a name that ends in .h5, .glb or .html, or a folder "
            "(ending in '/') for CSV");
    return NULL;
  }
  abRecorder* r = ab_alloc_zero(format->bytes);
  char* copy = ab_strdup(path);
  if (!r || !copy) {
    ab_free(r);
    ab_free(copy);
    ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory for the recorder");
    return NULL;
  }
  r->format = format;
  r->nbody = model->nbody, r->ngeom = model->ngeom;
  r->path = copy;
  r->last_flush = ab_wall_clock();
  if (format->open(r, model, error) != AB_OK) {
    format->close(r, true, NULL);
    ab_free(copy);
    ab_free(r);
    return NULL;
  }
  return r;
}

abStatus ab_record_sample(abRecorder* r, const abModel* model, const abData* data, abError* error) {
  if (!r || !model || !data)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no recorder, model or simulation");
  if (model->nbody != r->nbody || model->ngeom != r->ngeom)
    return ab_fail(error, AB_ERROR_ARGUMENT, r->path, 0,
                   "the recording was begun with another model");
  abStatus status = r->format->sample(r, model, data, error);
  if (status != AB_OK) return status;
  r->nsample++;
  bool due = r->pending >= AB_FLUSH_BYTES || ab_wall_clock() - r->last_flush >= AB_FLUSH_INTERVAL;
  return due ? ab_record_flush(r, error) : AB_OK;
}

abStatus ab_record_flush(abRecorder* r, abError* error) {
  if (!r) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no recorder");
  r->last_flush = ab_wall_clock();
  if (!r->format->flush || !r->pending) return AB_OK;
  abStatus status = r->format->flush(r, error);
  r->pending = 0;
  return status;
}

abStatus ab_record_close(abRecorder* r, abError* error) {
  if (!r) return AB_OK;
  abStatus status = ab_record_flush(r, error);
  abStatus closed = r->format->close(r, status != AB_OK, status == AB_OK ? error : NULL);
  ab_free(r->path);
  ab_free(r);
  return status != AB_OK ? status : closed;
}

const char* ab_patch_kind_name(abPatchKind kind) {
  return kind == AB_PATCH_SURFACE ? "surface" : kind == AB_PATCH_LINE ? "line" : "point";
}

const char* ab_contact_mode_name(abContactMode mode) {
  return mode == AB_CONTACT_STICK ? "stick" : mode == AB_CONTACT_SLIP ? "slip" : "separating";
}
