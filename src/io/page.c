// What the two pages, replay and live, share: the template they begin with, and the model as the
// page draws it.
// Tests: test_replay.mjs, test_live.mjs.
#include "io/page.h"

#include <abut/version.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/draw.h"
#include "io/json_whole.h"
#include "io/model_json.h"
#include "io/place.h"

#ifndef ABUT_DATA_DIR
#define ABUT_DATA_DIR "/usr/local/share/abut"
#endif

// --- the template
// -------------------------------------------------------------------------------------

// Where the user says, beside the library or the program, and where `make install` puts it.
static FILE* open_template(const char* name, char* path, size_t size) {
  static const char* const beside[] = {"share/abut", "../share/abut", "../../share/abut"};
  char own[800];
  FILE* file = NULL;
  const char* given = getenv("ABUT_DATA_DIR");
  if (given) snprintf(path, size, "%s/%s", given, name);
  if (given) file = fopen(path, "rb");
  bool known = ab_own_folder(own, sizeof own);
  for (size_t i = 0; !file && known && i < sizeof beside / sizeof *beside; i++) {
    snprintf(path, size, "%s/%s/%s", own, beside[i], name);
    file = fopen(path, "rb");
  }
  if (file) return file;
  snprintf(path, size, "%s/%s", ABUT_DATA_DIR, name);
  return fopen(path, "rb");
}

abStatus ab_page_create(const char* name, const char* out, int* fd, abError* error) {
  char path[1024], bytes[65536];
  FILE* file = open_template(name, path, sizeof path);
  if (!file)
    return ab_fail(error, AB_ERROR_FILE, path, 0,
                   "the template of the page is missing; build it with 'make live' (it needs npm, "
                   "and clang for the live page), or say where it is by the environment variable "
                   "ABUT_DATA_DIR");
  *fd = ab_file_create(out, error);
  abStatus status = *fd < 0 ? AB_ERROR_FILE : AB_OK;
  for (size_t n; status == AB_OK && (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
    status = ab_file_write(*fd, bytes, n, out, error);
  if (status == AB_OK && ferror(file))
    status = ab_fail(error, AB_ERROR_FILE, path, 0, "cannot read the template of the page");
  fclose(file);
  return status;
}

// --- the model
// ----------------------------------------------------------------------------------------

static json_t* colors_json(const abModel* model) {
  json_t* list = json_array();
  for (int i = 0; i < model->ngeom; i++) {
    float c[4];
    ab_draw_color(model, i, c);
    json_array_append_new(
        list, json_pack("[ffff]", (double)c[0], (double)c[1], (double)c[2], (double)c[3]));
  }
  return list;
}

// Hulls of meshes that have no triangles of their own, so that the page can draw them.
static json_t* hulls_json(const abModel* model) {
  json_t* list = json_array();
  for (int i = 0; i < model->ngeom; i++) {
    const abGeom* g = &model->geom[i];
    bool bare =
        g->shape.type == AB_SHAPE_MESH && (g->mesh < 0 || model->mesh[g->mesh].ntriangle == 0);
    abDrawing d = {0};
    json_t* flat = json_array();
    if (bare) ab_draw_geom(model, i, &d);
    for (size_t k = 0; k < d.index.n / sizeof(uint32_t); k++) {
      const float* v = (const float*)(void*)d.vert.byte + 3 * ((uint32_t*)(void*)d.index.byte)[k];
      for (int c = 0; c < 3; c++) json_array_append_new(flat, json_real((double)v[c]));
    }
    if (d.vert.failed || d.normal.failed || d.index.failed) ab_json_miss();
    ab_drawing_free(&d);
    json_array_append_new(list, flat);
  }
  return list;
}

static json_t* poses_json(const abModel* model, const abData* data) {
  json_t* list = json_array();
  for (int i = 0; i < model->nbody; i++) {
    const abPose* p = &data->pose[i];
    json_array_append_new(
        list, json_pack("[fffffff]", p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z));
  }
  return list;
}

// Adds JSON text such that nothing in it can end the script element.
static void add_json(abBuffer* b, const char* json) {
  for (const char* p = json; *p; p++) {
    if (*p == '<')
      ab_buffer_text(b, "\\u003c");
    else
      ab_buffer_add(b, p, 1);
  }
}

// The text of an object as an element of the page, with the text of a model as its first member.
static abStatus write_element(int fd, const char* path, const char* id, const char* model,
                              const char* json, abError* error) {
  abBuffer b = {0};
  ab_buffer_print(&b, "\n<script type=\"application/json\" id=\"%s\">", id);
  if (model) {  // and then all of the object but its first brace
    ab_buffer_text(&b, "{\"model\":");
    add_json(&b, model);
    ab_buffer_text(&b, ",");
  }
  add_json(&b, model ? json + 1 : json);
  ab_buffer_text(&b, "</script>\n");
  abStatus status = b.failed ? ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory")
                             : ab_file_write(fd, b.byte, b.n, path, error);
  ab_buffer_free(&b);
  return status;
}

static json_t* moving_json(const abModel* model) {
  json_t* moving = json_array();
  for (int i = 1; i < model->nbody; i++)
    if (model->body[i].mover >= 0) json_array_append_new(moving, json_integer(i));
  return moving;
}

abStatus ab_page_model(int fd, const char* path, const abModel* model, const abData* data,
                       abError* error) {
  char* text = ab_model_json_short(model);
  ab_json_begin();
  json_t* root = json_object();
  json_object_set_new(root, "moving", moving_json(model));
  json_object_set_new(root, "colors", colors_json(model));
  json_object_set_new(root, "hulls", hulls_json(model));
  json_object_set_new(root, "poses", poses_json(model, data));
  json_object_set_new(root, "contact_model", json_string(data->contact ? data->contact->name : ""));
  json_object_set_new(root, "step", json_real(data->h));
  json_object_set_new(root, "version", json_string(AB_VERSION));
  char* json = ab_json_print(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
  abStatus status = text && json ? write_element(fd, path, "abut-model", text, json, error)
                                 : ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory");
  ab_json_free(json);
  json_decref(root);
  ab_json_free(text);
  return status;
}

abStatus ab_page_json(int fd, const char* path, const char* id, const json_t* root, int digits,
                      abError* error) {
  char* json = ab_json_print(root, JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits));
  abStatus status = json ? write_element(fd, path, id, NULL, json, error)
                         : ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory");
  ab_json_free(json);
  return status;
}
