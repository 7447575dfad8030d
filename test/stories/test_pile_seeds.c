// Boxes dropped on each other at random: whatever the seed, the pile comes to rest and is at rest
// then, and contact has only taken energy on the way. Where each box ends up is a matter of chance,
// and changes with every rounding; what is claimed here does not depend on it.
#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

enum { BOXES = 36 };
static const double h = 1e-3, rest_time = 0.4, longest = 20;
static const abVec3 half = {0.1, 0.05, 0.025};

typedef struct Drop {
  PatchWorld world;
  double weight, fall_time;
  double fastest, force;  // of this step: any point of a box; the floor's
  double lowest, climb;   // energy so far; largest rise above it
  double burst;           // fastest box after the fall
} Drop;

// Nine boxes in each layer, one above the other.
static Drop begin_drop(uint64_t seed) {
  Random r = {seed};
  Drop d = {.world = patch_world(h, 0.5)};
  double z = 0;
  for (int i = 0; i < BOXES; i++) {
    double x = 0.23 * (i % 3), y = 0.23 * (i / 3 % 3);
    z = 0.15 + 0.23 * (i / 9);
    patch_box(&d.world,
              &(PatchBox){.half = half, .mass = 1, .pose = {{x, y, z}, random_rotation(&r)}});
  }
  patch_ready(&d.world);
  ab_forward(d.world.model, d.world.data);
  double g = -d.world.model->gravity.z;
  d.weight = BOXES * g;
  d.fall_time = sqrt(2 * z / g);
  d.lowest = patch_kinetic_and_height(&d.world);
  return d;
}

static void step(Drop* d) {
  PatchWorld* w = &d->world;
  patch_step(w);
  d->fastest = d->force = 0;
  for (int i = 1; i <= BOXES; i++) {
    const double* v = patch_v(w, i);
    double speed = v3_norm(v3(v[0], v[1], v[2]));
    d->fastest = fmax(d->fastest, speed + v3_norm(half) * v3_norm(v3(v[3], v[4], v[5])));
    if (w->data->time > d->fall_time) d->burst = fmax(d->burst, speed);
  }
  d->force = -patch_force(w, 0).z;
  double energy = patch_kinetic_and_height(w);
  d->lowest = fmin(d->lowest, energy);
  d->climb = fmax(d->climb, energy - d->lowest);
}

// When it has rested for `rest_time`: no point faster than a hundredth of g h, below which islands
// may sleep.
static double time_of_rest(Drop* d) {
  double speed = 0.01 * h * -d->world.model->gravity.z;
  long still = 0, enough = lround(rest_time / h), most = lround(longest / h);
  for (long i = 0; i < most && still < enough; i++) {
    step(d);
    still = d->fastest < speed ? still + 1 : 0;
  }
  return still >= enough ? d->world.data->time : INFINITY;
}

static void drop_pile(uint64_t seed) {
  Drop d = begin_drop(seed);
  print_message("seed %d\n", (int)seed);
  check_below(time_of_rest(&d), longest + h);
  double sum = 0, allowed = 0.01 * 2 * half.z;  // 0.5 mm
  long steps = lround(rest_time / 2 / h);
  for (long i = 0; i < steps; i++) {
    step(&d);
    assert_int_equal(d.world.data->stat.status, AB_STEP_OK);
    check_below(d.world.data->stat.max_penetration, allowed);
    double off = d.force / d.weight - 1;
    sum += off * off;
  }
  check_below(sqrt(sum / (double)steps), 1e-3);
  // No box is ever thrown off faster than the highest came down, and no more energy is gained than
  // a pile needs that is pushed out of the penetration allowed.
  check_below(d.burst, d.fall_time * -d.world.model->gravity.z);
  check_below(d.climb, d.weight * allowed);
  patch_free(&d.world);
}

static void piles_of_any_seed_come_to_rest(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) drop_pile(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(piles_of_any_seed_come_to_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
