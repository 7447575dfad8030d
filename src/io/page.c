// What the two pages, replay and live, share: the template they begin with, and the model as the
// page draws it.
#include "io/page.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/draw.h"

#ifndef ABUT_DATA_DIR
#define ABUT_DATA_DIR "/usr/local/share/abut"
#endif

// --- the template
// -------------------------------------------------------------------------------------

static FILE* open_template(const char* name, char* path, size_t size) {
  const char* folder[] = {getenv("ABUT_DATA_DIR"),
#ifdef ABUT_BUILD_DATA_DIR
                          ABUT_BUILD_DATA_DIR,
#endif
                          ABUT_DATA_DIR};
  for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
    if (!folder[i]) continue;
    snprintf(path, size, "%s/%s", folder[i], name);
    FILE* file = fopen(path, "rb");
    if (file) return file;
  }
  return NULL;
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
    bool bare = g->shape.type == AB_MESH && (g->mesh < 0 || model->mesh[g->mesh].ntriangle == 0);
    abDrawing d = {0};
    json_t* flat = json_array();
    if (bare) ab_draw_geom(model, i, &d);
    for (size_t k = 0; k < d.index.n / sizeof(uint32_t); k++) {
      const float* v = (const float*)(void*)d.vert.byte + 3 * ((uint32_t*)(void*)d.index.byte)[k];
      for (int c = 0; c < 3; c++) json_array_append_new(flat, json_real((double)v[c]));
    }
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
    ab_buffer_add(b, p, 1);
    if (*p == '<') b->n--, ab_buffer_text(b, "\\u003c");
  }
}

static json_t* moving_json(const abModel* model) {
  json_t* moving = json_array();
  for (int i = 1; i < model->nbody; i++)
    if (model->body[i].mover >= 0) json_array_append_new(moving, json_integer(i));
  return moving;
}

abStatus ab_page_model(int fd, const char* path, const abModel* model, const abData* data,
                       abError* error) {
  char* text = ab_model_json(model, true);
  json_t* root = json_object();
  json_object_set_new(root, "model", text ? json_loads(text, 0, NULL) : NULL);
  json_object_set_new(root, "moving", moving_json(model));
  json_object_set_new(root, "colors", colors_json(model));
  json_object_set_new(root, "hulls", hulls_json(model));
  json_object_set_new(root, "poses", poses_json(model, data));
  json_object_set_new(root, "contact_model", json_string(data->contact ? data->contact->name : ""));
  json_object_set_new(root, "step", json_real(data->h));
  json_object_set_new(root, "version", json_string(ABUT_VERSION));
  abStatus status = text ? ab_page_json(fd, path, "abut-model", root, 9, error)
                         : ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory");
  json_decref(root);
  ab_json_free(text);
  return status;
}

abStatus ab_page_json(int fd, const char* path, const char* id, const json_t* root, int digits,
                      abError* error) {
  char* json = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits));
  abBuffer b = {0};
  ab_buffer_print(&b, "\n<script type=\"application/json\" id=\"%s\">", id);
  if (json) add_json(&b, json);
  ab_buffer_text(&b, "</script>\n");
  abStatus status = json && !b.failed ? ab_file_write(fd, b.byte, b.n, path, error)
                                      : ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory");
  ab_buffer_free(&b);
  free(json);
  return status;
}
