// The compiled model as JSON. Numbers that are not finite (JSON has none) become null.
// Tests: test_record, test_recordings.py.
#include "io/model_json.h"

#include <jansson.h>
#include <math.h>

#include "base/alloc.h"
#include "io/json_whole.h"

const char* ab_shape_type_name(abShapeType type) {
  static const char* const name[] = {"plane",    "box",       "sphere", "capsule",
                                     "cylinder", "ellipsoid", "mesh"};
  return name[type];
}

const char* ab_joint_type_name(abJointType type) {
  static const char* const name[] = {"free", "ball", "slide", "hinge"};
  return name[type];
}

static json_t* number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t* text(const char* s) { return ab_json_text(s); }

static json_t* numbers(int n, const double* x) {
  json_t* a = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(a, number(x[i]));
  return a;
}

static json_t* vec(abVec3 a) { return numbers(3, (double[]){a.x, a.y, a.z}); }
static json_t* quat(abQuat q) { return numbers(4, (double[]){q.w, q.x, q.y, q.z}); }

// Bodies that are moved from outside count as movers behind those that move by themselves.
static json_t* body_json(const abModel* model, int i) {
  const abBody* b = &model->body[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(b->name));
  json_object_set_new(j, "parent", json_integer(b->parent));
  json_object_set_new(j, "weld", json_integer(b->weld));
  int mocap = model->nmocap > 0 ? model->body[b->weld].mocap : -1;
  json_object_set_new(j, "mover", json_integer(mocap < 0 ? b->mover : model->nmover + mocap));
  json_object_set_new(j, "pos", vec(b->pose.p));
  json_object_set_new(j, "quat", quat(b->pose.q));
  json_object_set_new(j, "mass", number(b->mass));
  json_object_set_new(j, "com", vec(b->com));
  json_object_set_new(j, "inertia", vec(b->inertia));
  json_object_set_new(j, "inertia_quat", quat(b->inertia_q));
  json_object_set_new(j, "joint0", json_integer(b->joint0));
  json_object_set_new(j, "njoint", json_integer(b->njoint));
  json_object_set_new(j, "geom0", json_integer(b->geom0));
  json_object_set_new(j, "ngeom", json_integer(b->ngeom));
  json_object_set_new(j, "gravity", json_boolean(b->gravity));
  json_object_set_new(j, "mocap", json_integer(model->nmocap > 0 ? b->mocap : -1));
  return j;
}

static json_t* joint_json(const abModel* model, int i) {
  const abJoint* a = &model->joint[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(a->name));
  json_object_set_new(j, "type", text(ab_joint_type_name(a->type)));
  json_object_set_new(j, "body", json_integer(a->body));
  json_object_set_new(j, "q0", json_integer(a->q0));
  json_object_set_new(j, "v0", json_integer(a->v0));
  json_object_set_new(j, "pos", vec(a->pos));
  json_object_set_new(j, "axis", vec(a->axis));
  json_object_set_new(j, "limited", json_boolean(a->limited));
  json_object_set_new(j, "range", numbers(2, a->range));
  json_object_set_new(j, "stiffness", number(a->stiffness));
  json_object_set_new(j, "damping", number(a->damping));
  json_object_set_new(j, "armature", number(a->armature));
  json_object_set_new(j, "frictionloss", number(a->frictionloss));
  json_object_set_new(j, "ref", number(a->ref));
  json_object_set_new(j, "springref", number(a->springref));
  return j;
}

static json_t* geom_json(const abModel* model, int i) {
  const abGeom* g = &model->geom[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(g->name));
  json_object_set_new(j, "body", json_integer(g->body));
  json_object_set_new(j, "type", text(ab_shape_type_name(g->shape.type)));
  json_object_set_new(j, "size", vec(g->shape.size));
  json_object_set_new(j, "pos", vec(g->pose.p));
  json_object_set_new(j, "quat", quat(g->pose.q));
  json_object_set_new(j, "mass", number(g->mass));
  json_object_set_new(j, "friction", numbers(3, g->friction));
  json_object_set_new(j, "mu_static", number(g->mu_static < 0 ? g->friction[0] : g->mu_static));
  json_object_set_new(j, "e_r", g->e_r < 0 ? json_null() : number(g->e_r));
  json_object_set_new(j, "restitution", number(g->restitution));
  json_object_set_new(j, "margin", number(g->margin));
  json_object_set_new(j, "gap", number(g->gap));
  json_object_set_new(j, "collides", json_boolean(g->collides));
  json_object_set_new(j, "contype", json_integer(g->contype));
  json_object_set_new(j, "conaffinity", json_integer(g->conaffinity));
  json_object_set_new(j, "condim", json_integer(g->condim));
  json_object_set_new(j, "group", json_integer(g->group));
  double rgba[4] = {g->rgba[0], g->rgba[1], g->rgba[2], g->rgba[3]};
  json_object_set_new(j, "rgba", numbers(4, rgba));
  json_object_set_new(j, "mesh", json_integer(g->mesh));
  if (g->shape.poly) {
    json_object_set_new(j, "volume", number(g->shape.poly->volume));
    json_object_set_new(j, "faces", json_integer(g->shape.poly->nface));
    json_object_set_new(j, "volume_error", number(g->shape.poly_error));
  }
  return j;
}

static json_t* mesh_json(const abMesh* m, bool data) {
  json_t* j = json_object();
  json_object_set_new(j, "name", text(m->name));
  json_object_set_new(j, "file", text(m->file));
  json_object_set_new(j, "nvert", json_integer(m->nvert));
  json_object_set_new(j, "ntriangle", json_integer(m->ntriangle));
  if (!data) return j;
  json_object_set_new(j, "vert",
                      numbers(m->nvert ? 3 * m->nvert : 0, m->nvert ? &m->vert[0].x : NULL));
  json_t* triangle = json_array();
  for (int i = 0; i < m->ntriangle; i++)
    for (int k = 0; k < 3; k++) json_array_append_new(triangle, json_integer(m->triangle[i][k]));
  json_object_set_new(j, "triangle", triangle);
  return j;
}

static json_t* site_json(const abModel* model, int i) {
  const abSite* a = &model->site[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(a->name));
  json_object_set_new(j, "body", json_integer(a->body));
  json_object_set_new(j, "pos", vec(a->pose.p));
  json_object_set_new(j, "quat", quat(a->pose.q));
  return j;
}

static json_t* tendon_json(const abModel* model, int i) {
  const abTendon* a = &model->tendon[i];
  json_t *j = json_object(), *joint = json_array(), *coef = json_array();
  for (int k = a->joint0; k < a->joint0 + a->njoint; k++) {
    json_array_append_new(joint, json_integer(model->tendon_joint[k].joint));
    json_array_append_new(coef, number(model->tendon_joint[k].coef));
  }
  json_object_set_new(j, "name", text(a->name));
  json_object_set_new(j, "joints", joint);
  json_object_set_new(j, "coef", coef);
  json_object_set_new(j, "limited", json_boolean(a->limited));
  json_object_set_new(j, "range", numbers(2, a->range));
  json_object_set_new(j, "margin", number(a->margin));
  json_object_set_new(j, "stiffness", number(a->stiffness));
  json_object_set_new(j, "damping", number(a->damping));
  json_object_set_new(j, "frictionloss", number(a->frictionloss));
  json_object_set_new(j, "armature", number(a->armature));
  json_object_set_new(j, "springlength", numbers(2, a->springlength));
  json_object_set_new(j, "force_limited", json_boolean(a->force_limited));
  json_object_set_new(j, "force_range", numbers(2, a->force_range));
  json_object_set_new(j, "length0", number(a->length0));
  return j;
}

static json_t* equality_json(const abModel* model, int i) {
  static const char* const type[] = {"connect", "weld", "joint", "tendon"};
  const abEquality* a = &model->equality[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(a->name));
  json_object_set_new(j, "type", text(type[a->type]));
  json_object_set_new(j, "active", json_boolean(a->active));
  if (a->body1 >= 0) {
    json_object_set_new(j, "body1", json_integer(a->body1));
    json_object_set_new(j, "body2", json_integer(a->body2));
    json_object_set_new(j, "pos1", vec(a->frame1.p));
    json_object_set_new(j, "pos2", vec(a->frame2.p));
  }
  if (a->type == AB_EQUALITY_WELD) {
    json_object_set_new(j, "quat1", quat(a->frame1.q));
    json_object_set_new(j, "quat2", quat(a->frame2.q));
    json_object_set_new(j, "torquescale", number(a->torquescale));
  }
  if (a->type == AB_EQUALITY_JOINT) {
    json_object_set_new(j, "joint1", json_integer(a->joint1));
    json_object_set_new(j, "joint2", json_integer(a->joint2));
  }
  if (a->type == AB_EQUALITY_TENDON) {
    json_object_set_new(j, "tendon1", json_integer(a->tendon1));
    json_object_set_new(j, "tendon2", json_integer(a->tendon2));
  }
  if (a->body1 < 0) json_object_set_new(j, "polycoef", numbers(5, a->polycoef));
  return j;
}

// "joint" is the index of what is driven: a joint, a tendon or a site, as "drives" says.
static json_t* actuator_json(const abModel* model, int i) {
  const abActuator* a = &model->actuator[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(a->name));
  static const char* const drives[] = {"joint", "tendon", "site"};
  const int driven[] = {a->joint, a->tendon, a->site};
  json_object_set_new(j, "drives", text(drives[a->drive]));
  json_object_set_new(j, "joint", json_integer(driven[a->drive]));
  if (a->drive == AB_DRIVE_SITE) json_object_set_new(j, "refsite", json_integer(a->refsite));
  json_object_set_new(j, "gear", numbers(6, a->gear));
  json_object_set_new(j, "gainprm", numbers(3, a->gainprm));
  json_object_set_new(j, "biasprm", numbers(3, a->biasprm));
  json_object_set_new(j, "ctrl_limited", json_boolean(a->ctrl_limited));
  json_object_set_new(j, "ctrl_range", numbers(2, a->ctrl_range));
  json_object_set_new(j, "force_limited", json_boolean(a->force_limited));
  json_object_set_new(j, "force_range", numbers(2, a->force_range));
  return j;
}

static json_t* key_json(const abModel* model, int i) {
  const abKey* k = &model->key[i];
  json_t* j = json_object();
  json_object_set_new(j, "name", text(k->name));
  json_object_set_new(j, "time", number(k->time));
  size_t at = (size_t)i, nq = (size_t)model->nq, nv = (size_t)model->nv,
         nctrl = (size_t)model->nactuator, nmocap = (size_t)model->nmocap;
  json_object_set_new(j, "q", numbers(model->nq, model->key_q + at * nq));
  json_object_set_new(j, "v", numbers(model->nv, model->key_v + at * nv));
  json_object_set_new(j, "ctrl", numbers(model->nactuator, model->key_ctrl + at * nctrl));
  json_t *p = json_array(), *q = json_array();
  for (size_t b = at * nmocap; b < (at + 1) * nmocap; b++) {
    json_array_append_new(p, vec(model->key_mocap_pos[b]));
    json_array_append_new(q, quat(model->key_mocap_quat[b]));
  }
  json_object_set_new(j, "mocap_pos", p);
  json_object_set_new(j, "mocap_quat", q);
  return j;
}

typedef json_t* (*PartJson)(const abModel* model, int i);

static json_t* parts(const abModel* model, int n, PartJson part) {
  json_t* a = json_array();
  for (int i = 0; i < n; i++) json_array_append_new(a, part(model, i));
  return a;
}

static void set_options(json_t* j, const abModel* model) {
  json_object_set_new(j, "name", text(model->name));
  json_object_set_new(j, "file", text(model->file));
  json_object_set_new(j, "gravity", vec(model->gravity));
  json_object_set_new(j, "timestep", number(model->timestep));
  json_object_set_new(j, "integrator",
                      text(model->integrator == AB_INTEGRATOR_RK4 ? "RK4" : "Euler"));
  json_object_set_new(j, "contact", text(model->contact));
  json_t* setting = json_object();
  for (int i = 0; i < model->nsetting; i++)
    json_object_set_new(setting, model->setting[i].name, number(model->setting[i].value));
  json_object_set_new(j, "settings", setting);
  json_object_set_new(j, "nq", json_integer(model->nq));
  json_object_set_new(j, "nv", json_integer(model->nv));
  json_object_set_new(j, "total_mass", number(model->total_mass));
  json_object_set_new(j, "extent", number(model->extent));
  json_object_set_new(j, "bytes", json_integer((json_int_t)model->bytes));
}

static char* print_model(const abModel* model, bool meshes, size_t flags) {
  ab_json_begin();
  json_t* j = json_object();
  set_options(j, model);
  json_object_set_new(j, "bodies", parts(model, model->nbody, body_json));
  json_object_set_new(j, "joints", parts(model, model->njoint, joint_json));
  json_object_set_new(j, "geoms", parts(model, model->ngeom, geom_json));
  json_object_set_new(j, "sites", parts(model, model->nsite, site_json));
  json_object_set_new(j, "tendons", parts(model, model->ntendon, tendon_json));
  json_object_set_new(j, "equalities", parts(model, model->nequality, equality_json));
  json_object_set_new(j, "actuators", parts(model, model->nactuator, actuator_json));
  json_object_set_new(j, "keys", parts(model, model->nkey, key_json));
  json_t* mesh = json_array();
  for (int i = 0; i < model->nmesh; i++)
    json_array_append_new(mesh, mesh_json(&model->mesh[i], meshes));
  json_object_set_new(j, "meshes", mesh);
  char* s = ab_json_print(j, JSON_COMPACT | flags);
  json_decref(j);
  return s;
}

char* ab_model_json(const abModel* model, bool meshes) {
  return model ? print_model(model, meshes, 0) : NULL;
}

char* ab_model_json_short(const abModel* model) {
  return print_model(model, true, JSON_REAL_PRECISION(9));
}

void ab_json_free(char* json) { ab_free(json); }
