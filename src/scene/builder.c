// Building a scene in code: definition structs with MJCF's defaults, and functions that check a
// definition by itself, copy what it points to and append it. What only the whole scene shows
// (bodies without mass, planes that move) is checked by the compiler.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/builder.h"
#include "scene/mesh/file.h"
#include "scene/orientation.h"

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
void* ab_list_room(void* item, int n, int* capacity, size_t size) {
  if (n < *capacity) return item;
  int bigger = *capacity ? 2 * *capacity : 16;
  void* p = ab_realloc(item, (size_t)bigger * size);
  if (!p) return item;
  *capacity = bigger;
  return p;
}

int ab_scene_no_memory(abError* error) {
  ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the scene");
  return -1;
}

// --- defaults ---

abBodyDef ab_body_def(void) {
  return (abBodyDef){.pose = pose_identity(), .inertial = pose_identity(), .gravity = true};
}

abJointDef ab_joint_def(void) { return (abJointDef){.type = AB_JOINT_HINGE, .axis = {0, 0, 1}}; }

abGeomDef ab_geom_def(void) {
  return (abGeomDef){.type = AB_SHAPE_SPHERE,
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

abScene* ab_scene_create(void) {
  abScene* s = ab_alloc_zero(sizeof *s);
  if (!s) return NULL;
  s->option = (abSceneOption){.gravity = {0, 0, -9.81}, .timestep = 0.002, .tessellation = 0.02};
  abBodyDef world = ab_body_def();
  world.name = "world";
  if (AB_APPEND(s->body, &world) < 0 || !ab_names_add(&s->body_name, world.name, 0)) {
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
  ab_free(s->site.item);
  ab_free(s->tendon.item);
  ab_free(s->equality.item);
  ab_free(s->actuator.item);
  ab_free(s->key.item);
  ab_free(s->pair.item);
  ab_free(s->exclude.item);
  ab_free(s->setting.item);
  ab_names_free(&s->body_name);
  ab_names_free(&s->joint_name);
  ab_names_free(&s->geom_name);
  ab_names_free(&s->mesh_name);
  ab_names_free(&s->site_name);
  ab_names_free(&s->tendon_name);
  ab_names_free(&s->equality_name);
  ab_names_free(&s->actuator_name);
  ab_names_free(&s->key_name);
  ab_bag_free(&s->bag);
  ab_free(s);
}

const char* ab_scene_string(abScene* s, const char* text) {
  return s && text ? ab_bag_copy_string(&s->bag, text) : NULL;
}

abSceneOption* ab_scene_option(abScene* s) { return s ? &s->option : NULL; }

// --- checks ---

bool ab_fail_subject(const abSubject* s, const char* text) {
  ab_fail(s->error, AB_ERROR_SCENE, s->source.file, s->source.line, "%s%s%s%s: %s", s->kind,
          s->name ? " '" : "", s->name ? s->name : "", s->name ? "'" : "", text);
  return false;
}

bool ab_check_finite(const abSubject* s, int n, const double* x, const char* what) {
  char text[128];
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) {
      snprintf(text, sizeof text, "%s is not a finite number", what);
      return AB_FAIL(s, text);
    }
  return true;
}

bool ab_check_not_negative(const abSubject* s, double x, const char* what) {
  char text[128];
  if (x >= 0 && isfinite(x)) return true;
  snprintf(text, sizeof text, "%s is %g; it must be a number that is not negative", what, x);
  return AB_FAIL(s, text);
}

// An index into what was added before.
bool ab_check_refers(const abSubject* s, int index, int n, const char* what) {
  char text[160];
  if (index >= 0 && index < n) return true;
  snprintf(text, sizeof text, "refers to %s %d, but the scene has %d so far; add it first", what,
           index, n);
  return AB_FAIL(s, text);
}

bool ab_check_pose(const abSubject* s, const abPose* p, const char* what) {
  double x[7] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
  char text[128];
  if (!ab_check_finite(s, 7, x, what)) return false;
  if (quat_norm(p->q) > 0) return true;
  snprintf(text, sizeof text, "the quaternion of %s is zero; the identity is 1 0 0 0", what);
  return AB_FAIL(s, text);
}

// Registers the name (a copy) of what will get the index n, unless it is taken.
bool ab_claim_name(abScene* scene, abNameTable* table, const abSubject* s, int n,
                   const char** name) {
  if (!*name) return true;
  if (ab_names_find(table, *name) >= 0)
    return AB_FAIL(s, "this name is taken; names must differ within a kind");
  *name = ab_bag_copy_string(&scene->bag, *name);
  if (*name && ab_names_add(table, *name, n)) return true;
  ab_scene_no_memory(s->error);
  return false;
}

// Keeps the file's name; most definitions come from the file of the one before.
bool ab_keep_source(abScene* scene, abSource* source) {
  if (!source->file) return true;
  if (!scene->last_file || strcmp(scene->last_file, source->file) != 0)
    scene->last_file = ab_bag_copy_string(&scene->bag, source->file);
  source->file = scene->last_file;
  return source->file != NULL;
}

// --- bodies and joints ---

// -1, as all that add something return where they add nothing.
int ab_nothing_given(abError* error) {
  ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no scene, or nothing to add to it");
  return -1;
}

bool ab_check_body(const abScene* scene, const abBodyDef* d, abError* error) {
  abSubject s = {"body", d->name, d->source, error};
  if (!ab_check_refers(&s, d->parent, scene->body.n, "body") ||
      !ab_check_pose(&s, &d->pose, "its pose"))
    return false;
  if (d->has_inertial && (!ab_check_pose(&s, &d->inertial, "its inertial frame") ||
                          !ab_check_not_negative(&s, d->mass, "mass") ||
                          !ab_check_finite(&s, 6, d->inertia, "its inertia")))
    return false;
  return !d->mocap || d->parent == 0 ||
         AB_FAIL(&s, "a mocap body must be directly below the world");
}

int ab_scene_add_body(abScene* scene, const abBodyDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abBodyDef d = *def;
  abSubject s = {"body", d.name, d.source, error};
  if (!ab_check_body(scene, &d, error)) return -1;
  d.pose.q = ab_orientation(d.pose.q);
  if (d.has_inertial) d.inertial.q = ab_orientation(d.inertial.q);
  if (!ab_claim_name(scene, &scene->body_name, &s, scene->body.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->body, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

static bool good_range(const abSubject* s, const abJointDef* d) {
  if (!d->limited) return true;
  if (!ab_check_finite(s, 2, d->range, "range")) return false;
  if (d->type == AB_JOINT_FREE) return AB_FAIL(s, "a free joint has no limits");
  if (d->type == AB_JOINT_BALL && d->range[0] != 0)
    return AB_FAIL(s,
                   "the range of a ball joint must begin at 0 (it limits the angle of rotation)");
  // a ball joint with the range 0 0 is held where it is
  if (d->type == AB_JOINT_BALL && d->range[1] == 0) return true;
  if (!(d->range[0] < d->range[1])) return AB_FAIL(s, "range[0] must be smaller than range[1]");
  return true;
}

static bool has_axis(const abJointDef* d) {
  return d->type == AB_JOINT_SLIDE || d->type == AB_JOINT_HINGE;
}

bool ab_check_joint(const abScene* scene, const abJointDef* d, abError* error) {
  abSubject s = {"joint", d->name, d->source, error};
  if (!ab_check_refers(&s, d->body, scene->body.n, "body")) return false;
  if (d->body == 0) return AB_FAIL(&s, "the world cannot have joints; put it into a body");
  if (scene->body.item[d->body].mocap)
    return AB_FAIL(&s, "a mocap body is moved from outside and has no joints");
  if (d->type < AB_JOINT_FREE || d->type > AB_JOINT_HINGE) return AB_FAIL(&s, "unknown joint type");
  double x[9] = {d->pos.x,  d->pos.y,  d->pos.z, d->axis.x,   d->axis.y,
                 d->axis.z, d->margin, d->ref,   d->springref};
  if (!ab_check_finite(&s, 9, x, "one of pos, axis, margin, ref, springref")) return false;
  if (has_axis(d) && !(v3_norm(ab_direction(d->axis)) > 0))
    return AB_FAIL(&s, "the axis is zero; give it a direction");
  return good_range(&s, d) && ab_check_not_negative(&s, d->stiffness, "stiffness") &&
         ab_check_not_negative(&s, d->damping, "damping") &&
         ab_check_not_negative(&s, d->armature, "armature") &&
         ab_check_not_negative(&s, d->frictionloss, "frictionloss");
}

int ab_scene_add_joint(abScene* scene, const abJointDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abJointDef d = *def;
  abSubject s = {"joint", d.name, d.source, error};
  if (!ab_check_joint(scene, &d, error)) return -1;
  if (has_axis(&d)) d.axis = ab_direction(d.axis);
  if (!ab_claim_name(scene, &scene->joint_name, &s, scene->joint.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->joint, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

// --- geoms and meshes ---

static bool good_size(const abSubject* s, const abScene* scene, const abGeomDef* d) {
  static const int nsize[] = {0, 3, 1, 2, 2, 3, 0};
  static const char* const message[] = {"",
                                        "a box needs three half lengths above 0",
                                        "a sphere needs a radius above 0",
                                        "a capsule needs a radius and a half length above 0",
                                        "a cylinder needs a radius and a half length above 0",
                                        "an ellipsoid needs three radii above 0",
                                        ""};
  if (d->type < AB_SHAPE_PLANE || d->type > AB_SHAPE_MESH) return AB_FAIL(s, "unknown shape type");
  double size[3] = {d->size.x, d->size.y, d->size.z};
  for (int i = 0; i < nsize[d->type]; i++)
    if (!(size[i] > 0) || !isfinite(size[i])) return AB_FAIL(s, message[d->type]);
  if (d->type == AB_SHAPE_MESH) return ab_check_refers(s, d->mesh, scene->mesh.n, "mesh");
  return true;
}

static bool good_surface(const abSubject* s, const abGeomDef* d) {
  double x[5] = {d->mu_static, d->e_r, d->margin, d->gap, 0};
  if (!ab_check_finite(s, 4, x, "one of mu_static, e_r, margin, gap")) return false;
  if (d->condim != 1 && d->condim != 3 && d->condim != 4 && d->condim != 6)
    return AB_FAIL(s, "condim must be 1, 3, 4 or 6");
  if (!(d->e_t > 0) || !(d->e_o > 0) || !isfinite(d->e_t) || !isfinite(d->e_o))
    return AB_FAIL(s, "e_t and e_o must be above 0");
  if (!(d->restitution >= 0 && d->restitution <= 1))
    return AB_FAIL(s, "restitution must be between 0 and 1");
  return ab_check_not_negative(s, d->friction[0], "friction") &&
         ab_check_not_negative(s, d->friction[1], "torsional friction") &&
         ab_check_not_negative(s, d->friction[2], "rolling friction");
}

bool ab_check_geom(const abScene* scene, const abGeomDef* d, abError* error) {
  abSubject s = {"geom", d->name, d->source, error};
  if (!ab_check_refers(&s, d->body, scene->body.n, "body") || !good_size(&s, scene, d) ||
      !ab_check_pose(&s, &d->pose, "its pose") || !good_surface(&s, d))
    return false;
  if (!isfinite(d->mass)) return AB_FAIL(&s, "mass is not a finite number");
  return d->mass >= 0 || ab_check_not_negative(&s, d->density, "density");
}

int ab_scene_add_geom(abScene* scene, const abGeomDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abGeomDef d = *def;
  abSubject s = {"geom", d.name, d.source, error};
  if (!ab_check_geom(scene, &d, error)) return -1;
  d.pose.q = ab_orientation(d.pose.q);
  if (!ab_claim_name(scene, &scene->geom_name, &s, scene->geom.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->geom, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}

static bool good_mesh(const abSubject* s, const abMeshDef* d) {
  if (!d->file && (d->nvert < 1 || !d->vert)) return AB_FAIL(s, "has neither a file nor vertices");
  double scale[3] = {d->scale.x, d->scale.y, d->scale.z};
  if (!ab_check_finite(s, 3, scale, "scale")) return false;
  if (scale[0] == 0 || scale[1] == 0 || scale[2] == 0) return AB_FAIL(s, "scale must not be 0");
  if (d->inertia < AB_MESH_INERTIA_LEGACY || d->inertia > AB_MESH_INERTIA_SHELL)
    return AB_FAIL(s, "unknown inertia rule");
  return ab_check_pose(s, &d->ref, "its reference frame");
}

static bool good_triangles(const abSubject* s, const abMeshDef* d) {
  char text[128];
  for (int i = 0; i < d->nvert; i++)
    if (!v3_finite(d->vert[i])) {
      snprintf(text, sizeof text, "vertex %d is not a finite number", i);
      return AB_FAIL(s, text);
    }
  if (d->nmass < 0 || d->nmass > d->ntriangle)
    return AB_FAIL(s, "nmass must be between 0 and the number of triangles");
  for (int i = 0; i < d->ntriangle; i++)
    for (int k = 0; k < 3; k++)
      if (d->triangle[i][k] < 0 || d->triangle[i][k] >= d->nvert) {
        snprintf(text, sizeof text, "triangle %d names vertex %d; there are %d, counted from 0", i,
                 d->triangle[i][k], d->nvert);
        return AB_FAIL(s, text);
      }
  return true;
}

// What is wrong with a mesh file, at the place of the scene that asked for it.
static void fail_file(const abSubject* s, const abError* inner) {
  char line[32] = "";
  if (inner->line) snprintf(line, sizeof line, ":%d", inner->line);
  bool known = s->source.file != NULL;
  ab_fail(s->error, inner->code, known ? s->source.file : inner->file,
          known ? s->source.line : inner->line, "mesh%s%s%s: %s%s: %s", s->name ? " '" : "",
          s->name ? s->name : "", s->name ? "'" : "", inner->file, line, inner->message);
}

// Copies the vertices and triangles, from the file if one is named.
static bool take_vertices(abScene* scene, const abSubject* s, abMeshDef* d) {
  abMeshData data = {0};
  if (d->file) {
    abError inner = {0};
    if (ab_mesh_read(d->file, &data, &inner)) {
      fail_file(s, &inner);
      return false;
    }
    d->nvert = data.nvert, d->vert = data.vert;
    d->ntriangle = data.ntriangle, d->triangle = (const int(*)[3])data.triangle;
    d->nmass = data.nmass;
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
  ab_scene_no_memory(s->error);
  return false;
}

int ab_scene_add_mesh(abScene* scene, const abMeshDef* def, abError* error) {
  if (!scene || !def) return ab_nothing_given(error);
  abMeshDef d = *def;
  abSubject s = {"mesh", d.name, d.source, error};
  if (!good_mesh(&s, &d)) return -1;
  if (d.name && ab_names_find(&scene->mesh_name, d.name) >= 0) {
    AB_FAIL(&s, "this name is taken; names must differ within a kind");
    return -1;
  }
  if (!take_vertices(scene, &s, &d)) return -1;
  d.ref.q = ab_orientation(d.ref.q);
  if (!ab_claim_name(scene, &scene->mesh_name, &s, scene->mesh.n, &d.name)) return -1;
  if (!ab_keep_source(scene, &d.source)) return ab_scene_no_memory(error);
  int i = AB_APPEND(scene->mesh, &d);
  return i < 0 ? ab_scene_no_memory(error) : i;
}
