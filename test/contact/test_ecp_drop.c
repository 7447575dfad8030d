// Random bodies dropped, spinning and sliding, on a plane: every step solves the paper's equations,
// nothing sinks in, and energy never grows. ABUT_DROPS=1000 runs that many.
#include <stdio.h>
#include <stdlib.h>

#include "geometry/polyhedron.h"
#include "oracle/ecp_paper.h"
#include "support/check.h"
#include "support/random.h"

static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid;
static abShape smooth;
static abPolyhedron* hull;  // of the present drop, if it is one of a random hull

static abVec3 inertia_about(double m, double x, double y, double z) {
  return v3(m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y));
}

static const abShape* random_shape(Random* r, double m, abVec3* inertia) {
  abVec3 s = random_size(r, .05, .5);
  int kind = random_below(r, 7);
  *inertia = inertia_about(m, s.x / 2, s.y / 2, s.z / 2);
  if (kind == 0) {
    solid_box(&solid, s);
    *inertia = inertia_of_box(m, s);
    return &solid.shape;
  }
  if (kind == 1) {
    abVec2 o[8];
    int n = 3 + random_below(r, 6);
    for (int i = 0; i < n; i++)
      o[i] = v2(s.x * cos(6.283185307 * i / n), s.y * sin(6.283185307 * i / n));
    solid_prism(&solid, n, o, s.z);
    return &solid.shape;
  }
  if (kind == 6) {
    abVec3 cloud[32];
    int n = 6 + random_below(r, 27);
    for (int i = 0; i < n; i++) cloud[i] = v3_mul(s, random_direction(r));
    hull = ab_polyhedron_hull_flat(n, cloud, 0,
                                   NULL);  // faces flat to rounding, as their vertices say
    assert_non_null(hull);
    smooth = (abShape){.type = AB_SHAPE_MESH, .poly = hull};
    return &smooth;
  }
  static const abShapeType type[] = {AB_SHAPE_CYLINDER, AB_SHAPE_CAPSULE, AB_SHAPE_ELLIPSOID,
                                     AB_SHAPE_SPHERE};
  smooth = (abShape){.type = type[kind - 2], .size = s};
  if (kind == 5) smooth.size = v3(s.x, 0, 0);
  if (kind == 5) *inertia = inertia_about(m, s.x * sqrt(0.2), s.x * sqrt(0.2), s.x * sqrt(0.2));
  return &smooth;
}

static void end_drop(void) {
  ecpw_free(&w);
  ab_polyhedron_free(hull);
  hull = NULL;
}

static void throw_body(Random* r, double gyro) {
  ecpw_init(&w, random_uniform(r, 0.001, 0.02), gyro);
  w.mu = random_uniform(r, 0.05, 1);
  w.e_r = random_uniform(r, 0.01, 0.3);
  double m = exp(random_uniform(r, -5, 5));
  abVec3 inertia;
  const abShape* shape = random_shape(r, m, &inertia);
  abPose pose = {{0, 0, random_uniform(r, 0.9, 1.3)}, random_rotation(r)};
  ecpw_add_body(&w, shape, m, inertia, pose);
  ecpw_add_fixed(&w, &plane, pose_identity());
  w.body[1].twist = (abTwist){random_vec(r, 2), random_vec(r, 8)};
}

// Growth of energy over a step, as a height.
static double gain(double before) { return (ecpw_energy(&w) - before) / (w.mass[1] * w.gravity); }

static void run_drops(int n, double gyro, uint64_t seed) {
  for (int i = 0; i < n; i++) {
    Random r = {seed + 7919u * (uint64_t)i};
    throw_body(&r, gyro);
    int steps = (int)(1.5 / w.h);
    for (int k = 0; k < steps; k++) {
      double before = ecpw_energy(&w);
      ecpw_step(&w);
      PaperResidual p = paper_residual(&w);
      if (w.result.status != AB_STEP_OK || !(p.momentum < 1e-9) || !(p.friction < 1e-9) ||
          !(p.geometry < 3e-9))
        fprintf(stderr, "drop %d step %d h %g\n", i, k, w.h);
      assert_int_equal(w.result.status, AB_STEP_OK);
      check_below(w.result.residual, 1e-9);
      check_below(p.momentum, 1e-9);
      check_below(p.friction, 1e-9);
      check_below(p.geometry, 3e-9);  // 1e-9 of the border, and the cone of a nearly active facet
      check_below(w.solution[0].depth, 1e-9);
      // rounding of an energy of some m g metres over one step
      if (gyro == 1) check_below(gain(before), 1e-13);
    }
    end_drop();
  }
}

static void every_step_of_random_drops_solves_the_papers_equations(void** state) {
  (void)state;
  const char* many = getenv("ABUT_DROPS");
  int n = many ? atoi(many) : 300;
  run_drops(n, 1, 1);
  run_drops(n / 3, 0, 5);
}

// The same drop seen in a frame turned about the vertical.
static void result_of_a_step_does_not_depend_on_yaw(void** state) {
  (void)state;
  static EcpWorld turned;
  ab_arena_init(&turned.arena, SIZE_MAX);
  for (int i = 0; i < 40; i++) {
    Random r = {77 + 7919u * (uint64_t)i};
    throw_body(&r, 1);
    abQuat yaw = quat_from_axis_angle(v3(0, 0, 1), random_uniform(&r, 0, 6));
    int steps = (int)(0.8 / w.h);
    for (int k = 0; k < steps; k++) {
      abArena own = turned.arena;
      turned = w;
      turned.arena = own;
      abContactBody* b = &turned.body[1];
      b->com = quat_rotate(yaw, b->com);
      b->q = quat_mul(yaw, b->q);
      b->twist = (abTwist){quat_rotate(yaw, b->twist.lin), quat_rotate(yaw, b->twist.ang)};
      for (int j = 0; j < 1; j++) turned.touched[j] = false;  // and without warm start
      ecpw_step(&turned);
      ecpw_step(&w);
      abTwist t = turned.body[1].twist;
      check_vec_near(quat_rotate(quat_conj(yaw), t.lin), w.body[1].twist.lin, 1e-9);
      check_vec_near(quat_rotate(quat_conj(yaw), t.ang), w.body[1].twist.ang, 1e-9 / w.h * 0.02);
    }
    end_drop();
  }
  ecpw_free(&turned);
}

// Mass, length and time in other units: the same motion.
static void motion_scales_with_mass_length_and_time(void** state) {
  (void)state;
  for (int i = 0; i < 24; i++) {
    Random r = {501 + 7919u * (uint64_t)i};
    throw_body(&r, 1);
    if (hull) {  // the copy below is of the other kinds of shape
      end_drop();
      continue;
    }
    static EcpWorld big;
    static Solid scaled;
    static abShape scaled_smooth;
    double M = 7, L = 4, T = 2;  // g L / T^2: gravity keeps its value
    big = w;
    ab_arena_init(&big.arena, SIZE_MAX);
    big.h *= T, big.e_r *= L;
    big.mass[1] *= M;
    big.inertia_body[1] = m3_scale(M * L * L, &big.inertia_body[1]);
    scaled = solid;
    scaled.shape.poly = &scaled.poly;
    scaled.shape.size = v3_scale(L, solid.shape.size);
    for (int j = 0; j < 64; j++) scaled.vert[j] = v3_scale(L, solid.vert[j]);
    for (int j = 0; j < 40; j++) scaled.plane[j].d *= L;
    scaled.poly.radius *= L;
    scaled.poly.vert = scaled.vert, scaled.poly.plane = scaled.plane;
    scaled_smooth = smooth;
    scaled_smooth.size = v3_scale(L, smooth.size);
    big.shape[1] = w.shape[1] == &smooth ? &scaled_smooth : &scaled.shape;
    big.body[1].com = v3_scale(L, w.body[1].com);
    big.body[1].twist =
        (abTwist){v3_scale(L / T, w.body[1].twist.lin), v3_scale(1 / T, w.body[1].twist.ang)};
    int steps = (int)(0.6 / w.h);
    for (int k = 0; k < steps; k++) {
      ecpw_step(&w);
      ecpw_step(&big);
      check_vec_near(v3_scale(1 / L, big.body[1].com), w.body[1].com, 1e-8);
      check_vec_near(v3_scale(T / L, big.body[1].twist.lin), w.body[1].twist.lin, 1e-6);
    }
    ecpw_free(&big);
    end_drop();
  }
}

static void free_flight_keeps_angular_momentum(void** state) {
  (void)state;
  ecpw_init(&w, 0.01, 1);
  solid_box(&solid, v3(0.05, 0.1, 0.15));
  ecpw_add_body(&w, &solid.shape, 3, inertia_of_box(3, v3(0.05, 0.1, 0.15)), pose_identity());
  w.body[1].twist.ang = v3(3, 5, 4);
  w.gravity = 0;
  abVec3 first = m3_apply(&w.inertia_body[1], v3(3, 5, 4));
  for (int i = 0; i < 200; i++) {
    double before = ecpw_energy(&w);
    ecpw_step(&w);
    abMat3 R = quat_matrix(w.body[1].q);
    abVec3 L = m3_apply(&R, m3_apply(&w.inertia_body[1], m3_apply_t(&R, w.body[1].twist.ang)));
    check_vec_near(L, first, 1e-13 * v3_norm(first));
    check_below(ecpw_energy(&w) - before, 1e-13 * before);
  }
  ecpw_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_of_random_drops_solves_the_papers_equations),
      cmocka_unit_test(result_of_a_step_does_not_depend_on_yaw),
      cmocka_unit_test(motion_scales_with_mass_length_and_time),
      cmocka_unit_test(free_flight_keeps_angular_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
