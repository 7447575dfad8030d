// The branches on which the rows of joints begin.
//
// The response and v_free are those of the branches that the free motion found, without contacts:
// of a robot that stands, whose servos hold it up and whose joints stick by friction, most are
// wrong. Newton's method would find the right ones, but it would begin far off, each contact alone
// (alone.c) taking its joints for free. So the island first goes over to the branches at the
// minimiser of
//
//   1/2 (v - v_free)^T M (v - v_free) - v . load + sum over rows of psi(s . v),   load = sum J^T f,
//
// f the contacts' impulses of the last step: nearly the whole solution where little changes. With
// the excess p of a row over the branch assumed (ab_patch_row_excess), p = a + b s . v on its new
// branch, the problem is the same with
//
//   K = M - sum b s s^T,   v_free' = v_free + K^-1 sum s (a + b s . v_free)
//
// and the new branches assumed. The minimiser is found by Newton's method from the velocities at
// the start of the step, at which whatever sticks stands still; a few full steps are tried first,
// whose result, if it lies on its branches, is the minimiser.
// Tests: test_law_contact, test_robots.
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/branch.h"
#include "math/spatial.h"

// A row along a way: s . v at its beginning, and the change.
typedef struct Bent {
  const abRow* row;
  double begin, step;
} Bent;

typedef struct Rows {
  abRow* row;     // the island's own
  abBranch* now;  // per row
  double **K, **L;
  double *load, *v, *end, *kick;  // kick: sum s (a + b s . v_free)
  double *momentum, *rise;        // M (v - v_free), M (end - v)
  double at0, rate;               // slope of the energy but for the rows: at0 + x rate
  int nbent;
  Bent* bent;
} Rows;

static double impulse_on(const abRow* row, abBranch branch, double sv) {
  return branch == AB_BRANCH_LOW    ? row->low
         : branch == AB_BRANCH_HIGH ? row->high
                                    : row->weight * (row->target - sv);
}

static void find_branches(const abPatchIsland* island, const double* v, abBranch* now) {
  for (int i = 0; i < island->nrow; i++) {
    const abPatchRow* r = &island->row[i];
    now[i] = ab_patch_row_branch(r->row, ab_patch_row_speed(r, v));
  }
}

static bool all_on_branch(const abPatchIsland* island, const double* v, const abBranch* now) {
  for (int i = 0; i < island->nrow; i++) {
    const abPatchRow* r = &island->row[i];
    if (ab_patch_row_branch(r->row, ab_patch_row_speed(r, v)) != now[i]) return false;
  }
  return true;
}

static bool take_rows(abPatchIsland* island, Rows* w) {
  abArena* arena = island->scratch;
  int n = island->ndof;
  w->row = AB_TAKE(arena, abRow, island->nrow);
  w->K = AB_TAKE(arena, double*, island->nblock);
  w->L = AB_TAKE(arena, double*, island->nblock);
  double* x = AB_TAKE(arena, double, 6 * n);
  w->bent = AB_TAKE(arena, Bent, island->nrow);
  if (!w->row || !w->K || !w->L || !x || !w->bent) return false;
  w->load = x, w->v = x + n, w->end = x + 2 * n, w->kick = x + 3 * n;
  w->momentum = x + 4 * n, w->rise = x + 5 * n;
  for (int b = 0; b < island->nblock; b++) {
    w->K[b] = w->L[b] = NULL;
    if (!island->inertia[b]) continue;
    w->K[b] = AB_TAKE(arena, double, island->size[b] * island->size[b]);
    w->L[b] = AB_TAKE(arena, double, island->size[b] * island->size[b]);
    if (!w->K[b] || !w->L[b]) return false;
  }
  return true;
}

static void begin(const abPatchIsland* island, Rows* w) {
  const double* start = island->system->problem->v;
  memset(w->load, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_scatter(island, island->contact[i], island->contact[i]->impulse, w->load);
  memcpy(w->v, island->v, sizeof(double) * (size_t)island->ndof);
  for (int b = 0; b < island->nblock && start; b++) {
    const abMover* m = &island->system->problem->response->mover[island->mover[b]];
    if (m->jointed)
      memcpy(w->v + island->offset[b], start + m->dof0, sizeof(double) * (size_t)m->ndof);
  }
}

// K and its factor with the branches of now.
static void factor(abPatchIsland* island, Rows* w) {
  for (int b = 0; b < island->nblock; b++) {
    int n = island->size[b];
    if (w->K[b]) memcpy(w->K[b], island->inertia[b], sizeof(double) * (size_t)(n * n));
  }
  for (int i = 0; i < island->nrow; i++) {
    const abPatchRow* r = &island->row[i];
    int change = (w->now[i] == AB_BRANCH_INSIDE) - (r->row->assumed == AB_BRANCH_INSIDE);
    int n = island->size[r->block], at = r->at - island->offset[r->block];
    for (int k = 0; k < r->row->n && change != 0; k++)
      for (int l = 0; l < r->row->n; l++)
        w->K[r->block][(at + k) * n + at + l] +=
            change * r->row->weight * r->row->s[k] * r->row->s[l];
  }
  for (int b = 0; b < island->nblock; b++) {
    int n = island->size[b];
    if (!w->K[b]) continue;
    memcpy(w->L[b], w->K[b], sizeof(double) * (size_t)(n * n));
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, w->K[b][i * n + i]);
    branch_factor(n, w->L[b], NULL, DBL_EPSILON * DBL_EPSILON * most);
  }
}

// The minimiser if all rows were on the branches of now.
static void find_end(const abPatchIsland* island, Rows* w) {
  memset(w->kick, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->nrow; i++) {
    const abPatchRow* r = &island->row[i];
    if (w->now[i] == r->row->assumed) continue;
    double sv = ab_patch_row_speed(r, island->v_free);
    double p = impulse_on(r->row, w->now[i], sv) - impulse_on(r->row, r->row->assumed, sv);
    for (int k = 0; k < r->row->n; k++) w->kick[r->at + k] += p * r->row->s[k];
  }
  for (int b = 0; b < island->nblock; b++) {
    int first = island->offset[b], n = island->size[b];
    double* end = w->end + first;
    if (!w->K[b]) {  // no row: as ab_patch_momenta left it
      memcpy(end, island->v + first, sizeof(double) * (size_t)n);
      continue;
    }
    for (int i = 0; i < n; i++) end[i] = w->kick[first + i] + w->load[first + i];
    branch_solve(n, w->L[b], end);
    for (int i = 0; i < n; i++) end[i] += island->v_free[first + i];
  }
}

// Of the energy along the way from v to end.
static double slope_at(const Rows* w, double x) {
  double sum = w->at0 + x * w->rate;
  for (int i = 0; i < w->nbent; i++) {
    const Bent* r = &w->bent[i];
    bool inside;
    sum -= r->step * ab_patch_row_excess(r->row, r->begin + x * r->step, &inside);
  }
  return sum;
}

// The rows that are not on the branch assumed all along the way.
static void find_bent(const abPatchIsland* island, Rows* w) {
  w->nbent = 0;
  for (int i = 0; i < island->nrow; i++) {
    const abPatchRow* r = &island->row[i];
    double begin = ab_patch_row_speed(r, w->v), end = ab_patch_row_speed(r, w->end);
    if (ab_patch_row_branch(r->row, begin) == r->row->assumed &&
        ab_patch_row_branch(r->row, end) == r->row->assumed)
      continue;
    w->bent[w->nbent++] = (Bent){r->row, begin, end - begin};
  }
}

// v goes towards `end` to where the energy is least.
static void go_towards(abPatchIsland* island, Rows* w) {
  int n = island->ndof;
  for (int i = 0; i < n; i++) island->direction[i] = w->v[i] - island->v_free[i];
  ab_patch_apply_inertia(island, island->direction, w->momentum);
  for (int i = 0; i < n; i++) island->direction[i] = w->end[i] - w->v[i];
  ab_patch_apply_inertia(island, island->direction, w->rise);
  w->at0 = w->rate = 0;
  for (int i = 0; i < n; i++) {
    w->at0 += island->direction[i] * (w->momentum[i] - w->load[i]);
    w->rate += island->direction[i] * w->rise[i];
  }
  find_bent(island, w);
  double low = 0, high = 1, flow = slope_at(w, 0), fhigh = slope_at(w, 1);
  bool halve = false;
  for (int i = 0; i < AB_PATCH_ROW_CUTS && fhigh > 0 && high - low > 1e-13 * high; i++) {
    double width = high - low;
    double x = halve ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_at(w, x);
    if (f > 0)
      high = x, fhigh = f;
    else
      low = x, flow = f;
    halve = high - low > 0.5 * width;
  }
  for (int i = 0; i < n; i++) w->v[i] += high * (w->end[i] - w->v[i]);
}

// The branches of now are those assumed from here on.
static void adopt(abPatchIsland* island, Rows* w) {
  for (int i = 0; i < island->nrow; i++) {
    w->row[i] = *island->row[i].row;
    w->row[i].assumed = w->now[i];
    island->row[i].row = &w->row[i];
  }
  for (int b = 0; b < island->nblock; b++) {
    if (!w->K[b]) continue;
    int first = island->offset[b], n = island->size[b];
    island->inertia[b] = w->K[b], island->factor[b] = w->L[b];
    branch_solve(n, w->L[b], w->kick + first);
    for (int i = 0; i < n; i++) island->v_free[first + i] += w->kick[first + i];
  }
  island->turned = true;
  ab_patch_momenta(island);
}

abStatus ab_patch_turn_rows(abPatchIsland* island) {
  if (island->nrow == 0) return AB_OK;
  Rows w = {.now = AB_TAKE(island->scratch, abBranch, island->nrow)};
  if (!w.now) return AB_ERROR_MEMORY;
  for (int i = 0; i < island->nrow; i++) w.now[i] = island->row[i].row->assumed;
  if (all_on_branch(island, island->v, w.now)) return AB_OK;
  if (!take_rows(island, &w)) return AB_ERROR_MEMORY;
  begin(island, &w);
  find_branches(island, w.v, w.now);
  for (int round = 0;; round++) {
    factor(island, &w);
    find_end(island, &w);
    if (all_on_branch(island, w.end, w.now) || round >= AB_PATCH_ROW_ROUNDS) break;
    if (round >= AB_PATCH_ROW_BOLD) go_towards(island, &w);
    find_branches(island, round >= AB_PATCH_ROW_BOLD ? w.v : w.end, w.now);
  }
  adopt(island, &w);
  return AB_OK;
}
