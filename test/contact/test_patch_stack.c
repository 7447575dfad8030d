// Claims about stacks under the model `patch`: forces, drift, mass ratios, thin bodies, scales.
#include <stdlib.h>

#include "oracle/patch_world.h"
#include "support/check.h"
#include "support/random.h"

static const double G = 9.8;

// n cubes of side a, displaced by up to a/20 and turned by up to 0.05 rad.
static PatchWorld jittered_stack(double h, int n, double a, double mass, double depth) {
  Random r = {1};
  PatchWorld w = patch_world(h, 0.5);
  for (int i = 0; i < n; i++) {
    double x = random_uniform(&r, -a / 20, a / 20), y = random_uniform(&r, -a / 20, a / 20);
    abQuat q = quat_from_axis_angle(v3(0, 0, 1), random_uniform(&r, -0.05, 0.05));
    patch_box(&w, &(PatchBox){.half = {a / 2, a / 2, a / 2},
                              .mass = mass,
                              .pose = {{x, y, a / 2 + a * i - depth * (i + 1)}, q}});
  }
  patch_ready(&w);
  return w;
}

// Standard deviation of the floor's force over the last third, and how far the top went sideways.
static void measure(PatchWorld* w, int n, double weight, double time, double* spread,
                    double* drift) {
  const double* top = patch_q(w, n);
  double x0 = top[0], y0 = top[1], sum = 0, square = 0;
  long steps = lround(time / w->data->h), count = 0;
  for (long i = 0; i < steps; i++) {
    patch_step(w);
    if (i < 2 * steps / 3) continue;
    double F = 0;
    for (int c = 0; c < w->data->ncontact; c++)
      if (w->data->contacts[c].body2 == 0) F += w->data->contacts[c].wrench.force.z;
    F = F / weight - 1;
    sum += F, square += F * F, count++;
  }
  double mean = sum / (double)count;
  *spread = sqrt(fmax(0, square / (double)count - mean * mean)) + fabs(mean);
  *drift = hypot(top[0] - x0, top[1] - y0);
}

// Steps of 1, 2, 5, 10 ms; what a dense prototype of the method reached for the drift of the top.
static void stacks_stand_still(void** state) {
  (void)state;
  static const double h[4] = {1e-3, 2e-3, 5e-3, 1e-2}, time[4] = {3, 3, 10, 10};
  static const double most[2][4] = {{0.8e-6, 3e-6, 19e-6, 76e-6}, {0.9e-6, 3e-6, 21e-6, 93e-6}};
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 2; i++) {
      int n = 10 * (i + 1);
      double depth = 0, spread, drift;  // as at rest
      PatchWorld w = jittered_stack(h[k], n, 0.1, 0.5, depth);
      measure(&w, n, 0.5 * G * n, time[k], &spread, &drift);
      check_below(spread, 1e-9);
      check_below(drift, most[i][k]);
      patch_free(&w);
    }
}

static void tower_of_fifty_stands(void** state) {
  (void)state;
  double spread, drift;
  PatchWorld w = jittered_stack(2e-3, 50, 0.1, 0.5, 0);
  measure(&w, 50, 0.5 * G * 50, getenv("ABUT_LONG") ? 60 : 3, &spread, &drift);
  check_below(spread, 1e-6);
  check_below(drift, 1e-3);
  patch_free(&w);
}

// The same stack from a gram to a tonne, from millimetres to metres (time steps to scale).
static void scales_do_not_matter(void** state) {
  (void)state;
  static const double a[4] = {1e-3, 0.01, 1, 10}, mass[4] = {1e-3, 1e3, 1e-3, 1e3};
  for (int k = 0; k < 4; k++) {
    double h = 2e-3 * sqrt(a[k] / 0.1), spread, drift;
    PatchWorld w = jittered_stack(h, 5, a[k], mass[k], 0);
    measure(&w, 5, mass[k] * G * 5, 600 * h, &spread, &drift);
    check_below(spread, 1e-9);
    check_below(drift, 1e-3 * a[k]);
    patch_free(&w);
  }
}

static void heavy_on_light_holds(void** state) {
  (void)state;
  for (double ratio = 1e-3; ratio < 1e7; ratio *= ratio < 1 ? 1e6 : 1e3)
    for (double h = 1e-3; h < 0.02; h *= 10) {
      PatchWorld w = patch_world(h, 0.5);
      for (int i = 0; i < 2; i++)
        patch_box(&w, &(PatchBox){.half = {0.05, 0.05, 0.05},
                                  .mass = i ? ratio : 1,
                                  .pose = {{0, 0, 0.05 + 0.1 * i}, {1, 0, 0, 0}}});
      patch_ready(&w);
      patch_run(&w, 600 * h);
      check_near(patch_force(&w, 2).z / (ratio * G), 1, 1e-6);
      check_below(0.15 - patch_q(&w, 2)[2], 4e-3);
      patch_free(&w);
    }
}

static void cards_do_not_tunnel(void** state) {
  (void)state;
  PatchWorld w = patch_world(1e-3, 0.5);
  for (int i = 0; i < 20; i++)
    patch_box(&w, &(PatchBox){.half = {0.044, 0.0315, 0.00015},
                              .mass = 0.002,
                              .pose = {{0, 0, 0.00015 + 0.0003 * i}, {1, 0, 0, 0}}});
  patch_ready(&w);
  patch_run(&w, 1);
  for (int i = 1; i <= 20; i++)
    check_near(patch_q(&w, i)[2], 0.00015 + 0.0003 * (i - 1), 0.05 * 0.0003 * i);
  patch_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_stand_still),   cmocka_unit_test(tower_of_fifty_stands),
      cmocka_unit_test(scales_do_not_matter), cmocka_unit_test(heavy_on_light_holds),
      cmocka_unit_test(cards_do_not_tunnel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
