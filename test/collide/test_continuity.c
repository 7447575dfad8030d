// Poses change little by little, and so must everything the contact models see: the largest change
// per step of a sweep is measured against the step. Each sweep is run twice, the second time with
// steps ten times smaller: what is continuous changes ten times less, what jumps does not.
#include <stdio.h>

#include "collide/patch/patch.h"
#include "geometry/polyhedron.h"
#include "support/check.h"
#include "support/random.h"

enum {
  NVALUE = 12
};  // volume, area, normal (3), centre (3), traces of Q (2), depth, mean thickness

static abArena arena;

typedef struct Frame {
  bool any;
  abVec3 normal, t1;
} Frame;

static bool values(const abPolyhedron* A, abPose a, const abPolyhedron* B, abPose b, Frame* last,
                   double out[NVALUE]) {
  abOverlap o;
  abPatch p;
  abVec2 polygon[512];
  ab_arena_release(&arena, 0);
  assert_int_equal(ab_overlap(A, a, B, b, &arena, &o), AB_OK);
  for (int i = 0; i < NVALUE; i++) out[i] = 0;
  if (!o.contact) return false;
  abPatchHint hint = {.A = A, .B = B, .pose_a = a, .pose_b = b};
  if (last->any) hint.normal = &last->normal, hint.t1 = &last->t1;
  assert_int_equal(ab_patch_make(&o, &hint, &arena, 512, polygon, &p), AB_OK);
  *last = (Frame){true, p.normal, p.t1};
  abMat6 Q;
  ab_patch_Q(&p, &Q);
  double v[NVALUE] = {p.volume,
                      p.area,
                      p.normal.x,
                      p.normal.y,
                      p.normal.z,
                      p.center.x,
                      p.center.y,
                      p.center.z,
                      Q.m[0][0] + Q.m[1][1] + Q.m[2][2],
                      Q.m[3][3] + Q.m[4][4] + Q.m[5][5],
                      p.depth,
                      p.area > 0 ? p.volume / p.area : 0};
  for (int i = 0; i < NVALUE; i++) out[i] = v[i];
  return true;
}

typedef struct Sweep {
  const char* name;
  abPolyhedron *A, *B;  // B NULL: the floor
  abPose start;         // of A; B at the identity
  abTwist motion;       // velocity, and angular velocity about A's origin; 1 = the whole sweep
} Sweep;

static abPose pose_at(const Sweep* s, double t) {
  abQuat turn = quat_from_rotvec(v3_scale(t, s->motion.ang));
  return (abPose){v3_axpy(t, s->motion.lin, s->start.p), quat_unit(quat_mul(turn, s->start.q))};
}

// Largest change of each value from step to step.
static void largest_steps(const Sweep* s, int nstep, double most[NVALUE]) {
  double last[NVALUE], now[NVALUE];
  Frame frame = {0};
  for (int i = 0; i < NVALUE; i++) most[i] = 0;
  bool had = false;
  for (int k = 0; k <= nstep; k++) {
    bool has = values(s->A, pose_at(s, 2.0 * k / nstep - 1), s->B, pose_identity(), &frame, now);
    for (int i = 0; i < NVALUE && k > 0; i++) {
      // direction and place mean nothing without a contact
      if (i >= 2 && i < 8 && !(had && has)) continue;
      most[i] = fmax(most[i], fabs(now[i] - last[i]));
    }
    for (int i = 0; i < NVALUE; i++) last[i] = now[i];
    had = has;
  }
}

static const char* const value_name[NVALUE] = {
    "volume",   "area",     "normal x", "normal y", "normal z", "center x",
    "center y", "center z", "tr Q11",   "tr Q22",   "depth",    "mean thickness"};

// allowed[i]: a jump of value i that the sweep is known to have, else 0.
static void check_sweep(const Sweep* s, const double allowed[NVALUE]) {
  double coarse[NVALUE], fine[NVALUE];
  largest_steps(s, 500, coarse);
  largest_steps(s, 5000, fine);
  for (int i = 0; i < NVALUE; i++) {
    // ten times smaller, with room for a slope that is steeper between the coarse samples
    double limit = 0.35 * coarse[i] + (allowed ? allowed[i] : 0) + 1e-12;
    if (fine[i] > limit)
      fprintf(stderr, "%s: %s changes by %g in a step of 1/2500, by %g in one of 1/250, limit %g\n",
              s->name, value_name[i], fine[i], coarse[i], limit);
    assert_true(fine[i] <= limit);
  }
}

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static void yaw_through_zero_on_the_floor_and_on_a_box(void** state) {
  (void)state;
  abPolyhedron *box = ab_polyhedron_box(v3(0.5, 0.5, 0.5)),
               *base = ab_polyhedron_box(v3(2, 2, 0.5));
  abTwist yaw = {v3_zero(), v3(0, 0, 1)};
  check_sweep(&(Sweep){"yaw on the floor", box, NULL, at(0, 0, 0.499), yaw}, NULL);
  check_sweep(&(Sweep){"yaw on a large box", box, base, at(0.1, 0.2, 0.999), yaw}, NULL);
  // Equal boxes: flush at zero, where sides change owner. The normal is vertical all the time.
  check_sweep(&(Sweep){"yaw on an equal box", box, box, at(0, 0, 0.999), yaw}, NULL);
  ab_polyhedron_free(box);
  ab_polyhedron_free(base);
}

static void tilt_through_zero(void** state) {
  (void)state;
  abPolyhedron *box = ab_polyhedron_box(v3(0.5, 0.5, 0.5)),
               *base = ab_polyhedron_box(v3(2, 2, 0.5));
  abTwist tilt = {v3_zero(), v3(1e-3, 0, 0)};
  check_sweep(&(Sweep){"tilt on the floor", box, NULL, at(0, 0, 0.499), tilt}, NULL);
  check_sweep(&(Sweep){"tilt on a large box", box, base, at(0.1, 0.2, 0.999), tilt}, NULL);
  // deep enough to remain over the whole face
  tilt.ang = v3(1e-2, 0.7e-2, 0);
  check_sweep(&(Sweep){"tilt about two axes", box, base, at(0.1, 0.2, 0.98), tilt}, NULL);
  ab_polyhedron_free(box);
  ab_polyhedron_free(base);
}

static void fall_into_and_out_of_contact(void** state) {
  (void)state;
  abPolyhedron *box = ab_polyhedron_box(v3(0.5, 0.5, 0.5)),
               *base = ab_polyhedron_box(v3(2, 2, 0.5));
  abPose corner = at(0, 0, 0.5 * sqrt(3));
  abVec3 diagonal = v3_unit(v3(1, 1, 1));
  corner.q = quat_from_axis_angle(v3_cross(diagonal, v3(0, 0, 1)), acos(diagonal.z));
  abTwist down = {v3(0, 0, -0.05), v3_zero()};
  check_sweep(&(Sweep){"corner sinks into the floor", box, NULL, corner, down}, NULL);
  // a face arrives all at once: its area, and with it Q, jump from nothing
  double face[NVALUE] = {[1] = 1, [8] = 3, [9] = 2.0 / 6};
  check_sweep(&(Sweep){"face sinks into a box", box, base, at(0, 0, 1), down}, face);
  ab_polyhedron_free(box);
  ab_polyhedron_free(base);
}

static void slide_over_an_edge(void** state) {
  (void)state;
  abPolyhedron *box = ab_polyhedron_box(v3(0.5, 0.5, 0.5)),
               *base = ab_polyhedron_box(v3(2, 2, 0.5));
  const double d = 1e-3;
  abTwist slide = {v3(0.7, 0, 0), v3_zero()};
  // The face of the base that the box passes takes part of the overlap's surface from one moment to
  // the next: the normal then tilts by depth / length of the overlap, as the sum of area vectors
  // says. At that moment the length is 1, so d is the jump; later the tilt grows steadily. (The
  // sweep ends before the overlap is as short as it is deep, where the normal turns to the side.)
  double tilt[NVALUE] = {[2] = 1.01 * d, [4] = d * d, [10] = d * d * d, [11] = d * d * d};
  check_sweep(&(Sweep){"slide over an edge", box, base, at(1.6, 0, 1 - d), slide}, tilt);
  // equal boxes slide from flush: the same jump at once, in either direction
  double flush[NVALUE] = {[2] = 1.01 * d, [4] = d * d, [10] = d * d * d, [11] = d * d * d};
  slide.lin = v3(0.3, 0, 0);
  check_sweep(&(Sweep){"slide from flush", box, box, at(0, 0, 1 - d), slide}, flush);
  ab_polyhedron_free(box);
  ab_polyhedron_free(base);
}

static void random_hulls_drift_through_each_other(void** state) {
  (void)state;
  Random r = {17};
  for (int k = 0; k < 6; k++) {
    abVec3 p[24], q[24];
    for (int i = 0; i < 24; i++) p[i] = random_direction(&r), q[i] = random_direction(&r);
    abPolyhedron *A = ab_polyhedron_hull(24, p, NULL), *B = ab_polyhedron_hull(24, q, NULL);
    abPose start = {v3_scale(0.8, random_direction(&r)), random_rotation(&r)};
    abTwist motion = {v3_scale(0.3, random_direction(&r)), v3_scale(0.2, random_direction(&r))};
    check_sweep(&(Sweep){"hulls", A, B, start, motion}, NULL);
    ab_polyhedron_free(A);
    ab_polyhedron_free(B);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(yaw_through_zero_on_the_floor_and_on_a_box),
      cmocka_unit_test(tilt_through_zero),
      cmocka_unit_test(fall_into_and_out_of_contact),
      cmocka_unit_test(slide_over_an_edge),
      cmocka_unit_test(random_hulls_drift_through_each_other),
  };
  ab_arena_init(&arena, (size_t)1 << 26);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ab_arena_free(&arena);
  return failed;
}
