// Time per call of the small solvers on the shapes a contact solve asks for: friction cones of 4 to
// 8 corners with 8 pyramid edges (6 rows, 32 to 64 columns) and the sliding problem at the corners.
// Prints the best of several rounds; every round solves the same mixed set of cases.
#define _POSIX_C_SOURCE 199309L
#include <abut/solve.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES = 64, ROUNDS = 30, REPEATS = 20 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(void) { return 2.0 * rand() / RAND_MAX - 1; }

typedef struct Cone {
  int n, nvertex;
  double a[6 * 64], b[6], m[64], q[8], x[64], warm[64];
} Cone;

static void fill(Cone* c, int nvertex, int inside) {
  c->nvertex = nvertex, c->n = 8 * nvertex;
  memset(c->b, 0, sizeof c->b);
  for (int k = 0; k < c->n; k++) {
    double phi = 6.283185307179586 * (k / 8) / nvertex, th = 6.283185307179586 * (k % 8) / 8;
    double x = cos(phi), y = sin(phi), f = 0.5 * cos(th), g = 0.5 * sin(th);
    double column[6] = {f, g, 1, y, -x, x * g - y * f}, load = uniform() + 1;
    memcpy(c->a + 6 * k, column, sizeof column);
    for (int i = 0; i < 6; i++) c->b[i] += load * column[i];
  }
  if (!inside)
    for (int i = 0; i < 6; i++) c->b[i] += 0.7 * c->b[2] * uniform();
  for (int i = 0; i < nvertex; i++) {
    c->q[i] = uniform() - 0.7;
    for (int j = 0; j < nvertex; j++) {
      const double *u = c->a + 48 * i, *v = c->a + 48 * j;
      c->m[i * nvertex + j] = u[2] * v[2] + 3 * (u[3] * v[3] + u[4] * v[4]) + (i == j ? 1e-9 : 0);
    }
  }
}

typedef int (*Solve)(Cone* c, void* workspace);

static int cone_lp(Cone* c, void* workspace) {
  abLpDef def = {.nrow = 6, .ncol = c->n, .a = c->a, .b = c->b};
  return ab_lp_feasible(&def, c->x, NULL, workspace).iterations;
}
static int cone_nnls(Cone* c, void* workspace) {
  abNnlsDef def = {.nrow = 6, .ncol = c->n, .a = c->a, .b = c->b};
  return ab_nnls(&def, c->x, workspace).iterations;
}
static int cone_nnls_warm(Cone* c, void* workspace) {
  abNnlsDef def = {.nrow = 6, .ncol = c->n, .a = c->a, .b = c->b, .warm = true};
  return ab_nnls(&def, c->warm, workspace).iterations;
}
static int sliding_lcp(Cone* c, void* workspace) {
  abLcpDef def = {.n = c->nvertex, .m = c->m, .q = c->q};
  return ab_lcp(&def, c->x, NULL, workspace).iterations;
}

static void measure(const char* name, Solve solve, Cone* cone, void* workspace) {
  double best = INFINITY;
  long steps = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (int k = 0; k < CASES * REPEATS; k++) steps += solve(cone + k % CASES, workspace);
    best = fmin(best, (seconds() - start) / (CASES * REPEATS));
  }
  printf("%-28s %8.3f us %8.2f iterations\n", name, 1e6 * best,
         (double)steps / ((double)ROUNDS * CASES * REPEATS));
}

// A linear complementarity problem through the general interface: time per Newton step.
typedef struct Linear {
  int n;
  double m[24 * 24], q[24], unit[24], lower[24];
} Linear;

static bool linear(void* context, const double* x, double* f, double* jacobian) {
  const Linear* c = (const Linear*)context;
  for (int i = 0; i < c->n; i++) {
    f[i] = c->q[i];
    for (int j = 0; j < c->n; j++) f[i] += c->m[i * c->n + j] * x[j];
  }
  if (jacobian) memcpy(jacobian, c->m, (size_t)(c->n * c->n) * sizeof(double));
  return true;
}

static void measure_mcp(int n, void* workspace) {
  static Linear c;
  double best = INFINITY;
  int steps = 0;
  c.n = n;
  for (int i = 0; i < n; i++) {
    c.q[i] = uniform(), c.unit[i] = 1, c.lower[i] = 0;
    for (int j = 0; j < n; j++) c.m[i * n + j] = uniform() + (i == j ? n : 0);
  }
  abMcpDef def = {.n = n, .evaluate = linear, .context = &c, .lower = c.lower};
  def.x_scale = def.f_scale = c.unit;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds(), x[24];
    for (int k = 0; k < 200; k++) {
      memset(x, 0, sizeof x);
      steps = ab_mcp(&def, x, workspace).iterations;
    }
    best = fmin(best, (seconds() - start) / 200);
  }
  printf("mcp, %2d unknowns             %8.3f us %8d iterations, %.3f us each\n", n, 1e6 * best,
         steps, 1e6 * best / steps);
}

// Loads of least norm that carry a given wrench: 6 equalities, the loads >= 0.
static void measure_qp(const Cone* cone, int n, void* workspace) {
  static double h[32 * 32], g[32], a[38 * 32], b[38], x[32];
  double best = INFINITY;
  memset(a, 0, sizeof a), memset(b, 0, sizeof b);
  for (int i = 0; i < n; i++) {
    h[i * n + i] = 1;
    for (int k = 0; k < 6; k++) a[k * n + i] = cone->a[6 * i + k];
    a[(6 + i) * n + i] = 1;
  }
  memcpy(b, cone->b, sizeof cone->b);
  abQpDef def = {.nvar = n, .nrow = 6 + n, .nequal = 6, .h = h, .g = g, .a = a, .b = b};
  abSolveResult result = {0};
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (int k = 0; k < 20; k++) result = ab_qp(&def, x, NULL, workspace);
    best = fmin(best, (seconds() - start) / 20);
  }
  printf("qp, %d loads, 6 equalities    %8.3f us %8d iterations, residual %.1e\n", n, 1e6 * best,
         result.iterations, result.residual);
}

int main(void) {
  static Cone cone[CASES];
  void* workspace = malloc(1 << 20);
  if (!workspace) return 1;
  for (int nvertex = 4; nvertex <= 8; nvertex += 4)
    for (int inside = 0; inside < 2; inside++) {
      for (int k = 0; k < CASES; k++) fill(cone + k, nvertex, inside);
      printf("%d corners, wrench %s the cone\n", nvertex, inside ? "inside" : "mostly outside");
      measure("  phase one, 6 rows", cone_lp, cone, workspace);
      measure("  nnls, 6 rows", cone_nnls, cone, workspace);
      for (int k = 0; k < CASES; k++) memcpy(cone[k].warm, cone[k].x, sizeof cone[k].x);
      measure("  nnls, warm", cone_nnls_warm, cone, workspace);
      measure("  sliding lcp", sliding_lcp, cone, workspace);
    }
  for (int n = 6; n <= 24; n += 6) measure_mcp(n, workspace);
  fill(cone, 4, 1);
  measure_qp(cone, 32, workspace);
  free(workspace);
  return 0;
}
