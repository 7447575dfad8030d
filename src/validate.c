// What must hold in every step. All tests, in a build with assertions.
// Tests: test_*.
#include "validate.h"

#include <math.h>

#include "base/arena.h"
#include "base/assert.h"
#include "contact/momentum.h"
#include "fits.h"
#include "internal.h"
#include "math/rotation.h"
#include "pairs.h"

#ifdef AB_CHECKED

void ab_validate_begin(const abModel* model, const abData* data) {
  AB_ASSERT(ab_data_fits(model, data));
  AB_ASSERT(data->internal->scratch->used == 0);
  AB_ASSERT(data->internal->step_arena->used == 0);
}

// Counter-clockwise and convex, to rounding: corners that lie on a line may turn the other way by a
// millionth of the patch's size.
static bool is_convex(const abPatch* p) {
  double size = 0;
  for (int i = 0; i < p->nvert; i++) size = fmax(size, v2_norm(p->polygon[i]));
  for (int i = 0; p->nvert > 2 && i < p->nvert; i++) {
    abVec2 a = p->polygon[i], b = p->polygon[(i + 1) % p->nvert],
           c = p->polygon[(i + 2) % p->nvert];
    if (v2_cross(v2_sub(b, a), v2_sub(c, b)) < -1e-6 * size * size) return false;
  }
  return true;
}

static bool is_frame(const abPatch* p) {
  abVec3 n = v3_cross(p->t1, p->t2);
  return v3_norm(v3_sub(n, p->normal)) < 1e-9 && fabs(v3_norm(p->normal) - 1) < 1e-9;
}

void ab_validate_pairs(const abModel* model, const abData* data) {
  const struct abInternal* in = data->internal;
  for (int i = 0; i < in->ncandidate; i++) {
    const int* c = in->candidate[i];
    AB_ASSERT(c[0] >= 0 && c[0] < c[1] && c[1] < model->ngeom);
    if (i > 0) {
      const int* before = in->candidate[i - 1];
      AB_ASSERT(before[0] < c[0] || (before[0] == c[0] && before[1] < c[1]));
    }
  }
  for (int i = 0; i < in->npair; i++) {
    const abPair* p = &in->pair[i];
    AB_ASSERT(i == 0 || in->pair[i - 1].key < p->key);
    AB_ASSERT(p->memory == ab_memory_bytes(in->memory, i));
    if (p->patch.kind == AB_PATCH_NONE) continue;
    AB_ASSERT(is_frame(&p->patch));
    AB_ASSERT(is_convex(&p->patch));
  }
}

// Not where numbers are made up (test/fuzz): a body a trillion times lighter than its neighbour
// loses momentum to rounding.
void ab_validate_momentum(const abContactProblem* problem, const abContactSolution* solution) {
#ifndef AB_ANY_NUMBERS
  AB_ASSERT(ab_momentum_error(problem, solution) <= 1);
#else
  (void)problem, (void)solution;
#endif
}

void ab_validate_end(const abModel* model, const abData* data) {
  for (int b = 0; b < model->nbody; b++) AB_ASSERT(fabs(quat_norm(data->pose[b].q) - 1) < 1e-9);
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    AB_ASSERT(c->body1 >= 0 && c->body1 < model->nbody && c->body2 >= 0 && c->body2 < model->nbody);
    AB_ASSERT(c->body1 != c->body2);
  }
}

#endif
