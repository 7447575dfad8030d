// The exact line search of Newton's method on one island (solve.c).
// Tests: test_patch_newton.
#include <math.h>

#include "contact/patch/newton.h"

// Derivative of the energy along the step at v + a d: d^T M (v - v_free + a d) - sum of J d .
// answer(V + a J d) - the same of the rows. Where the law is linear at both ends it is so in
// between (law.c), and only the others need be evaluated again.
static double contact_slope(abPatchContact* c, double a) {
  double V[6], f[6], sum = 0;
  for (int k = 0; k < 6; k++) V[k] = c->V[k] + a * c->step[k];
  ab_patch_evaluate(&c->law, V, f, NULL);
  for (int k = 0; k < 6; k++) sum -= c->step[k] * f[k];
  return sum;
}

static double row_slope(const abPatchIsland* island, const abPatchRow* r, double a) {
  bool inside;
  double sv = ab_patch_row_speed(r, island->v);
  return -r->step * ab_patch_row_excess(r->row, sv + a * r->step, &inside);
}

static double find_rows(const abPatchIsland* island, abPatchWork* w) {
  double bent = 0;
  w->nbent_row = 0;
  for (int i = 0; i < island->nrow; i++) {
    abPatchRow* r = &island->row[i];
    r->step = ab_patch_row_speed(r, island->direction);
    bool inside;
    double sv = ab_patch_row_speed(r, island->v), end = sv + r->step;
    abBranch assumed = r->row->assumed;
    if (ab_patch_row_branch(r->row, sv) == assumed && ab_patch_row_branch(r->row, end) == assumed)
      continue;
    w->bent_row[w->nbent_row++] = r;
    bent -= r->step * ab_patch_row_excess(r->row, end, &inside);
  }
  return bent;
}

static double join_slope(const abPatchIsland* island, const abPatchJoin* j, double a) {
  bool inside;
  double sv = ab_patch_join_speed(j, island->v);
  return -j->step * ab_patch_join_impulse(j, sv + a * j->step, &inside);
}

static double find_joins(const abPatchIsland* island, abPatchWork* w) {
  double bent = 0;
  w->nbent_join = 0;
  for (int i = 0; i < island->njoin; i++) {
    abPatchJoin* j = &island->join[i];
    bool inside;
    double sv = ab_patch_join_speed(j, island->v);
    j->step = ab_patch_join_speed(j, island->direction);
    double first = -j->step * ab_patch_join_impulse(j, sv, &inside);
    double last = -j->step * ab_patch_join_impulse(j, sv + j->step, &inside);
    if (inside && j->inside)
      w->at0 += first, w->rate += last - first;
    else
      w->bent_join[w->nbent_join++] = j, bent += last;
  }
  return bent;
}

// Looks at the end of the step; returns the slope there.
static double find_slope(const abPatchIsland* island, double slope0, abPatchWork* w) {
  double bent = find_rows(island, w);
  w->at0 = w->rate = 0, w->nbent = 0;
  bent += find_joins(island, w);
  ab_patch_apply_inertia(island, island->direction, island->gradient);
  for (int i = 0; i < island->ndof; i++) {
    w->at0 += island->direction[i] * island->momentum[i];
    w->rate += island->direction[i] * island->gradient[i];
  }
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    double *f = c->X_f, Gd[6], first = 0, last = 0, rise = 0;
    for (int k = 0; k < 6; k++) c->X[k] = c->V[k] + c->step[k];
    c->X_linear = ab_patch_evaluate(&c->law, c->X, f, &c->X_G);
    c->known = true;
    bool linear = c->X_linear && c->linear;
    ab_patch_apply_G(&c->G, c->step, Gd);
    for (int k = 0; k < 6; k++) {
      first -= c->step[k] * c->answer[k];
      last -= c->step[k] * f[k];
      rise += c->step[k] * Gd[k];
    }
    if (linear || fabs(last - first - rise) <= AB_PATCH_STRAIGHT * -slope0)
      w->at0 += first, w->rate += last - first;
    else
      w->bent[w->nbent++] = c, bent += last;
  }
  return w->at0 + w->rate + bent;
}

static double slope_at(const abPatchIsland* island, const abPatchWork* w, double a) {
  double sum = w->at0 + a * w->rate;
  for (int i = 0; i < w->nbent; i++) sum += contact_slope(w->bent[i], a);
  for (int i = 0; i < w->nbent_row; i++) sum += row_slope(island, w->bent_row[i], a);
  for (int i = 0; i < w->nbent_join; i++) sum += join_slope(island, w->bent_join[i], a);
  return sum;
}

// The energy is convex, its slope along d grows: 1 if that is nearly its root, else the root. False
// position, but bisection whenever it has not halved the bracket: where a contact comes into play
// the slope has a kink, hardly rising before it and steep behind it. What is returned lies behind
// the kink, so that the next step knows of the contact.
double ab_patch_line_search(abPatchIsland* island, abPatchWork* w) {
  double slope0 = 0;
  for (int i = 0; i < island->ndof; i++) slope0 += island->gradient[i] * island->direction[i];
  if (!(slope0 < 0)) return 1;
  double slope1 = find_slope(island, slope0, w);
  if (slope1 <= 0.1 * -slope0) return 1;
  double low = 0, high = 1, flow = slope0, fhigh = slope1;
  bool bisect = false;
  for (int i = 0; i < 60 && high - low > 1e-13 * high; i++) {
    double width = high - low;
    double a = bisect ? 0.5 * (low + high) : (low * fhigh - high * flow) / (fhigh - flow);
    double f = slope_at(island, w, a);
    if (fabs(f) <= 1e-3 * -slope0) return a;
    if (f > 0)
      high = a, fhigh = f;
    else
      low = a, flow = f;
    bisect = high - low > 0.5 * width;
  }
  return high;
}
