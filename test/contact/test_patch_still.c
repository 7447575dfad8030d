// Contacts that are left alone at rest: what is told of them stays true, and whatever disturbs them
// is felt as if they had never been left alone.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "oracle/patch_world.h"
#include "support/check.h"

enum { COLUMNS = 8, ROWS = 8, BRICKS = (2 * COLUMNS - 1) * ROWS / 2 };
static const abVec3 half = {0.1, 0.05, 0.04};
static const double h = 1e-3, mu = 0.5, mass = 1, gravity = 9.8;

// A wall in running bond, joints open: every other row is shorter, and each brick lies on two.
static PatchWorld make_wall(void) {
  PatchWorld w = patch_world(h, mu);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS - r % 2; c++) {
      double x = 0.22 * c + (r % 2 ? 0.11 : 0), z = (2 * r + 1) * half.z - 2e-5 * (r + 1);
      patch_box(&w, &(PatchBox){.half = half, .mass = mass, .pose = {{x, 0, z}, {1, 0, 0, 0}}});
    }
  patch_ready(&w);
  return w;
}

static int count_left(const PatchWorld* w) {
  const abTable* t = ab_memory_now(w->data->memory);
  int n = 0;
  for (int i = 0; i < t->n; i++) n += t->left[i] && t->still[i] > 0;
  return n;
}

static PatchWorld wall_at_rest(void) {
  PatchWorld w = make_wall();
  patch_run(&w, 2);
  // most of them, or these tests would test nothing; some are always looked at, whose pressure
  // changes by a millionth
  assert_true(w.data->ncontact > 80);
  check_below(0.4 * w.data->ncontact, count_left(&w));
  return w;
}

// Forces of the contacts told, and gravity: what accelerates each brick, to the share of its load
// below which a contact is left alone (AB_PATCH_SAME), of some eight bricks, on each of four sides.
static void what_is_told_balances(void** state) {
  (void)state;
  PatchWorld w = wall_at_rest();
  double allowed = 4 * 1e-6 * ROWS * mass * gravity;
  for (int i = 1; i <= BRICKS; i++) {
    abVec3 f = patch_force(&w, i);
    check_vec_near(f, v3(0, 0, mass * gravity), allowed);
  }
  patch_free(&w);
}

// A twin whose contacts are all looked at: what was left alone is forgotten, and its memory is that
// of the last time it was looked at.
static void disturb_both(PatchWorld* a, PatchWorld* b, abVec3 force, int body) {
  ab_memory_discard(b->data->memory);
  patch_step(a), patch_step(b);
  assert_int_equal(count_left(b), 0);
  a->data->applied[body].force = b->data->applied[body].force = force;
}

// A push of a third of what the brick's friction bears moves it by the give of the bristle; twice
// what it bears tears it out. Both alike for the twins.
static void a_push_is_felt_alike(void** state) {
  (void)state;
  int top = BRICKS - 3;
  double bears = mu * mass * gravity;
  for (int k = 0; k < 2; k++) {
    PatchWorld a = wall_at_rest(), b = wall_at_rest();
    disturb_both(&a, &b, v3(0, (k ? 2 : 0.3) * bears, 0), top);
    double from = patch_q(&a, top)[1];
    for (int i = 0; i < 100; i++) {
      patch_step(&a), patch_step(&b);
      assert_int_equal(a.data->stat.status, AB_STEP_OK);
    }
    double way = patch_q(&a, top)[1] - from, twin = patch_q(&b, top)[1] - from;
    // torn out: half of (2 - 1) mu g t^2
    double slid = 0.5 * mu * gravity * 0.01;
    if (k) check_near(way, slid, 0.05 * slid);
    if (!k) check_below(fabs(way), 1e-3 * slid);
    check_near(way, twin, 1e-3 * fabs(way) + 1e-9);
    patch_free(&a), patch_free(&b);
  }
}

// A wall that is hit wakes, moves and comes to rest again.
static void a_blow_wakes_them(void** state) {
  (void)state;
  PatchWorld w = wall_at_rest();
  int left = count_left(&w);
  for (int c = 0; c < COLUMNS - 1; c++) patch_v(&w, BRICKS - c)[1] = 0.5;
  patch_step(&w);
  check_below(count_left(&w), 0.5 * left);
  patch_run(&w, 2);
  check_below(0.4 * w.data->ncontact, count_left(&w));
  check_near(-patch_force(&w, 0).z, BRICKS * mass * gravity, 1e-5 * BRICKS * mass * gravity);
  patch_free(&w);
}

// Another step length: nothing of the old law holds, and nothing moves.
static void another_step_is_no_disturbance(void** state) {
  (void)state;
  PatchWorld w = wall_at_rest();
  double top = patch_q(&w, BRICKS)[2];
  w.data->h = 0.5 * h;
  patch_run(&w, 1);
  // the rest depth goes with h^2: it was 2 g h^2 at each contact, and is a quarter
  double rise = ROWS * 2 * gravity * h * h * 0.75;
  check_near(patch_q(&w, BRICKS)[2] - top, rise, 0.05 * rise);
  check_below(0.4 * w.data->ncontact, count_left(&w));
  patch_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_told_balances),
      cmocka_unit_test(a_push_is_felt_alike),
      cmocka_unit_test(a_blow_wakes_them),
      cmocka_unit_test(another_step_is_no_disturbance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
