// The compiler's geometry: shapes of the geoms, where equal ones share one polyhedron, and hulls of
// the bodies.
// Tests: test_compile.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "scene/compile/compile.h"

// Puts what geometry/ complained about where the scene asked for it.
static abStatus blame(abCompiler* c, abError inner, abSource source, const char* what,
                      const char* name) {
  return ab_fail(c->error, inner.code ? inner.code : AB_ERROR_SCENE, source.file, source.line,
                 "%s '%s': %s", what, name, inner.message);
}

// --- polyhedra ---

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
  if (!vert || !triangle) return ab_compile_no_memory(c);
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
  if (!vert || !triangle) return ab_compile_no_memory(c);
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

// A mesh whose geoms are all for pictures may be flat: it needs no hull, and gets the box around
// its points, at least a thousandth as thick as long.
static abPolyhedron* box_of_picture(abCompiler* c, const abGeom* g, abError* error) {
  const abMesh* m = &c->mesh[g->mesh];
  for (int i = 0; i < c->model.ngeom; i++)
    if (c->geom[i].mesh == g->mesh && c->geom[i].collides) return NULL;
  abVec3 low = m->vert[0], high = low, corner[8];
  for (int i = 0; i < m->nvert; i++) {
    abVec3 p = m->vert[i];
    low = v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  double least = 1e-3 * v3_norm(v3_sub(high, low));
  for (int i = 0; i < 8; i++)
    corner[i] =
        v3(i & 1 ? fmax(high.x, low.x + least) : low.x, i & 2 ? fmax(high.y, low.y + least) : low.y,
           i & 4 ? fmax(high.z, low.z + least) : low.z);
  return ab_polyhedron_hull(8, corner, error);
}

// The polyhedron of one geom's shape, as a new entry of c->poly.
static abStatus make_poly(abCompiler* c, abGeom* g, int* out) {
  abSource source = c->scene->geom.item[c->geom_from[g - c->geom]].source;
  abError inner = {0};
  abPolyhedron* poly;
  if (g->shape.type == AB_SHAPE_MESH) {
    abMesh* m = &c->mesh[g->mesh];
    poly = ab_polyhedron_hull(m->nvert, m->vert, &inner);
    if (!poly && inner.code != AB_ERROR_MEMORY) poly = box_of_picture(c, g, &inner);
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
  return *out < 0 ? ab_compile_no_memory(c) : AB_OK;
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
  if (type == AB_SHAPE_MESH) return v3_zero();
  if (type == AB_SHAPE_SPHERE) return v3(s.x, 0, 0);
  if (type == AB_SHAPE_CAPSULE || type == AB_SHAPE_CYLINDER) return v3(s.x, s.y, 0);
  return s;
}

abStatus ab_compile_shapes(abCompiler* c) {
  int n = c->model.ngeom;
  ShapeKey* key = ab_bag_take(&c->bag, (size_t)n * sizeof *key);
  if (!key) return ab_compile_no_memory(c);
  for (int i = 0; i < c->model.nmesh; i++)
    if (place_mesh(c, i)) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    abGeom* g = &c->geom[i];
    const abGeomDef* d = &c->scene->geom.item[c->geom_from[i]];
    g->mesh = d->type == AB_SHAPE_MESH ? d->mesh : -1;
    g->shape = (abShape){.type = d->type, .size = used_size(d->type, d->size)};
    abVec3 s = g->shape.size;
    key[i] = (ShapeKey){d->type, g->mesh, {s.x, s.y, s.z}, i};
  }
  qsort(key, (size_t)n, sizeof *key, compare_keys);
  for (int i = 0; i < n; i++) {
    abGeom* g = &c->geom[key[i].geom];
    int* poly = &c->geom_poly[key[i].geom];
    *poly = -1;
    if (g->shape.type == AB_SHAPE_PLANE) continue;
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

// --- hulls ---

static bool is_identity(abPose p) {
  return p.p.x == 0 && p.p.y == 0 && p.p.z == 0 && p.q.x == 0 && p.q.y == 0 && p.q.z == 0;
}

static void add_hull(abCompiler* c, int body, abShape shape, int poly) {
  int i = c->body[body].hull = c->model.nhull++;
  c->hull[i] = shape;
  c->hull_poly[i] = poly;
}

static abStatus add_polyhedron(abCompiler* c, int body, abPolyhedron* p, double poly_error) {
  int poly = keep_poly(c, p);
  if (poly < 0) return ab_compile_no_memory(c);
  add_hull(c, body, (abShape){.type = AB_SHAPE_MESH, .poly_error = poly_error}, poly);
  return AB_OK;
}

// One geom: its own shape if it sits in the body's frame, else its polyhedron moved there.
static abStatus hull_of_one(abCompiler* c, int body, int geom) {
  const abGeom* g = &c->geom[geom];
  if (is_identity(g->pose)) {
    add_hull(c, body, g->shape, c->geom_poly[geom]);
    return AB_OK;
  }
  abPolyhedron* p = ab_polyhedron_moved(g->shape.poly, g->pose, c->error);
  if (!p) return AB_ERROR_MEMORY;
  return add_polyhedron(c, body, p, g->shape.poly_error);
}

static abStatus hull_of_many(abCompiler* c, int body, int npoint) {
  const abBody* b = &c->body[body];
  abVec3* point = ab_alloc((size_t)npoint * sizeof *point);
  if (!point) return ab_compile_no_memory(c);
  int n = 0;
  double poly_error = 0;
  for (int i = b->geom0; i < b->geom0 + b->ngeom; i++) {
    const abGeom* g = &c->geom[i];
    if (!g->collides) continue;
    poly_error = fmax(poly_error, g->shape.poly_error);
    for (int k = 0; k < g->shape.poly->nvert; k++)
      point[n++] = pose_apply(g->pose, g->shape.poly->vert[k]);
  }
  abError inner = {0};
  abPolyhedron* p = ab_polyhedron_hull(n, point, &inner);
  ab_free(point);
  if (!p)
    return blame(c, inner, c->scene->body.item[c->body_from[body]].source, "hull of body", b->name);
  return add_polyhedron(c, body, p, poly_error);
}

abStatus ab_compile_hulls(abCompiler* c) {
  for (int i = 0; i < c->model.nbody; i++) {
    const abBody* b = &c->body[i];
    int ngeom = 0, npoint = 0, last = -1;
    bool plane = false;
    c->body[i].hull = -1;
    for (int k = b->geom0; k < b->geom0 + b->ngeom; k++) {
      if (!c->geom[k].collides) continue;
      ngeom++, last = k;
      if (c->geom[k].shape.type == AB_SHAPE_PLANE)
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
