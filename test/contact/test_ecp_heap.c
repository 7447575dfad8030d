// Many bodies at once: towers, a wall, pyramids, a heap. Every step is solved, with nothing sunk
// in, and what moves is what statics and the balance of momentum say. ABUT_HEAPS=20 drops that many
// heaps.
#include <abut/abut.h>
#include <stdlib.h>

#include "geometry/polyhedron.h"
#include "internal.h"
#include "oracle/ecp_checks.h"
#include "support/check.h"
#include "support/random.h"

extern const abContactModel ab_model_ecp;
static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid[ECPW_BODIES];

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static int add_box(int i, abVec3 half, double mass, abPose pose) {
  solid_box(&solid[i], half);
  return ecpw_add_body(&w, &solid[i].shape, mass, inertia_of_box(mass, half), pose);
}

static void begin(double h, double mu) {
  ecpw_init(&w, h, 1);
  w.mu = mu, w.e_r = -1;
  ecpw_add_fixed(&w, &plane, pose_identity());
}

// Momentum of the bodies changes by the load and what the fixed bodies give: what they give each
// other cancels.
static void check_momentum(void) {
  abVec3 gained = v3_zero(), given = v3_zero();
  double most = 0;
  for (int b = 1; b < w.nbody; b++) {
    abVec3 dv = v3_sub(w.body[b].twist.lin, w.before[b].twist.lin);
    gained = v3_axpy(w.mass[b], dv, gained);
    given = v3_axpy(w.h, w.before[b].load.force, given);
    most += w.mass[b] * (v3_norm(w.before[b].twist.lin) + w.h * w.gravity);
  }
  for (int i = 0; i < w.npair; i++)
    if (w.pair[i].body2 == 0) given = v3_add(given, w.solution[i].impulse.force);
  check_below(v3_norm(v3_sub(gained, given)), 1e-12 * most);
}

static void step_ok(void) {
  ecpw_step_ok(&w);
  check_momentum();
}

static double load_of_floor(void) {
  double sum = 0;
  for (int i = 0; i < w.npair; i++)
    if (w.pair[i].body2 == 0) sum += w.solution[i].impulse.force.z;
  return sum;
}

static void keeps_still(int steps) {
  abVec3 start[ECPW_BODIES];
  for (int b = 1; b < w.nbody; b++) start[b] = w.body[b].com;
  for (int k = 0; k < steps; k++) step_ok();
  for (int b = 1; b < w.nbody; b++) check_vec_near(w.body[b].com, start[b], 1e-9);
  check_near(load_of_floor(), w.h * ecpw_weight(&w), 1e-9 * w.h * ecpw_weight(&w));
}

static void towers_of_five_and_ten_boxes_keep_still(void** state) {
  (void)state;
  for (int n = 5; n <= 10; n += 5) {
    begin(0.01, 0.5);
    Random r = {7};
    for (int i = 0; i < n; i++) {
      abPose pose =
          at(random_uniform(&r, -0.01, 0.01), random_uniform(&r, -0.01, 0.01), 0.1 + 0.2 * i);
      pose.q = quat_from_axis_angle(v3(0, 0, 1), random_uniform(&r, -0.2, 0.2));
      add_box(i, v3(0.1, 0.1, 0.1), 1, pose);
    }
    keeps_still(100);
    ecpw_free(&w);
  }
}

// The lowest box is struck: the others come down on it.
static void tower_whose_foot_is_struck_solves_every_step(void** state) {
  (void)state;
  begin(0.005, 0.3);
  for (int i = 0; i < 10; i++) add_box(i, v3(0.1, 0.1, 0.1), 1, at(0, 0, 0.1 + 0.2 * i));
  for (int k = 0; k < 4; k++) step_ok();
  w.body[1].twist.lin = v3(3, 0.3, 0);
  for (int k = 0; k < 60; k++) step_ok();
  // friction of nine boxes above and ten below: v^2 / (2 mu g 19) = 0.08
  assert_true(w.body[1].com.x > 0.05);
  ecpw_free(&w);
}

// Four courses of bricks in bond, halves at the ends.
static void wall_of_bricks_keeps_still_and_falls(void** state) {
  (void)state;
  begin(0.01, 0.5);
  int n = 0;
  for (int row = 0; row < 4; row++)
    for (int i = 0; i < 2 + row % 2; i++) {
      bool odd = row % 2, half = odd && i != 1;
      double x = odd ? (i - 1) * 0.3 : (i - 0.5) * 0.4;
      add_box(n++, v3(half ? 0.1 : 0.2, 0.1, 0.1), half ? 1 : 2, at(x, 0, 0.1 + 0.2 * row));
    }
  assert_int_equal(n, 10);
  keeps_still(60);
  for (int b = w.nbody - 3; b < w.nbody; b++) w.body[b].twist.lin = v3(0, 2.5, 0);
  for (int k = 0; k < 40; k++) step_ok();
  ecpw_free(&w);
}

static void pyramid_of_six_boxes_keeps_still(void** state) {
  (void)state;
  begin(0.01, 0.5);
  int n = 0;
  for (int row = 0; row < 3; row++)
    for (int i = 0; i < 3 - row; i++)
      add_box(n++, v3(0.2, 0.1, 0.1), 2, at((i - 0.5 * (2 - row)) * 0.42, 0, 0.1 + 0.2 * row));
  keeps_still(100);
  ecpw_free(&w);
}

// Logs three, two and one, between blocks.
static void pyramid_of_six_cylinders_keeps_still(void** state) {
  (void)state;
  static const abShape log = {.type = AB_SHAPE_CYLINDER, .size = {0.1, 0.3, 0}};
  begin(0.005, 0.5);
  double m = 2;
  for (int row = 0; row < 3; row++)
    for (int i = 0; i < 3 - row; i++) {
      abPose pose = at((i - 0.5 * (2 - row)) * 0.2, 0, 0.1 + 0.1 * sqrt(3) * row);
      pose.q = quat_from_axis_angle(v3(1, 0, 0), acos(-1) / 2);
      ecpw_add_body(&w, &log, m, v3(m * 0.0325, m * 0.0325, m * 0.005), pose);
    }
  for (int i = 0; i < 2; i++) {
    solid_box(&solid[i], v3(0.1, 0.5, 0.1));
    ecpw_add_fixed(&w, &solid[i].shape, at(i ? 0.4 : -0.4, 0, 0.1));
  }
  keeps_still(60);
  ecpw_free(&w);
}

// Ten at once: an island of round bodies with a plane.
static void ellipsoids_fall_side_by_side(void** state) {
  (void)state;
  static const abShape egg = {.type = AB_SHAPE_ELLIPSOID, .size = {0.1, 0.12, 0.15}};
  Random r = {3};
  begin(0.005, 0.4);
  for (int i = 0; i < 10; i++) {
    abPose pose = {{0.25 * (i % 5), 0.25 * (double)(i / 5), 0.2}, random_rotation(&r)};
    int b = ecpw_add_body(&w, &egg, 1, v3(0.0074, 0.0065, 0.0049), pose);
    w.body[b].twist = (abTwist){v3(0.1 * (i % 3), 0, -0.3), random_vec(&r, 2)};
  }
  for (int k = 0; k < 200; k++) step_ok();
  for (int b = 1; b < w.nbody; b++) check_below(0.0999, w.body[b].com.z);
  ecpw_free(&w);
}

static void drop_heap(unsigned seed) {
  enum { N = 10 };
  abPolyhedron* hull[N];
  static abShape shape[N];
  Random r = {seed};
  begin(random_uniform(&r, 0.002, 0.008), random_uniform(&r, 0.2, 0.7));
  for (int i = 0; i < N; i++) {
    abVec3 cloud[16], s = v3(random_uniform(&r, .1, .2), random_uniform(&r, .1, .2), .12);
    for (int j = 0; j < 16; j++) cloud[j] = v3_mul(s, random_direction(&r));
    hull[i] = ab_polyhedron_hull_flat(16, cloud, 0, NULL);
    assert_non_null(hull[i]);
    shape[i] = (abShape){.type = AB_SHAPE_MESH, .poly = hull[i]};
    double m = random_uniform(&r, 0.5, 2);
    abPose pose = {{random_uniform(&r, -.15, .15), random_uniform(&r, -.15, .15), 0.25 + 0.3 * i},
                   random_rotation(&r)};
    int b = ecpw_add_body(&w, &shape[i], m, v3_scale(m * 0.008, v3(1, 1.1, 1.2)), pose);
    w.body[b].twist.ang = random_vec(&r, 2);
  }
  for (int k = 0; k < (int)(1.2 / w.h); k++) step_ok();
  for (int i = 0; i < N; i++) ab_polyhedron_free(hull[i]);
  ecpw_free(&w);
}

static void heap_of_ten_hulls_solves_every_step(void** state) {
  (void)state;
  const char* many = getenv("ABUT_HEAPS");
  int n = many ? atoi(many) : 2;
  for (int i = 0; i < n; i++) drop_heap(100 + 17 * (unsigned)i);
}

// A block strikes a tower of eighteen planks: islands of 50 to 60 contacts.
static void struck_tower_of_planks_solves_nearly_every_step(void** state) {
  (void)state;
  abModel* m = ab_load(ABUT_SOURCE_DIR "/scenes/demo.xml", NULL, NULL);
  assert_non_null(m);
  abData* d = ab_data_create(m, NULL);
  d->contact = &ab_model_ecp;
  for (int i = 0; i < d->contact->nparam; i++) d->internal->param[i] = d->contact->param[i].value;
  ab_data_reset(m, d, ab_find_key(m, "go"));
  int missed = 0;
  for (int k = 0; k < 250; k++) {
    abStepStatus status = ab_step(m, d);
    assert_int_not_equal(status, AB_STEP_BROKEN);
    missed += status != AB_STEP_OK;
    if (status == AB_STEP_OK) check_below(d->stat.residual, 1e-9);
    check_below(d->stat.max_penetration, 1e-9);
  }
  // The tower's fall is chaotic: which steps are hard depends on the last bits. Of 250 steps with
  // 50 to 60 contacts none or two are left unsolved, and say so.
  check_below(missed, 3);
  assert_true(d->twist[ab_find_body(m, "striker")].lin.x > -3);
  ab_data_free(d);
  ab_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(towers_of_five_and_ten_boxes_keep_still),
      cmocka_unit_test(tower_whose_foot_is_struck_solves_every_step),
      cmocka_unit_test(wall_of_bricks_keeps_still_and_falls),
      cmocka_unit_test(pyramid_of_six_boxes_keeps_still),
      cmocka_unit_test(pyramid_of_six_cylinders_keeps_still),
      cmocka_unit_test(ellipsoids_fall_side_by_side),
      cmocka_unit_test(heap_of_ten_hulls_solves_every_step),
      cmocka_unit_test(struck_tower_of_planks_solves_nearly_every_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
