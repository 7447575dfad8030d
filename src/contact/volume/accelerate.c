// Tests: test_volume_join.
#include "contact/volume/accelerate.h"

#include <math.h>
#include <string.h>

#include "solve/dense.h"

bool ab_accelerate_begin(abAccelerate* a, int nresidual, int nstate, abArena* arena) {
  *a = (abAccelerate){.nresidual = nresidual, .nstate = nstate};
  a->r = AB_TAKE(arena, double, nresidual);
  a->g = AB_TAKE(arena, double, nstate);
  bool enough = a->r && a->g;
  for (int j = 0; j < AB_VOLUME_HISTORY; j++) {
    a->dr[j] = AB_TAKE(arena, double, nresidual);
    a->dg[j] = AB_TAKE(arena, double, nstate);
    a->q[j] = AB_TAKE(arena, double, nresidual);
    enough = enough && a->dr[j] && a->dg[j] && a->q[j];
  }
  return enough;
}

void ab_accelerate_forget(abAccelerate* a) { a->count = 0, a->started = false; }

static void keep(abAccelerate* a, const double* r, const double* g) {
  if (a->started) {
    a->newest = (a->newest + 1) % AB_VOLUME_HISTORY;
    double *dr = a->dr[a->newest], *dg = a->dg[a->newest];
    for (int i = 0; i < a->nresidual; i++) dr[i] = r[i] - a->r[i];
    for (int i = 0; i < a->nstate; i++) dg[i] = g[i] - a->g[i];
    if (a->count < AB_VOLUME_HISTORY) a->count++;
  }
  memcpy(a->r, r, (size_t)a->nresidual * sizeof(double));
  memcpy(a->g, g, (size_t)a->nstate * sizeof(double));
  a->started = true;
}

// The k-th difference, the newest first.
static int place(const abAccelerate* a, int k) {
  return (a->newest - k + AB_VOLUME_HISTORY) % AB_VOLUME_HISTORY;
}

// Minimises |r - sum_k weight_k dr_k| over the differences, the newest first, by orthogonalising
// them (Gram and Schmidt, twice: the differences of a slow iteration are nearly parallel). Older
// ones that depend on newer ones, as far as rounding can tell, are left out.
static int find_weights(const abAccelerate* a, const double* r, double* weight) {
  enum { M = AB_VOLUME_HISTORY };
  double R[M][M];
  int m = 0, n = a->nresidual;
  for (; m < a->count; m++) {
    double* q = a->q[m];
    memcpy(q, a->dr[place(a, m)], (size_t)n * sizeof(double));
    double whole = sqrt(dense_dot(q, q, n)), rest = whole;
    memset(R[m], 0, sizeof R[m]);
    for (int pass = 0; pass < 2; pass++)
      for (int j = 0; j < m; j++) {
        double part = dense_dot(a->q[j], q, n);
        R[m][j] += part;
        dense_axpy(-part, a->q[j], q, n);
      }
    rest = sqrt(dense_dot(q, q, n));
    if (!(rest > 1e-10 * whole)) break;
    R[m][m] = rest;
    for (int i = 0; i < n; i++) q[i] /= rest;
  }
  for (int k = m - 1; k >= 0; k--) {
    weight[k] = dense_dot(a->q[k], r, n);
    for (int j = k + 1; j < m; j++) weight[k] -= R[j][k] * weight[j];
    weight[k] /= R[k][k];
  }
  return m;
}

void ab_accelerate_step(abAccelerate* a, const double* r, double* g) {
  double weight[AB_VOLUME_HISTORY];
  keep(a, r, g);
  int n = find_weights(a, r, weight);
  for (int k = 0; k < n; k++) dense_axpy(-weight[k], a->dg[place(a, k)], g, a->nstate);
}
