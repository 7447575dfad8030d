// The compiler's geometry: shapes of geoms, masses of bodies, hulls of bodies.
//
// Equal shapes share one polyhedron. A body's mass is the sum over its geoms, each of density
// 1000 kg/m3 unless it says otherwise, or what the scene states. As in MJCF, geoms of the world
// weigh nothing, and a body that moves must have, together with the bodies welded to it, a mass and
// an inertia about every axis.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/mass.h"
#include "geometry/polyhedron.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "scene/scene.h"

// A principal moment below this fraction of the largest is nothing but rounding of the others.
#define SINGULAR (1e3 * DBL_EPSILON)

static abStatus no_memory(abCompiler* c) {
  return ab_fail(c->error, AB_ERROR_MEMORY, NULL, 0, "no memory for the model");
}

// Puts what geometry/ complained about where the scene asked for it.
static abStatus blame(abCompiler* c, abError inner, abSource source, const char* what,
                      const char* name) {
  return ab_fail(c->error, inner.code ? inner.code : AB_ERROR_SCENE, source.file, source.line,
                 "%s '%s': %s", what, name, inner.message);
}

// --- polyhedra
// ----------------------------------------------------------------------------------------

// Takes over poly; its index, or -1 when there is no memory (then poly is freed).
static int keep_poly(abCompiler* c, abPolyhedron* poly) {
  if (c->npoly == c->poly_capacity) {
    int bigger = c->poly_capacity ? 2 * c->poly_capacity : 16;
    abPolyhedron** p = ab_realloc(c->poly, (size_t)bigger * sizeof(abPolyhedron*));
    if (!p) {
      ab_polyhedron_free(poly);
      return -1;
    }
    c->poly = p;
    c->poly_capacity = bigger;
  }
  c->poly[c->npoly] = poly;
  return c->npoly++;
}

// The reference frame is taken away, then comes the scale: x' = scale R_ref^T (x - p_ref). A
// mirrored mesh has its triangles turned round, so that they keep facing outwards.
static abStatus place_mesh(abCompiler* c, int i) {
  const abMeshDef* d = &c->scene->mesh.item[i];
  abMesh* m = &c->mesh[i];
  abVec3* vert = ab_bag_take(&c->bag, (size_t)d->nvert * sizeof *vert);
  int(*triangle)[3] = ab_bag_take(&c->bag, (size_t)d->ntriangle * sizeof *triangle);
  if (!vert || !triangle) return no_memory(c);
  for (int k = 0; k < d->nvert; k++)
    vert[k] = v3_mul(d->scale, pose_apply_inverse(d->ref, d->vert[k]));
  bool mirrored = d->scale.x * d->scale.y * d->scale.z < 0;
  for (int k = 0; k < d->ntriangle; k++) {
    const int* t = d->triangle[k];
    triangle[k][0] = t[0];
    triangle[k][1] = mirrored ? t[2] : t[1];
    triangle[k][2] = mirrored ? t[1] : t[2];
  }
  m->file = d->file;
  m->nvert = d->nvert;
  m->vert = vert;
  m->ntriangle = d->ntriangle;
  m->triangle = (const int(*)[3])triangle;
  return AB_OK;
}

// A cloud of points is drawn, and weighed, as its hull.
static abStatus triangulate_hull(abCompiler* c, abMesh* m, const abPolyhedron* p) {
  int n = p->nloop - 2 * p->nface, at = 0;
  abVec3* vert = ab_bag_take(&c->bag, (size_t)p->nvert * sizeof *vert);
  int(*triangle)[3] = ab_bag_take(&c->bag, (size_t)n * sizeof *triangle);
  if (!vert || !triangle) return no_memory(c);
  memcpy(vert, p->vert, (size_t)p->nvert * sizeof *vert);
  for (int f = 0; f < p->nface; f++) {
    const int* loop = p->loop + p->face_start[f];
    for (int i = 1; i + 1 < p->face_start[f + 1] - p->face_start[f]; i++, at++)
      triangle[at][0] = loop[0], triangle[at][1] = loop[i], triangle[at][2] = loop[i + 1];
  }
  m->nvert = p->nvert, m->vert = vert;
  m->ntriangle = n, m->triangle = (const int(*)[3])triangle;
  return AB_OK;
}

// The polyhedron of one geom's shape, as a new entry of c->poly.
static abStatus make_poly(abCompiler* c, abGeom* g, int* out) {
  abSource source = c->scene->geom.item[c->geom_from[g - c->geom]].source;
  abError inner = {0};
  abPolyhedron* poly;
  if (g->shape.type == AB_MESH) {
    abMesh* m = &c->mesh[g->mesh];
    poly = ab_polyhedron_hull(m->nvert, m->vert, &inner);
    if (!poly) return blame(c, inner, c->scene->mesh.item[g->mesh].source, "mesh", m->name);
    if (m->ntriangle == 0 && triangulate_hull(c, m, poly)) {
      ab_polyhedron_free(poly);
      return AB_ERROR_MEMORY;
    }
  } else {
    poly = ab_polyhedron_of_shape(&g->shape, c->scene->option.tessellation, &g->shape.poly_error,
                                  &inner);
    if (!poly) return blame(c, inner, source, "geom", g->name);
  }
  *out = keep_poly(c, poly);
  return *out < 0 ? no_memory(c) : AB_OK;
}

typedef struct ShapeKey {
  abShapeType type;
  int mesh;
  double size[3];
  int geom;
} ShapeKey;

static int compare_shapes(const void* a, const void* b) {
  const ShapeKey *x = a, *y = b;
  if (x->type != y->type) return x->type < y->type ? -1 : 1;
  if (x->mesh != y->mesh) return x->mesh < y->mesh ? -1 : 1;
  for (int i = 0; i < 3; i++)
    if (x->size[i] != y->size[i]) return x->size[i] < y->size[i] ? -1 : 1;
  return 0;
}

static int compare_keys(const void* a, const void* b) {
  int order = compare_shapes(a, b);
  const ShapeKey *x = a, *y = b;
  return order ? order : (x->geom > y->geom) - (x->geom < y->geom);
}

// What of `size` means something.
static abVec3 used_size(abShapeType type, abVec3 s) {
  if (type == AB_MESH) return v3_zero();
  if (type == AB_SPHERE) return v3(s.x, 0, 0);
  if (type == AB_CAPSULE || type == AB_CYLINDER) return v3(s.x, s.y, 0);
  return s;
}

abStatus ab_compile_shapes(abCompiler* c) {
  int n = c->model.ngeom;
  ShapeKey* key = ab_bag_take(&c->bag, (size_t)n * sizeof *key);
  if (!key) return no_memory(c);
  for (int i = 0; i < c->model.nmesh; i++)
    if (place_mesh(c, i)) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    abGeom* g = &c->geom[i];
    const abGeomDef* d = &c->scene->geom.item[c->geom_from[i]];
    g->mesh = d->type == AB_MESH ? d->mesh : -1;
    g->shape = (abShape){.type = d->type, .size = used_size(d->type, d->size)};
    abVec3 s = g->shape.size;
    key[i] = (ShapeKey){d->type, g->mesh, {s.x, s.y, s.z}, i};
  }
  qsort(key, (size_t)n, sizeof *key, compare_keys);
  for (int i = 0; i < n; i++) {
    abGeom* g = &c->geom[key[i].geom];
    int* poly = &c->geom_poly[key[i].geom];
    *poly = -1;
    if (g->shape.type == AB_PLANE) continue;
    if (i > 0 && compare_shapes(&key[i - 1], &key[i]) == 0) {
      *poly = c->geom_poly[key[i - 1].geom];
      g->shape.poly_error = c->geom[key[i - 1].geom].shape.poly_error;
    } else {
      abStatus status = make_poly(c, g, poly);
      if (status) return status;
    }
    g->shape.poly = c->poly[*poly];
  }
  return AB_OK;
}

// --- masses
// -------------------------------------------------------------------------------------------

// Of density 1, in the geom's frame.
static abMassProps unit_mass(abCompiler* c, const abGeom* g, const abGeomDef* d) {
  if (g->shape.type != AB_MESH) return ab_mass_of_shape(g->shape.type, g->shape.size, d->shell, 1);
  const abMesh* m = &c->mesh[g->mesh];
  abMeshInertia rule = c->scene->mesh.item[g->mesh].inertia;
  if (d->shell) rule = AB_INERTIA_SHELL;
  if (rule == AB_INERTIA_CONVEX) return ab_mass_of_polyhedron(g->shape.poly, 1);
  return ab_mass_of_triangles(m->vert, m->ntriangle, m->triangle, rule, 1);
}

static abStatus mass_of_geom(abCompiler* c, abGeom* g, abMassProps* out) {
  const abGeomDef* d = &c->scene->geom.item[c->geom_from[g - c->geom]];
  *out = (abMassProps){0};
  if (g->shape.type == AB_PLANE || d->mass == 0 || (d->mass < 0 && d->density == 0)) return AB_OK;
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
  if (nheavy == 1 && c->geom[heavy].shape.type != AB_MESH)
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
  if (b->mass > 0 && least > SINGULAR * most) return AB_OK;
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
  if (!(I.z > SINGULAR * I.x))
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
    if (status) return status;
  }
  for (int i = 1; i < c->model.nbody; i++)
    if (c->body[i].njoint > 0) {
      abStatus status = check_moving(c, i);
      if (status) return status;
    }
  set_total(c);
  return AB_OK;
}

// --- hulls
// --------------------------------------------------------------------------------------------

static bool can_collide(const abCompiler* c, int geom) {
  const abGeom* g = &c->geom[geom];
  return g->contype || g->conaffinity || c->paired[geom];
}

static bool is_identity(abPose p) {
  return p.p.x == 0 && p.p.y == 0 && p.p.z == 0 && p.q.x == 0 && p.q.y == 0 && p.q.z == 0;
}

// One geom: its own shape if it sits in the body's frame, else its polyhedron moved there.
static abStatus hull_of_one(abCompiler* c, int body, int geom) {
  const abGeom* g = &c->geom[geom];
  c->hull[body] = g->shape;
  c->hull_poly[body] = c->geom_poly[geom];
  if (is_identity(g->pose)) return AB_OK;
  abPolyhedron* p = ab_polyhedron_moved(g->shape.poly, g->pose, c->error);
  if (!p) return AB_ERROR_MEMORY;
  c->hull_poly[body] = keep_poly(c, p);
  if (c->hull_poly[body] < 0) return no_memory(c);
  c->hull[body] = (abShape){.type = AB_MESH, .poly_error = g->shape.poly_error};
  return AB_OK;
}

static abStatus hull_of_many(abCompiler* c, int body, int npoint) {
  const abBody* b = &c->body[body];
  abVec3* point = ab_alloc((size_t)npoint * sizeof *point);
  if (!point) return no_memory(c);
  int n = 0;
  double poly_error = 0;
  for (int i = b->geom0; i < b->geom0 + b->ngeom; i++) {
    const abGeom* g = &c->geom[i];
    if (!can_collide(c, i)) continue;
    poly_error = fmax(poly_error, g->shape.poly_error);
    for (int k = 0; k < g->shape.poly->nvert; k++)
      point[n++] = pose_apply(g->pose, g->shape.poly->vert[k]);
  }
  abError inner = {0};
  abPolyhedron* p = ab_polyhedron_hull(n, point, &inner);
  ab_free(point);
  if (!p)
    return blame(c, inner, c->scene->body.item[c->body_from[body]].source, "hull of body", b->name);
  c->hull_poly[body] = keep_poly(c, p);
  if (c->hull_poly[body] < 0) return no_memory(c);
  c->hull[body] = (abShape){.type = AB_MESH, .poly_error = poly_error};
  return AB_OK;
}

abStatus ab_compile_hulls(abCompiler* c) {
  for (int i = 0; i < c->model.nbody; i++) {
    const abBody* b = &c->body[i];
    int ngeom = 0, npoint = 0, last = -1;
    bool plane = false;
    c->hull_poly[i] = -1;
    for (int k = b->geom0; k < b->geom0 + b->ngeom; k++) {
      if (!can_collide(c, k)) continue;
      ngeom++, last = k;
      if (c->geom[k].shape.type == AB_PLANE)
        plane = true;
      else
        npoint += c->geom[k].shape.poly->nvert;
    }
    if (plane || ngeom == 0 || (i == 0 && ngeom > 1)) continue;
    abStatus status = ngeom == 1 ? hull_of_one(c, i, last) : hull_of_many(c, i, npoint);
    if (status) return status;
  }
  return AB_OK;
}
