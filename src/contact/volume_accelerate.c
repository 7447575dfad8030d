#include "contact/volume_accelerate.h"

#include <math.h>
#include <string.h>

#include "solve/dense.h"

bool ab_accelerate_begin(abAccelerate* a, int nresidual, int nstate, abArena* arena) {
  *a = (abAccelerate){.nresidual = nresidual, .nstate = nstate};
  a->r = AB_TAKE(arena, double, nresidual);
  a->g = AB_TAKE(arena, double, nstate);
  bool enough = a->r && a->g;
  for (int j = 0; j < AB_ACCELERATE_DEPTH; j++) {
    a->dr[j] = AB_TAKE(arena, double, nresidual);
    a->dg[j] = AB_TAKE(arena, double, nstate);
    enough = enough && a->dr[j] && a->dg[j];
  }
  return enough;
}

void ab_accelerate_forget(abAccelerate* a) { a->count = 0, a->started = false; }

static void keep(abAccelerate* a, const double* r, const double* g) {
  if (a->started) {
    a->newest = (a->newest + 1) % AB_ACCELERATE_DEPTH;
    double *dr = a->dr[a->newest], *dg = a->dg[a->newest];
    for (int i = 0; i < a->nresidual; i++) dr[i] = r[i] - a->r[i];
    for (int i = 0; i < a->nstate; i++) dg[i] = g[i] - a->g[i];
    if (a->count < AB_ACCELERATE_DEPTH) a->count++;
  }
  memcpy(a->r, r, (size_t)a->nresidual * sizeof(double));
  memcpy(a->g, g, (size_t)a->nstate * sizeof(double));
  a->started = true;
}

// The k-th difference, the newest first.
static int place(const abAccelerate* a, int k) {
  return (a->newest - k + AB_ACCELERATE_DEPTH) % AB_ACCELERATE_DEPTH;
}

// Minimises |r - sum_k weight_k dr_k| by the normal equations of the normalised differences. Older
// ones that depend on newer ones, as far as half the digits can tell, are left out.
static int find_weights(const abAccelerate* a, const double* r, double* weight) {
  int m = a->count;
  double gram[AB_ACCELERATE_DEPTH * AB_ACCELERATE_DEPTH], size[AB_ACCELERATE_DEPTH];
  for (int k = 0; k < m; k++) {
    const double* dr = a->dr[place(a, k)];
    size[k] = sqrt(dense_dot(dr, dr, a->nresidual));
    if (!(size[k] > 0)) m = k;
  }
  for (int k = 0; k < m; k++) {
    const double* dr = a->dr[place(a, k)];
    for (int j = 0; j <= k; j++)
      gram[k * m + j] = dense_dot(dr, a->dr[place(a, j)], a->nresidual) / (size[k] * size[j]);
    weight[k] = dense_dot(dr, r, a->nresidual) / size[k];
  }
  int n = ab_dense_cholesky(m, gram, 1e-8);
  for (int k = 1; n < m && k < n; k++)  // close the rows up
    memmove(gram + k * n, gram + k * m, (size_t)(k + 1) * sizeof(double));
  ab_dense_cholesky_solve(n, gram, weight);
  for (int k = 0; k < n; k++) weight[k] /= size[k];
  return n;
}

void ab_accelerate_step(abAccelerate* a, const double* r, double* g) {
  double weight[AB_ACCELERATE_DEPTH];
  keep(a, r, g);
  int n = find_weights(a, r, weight);
  for (int k = 0; k < n; k++) dense_axpy(-weight[k], a->dg[place(a, k)], g, a->nstate);
}
