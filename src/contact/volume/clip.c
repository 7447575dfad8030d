// The local problems of Zhang, Wakisaka & Sugihara as printed, for comparison (volume-pgs, variants
// 1 and 2): the full step to v*, brought back into the friction cone.
// Tests: test_volume_models, test_volume_scales.
#include <abut/solve.h>
#include <string.h>

#include "contact/volume/volume.h"

// Full step to v*: f = Phi^-1 (v* - v0), v* = k Q^-1 (V n, 0): the affine thickness as a velocity
// field.
static bool full_step(const abVolumeContact* c, double k, const double v0[6], double f[6]) {
  const abPatch* p = &c->pair->patch;
  double A[36];
  int pivot[6];
  memcpy(A, c->phi, sizeof A);
  const double target[6] = {0, 0, k * p->h0, k * p->hy * c->size, -k * p->hx * c->size, 0};
  for (int i = 0; i < 6; i++) f[i] = target[i] - v0[i];
  return dense_lu_solve(6, A, f, pivot);
}

static void pyramid(const abVolumeContact* c, double* A) {
  for (int p = 0; p < c->option->npyramid; p++)
    for (int l = 0; l < c->nvert; l++, A += 6)
      ab_volume_generator(c->vert[l], c->mu_static, c->option->direction[p], A);
}

static void combine(const double* A, int n, const double* eps, double f[6]) {
  memset(f, 0, 6 * sizeof(double));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 6; i++) f[i] += A[6 * j + i] * eps[j];
}

// eps = A^# f with negative entries set to zero, A^# = A^T (A A^T)^-1.
static void clip(const double* A, int n, double* eps, double f[6]) {
  double AAt[36] = {0};
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) AAt[6 * i + k] += A[6 * j + i] * A[6 * j + k];
  double trace = 0;
  for (int i = 0; i < 6; i++) trace += AAt[7 * i];
  for (int i = 0; i < 6; i++) AAt[7 * i] += AB_VOLUME_RANK * trace;
  int pivot[6];
  if (!dense_lu_solve(6, AAt, f, pivot)) memset(f, 0, 6 * sizeof(double));
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < 6; i++) s += A[6 * j + i] * f[i];
    eps[j] = s > 0 ? s : 0;
  }
  combine(A, n, eps, f);
}

// min (f - A eps)^T Phi (f - A eps): least squares after multiplying by L^T, Phi = L L^T.
static bool nearest_in_phi(const abVolumeContact* c, const double* A, int n, double* eps,
                           double f[6], abArena* scratch) {
  double L[36], b[6];
  memcpy(L, c->phi, sizeof L);
  double trace = 0;
  for (int i = 0; i < 6; i++) trace += L[7 * i];
  dense_cholesky(6, L, 1e-14 * trace);
  double* LA = AB_TAKE(scratch, double, 6 * n);
  void* workspace = ab_arena_take(scratch, ab_nnls_workspace(6, n));
  if (!LA || !workspace) return false;
  for (int j = 0; j <= n; j++) {
    const double* x = j < n ? A + 6 * j : f;
    double* y = j < n ? LA + 6 * j : b;
    for (int i = 0; i < 6; i++) {
      y[i] = 0;
      for (int k = i; k < 6; k++) y[i] += L[6 * k + i] * x[k];
    }
  }
  abNnlsDef def = {.nrow = 6, .ncol = n, .a = LA, .b = b};
  if (ab_nnls(&def, eps, workspace).status != AB_SOLVE_OK) return false;
  combine(A, n, eps, f);
  return true;
}

bool ab_volume_printed(const abVolumeContact* c, bool clipped, const double v0[6], double f[6]) {
  abArena* scratch = c->option->scratch;
  abArenaMark mark = ab_arena_mark(scratch);
  int n = c->nvert * c->option->npyramid;
  double* A = AB_TAKE(scratch, double, 6 * n);
  double* eps = AB_TAKE(scratch, double, n);
  bool solved = A && eps && full_step(c, c->option->k, v0, f);
  if (solved) {
    pyramid(c, A);
    if (clipped)
      clip(A, n, eps, f);
    else
      solved = nearest_in_phi(c, A, n, eps, f, scratch);
  }
  ab_arena_release(scratch, mark);
  return solved;
}
