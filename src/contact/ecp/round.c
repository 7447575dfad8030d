// Ellipsoids against everything that is not a plane.
//
// Let E be the ellipsoid, O the other feature (a point, a segment, a rim, another ellipsoid) and N
// the unit outward normal of O at the contact. The surface point of E there is its support point
// against N, p_E = c + B A^2 q/|A q| with q = -B^T N, and O's is p_O, so that the contact is
//     p_E - p_O = 0.
// Two parameters locate p_O and N, both fixed in O's body:
//     point, ellipsoid   N = (e3 + p1 e1 + p2 e2)/|.|    p_O = c + rad N, or the support point to N
//     segment            N = cos(psi) e1 + sin(psi) e2   p_O = c + s u + rad N
//     rim                N = cos(psi) r + sin(psi) k     p_O = c + rad r,  r at the azimuth phi
// The chart e1, e2, e3 is put where the search, or the last step, has the normal, so that its own
// singularities are far. All is smooth. The support point moves with N by -W dN,
//     W = B (A^2/sigma - A^2 q q^T A^2/sigma^3) B^T,  sigma = |A q|,
// which is also the Hessian of the support function; the direction of greatest separation, the
// start of the search, is found with it by Newton's method on the sphere.
// Tests: test_ecp_kinematics, test_ecp_throw.
#include "contact/ecp/columns.h"

typedef struct Support {
  abVec3 p;     // farthest point in a direction, from the ellipsoid's centre
  abMat3 W;     // its derivative by the direction
  double size;  // height
} Support;

static Support support_of(const abEcpShape* s, const abEcpBody* b, abVec3 direction) {
  abVec3 A = v3_scale(s->scale, s->shape->size), A2 = v3_mul(A, A);
  abMat3 B = m3_mul(&b->R, &s->turn), Bt = m3_transpose(&B), S;
  abVec3 q = m3_apply_t(&B, direction), y = v3_mul(A2, q);
  double sigma = v3_norm(v3_mul(A, q));
  double a2[3] = {A2.x, A2.y, A2.z}, w[3] = {y.x, y.y, y.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      S.m[i][j] = ((i == j ? a2[i] : 0) - w[i] * w[j] / (sigma * sigma)) / sigma;
  abMat3 BS = m3_mul(&B, &S);
  return (Support){m3_apply(&B, v3_scale(1 / sigma, y)), m3_mul(&BS, &Bt), sigma};
}

static abVec3 to_world(const abEcpBody* b, abVec3 x) { return v3_add(b->x, m3_apply(&b->R, x)); }

static int ellipsoid_side(const abEcpFeature f[2]) { return f[0].kind == AB_ECP_ROUND ? 0 : 1; }

// Support of the other feature in the unit direction N, from its centre.
static Support other_support(const abEcpFeature* f, const abEcpBody* b, abVec3 N) {
  if (f->kind == AB_ECP_ROUND) return support_of(f->shape, b, N);
  Support s = {.p = v3_scale(f->rad, N), .size = f->rad};
  if (f->kind != AB_ECP_RIM) {
    for (int i = 0; i < 3; i++) s.W.m[i][i] = f->rad;
    return s;
  }
  abVec3 k = m3_apply(&b->R, f->n), in = v3_axpy(-v3_dot(k, N), k, N);
  double norm = v3_norm(in);
  if (!(norm > 1e-9)) return (Support){.size = 0};  // N along the axis: the whole disc
  abVec3 r = v3_scale(1 / norm, in), t = v3_cross(k, r);
  double tt[3] = {t.x, t.y, t.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s.W.m[i][j] = f->rad / norm * tt[i] * tt[j];
  s.p = v3_scale(f->rad, r);
  s.size = f->rad * norm;
  return s;
}

// Separation along N of the ellipsoid from the other feature, its gradient and Hessian.
static double separation(const abEcpContact* c, const abEcpFeature f[2], abVec3 N, abVec3* gradient,
                         abMat3* W) {
  int e = ellipsoid_side(f), o = 1 - e;
  abVec3 d = v3_sub(to_world(c->body[e], f[e].c), to_world(c->body[o], f[o].c));
  Support E = support_of(f[e].shape, c->body[e], v3_neg(N));
  Support O = other_support(&f[o], c->body[o], N);
  *gradient = v3_add(d, v3_sub(E.p, O.p));
  *W = m3_add(&E.W, &O.W);
  return v3_dot(N, d) - E.size - O.size;
}

// One step of Newton on the sphere, in the tangent plane of N; for a segment across it only.
static abVec3 ascend(const abEcpFeature* o, const abEcpBody* b, abVec3 N, abVec3 g, const abMat3* W,
                     double scale) {
  abVec3 t[2];
  int n = 2;
  v3_tangents(N, &t[0], &t[1]);
  if (o->kind == AB_ECP_SEGMENT) t[0] = v3_unit(v3_cross(m3_apply(&b->R, o->u), N)), n = 1;
  double h[2][2] = {{0}}, r[2] = {0}, x[2] = {0};
  for (int i = 0; i < n; i++) {
    r[i] = v3_dot(t[i], g);
    for (int j = 0; j < n; j++)
      h[i][j] = v3_dot(t[i], m3_apply(W, t[j])) + (i == j ? fmax(0, v3_dot(N, g)) : 0);
  }
  // The height N.g is the separation: negative it makes the sphere's own curvature help the wrong
  // way, and is left out; the Hessian of the support functions is then positive definite.
  double det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
  if (n == 1) {
    x[0] = r[0] / h[0][0];
  } else {
    x[0] = (r[0] * h[1][1] - r[1] * h[0][1]) / det, x[1] = (h[0][0] * r[1] - h[1][0] * r[0]) / det;
  }
  double size = sqrt(x[0] * x[0] + x[1] * x[1]), limit = size > 0.5 ? 0.5 / size : 1;
  if (!isfinite(size)) return N;
  return v3_unit(
      v3_axpy(scale * limit * x[0], t[0], v3_axpy(n == 2 ? scale * limit * x[1] : 0, t[1], N)));
}

bool ab_ecp_round_normal(const abEcpContact* c, const abEcpFeature f[2], abVec3* N) {
  int e = ellipsoid_side(f), o = 1 - e;
  abVec3 g;
  abMat3 W;
  if (f[o].kind == AB_ECP_SEGMENT) {
    abVec3 u = m3_apply(&c->body[o]->R, f[o].u);
    *N = v3_axpy(-v3_dot(u, *N), u, *N);
  }
  if (!(v3_norm2(*N) > 0)) return false;
  *N = v3_unit(*N);
  double best = separation(c, f, *N, &g, &W);
  for (int i = 0; i < 30; i++) {
    bool better = false;
    for (double scale = 1; scale > 1e-3 && !better; scale *= 0.5) {
      abVec3 next = ascend(&f[o], c->body[o], *N, g, &W, scale), g1;
      abMat3 W1;
      double sep = separation(c, f, next, &g1, &W1);
      better = sep > best;
      if (better) *N = next, best = sep, g = g1, W = W1;
    }
    if (!better) break;
  }
  return true;
}

bool ab_ecp_set_round(abEcpContact* c) {
  for (int i = 0; i < 2; i++) {
    abEcpKind k = c->feature[i].kind;
    if (k == AB_ECP_NONE || k == AB_ECP_FACE) return false;
  }
  c->rounded = true;
  c->npar = 2;
  return true;
}

// N in O's body, its derivatives by the parameters, and the same of p_O as far as it is not rad N
// or a support point.
typedef struct Chart {
  abVec3 N, dN[2], p, dp[2];
} Chart;

static Chart chart_at(const abEcpContact* c, const abEcpFeature* f) {
  Chart q = {.p = f->c};
  double a = c->par[0], b = c->par[1];
  const abVec3* e = c->chart;
  if (f->kind == AB_ECP_SEGMENT) {
    q.N = v3_axpy(cos(b), e[0], v3_scale(sin(b), e[1]));
    q.dN[1] = v3_axpy(cos(b), e[1], v3_scale(-sin(b), e[0]));
    q.p = v3_axpy(a, f->u, f->c), q.dp[0] = f->u;
  } else if (f->kind == AB_ECP_RIM) {
    abVec3 r = v3_axpy(cos(a), f->u, v3_scale(sin(a), f->v));
    abVec3 t = v3_axpy(cos(a), f->v, v3_scale(-sin(a), f->u));
    double co = cos(b + c->chart_angle), si = sin(b + c->chart_angle);
    q.N = v3_axpy(co, r, v3_scale(si, f->n));
    q.dN[0] = v3_scale(co, t), q.dN[1] = v3_axpy(co, f->n, v3_scale(-si, r));
    q.p = v3_axpy(f->rad, r, f->c), q.dp[0] = v3_scale(f->rad, t);
  } else {
    abVec3 y = v3_axpy(a, e[0], v3_axpy(b, e[1], e[2]));
    double norm = v3_norm(y);
    q.N = v3_scale(1 / norm, y);
    for (int i = 0; i < 2; i++)
      q.dN[i] = v3_scale(1 / norm, v3_axpy(-v3_dot(q.N, e[i]), q.N, e[i]));
  }
  return q;
}

bool ab_ecp_round_orient(abEcpContact* c) {
  int o = 1 - ellipsoid_side(c->feature);
  const abEcpFeature* f = &c->feature[o];
  if (c->charted) c->round_n = chart_at(c, f).N;
  abVec3 N = c->round_n, n, t;
  if (!(v3_norm2(N) > 0)) return false;
  if (f->kind == AB_ECP_SEGMENT) {
    N = v3_axpy(-v3_dot(f->u, N), f->u, N);
    if (!(v3_norm2(N) > 0)) return false;
    c->chart[0] = v3_unit(N), c->chart[1] = v3_cross(f->u, c->chart[0]);
  } else if (f->kind == AB_ECP_RIM) {
    abVec3 r = v3_axpy(cos(c->par[0]), f->u, v3_scale(sin(c->par[0]), f->v));
    c->chart_angle = atan2(v3_dot(N, f->n), v3_dot(N, r));
  } else {
    c->chart[2] = v3_unit(N);
    v3_tangents(c->chart[2], &c->chart[0], &c->chart[1]);
    c->par[0] = 0;
  }
  c->par[1] = 0;
  c->charted = true;
  n = m3_apply(&c->body[o]->R, chart_at(c, f).N);
  v3_tangents(o == 1 ? n : v3_neg(n), &c->t_ref, &t);
  return true;
}

bool ab_ecp_round_place(abEcpContact* c, abVec3 a) {
  int e = ellipsoid_side(c->feature), o = 1 - e;
  const abEcpFeature* f = &c->feature[o];
  const abEcpBody* b = c->body[o];
  // from the point that is to be near the contact towards the ellipsoid's middle
  abVec3 N = v3_sub(to_world(c->body[e], c->feature[e].c), a);
  if (!ab_ecp_round_normal(c, c->feature, &N)) return false;
  c->round_n = m3_apply_t(&b->R, N);
  c->charted = false;
  abVec3 touch = v3_add(to_world(c->body[e], c->feature[e].c),
                        support_of(c->feature[e].shape, c->body[e], v3_neg(N)).p);
  if (f->kind == AB_ECP_SEGMENT) {
    double s = v3_dot(m3_apply(&b->R, f->u), v3_sub(touch, to_world(b, f->c)));
    c->par[0] = fmax(-f->half, fmin(f->half, s));
  }
  if (f->kind == AB_ECP_RIM) c->par[0] = atan2(v3_dot(c->round_n, f->v), v3_dot(c->round_n, f->u));
  return ab_ecp_round_orient(c);
}

abVec3 ab_ecp_round_memory(const abEcpContact* c) {
  return chart_at(c, &c->feature[1 - ellipsoid_side(c->feature)]).N;
}

void ab_ecp_round_kinematics(const abEcpContact* c, abEcpKinematics* k,
                             double dn[3][AB_ECP_COLUMNS]) {
  int e = ellipsoid_side(c->feature), o = 1 - e;
  const abEcpFeature* f = &c->feature[o];
  const abEcpBody *bo = c->body[o], *be = c->body[e];
  Chart q = chart_at(c, f);
  abVec3 N = m3_apply(&bo->R, q.N), p = to_world(bo, q.p);
  Support E = support_of(c->feature[e].shape, be, v3_neg(N)), O = {.size = 0};
  if (f->kind == AB_ECP_ROUND || f->kind == AB_ECP_POINT || f->kind == AB_ECP_SEGMENT)
    O = other_support(f, bo, N);
  p = v3_add(p, O.p);
  abVec3 pe = v3_add(to_world(be, c->feature[e].c), E.p), g = v3_sub(pe, p);
  double dN[3][AB_ECP_COLUMNS] = {{0}}, dpe[3][AB_ECP_COLUMNS] = {{0}};
  add_turn(dN, 6 * o + 3, N, 1);
  add_identity(k->Ja, 6 * o, 1);
  add_turn(k->Ja, 6 * o + 3, v3_sub(p, bo->x), 1);
  for (int i = 0; i < 2; i++) {
    abVec3 d = m3_apply(&bo->R, q.dN[i]);
    set_column(dN, AB_ECP_PAR + i, d);
    set_column(k->Ja, AB_ECP_PAR + i, v3_add(m3_apply(&bo->R, q.dp[i]), m3_apply(&O.W, d)));
  }
  add_identity(dpe, 6 * e, 1);
  add_turn(dpe, 6 * e + 3, v3_sub(pe, be->x), 1);
  double relative[3][AB_ECP_COLUMNS];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < AB_ECP_COLUMNS; j++) relative[i][j] = dN[i][j];
  add_turn(relative, 6 * e + 3, N, -1);
  k->a = p;
  k->n = o == 1 ? N : v3_neg(N);
  k->g[0] = g.x, k->g[1] = g.y, k->g[2] = g.z;
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 turn = m3_apply(&E.W, v3(relative[0][j], relative[1][j], relative[2][j]));
    double w[3] = {turn.x, turn.y, turn.z};
    for (int i = 0; i < 3; i++) {
      k->Jg[i][j] = dpe[i][j] - w[i] - k->Ja[i][j];
      dn[i][j] = o == 1 ? dN[i][j] : -dN[i][j];
    }
  }
}
