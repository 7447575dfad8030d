// The overlap of two bodies given by their corners: ab_overlap behind the public interface.
//
// The corners are taken relative to the first corner of A, so bodies far from the origin lose no
// digits: differences of numbers of one size are exact. Given faces are checked as the scene
// compiler checks them, but kept as they are, for a face that is flat to a millionth only is a
// different body at nine digits.
// Tests: test_overlap.
#include <abut/overlap.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collide/patch/patch.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"

// Hulls merge facets that are flat to this fraction of their size: what the rounding of the corners
// can make of a flat face.
static const double FLAT_FACE = 1e-13;

static abPolyhedron* make_body(const abConvex* c, abVec3 origin, const char* name, abError* error) {
  abError why = {0};
  abPolyhedron* poly = NULL;
  abVec3* vert = ab_alloc(sizeof(abVec3) * (size_t)(c->nvert > 0 ? c->nvert : 1));
  if (!vert) {
    ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for a body of %d corners", c->nvert);
    return NULL;
  }
  for (int i = 0; i < c->nvert; i++) vert[i] = v3_sub(c->vert[i], origin);
  if (c->nface == 0) {
    poly = ab_polyhedron_hull_flat(c->nvert, vert, FLAT_FACE, &why);
  } else {
    poly = ab_polyhedron_faces(c->nvert, vert, c->nface, c->face_start, c->loop, &why);
    if (poly) {
      ab_polyhedron_free(poly);
      poly = ab_polyhedron_build(c->nvert, vert, c->nface, c->face_start, c->loop, &why);
    }
  }
  ab_free(vert);
  if (!poly) ab_fail(error, why.code, NULL, 0, "%s: %s", name, why.message);
  return poly;
}

static abStatus summarise(const abPolyhedron* A, const abPolyhedron* B, abVec3 origin,
                          abArena* arena, abOverlapSummary* out) {
  abOverlap o;
  abStatus status = ab_overlap(A, pose_identity(), B, pose_identity(), arena, &o);
  if (status != AB_OK || !o.contact) return status;
  abVec2* polygon = AB_TAKE(arena, abVec2, o.nvert);
  abPatch patch;
  abPatchHint hint = {.A = A, .B = B, .pose_a = pose_identity(), .pose_b = pose_identity()};
  status = polygon ? ab_patch_make(&o, &hint, arena, o.nvert, polygon, &patch) : AB_ERROR_MEMORY;
  if (status != AB_OK) return status;
  *out = (abOverlapSummary){.contact = true,
                            .volume = o.volume,
                            .centroid = v3_add(origin, pose_apply(o.frame, o.centroid)),
                            .area_A = o.area[AB_OWNER_A],
                            .area_B = o.area[AB_OWNER_B],
                            .area_AB = o.area[AB_OWNER_BOTH],
                            .normal = patch.normal,
                            .depth = patch.depth};
  return AB_OK;
}

abStatus ab_overlap_of_convex(const abConvex* A, const abConvex* B, abOverlapSummary* out,
                              abError* error) {
  if (!A || !B || !out) return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "two bodies are needed");
  if ((A->nvert > 0 && !A->vert) || (B->nvert > 0 && !B->vert))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a body is said to have corners, without any");
  *out = (abOverlapSummary){0};
  abVec3 origin = A->nvert > 0 && v3_finite(A->vert[0]) ? A->vert[0] : v3_zero();
  abPolyhedron* a = make_body(A, origin, "A", error);
  abPolyhedron* b = a ? make_body(B, origin, "B", error) : NULL;
  if (!b) {
    ab_polyhedron_free(a);
    return error ? error->code : AB_ERROR_SCENE;
  }
  abArena arena;
  ab_arena_init(&arena, SIZE_MAX);
  abStatus status = summarise(a, b, origin, &arena, out);
  ab_arena_free(&arena);
  ab_polyhedron_free(a);
  ab_polyhedron_free(b);
  if (status == AB_OK) return AB_OK;
  return ab_fail(error, status, NULL, 0, "the overlap cannot be computed: %s",
                 status == AB_ERROR_MEMORY ? "out of memory" : "a coordinate is not finite");
}
