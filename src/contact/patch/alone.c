// Each contact by itself, for the first steps of Newton's method.
//
// Newton's step for the whole island is as good as each contact's law is straight, and where a
// patch is to begin or to cease slipping or pressing it is not: full steps then oscillate,
// shortened ones hold up all the others. So at first the law is linearised not at the twist V but
// where the contact alone, with the velocities its impulse has left it, would go: at the X of its
// local problem
//
//   law(X) = impulse + R (X - V),
//
// R = AB_PATCH_STIFFER Phi^-1, Phi the 6 x 6 response of its two bodies: the inertia against
// relative motion, made stiffer by what surrounds them; Phi^-1 itself where it is the only contact,
// which is then solved at once. Where the impulse is the law's, X = V. The problem is convex in six
// unknowns; a few Newton steps with the exact derivative of the law solve it. What an X lacks,
// law(X)
// - impulse - R (X - V), in the metric of R^-1 bounds its distance from the solution, since the law
// only adds to R: it is solved when that is less than AB_PATCH_NEAR_ENOUGH of the unit speed, and
// X = V where that is already so.
// Tests: test_patch_newton, test_patch.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch/patch.h"
#include "math/quad.h"
#include "math/spatial.h"

// Columns of Phi for one free body.
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
  abMat6 block = c->side[p].branch->mobility;
  if (c->side[p].body != c->side[q].body)
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

// The same of a whole side with the island's own inertia: T K^-1 T^T = Y^T Y, L^T Y = T^T. What
// does not carry the side stays zero.
static void add_turned_mobility(const abPatchIsland* island, const abPatchContact* c, int k,
                                double (*Y)[6], double* phi) {
  const abPatchColumns* tree = &c->tree[k];
  int b = c->side[k].block, n = island->size[b];
  const double* L = island->factor[b];
  memset(Y, 0, sizeof *Y * (size_t)n);
  for (int j = 0; j < tree->n; j++)
    for (int d = 0; d < 6; d++) Y[tree->at[j]][d] = tree->T[d * tree->room + j];
  for (int i = n - 1; i >= 0; i--) {
    bool any = false;
    for (int d = 0; d < 6; d++) Y[i][d] *= L[i * n + i], any = any || Y[i][d] != 0;
    if (!any) continue;
    for (int j = 0; j < i; j++)
      for (int d = 0; d < 6; d++) Y[j][d] -= L[i * n + j] * Y[i][d];
    for (int p = 0; p < 6; p++)
      for (int q = 0; q < 6; q++) phi[6 * p + q] += Y[i][p] * Y[i][q];
  }
}

// --- symmetric 6 x 6 matrices, row-major; a row is a register of four and one of two

typedef abFour Four __attribute__((aligned(8)));
typedef abTwo Two __attribute__((aligned(8)));

static inline void apply6(const double* A, const double x[6], double y[6]) {
  abFour a = {0};
  abTwo b = {0};
  for (int k = 0; k < 6; k++) {
    a += x[k] * *(const Four*)(A + 6 * k);
    b += x[k] * *(const Two*)(A + 6 * k + 4);
  }
  *(Four*)y = a, *(Two*)(y + 4) = b;
}

// The rows of a matrix after elimination, from the diagonal on, and 1 / the diagonal.
typedef struct Eliminated {
  double row[6][6], per[6];
} Eliminated;

// Of R + G. Pivots are guarded: one that cancellation has eaten is replaced.
static inline void eliminate6(const double* R, const abPatchSlope* G, Eliminated* e) {
  const double *t = G->t, *n = G->n;
  abFour a[6] = {{t[0], t[1], 0, 0}, {t[1], t[2], 0, 0}, {0, 0, n[0], n[1]},
                 {0, 0, n[1], n[2]}, {0, 0, n[3], n[4]}, {t[3], t[4], 0, 0}};
  abTwo b[6] = {{0, t[3]}, {0, t[4]}, {n[3], 0}, {n[4], 0}, {n[5], 0}, {0, t[5]}};
  double most = 0;
  for (int k = 0; k < 6; k++) {
    a[k] += *(const Four*)(R + 6 * k), b[k] += *(const Two*)(R + 6 * k + 4);
    *(Four*)e->row[k] = a[k], *(Two*)(e->row[k] + 4) = b[k];
    most = e->row[k][k] > most ? e->row[k][k] : most;
  }
  for (int j = 0; j < 6; j++) {
    double* row = e->row[j];
    *(Four*)row = a[j], *(Two*)(row + 4) = b[j];
    double d = row[j];
    if (!(d > DBL_EPSILON * most)) d = most > 0 ? most : 1;
    e->per[j] = 1 / d;
    for (int i = j + 1; i < 6; i++) {
      double w = e->per[j] * row[i];
      a[i] -= w * a[j], b[i] -= w * b[j];
    }
  }
}

static inline void solve6(const Eliminated* e, const double y[6], double x[6]) {
  double z[6];
  for (int i = 0; i < 6; i++) z[i] = y[i];
  for (int j = 0; j < 6; j++) {
    double w = e->per[j] * z[j];
    for (int i = j + 1; i < 6; i++) z[i] -= w * e->row[j][i];
    z[j] = w;
  }
  for (int j = 5; j >= 0; j--) {
    for (int k = j + 1; k < 6; k++) z[j] -= e->per[j] * e->row[j][k] * z[k];
    x[j] = z[j];
  }
}

// R <- stiffer A^-1, by Gauss and Jordan.
AB_SIMD AB_FLATTEN static void invert6(const double* A, double stiffer, double* R) {
  abFour a[6], x[6];
  abTwo b[6], y[6];
  double most = 0;
  for (int k = 0; k < 6; k++) {
    double unit[6] = {0};
    unit[k] = stiffer;
    a[k] = *(const Four*)(A + 6 * k), b[k] = *(const Two*)(A + 6 * k + 4);
    x[k] = *(const Four*)unit, y[k] = *(const Two*)(unit + 4);
    most = A[7 * k] > most ? A[7 * k] : most;
  }
  for (int j = 0; j < 6; j++) {
    double row[6][6];
    for (int i = 0; i < 6; i++) *(Four*)row[i] = a[i], *(Two*)(row[i] + 4) = b[i];
    double d = row[j][j] > DBL_EPSILON * most ? row[j][j] : most > 0 ? most : 1, per = 1 / d;
    a[j] *= per, b[j] *= per, x[j] *= per, y[j] *= per;
    for (int i = 0; i < 6; i++) {
      if (i == j) continue;
      a[i] -= row[i][j] * a[j], b[i] -= row[i][j] * b[j];
      x[i] -= row[i][j] * x[j], y[i] -= row[i][j] * y[j];
    }
  }
  for (int k = 0; k < 6; k++) *(Four*)(R + 6 * k) = x[k], *(Two*)(R + 6 * k + 4) = y[k];
}

// A contact that its joints hardly let move in some direction has a singular Phi: the directions
// are given a mobility that is small beside the others.
AB_SIMD AB_FLATTEN static void make_R(const abPatchIsland* island, abPatchContact* c,
                                      double (*Y)[6], double stiffer) {
  const abResponse* r = island->system->problem->response;
  double phi[36] = {0}, most = 0;
  bool tree = false;
  for (int k = 0; k < 2; k++) {
    if (c->side[k].block < 0) continue;
    tree |= c->side[k].branch != NULL;
    if (c->side[k].branch && island->turned)
      add_turned_mobility(island, c, k, Y, phi);
    else if (c->side[k].branch)
      add_tree_mobility(r, c, k, k, phi);
    else
      add_mobility(r, c, k, phi);
  }
  if (c->side[0].branch && c->side[0].block == c->side[1].block && !island->turned) {
    add_tree_mobility(r, c, 0, 1, phi);
    add_tree_mobility(r, c, 1, 0, phi);
  }
  for (int i = 0; i < 6; i++) most = fmax(most, phi[7 * i]);
  for (int i = 0; i < 6 && tree; i++)
    phi[7 * i] +=
        1e-6 * (i < 3 ? phi[0] + phi[7] + phi[14] : phi[21] + phi[28] + phi[35]) + 1e-9 * most;
  invert6(phi, stiffer, c->R);
  for (int i = 0; i < 36; i++) c->P[i] = phi[i] / stiffer;
}

// A matrix of one contact with its rows and columns in the order of ORDER, and its factors. Without
// pivoting: the normal third comes first and is positive definite, and friction couples to it
// weakly.
typedef struct Factors {
  double U[36], L[36], per[6];  // per: 1 / the diagonal of U
} Factors;
static const int ORDER[6] = {2, 3, 4, 0, 1, 5};

static void put_in_order(const double* A, double* to) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) to[6 * i + j] = A[6 * ORDER[i] + ORDER[j]];
}

// U holds the matrix. False where that fails.
static inline bool factor_lu(Factors* F) {
  double *U = F->U, *L = F->L;
  for (int k = 0; k < 6; k++) {
    if (!(U[7 * k] > 0)) return false;
    F->per[k] = 1 / U[7 * k];
    for (int i = k + 1; i < 6; i++) {
      double t = L[6 * i + k] = U[6 * i + k] * F->per[k];
      *(Four*)(U + 6 * i) -= t * *(const Four*)(U + 6 * k);
      *(Two*)(U + 6 * i + 4) -= t * *(const Two*)(U + 6 * k + 4);
    }
  }
  return true;
}

static void solve_lu(const Factors* F, const double b[6], double x[6]) {
  double y[6];
  for (int i = 0; i < 6; i++) {
    y[i] = b[ORDER[i]];
    for (int k = 0; k < i; k++) y[i] -= F->L[6 * i + k] * y[k];
  }
  for (int i = 5; i >= 0; i--) {
    for (int k = i + 1; k < 6; k++) y[i] -= F->U[6 * i + k] * y[k];
    y[i] *= F->per[i];
  }
  for (int i = 0; i < 6; i++) x[ORDER[i]] = y[i];
}

// --- the problem of one contact

// What is to vanish: law(X) - impulse - R (X - V).
static inline void lack_at(const abPatchContact* c, double lack[6]) {
  double d[6], y[6];
  for (int k = 0; k < 6; k++) d[k] = c->X[k] - c->V[k];
  apply6(c->R, d, y);
  for (int k = 0; k < 6; k++) lack[k] = c->X_f[k] - c->impulse[k] - y[k];
}

// A step as a speed: of the effective mass along the normal with the same energy.
static inline double size_of(const abPatchContact* c, const double s[6]) {
  double y[6], sum = 0;
  apply6(c->R, s, y);
  for (int k = 0; k < 6; k++) sum += s[k] * y[k];
  return sqrt(fmax(0, sum) / c->mass);
}

// The same of what is lacking: no solution is farther off than that.
static inline double distance_of(const abPatchContact* c, const double lack[6]) {
  double y[6], sum = 0;
  apply6(c->P, lack, y);
  for (int k = 0; k < 6; k++) sum += lack[k] * y[k];
  return sqrt(fmax(0, sum) / c->mass);
}

// The law at X, with the load that bounds friction and where that acts as the pressure there says.
static void evaluate_at_X(abPatchContact* c) {
  abPatchLaw* law = &c->law;
  ab_patch_press(law, c->X, c->X_f, &c->X_G);
  if (law->mu > 0) {
    double d[2];
    ab_patch_set_load(law, fmax(c->X_f[2], ab_patch_least_load(c)));
    if (ab_patch_offset(c, c->X_f, d)) law->at[0] += d[0], law->at[1] += d[1];
  }
  ab_patch_rub(law, c->X, c->X_f, &c->X_G);
  c->X_load = law->load;
}

// Minus the derivative of that, and R (in order). Friction follows the load and, where it slides,
// the place of the pressure: x = -M_2 / N, y = M_1 / N of the normal impulse (N, M_1, M_2).
AB_SIMD AB_FLATTEN static bool factor_at_X(const abPatchContact* c, const double* R,
                                           const double lack[6], Factors* factors) {
  const double *n = c->X_G.n, *f = c->X_f;
  abPatchSlope G = c->X_G;
  double d[2], F[6], change[3][6] = {{0}};
  for (int k = 0; k < 6; k++) F[k] = f[k] - lack[k];
  ab_patch_mix_slack(&G, ab_patch_trust(c, f, F));
  const double* t = G.t;
  const double row[3][3] = {{n[0], n[1], n[3]}, {n[1], n[2], n[4]}, {n[3], n[4], n[5]}};
  const double across[3][3] = {{t[0], t[1], t[3]}, {t[1], t[2], t[4]}, {t[3], t[4], t[5]}};
  double* A = factors->U;
  memcpy(A, R, 36 * sizeof *A);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[6 * i + j] += row[i][j], A[6 * i + j + 21] += across[i][j];
  if (c->law.mu > 0 && f[2] > ab_patch_least_load(c)) {
    bool moves = ab_patch_offset(c, f, d);
    double per = 1 / f[2];
    ab_patch_friction_change(c, 1, 0, 0, change[0]);
    if (moves) ab_patch_friction_change(c, 0, 1, 0, change[1]);
    if (moves) ab_patch_friction_change(c, 0, 0, 1, change[2]);
    abVec2 u = c->law.axis;
    for (int j = 0; j < 3; j++) {
      double dl = row[0][j], dx = -per * row[2][j] + per * per * f[4] * dl,
             dy = per * row[1][j] - per * per * f[3] * dl;
      if (u.x != 0 || u.y != 0) {  // only along a line, as in ab_patch_offset
        double along = u.x * dx + u.y * dy;
        dx = along * u.x, dy = along * u.y;
      }
      for (int i = 0; i < 3; i++) {
        int k = ORDER[3 + i];
        A[6 * (3 + i) + j] += change[0][k] * dl + change[1][k] * dx + change[2][k] * dy;
      }
    }
  }
  return factor_lu(factors);
}

// Newton's method from X, down to a share of the unit speed. A step that the simplified Newton step
// behind it does not confirm by being shorter is halved (Deuflhard's natural test); where halving
// does not help either, a kink lies ahead, which is not for this method. Returns whether it came to
// its end.
static bool solve_whole(abPatchContact* c, double least) {
  double R[36], lack[6], s[6], next[6];
  Factors factors;
  double enough = fmax(least * c->unit, 8 * DBL_EPSILON * ab_patch_speed(c, c->V));
  put_in_order(c->R, R);
  evaluate_at_X(c);
  lack_at(c, lack);
  for (int i = 0; i < AB_PATCH_LOCAL_STEPS; i++) {
    if (!factor_at_X(c, R, lack, &factors)) return false;
    solve_lu(&factors, lack, s);
    double way = size_of(c, s), taken = 0, a = 1;
    if (way <= enough) return true;
    bool shorter = false;
    for (int cut = 0; cut < AB_PATCH_LOCAL_CUTS && !shorter; cut++, a *= 0.5) {
      for (int k = 0; k < 6; k++) c->X[k] += (a - taken) * s[k];
      taken = a;
      evaluate_at_X(c);
      lack_at(c, lack);
      solve_lu(&factors, lack, next);
      double rest = size_of(c, next);
      if (rest <= enough) return true;
      shorter = rest <= (1 - 0.25 * a) * way;
    }
    if (!shorter) return false;
  }
  return false;
}

// The answer is the law at X, linearised there.
void ab_patch_linearise(abPatchContact* c) {
  double d[6], Gd[6];
  c->X_load = c->law.load;
  c->G = c->X_G;
  ab_patch_mix_slack(&c->G, ab_patch_trust(c, c->X_f, c->impulse));
  for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->X[k];
  ab_patch_apply_G(&c->G, d, Gd);
  for (int k = 0; k < 6; k++) c->answer[k] = c->X_f[k] - Gd[k];
}

// Several contacts: with loads and places of friction as they are, each contact's problem is
// convex. The step is shortened to where the energy along it is least, roughly, but behind any
// kink.
static double slope_along(abPatchContact* c, const double from[6], const double s[6], double a,
                          double* lack) {
  double slope = 0;
  for (int k = 0; k < 6; k++) c->X[k] = from[k] + a * s[k];
  ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
  lack_at(c, lack);
  for (int k = 0; k < 6; k++) slope -= s[k] * lack[k];
  return slope;
}

static void search_along(abPatchContact* c, const double s[6], double lack[6]) {
  double from[6], slope0 = 0;
  memcpy(from, c->X, sizeof from);
  for (int k = 0; k < 6; k++) slope0 -= s[k] * lack[k];
  double low = 0, high = 1, flow = slope0, fhigh = slope_along(c, from, s, 1, lack), last = 1;
  if (fhigh <= 0.5 * -slope0) return;
  bool bisect = false;
  for (int i = 0; i < 12 && high - low > 0.05 * high; i++) {
    double width = high - low;
    last = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_along(c, from, s, last, lack);
    if (fabs(f) <= 0.3 * -slope0) return;
    if (f > 0)
      high = last, fhigh = f;
    else
      low = last, flow = f;
    bisect = high - low > 0.5 * width;
  }
  if (last != high) slope_along(c, from, s, high, lack);
}

// From X, with the law there; V is not the solution.
AB_SIMD AB_FLATTEN static void solve_frozen(abPatchContact* c) {
  double lack[6], s[6], F[6], enough = AB_PATCH_NEAR_ENOUGH * c->unit;
  Eliminated factors;
  ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
  lack_at(c, lack);
  for (int i = 0; i < AB_PATCH_LOCAL_STEPS && distance_of(c, lack) > enough; i++) {
    abPatchSlope G = c->X_G;
    for (int k = 0; k < 6; k++) F[k] = c->X_f[k] - lack[k];
    ab_patch_mix_slack(&G, ab_patch_trust(c, c->X_f, F));
    eliminate6(c->R, &G, &factors);
    solve6(&factors, lack, s);
    search_along(c, s, lack);
  }
}

// Whether the contact alone would stay at V, the law there being in X_f.
static bool stays(const abPatchContact* c) {
  double lack[6];
  for (int k = 0; k < 6; k++) lack[k] = c->X_f[k] - c->impulse[k];
  return distance_of(c, lack) <= AB_PATCH_NEAR_ENOUGH * c->unit;
}

// The law at V is in X_f. from: where to look for the solution if that is not it, of what presses.
static void relax_contact(abPatchContact* c, const double from[6]) {
  c->moved = !stays(c);
  if (c->moved) {
    if (c->impulse[2] > 0) memcpy(c->X, from, sizeof c->X);
    solve_frozen(c);
    c->known = false;
  }
  ab_patch_linearise(c);
}

// In the first step a contact that hardly moves otherwise than in the last one is looked for where
// that left it.
static void relax_first(abPatchContact* c) {
  double d[6];
  for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->last[k];
  relax_contact(c, ab_patch_speed(c, d) <= AB_PATCH_GOES_ON * c->unit ? c->last : c->V);
}

// In the others where it was.
static void relax_again(abPatchContact* c) {
  double from[6];
  memcpy(from, c->X, sizeof from);
  memcpy(c->X, c->V, sizeof c->X);
  c->X_linear = ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
  c->known = true;
  relax_contact(c, from);
}

// The only contact of its island: its own problem is the whole one, with the bound of friction and
// where it acts. Newton's method for all at once needs to begin near: rounds bring it there, each
// with load and place as they are and then those of the pressure found. At the end how the pressure
// is spread is that of the pressure found, and the solution once more.
static void follow_found(abPatchContact* c) {
  if (!(c->law.mu > 0)) return;
  ab_patch_set_load(&c->law, fmax(c->X_f[2], ab_patch_least_load(c)));
  ab_patch_follow_pressure(c, c->X, c->X_f);
}

static bool try_whole(abPatchContact* c, double least) {
  double X[6], at[2] = {c->law.at[0], c->law.at[1]}, load = c->law.load;
  memcpy(X, c->X, sizeof X);
  if (solve_whole(c, least)) return true;
  memcpy(c->X, X, sizeof X);
  memcpy(c->law.at, at, sizeof at);
  ab_patch_set_load(&c->law, load);
  ab_patch_evaluate(&c->law, c->X, c->X_f, &c->X_G);
  return false;
}

static void solve_only(abPatchContact* c) {
  c->moved = true;
  if (!(c->impulse[2] > 0)) memcpy(c->X, c->V, sizeof c->X);
  for (int i = 0; i < AB_PATCH_LOCAL_ROUNDS && c->moved; i++) {
    if (i > 0) solve_frozen(c), follow_found(c);
    if (!try_whole(c, 1e-3)) continue;
    follow_found(c);
    c->moved = !try_whole(c, 1e-13);
  }
  ab_patch_linearise(c);
}

typedef struct Relaxation {
  const abPatchIsland* island;
  bool first;
} Relaxation;

static void relax_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Relaxation* r = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < r->island->ncontact; i++) {
    abPatchContact* c = r->island->contact[i];
    r->first ? relax_first(c) : relax_again(c);
  }
}

// The squared way from V to X as an energy.
static double way_of(const abPatchContact* c) {
  double d[6], y[6], sum = 0;
  if (!c->moved) return 0;
  for (int k = 0; k < 6; k++) d[k] = c->X[k] - c->V[k];
  apply6(c->R, d, y);
  for (int k = 0; k < 6; k++) sum += d[k] * y[k];
  return sum;
}

double ab_patch_relax(abPatchIsland* island, bool first) {
  Relaxation r = {island, first};
  double sum = 0;
  if (ab_patch_only(island))
    solve_only(island->contact[0]);
  else
    ab_pool_run(island->pool, ab_patch_chunks(island->ncontact), relax_chunk, &r);
  for (int i = 0; i < island->ncontact; i++) sum += way_of(island->contact[i]);
  return sum;
}

abStatus ab_patch_alone(abPatchIsland* island) {
  double stiffer = ab_patch_only(island) ? 1 : AB_PATCH_STIFFER;
  double* R = AB_TAKE(island->scratch, double, 72 * island->ncontact);
  double(*Y)[6] = ab_arena_take(island->scratch, sizeof *Y * (size_t)island->ndof);
  if (!R || !Y) return AB_ERROR_MEMORY;
  for (int i = 0; i < island->ncontact; i++) {
    island->contact[i]->R = R + 72 * i;
    island->contact[i]->P = R + 72 * i + 36;
    make_R(island, island->contact[i], Y, stiffer);
  }
  return AB_OK;
}
