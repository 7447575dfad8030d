// Faces of many corners on other faces: the slab of prisms against the general way of cutting.
#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "collide/clip/intersect.h"
#include "collide/distance/gjk.h"
#include "collide/same_patch.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "support/random.h"

static abArena arena;

static double log_uniform(Random* r, double low, double high) {
  return low * pow(high / low, random_uniform(r, 0, 1));
}

// The same body without support faces: what lies on it is cut plane by plane.
static abPolyhedron* without_support_faces(const abPolyhedron* p) {
  abPolyhedron* copy = ab_polyhedron_copy(p, ab_alloc(ab_polyhedron_bytes(p)));
  ((abSkin*)(void*)ab_polyhedron_skin(copy))->nsupport = 0;
  return copy;
}

// Upright: a polygon of `sides` corners on an ellipse below, `above` times as large above and moved
// by dx, so that its sides lean.
static abPolyhedron* column_of(Random* r, int sides, double scale, double above, double dx) {
  abVec3 point[160];
  double x = log_uniform(r, 0.3, 1), y = log_uniform(r, 0.3, 1), z = log_uniform(r, 0.05, 0.6);
  double turn = random_uniform(r, 0, 6.3);
  for (int i = 0; i < 2 * sides; i++) {
    double a = turn + 6.283185307179586 * (i / 2) / sides, s = i % 2 ? above : 1;
    point[i] = v3_scale(scale, v3(s * x * cos(a) + i % 2 * dx, s * y * sin(a), i % 2 ? z : -z));
  }
  return ab_polyhedron_hull_flat(2 * sides, point, 0, NULL);
}

static abPolyhedron* column(Random* r, int sides, double scale) {
  double above = random_below(r, 2) ? 1 : random_uniform(r, 0.7, 1.4);
  return column_of(r, sides, scale, above, random_below(r, 2) ? random_uniform(r, -0.1, 0.1) : 0);
}

static abPolyhedron* any_body(Random* r, double scale) {
  int kind = random_below(r, 4);
  if (kind == 0)
    return ab_polyhedron_box(v3_scale(
        scale, v3(log_uniform(r, 0.2, 2), log_uniform(r, 0.2, 2), log_uniform(r, 0.05, 1))));
  return column(r, kind == 1 ? 3 + random_below(r, 5) : 8 + random_below(r, 57), scale);
}

// A column and another body on each other, the lower ones upside down or not.
typedef struct Two {
  abPolyhedron *A, *B;
  abPose a, b;
} Two;

static abQuat upside(Random* r) {
  return quat_from_axis_angle(v3(1, 0, 0), random_below(r, 2) ? 3.141592653589793 : 0);
}

static Two meet(Random* r, double scale) {
  Two t = {.A = column(r, 8 + random_below(r, 57), scale), .B = any_body(r, scale)};
  abVec3 tilt = random_vec(r, log_uniform(r, 1e-9, 0.05));
  tilt.z = random_uniform(r, -3, 3);
  t.a.q = upside(r);
  t.b.q = quat_mul(quat_from_rotvec(tilt), upside(r));
  abShape a = {.type = AB_SHAPE_MESH, .poly = t.A}, b = {.type = AB_SHAPE_MESH, .poly = t.B};
  abVec3 shift = random_vec(r, 0.5 * scale);
  t.b.p = v3(shift.x, shift.y, 6 * scale);
  for (int k = 0; k < 30; k++) {
    abDistance d;
    ab_distance(&a, t.a, &b, t.b, NULL, &d);
    if (d.overlap || d.separation < 1e-8 * scale) break;
    t.b.p.z -= d.separation;
  }
  t.b.p.z -= scale * log_uniform(r, 1e-7, 0.05);
  abPose world = {random_vec(r, 2 * scale), random_rotation(r)};
  t.a = pose_mul(world, t.a), t.b = pose_mul(world, t.b);
  if (random_below(r, 2)) t = (Two){t.B, t.A, t.b, t.a};
  return t;
}

static void free_two(Two* t) {
  ab_polyhedron_free(t->A);
  ab_polyhedron_free(t->B);
}

// The surface is closed, as the edges tell it: each runs around the faces on its two sides.
static void check_surface(const abOverlap* o) {
  abVec3 sum = v3_zero();
  for (int f = 0; f < o->nface; f++) {
    const abOverlapFace* face = &o->face[f];
    abVec3 vector = v3_zero(), r = o->vert[face->vert];
    int degree = 0;
    for (int i = 0; i < o->nedge; i++) {
      const int* e = o->edge[i];
      if (e[2] != f && e[3] != f) continue;
      abVec3 c = v3_cross(v3_sub(o->vert[e[0]], r), v3_sub(o->vert[e[1]], r));
      vector = v3_axpy(e[2] == f ? 0.5 : -0.5, c, vector);
      // its vertices lie in its plane
      check_near(v3_dot(face->normal, v3_sub(o->vert[e[0]], r)), 0, 1e3 * o->noise);
      degree += e[0] == face->vert || e[1] == face->vert;
    }
    assert_int_equal(degree, 2);
    check_vec_near(face->vector, vector, 1e-12 * o->area[0]);
    check_near(face->area, v3_dot(face->vector, face->normal), 1e-15 * o->area[0]);
    sum = v3_add(sum, face->vector);
  }
  check_vec_near(sum, v3_zero(), 1e-14 * o->area[0]);
}

// The face of the general way with the same origin.
static const abOverlapFace* same_face(const abOverlap* o, const abOverlapFace* face) {
  for (int f = 0; f < o->nface; f++)
    if (o->face[f].owner == face->owner && o->face[f].source == face->source) return &o->face[f];
  return NULL;
}

static void check_same_overlap(const abOverlap* a, const abOverlap* b, double blur) {
  check_near(a->volume, b->volume, blur * b->volume);
  for (int k = 0; k < 4; k++) check_near(a->area[k], b->area[k], blur * b->area[0]);
  abVec3 c = pose_apply(a->frame, a->centroid), d = pose_apply(b->frame, b->centroid);
  check_vec_near(c, d, blur * a->size + 8 * a->noise);
  assert_int_equal(a->nvert, b->nvert);
  assert_int_equal(a->nedge, b->nedge);
  assert_int_equal(a->nface, b->nface);
  for (int f = 0; f < a->nface; f++) {
    const abOverlapFace *x = &a->face[f], *y = same_face(b, x);
    assert_non_null(y);
    check_near(x->area, y->area, blur * b->area[0]);
    check_vec_near(quat_rotate(a->frame.q, x->normal), quat_rotate(b->frame.q, y->normal), 1e-14);
  }
  check_surface(a);
}

// Returns whether it was a slab of prisms.
static bool compare(const Two* t) {
  ab_arena_release(&arena, 0);
  abOverlap fast, slow;
  assert_int_equal(ab_overlap(t->A, t->a, t->B, t->b, &arena, &fast), AB_OK);
  if (!fast.nprism) return false;
  Two bare = {without_support_faces(t->A), without_support_faces(t->B), t->a, t->b};
  assert_int_equal(ab_overlap(bare.A, t->a, bare.B, t->b, &arena, &slow), AB_OK);
  assert_true(slow.contact);
  assert_int_equal(slow.nprism, 0);
  double blur = 1e-12 + 64 * slow.noise * slow.area[0] / slow.volume;
  check_same_overlap(&fast, &slow, blur);
  abPatchHint hint = {.A = t->A, .B = t->B, .pose_a = t->a, .pose_b = t->b};
  abVec2 polygon[2][512];
  abPatch p, q;
  assert_int_equal(ab_patch_make(&fast, &hint, &arena, 512, polygon[0], &p), AB_OK);
  assert_int_equal(ab_patch_make(&slow, &hint, &arena, 512, polygon[1], &q), AB_OK);
  check_same_patch(&p, &q, blur, slow.noise);
  free_two(&bare);
  return true;
}

static void columns_on_faces_have_the_overlap_of_their_planes(void** state) {
  (void)state;
  Random r = {11};
  int met = 0;
  const int n = 6000;
  for (int i = 0; i < n; i++) {
    Two t = meet(&r, i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 1 : 1e3);
    met += compare(&t);
    free_two(&t);
  }
  check_below(0.2 * n, met);
}

// Equal columns exactly on each other, or moved by rounding: their sides belong to both.
static void stacked_columns_share_their_sides(void** state) {
  (void)state;
  Random r = {12};
  int met = 0;
  const int n = 1000;
  for (int i = 0; i < n; i++) {
    double scale = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 1 : 1e3;
    abPolyhedron* p = column_of(&r, 8 + random_below(&r, 57), scale, 1, 0);
    double height = 2 * ab_polyhedron_skin(p)->half.z;
    Two t = {p, p, pose_identity(), pose_identity()};
    t.b.p = v3(0, 0, height - scale * log_uniform(&r, 1e-6, 1e-2));
    if (i % 2) {
      t.a.q = t.b.q = random_rotation(&r);
      t.b.p = quat_rotate(t.a.q, t.b.p);
    }
    if (i % 5 == 0) t.b.p = v3_add(t.b.p, random_vec(&r, scale * log_uniform(&r, 1e-17, 1e-9)));
    abOverlap o;
    ab_arena_release(&arena, 0);
    assert_int_equal(ab_overlap(t.A, t.a, t.B, t.b, &arena, &o), AB_OK);
    assert_true(o.contact);
    // moved by nothing: all of the sides are shared
    if (i % 5 && i % 2 == 0) {
      check_below(1e-4 * o.area[0] * 1e-4, o.area[AB_OWNER_BOTH]);
      assert_int_equal(o.nface, p->nface);
    }
    met += compare(&t);
    ab_polyhedron_free(p);
  }
  check_below(0.7 * n, met);
}

// A body moved to where its face begins to leave the other's plane changes from one way to the
// other: no jump.
static void tilting_a_column_out_of_a_face_makes_no_jump(void** state) {
  (void)state;
  Random r = {13};
  abPolyhedron *A = column(&r, 64, 1), *B = ab_polyhedron_box(v3(1, 1, 0.5));
  double size = ab_polyhedron_skin(A)->half.z, depth = 1e-3, last = 0, step = 1e-5;
  int slabs = 0, others = 0;
  for (int i = 0; i < 400; i++) {
    abPose a = {v3(0.1, 0.2, 0.5 + size - depth), quat_from_rotvec(v3(i * step, 0, 0))};
    abOverlap o;
    ab_arena_release(&arena, 0);
    assert_int_equal(ab_overlap(A, a, B, pose_identity(), &arena, &o), AB_OK);
    assert_true(o.contact);
    // no point of the overlap moves faster than 2 per radian, over less than its surface
    if (i) check_near(o.volume, last, 2 * step * o.area[0]);
    last = o.volume;
    *(o.nprism ? &slabs : &others) += 1;
  }
  check_below(50, slabs);
  check_below(50, others);
  ab_polyhedron_free(A);
  ab_polyhedron_free(B);
}

int main(void) {
  ab_arena_init(&arena, (size_t)1 << 26);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_on_faces_have_the_overlap_of_their_planes),
      cmocka_unit_test(stacked_columns_share_their_sides),
      cmocka_unit_test(tilting_a_column_out_of_a_face_makes_no_jump),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
