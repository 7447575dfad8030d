// Velocities that are held in large islands at rest: rest is rest, and no force is too small or
// comes too late to be felt.
#include <math.h>

#include "dynamics/kinematics.h"
#include "oracle/patch_world.h"
#include "support/check.h"

enum { COLUMNS = 10, ROWS = 8, BOXES = COLUMNS * ROWS, PLATE = 1 };
static const double h = 1e-3, gravity = 9.8, mu = 0.5, plate_mass = 20;

// Boxes side by side on a plate on a floor with friction `floor_mu`: more than AB_PATCH_LARGE
// contacts in one island.
static PatchWorld loaded_plate(double floor_mu) {
  PatchWorld w = patch_world(h, floor_mu);
  abVec3 half = {0.6, 0.5, 0.05}, small = {0.05, 0.05, 0.05};
  double deep = 2e-5;  // some rest depth
  patch_box(
      &w,
      &(PatchBox){.half = half, .mass = plate_mass, .pose = {{0, 0, half.z - deep}, {1, 0, 0, 0}}});
  for (int i = 0; i < BOXES; i++) {
    abVec3 p = {0.11 * (i % COLUMNS - 4.5), 0.11 * (i / COLUMNS - 3.5), 0.15 - 2 * deep};
    patch_box(&w, &(PatchBox){.half = small, .mass = 1, .pose = {p, {1, 0, 0, 0}}, .mu = mu});
  }
  patch_ready(&w);
  return w;
}

static double fastest(const PatchWorld* w) {
  double most = 0;
  for (int i = 0; i < w->model->nv; i++) most = fmax(most, fabs(w->data->v[i]));
  return most;
}

// What is solved to a tolerance of 1e-5 g h would go to and fro by so much. Held velocities fade by
// a fifth in every step: after a second nothing is left but what a step that pays debts makes of a
// share of 1e-5 g h, which the stiff contacts all but stop.
static void rest_is_rest(void** state) {
  (void)state;
  PatchWorld w = loaded_plate(mu);
  patch_run(&w, 1);
  assert_int_equal(w.data->ncontact, BOXES + 1);
  double most = 0;
  for (int i = 0; i < 500; i++) {
    patch_step(&w);
    assert_int_equal(w.data->stat.status, AB_STEP_OK);
    most = fmax(most, fastest(&w));
  }
  check_below(most, 1e-9 * gravity * h);
  patch_free(&w);
}

// A tenth of the tolerance in every step, always to the same side: on ice the whole load must go as
// Newton says. At any time up to 1e-5 g h may be owed, and as much again while it is paid.
static void a_small_force_moves_a_load_on_ice(void** state) {
  (void)state;
  PatchWorld w = loaded_plate(0);
  patch_run(&w, 0.5);
  double share = 1e-6, time = 2, mass = plate_mass + BOXES, before = patch_v(&w, PLATE)[0];
  w.data->applied[PLATE].force = v3(share * mass * gravity, 0, 0);
  patch_run(&w, time);
  double want = share * gravity * time, allowed = 4 * 1e-5 * gravity * h;
  check_below(allowed, 0.05 * want);  // or this would say little
  check_near(patch_v(&w, PLATE)[0] - before, want, allowed);
  for (int b = PLATE + 1; b <= PLATE + BOXES; b++)
    check_near(patch_v(&w, b)[0], patch_v(&w, PLATE)[0], allowed);
  patch_free(&w);
}

// After long rest: half of what friction bears moves a box by the give of its bristle, half more
// than it bears makes it slide from the first step on, with the acceleration (1.5 - 1) mu g, but
// for the give (some g h^2) and the first step.
static void a_push_is_felt_at_once(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    PatchWorld w = loaded_plate(mu);
    patch_run(&w, 1);
    int box = PLATE + BOXES / 2;
    double from = patch_q(&w, box)[0], time = 0.1;
    w.data->applied[box].force = v3((k ? 1.5 : 0.5) * mu * gravity, 0, 0);
    patch_run(&w, time);
    double way = patch_q(&w, box)[0] - from;
    if (k == 0) check_below(fabs(way), 10 * gravity * h * h);
    if (k == 1) check_near(way, 0.25 * mu * gravity * time * (time + h), 20 * gravity * h * h);
    patch_free(&w);
  }
}

// Poses that are computed anew in every step change nothing.
static void kept_poses_are_the_same(void** state) {
  (void)state;
  PatchWorld a = loaded_plate(mu), b = loaded_plate(mu);
  for (int i = 0; i < 600; i++) {
    ab_kinematics_bodies(b.model, b.data);
    patch_step(&a), patch_step(&b);
    if (i == 400) patch_q(&a, PLATE + 3)[2] += 0.01, patch_q(&b, PLATE + 3)[2] += 0.01;
  }
  assert_true(ab_state_hash(a.model, a.data) == ab_state_hash(b.model, b.data));
  patch_free(&a), patch_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rest_is_rest),
      cmocka_unit_test(a_small_force_moves_a_load_on_ice),
      cmocka_unit_test(a_push_is_felt_at_once),
      cmocka_unit_test(kept_poses_are_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
