// Acceptance: the equations and inequalities of Xie & Chakraborty, evaluated afresh.
//
// With touching bodies their (13)-(17) say: a lies in both bodies, and a plane through a separates
// them (its normal is in the normal cone of the one and against that of the other). That is checked
// here through the bodies' support functions, which know nothing of modes. Friction is checked as
// they write it, (9), with sigma = |w|:
//     e_j^2 mu p_n v_j + p_j sigma = 0,  (mu p_n)^2 - sum (p_j/e_j)^2 >= 0,  sigma >= 0,
// each divided by what makes it a number of order one: with P the largest of load, contact impulse
// and 1e-6 m |v| (over the island), (9) by e_j max(mu p_n, P) (|w| + P/m), the cone by P^2.
// Momentum is compared with P of the body itself.
// Tests: test_ecp_drop, test_ecp_roll.
#include <float.h>

#include "contact/ecp/ecp.h"

bool ab_ecp_admissible(const abEcpSystem* s, const abEcpContact* c, double* worst) {
  if (!c->feature[0].shape || !c->feature[1].shape) {  // no mode was found for this contact
    *worst = INFINITY;
    return false;
  }
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  double over = ab_ecp_overlap(c, &k), out = -INFINITY;
  for (int i = 0; i < 2; i++) {
    if (c->ref == i) {
      out = fmax(out, ab_ecp_face_outside(&c->feature[i], c->body[i], k.a));
    } else if (c->ref >= 0) {
      out = fmax(out, ab_ecp_feature_outside(&c->feature[i], c->par));
    } else {
      const abEcpFeature* f = &c->feature[i];
      abVec3 r = v3_sub(m3_apply_t(&c->body[i]->R, v3_sub(k.a, c->body[i]->x)), f->c);
      double s[2] = {v3_dot(f->u, r), 0};
      out = fmax(out, ab_ecp_feature_outside(f, s));
    }
  }
  double pull = -c->pn / (ab_ecp_reduced_mass(c) * s->speed + DBL_MIN);
  *worst = fmax(fmax(over, out), pull);
  return over <= AB_ECP_OVERLAP && out <= AB_ECP_BORDER && pull <= AB_ECP_BORDER;
}

// Between moving bodies the equations may have solutions far away, where huge impulses wedge
// against each other and drive the bodies. Contact does not: what it may add (lever.c) is far
// below the share `gain` of the energy at hand, of motion and of what the load can give in a step,
// but for fast spins (a quarter of a radian a step adds 6 %).
bool ab_ecp_plausible(const abEcpSystem* s) {
  double before = 0, after = 0, work = 0;
  for (int i = 0; i < s->nbody; i++) {
    const abEcpBody* b = s->body[i];
    abVec3 f = v3_add(b->f, b->f_ext), tau = v3_add(b->tau, b->tau_ext);
    before += 0.5 * (b->m * v3_norm2(b->v0) + v3_dot(b->w0, m3_apply(&b->I, b->w0)));
    before += v3_norm2(f) / b->m + v3_norm2(tau) / b->inertia_scale;
    after += 0.5 * (b->m * v3_norm2(b->v) + v3_dot(b->w, m3_apply(&b->I, b->w)));
    after -= v3_norm2(f) / b->m + v3_norm2(tau) / b->inertia_scale;
    work += v3_dot(f, b->v) + v3_dot(tau, b->w);
  }
  return after - work <= (1 + s->gain) * before;
}

static void slip_velocity(const abEcpContact* c, const abEcpKinematics* k, double v[3]) {
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abEcpLevers lever;
  ab_ecp_levers(c, k, 0, NULL, &lever);
  abVec3 u = ab_ecp_slip(c, &lever);
  v[0] = v3_dot(k->t, u), v[1] = v3_dot(k->o, u), v[2] = v3_dot(k->n, v3_sub(b0->w, b1->w));
}

static void check_friction(const abEcpSystem* s, const abEcpContact* c, const abEcpKinematics* k,
                           abEcpVerdict* verdict) {
  double v[3], p[3], sigma = 0, cone = 0, limit = c->mu * c->pn;
  slip_velocity(c, k, v);
  for (int j = 0; j < 3; j++) {
    p[j] = c->e[j] * c->s[j];
    sigma += c->e[j] * c->e[j] * v[j] * v[j];
    cone += c->s[j] * c->s[j];
  }
  sigma = sqrt(sigma);
  double unit = ab_ecp_reduced_mass(c) * s->speed + DBL_MIN;
  if (!c->stick) {
    for (int j = 0; j < 3; j++) {
      double row = c->e[j] * c->e[j] * limit * v[j] + p[j] * sigma;
      double size = c->e[j] * fmax(limit, unit) * (sigma + s->speed) + DBL_MIN;
      verdict->residual = fmax(verdict->residual, fabs(row) / size);
    }
    verdict->residual = fmax(verdict->residual, fabs(cone - limit * limit) / (unit * unit));
  } else {
    verdict->residual = fmax(verdict->residual, sigma / (s->speed + DBL_MIN));
  }
  double excess = cone - fmax(limit, c->mu_static * c->pn) * fmax(limit, c->mu_static * c->pn);
  verdict->violated = fmax(verdict->violated, excess / (unit * unit));
}

static void check_body(const abEcpSystem* s, const abEcpBody* b, abEcpVerdict* verdict) {
  abVec3 lin = v3_sub(v3_scale(b->m, v3_sub(b->v, b->v0)), b->f);
  abVec3 L0 = m3_apply(&b->I, b->w0);
  abVec3 ang = s->exact_momentum
                   ? v3_sub(b->L, L0)
                   : v3_add(m3_apply(&b->I, v3_sub(b->w, b->w0)), v3_cross(b->w0, L0));
  ang = v3_sub(ang, b->tau);
  double most = fmax(v3_norm(b->f), 1e-6 * b->m * v3_norm(b->v));
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    if (c->body[0] != b && c->body[1] != b) continue;
    abEcpKinematics k;
    ab_ecp_kinematics(c, &k);
    abVec3 P = v3_scale(c->body[0] == b ? 1 : -1, ab_ecp_impulse(c, &k));
    double pr = (c->body[0] == b ? 1 : -1) * c->e[2] * c->s[2];
    abEcpLevers lever;
    ab_ecp_levers(c, &k, 0, NULL, &lever);
    lin = v3_sub(lin, P);
    ang = v3_sub(ang, v3_axpy(pr, k.n, v3_cross(lever.arm[c->body[0] == b ? 0 : 1], P)));
    most = fmax(most, v3_norm(P));
  }
  most += DBL_MIN;
  // length 1 is the size of the island's first body; this body's own arm is what its torques see
  double arm = sqrt(b->inertia_scale / b->m);
  verdict->residual = fmax(verdict->residual, v3_norm(lin) / most);
  verdict->residual = fmax(verdict->residual, v3_norm(ang) / (most * arm));
}

abEcpVerdict ab_ecp_check(const abEcpSystem* s) {
  abEcpVerdict verdict = {0, 0};
  for (int i = 0; i < s->nbody; i++) check_body(s, s->body[i], &verdict);
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    abEcpKinematics k;
    ab_ecp_kinematics(c, &k);
    for (int e = 0; e < c->neq; e++) verdict.residual = fmax(verdict.residual, fabs(k.g[e]));
    check_friction(s, c, &k, &verdict);
    double worst;
    if (!ab_ecp_admissible(s, c, &worst)) verdict.violated = fmax(verdict.violated, worst);
  }
  return verdict;
}
