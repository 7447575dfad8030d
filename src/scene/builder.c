// Building a scene in code: definition structs with MJCF's defaults, and functions that check a
// definition by itself, copy what it points to and append it. What only the whole scene shows
// (bodies without mass, planes that move) is checked by the compiler.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/mesh_file.h"
#include "scene/scene.h"

// --- memory ---

struct abBagItem {
  struct abBagItem* next;
  max_align_t bytes[];
};

void* ab_bag_take(abBag* bag, size_t bytes) {
  struct abBagItem* item = ab_alloc_zero(sizeof *item + bytes);
  if (!item) return NULL;
  item->next = bag->first;
  bag->first = item;
  return item->bytes;
}

char* ab_bag_copy_string(abBag* bag, const char* s) {
  if (!s) return NULL;
  size_t n = strlen(s) + 1;
  char* copy = ab_bag_take(bag, n);
  if (copy) memcpy(copy, s, n);
  return copy;
}

void ab_bag_free(abBag* bag) {
  for (struct abBagItem *i = bag->first, *next; i; i = next) {
    next = i->next;
    ab_free(i);
  }
  bag->first = NULL;
}

// Room for one more item; where there is no memory, the list stays as it is.
static void* room(void* item, int n, int* capacity, size_t size) {
  if (n < *capacity) return item;
  int bigger = *capacity ? 2 * *capacity : 16;
  void* p = ab_realloc(item, (size_t)bigger * size);
  if (!p) return item;
  *capacity = bigger;
  return p;
}

// Appends *def to a list and gives its index; -1 when there is no memory.
#define APPEND(list, def)                                                            \
  ((list).item = room((list).item, (list).n, &(list).capacity, sizeof *(list).item), \
   (list).n < (list).capacity ? ((list).item[(list).n] = *(def), (list).n++) : -1)

static int no_memory(abError* error) {
  ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the scene");
  return -1;
}

// --- defaults ---

abBodyDef ab_body_def(void) {
  return (abBodyDef){.pose = pose_identity(), .inertial = pose_identity(), .gravity = true};
}

abJointDef ab_joint_def(void) { return (abJointDef){.type = AB_JOINT_HINGE, .axis = {0, 0, 1}}; }

abGeomDef ab_geom_def(void) {
  return (abGeomDef){.type = AB_SPHERE,
                     .pose = pose_identity(),
                     .mesh = -1,
                     .mass = -1,
                     .density = 1000,
                     .contype = 1,
                     .conaffinity = 1,
                     .condim = 3,
                     .friction = {1, 0.005, 0.0001},
                     .mu_static = -1,
                     .e_t = 1,
                     .e_o = 1,
                     .e_r = -1,
                     .rgba = {0.5f, 0.5f, 0.5f, 1}};
}

abMeshDef ab_mesh_def(void) { return (abMeshDef){.scale = {1, 1, 1}, .ref = pose_identity()}; }

abActuatorDef ab_actuator_def(void) {
  return (abActuatorDef){.joint = -1, .gear = {1}, .gainprm = {1}};
}

abKeyDef ab_key_def(void) { return (abKeyDef){0}; }

abPairDef ab_pair_def(void) {
  return (abPairDef){
      .geom1 = -1, .geom2 = -1, .condim = 3, .friction = {1, 1, 0.005, 0.0001, 0.0001}};
}

abScene* ab_scene_create(void) {
  abScene* s = ab_alloc_zero(sizeof *s);
  if (!s) return NULL;
  s->option = (abSceneOption){.gravity = {0, 0, -9.81}, .timestep = 0.002, .tessellation = 0.02};
  abBodyDef world = ab_body_def();
  world.name = "world";
  if (APPEND(s->body, &world) < 0 || !ab_names_add(&s->body_name, world.name, 0)) {
    ab_scene_free(s);
    return NULL;
  }
  return s;
}

void ab_scene_free(abScene* s) {
  if (!s) return;
  ab_free(s->body.item);
  ab_free(s->joint.item);
  ab_free(s->geom.item);
  ab_free(s->mesh.item);
  ab_free(s->actuator.item);
  ab_free(s->key.item);
  ab_free(s->pair.item);
  ab_free(s->exclude.item);
  ab_free(s->setting.item);
  ab_names_free(&s->body_name);
  ab_names_free(&s->joint_name);
  ab_names_free(&s->geom_name);
  ab_names_free(&s->mesh_name);
  ab_names_free(&s->actuator_name);
  ab_names_free(&s->key_name);
  ab_bag_free(&s->bag);
  ab_free(s);
}

const char* ab_scene_string(abScene* s, const char* text) {
  return ab_bag_copy_string(&s->bag, text);
}

abSceneOption* ab_scene_option(abScene* s) { return &s->option; }

// --- checks ---

// Who is being checked, for the messages.
typedef struct Subject {
  const char* kind;
  const char* name;
  abSource source;
  abError* error;
} Subject;

#define FAIL(subject, ...) fail_subject((subject), __VA_ARGS__)
static bool fail_subject(const Subject* s, const char* text) {
  ab_fail(s->error, AB_ERROR_SCENE, s->source.file, s->source.line, "%s%s%s%s: %s", s->kind,
          s->name ? " '" : "", s->name ? s->name : "", s->name ? "'" : "", text);
  return false;
}

static bool all_finite(const Subject* s, int n, const double* x, const char* what) {
  char text[128];
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) {
      snprintf(text, sizeof text, "%s is not a finite number", what);
      return FAIL(s, text);
    }
  return true;
}

static bool not_negative(const Subject* s, double x, const char* what) {
  char text[128];
  if (x >= 0 && isfinite(x)) return true;
  snprintf(text, sizeof text, "%s is %g; it must be a number that is not negative", what, x);
  return FAIL(s, text);
}

// An index into what was added before.
static bool refers(const Subject* s, int index, int n, const char* what) {
  char text[160];
  if (index >= 0 && index < n) return true;
  snprintf(text, sizeof text, "refers to %s %d, but the scene has %d so far; add it first", what,
           index, n);
  return FAIL(s, text);
}

static bool good_pose(const Subject* s, const abPose* p, const char* what) {
  double x[7] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
  char text[128];
  if (!all_finite(s, 7, x, what)) return false;
  if (quat_norm(p->q) > 0) return true;
  snprintf(text, sizeof text, "the quaternion of %s is zero; the identity is 1 0 0 0", what);
  return FAIL(s, text);
}

// Registers the name (a copy) of what will get the index n, unless it is taken.
static bool claim(abScene* scene, abNameTable* table, const Subject* s, int n, const char** name) {
  if (!*name) return true;
  if (ab_names_find(table, *name) >= 0)
    return FAIL(s, "this name is taken; names must differ within a kind");
  *name = ab_bag_copy_string(&scene->bag, *name);
  if (*name && ab_names_add(table, *name, n)) return true;
  no_memory(s->error);
  return false;
}

// Keeps the file's name; most definitions come from the file of the one before.
static bool keep_source(abScene* scene, abSource* source) {
  if (!source->file) return true;
  if (!scene->last_file || strcmp(scene->last_file, source->file) != 0)
    scene->last_file = ab_bag_copy_string(&scene->bag, source->file);
  source->file = scene->last_file;
  return source->file != NULL;
}

// --- bodies and joints ---

bool ab_check_body(const abScene* scene, const abBodyDef* d, abError* error) {
  Subject s = {"body", d->name, d->source, error};
  return refers(&s, d->parent, scene->body.n, "body") && good_pose(&s, &d->pose, "its pose") &&
         (!d->has_inertial ||
          (good_pose(&s, &d->inertial, "its inertial frame") && not_negative(&s, d->mass, "mass") &&
           all_finite(&s, 6, d->inertia, "its inertia")));
}

int ab_scene_add_body(abScene* scene, const abBodyDef* def, abError* error) {
  abBodyDef d = *def;
  Subject s = {"body", d.name, d.source, error};
  if (!ab_check_body(scene, &d, error)) return -1;
  d.pose.q = quat_unit(d.pose.q);
  if (d.has_inertial) d.inertial.q = quat_unit(d.inertial.q);
  if (!claim(scene, &scene->body_name, &s, scene->body.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->body, &d);
  return i < 0 ? no_memory(error) : i;
}

static bool good_range(const Subject* s, const abJointDef* d) {
  if (!d->limited) return true;
  if (!all_finite(s, 2, d->range, "range")) return false;
  if (d->type == AB_JOINT_FREE) return FAIL(s, "a free joint has no limits");
  if (d->type == AB_JOINT_BALL && d->range[0] != 0)
    return FAIL(s, "the range of a ball joint must begin at 0 (it limits the angle of rotation)");
  if (!(d->range[0] < d->range[1])) return FAIL(s, "range[0] must be smaller than range[1]");
  return true;
}

static bool has_axis(const abJointDef* d) {
  return d->type == AB_JOINT_SLIDE || d->type == AB_JOINT_HINGE;
}

bool ab_check_joint(const abScene* scene, const abJointDef* d, abError* error) {
  Subject s = {"joint", d->name, d->source, error};
  if (!refers(&s, d->body, scene->body.n, "body")) return false;
  if (d->body == 0) return FAIL(&s, "the world cannot have joints; put it into a body");
  if (d->type < AB_JOINT_FREE || d->type > AB_JOINT_HINGE) return FAIL(&s, "unknown joint type");
  double x[9] = {d->pos.x,  d->pos.y,  d->pos.z, d->axis.x,   d->axis.y,
                 d->axis.z, d->margin, d->ref,   d->springref};
  if (!all_finite(&s, 9, x, "one of pos, axis, margin, ref, springref")) return false;
  if (has_axis(d) && !(v3_norm(d->axis) > 0))
    return FAIL(&s, "the axis is zero; give it a direction");
  return good_range(&s, d) && not_negative(&s, d->stiffness, "stiffness") &&
         not_negative(&s, d->damping, "damping") && not_negative(&s, d->armature, "armature") &&
         not_negative(&s, d->frictionloss, "frictionloss");
}

int ab_scene_add_joint(abScene* scene, const abJointDef* def, abError* error) {
  abJointDef d = *def;
  Subject s = {"joint", d.name, d.source, error};
  if (!ab_check_joint(scene, &d, error)) return -1;
  if (has_axis(&d)) d.axis = v3_unit(d.axis);
  if (!claim(scene, &scene->joint_name, &s, scene->joint.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->joint, &d);
  return i < 0 ? no_memory(error) : i;
}

// --- geoms and meshes ---

static bool good_size(const Subject* s, const abScene* scene, const abGeomDef* d) {
  static const int nsize[] = {0, 3, 1, 2, 2, 3, 0};
  static const char* const message[] = {"",
                                        "a box needs three half lengths above 0",
                                        "a sphere needs a radius above 0",
                                        "a capsule needs a radius and a half length above 0",
                                        "a cylinder needs a radius and a half length above 0",
                                        "an ellipsoid needs three radii above 0",
                                        ""};
  if (d->type < AB_PLANE || d->type > AB_MESH) return FAIL(s, "unknown shape type");
  double size[3] = {d->size.x, d->size.y, d->size.z};
  for (int i = 0; i < nsize[d->type]; i++)
    if (!(size[i] > 0) || !isfinite(size[i])) return FAIL(s, message[d->type]);
  if (d->type == AB_MESH) return refers(s, d->mesh, scene->mesh.n, "mesh");
  return true;
}

static bool good_surface(const Subject* s, const abGeomDef* d) {
  double x[5] = {d->mu_static, d->e_r, d->margin, d->gap, 0};
  if (!all_finite(s, 4, x, "one of mu_static, e_r, margin, gap")) return false;
  if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6)
    return FAIL(s, "condim must be 1, 3, 4 or 6");
  if (!(d->e_t > 0) || !(d->e_o > 0) || !isfinite(d->e_t) || !isfinite(d->e_o))
    return FAIL(s, "e_t and e_o must be above 0");
  if (!(d->restitution >= 0 && d->restitution <= 1))
    return FAIL(s, "restitution must be between 0 and 1");
  return not_negative(s, d->friction[0], "friction") &&
         not_negative(s, d->friction[1], "torsional friction") &&
         not_negative(s, d->friction[2], "rolling friction");
}

bool ab_check_geom(const abScene* scene, const abGeomDef* d, abError* error) {
  Subject s = {"geom", d->name, d->source, error};
  if (!refers(&s, d->body, scene->body.n, "body") || !good_size(&s, scene, d) ||
      !good_pose(&s, &d->pose, "its pose") || !good_surface(&s, d))
    return false;
  if (!isfinite(d->mass)) return FAIL(&s, "mass is not a finite number");
  return d->mass >= 0 || not_negative(&s, d->density, "density");
}

int ab_scene_add_geom(abScene* scene, const abGeomDef* def, abError* error) {
  abGeomDef d = *def;
  Subject s = {"geom", d.name, d.source, error};
  if (!ab_check_geom(scene, &d, error)) return -1;
  d.pose.q = quat_unit(d.pose.q);
  if (!claim(scene, &scene->geom_name, &s, scene->geom.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->geom, &d);
  return i < 0 ? no_memory(error) : i;
}

static bool good_mesh(const Subject* s, const abMeshDef* d) {
  if (!d->file && (d->nvert < 1 || !d->vert)) return FAIL(s, "has neither a file nor vertices");
  double scale[3] = {d->scale.x, d->scale.y, d->scale.z};
  if (!all_finite(s, 3, scale, "scale")) return false;
  if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) return FAIL(s, "scale must not be 0");
  if (d->inertia < AB_INERTIA_LEGACY || d->inertia > AB_INERTIA_SHELL)
    return FAIL(s, "unknown inertia rule");
  return good_pose(s, &d->ref, "its reference frame");
}

static bool good_triangles(const Subject* s, const abMeshDef* d) {
  char text[128];
  for (int i = 0; i < d->nvert; i++)
    if (!v3_finite(d->vert[i])) {
      snprintf(text, sizeof text, "vertex %d is not a finite number", i);
      return FAIL(s, text);
    }
  for (int i = 0; i < d->ntriangle; i++)
    for (int k = 0; k < 3; k++)
      if (d->triangle[i][k] < 0 || d->triangle[i][k] >= d->nvert) {
        snprintf(text, sizeof text, "triangle %d names vertex %d; there are %d, counted from 0", i,
                 d->triangle[i][k], d->nvert);
        return FAIL(s, text);
      }
  return true;
}

// What is wrong with a mesh file, at the place of the scene that asked for it.
static void fail_file(const Subject* s, const abError* inner) {
  char line[32] = "";
  if (inner->line) snprintf(line, sizeof line, ":%d", inner->line);
  bool known = s->source.file != NULL;
  ab_fail(s->error, inner->code, known ? s->source.file : inner->file,
          known ? s->source.line : inner->line, "mesh%s%s%s: %s%s: %s", s->name ? " '" : "",
          s->name ? s->name : "", s->name ? "'" : "", inner->file, line, inner->message);
}

// Copies the vertices and triangles, from the file if one is named.
static bool take_vertices(abScene* scene, const Subject* s, abMeshDef* d) {
  abMeshData data = {0};
  if (d->file) {
    abError inner = {0};
    if (ab_mesh_read(d->file, &data, &inner)) {
      fail_file(s, &inner);
      return false;
    }
    d->nvert = data.nvert, d->vert = data.vert;
    d->ntriangle = data.ntriangle, d->triangle = (const int(*)[3])data.triangle;
    d->file = ab_bag_copy_string(&scene->bag, d->file);
  } else if (!good_triangles(s, d)) {
    return false;
  }
  abVec3* vert = ab_bag_take(&scene->bag, (size_t)d->nvert * sizeof *vert);
  int(*triangle)[3] = ab_bag_take(&scene->bag, (size_t)d->ntriangle * sizeof *triangle);
  if (vert && d->nvert) memcpy(vert, d->vert, (size_t)d->nvert * sizeof *vert);
  if (triangle && d->ntriangle)
    memcpy(triangle, d->triangle, (size_t)d->ntriangle * sizeof *triangle);
  d->vert = vert;
  d->triangle = (const int(*)[3])triangle;
  ab_mesh_data_free(&data);
  if (vert && triangle) return true;
  no_memory(s->error);
  return false;
}

int ab_scene_add_mesh(abScene* scene, const abMeshDef* def, abError* error) {
  abMeshDef d = *def;
  Subject s = {"mesh", d.name, d.source, error};
  if (!good_mesh(&s, &d)) return -1;
  if (d.name && ab_names_find(&scene->mesh_name, d.name) >= 0) {
    FAIL(&s, "this name is taken; names must differ within a kind");
    return -1;
  }
  if (!take_vertices(scene, &s, &d)) return -1;
  d.ref.q = quat_unit(d.ref.q);
  if (!claim(scene, &scene->mesh_name, &s, scene->mesh.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->mesh, &d);
  return i < 0 ? no_memory(error) : i;
}

// --- the rest ---

static bool good_limits(const Subject* s, bool limited, const double range[2], const char* what) {
  char text[128];
  if (!limited) return true;
  if (!all_finite(s, 2, range, what)) return false;
  if (range[0] <= range[1]) return true;
  snprintf(text, sizeof text, "%s: the lower end is above the upper one", what);
  return FAIL(s, text);
}

bool ab_check_actuator(const abScene* scene, const abActuatorDef* d, abError* error) {
  Subject s = {"actuator", d->name, d->source, error};
  return refers(&s, d->joint, scene->joint.n, "joint") && all_finite(&s, 6, d->gear, "gear") &&
         all_finite(&s, 3, d->gainprm, "gainprm") && all_finite(&s, 3, d->biasprm, "biasprm") &&
         good_limits(&s, d->ctrl_limited, d->ctrl_range, "ctrlrange") &&
         good_limits(&s, d->force_limited, d->force_range, "forcerange");
}

int ab_scene_add_actuator(abScene* scene, const abActuatorDef* def, abError* error) {
  abActuatorDef d = *def;
  Subject s = {"actuator", d.name, d.source, error};
  if (!ab_check_actuator(scene, &d, error)) return -1;
  if (!claim(scene, &scene->actuator_name, &s, scene->actuator.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->actuator, &d);
  return i < 0 ? no_memory(error) : i;
}

static bool copy_numbers(abScene* scene, const Subject* s, int n, const double** x,
                         const char* what) {
  if (n <= 0 || !*x) {
    *x = NULL;
    return true;
  }
  if (!all_finite(s, n, *x, what)) return false;
  double* copy = ab_bag_take(&scene->bag, (size_t)n * sizeof *copy);
  if (!copy) {
    no_memory(s->error);
    return false;
  }
  memcpy(copy, *x, (size_t)n * sizeof *copy);
  *x = copy;
  return true;
}

int ab_scene_add_key(abScene* scene, const abKeyDef* def, abError* error) {
  abKeyDef d = *def;
  Subject s = {"key", d.name, d.source, error};
  if (!all_finite(&s, 1, &d.time, "time") || !copy_numbers(scene, &s, d.nq, &d.q, "qpos") ||
      !copy_numbers(scene, &s, d.nv, &d.v, "qvel") ||
      !copy_numbers(scene, &s, d.nctrl, &d.ctrl, "ctrl"))
    return -1;
  if (!claim(scene, &scene->key_name, &s, scene->key.n, &d.name)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->key, &d);
  return i < 0 ? no_memory(error) : i;
}

bool ab_check_pair(const abScene* scene, const abPairDef* d, abError* error) {
  Subject s = {"pair", NULL, d->source, error};
  double gaps[2] = {d->margin, d->gap};
  if (!refers(&s, d->geom1, scene->geom.n, "geom") ||
      !refers(&s, d->geom2, scene->geom.n, "geom") || !all_finite(&s, 2, gaps, "margin or gap"))
    return false;
  if (d->geom1 == d->geom2) return FAIL(&s, "a geom cannot be paired with itself");
  if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6)
    return FAIL(&s, "condim must be 1, 3, 4 or 6");
  for (int i = 0; i < 5; i++)
    if (!not_negative(&s, d->friction[i], "friction")) return false;
  return true;
}

int ab_scene_add_pair(abScene* scene, const abPairDef* def, abError* error) {
  abPairDef d = *def;
  if (!ab_check_pair(scene, &d, error)) return -1;
  if (!keep_source(scene, &d.source)) return no_memory(error);
  int i = APPEND(scene->pair, &d);
  return i < 0 ? no_memory(error) : i;
}

int ab_scene_add_exclude(abScene* scene, int body1, int body2, abError* error) {
  Subject s = {"exclude", NULL, {0}, error};
  if (!refers(&s, body1, scene->body.n, "body") || !refers(&s, body2, scene->body.n, "body"))
    return -1;
  abExcludeDef d = {body1, body2};
  int i = APPEND(scene->exclude, &d);
  return i < 0 ? no_memory(error) : i;
}

abStatus ab_scene_set(abScene* scene, const char* name, double value, abError* error) {
  if (!name || !*name) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a parameter has no name");
  if (!isfinite(value))
    return ab_fail(error, AB_ERROR_SCENE, NULL, 0, "parameter '%s' is not a finite number", name);
  for (int i = 0; i < scene->setting.n; i++)
    if (strcmp(scene->setting.item[i].name, name) == 0) {
      scene->setting.item[i].value = value;
      return AB_OK;
    }
  abSetting s = {ab_bag_copy_string(&scene->bag, name), value};
  if (!s.name || APPEND(scene->setting, &s) < 0) {
    no_memory(error);
    return AB_ERROR_MEMORY;
  }
  return AB_OK;
}
