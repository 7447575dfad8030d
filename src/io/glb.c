// Binary glTF 2.0: the bodies as nodes with their geoms below them, and one animation that moves
// them. glTF is y-up, abut z-up: a root node turns the scene. The header counts what follows it, so
// the file is written when the recording is closed.
//
// Layout of the binary part: times, then per moving body its positions and its rotations, then per
// distinct shape its vertices, normals and indices. Every piece is a buffer view and an accessor of
// its own.
// Tests: test_record.
#define _POSIX_C_SOURCE 200809L
#include <abut/version.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/draw.h"
#include "io/json_whole.h"
#include "io/recorder.h"
#include "math/rotation.h"

// numbers the standard gives these things
enum { FLOAT = 5126, UINT32 = 5125, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

typedef struct Track {
  int body;
  abBuffer position, rotation;  // float[3], float[4] (x, y, z, w) per sample
  abQuat last;
} Track;

typedef struct Glb {
  abRecorder base;
  const abModel* model;
  int fd;
  int ntrack;
  Track* track;
  abBuffer time;
  abPose* first;      // pose of every body in the first sample
  int* mesh_of_geom;  // -1: not drawn (yet)
  // while writing
  int* like;  // per geom: the first one of the same shape
  abBuffer bin;
  json_t *view, *accessor, *mesh, *material, *node;
} Glb;

// Which is drawn alike: by shape, mesh and size; of equal ones, the first comes first.
static int compare_shapes(const void* a, const void* b) {
  const abGeom *x = *(const abGeom*const*)a, *y = *(const abGeom*const*)b;
  if (x->shape.type != y->shape.type) return x->shape.type < y->shape.type ? -1 : 1;
  if (x->mesh != y->mesh) return x->mesh < y->mesh ? -1 : 1;
  int size = memcmp(&x->shape.size, &y->shape.size, sizeof x->shape.size);
  return size ? size : (x > y) - (x < y);
}

static bool find_alike(Glb* g) {
  int n = g->model->ngeom;
  const abGeom** sorted = ab_alloc(sizeof *sorted * (size_t)n);
  if (!sorted) return false;
  for (int i = 0; i < n; i++) sorted[i] = &g->model->geom[i];
  qsort(sorted, (size_t)n, sizeof *sorted, compare_shapes);
  for (int i = 0; i < n; i++) {
    const abGeom *x = sorted[i], *before = i ? sorted[i - 1] : NULL;
    bool same = before && x->shape.type == before->shape.type && x->mesh == before->mesh &&
                !memcmp(&x->shape.size, &before->shape.size, sizeof x->shape.size);
    g->like[x - g->model->geom] =
        same ? g->like[before - g->model->geom] : (int)(x - g->model->geom);
  }
  ab_free(sorted);
  return true;
}

static abStatus glb_open(abRecorder* recorder, const abModel* model, abError* error) {
  Glb* g = (Glb*)recorder;
  g->model = model;
  g->fd = ab_file_create(recorder->path, error);
  if (g->fd < 0) return AB_ERROR_FILE;
  g->track = ab_alloc_zero(sizeof(Track) * (size_t)model->nbody);
  g->first = ab_alloc_zero(sizeof(abPose) * (size_t)model->nbody);
  g->mesh_of_geom = ab_alloc(sizeof(int) * (size_t)model->ngeom);
  g->like = ab_alloc(sizeof(int) * (size_t)model->ngeom);
  if (!g->track || !g->first || !g->mesh_of_geom || !g->like || !find_alike(g))
    return ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory");
  for (int i = 0; i < model->ngeom; i++) g->mesh_of_geom[i] = -1;
  for (int i = 1; i < model->nbody; i++)
    if (model->body[i].mover >= 0) g->track[g->ntrack++].body = i;
  return AB_OK;
}

static bool add_pose(Track* t, abPose pose, bool first) {
  abQuat q = quat_unit(pose.q);
  // q and -q are the same rotation; players interpolate, so neighbours must be on one side.
  double dot = q.w * t->last.w + q.x * t->last.x + q.y * t->last.y + q.z * t->last.z;
  if (!first && dot < 0) q = (abQuat){-q.w, -q.x, -q.y, -q.z};
  t->last = q;
  float position[3] = {(float)pose.p.x, (float)pose.p.y, (float)pose.p.z};
  float rotation[4] = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
  ab_buffer_add(&t->position, position, sizeof position);
  ab_buffer_add(&t->rotation, rotation, sizeof rotation);
  return !t->position.failed && !t->rotation.failed;
}

static abStatus glb_sample(abRecorder* recorder, const abModel* model, const abData* data,
                           abError* error) {
  Glb* g = (Glb*)recorder;
  bool good = true;
  if (recorder->nsample == 0) memcpy(g->first, data->pose, sizeof(abPose) * (size_t)model->nbody);
  float time = (float)data->time, last = -FLT_MAX;
  if (g->time.n) memcpy(&last, g->time.byte + g->time.n - sizeof last, sizeof last);
  if (time <= last) return AB_OK;  // closer together than single precision tells apart
  ab_buffer_add(&g->time, &time, sizeof time);
  for (int i = 0; i < g->ntrack; i++)
    good = add_pose(&g->track[i], data->pose[g->track[i].body], recorder->nsample == 0) && good;
  if (good && !g->time.failed) return AB_OK;
  return ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory for a sample");
}

// --- writing
// ------------------------------------------------------------------------------------------

// A number as glTF has it, single and finite.
static double single(double x) {
  return isnan(x) ? 0 : (double)(float)fmax(-FLT_MAX, fmin(x, FLT_MAX));
}

static json_t* floats(int n, const double* x) {
  json_t* a = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(a, json_real(single(x[i])));
  return a;
}

static json_t* list_of_one(json_t* value) {
  json_t* a = json_array();
  json_array_append_new(a, value);
  return a;
}

// Appends bytes to the binary part as one view and one accessor; returns the accessor's index.
static int add_accessor(Glb* g, const abBuffer* b, int type, const char* shape, int target) {
  int width = !strcmp(shape, "VEC3") ? 3 : !strcmp(shape, "VEC4") ? 4 : 1;
  json_t* view = json_object();
  json_object_set_new(view, "buffer", json_integer(0));
  json_object_set_new(view, "byteOffset", json_integer((json_int_t)g->bin.n));
  json_object_set_new(view, "byteLength", json_integer((json_int_t)b->n));
  if (target) json_object_set_new(view, "target", json_integer(target));
  json_t* accessor = json_object();
  json_object_set_new(accessor, "bufferView", json_integer((json_int_t)json_array_size(g->view)));
  json_object_set_new(accessor, "componentType", json_integer(type));
  json_object_set_new(accessor, "count", json_integer((json_int_t)(b->n / 4) / width));
  json_object_set_new(accessor, "type", json_string(shape));
  if (type == FLOAT && width != 4) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < b->n / 4; i++) {
      float x;
      memcpy(&x, b->byte + 4 * i, 4);
      low[i % (size_t)width] = fmin(low[i % (size_t)width], (double)x);
      high[i % (size_t)width] = fmax(high[i % (size_t)width], (double)x);
    }
    json_object_set_new(accessor, "min", floats(width, low));
    json_object_set_new(accessor, "max", floats(width, high));
  }
  ab_buffer_add(&g->bin, b->byte, b->n);
  json_array_append_new(g->view, view);
  json_array_append_new(g->accessor, accessor);
  return (int)json_array_size(g->accessor) - 1;
}

static int add_material(Glb* g, int geom) {
  float rgba[4];
  ab_draw_color(g->model, geom, rgba);
  json_t* pbr = json_object();
  json_object_set_new(pbr, "baseColorFactor",
                      floats(4, (double[]){rgba[0], rgba[1], rgba[2], rgba[3]}));
  json_object_set_new(pbr, "metallicFactor", json_integer(0));
  json_object_set_new(pbr, "roughnessFactor", json_real(0.75));
  json_t* material = json_object();
  json_object_set_new(material, "pbrMetallicRoughness", pbr);
  if (rgba[3] < 1) json_object_set_new(material, "alphaMode", json_string("BLEND"));
  json_array_append_new(g->material, material);
  return (int)json_array_size(g->material) - 1;
}

// The vertices of an earlier geom of the same shape, or NULL.
static json_t* find_primitive(Glb* g, int geom) {
  int earlier = g->like[geom];
  if (earlier == geom || g->mesh_of_geom[earlier] < 0) return NULL;
  json_t* mesh = json_array_get(g->mesh, (size_t)g->mesh_of_geom[earlier]);
  json_t* copy = json_deep_copy(json_array_get(json_object_get(mesh, "primitives"), 0));
  if (!copy) ab_json_miss();
  return copy;
}

static json_t* make_primitive(Glb* g, int geom) {
  abDrawing d = {0};
  ab_draw_geom(g->model, geom, &d);
  json_t* primitive = NULL;
  if (d.index.n) {
    json_t* attribute = json_object();
    json_object_set_new(attribute, "POSITION",
                        json_integer(add_accessor(g, &d.vert, FLOAT, "VEC3", ARRAY_BUFFER)));
    json_object_set_new(attribute, "NORMAL",
                        json_integer(add_accessor(g, &d.normal, FLOAT, "VEC3", ARRAY_BUFFER)));
    int index = add_accessor(g, &d.index, UINT32, "SCALAR", ELEMENT_ARRAY_BUFFER);
    primitive = json_object();
    json_object_set_new(primitive, "attributes", attribute);
    json_object_set_new(primitive, "indices", json_integer(index));
  }
  if (d.vert.failed || d.normal.failed || d.index.failed) ab_json_miss();
  ab_drawing_free(&d);
  return primitive;
}

// The mesh of a geom; -1: nothing to draw.
static int add_mesh(Glb* g, int geom) {
  json_t* primitive = find_primitive(g, geom);
  if (!primitive) primitive = make_primitive(g, geom);
  if (!primitive) return -1;
  json_object_set_new(primitive, "material", json_integer(add_material(g, geom)));
  json_t* mesh = json_object();
  json_object_set_new(mesh, "primitives", list_of_one(primitive));
  json_array_append_new(g->mesh, mesh);
  return g->mesh_of_geom[geom] = (int)json_array_size(g->mesh) - 1;
}

static json_t* make_node(const char* name, abPose pose) {
  json_t* node = json_object();
  abQuat q = quat_unit(pose.q);
  if (name && name[0]) json_object_set_new(node, "name", ab_json_text(name));
  json_object_set_new(node, "translation", floats(3, (double[]){pose.p.x, pose.p.y, pose.p.z}));
  json_object_set_new(node, "rotation", floats(4, (double[]){q.x, q.y, q.z, q.w}));
  return node;
}

static int add_node(Glb* g, json_t* node) {
  json_array_append_new(g->node, node);
  return (int)json_array_size(g->node) - 1;
}

// A body's node, its geoms below it; returns its index.
static int add_body(Glb* g, int body) {
  const abBody* b = &g->model->body[body];
  json_t* child = json_array();
  for (int i = b->geom0; i < b->geom0 + b->ngeom; i++) {
    int mesh = add_mesh(g, i);
    if (mesh < 0) continue;
    json_t* node = make_node(g->model->geom[i].name, g->model->geom[i].pose);
    json_object_set_new(node, "mesh", json_integer(mesh));
    json_array_append_new(child, json_integer(add_node(g, node)));
  }
  json_t* node = make_node(b->name, g->first[body]);
  if (json_array_size(child))
    json_object_set_new(node, "children", child);
  else
    json_decref(child);
  return add_node(g, node);
}

static void add_channel(json_t* animation, int input, int output, int node, const char* path) {
  json_t* sampler = json_object_get(animation, "samplers");
  json_t* target = json_object();
  json_object_set_new(target, "node", json_integer(node));
  json_object_set_new(target, "path", json_string(path));
  json_t* channel = json_object();
  json_object_set_new(channel, "sampler", json_integer((json_int_t)json_array_size(sampler)));
  json_object_set_new(channel, "target", target);
  json_array_append_new(json_object_get(animation, "channels"), channel);
  json_t* s = json_object();
  json_object_set_new(s, "input", json_integer(input));
  json_object_set_new(s, "interpolation", json_string("LINEAR"));
  json_object_set_new(s, "output", json_integer(output));
  json_array_append_new(sampler, s);
}

static json_t* make_animation(Glb* g, const int* node_of_body) {
  json_t* animation = json_object();
  json_object_set_new(animation, "name", json_string("motion"));
  json_object_set_new(animation, "channels", json_array());
  json_object_set_new(animation, "samplers", json_array());
  int time = add_accessor(g, &g->time, FLOAT, "SCALAR", 0);
  for (int i = 0; i < g->ntrack; i++) {
    Track* t = &g->track[i];
    int node = node_of_body[t->body];
    add_channel(animation, time, add_accessor(g, &t->position, FLOAT, "VEC3", 0), node,
                "translation");
    add_channel(animation, time, add_accessor(g, &t->rotation, FLOAT, "VEC4", 0), node, "rotation");
  }
  return animation;
}

static void set_unless_empty(json_t* root, const char* key, json_t* list) {
  if (json_array_size(list))
    json_object_set_new(root, key, list);
  else
    json_decref(list);
}

static json_t* make_root(Glb* g, int* node_of_body) {
  g->view = json_array(), g->accessor = json_array(), g->mesh = json_array();
  g->material = json_array(), g->node = json_array();
  json_t* body = json_array();
  for (int i = 0; i < g->model->nbody; i++) {
    node_of_body[i] = add_body(g, i);
    json_array_append_new(body, json_integer(node_of_body[i]));
  }
  double turn = sqrt(0.5);
  json_t* world = make_node("z up", (abPose){{0, 0, 0}, {turn, -turn, 0, 0}});
  json_object_set_new(world, "children", body);
  int root_node = add_node(g, world);
  json_t* root = json_object();
  json_object_set_new(root, "asset",
                      json_pack("{s:s,s:s}", "version", "2.0", "generator", "abut " AB_VERSION));
  json_object_set_new(root, "scene", json_integer(0));
  json_object_set_new(root, "scenes", json_pack("[{s:[i]}]", "nodes", root_node));
  if (g->ntrack && g->time.n)
    json_object_set_new(root, "animations", list_of_one(make_animation(g, node_of_body)));
  json_object_set_new(root, "nodes", g->node);
  set_unless_empty(root, "meshes", g->mesh);
  set_unless_empty(root, "materials", g->material);
  set_unless_empty(root, "accessors", g->accessor);
  set_unless_empty(root, "bufferViews", g->view);
  if (g->bin.n)
    json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)g->bin.n));
  return root;
}

static void put_word(char* at, size_t value) {
  for (int i = 0; i < 4; i++) at[i] = (char)(value >> (8 * i) & 255);
}

static abStatus write_file(Glb* g, const char* json, abError* error) {
  size_t njson = strlen(json), pad = (4 - njson % 4) % 4, nbin = g->bin.n;
  if (njson + pad + nbin > UINT32_MAX - 28)
    return ab_fail(error, AB_ERROR_FILE, g->base.path, 0,
                   "more than the 4 GiB that glTF counts; record fewer samples (--every)");
  char head[20], between[8];
  memcpy(head, "glTF", 4);
  put_word(head + 4, 2);
  put_word(head + 8, 20 + njson + pad + (nbin ? 8 + nbin : 0));
  put_word(head + 12, njson + pad);
  memcpy(head + 16, "JSON", 4);
  put_word(between, nbin);
  memcpy(between + 4, "BIN\0", 4);
  const char* path = g->base.path;
  abStatus status = ab_file_write(g->fd, head, sizeof head, path, error);
  if (status == AB_OK) status = ab_file_write(g->fd, json, njson, path, error);
  if (status == AB_OK) status = ab_file_write(g->fd, "   ", pad, path, error);
  if (status == AB_OK && nbin) status = ab_file_write(g->fd, between, sizeof between, path, error);
  if (status == AB_OK && nbin) status = ab_file_write(g->fd, g->bin.byte, nbin, path, error);
  return status;
}

static abStatus write_all(Glb* g, abError* error) {
  int* node_of_body = ab_alloc(sizeof(int) * (size_t)g->model->nbody);
  if (!node_of_body) return ab_fail(error, AB_ERROR_MEMORY, g->base.path, 0, "no memory");
  ab_json_begin();
  json_t* root = make_root(g, node_of_body);
  char* json = g->bin.failed ? NULL : ab_json_print(root, JSON_COMPACT | JSON_REAL_PRECISION(9));
  abStatus status = json ? write_file(g, json, error)
                         : ab_fail(error, AB_ERROR_MEMORY, g->base.path, 0, "no memory");
  ab_json_free(json);
  json_decref(root);
  ab_free(node_of_body);
  return status;
}

static abStatus glb_close(abRecorder* recorder, bool abandon, abError* error) {
  Glb* g = (Glb*)recorder;
  abStatus status = AB_OK;
  if (g->fd >= 0 && !abandon) status = write_all(g, error);
  if (g->fd >= 0 && close(g->fd) != 0 && status == AB_OK && !abandon)
    status = ab_fail(error, AB_ERROR_FILE, recorder->path, 0, "cannot complete this file");
  for (int i = 0; i < g->ntrack; i++) {
    ab_buffer_free(&g->track[i].position);
    ab_buffer_free(&g->track[i].rotation);
  }
  ab_buffer_free(&g->time);
  ab_buffer_free(&g->bin);
  ab_free(g->track);
  ab_free(g->first);
  ab_free(g->mesh_of_geom);
  ab_free(g->like);
  return status;
}

const abRecorderFormat ab_record_glb = {sizeof(Glb), glb_open, glb_sample, NULL, glb_close};
