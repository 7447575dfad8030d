// The law of a patch near where it was last asked.
//
// At rest the law is asked in every step nearly the same question. It depends on the twist V by way
// of
//
//   e = (V_1 + b_1, V_2 + b_2, V_n - t_0, W_1 - t_y, W_2 + t_x, W_n + b_n)
//
// alone, b the bristle and t the target, as long as only the first target presses: so near the last
// question e_0, with its answer f_0 and derivative -G_0,
//
//   f = f_0 - G_0 (e - e_0)
//
// also in another step, while stiffness, bound and profile are the same, which they are as long as
// they would change by less than AB_PATCH_SAME. The law bends where points begin to slip or to come
// off, at velocities of the order of slip_speed or of the pressure over its stiffness. Within REACH
// of these the pressure is wrong by a share of REACH^2, and friction, where a point of its rule
// passes from sticking to slipping, by REACH times that point's share in the load, a tenth or less:
// together less than the tolerance of large islands, which alone use this.
#include <math.h>
#include <string.h>

#include "contact/patch.h"

#define REACH 3e-4

static void question(const abPatchContact* c, double e[6]) {
  const double *b = c->law.bristle, *t = c->law.target[0], *V = c->V;
  e[0] = V[0] + b[0], e[1] = V[1] + b[1], e[2] = V[2] - t[0];
  e[3] = V[3] - t[2], e[4] = V[4] + t[1], e[5] = V[5] + b[2];
}

bool ab_patch_near(abPatchContact* c) {
  const abPatchNear* near = &c->near;
  if (!near->known) return false;
  double e[6], Gd[6];
  if (c->still) {
    for (int k = 0; k < 6; k++) e[k] = c->V[k] + near->since[k];
  } else {
    question(c, e);
    for (int k = 0; k < 6; k++) e[k] -= near->e[k];
  }
  if (!(ab_patch_way2(near, e) <= near->reach2)) return false;
  ab_patch_apply_G(near->G, e, Gd);
  for (int k = 0; k < 6; k++) c->answer[k] = near->f[k] - Gd[k];
  return true;
}

// The highest pressure of the fields of one target, on the whole patch.
static double highest(const abPatchLaw* law, const double p[3], double* radius2) {
  double most = -INFINITY;
  *radius2 = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    most = fmax(most, p[0] + p[1] * x + p[2] * y);
    *radius2 = fmax(*radius2, x * x + y * y);
  }
  return most;
}

// The parts meet where both targets are zero; by how much the second may press there.
static bool second_target_presses(const abPatchLaw* law, const double p[3], double least) {
  for (int i = 0; i < law->npart; i++) {
    const abPatchArea* area = &law->part[i].area;
    for (int k = 0; law->part[i].target == 1 && k < area->n; k++)
      if (p[0] + p[1] * area->x[k] + p[2] * area->y[k] > least) return true;
  }
  return false;
}

void ab_patch_ask_near(abPatchContact* c) {
  abPatchNear* near = &c->near;
  abPatchLaw* law = &c->law;
  double field[2][3];
  ab_patch_pressure_fields(law, c->V, field);
  double pressure = fabs(highest(law, field[0], &near->radius2));
  if (law->npart == 0 || second_target_presses(law, field[1], REACH * pressure)) {
    ab_patch_evaluate(law, c->V, c->answer, NULL);
    return;
  }
  law->trust = 1;
  ab_patch_evaluate(law, c->V, c->answer, near->G);
  question(c, near->e);
  memcpy(near->f, c->answer, sizeof near->f);
  double reach = REACH * pressure / law->weight;
  if (law->slip_speed > 0) reach = fmin(reach, REACH * law->slip_speed);
  near->reach2 = reach * reach;
  double same = AB_PATCH_SAME * pressure / law->weight;
  near->same2 = same * same;
  near->known = true;
}
