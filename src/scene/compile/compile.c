// From a scene to a model: the steps, and what they share.
//
//   order   bodies depth-first, joints and geoms by body (tree.c)
//   tree    bodies, joints with their places in q and v, what is welded to what, movers
//   shapes  polyhedra of the geoms, hulls of the bodies (shape.c)
//   masses  (mass.c)
//   laws    sites, tendons, equalities, actuators (law.c, servo.c)
//   state   initial coordinates, keyframes, the scene's size (state.c)
//   pack    everything into one block (pack.c)
//
// The pieces are made in a bag of temporary memory, which pack copies from.
#include "scene/compile/compile.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "math/vec.h"

abStatus ab_compile_no_memory(abCompiler* c) {
  return ab_fail(c->error, AB_ERROR_MEMORY, NULL, 0, "no memory for the model");
}

abStatus ab_compile_go_on(abCompiler* c, abStatus status) {
  if (status == AB_OK || status == AB_ERROR_MEMORY) return status;
  return ab_add_problem(&c->nproblem, &c->problem, c->error) ? AB_OK : status;
}

int ab_coordinates_of(abJointType type) {
  return type == AB_JOINT_FREE ? 7 : type == AB_JOINT_BALL ? 4 : 1;
}

int ab_velocities_of(abJointType type) {
  return type == AB_JOINT_FREE ? 6 : type == AB_JOINT_BALL ? 3 : 1;
}

const char* ab_compile_name(abCompiler* c, const char* given, const char* kind, int index,
                            const abNameTable* taken) {
  if (given) return given;
  char text[64];
  snprintf(text, sizeof text, "%s%d", kind, index);
  while (ab_names_find(taken, text) >= 0 && strlen(text) + 2 < sizeof text) strcat(text, "_");
  return ab_bag_copy_string(&c->bag, text);
}

static abStatus prepare(abCompiler* c) {
  const abScene* s = c->scene;
  abModel* m = &c->model;
  m->nbody = s->body.n, m->njoint = s->joint.n, m->ngeom = s->geom.n, m->nmesh = s->mesh.n;
  m->name = s->option.name ? s->option.name : "";
  m->file = s->option.file ? s->option.file : s->last_file ? s->last_file : "";
  m->gravity = s->option.gravity;
  m->timestep = s->option.timestep;
  m->integrator = s->option.integrator;
  m->contact = s->option.contact;
  size_t nb = (size_t)m->nbody, nj = (size_t)m->njoint + 1, ng = (size_t)m->ngeom + 1;
  size_t ns = (size_t)s->site.n;
  c->body = ab_bag_take(&c->bag, nb * sizeof *c->body);
  c->joint = ab_bag_take(&c->bag, nj * sizeof *c->joint);
  c->geom = ab_bag_take(&c->bag, ng * sizeof *c->geom);
  c->mesh = ab_bag_take(&c->bag, (size_t)m->nmesh * sizeof *c->mesh);
  c->pose = ab_bag_take(&c->bag, nb * sizeof *c->pose);
  c->hull = ab_bag_take(&c->bag, nb * sizeof *c->hull);
  c->paired = ab_bag_take(&c->bag, ng * sizeof *c->paired);
  int* index = ab_bag_take(&c->bag, (3 * nb + 2 * nj + 3 * ng + 2 * ns) * sizeof(int));
  if (!c->body || !c->joint || !c->geom || !c->mesh || !c->pose || !c->hull || !c->paired || !index)
    return ab_compile_no_memory(c);
  c->body_from = index, c->body_to = index + nb, c->hull_poly = index + 2 * nb;
  c->joint_from = index + 3 * nb, c->joint_to = c->joint_from + nj;
  c->geom_from = c->joint_to + nj, c->geom_to = c->geom_from + ng;
  c->geom_poly = c->geom_to + ng;
  c->site_from = c->geom_poly + ng, c->site_to = c->site_from + ns;
  return AB_OK;
}

static abStatus check_option(abCompiler* c) {
  const abSceneOption* o = &c->scene->option;
  if (!(o->timestep > 0) || !isfinite(o->timestep))
    return ab_fail(c->error, AB_ERROR_SCENE, o->file, 0, "timestep is %g; it must be above 0",
                   o->timestep);
  if (!v3_finite(o->gravity))
    return ab_fail(c->error, AB_ERROR_SCENE, o->file, 0, "gravity is not a finite number");
  if (!(o->tessellation > 0 && o->tessellation < 1))
    return ab_fail(c->error, AB_ERROR_SCENE, o->file, 0,
                   "tessellation is %g; as a relative volume error it must be between 0 and 1",
                   o->tessellation);
  if (!(o->boundmass >= 0) || !(o->boundinertia >= 0) || isnan(o->settotalmass))
    return ab_fail(c->error, AB_ERROR_SCENE, o->file, 0,
                   "boundmass and boundinertia must not be negative");
  return AB_OK;
}

static abStatus compile(abCompiler* c) {
  abStatus (*const step[])(abCompiler*) = {
      check_option,       prepare,          ab_compile_order,      ab_compile_bodies,
      ab_compile_geoms,   ab_compile_rules, ab_compile_shapes,     ab_compile_movers,
      ab_compile_masses,  ab_compile_hulls, ab_compile_dofs,       ab_compile_sites,
      ab_compile_tendons, ab_compile_mocap, ab_compile_equalities, ab_compile_actuators,
      ab_compile_state};
  for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
    abStatus status = step[i](c);
    if (!status && c->nproblem) status = c->problem[0].code;
    if (status) return status;
  }
  return AB_OK;
}

// Into the memory of `over` if one is given.
static abModel* compile_to(const abScene* scene, abModel* over, abNotes* notes, abError* error) {
  if (!scene) {
    ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "there is no scene; did loading it fail?");
    return NULL;
  }
  abError own;
  abCompiler c = {.scene = scene, .error = error ? error : &own};
  abModel* model = compile(&c) ? NULL : ab_compile_pack(&c, over);
  if (!model && c.nproblem) *c.error = c.problem[0];
  if (!model && notes) {
    ab_notes_free(notes);
    notes->nproblem = c.nproblem, notes->problem = c.problem;
  } else {
    ab_free(c.problem);
  }
  for (int i = 0; i < c.npoly; i++) ab_polyhedron_free(c.poly[i]);
  ab_free(c.poly);
  ab_bag_free(&c.bag);
  return model;
}

abModel* ab_scene_compile(const abScene* scene, abError* error) {
  return compile_to(scene, NULL, NULL, error);
}

abModel* ab_compile_scene(const abScene* scene, abNotes* notes, abError* error) {
  return compile_to(scene, NULL, notes, error);
}

abStatus ab_scene_recompile(const abScene* scene, abModel* model, abError* error) {
  abError own = {0};
  if (!error) error = &own;
  return compile_to(scene, model, NULL, error) ? AB_OK : error->code;
}

void ab_model_free(abModel* model) { ab_free(model); }
