// The loads that bound friction follow the pressure inside the linear problem (solve.c).
// Tests: test_patch_newton.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "contact/patch/newton.h"
#include "math/spatial.h"

// Change of a contact's load that the step asks for, and of where it acts.
static void wanted_change(const abPatchContact* c, double change[3]) {
  double f[6];
  ab_patch_apply_G(&c->G, c->step, f);
  for (int k = 0; k < 6; k++) f[k] = c->answer[k] - f[k];
  double load = f[2] > 0 ? fmax(f[2], 0.1 * c->law.load) : 0;
  change[0] = fmax(load, ab_patch_least_load(c)) - c->law.load;
  if (!(f[2] >= 0.1 * c->law.load && ab_patch_offset(c, f, change + 1))) change[1] = change[2] = 0;
  double far = v2_norm(v2(change[1], change[2])), most = c->law.radius;
  for (int k = 1; k < 3 && far > most; k++) change[k] *= most / far;
}

void ab_patch_friction_change(const abPatchContact* c, double dl, double x, double y,
                              double df[6]) {
  const abPatchLaw* law = &c->law;
  const double *t = c->X_G.t, *b = law->bristle;
  double s[3] = {c->X[0] + b[0], c->X[1] + b[1], c->X[5] + b[2]};
  double per = c->X_load > 0 ? dl / c->X_load : 0;
  // rate with the load times dl, less what the slip (-s_2 y, s_2 x) takes off
  double u[3] = {per * s[0] + s[2] * y, per * s[1] - s[2] * x, per * s[2]};
  df[0] = per * c->X_f[0] + t[0] * u[0] + t[1] * u[1] + t[3] * u[2];
  df[1] = per * c->X_f[1] + t[1] * u[0] + t[2] * u[1] + t[4] * u[2];
  df[5] = per * c->X_f[5] + t[3] * u[0] + t[4] * u[1] + t[5] * u[2] + x * c->X_f[1] - y * c->X_f[0];
  df[2] = df[3] = df[4] = 0;
}

// Loads and where they act change by `share` of what the step asks for; friction and d follow.
AB_SIMD AB_FLATTEN static void change_loads(abPatchIsland* island, abPatchWork* w, double share) {
  memset(w->load_step, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!(c->law.mu > 0)) continue;
    const double* change = w->change + 3 * i;
    double load = fmax(c->law.load + share * change[0], ab_patch_least_load(c)), df[6];
    double x = share * change[1], y = share * change[2];
    ab_patch_friction_change(c, load - c->law.load, x, y, df);
    c->answer[0] += df[0], c->answer[1] += df[1], c->answer[5] += df[5];
    c->law.at[0] += x, c->law.at[1] += y;
    ab_patch_set_load(&c->law, load);
    ab_patch_scatter(island, c, df, w->load_step);
  }
  for (int i = 0; i < island->ndof; i++) island->gradient[i] -= w->load_step[i];
  ab_patch_back(&w->matrix, w->load_step);
  for (int i = 0; i < island->ndof; i++) island->direction[i] += w->load_step[i];
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->direction, island->contact[i]->step);
}

// What is wanted now, as shares of the load and of the patch's radius. Returns the largest, adds to
// the sums of Aitken's rule: the last change times the turn since, and the turn squared.
static double compare_change(const abPatchContact* c, const double last[3], double now[3],
                             double sum[2]) {
  double size = fmax(c->law.load, 1e-3 * c->mass * c->unit);
  double radius = c->law.radius * size / c->law.load, most = 0;
  wanted_change(c, now);
  for (int k = 0; k < 3; k++) {
    double unit = k == 0 ? size : radius, turn = (now[k] - last[k]) / unit;
    most = fmax(most, fabs(now[k]) / unit);
    sum[0] += last[k] / unit * turn, sum[1] += turn * turn;
  }
  return most;
}

// A fixed point within the linear problem: loads -> step -> loads. Where friction and pressure are
// strongly coupled (a rod that jams) its rounds shrink slowly; the share of the change that is
// taken follows from the last two by Aitken's rule.
static void follow_loads(abPatchIsland* island, abPatchWork* w, int rounds, double enough,
                         double share) {
  memset(w->change, 0, sizeof(double) * 3 * (size_t)island->ncontact);
  for (int k = 0; k < rounds; k++) {
    double most = 0, sum[2] = {0};
    for (int i = 0; i < island->ncontact; i++) {
      double last[3];
      memcpy(last, w->change + 3 * i, sizeof last);
      if (!(island->contact[i]->law.mu > 0)) continue;
      most = fmax(most, compare_change(island->contact[i], last, w->change + 3 * i, sum));
    }
    if (most <= enough) return;
    if (k > 0 && sum[1] > 0) share = fmin(8, fmax(0.1, -share * sum[0] / sum[1]));
    change_loads(island, w, share);
  }
}

// The same in one go, for the few contacts of an island with joints. There, friction may press a
// foot down more than its load does (a leg that jams): rounds then leave the solution, each contact
// in its own direction. dN_i / dl_j is what the friction of contact j per load does to the normal
// impulse of contact i, and the loads are those with l = N of the linear problem: (1 - dN/dl) dl =
// N - l. What opens has no load.
static void fill_column(abPatchIsland* island, abPatchWork* w, int j, double* A) {
  int n = island->ncontact;
  const abPatchContact* c = island->contact[j];
  double df[6];
  ab_patch_friction_change(c, 1, 0, 0, df);
  memset(w->load_step, 0, sizeof(double) * (size_t)island->ndof);
  ab_patch_scatter(island, c, df, w->load_step);
  ab_patch_back(&w->matrix, w->load_step);
  for (int i = 0; i < n; i++) {
    double V[6], Gd[6];
    ab_patch_relative(island, island->contact[i], w->load_step, V);
    ab_patch_apply_G(&island->contact[i]->G, V, Gd);
    A[i * n + j] = Gd[2] + (i == j);
  }
}

static bool solve_loads(abPatchIsland* island, abPatchWork* w) {
  int n = island->ncontact, pivot[AB_PATCH_MOST_DIRECT];
  double A[AB_PATCH_MOST_DIRECT * AB_PATCH_MOST_DIRECT],
      LU[AB_PATCH_MOST_DIRECT * AB_PATCH_MOST_DIRECT], b[AB_PATCH_MOST_DIRECT];
  bool opens[AB_PATCH_MOST_DIRECT];
  for (int i = 0; i < n; i++) {
    opens[i] = !(island->contact[i]->law.mu > 0);
    fill_column(island, w, i, A);
    memset(w->change + 3 * i, 0, 3 * sizeof *w->change);
    if (!opens[i]) wanted_change(island->contact[i], w->change + 3 * i);
  }
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < n; i++) {
      const abPatchContact* c = island->contact[i];
      b[i] = opens[i] && c->law.mu > 0 ? ab_patch_least_load(c) - c->law.load : w->change[3 * i];
      for (int j = 0; j < n; j++) LU[i * n + j] = opens[i] ? i == j : A[i * n + j];
    }
    if (!dense_lu_solve(n, LU, b, pivot)) return false;
    for (int i = 0; i < n; i++)
      if (!opens[i] && island->contact[i]->law.load + b[i] < 0) opens[i] = again = true;
  }
  for (int i = 0; i < n; i++) w->change[3 * i] = b[i];
  change_loads(island, w, 1);
  return true;
}

// Where friction acts does not settle: it stays, and the loads alone go on.
static void pin_friction(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) island->contact[i]->pinned = true;
}

static void note_loads(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    c->before[0] = c->law.load, c->before[1] = c->law.at[0], c->before[2] = c->law.at[1];
  }
}

void ab_patch_shorten_loads(abPatchIsland* island, double a) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    const double now[3] = {c->law.load, c->law.at[0], c->law.at[1]}, *before = c->before;
    if (!(c->law.mu > 0) || memcmp(now, before, sizeof now) == 0) continue;
    for (int k = 0; k < 2; k++) c->law.at[k] = before[1 + k] + a * (now[1 + k] - before[1 + k]);
    ab_patch_set_load(&c->law, before[0] + a * (now[0] - before[0]));
    c->known = false;
  }
}

void ab_patch_follow(abPatchIsland* island, abPatchWork* w, abPatchFollow* loads, bool relaxed,
                     double gap) {
  int most = loads->direct ? AB_PATCH_BOLD_DIRECT : AB_PATCH_BOLD;
  bool near = island->residual <= AB_PATCH_NEAR,
       bold = (near && loads->was_near) || loads->times < most;
  note_loads(island);
  loads->was_near = near;
  if (relaxed) {
    follow_loads(island, w, 2, 1e-2, 1);
    return;
  }
  if (loads->times >= AB_PATCH_MOST_FOLLOWED || gap <= loads->enough || !(near || bold)) return;
  if (loads->good && !near) return;
  loads->share = gap < loads->gap ? fmin(1, 1.5 * loads->share) : 0.5 * loads->share;
  loads->gap = gap;
  if (!loads->direct || loads->times >= (near ? 2 * most : most) || !solve_loads(island, w))
    follow_loads(island, w, bold ? 4 : 1, 0.1 * loads->enough, bold ? 1 : loads->share);
  if (++loads->times == most) pin_friction(island);
}
