// Boxes in closed form against the general way: corners in faces, crossing edges, faces on faces.
#include <float.h>

#include "collide/boxes/box_box.h"
#include "collide/distance/gjk.h"
#include "collide/same_patch.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

static abArena arena;

enum { FACE, CORNER, EDGE, LINE, ANY, WAYS };

// Two boxes somewhere in the world.
typedef struct Two {
  abPolyhedron *A, *B;
  abPose a, b;
} Two;

static double log_uniform(Random* r, double low, double high) {
  return low * pow(high / low, random_uniform(r, 0, 1));
}

static abVec3 random_half(Random* r, double scale) {
  double x = log_uniform(r, 0.1, 1), y = log_uniform(r, 0.1, 1);
  return v3(scale * x, scale * y, scale * log_uniform(r, 0.1, 1));
}

// One of the 24 ways to put a box straight.
static abQuat straight(Random* r) {
  abQuat q = quat_identity();
  const double quarter = 1.5707963267948966;
  for (int i = 0; i < 3; i++) {
    abVec3 axis = v3(i == 0, i == 1, i == 2);
    q = quat_mul(q, quat_from_axis_angle(axis, quarter * random_below(r, 4)));
  }
  return q;
}

static abQuat turned(Random* r, int way) {
  abQuat q = straight(r);
  if (way == ANY) return random_rotation(r);
  if (way == CORNER) return quat_mul(quat_from_rotvec(random_vec(r, 0.9)), q);
  if (way == EDGE || way == LINE) {
    bool x = random_below(r, 2);
    double turn = random_uniform(r, 0.2, 1.3);
    q = quat_mul(quat_from_rotvec(x ? v3(turn, 0, 0) : v3(0, turn, 0)), q);
    return quat_mul(quat_from_rotvec(random_vec(r, log_uniform(r, 1e-6, 0.1))), q);
  }
  abVec3 tilt = random_vec(r, log_uniform(r, 1e-9, 0.1));
  tilt.z = random_below(r, 2) ? random_uniform(r, -3, 3) : log_uniform(r, 1e-9, 1);
  return quat_mul(quat_from_rotvec(tilt), q);
}

// B comes down on A until it is `depth` in it.
static Two meet(Random* r, int way, double scale) {
  Two t = {.A = ab_polyhedron_box(random_half(r, scale)),
           .B = ab_polyhedron_box(random_half(r, scale))};
  bool edges = way == EDGE;
  t.a.q = edges ? turned(r, EDGE) : straight(r);
  t.b.q = turned(r, way);
  abShape a = {.type = AB_SHAPE_BOX, .size = ab_polyhedron_skin(t.A)->half, .poly = t.A};
  abShape b = {.type = AB_SHAPE_BOX, .size = ab_polyhedron_skin(t.B)->half, .poly = t.B};
  abVec3 shift = random_vec(r, 0.7 * scale);
  t.b.p = v3(shift.x, shift.y, 4 * scale);
  for (int k = 0; k < 30; k++) {
    abDistance d;
    ab_distance(&a, t.a, &b, t.b, NULL, &d);
    if (d.overlap || d.separation < 1e-8 * scale) break;
    t.b.p.z -= d.separation;
  }
  t.b.p.z -= scale * log_uniform(r, 1e-7, 0.1);
  abPose world = {random_vec(r, 2 * scale), random_rotation(r)};
  t.a = pose_mul(world, t.a), t.b = pose_mul(world, t.b);
  if (random_below(r, 2)) {
    Two other = {t.B, t.A, t.b, t.a};
    t = other;
  }
  return t;
}

// Returns by how much rounding may change it, relatively.
static double general_patch(const Two* t, abOverlap* o, abVec2* polygon, abPatch* p) {
  abPatchHint hint = {.A = t->A, .B = t->B, .pose_a = t->a, .pose_b = t->b};
  assert_int_equal(ab_overlap(t->A, t->a, t->B, t->b, &arena, o), AB_OK);
  assert_true(o->contact);
  assert_int_equal(ab_patch_make(o, &hint, &arena, 24, polygon, p), AB_OK);
  return 1e-12 + 64 * o->noise * o->area[0] / o->volume;
}

// Returns whether it was found in closed form.
static bool compare(const Two* t) {
  abPatchHint hint = {.A = t->A, .B = t->B, .pose_a = t->a, .pose_b = t->b};
  abOverlapWork work;
  abVec2 polygon[2][24];
  abPatch fast, slow;
  abOverlap o;
  ab_arena_release(&arena, 0);
  assert_int_equal(ab_overlap_begin(&work, t->A, t->a, t->B, t->b), AB_OK);
  if (ab_overlap_sat(&work)) {
    assert_int_equal(ab_overlap(t->A, t->a, t->B, t->b, &arena, &o), AB_OK);
    assert_false(o.contact);
    return false;
  }
  if (!ab_box_box_patch(&work, &hint, polygon[0], &fast)) return false;
  double blur = general_patch(t, &o, polygon[1], &slow);
  check_same_patch(&fast, &slow, blur, o.noise);
  return true;
}

static void free_two(Two* t) {
  ab_polyhedron_free(t->A);
  ab_polyhedron_free(t->B);
}

static void boxes_have_the_patch_of_their_overlap(void** state) {
  (void)state;
  static const double share[WAYS] = {0.6, 0.7, 0.7, 0.5, 0.7};
  const int n = 5000;
  for (int way = 0; way < WAYS; way++) {
    Random r = {(uint64_t)way};
    int met = 0;
    for (int i = 0; i < n; i++) {
      double scale = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 1 : 1e3;
      Two t = meet(&r, way, scale);
      met += compare(&t);
      free_two(&t);
    }
    check_below(share[way] * n, met);
  }
}

// Equal boxes on each other, moved by nothing, by a multiple of their length, or by rounding:
// sides that are those of both.
static void stacked_boxes_have_the_patch_of_their_overlap(void** state) {
  (void)state;
  Random r = {5};
  int met = 0;
  const int n = 2000;
  for (int i = 0; i < n; i++) {
    abVec3 h = random_half(&r, 1);
    Two t = {.A = ab_polyhedron_box(h), .B = ab_polyhedron_box(h)};
    t.a.q = t.b.q = straight(&r);
    double depth = log_uniform(&r, 1e-6, 0.05), apart = 2 * (i % 3 == 0   ? h.x
                                                             : i % 3 == 1 ? h.y
                                                                          : h.z);
    abVec3 along = v3(i % 3 == 0, i % 3 == 1, i % 3 == 2), across = v3(along.y, along.z, along.x);
    t.b.p = quat_rotate(t.a.q, v3_scale(apart - depth, along));
    if (i % 2) t.b.p = v3_add(t.b.p, quat_rotate(t.a.q, v3_scale(0.1, across)));
    if (i % 5 == 0) t.b.p = v3_add(t.b.p, random_vec(&r, 1e-15));
    met += compare(&t);
    free_two(&t);
  }
  check_below(0.5 * n, met);
}

int main(void) {
  ab_arena_init(&arena, (size_t)1 << 24);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_have_the_patch_of_their_overlap),
      cmocka_unit_test(stacked_boxes_have_the_patch_of_their_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
