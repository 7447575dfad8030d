// The live page: its template (web/, with the library as WebAssembly in it), the model as it is
// drawn, what can be chosen, and the compiled model itself as base64.
// Tests: test_live.mjs.
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "fits.h"
#include "io/json_whole.h"
#include "io/page.h"

static json_t* models_json(void) {
  json_t* list = json_array();
  for (int i = 0; i < ab_contact_model_count(); i++) {
    const abContactModel* m = ab_contact_model(i);
    json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "name", m->name, "summary", m->summary,
                                          "free_only", (int)m->moves_bodies));
  }
  return list;
}

static json_t* keys_json(const abModel* model) {
  json_t* list = json_array();
  for (int i = 0; i < model->nkey; i++)
    json_array_append_new(list, json_string(model->key[i].name));
  return list;
}

typedef struct Range {
  double low, high;
} Range;

// Where what an actuator drives may go: the length of its joint or tendon.
static Range way_of(const abModel* model, const abActuator* a) {
  const double pi = 3.141592653589793;
  const abJoint* joint = a->drive == AB_DRIVE_JOINT ? &model->joint[a->joint] : NULL;
  const abTendon* tendon = a->drive == AB_DRIVE_TENDON ? &model->tendon[a->tendon] : NULL;
  Range way = {-1, 1};
  if (joint && joint->limited)
    way = (Range){joint->range[0], joint->range[1]};
  else if (tendon && tendon->limited)
    way = (Range){tendon->range[0], tendon->range[1]};
  else if (joint && joint->type == AB_JOINT_HINGE)
    way = (Range){-pi, pi};
  return way;
}

// What a slider for an actuator can choose: its limits; where it has none and holds a place (force
// = gain (control - length) with another scale at most), the way of what it drives; else -1 to 1.
// What keyframes say is within.
static Range range_of(const abModel* model, int i) {
  const abActuator* a = &model->actuator[i];
  if (a->ctrl_limited) return (Range){a->ctrl_range[0], a->ctrl_range[1]};
  Range r = {-1, 1};
  double scale = a->gain == AB_GAIN_FIXED && a->bias == AB_BIAS_AFFINE
                     ? -a->biasprm[1] / a->gainprm[0] * a->gear[0]
                     : 0;
  if (scale != 0 && isfinite(scale)) {
    Range way = way_of(model, a);
    r = (Range){fmin(scale * way.low, scale * way.high), fmax(scale * way.low, scale * way.high)};
  }
  for (int k = 0; k < model->nkey; k++) {
    double ctrl = model->key_ctrl[(ptrdiff_t)k * model->nactuator + i];
    r = (Range){fmin(r.low, ctrl), fmax(r.high, ctrl)};
  }
  return r;
}

static json_t* actuators_json(const abModel* model) {
  json_t* list = json_array();
  for (int i = 0; i < model->nactuator; i++) {
    Range r = range_of(model, i);
    json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "name", model->actuator[i].name, "low",
                                          r.low, "high", r.high));
  }
  return list;
}

static json_t* params_json(const abData* data) {
  json_t* values = json_object();
  for (int i = 0; data->contact && i < data->contact->nparam; i++) {
    const char* name = data->contact->param[i].name;
    double value = 0;
    ab_get_param(data, name, &value, NULL);
    json_object_set_new(values, name, json_real(value));
  }
  return values;
}

static abStatus write_choices(int fd, const char* path, const abModel* model, const abData* data,
                              const abLivePage* page, abError* error) {
  ab_json_begin();
  json_t* root = json_object();
  json_object_set_new(root, "models", models_json());
  json_object_set_new(root, "keys", keys_json(model));
  json_object_set_new(root, "key", json_integer(page->key));
  json_object_set_new(root, "actuators", actuators_json(model));
  json_object_set_new(root, "step", json_real(data->h));
  json_object_set_new(root, "params", params_json(data));
  json_object_set_new(root, "title", ab_json_text(page->title));
  json_object_set_new(root, "text", ab_json_text(page->text));
  json_object_set_new(root, "home", ab_json_text(page->home));
  abStatus status = ab_page_json(fd, path, "abut-live", root, 17, error);
  json_decref(root);
  return status;
}

static abStatus write_bytes(int fd, const char* path, const abModel* model, abError* error) {
  size_t n;
  void* bytes = ab_model_bytes(model, &n, error);
  if (!bytes) return AB_ERROR_MEMORY;
  abBuffer b = {0};
  ab_buffer_text(&b, "<script type=\"application/abut-scene\" id=\"abut-scene\">");
  ab_buffer_base64(&b, bytes, n);
  ab_buffer_text(&b, "</script>\n");
  abStatus status = b.failed ? ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory")
                             : ab_file_write(fd, b.byte, b.n, path, error);
  ab_buffer_free(&b);
  ab_bytes_free(bytes);
  return status;
}

static abStatus refuse(abError* error) {
  return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                 "a page needs a name, a model, and the model's simulation");
}

abStatus ab_live_page(const char* path, const abModel* model, const abData* data,
                      const abLivePage* page, abError* error) {
  if (!path || !ab_data_fits(model, data)) return refuse(error);
  const abLivePage plain = {.key = -1};
  if (!page) page = &plain;
  int fd = -1;
  abStatus status = ab_page_create("live.html", path, &fd, error);
  if (status == AB_OK) status = ab_page_model(fd, path, model, data, error);
  if (status == AB_OK) status = write_choices(fd, path, model, data, page, error);
  if (status == AB_OK) status = write_bytes(fd, path, model, error);
  if (fd >= 0 && close(fd) != 0 && status == AB_OK)
    status = ab_fail(error, AB_ERROR_FILE, path, 0, "cannot complete this file");
  return status;
}

abStatus ab_view_page(const char* path, const abModel* model, const abData* data, abError* error) {
  if (!path || !ab_data_fits(model, data)) return refuse(error);
  int fd = -1;
  abStatus status = ab_page_create("view.html", path, &fd, error);
  if (status == AB_OK) status = ab_page_model(fd, path, model, data, error);
  if (fd >= 0 && close(fd) != 0 && status == AB_OK)
    status = ab_fail(error, AB_ERROR_FILE, path, 0, "cannot complete this file");
  return status;
}
