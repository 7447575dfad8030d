// The force of a contact as a function of the motion it leaves, f(v), and its derivative D, for the
// three modes of contact/volume/volume.h. Both models seek the motion that agrees with it by
// Newton's method: volume-qp that of all bodies, volume-pgs that of one contact.
//
// Sticking is linear, f = G (v* - v). In the other modes the vertices carry unilateral forces;
// eliminating w from 0 <= eps _|_ w = n . K v - v* + slack eps >= 0 gives them in closed form,
//
//     eps = max(0, v* - n . K v) / slack,
//
// of each vertex. Holding adds -Gt v. Sliding adds friction at the vertices against the sliding u
// there,
//
//     t = -mu_k eps u / max(|u|, slack mu_k eps):
//
// a vertex slower than what friction changes in a step times r_n stops softly; at rest the contact
// sticks anyhow.
//
// Newton's method on t(u) itself would jump to and fro across u = 0. So each vertex remembers t,
// its friction under the last motion, and is judged by T = t - (u + slack t) / m, m the mobility of
// the vertex plus slack: below the limit mu_k eps it stops, t = -u / slack; else it slides along d
// = T / |T|,
//
//     t = mu_k eps d - s (1 - d d^T) u,     s = mu_k eps / (m (|T| - mu_k eps) + slack mu_k eps),
//
// the linear form of t = mu_k eps T / |T| with its own t on the right eliminated. Where it stands
// still u points against d and s = mu_k eps / |u|: it is the law above and its true derivative. No
// vertex carries more than all of them did under the last motion: a load the law asks for beyond
// that is none to judge by.
//
// Loads and friction are found together: friction at a corner far below the centre of mass changes
// the load as much as the load changes friction, and to find them in turns goes to and fro.
// Tests: test_volume_models, test_volume_scales.
#include <float.h>
#include <string.h>

#include "contact/volume/volume.h"
#include "solve/dense.h"

// --- vertices
// -------------------------------------------------------------------------------------------------

// Speed a tangential unit impulse at r gives r, the mean of both directions.
static double mobility(const abVolumeContact* c, abVec2 r) {
  double spin = 2 * (c->phi[1][5] * r.x - c->phi[0][5] * r.y);
  return 0.5 * (c->phi[0][0] + c->phi[1][1] + spin + c->phi[5][5] * v2_dot(r, r));
}

static abVec2 across(abVec2 d, abVec2 u) { return v2_sub(u, v2_scale(v2_dot(d, u), d)); }

// Friction of a loaded vertex near the sliding u.
static void linearise_friction(const abVolumeContact* c, int l, abVec2 u, abVolumeVertex* p) {
  double limit = c->mu_kinetic * smaller(p->eps, c->slide->load);
  double slack = c->slack[l], m = c->slide->mobility[l], inverse = 1 / m;
  abVec2 trial = v2_sub(v2_scale(1 - slack * inverse, p->t), v2_scale(inverse, u));
  double size = v2_norm(trial);
  p->d = p->along = v2(0, 0), p->slope = c->mu_kinetic > 0 ? c->damper[l] : 0;
  if (size <= limit || !(c->mu_kinetic > 0)) {
    p->t = v2_scale(-p->slope, u);
    return;
  }
  p->d = v2_scale(1 / size, trial);
  p->along = v2_scale(c->mu_kinetic, p->d);
  p->slope = limit / (m * (size - limit) + limit * slack);
  p->t = v2_sub(v2_scale(c->mu_kinetic * p->eps, p->d), v2_scale(p->slope, across(p->d, u)));
}

// f += K^T (eps n + t), D += its derivative: with N the row of the normal velocity at the vertex
// and E those of the sliding there, -K^T (n + along) N / slack - slope E^T (1 - d d^T) E. N has
// entries in the axes 2, 3, 4 only, E in 0, 1, 5.
static void add_vertex(const abVolumeContact* c, int l, const abVolumeVertex* p, double f[6],
                       double D[36]) {
  abVec2 r = c->vert[l];
  f[0] += p->t.x, f[1] += p->t.y, f[2] += p->eps;
  f[3] += r.y * p->eps, f[4] -= r.x * p->eps, f[5] += v2_cross(r, p->t);
  if (!D) return;
  double k = c->damper[l];
  const double along[6] = {k * p->along.x, k * p->along.y, k,
                           k * r.y,        -k * r.x,       k * v2_cross(r, p->along)};
  for (int i = 0; i < 6; i++) {
    D[6 * i + 2] -= along[i];
    D[6 * i + 3] -= along[i] * r.y;
    D[6 * i + 4] += along[i] * r.x;
  }
  if (!(p->slope > 0)) return;
  double xx = p->slope * (1 - p->d.x * p->d.x), xy = -p->slope * p->d.x * p->d.y;
  double yy = p->slope * (1 - p->d.y * p->d.y);
  double turn_x = r.x * xy - r.y * xx, turn_y = r.x * yy - r.y * xy;
  D[0] -= xx, D[1] -= xy, D[5] -= turn_x;
  D[6] -= xy, D[7] -= yy, D[11] -= turn_y;
  D[30] -= turn_x, D[31] -= turn_y, D[35] -= r.x * turn_y - r.y * turn_x;
}

// --- the law
// -------------------------------------------------------------------------------------------------

void ab_volume_linearise(abVolumeContact* c, const double v[6], double f[6], double D[36]) {
  const double* damper = c->mode == AB_VOLUME_STICK ? c->G[0] : c->Gt[0];
  memset(f, 0, 6 * sizeof(double));
  if (D) memset(D, 0, 36 * sizeof(double));
  if (c->mode != AB_VOLUME_SLIDE) {
    ab_volume_multiply(damper, v, f);
    for (int i = 0; D && i < 36; i++) D[i] = -damper[i];
    for (int i = 0; i < 6; i++) f[i] = (c->mode == AB_VOLUME_STICK ? c->Gv[i] : 0) - f[i];
  }
  if (c->mode == AB_VOLUME_STICK) return;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = c->vert[l];
    abVolumeVertex hold = {0}, *p = c->mode == AB_VOLUME_HOLD ? &hold : &c->slide->vertex[l];
    p->eps = larger(0, (c->target[l] - ab_volume_normal_velocity(v, r)) * c->damper[l]);
    if (!(p->eps > 0)) continue;
    if (c->mode == AB_VOLUME_SLIDE) linearise_friction(c, l, ab_volume_sliding_velocity(v, r), p);
    add_vertex(c, l, p, f, D);
  }
}

void ab_volume_advance(abVolumeContact* c, const double dv[6], const double D[36], double f[6]) {
  for (int i = 0; i < 6; i++) f[i] += dense_dot(D + 6 * i, dv, 6);
  if (c->mode == AB_VOLUME_SLIDE) c->slide->load = larger(0, f[2]);
  for (int l = 0; l < c->nvert && c->mode == AB_VOLUME_SLIDE; l++) {
    abVolumeVertex* p = &c->slide->vertex[l];
    if (!(p->eps > 0)) {
      p->t = v2(0, 0);
      continue;
    }
    abVec2 r = c->vert[l], du = ab_volume_sliding_velocity(dv, r);
    double deps = -ab_volume_normal_velocity(dv, r) * c->damper[l];
    p->t = v2_add(p->t, v2_sub(v2_scale(deps, p->along), v2_scale(p->slope, across(p->d, du))));
  }
}

// --- one contact
// -------------------------------------------------------------------------------------------------

// The friction of f as forces at the vertices: equal shares and a turn about their mean, the
// smallest that have this resultant.
void ab_volume_share_friction(abVolumeContact* c, const double f[6]) {
  double share = 1.0 / c->nvert, inertia = 0;
  c->slide->load = larger(0, f[2]);
  for (int l = 0; l < c->nvert; l++) c->slide->mobility[l] = mobility(c, c->vert[l]) + c->slack[l];
  abVec2 mean = v2(0, 0), force = v2(f[0], f[1]);
  for (int l = 0; l < c->nvert; l++) mean = v2_add(mean, v2_scale(share, c->vert[l]));
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], mean);
    inertia += v2_dot(d, d);
  }
  double torque = f[5] - v2_cross(mean, force), turn = inertia > 0 ? torque / inertia : 0;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], mean);
    c->slide->vertex[l].t = v2(share * force.x - turn * d.y, share * force.y + turn * d.x);
  }
}

// dv = (1 - Phi D)^-1 (v0 + Phi f - v) at the tangent's f and v.
static void tangent_step(const abVolumeContact* c, const double v0[6], double dv[6]) {
  const abVolumeTangent* a = &c->slide->tangent;
  double r[6];
  ab_volume_multiply(c->phi[0], a->f, r);
  for (int i = 0; i < 6; i++) r[i] += v0[i] - a->v[i];
  for (int i = 0; i < 6; i++) dv[i] = dense_dot(a->inverse + 6 * i, r, 6);
}

// One Newton step for v = v0 + Phi f(v): (1 - Phi D) dv = v0 + Phi f - v. f + D dv belongs to v +
// dv exactly; f(v + dv) would magnify every error by the stiffness of the law.
static bool newton_step(abVolumeContact* c, const double v0[6], double v[6], double f[6],
                        double part) {
  abVolumeTangent* a = &c->slide->tangent;
  double dv[6];
  int pivot[6];
  a->known = false;
  ab_volume_linearise(c, v, f, a->D);
  memcpy(a->v, v, sizeof a->v);
  memcpy(a->f, f, sizeof a->f);
  ab_volume_product(c->phi[0], a->D, a->inverse);
  for (int i = 0; i < 36; i++) a->inverse[i] = (i % 7 == 0) - a->inverse[i];
  if (!ab_dense_invert(6, a->inverse, pivot, DBL_EPSILON)) return false;
  a->known = true;
  tangent_step(c, v0, dv);
  for (int i = 0; i < 6; i++) dv[i] *= part, v[i] += dv[i];
  ab_volume_advance(c, dv, a->D, f);
  return true;
}

// f(v) of a sliding contact by the law itself, and the friction t of its vertices.
static void evaluate(const abVolumeContact* c, const double v[6], double f[6], abVec2* t) {
  memset(f, 0, 6 * sizeof(double));
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = c->vert[l], u = ab_volume_sliding_velocity(v, r);
    double eps = (c->target[l] - ab_volume_normal_velocity(v, r)) * c->damper[l];
    t[l] = v2(0, 0);
    if (!(eps > 0)) continue;
    double limit = c->mu_kinetic * eps, speed = larger(v2_norm(u), c->slack[l] * limit);
    if (speed > 0) t[l] = v2_scale(-limit / speed, u);
    f[0] += t[l].x, f[1] += t[l].y, f[2] += eps;
    f[3] += r.y * eps, f[4] -= r.x * eps, f[5] += v2_cross(r, t[l]);
  }
}

// Corrects f by what the law lacks there and the last tangent; returns how much, and the friction t
// of the vertices before.
static double correct(const abVolumeContact* c, const double v0[6], double f[6], abVec2* t) {
  const abVolumeTangent* a = &c->slide->tangent;
  double v[6], lack[6], r[6], dv[6], change = 0;
  ab_volume_with_force(c, v0, f, v);
  evaluate(c, v, lack, t);
  for (int i = 0; i < 6; i++) lack[i] -= f[i];
  ab_volume_multiply(c->phi[0], lack, r);
  for (int i = 0; i < 6; i++) dv[i] = dense_dot(a->inverse + 6 * i, r, 6);
  for (int i = 0; i < 6; i++) {
    double df = lack[i] + dense_dot(a->D + 6 * i, dv, 6);
    f[i] += df, change = larger(change, fabs(df));
  }
  return change;
}

static bool accept(abVolumeContact* c, const double f[6], const abVec2* t) {
  for (int l = 0; l < c->nvert; l++) c->slide->vertex[l].t = t[l];
  c->slide->load = larger(0, f[2]);
  return true;
}

static double difference(const double a[6], const double b[6]) {
  double most = 0;
  for (int i = 0; i < 6; i++) most = larger(most, fabs(a[i] - b[i]));
  return most;
}

// The answer by the last tangent, which serves as long as each correction is a hundredth of the one
// before.
static bool follow_tangent(abVolumeContact* c, const double v0[6], double f[6]) {
  abVec2 t[AB_VOLUME_MAX_VERTEX];
  double small = c->option->small, first = correct(c, v0, f, t);
  if (first <= small) return accept(c, f, t);
  return correct(c, v0, f, t) <= larger(small, AB_VOLUME_LAW_GAIN * first) && accept(c, f, t);
}

bool ab_volume_slide(abVolumeContact* c, const double v0[6], double f[6]) {
  double v[6], last[6], enough = c->option->small;
  abVec2 t[AB_VOLUME_MAX_VERTEX];
  memcpy(f, c->f, 6 * sizeof(double));
  if (c->slide->tangent.known && follow_tangent(c, v0, f)) return true;
  ab_volume_with_force(c, v0, f, v);
  memcpy(last, f, sizeof last);
  for (int step = 0; step < AB_VOLUME_LAW_STEPS; step++) {
    bool whole = step < AB_VOLUME_LAW_SHORT || step % 5 == 0;
    if (!newton_step(c, v0, v, f, whole ? 1 : AB_VOLUME_SHORT_STEP)) return false;
    double change = difference(f, last), size = 0;
    memcpy(last, f, sizeof last);
    for (int i = 0; i < 6; i++) size = larger(size, fabs(f[i]));
    if (step == 0) enough = larger(enough, AB_VOLUME_LAW_GAIN * change);
    // Rounding of a force, magnified by the law, is the least that can be asked for.
    if (!whole) continue;
    if (change <= larger(enough, AB_VOLUME_ROUNDING * size)) return true;
    if (correct(c, v0, f, t) <= enough) return accept(c, f, t);
    memcpy(f, last, sizeof last);
  }
  return false;
}
