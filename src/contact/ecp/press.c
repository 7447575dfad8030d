// The motion of an island whose contacts are points that press (manifold.c).
//
// For given multipliers (lambda*, s*) of the points and of friction, and a stiffness k, the end
// twists x of the bodies satisfy
//     momentum(x) = sum W lambda + friction,
//     lambda_i = max(0, lambda*_i - k gap_i(x)),
//     s = Proj_{|s| <= mu p_n}(s* - k w(x)),  p_n = sum lambda_i,
// six equations a body and no other unknowns: the augmented Lagrangian of the contact laws (Alart &
// Curnier 1991). Gaps are those of the points at the end of the step, arms those of matter
// (lever.c): the same equations as in rows.c up to the curvature of round features.
// With the limit mu p_n held, left and right side are the slope of a convex function (for small
// turns), and Newton's method with a line search on that slope always comes down; this is how an
// island begins. Near the solution the limit follows p_n, which converges faster and to the law
// itself.
// Tests: test_ecp_heap.
#include <string.h>

#include "contact/ecp/manifold.h"
#include "solve/dense.h"

// Generalised force: of an impulse on body 1, against it on body 2.
typedef struct Column {
  double x[12];
} Column;

static abVec3 mean_of(const abEcpBody* b, abVec3 x) {
  abVec3 a = v3_scale(0.5, b->w);
  double k = 1 / (1 + v3_norm2(a));
  return v3_scale(k, v3_axpy(v3_dot(a, x), a, v3_sub(x, v3_cross(a, x))));
}

// Arms of an impulse at the world point a, and of the velocity that friction opposes, as
// lever.c has them for matter.
typedef struct Arms {
  abVec3 impulse[2], slide[2];
} Arms;

static Arms arms_at(const abEcpContact* c, abVec3 a) {
  Arms arm;
  abVec3 A = v3_zero(), from[2];
  bool both = c->body[0]->moving && c->body[1]->moving;
  double sum = both ? c->body[0]->m + c->body[1]->m : 1;
  for (int i = 0; i < 2; i++) {
    const abEcpBody* b = c->body[i];
    abVec3 r = v3_sub(a, b->x);
    from[i] = c->mean_lever && b->moving ? b->x0 : b->x;
    arm.slide[i] = c->mean_lever && b->moving ? mean_of(b, r) : r;
    if (b->moving)
      A = v3_axpy(both ? c->body[1 - i]->m / sum : 1, v3_add(from[i], arm.slide[i]), A);
  }
  for (int i = 0; i < 2; i++) arm.impulse[i] = v3_sub(A, from[i]);
  return arm;
}

static Column column(abVec3 f, const abVec3 torque[2]) {
  Column q;
  for (int i = 0; i < 2; i++) {
    double sign = i == 0 ? 1 : -1, *x = q.x + 6 * i;
    x[0] = sign * f.x, x[1] = sign * f.y, x[2] = sign * f.z;
    x[3] = sign * torque[i].x, x[4] = sign * torque[i].y, x[5] = sign * torque[i].z;
  }
  return q;
}

static Column force_at(abVec3 f, const abVec3 arm[2], abVec3 extra) {
  abVec3 torque[2] = {v3_add(v3_cross(arm[0], f), extra), v3_add(v3_cross(arm[1], f), extra)};
  return column(f, torque);
}

// Subtracts scale W from the equations of momentum, and W dV from their derivative.
static void add_force(const abEcpJoint* q, const abEcpContact* c, const Column* W, double scale) {
  for (int i = 0; i < 2; i++) {
    const abEcpBody* b = c->body[i];
    if (!b->moving) continue;
    double* F = q->s->F + b->slot;
    for (int j = 0; j < 6; j++) F[j] -= scale * W->x[6 * i + j] / (j < 3 ? b->m : b->inertia_scale);
  }
}

static void add_slope(const abEcpJoint* q, const abEcpContact* c, const Column* W,
                      const Column* dV) {
  int n = 6 * q->s->nbody;
  for (int i = 0; i < 2; i++) {
    const abEcpBody* b = c->body[i];
    if (!b->moving) continue;
    for (int j = 0; j < 6; j++) {
      double w = -W->x[6 * i + j] / (j < 3 ? b->m : b->inertia_scale);
      double* J = q->s->J + (b->slot + j) * n;
      for (int a = 0; a < 2; a++)
        if (c->body[a]->moving) dense_axpy(w, dV->x + 6 * a, J + c->body[a]->slot, 6);
    }
  }
}

// d(gap)/d(twists)
static Column gap_slope(const abEcpContact* c, abVec3 n, abVec3 x) {
  abVec3 torque[2];
  for (int i = 0; i < 2; i++)
    torque[i] = c->body[i]->moving
                    ? m3_apply_t(&c->body[i]->T, v3_cross(v3_sub(x, c->body[i]->x), n))
                    : v3_zero();
  return column(n, torque);
}

static void press(const abEcpJoint* q, abEcpManifold* m, abVec3 n, abVec3 x[AB_ECP_POINTS]) {
  const abEcpContact* c = m->c;
  abVec3 sum = v3_zero();
  m->pn = 0;
  for (int i = 0; i < m->n; i++) {
    abEcpPoint* p = &m->point[i];
    abVec3 xa = v3_add(c->body[0]->x, m3_apply(&c->body[0]->R, p->at[0]));
    abVec3 xb = v3_add(c->body[1]->x, m3_apply(&c->body[1]->R, p->at[1]));
    x[i] = m->ref == 1 ? xa : xb;
    p->gap = v3_dot(n, v3_sub(xa, xb));
    p->lambda = fmax(0, p->held - q->stiffness * m->mass * p->gap);
    m->pn += p->lambda;
    sum = v3_axpy(p->lambda, x[i], sum);
  }
  if (m->pn > 0) m->a = v3_scale(1 / m->pn, sum);
}

static void rub(const abEcpJoint* q, abEcpManifold* m, const abVec3 axis[3], const abVec3 arm[2],
                double y[3]) {
  const abEcpContact* c = m->c;
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abVec3 spin = v3_sub(b0->w, b1->w);
  abVec3 u = v3_sub(v3_add(b0->v, v3_cross(b0->w, arm[0])), v3_add(b1->v, v3_cross(b1->w, arm[1])));
  double w[3] = {v3_dot(axis[1], u), v3_dot(axis[2], u), v3_dot(axis[0], spin)};
  double limit = q->coupled ? c->mu * m->pn : m->limit, norm = 0;
  for (int j = 0; j < 3; j++) {
    y[j] = c->e[j] > 0 ? m->held[j] - q->stiffness * m->mass * c->e[j] * w[j] : 0;
    norm += y[j] * y[j];
  }
  norm = sqrt(norm);
  m->stick = norm <= limit;
  for (int j = 0; j < 3; j++) m->s[j] = m->stick ? y[j] : limit / norm * y[j];
  m->P = v3_add(v3_scale(c->e[0] * m->s[0], axis[1]), v3_scale(c->e[1] * m->s[1], axis[2]));
}

static void friction_slope(const abEcpJoint* q, const abEcpManifold* m, const double y[3],
                           Column* const by[3]) {
  const Column *W = by[0], *V = by[1], *dpn = by[2];
  const abEcpContact* c = m->c;
  double norm = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]), rho = q->stiffness * m->mass;
  double ratio = m->stick ? 1 : (q->coupled ? c->mu * m->pn : m->limit) / norm;
  for (int j = 0; j < 3; j++) {
    if (!(c->e[j] > 0)) continue;
    Column d = {{0}};
    if (!m->stick && q->coupled) dense_axpy(c->mu * y[j] / norm, dpn->x, d.x, 12);
    for (int a = 0; a < 3; a++) {
      double G = m->stick ? a == j : ratio * ((a == j) - y[a] * y[j] / (norm * norm));
      dense_axpy(-G * rho * c->e[a], V[a].x, d.x, 12);
    }
    for (int a = 0; a < 12; a++) d.x[a] *= c->e[j];
    add_slope(q, c, &W[j], &d);
  }
}

static void contact_terms(const abEcpJoint* q, abEcpManifold* m, bool slopes) {
  const abEcpContact* c = m->c;
  abVec3 x[AB_ECP_POINTS], axis[3], zero = v3_zero();
  for (int j = 0; j < 3; j++) axis[j] = m3_apply(&c->body[m->ref]->R, m->frame[j]);
  press(q, m, axis[0], x);
  for (int j = 0; j < 3; j++) m->s[j] = 0;
  m->P = zero;
  if (!(m->pn > 0)) return;
  Arms arm = arms_at(c, m->a);
  double y[3];
  rub(q, m, axis, arm.slide, y);
  Column W[3], V[3], dpn = {{0}};
  for (int j = 0; j < 3; j++) {
    W[j] = j < 2 ? force_at(axis[1 + j], arm.impulse, zero) : force_at(zero, arm.impulse, axis[0]);
    V[j] = j < 2 ? force_at(axis[1 + j], arm.slide, zero) : W[j];
    add_force(q, c, &W[j], c->e[j] * m->s[j]);
  }
  for (int i = 0; i < m->n; i++) {
    const abEcpPoint* p = &m->point[i];
    if (!(p->lambda > 0)) continue;
    arm = arms_at(c, x[i]);
    Column N = force_at(axis[0], arm.impulse, zero);
    add_force(q, c, &N, p->lambda);
    if (!slopes) continue;
    // a larger share moves the point where friction acts
    N = force_at(axis[0], arm.impulse, v3_cross(v3_scale(1 / m->pn, v3_sub(x[i], m->a)), m->P));
    Column d = gap_slope(c, axis[0], x[i]);
    for (int a = 0; a < 12; a++) d.x[a] *= -q->stiffness * m->mass;
    dense_axpy(1, d.x, dpn.x, 12);
    add_slope(q, c, &N, &d);
  }
  if (slopes && c->mu > 0) friction_slope(q, m, y, (Column*[]){W, V, &dpn});
}

// Fills F, and J if asked; returns the norm of F.
static double evaluate(const abEcpJoint* q, bool slopes) {
  abEcpSystem* s = q->s;
  int n = 6 * s->nbody;
  memset(s->J, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < s->nbody; i++) {
    int r = s->body[i]->slot;
    ab_ecp_body_end(s->body[i], s->exact_momentum);
    ab_ecp_body_rows(s, s->body[i], s->F + r, s->J + r * n + r, n);
  }
  for (int i = 0; i < q->n; i++) contact_terms(q, &q->m[i], slopes);
  return ab_dense_norm(s->F, n);
}

static void move_bodies(const abEcpSystem* s, double alpha) {
  for (int i = 0; i < s->nbody; i++) {
    abEcpBody* b = s->body[i];
    const double *p = s->trial + b->slot, *d = s->step + b->slot;
    b->v = v3(p[0] - alpha * d[0], p[1] - alpha * d[1], p[2] - alpha * d[2]);
    b->w = v3(p[3] - alpha * d[3], p[4] - alpha * d[4], p[5] - alpha * d[5]);
  }
}

// F along the step, weighted such that it is the slope of a potential.
static double slope_along(const abEcpSystem* s) {
  double sum = 0;
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    const double *F = s->F + b->slot, *d = s->step + b->slot;
    sum -= b->m * dense_dot(F, d, 3) + b->inertia_scale * dense_dot(F + 3, d + 3, 3);
  }
  return sum;
}

// Along the step to where the potential does not fall any more.
static double search_slope(const abEcpJoint* q, double small) {
  abEcpSystem* s = q->s;
  double first = slope_along(s), low = 0, high = 1, alpha = 1, at_low = first, at_high = 0,
         norm = 0;
  for (int probe = 0; probe < 8; probe++) {
    move_bodies(s, alpha);
    norm = evaluate(q, false);
    double now = slope_along(s);
    if (norm <= small || (alpha == 1 && now <= 0) || fabs(now) <= 0.2 * fabs(first)) break;
    if (now > 0)
      high = alpha, at_high = now;
    else
      low = alpha, at_low = now;
    if (at_high <= 0) break;
    double secant = low + (high - low) * at_low / (at_low - at_high);
    alpha = fmin(fmax(secant, low + 0.1 * (high - low)), high - 0.1 * (high - low));
  }
  return norm;
}

static void search_norm(const abEcpJoint* q, double last) {
  double best = INFINITY, at = 1;
  for (double alpha = 1; alpha > 0.02; alpha *= 0.5) {
    move_bodies(q->s, alpha);
    double norm = evaluate(q, false);
    if (norm < best) best = norm, at = alpha;
    if (norm < (1 - 0.1 * alpha) * last) break;
  }
  move_bodies(q->s, at);
}

bool ab_ecp_balance(const abEcpJoint* q, double unit) {
  abEcpSystem* s = q->s;
  int n = 6 * s->nbody;
  double norm = evaluate(q, true), first = norm, small = 1e-9 * unit + 1e-13 * q->stiffness;
  for (int it = 0; it < (q->coupled ? AB_ECP_COUPLED_STEPS : AB_ECP_PRESS_STEPS) && isfinite(norm);
       it++) {
    if (norm <= small) return true;
    if (q->coupled && it >= 5 && norm > 0.3 * first) return false;
    double size = n / (double)AB_ECP_DENSE;
    s->iterations++, s->work += 1 + size * size * size + 0.5 * q->n;
    memcpy(s->copy, s->F, sizeof(double) * (size_t)n);
    ab_ecp_eliminate(n, s->J, s->F, s->pivot, s->step);
    memcpy(s->F, s->copy, sizeof(double) * (size_t)n);
    for (int i = 0; i < s->nbody; i++) {
      const abEcpBody* b = s->body[i];
      twist_to_array((abTwist){b->v, b->w}, s->trial + b->slot);
    }
    if (q->coupled)
      search_norm(q, norm);
    else
      search_slope(q, small);
    norm = evaluate(q, true);
  }
  return norm <= small;
}

// Multipliers that change by nearly the same again are taken where that leads: by the change times
// r / (1 - r), r the ratio of the last two changes (Aitken). Returns that factor; 0 where changes
// have no common direction.
static double extrapolation(const abEcpJoint* q) {
  double now = 0, last = 0, both = 0;
  for (int i = 0; i < q->n; i++) {
    const abEcpManifold* m = &q->m[i];
    for (int j = 0; j < m->n + 3; j++) {
      const abEcpPoint* p = &m->point[j < m->n ? j : 0];
      double d = j < m->n ? p->lambda - p->held : m->s[j - m->n] - m->held[j - m->n];
      double e = j < m->n ? p->change : m->change[j - m->n];
      now += d * d / m->mass, last += e * e / m->mass, both += d * e / m->mass;
    }
  }
  double ratio = last > 0 ? both / last : 0;
  if (!(ratio > 0.3) || both < 0.9 * sqrt(now * last)) return 0;
  return fmin(30, ratio / (1 - fmin(ratio, 0.97)));
}

double ab_ecp_renew(abEcpJoint* q) {
  double drift = 0, far = q->extrapolate ? extrapolation(q) : 0;
  for (int i = 0; i < q->n; i++) {
    abEcpManifold* m = &q->m[i];
    double limit = m->c->mu * m->pn, most = q->coupled ? 0 : fabs(limit - m->limit), pn = 0;
    for (int j = 0; j < m->n; j++) {
      abEcpPoint* p = &m->point[j];
      p->change = p->lambda - p->held;
      most = fmax(most, fabs(p->change));
      p->held = fmax(0, p->lambda + far * p->change);
      pn += p->held;
    }
    m->limit = m->c->mu * pn;
    for (int j = 0; j < 3; j++) {
      m->change[j] = m->s[j] - m->held[j];
      most = fmax(most, fabs(m->change[j]));
      m->held[j] = m->s[j] + far * m->change[j];
    }
    drift = fmax(drift, most / (q->stiffness * m->mass));
  }
  q->extrapolate = !(far > 0);  // two plain changes tell the next ratio
  return drift;
}
