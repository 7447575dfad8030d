// What must hold in every step. All tests, in a build with assertions.
// Tests: test_*.
#include "validate.h"

#include <math.h>

#include "base/arena.h"
#include "base/assert.h"
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

// Of three components, relative to what was added up to them: impulses on both sides of a body that
// is held may be far larger than what is left of them. Beside joints at their limits, 1e6 times as
// stiff as their inertia, rounding leaves 4e-9 of that in a grip.
static bool agree(const double* a, const double* b, const double* free, const double* added) {
  double error = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    error = fmax(error, fabs(a[i] - b[i]));
    size = fmax(size, fabs(a[i]) + fabs(free[i]) + added[i]);
  }
  return error <= 1e-7 * size + 1e-14;
}

void ab_validate_momentum(const abModel* model, const abData* data,
                          const abContactSolution* solution, const double* follows,
                          const double* added) {
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (mover->jointed) continue;
    const double *v = solution->v + mover->dof0, *free = data->v_free + mover->dof0;
    const double *want = follows + mover->dof0, *sum = added + mover->dof0;
    AB_ASSERT(agree(v, want, free, sum));
    AB_ASSERT(agree(v + 3, want + 3, free + 3, sum + 3));
  }
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
