// What the volume models claim beside the analytic checks at all scales (test_volume_scales.c):
// creep, softness, agreement with each other, symmetry, scaling of a free motion, degenerate
// patches.
#include <string.h>

#include "base/arena.h"
#include "internal.h"
#include "math/spatial.h"
#include "support/check.h"
#include "support/world.h"

// A cube of side a and mass m; times scale with sqrt(length), so that g stays what it is.
typedef struct Scale {
  double mass, length, h;
} Scale;

static const Scale scales[] = {
    {1, 1, 1e-3}, {1e-3, 1, 1e-3}, {1e3, 1, 1e-3}, {1, 0.01, 1e-4}, {1, 10, 3.1622776601683794e-3}};
enum { NSCALE = sizeof scales / sizeof *scales };
static const char* const area_model[] = {"volume-penalty", "volume-qp", "volume-pgs"};
enum { NMODEL = 3 };
static const double g = 9.8;

// Half kilogram, 10 cm, on the floor.
static World cube_world(Scale s, double mu_static, double mu_kinetic, int* body) {
  World w = world_begin(s.h, true);
  w.mu_static = mu_static, w.mu_kinetic = mu_kinetic;
  double a = 0.05 * s.length;
  *body = world_add_box(&w, v3(a, a, a), 0.5 * s.mass, (abPose){v3(0, 0, a), quat_identity()});
  return w;
}

static void cube_below_breakaway_does_not_run_away(void** state) {
  (void)state;
  for (int m = 0; m < NMODEL; m++) {
    int body;
    World w = cube_world(scales[0], 0.5, 0.3, &body);
    world_start(&w, area_model[m]);
    world_run(&w, 0.5);
    double F = 2.3;  // breakaway at 2.45 N
    w.data->applied[body].force.x = F;
    w.data->applied[body].torque.y = -F * 0.05;
    world_run(&w, 1);  // the springs of volume-penalty swing for some tenths of a second
    double x0 = world_pose(&w, body).p.x;
    world_run(&w, 0.5);
    double creep = (world_pose(&w, body).p.x - x0) / 0.5;
    // volume-qp and volume-pgs: r_tangent F h / m = 4.6e-7 m/s; the springs of volume-penalty do
    // not creep.
    double law = m == 0 ? 0 : 1e-4 * F * 1e-3 / 0.5;
    check_near(creep, law, 0.02 * law + 1e-10);
    // A little more, and it goes.
    w.data->applied[body].force.x = 2.6;
    w.data->applied[body].torque.y = -2.6 * 0.05;
    world_run(&w, 0.2);
    assert_true(world_twist(&w, body).lin.x > 0.1);
    world_free(&w);
  }
}

// A push at the top edge, raised slowly so that nothing swings; returns how upright the cube
// stayed.
static double push_over(const char* contact, double h, double F) {
  int body;
  World w = cube_world((Scale){1, 1, h}, 2, 2, &body);
  world_start(&w, contact);
  world_run(&w, 0.5);
  int n = (int)(3 / h);
  double up = 1;  // least so far: once over, the push makes it tumble on
  for (int i = 0; i < n + n / 3; i++) {
    double part = i < n ? (double)i / n : 1;
    w.data->applied[body].force.x = F * part;
    w.data->applied[body].torque.y = F * part * 0.05;
    ab_step(w.model, w.data);
    up = fmin(up, quat_rotate(world_pose(&w, body).q, v3(0, 0, 1)).z);
  }
  world_free(&w);
  return up;
}

// A contact rests d deep and leans before it tips: with a contact of width w left, the lean is 2 d
// / w and the pressure's centre a/2 - w/3 - a d/w from the middle, at most 1 - 4 sqrt(d / 3 a) of
// a/2. The springs of volume-penalty are as soft as an explicit step demands. On one corner of its
// lower face a cube has the inverse mass 4 / m; semi-implicit Euler is stable there iff 4 (K + 2 B)
// < 4, K = k h^2 / m and B = b h / m. Half the critical damping of a flat cube, without which it
// bounces, is B = sqrt K; together K < (sqrt 2 - 1)^2 = 0.17, and at 1 ms d = g h^2 / K > 0.057 mm:
// the cube tips at 0.945 of the rigid value at most. The default K = 0.05 gives 0.898.
//
// Coefficients by the mobility at each patch, so that only edges and corners are soft, do not reach
// 0.97 either: that takes d < 0.017 mm, K > 0.58 at the edge the cube leans on, where the inverse
// mass is 2.5 / m. Relative to the mass felt there K' = 1.45, B' = sqrt K' = 1.2 and K' + 2 B' is
// 3.9 of 4: one contact alone is just stable. But two boxes on each other, k = K' m / h^2 below and
// K' m / 2 h^2 between them, have a mode of 1 + sqrt(1/2) times that, 6.6; and with damping taken
// implicitly, which acts as B' / (1 + B') = 0.55, still 4.3.
static void soft_cube_tips_where_its_springs_let_it(void** state) {
  (void)state;
  for (int m = 0; m < NMODEL; m++) {
    double d = g * 1e-6 * (m == 0 ? 1 / 0.05 : 0.2), limit = 1 - 4 * sqrt(d / (3 * 0.1));
    check_near(push_over(area_model[m], 1e-3, 2.45 * limit * 0.97), 1, 0.01);
    check_below(push_over(area_model[m], 1e-3, 2.45 * limit * 1.03), 0.8);
  }
}

static void printed_interpolation_underestimates_the_spin_torque(void** state) {
  (void)state;
  int body;
  double mu = 0.3, w0 = 10, a = 0.1, mass = 0.5;
  World w = cube_world(scales[0], mu, mu, &body);
  world_start(&w, "volume-penalty");
  world_set_param(&w, "interpolation", 1);
  world_run(&w, 0.5);
  abTwist t = world_twist(&w, body);
  t.ang.z = w0;
  world_set_twist(&w, body, t);
  ab_step(w.model, w.data);
  ab_step(w.model, w.data);
  double before = world_twist(&w, body).ang.z;
  ab_step(w.model, w.data);
  double torque = mass * a * a / 6 * (before - world_twist(&w, body).ang.z) / w.data->h;
  check_near(torque, 0.2357 * a * mu * mass * g, 1e-3 * a * mu * mass * g);
  world_free(&w);
}

static World stack(int n, const char* contact, double h, int* first) {
  World w = world_begin(h, true);
  for (int i = 0; i < n; i++) {
    double jitter = 1e-3 * (i % 3 - 1);
    int body = world_add_box(&w, v3(0.05, 0.05, 0.05), 0.5,
                             (abPose){v3(jitter, -jitter, 0.05 + 0.1 * i), quat_identity()});
    if (i == 0) *first = body;
  }
  world_start(&w, contact);
  return w;
}

static void iteration_converges_to_the_direct_solution(void** state) {
  (void)state;
  int first;
  World direct = stack(4, "volume-qp", 1e-3, &first),
        iterative = stack(4, "volume-pgs", 1e-3, &first);
  world_set_param(&iterative, "sweeps", 20000);
  world_set_param(&iterative, "tolerance", 1e-13);
  for (int i = 0; i < 50; i++) {
    ab_step(direct.model, direct.data);
    ab_step(iterative.model, iterative.data);
    for (int k = 0; k < direct.model->nv; k++)
      check_near(iterative.data->v[k], direct.data->v[k], 1e-8 * g * 1e-3 * 50);
  }
  world_free(&direct);
  world_free(&iterative);
}

// The boxes of a stack slide and turn on each other: friction against the motion at the end of the
// step, found by both methods in their own way.
static void sliding_iteration_converges_to_the_direct_solution(void** state) {
  (void)state;
  World w[2];
  for (int k = 0; k < 2; k++) {
    w[k] = world_begin(1e-3, true);
    w[k].mu_static = 0.35, w[k].mu_kinetic = 0.3;
    for (int i = 0; i < 3; i++) {
      abPose pose = {v3(1e-3 * i, 0, 0.0199 * (i + 0.5)), quat_from_rotvec(v3(0, 0, 0.2 * i))};
      world_add_box(&w[k], v3(0.05, 0.05, 0.01), 0.5, pose);
    }
    world_start(&w[k], k == 0 ? "volume-qp" : "volume-pgs");
    if (k == 1) {
      world_set_param(&w[k], "sweeps", 20000);
      world_set_param(&w[k], "tolerance", 1e-13);
    } else {
      world_set_param(&w[k], "tolerance", 1e-11);
    }
    for (int i = 0; i < 3; i++)
      world_set_twist(&w[k], i + 1, (abTwist){v3(0.3 * (i + 1), 0.1 * i, 0), v3(0, 0, 2.0 * i)});
  }
  int nslip = 0;
  for (int i = 0; i < 50; i++) {
    for (int k = 0; k < 2; k++) ab_step(w[k].model, w[k].data);
    for (int c = 0; c < w[0].data->ncontact; c++)
      nslip += w[0].data->contacts[c].mode == AB_CONTACT_SLIP;
    for (int k = 0; k < w[0].model->nv; k++)
      check_near(w[1].data->v[k], w[0].data->v[k], 1e-7 * g * 1e-3 * 50);
  }
  assert_true(nslip > 100);  // of 150: they did slide
  for (int k = 0; k < 2; k++) world_free(&w[k]);
}

static void brick_dropped_on_its_corner_gains_no_energy(void** state) {
  (void)state;
  for (int m = 1; m < NMODEL; m++) {
    World w = world_begin(1e-4, true);
    w.mu_static = 0.5, w.mu_kinetic = 0.45;
    double deg = 3.141592653589793 / 180;
    abQuat q = quat_mul(
        quat_mul(quat_from_rotvec(v3(0, 0, 60 * deg)), quat_from_rotvec(v3(0, 45 * deg, 0))),
        quat_from_rotvec(v3(0, 0, 30 * deg)));
    int body = world_add_box(&w, v3(0.1, 0.05, 0.025), 1e-3, (abPose){v3(0, 0, 1), q});
    world_start(&w, area_model[m]);
    double e0 = world_energy(&w), last = e0, gain = 0;
    for (int i = 0; i < 12000; i++) {
      ab_step(w.model, w.data);
      double e = world_energy(&w);
      gain = fmax(gain, e - last);
      last = e;
    }
    check_below(gain, 1e-4 * e0);
    check_near(world_floor_force(&w), 1e-3 * g, 1e-3 * 1e-3 * g);
    check_below(v3_norm(world_twist(&w, body).lin), 1e-4);
    world_free(&w);
  }
}

static void scene_turned_about_the_vertical_moves_alike(void** state) {
  (void)state;
  for (int m = 0; m < NMODEL; m++) {
    abVec3 end[2];
    for (int turned = 0; turned < 2; turned++) {
      abQuat q = quat_from_rotvec(v3(0, 0, turned ? 0.7 : 0));
      World w = world_begin(1e-3, true);
      w.mu_static = w.mu_kinetic = 0.3;
      int body = world_add_box(&w, v3(0.05, 0.05, 0.01), 0.5, (abPose){v3(0, 0, 0.01), q});
      world_start(&w, area_model[m]);
      if (m > 0) world_set_param(&w, "pyramid", 64);
      world_set_twist(&w, body, (abTwist){quat_rotate(q, v3(0.5, 0, 0)), v3(0, 0, 10)});
      world_run(&w, 0.4);
      end[turned] = quat_rotate(quat_conj(q), world_pose(&w, body).p);
      world_free(&w);
    }
    // The pyramid's edges stay with the world, so the volume models agree as far as its polygon is
    // a circle.
    check_vec_near(end[1], end[0], m == 0 ? 1e-9 : 1e-5);
  }
}

// Everything measured in the scene's own units: equal to 1e-6 whatever the masses and lengths.
static void scaled_scenes_move_alike(void** state) {
  (void)state;
  const char* const all[] = {"volume-penalty", "volume-qp", "volume-pgs", "point-pgs",
                             "point-penalty"};
  for (int m = 0; m < 5; m++) {
    abVec3 reference = v3_zero();
    for (int k = 0; k < NSCALE; k++) {
      double L = scales[k].length, M = scales[k].mass, T = sqrt(L);
      World w = world_begin(1e-3 * T, true);
      w.mu_static = w.mu_kinetic = 0.3;
      abQuat q = quat_from_rotvec(v3(0.02, 0.01, 0.4));
      int body = world_add_box(&w, v3(0.05 * L, 0.04 * L, 0.01 * L), 0.5 * M,
                               (abPose){v3(0, 0, 0.02 * L), q});
      world_start(&w, all[m]);
      // Where a sweep stops must not depend on rounding: converged to the last digits.
      if (m == 2 || m == 3) {
        world_set_param(&w, "tolerance", 1e-13);
        world_set_param(&w, "sweeps", 5000);
      }
      world_set_twist(&w, body, (abTwist){v3(0.5 * L / T, 0.1 * L / T, 0), v3(0, 0, 5 / T)});
      world_run(&w, 0.15 * T);
      abVec3 p = v3_scale(1 / L, world_pose(&w, body).p);
      if (k == 0) reference = p;
      check_vec_near(p, reference, 1e-6 * 0.1);
      world_free(&w);
    }
  }
}

static void order_of_bodies_in_the_file_does_not_matter(void** state) {
  (void)state;
  const char* const all[] = {"volume-penalty", "volume-qp", "volume-pgs", "point-penalty"};
  for (int m = 0; m < 4; m++) {
    abVec3 end[2];
    for (int swapped = 0; swapped < 2; swapped++) {
      World w = world_begin(1e-3, false);
      int a = 0, b = 0;
      for (int i = 0; i < 2; i++)
        if ((i == 0) != swapped)
          a = world_add_box(&w, v3(0.1, 0.1, 0.1), 1, pose_identity());
        else
          b = world_add_box(&w, v3(0.1, 0.1, 0.1), 2,
                            (abPose){v3(0.22, 0.05, 0.02), quat_from_rotvec(v3(0.3, 0.2, 0.5))});
      ab_scene_option(w.scene)->gravity = v3_zero();
      world_start(&w, all[m]);
      world_set_twist(&w, a, (abTwist){v3(1, 0, 0), v3_zero()});
      world_set_twist(&w, b, (abTwist){v3(-1, 0, 0), v3_zero()});
      world_run(&w, 0.05);
      assert_true(v3_norm(v3_sub(world_twist(&w, a).lin, v3(1, 0, 0))) > 0.1);
      end[swapped] = world_pose(&w, a).p;
      world_free(&w);
    }
    // A first impact on an edge: rounding grows, but not past this within 30 steps.
    check_vec_near(end[1], end[0], 1e-9);
  }
}

// A contact of no area, of no vertices, without a normal: beside a sound one it must change
// nothing.
static void degenerate_patch_disturbs_no_other_contact(void** state) {
  (void)state;
  const char* const all[] = {"volume-penalty", "volume-qp", "volume-pgs", "point-pgs",
                             "point-penalty"};
  for (int m = 0; m < 5; m++) {
    abWrench impulse[4];
    for (int k = 0; k < 4; k++) {
      World w = world_begin(1e-3, true);
      int good =
          world_add_box(&w, v3(0.05, 0.05, 0.05), 0.5, (abPose){v3(0, 0, 0.05), quat_identity()});
      int bad =
          world_add_box(&w, v3(0.05, 0.05, 0.05), 0.5, (abPose){v3(1, 0, 0.05), quat_identity()});
      world_start(&w, all[m]);
      world_run(&w, 0.02);
      // The problem of the next step, with the second contact spoiled.
      abArenaMark mark = ab_arena_mark(w.data->internal->scratch);
      ab_forward(w.model, w.data);
      abPair pair[2];
      assert_int_equal(w.data->internal->npair, 2);
      memcpy(pair, w.data->internal->pair, sizeof pair);
      int spoiled = pair[0].body1 == bad ? 0 : 1;
      abPatch* p = &pair[spoiled].patch;
      if (k == 1) p->area = p->mx = p->my = p->mxx = p->mxy = p->myy = p->volume = 0;
      if (k == 2) p->nvert = 0, p->area = 0;
      if (k == 3) p->normal = p->t1 = p->t2 = v3_zero();
      abContactBody body[3];
      memset(body, 0, sizeof body);
      for (int i = 1; i < 3; i++)
        body[i] = (abContactBody){.com = w.data->com[i],
                                  .q = w.data->pose[i].q,
                                  .twist = w.data->twist[i],
                                  .twist_free = w.data->twist[i]};
      for (int i = 1; i < 3; i++) body[i].twist_free.lin.z -= g * 1e-3;
      double v[12];
      for (int i = 1; i < 3; i++) twist_to_array(body[i].twist_free, v + 6 * (i - 1));
      abPairSolution answer[2];
      memset(answer, 0, sizeof answer);
      abContactSolution solution = {.pair = answer};
      abContactProblem problem = {.h = 1e-3,
                                  .gravity = v3(0, 0, -g),
                                  .length = w.model->extent,
                                  .nbody = 3,
                                  .body = body,
                                  .npair = 2,
                                  .pair = pair,
                                  .response = &w.data->internal->response,
                                  .v_free = v,
                                  .param = w.data->internal->param,
                                  .scratch = w.data->internal->scratch};
      w.data->contact->solve(&problem, &solution);
      impulse[k] = answer[1 - spoiled].impulse;
      const abWrench* other = &answer[spoiled].impulse;
      assert_true(v3_finite(other->force) && v3_finite(other->torque));
      assert_true(pair[1 - spoiled].body1 == good);
      double weight = 0.5 * g * 1e-3;
      check_vec_near(impulse[k].force, impulse[0].force, 1e-9 * weight);
      check_vec_near(impulse[k].torque, impulse[0].torque, 1e-9 * weight * 0.1);
      ab_arena_release(w.data->internal->scratch, mark);
      world_free(&w);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cube_below_breakaway_does_not_run_away),
      cmocka_unit_test(soft_cube_tips_where_its_springs_let_it),
      cmocka_unit_test(printed_interpolation_underestimates_the_spin_torque),
      cmocka_unit_test(iteration_converges_to_the_direct_solution),
      cmocka_unit_test(sliding_iteration_converges_to_the_direct_solution),
      cmocka_unit_test(brick_dropped_on_its_corner_gains_no_energy),
      cmocka_unit_test(scene_turned_about_the_vertical_moves_alike),
      cmocka_unit_test(scaled_scenes_move_alike),
      cmocka_unit_test(order_of_bodies_in_the_file_does_not_matter),
      cmocka_unit_test(degenerate_patch_disturbs_no_other_contact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
