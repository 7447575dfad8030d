// Block Gauss-Seidel on one island: contact by contact, each solved for its six impulses while the
// others wait.
//
// With V0 the relative twist without the contact's own impulse and Phi its 6 x 6 mobility, the
// local problem is
//
//   minimise 1/2 (V - V0)^T Phi^-1 (V - V0) + energy(V),      impulse = Phi^-1 (V - V0),
//
// convex in six unknowns; a few Newton steps with the exact derivative of the law. Velocities are
// kept equal to v_free + M^-1 sum J^T impulse throughout, so that momentum is right wherever the
// sweeps stop, and what is left is a mismatch between velocity and law. It is measured as a
// velocity: the largest change of a relative twist that a contact asked for in the last sweep. A
// contact whose mismatch is below the tolerance is passed over: at rest a sweep is one evaluation
// of each law.
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/patch.h"
#include "math/spatial.h"

typedef struct Local {
  bool ready;
  double inverse[36];  // Phi^-1
  double norm[2];      // mobility along the normal, and the mean of the two tangential ones
} Local;

// Columns of Phi for one free body: see mobility() in patch_setup.c for one entry.
static void add_mobility(const abResponse* r, const abPatchContact* c, int k, double* phi) {
  const abPatchSide* s = &c->side[k];
  abVec3 a[6], b[6];
  for (int i = 0; i < 3; i++) {
    a[i] = v3_cross(s->r, c->axis[i]);
    a[3 + i] = c->axis[i];
  }
  for (int i = 0; i < 6; i++) b[i] = m3_apply(&r->inv_inertia[s->body], a[i]);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      double v = v3_dot(a[i], b[j]);
      if (i == j && i < 3) v += r->inv_mass[s->body];
      phi[6 * i + j] += v;
      if (i != j) phi[6 * j + i] += v;
    }
}

// The same for a body of a joint tree, and the coupling of two bodies of one tree.
static void add_tree_mobility(const abResponse* r, const abPatchContact* c, int p, int q,
                              double* phi) {
  abMat6 block;
  ab_response_block(r, c->side[p].body, c->side[q].body, &block);
  double X[2][6][6];
  const int which[2] = {p, q};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      abVec3 e = v3_scale(which[k] == 0 ? 1 : -1, c->axis[i]), m = v3_cross(c->side[which[k]].r, e);
      double lin[6] = {e.x, e.y, e.z, m.x, m.y, m.z}, ang[6] = {0, 0, 0, e.x, e.y, e.z};
      memcpy(X[k][i], lin, sizeof lin);
      memcpy(X[k][3 + i], ang, sizeof ang);
    }
  for (int j = 0; j < 6; j++) {
    double y[6];
    m6_apply(&block, X[1][j], y);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) phi[6 * i + j] += X[0][i][k] * y[k];
  }
}

// Cholesky factor of a 6 x 6 matrix, pivots guarded; then the inverse if asked for.
static int factor6(double* A) {
  double most = 0;
  for (int i = 0; i < 6; i++) most = fmax(most, A[7 * i]);
  return dense_cholesky(6, A, DBL_EPSILON * most);
}

static int prepare(const abPatchIsland* island, const abPatchContact* c, Local* local) {
  const abResponse* r = island->system->problem->response;
  double phi[36] = {0};
  for (int k = 0; k < 2; k++) {
    if (c->side[k].block < 0) continue;
    if (c->side[k].J)
      add_tree_mobility(r, c, k, k, phi);
    else
      add_mobility(r, c, k, phi);
  }
  if (c->side[0].J && c->side[0].block == c->side[1].block) {
    add_tree_mobility(r, c, 0, 1, phi);
    add_tree_mobility(r, c, 1, 0, phi);
  }
  local->norm[0] = phi[14];
  local->norm[1] = 0.5 * (phi[0] + phi[7]);
  int nreplaced = factor6(phi);
  for (int j = 0; j < 6; j++) {
    double e[6] = {0};
    e[j] = 1;
    dense_cholesky_solve(6, phi, e);
    for (int i = 0; i < 6; i++) local->inverse[6 * i + j] = e[i];
  }
  local->ready = true;
  return nreplaced;
}

static void apply6(const double* A, const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) {
    double s = 0;
    for (int j = 0; j < 6; j++) s += A[6 * i + j] * x[j];
    y[i] = s;
  }
}

// v += M^-1 J^T df for the two movers of a contact
static void push(const abPatchIsland* island, const abPatchContact* c, const double df[6]) {
  const abResponse* r = island->system->problem->response;
  abVec3 force = v3_zero(), torque = v3_zero();
  for (int k = 0; k < 3; k++) {
    force = v3_axpy(df[k], c->axis[k], force);
    torque = v3_axpy(df[3 + k], c->axis[k], torque);
  }
  for (int k = 0; k < 2; k++) {
    const abPatchSide* s = &c->side[k];
    if (s->block < 0) continue;
    double sign = k == 0 ? 1 : -1;
    double* v = island->v + island->offset[s->block];
    abVec3 t = v3_scale(sign, v3_add(torque, v3_cross(s->r, force)));
    abVec3 f = v3_scale(sign, force);
    if (!s->J) {
      double m = r->inv_mass[s->body];
      abVec3 w = m3_apply(&r->inv_inertia[s->body], t);
      v[0] += m * f.x, v[1] += m * f.y, v[2] += m * f.z, v[3] += w.x, v[4] += w.y, v[5] += w.z;
    } else {
      double* g = island->direction + island->offset[s->block];
      double w[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
      for (int j = 0; j < s->n; j++) {
        g[j] = 0;
        for (int i = 0; i < 6; i++) g[j] += s->J[i * s->n + j] * w[i];
      }
      dense_cholesky_solve(s->n, island->factor[s->block], g);
      for (int j = 0; j < s->n; j++) v[j] += g[j];
    }
  }
}

// What the mismatch d = answer - impulse means as a velocity: by the law's slope where it has one,
// else by the mobility.
static double mismatch(const abPatchContact* c, const Local* local) {
  const double *f = c->impulse, *a = c->answer, *m = c->law.moments.m;
  double d[6];
  for (int k = 0; k < 6; k++) d[k] = a[k] - f[k];
  double r2 = (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1];
  double per_r2 = r2 > 0 ? 1 / r2 : 0;
  double normal = sqrt(d[2] * d[2] + (d[3] * d[3] + d[4] * d[4]) * per_r2);
  double along = sqrt(d[0] * d[0] + d[1] * d[1] + d[5] * d[5] * per_r2);
  double soft_n = 1 / (c->law.weight * m[AB_M_1]), soft_t = 1 / (c->law.weight_t * m[AB_M_1]);
  (void)local;
  return normal * soft_n + along * soft_t;
}

typedef struct Visit {
  abPatchIsland* island;
  double threshold;  // velocity below which a contact is left alone
} Visit;

// Slope of the local energy along s at V + a s.
static double local_slope(abPatchContact* c, const double* inverse, const double V0[6],
                          const double s[6], double a) {
  double V[6], d[6], p[6], f[6], sum = 0;
  for (int k = 0; k < 6; k++) V[k] = c->V[k] + a * s[k], d[k] = V[k] - V0[k];
  apply6(inverse, d, p);
  ab_patch_evaluate(&c->law, V, f, NULL);
  for (int k = 0; k < 6; k++) sum += s[k] * (p[k] - f[k]);
  return sum;
}

// As line_search in patch_newton.c.
static double local_search(abPatchContact* c, const double* inverse, const double V0[6],
                           const double s[6], double slope0) {
  double low = 0, high = 1, flow = slope0, fhigh = local_slope(c, inverse, V0, s, 1);
  if (fhigh <= 0.5 * -slope0) return 1;
  bool bisect = false;
  for (int i = 0; i < 12 && high - low > 0.05 * high; i++) {
    double width = high - low;
    double a = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = local_slope(c, inverse, V0, s, a);
    if (fabs(f) <= 0.3 * -slope0) return a;
    if (f > 0)
      high = a, fhigh = f;
    else
      low = a, flow = f;
    bisect = high - low > 0.5 * width;
  }
  return high;
}

enum { LOCAL_STEPS = 4 };

// Solves one contact; returns the change of its relative velocity.
static double solve_contact(Visit* visit, abPatchContact* c, Local* local) {
  abPatchIsland* island = visit->island;
  double V0[6], start[6], back[6], f[6];
  memcpy(start, c->V, sizeof start);
  // V0 = V - Phi f, with Phi's factor at hand only as the inverse: solve Phi^-1 x = f
  double phi[36];
  memcpy(phi, local->inverse, sizeof phi);
  factor6(phi);
  memcpy(back, c->impulse, sizeof back);
  dense_cholesky_solve(6, phi, back);
  for (int k = 0; k < 6; k++) V0[k] = c->V[k] - back[k];
  memcpy(f, c->impulse, sizeof f);
  for (int i = 0; i < LOCAL_STEPS; i++) {
    c->law.trust = ab_patch_trust(c, f);
    ab_patch_evaluate(&c->law, c->V, c->answer, c->G);
    double A[36], s[6], slope = 0, size = 0;
    ab_patch_expand_G(c->G, A);
    for (int k = 0; k < 36; k++) A[k] += local->inverse[k];
    for (int k = 0; k < 6; k++) s[k] = c->answer[k] - f[k];
    for (int k = 0; k < 6; k++) size += s[k] * s[k];
    if (!(size > 0)) break;
    double g[6];
    memcpy(g, s, sizeof g);
    factor6(A);
    dense_cholesky_solve(6, A, s);
    for (int k = 0; k < 6; k++) slope -= g[k] * s[k];
    double a = local_search(c, local->inverse, V0, s, slope);
    double d[6], moved = 0;
    for (int k = 0; k < 6; k++) c->V[k] += a * s[k], d[k] = c->V[k] - V0[k];
    apply6(local->inverse, d, f);
    for (int k = 0; k < 3; k++) moved += s[k] * s[k];
    if (a == 1 && sqrt(moved) < 0.1 * visit->threshold) break;
  }
  double df[6], sum = 0;
  for (int k = 0; k < 6; k++) {
    df[k] = f[k] - c->impulse[k];
    if (!isfinite(df[k])) {
      island->nregularised++;
      memcpy(c->V, start, sizeof start);
      return 0;
    }
  }
  for (int k = 0; k < 6; k++) {
    c->impulse[k] = f[k];
    sum += df[k] * (c->V[k] - start[k]);
  }
  push(island, c, df);
  ab_patch_update_load(c, f, 1);
  return sqrt(fmax(0, sum) * local->norm[0]);
}

static double visit_contact(Visit* visit, abPatchContact* c, Local* local) {
  abPatchIsland* island = visit->island;
  ab_patch_relative(island, c, island->v, c->V);
  ab_patch_evaluate(&c->law, c->V, c->answer, NULL);
  double error = mismatch(c, local);
  if (error <= visit->threshold) return error;
  if (!local->ready) island->nregularised += prepare(island, c, local);
  return solve_contact(visit, c, local);
}

abStatus ab_patch_sweep(abPatchIsland* island, int most) {
  const abPatchSystem* system = island->system;
  Local* local = AB_TAKE(island->scratch, Local, island->ncontact);
  if (!local) return AB_ERROR_MEMORY;
  for (int i = 0; i < island->ncontact; i++) local[i].ready = false;
  double unit = system->gravity * system->h + 1e-8 * system->problem->length / system->h;
  double tolerance = system->param[AB_PATCH_SWEEP_TOLERANCE];
  Visit visit = {island, 0.3 * tolerance * unit};
  double worst = 0;
  for (int sweep = 0; sweep < most; sweep++) {
    worst = 0;
    // forward and backward in turn: impulses travel along chains both ways
    for (int k = 0; k < island->ncontact; k++) {
      int i = sweep % 2 ? island->ncontact - 1 - k : k;
      worst = fmax(worst, visit_contact(&visit, island->contact[i], &local[i]));
    }
    island->iterations++;
    if (worst <= tolerance * unit) break;
  }
  island->residual = worst / unit / tolerance * system->param[AB_PATCH_TOLERANCE];
  return AB_OK;
}
