// The compiler's masses. A body's mass is the sum over its geoms, each of density 1000 kg/m3 unless
// it says otherwise, or what the scene states. As in MJCF, geoms of the world weigh nothing, and a
// body that moves must have, together with the bodies welded to it, a mass and an inertia about
// every axis.
// Tests: test_compile_mass.
#include "geometry/mass.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/compile/compile.h"

// Of density 1, in the geom's frame.
static abMassProps unit_mass(abCompiler* c, const abGeom* g, const abGeomDef* d) {
  if (g->shape.type != AB_SHAPE_MESH)
    return ab_mass_of_shape(g->shape.type, g->shape.size, d->shell, 1);
  const abMesh* m = &c->mesh[g->mesh];
  const abMeshDef* def = &c->scene->mesh.item[g->mesh];
  abMeshInertia rule = def->inertia;
  if (d->shell) rule = AB_MESH_INERTIA_SHELL;
  if (rule == AB_MESH_INERTIA_CONVEX) return ab_mass_of_polyhedron(g->shape.poly, 1);
  int n = def->nmass > 0 ? def->nmass : m->ntriangle;
  return ab_mass_of_triangles(m->vert, n, m->triangle, rule, 1);
}

static abStatus mass_of_geom(abCompiler* c, abGeom* g, abMassProps* out) {
  const abGeomDef* d = &c->scene->geom.item[c->geom_from[g - c->geom]];
  *out = (abMassProps){0};
  if (g->shape.type == AB_SHAPE_PLANE || d->mass == 0 || (d->mass < 0 && d->density == 0))
    return AB_OK;
  abMassProps unit = unit_mass(c, g, d);
  if (!(unit.mass > 0))
    return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                   "geom '%s': the triangles of its mesh enclose %s volume; close the surface with "
                   "its triangles counter-clockwise seen from outside, or use inertia \"convex\"",
                   g->name, unit.mass < 0 ? "a negative" : "no");
  *out =
      ab_mass_moved(ab_mass_scaled(unit, d->mass > 0 ? d->mass / unit.mass : d->density), g->pose);
  g->mass = out->mass;
  return AB_OK;
}

static bool is_diagonal(const abMat3* I) {
  return I->m[0][1] == 0 && I->m[0][2] == 0 && I->m[1][2] == 0;
}

// Principal axes; a matrix that is diagonal already keeps its axes in their order.
static void diagonalise(const abMat3* I, abQuat frame, abBody* b) {
  b->inertia_q = frame;
  b->inertia = v3(I->m[0][0], I->m[1][1], I->m[2][2]);
  if (is_diagonal(I)) return;
  abMat3 R;
  m3_eigen(I, &R, &b->inertia);
  b->inertia_q = quat_unit(quat_mul(frame, quat_from_matrix(&R)));
}

static void take_inertial(const abBodyDef* d, abBody* b) {
  const double* i = d->inertia;
  abMat3 I = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
  b->mass = d->mass;
  b->com = d->inertial.p;
  diagonalise(&I, d->inertial.q, b);
}

// The sum of the geoms; one geom alone gives its own axes, where most shapes are diagonal.
static abStatus sum_geoms(abCompiler* c, abBody* b) {
  abMassProps sum = {0};
  int nheavy = 0, heavy = -1;
  for (int i = b->geom0; i < b->geom0 + b->ngeom; i++) {
    abMassProps m;
    abStatus status = mass_of_geom(c, &c->geom[i], &m);
    if (status) return status;
    if (m.mass > 0) nheavy++, heavy = i;
    sum = ab_mass_added(sum, m);
  }
  abQuat frame = nheavy == 1 ? c->geom[heavy].pose.q : quat_identity();
  b->mass = sum.mass;
  b->com = sum.com;
  abMat3 local = ab_mass_moved(sum, (abPose){v3_zero(), quat_conj(frame)}).inertia;
  if (nheavy == 1 && c->geom[heavy].shape.type != AB_SHAPE_MESH)
    local.m[0][1] = local.m[0][2] = local.m[1][2] = 0;  // only the rounding of two rotations
  diagonalise(&local, frame, b);
  return AB_OK;
}

static abStatus bound_inertia(abCompiler* c, abBody* b, const abBodyDef* d) {
  const abSceneOption* o = &c->scene->option;
  if (b->inertia.x < 0 || b->inertia.y < 0 || b->inertia.z < 0)
    return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                   "body '%s': its inertia has the principal moments %g %g %g; none may be "
                   "negative",
                   b->name, b->inertia.x, b->inertia.y, b->inertia.z);
  // As in MuJoCo, a body with nothing in it that boundmass gives a mass has its centre as far from
  // its frame as this from the parent's.
  if (!d->has_inertial && b->ngeom == 0 && o->boundmass > 0) {
    b->com = d->pose.p;
    b->inertia_q = d->pose.q;
  }
  b->mass = fmax(b->mass, o->boundmass);
  b->inertia = v3(fmax(b->inertia.x, o->boundinertia), fmax(b->inertia.y, o->boundinertia),
                  fmax(b->inertia.z, o->boundinertia));
  abVec3 I = b->inertia;
  double sum = I.x + I.y + I.z, largest = fmax(I.x, fmax(I.y, I.z));
  // Flat bodies sit exactly on A + B = C, and diagonalising moves that by rounding.
  if (largest <= sum - largest + 1e-12 * sum) return AB_OK;
  if (o->balanceinertia) {
    b->inertia = v3(sum / 3, sum / 3, sum / 3);
    return AB_OK;
  }
  return ab_fail(c->error, AB_ERROR_SCENE, d->source.file, d->source.line,
                 "body '%s': no matter has the principal moments %g %g %g, for the largest "
                 "exceeds the sum of the others; correct the inertia or set balanceinertia",
                 b->name, I.x, I.y, I.z);
}

static abMassProps props_of(const abBody* b) {
  abMat3 R = quat_matrix(b->inertia_q);
  return (abMassProps){b->mass, b->com, m3_congruent_diag(&R, b->inertia)};
}

// A body with joints must weigh something together with what is welded to it.
static abStatus check_moving(abCompiler* c, int i) {
  abBody* b = &c->body[i];
  const abSource source = c->scene->body.item[c->body_from[i]].source;
  double least = fmin(b->inertia.x, fmin(b->inertia.y, b->inertia.z));
  double most = fmax(b->inertia.x, fmax(b->inertia.y, b->inertia.z));
  if (b->mass > 0 && least > AB_SINGULAR_INERTIA * most) return AB_OK;
  abMassProps sum = props_of(b);
  for (int k = i + 1; k < c->model.nbody; k++) {
    if (c->body[k].parent < i) break;  // the subtree ends
    if (c->body[k].weld != i) continue;
    abPose pose = pose_mul(pose_inverse(c->pose[i]), c->pose[k]);
    sum = ab_mass_added(sum, ab_mass_moved(props_of(&c->body[k]), pose));
  }
  if (!(sum.mass > 0))
    return ab_fail(c->error, AB_ERROR_SCENE, source.file, source.line,
                   "body '%s' moves but has no mass; give it a geom with a density, or an inertial",
                   b->name);
  abMat3 R;
  abVec3 I;
  m3_eigen(&sum.inertia, &R, &I);
  if (!(I.z > AB_SINGULAR_INERTIA * I.x))
    return ab_fail(c->error, AB_ERROR_SCENE, source.file, source.line,
                   "body '%s' moves but its inertia is singular (principal moments %g %g %g); "
                   "give every axis an inertia above 0",
                   b->name, I.x, I.y, I.z);
  return AB_OK;
}

static void set_total(abCompiler* c) {
  double total = 0, wanted = c->scene->option.settotalmass;
  for (int i = 1; i < c->model.nbody; i++) total += c->body[i].mass;
  double s = wanted > 0 && total > 0 ? wanted / total : 1;
  for (int i = 1; i < c->model.nbody; i++) {
    c->body[i].mass *= s;
    c->body[i].inertia = v3_scale(s, c->body[i].inertia);
  }
  for (int i = 0; i < c->model.ngeom; i++) c->geom[i].mass *= s;
  c->model.total_mass = s * total;
}

abStatus ab_compile_masses(abCompiler* c) {
  c->body[0].inertia_q = quat_identity();
  for (int i = 1; i < c->model.nbody; i++) {
    abBody* b = &c->body[i];
    const abBodyDef* d = &c->scene->body.item[c->body_from[i]];
    abStatus status = AB_OK;
    if (d->has_inertial)
      take_inertial(d, b);
    else
      status = sum_geoms(c, b);
    if (!status) status = bound_inertia(c, b, d);
    status = ab_compile_go_on(c, status);
    if (status) return status;
  }
  if (c->nproblem) return AB_OK;  // what follows from these is not told
  for (int i = 1; i < c->model.nbody; i++)
    if (c->body[i].njoint > 0) {
      abStatus status = ab_compile_go_on(c, check_moving(c, i));
      if (status) return status;
    }
  set_total(c);
  return AB_OK;
}
