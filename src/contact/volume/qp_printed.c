// volume-qp as Wakisaka & Sugihara 2017 print it, in impulse units: the regularised least-squares
// problem (25), then for every contact outside its friction pyramid (37) the linear program (42),
// (43). Kept for comparison: the program has no solution when a body slides fast or tips, and
// lambda fits one mass and one area only.
// Tests: test_volume_models, test_volume_scales.
#include <abut/solve.h>
#include <string.h>

#include "base/arena.h"
#include "contact/volume/qp.h"
#include "solve/dense.h"

// (25): A f = -l with A = A_s Q A_s + lambda 1, l = A_s (Q l_s - k C^T n), all contacts stacked;
// unscaled world 6-vectors.
static bool candidate(abDirect* d, double lambda, double compensation, double* f) {
  const abContactProblem* problem = d->problem;
  abArena* scratch = problem->scratch;
  int N = 6 * d->n;
  double* As = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  double* A = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  double* r = AB_TAKE(scratch, double, N);
  double* dv = AB_TAKE(scratch, double, d->ndof);
  int* pivot = AB_TAKE(scratch, int, N);
  if (!As || !A || !r || !dv || !pivot) return false;
  for (int j = 0; j < N; j++) {
    double unit[6] = {0}, column[6];
    unit[j % 6] = 1;
    memset(dv, 0, sizeof(double) * (size_t)d->ndof);
    const abPair* pj = &problem->pair[j / 6];
    ab_pair_apply(problem, pj, pj->patch.center, wrench_from_array(unit), dv);
    for (int i = 0; i < d->n; i++) {
      const abPair* pi = &problem->pair[i];
      twist_to_array(ab_pair_twist(problem, pi, pi->patch.center, dv), column);
      for (int a = 0; a < 6; a++) As[(ptrdiff_t)(6 * i + a) * N + j] = column[a];
    }
  }
  double* QAs = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  if (!QAs) return false;
  for (int i = 0; i < d->n; i++) {
    const abPair* pair = &problem->pair[i];
    abMat6 Q;
    ab_patch_Q(&pair->patch, &Q);
    double ls[6], target[6];
    twist_to_array(ab_pair_twist(problem, pair, pair->patch.center, problem->v_free), ls);
    abVec3 kVn = v3_scale(0.5 * compensation * pair->patch.volume, pair->patch.normal);
    wrench_to_array((abWrench){kVn, v3_zero()}, target);
    for (int a = 0; a < 6; a++) {
      r[6 * i + a] = target[a];
      for (int b = 0; b < 6; b++) r[6 * i + a] -= Q.m[a][b] * ls[b];
      for (int j = 0; j < N; j++) {
        double s = 0;
        for (int b = 0; b < 6; b++) s += Q.m[a][b] * As[(ptrdiff_t)(6 * i + b) * N + j];
        QAs[(ptrdiff_t)(6 * i + a) * N + j] = s;
      }
    }
  }
  for (int i = 0; i < N; i++) {
    f[i] = 0;
    for (int j = 0; j < N; j++) {
      f[i] += As[(ptrdiff_t)j * N + i] * r[j];
      double s = (i == j) * lambda;
      for (int k = 0; k < N; k++) s += As[(ptrdiff_t)k * N + i] * QAs[(ptrdiff_t)k * N + j];
      A[(ptrdiff_t)i * N + j] = s;
    }
  }
  return dense_lu_solve(N, A, f, pivot);
}

// (42), (43): the largest kinetic friction beside the sticking normal force and tilting moments, as
// weights of the vertices. Returns false if no weights give that normal part.
static bool kinetic(const abDirect* d, int i, double f[6]) {
  const abVolumeContact* c = &d->contact[i];
  int n = c->nvert;
  double A[3 * AB_VOLUME_MAX_VERTEX], g[6 * AB_VOLUME_MAX_VERTEX], cost[AB_VOLUME_MAX_VERTEX];
  double eps[AB_VOLUME_MAX_VERTEX];
  const double b[3] = {f[2], f[3], f[4]};
  double v[6];
  ab_direct_twist(d, i, d->v_free, v);
  for (int l = 0; l < n; l++) {
    // A vertex that does not move yet takes the direction it would without contact.
    abVec2 u = ab_volume_sliding_velocity(d->now[i], c->vert[l]);
    if (v2_norm(u) == 0) u = ab_volume_sliding_velocity(v, c->vert[l]);
    double speed = v2_norm(u);
    abVec2 e = speed > 0 ? v2_scale(-1 / speed, u) : v2(0, 0);
    ab_volume_generator(c->vert[l], c->mu_kinetic, e, g + 6 * l);
  }
  double small = 1e-6 * f[2];
  for (int l = 0; l < n; l++) {
    const int friction[3] = {0, 1, 5};
    cost[l] = 0;
    for (int a = 0; a < 3; a++) {
      A[3 * l + a] = g[6 * l + 2 + a];
      double x = f[friction[a]];
      cost[l] -= g[6 * l + friction[a]] * x / (x * x + small * small);
    }
  }
  abArenaMark mark = ab_arena_mark(d->problem->scratch);
  void* workspace = ab_arena_take(d->problem->scratch, ab_lp_workspace(3, n));
  abLpDef def = {.nrow = 3, .ncol = n, .a = A, .b = b, .c = cost};
  bool solved = workspace && ab_lp(&def, eps, NULL, workspace).status == AB_SOLVE_OK;
  ab_arena_release(d->problem->scratch, mark);
  if (!solved) return false;
  memset(f, 0, 6 * sizeof(double));
  for (int l = 0; l < n; l++)
    for (int a = 0; a < 6; a++) f[a] += g[6 * l + a] * eps[l];
  return true;
}

bool ab_direct_solve_printed(abDirect* d, double lambda, double k) {
  double* f = AB_TAKE(d->problem->scratch, double, 6 * d->n);
  if (!f || !candidate(d, lambda, k, f)) return false;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active) continue;
    ab_volume_wrench_in(c, wrench_from_array(f + 6 * (ptrdiff_t)i), c->f);
    if (ab_volume_in_cone(c, c->f)) continue;
    c->mode = AB_VOLUME_SLIDE;
    if (kinetic(d, i, c->f)) continue;
    d->nregularised++;
    double t = sqrt(c->f[0] * c->f[0] + c->f[1] * c->f[1] + c->f[5] * c->f[5]);
    double limit = c->pair->surface.mu_kinetic * fmax(0, c->f[2]);
    double s = t > limit ? limit / t : 1;
    c->f[0] *= s, c->f[1] *= s, c->f[5] *= s;
  }
  memcpy(d->u, d->v_free, sizeof(double) * (size_t)d->ndof);
  for (int i = 0; i < d->n; i++)
    if (d->contact[i].active)
      ab_pair_apply(d->problem, d->contact[i].pair, d->contact[i].pair->patch.center,
                    ab_volume_wrench_out(&d->contact[i], d->contact[i].f), d->u);
  return true;
}
