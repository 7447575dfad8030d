// When Newton's method on an island (solve.c) does not end.
//
// Loads that follow the pressure inside the linear problem need not settle: where friction and
// pressure are strongly coupled, by joints, wedges or large coefficients, friction may be left
// without the pressure that allows it, at any size. There is a slower way. With loads l given the
// problem is convex, and Newton's method with the line search finds its solution from anywhere; its
// pressures N(l) are to be the loads. That is a fixed point, found by Anderson's acceleration: the
// next loads are the combination of the last few l whose N(l) - l vanishes to first order, moved on
// by what is left of it. The best answer counts.
// Tests: test_patch_newton.
#include <math.h>
#include <string.h>

#include "contact/patch/newton.h"
#include "math/spatial.h"

static double descend(abPatchIsland* island, abPatchWork* w, double enough) {
  for (int n = 0;; n++) {
    ab_patch_evaluate_all(island);
    island->residual = ab_patch_residual(island);
    if (island->residual <= enough || n >= AB_PATCH_PASS_STEPS || !isfinite(island->residual))
      break;
    island->iterations++;
    if (!ab_patch_find_direction(island, w)) break;
    ab_patch_take_step(island, ab_patch_line_search(island, w));
  }
  return island->residual;
}

typedef struct Kept {
  double* v;
  abPatchContact* contact;
  double score;
} Kept;

static void keep_answer(const abPatchIsland* island, double score, Kept* kept) {
  memcpy(kept->v, island->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) kept->contact[i] = *island->contact[i];
  kept->score = score;
}

static void take_answer(abPatchIsland* island, const Kept* kept) {
  memcpy(island->v, kept->v, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) *island->contact[i] = kept->contact[i];
}

// The loads and what they lack, of the last passes; per contact, in units of its own size.
typedef struct Passes {
  int n, at;  // how many are known, where the next goes
  double *load[AB_PATCH_PASS_DEPTH], *lack[AB_PATCH_PASS_DEPTH];
  double* next;
} Passes;

static bool take_passes(abPatchIsland* island, Passes* p) {
  *p = (Passes){.next = AB_TAKE(island->scratch, double, island->ncontact)};
  bool all = p->next != NULL;
  for (int k = 0; k < AB_PATCH_PASS_DEPTH; k++) {
    p->load[k] = AB_TAKE(island->scratch, double, island->ncontact);
    p->lack[k] = AB_TAKE(island->scratch, double, island->ncontact);
    all = all && p->load[k] && p->lack[k];
  }
  return all;
}

static double size_of_load(const abPatchContact* c) {
  return fmax(fmax(c->impulse[2], c->law.load), 1e-3 * c->mass * c->unit);
}

// Weights w_k, 1 in all, for which |sum w_k lack_k| is least, as w_last = 1 - sum of the others:
// the normal equations in the differences, with as much on their diagonal as keeps them solvable.
static void find_weights(const abPatchIsland* island, const Passes* p, int last, double* weight) {
  int m = 0, which[AB_PATCH_PASS_DEPTH], pivot[AB_PATCH_PASS_DEPTH];
  double A[AB_PATCH_PASS_DEPTH * AB_PATCH_PASS_DEPTH], b[AB_PATCH_PASS_DEPTH];
  for (int k = 0; k < p->n; k++)
    if (k != last) which[m++] = k;
  for (int i = 0; i < m; i++) {
    b[i] = 0;
    for (int j = 0; j < m; j++) A[i * m + j] = 0;
    for (int c = 0; c < island->ncontact; c++) {
      double per = 1 / size_of_load(island->contact[c]), at = p->lack[last][c];
      double u = per * (p->lack[which[i]][c] - at);
      b[i] -= u * per * at;
      for (int j = 0; j < m; j++) A[i * m + j] += u * per * (p->lack[which[j]][c] - at);
    }
  }
  for (int i = 0; i < m; i++) A[i * m + i] *= 1 + 1e-10;
  for (int k = 0; k < p->n; k++) weight[k] = k == last;
  if (m == 0 || !dense_lu_solve(m, A, b, pivot)) return;
  for (int i = 0; i < m; i++) weight[which[i]] = b[i], weight[last] -= b[i];
}

// Notes the loads of this pass and what they lack, and sets those of the next.
static void next_loads(abPatchIsland* island, Passes* p, double share) {
  int last = p->at;
  double weight[AB_PATCH_PASS_DEPTH];
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    p->load[last][i] = c->law.load;
    p->lack[last][i] =
        c->law.mu > 0 ? fmax(c->impulse[2], ab_patch_least_load(c)) - c->law.load : 0;
  }
  p->at = (last + 1) % AB_PATCH_PASS_DEPTH;
  if (p->n < AB_PATCH_PASS_DEPTH) p->n++;
  find_weights(island, p, last, weight);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double load = 0, N = fmax(c->impulse[2], ab_patch_least_load(c));
    for (int k = 0; k < p->n; k++) load += weight[k] * (p->load[k][i] + share * p->lack[k][i]);
    // not far beyond what was found
    double low = 0.1 * fmin(N, c->law.load), high = 10 * fmax(N, c->law.load);
    ab_patch_set_load(&c->law, fmin(fmax(load, low), high));
  }
}

double ab_patch_fall_back(abPatchIsland* island, abPatchWork* w, double enough, double score) {
  Kept kept = {.v = AB_TAKE(island->scratch, double, island->ndof),
               .contact = AB_TAKE(island->scratch, abPatchContact, island->ncontact)};
  Passes passes;
  if (!take_passes(island, &passes) || !kept.v || !kept.contact) return score;
  keep_answer(island, score, &kept);
  double share = 1;
  for (int n = 0, since = 0; n < AB_PATCH_MOST_PASSES && !(kept.score <= 10 * enough); n++) {
    if (++since > AB_PATCH_PASS_PATIENCE) since = 0, share *= 0.5, passes.n = passes.at = 0;
    if (n > 0) next_loads(island, &passes, share);
    double left = descend(island, w, enough), now = ab_patch_reported(left, ab_patch_gap(island));
    if (!(now >= 0.5 * kept.score)) since = 0;
    if (!(now >= kept.score)) keep_answer(island, now, &kept);
  }
  take_answer(island, &kept);
  return kept.score;
}
