// Contact modes without a plane: curves that cross, rounded points and segments near each other.
//
// A curve is a segment or a rim, x(s) with unit tangent u(s); rounding r is the radius about a
// point or a segment. Modes, with their equations:
//     crossing   two curves, n along u1 x u2:          x1(s1) - x2(s2) = (r1 + r2) n
//     alongside  two nearly parallel rounded segments, or a rim and a rounded segment:
//                |D| = r1 + r2, n.u1 = 0, n = D/|D|, D the part of x1(s1) - c2 across u2
//     nearest    a rounded point and a curve, n between them:  |D| = r1 + r2, u.D = 0
//                or two rounded points:                        |D| = r1 + r2
//
// "Alongside" needs no angle between the segments: where they are parallel, n.u1 = 0 holds the pose
// and the moments place s1 on the line of contact; where they are not, it places s1 at the
// crossing. A rim often meets a barrel with parallel tangents (a can that stands beside one that
// lies), where the product of the tangents says nothing; there n.u1 = 0 finds the azimuth. The
// frame turns with n such that t stays the projection of a fixed direction e:
//     psi = n x dn - n (o.dn)(n.e)/|e - n (n.e)|.
// Tests: test_ecp_kinematics.
#include "contact/ecp/columns.h"

static bool is_curve(const abEcpFeature* f) {
  return f->kind == AB_ECP_SEGMENT || f->kind == AB_ECP_RIM;
}

// Rounding about a point or a segment; a rim is sharp.
static double rounding(const abEcpFeature* f) { return f->kind == AB_ECP_RIM ? 0 : f->rad; }

typedef struct Curve {
  abVec3 x, along, bend;  // point, unit tangent, its derivative by the parameter
  double speed;           // |dx/dparameter|
} Curve;

static Curve curve_at(const abEcpFeature* f, const abEcpBody* b, double par) {
  Curve q = {.x = v3_add(b->x, m3_apply(&b->R, f->c))};
  if (f->kind == AB_ECP_SEGMENT) {
    q.along = m3_apply(&b->R, f->u);
    q.speed = 1;
    q.x = v3_axpy(par, q.along, q.x);
  } else if (f->kind == AB_ECP_RIM) {
    abVec3 u = m3_apply(&b->R, f->u), v = m3_apply(&b->R, f->v);
    double co = cos(par), si = sin(par);
    abVec3 radial = v3_add(v3_scale(co, u), v3_scale(si, v));
    q.along = v3_sub(v3_scale(co, v), v3_scale(si, u));
    q.bend = v3_neg(radial);
    q.speed = f->rad;
    q.x = v3_axpy(f->rad, radial, q.x);
  }
  return q;
}

bool ab_ecp_set_curved(abEcpContact* c) {
  const abEcpFeature *f0 = &c->feature[0], *f1 = &c->feature[1];
  if (f0->kind == AB_ECP_ROUND || f1->kind == AB_ECP_ROUND) return ab_ecp_set_round(c);
  bool curve0 = is_curve(f0), curve1 = is_curve(f1);
  if (!(curve0 || f0->kind == AB_ECP_POINT) || !(curve1 || f1->kind == AB_ECP_POINT)) return false;
  c->npar = curve0 + curve1;
  bool round = rounding(f0) + rounding(f1) > 0;
  if (!round && c->npar == 1) return ab_ecp_set_corner(c);
  if (round && f0->kind == AB_ECP_SEGMENT && f1->kind == AB_ECP_SEGMENT) {
    abVec3 u0 = m3_apply(&c->body[0]->R0, f0->u), u1 = m3_apply(&c->body[1]->R0, f1->u);
    // below some 2 degrees the crossing runs along the segments with any small turn
    c->alongside = v3_norm2(v3_cross(u0, u1)) < AB_ECP_ALONGSIDE;
  }
  for (int i = 0; i < 2; i++) {
    bool barrel = c->feature[i].kind == AB_ECP_SEGMENT && c->feature[i].rad > 0;
    if (barrel && c->feature[1 - i].kind == AB_ECP_RIM) c->alongside = true;
  }
  c->line = f0->kind == AB_ECP_SEGMENT && f1->kind == AB_ECP_RIM ? 0 : 1;
  if (c->alongside) c->npar = 1;
  return c->npar == 2 || round;
}

// Whether a normal points from body 2 to body 1: edges by what separates the bodies more, others by
// the bodies' own centres.
static bool points_to_body_1(const abEcpContact* c, abVec3 n) {
  const abEcpShape *s0 = &c->shape[0], *s1 = &c->shape[1];
  if (ab_ecp_is_polyhedron(s0->shape) && ab_ecp_is_polyhedron(s1->shape))
    return ab_ecp_separation(c, n) >= ab_ecp_separation(c, v3_neg(n));
  abVec3 inside0 = v3_add(c->body[0]->x, m3_apply(&c->body[0]->R, s0->off));
  abVec3 inside1 = v3_add(c->body[1]->x, m3_apply(&c->body[1]->R, s1->off));
  return v3_dot(n, v3_sub(inside0, inside1)) >= 0;
}

bool ab_ecp_orient(abEcpContact* c) {
  if (c->ref >= 0 || c->cornered) return true;
  if (c->rounded) return ab_ecp_round_orient(c);
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  bool first = is_curve(&c->feature[0]);
  Curve q0 = curve_at(&c->feature[0], b0, c->alongside && c->line == 0 ? 0 : c->par[0]);
  double par1 = !c->alongside ? c->par[first] : c->line == 1 ? 0 : c->par[0];
  Curve q1 = curve_at(&c->feature[1], b1, par1);
  abVec3 n = v3_sub(q0.x, q1.x), o, along = c->line == 1 ? q1.along : q0.along;
  if (c->alongside) n = v3_axpy(-v3_dot(n, along), along, n);
  if (c->npar == 2) {
    n = v3_cross(q0.along, q1.along);
    // Nearly parallel edges leave the normal to chance; they meet in a mode with a plane instead.
    if (v3_norm2(n) < AB_ECP_PARALLEL) return false;
    c->sign = points_to_body_1(c, n) ? 1 : -1;
    n = v3_scale(c->sign, n);
  }
  v3_tangents(v3_unit(n), &c->t_ref, &o);
  return true;
}

// dn (3 x columns) -> psi, and k->t, k->o from the fixed direction e.
static void frame_from_normal(abEcpKinematics* k, abVec3 e, double dn[3][AB_ECP_COLUMNS]) {
  double ne = v3_dot(k->n, e);
  abVec3 u = v3_axpy(-ne, k->n, e);
  double norm = v3_norm(u);
  k->t = v3_scale(1 / norm, u);
  k->o = v3_cross(k->n, k->t);
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 d = v3(dn[0][j], dn[1][j], dn[2][j]);
    set_column(k->psi, j, v3_axpy(-v3_dot(k->o, d) * ne / norm, k->n, v3_cross(k->n, d)));
  }
}

// J <- scale (1 - n n^T) J
static void project(double J[3][AB_ECP_COLUMNS], abVec3 n, double scale) {
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 d = v3(J[0][j], J[1][j], J[2][j]);
    set_column(J, j, v3_scale(scale, v3_axpy(-v3_dot(n, d), n, d)));
  }
}

// The two points of features that are not faces, and the variation of their difference.
static void curve_pair(const abEcpContact* c, Curve q[2], double D[3][AB_ECP_COLUMNS]) {
  int par = 0;
  for (int i = 0; i < 2; i++) {
    double sign = i == 0 ? 1 : -1;
    if (c->alongside && i == c->line) continue;
    q[i] = curve_at(&c->feature[i], c->body[i], c->par[par]);
    if (is_curve(&c->feature[i]))
      set_column(D, AB_ECP_PAR + par++, v3_scale(sign * q[i].speed, q[i].along));
  }
  if (c->alongside) {  // the point beside the other one
    int l = c->line;
    q[l] = curve_at(&c->feature[l], c->body[l], 0);
    q[l].x = v3_axpy(v3_dot(q[l].along, v3_sub(q[1 - l].x, q[l].x)), q[l].along, q[l].x);
  }
  for (int i = 0; i < 2; i++) {
    add_identity(D, 6 * i, i == 0 ? 1 : -1);
    add_turn(D, 6 * i + 3, v3_sub(q[i].x, c->body[i]->x), i == 0 ? 1 : -1);
  }
}

// Two curves that cross: n along the product of their tangents; the points differ by reach n.
static void crossing(const abEcpContact* c, const Curve q[2], double reach, abEcpKinematics* k,
                     double D[3][AB_ECP_COLUMNS], double dn[3][AB_ECP_COLUMNS]) {
  abVec3 m = v3_cross(q[0].along, q[1].along), d = v3_sub(q[0].x, q[1].x);
  double norm = v3_norm(m), along = v3_dot(q[0].along, q[1].along);
  k->n = v3_scale(c->sign / norm, m);
  // (dtheta0 x a) x b = a (b.dtheta0) - (a.b) dtheta0; a x (dtheta1 x b) = (a.b) dtheta1 - b
  // (a.dtheta1)
  add_identity(dn, 3, -along), add_identity(dn, 9, along);
  double a[3] = {q[0].along.x, q[0].along.y, q[0].along.z};
  double b[3] = {q[1].along.x, q[1].along.y, q[1].along.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) dn[i][3 + j] += a[i] * b[j], dn[i][9 + j] -= b[i] * a[j];
  set_column(dn, AB_ECP_PAR, v3_cross(q[0].bend, q[1].along));
  set_column(dn, AB_ECP_PAR + 1, v3_cross(q[0].along, q[1].bend));
  project(dn, k->n, c->sign / norm);
  double g[3] = {d.x - reach * k->n.x, d.y - reach * k->n.y, d.z - reach * k->n.z};
  for (int i = 0; i < 3; i++) {
    k->g[i] = g[i];
    for (int j = 0; j < AB_ECP_COLUMNS; j++) k->Jg[i][j] = D[i][j] - reach * dn[i][j];
  }
}

// A rounded point against a point or a curve: n from the one to the nearest point of the other.
static void nearest(const abEcpContact* c, const Curve q[2], double reach, abEcpKinematics* k,
                    double D[3][AB_ECP_COLUMNS], double dn[3][AB_ECP_COLUMNS]) {
  abVec3 d = v3_sub(q[0].x, q[1].x);
  double norm = v3_norm(d);
  k->n = v3_scale(1 / norm, d);
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    for (int i = 0; i < 3; i++) dn[i][j] = D[i][j];
    k->Jg[0][j] = k->n.x * D[0][j] + k->n.y * D[1][j] + k->n.z * D[2][j];
  }
  project(dn, k->n, 1 / norm);
  k->g[0] = norm - reach;
  if (c->npar == 0) return;
  int side = is_curve(&c->feature[0]) ? 0 : 1;
  abVec3 u = q[side].along, m = v3_cross(u, d);
  k->g[1] = v3_dot(u, d);
  for (int j = 0; j < AB_ECP_COLUMNS; j++)
    k->Jg[1][j] = u.x * D[0][j] + u.y * D[1][j] + u.z * D[2][j];
  k->Jg[1][6 * side + 3] += m.x, k->Jg[1][6 * side + 4] += m.y, k->Jg[1][6 * side + 5] += m.z;
  k->Jg[1][AB_ECP_PAR] += v3_dot(q[side].bend, d);
}

static void alongside(int line, const Curve q[2], double reach, abEcpKinematics* k,
                      double D[3][AB_ECP_COLUMNS], double dn[3][AB_ECP_COLUMNS]) {
  abVec3 u0 = q[1 - line].along, u1 = q[line].along, d = v3_sub(q[0].x, q[1].x);
  double norm = v3_norm(d);
  int turned = 6 * line + 3, own = 6 * (1 - line) + 3;
  k->n = v3_scale(1 / norm, d);
  abVec3 back = v3_cross(u1, d);  // d.(dtheta x u1) = dtheta.(u1 x d): d stays across u1
  double turn[3] = {back.x, back.y, back.z};
  for (int j = 0; j < AB_ECP_COLUMNS; j++) {
    abVec3 e = v3(D[0][j], D[1][j], D[2][j]);
    k->Jg[0][j] = v3_dot(k->n, e);
    e = v3_axpy(-v3_dot(u1, e), u1, e);
    if (j >= turned && j < turned + 3) e = v3_axpy(-turn[j - turned], u1, e);
    set_column(dn, j, e);
  }
  project(dn, k->n, 1 / norm);
  k->g[0] = norm - reach;
  k->g[1] = v3_dot(u0, k->n);
  for (int j = 0; j < AB_ECP_COLUMNS; j++)
    k->Jg[1][j] = u0.x * dn[0][j] + u0.y * dn[1][j] + u0.z * dn[2][j];
  abVec3 m = v3_cross(u0, k->n);
  k->Jg[1][own] += m.x, k->Jg[1][own + 1] += m.y, k->Jg[1][own + 2] += m.z;
  k->Jg[1][AB_ECP_PAR] += v3_dot(q[1 - line].bend, k->n);
}

// The contact point of segments alongside a curve of body 1: on the curve, which has no rounding.
static void point_on_second(const Curve q[2], abEcpKinematics* k, double D[3][AB_ECP_COLUMNS]) {
  k->a = q[1].x;
  for (int i = 0; i < 3; i++)
    for (int j = 6; j <= AB_ECP_PAR; j++) k->Ja[i][j] = -D[i][j];
}

void ab_ecp_curved_kinematics(const abEcpContact* c, abEcpKinematics* k) {
  if (c->cornered) {
    ab_ecp_corner_kinematics(c, k);
    return;
  }
  double D[3][AB_ECP_COLUMNS] = {{0}}, dn[3][AB_ECP_COLUMNS] = {{0}};
  if (c->rounded) {
    ab_ecp_round_kinematics(c, k, dn);
    frame_from_normal(k, c->t_ref, dn);
    return;
  }
  Curve q[2];
  curve_pair(c, q, D);
  double rad = rounding(&c->feature[0]), reach = rad + rounding(&c->feature[1]);
  if (c->alongside)
    alongside(c->line, q, reach, k, D, dn);
  else if (c->npar == 2)
    crossing(c, q, reach, k, D, dn);
  else
    nearest(c, q, reach, k, D, dn);
  if (c->alongside && c->line == 0) {
    point_on_second(q, k, D);
    frame_from_normal(k, c->t_ref, dn);
    return;
  }
  // a = x0 - rad n; x0 moves with body 0 and its own parameter only
  bool own_par = is_curve(&c->feature[0]);
  k->a = v3_axpy(-rad, k->n, q[0].x);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < AB_ECP_COLUMNS; j++) {
      bool own = j < 6 || (own_par && j == AB_ECP_PAR);
      k->Ja[i][j] = (own ? D[i][j] : 0) - rad * dn[i][j];
    }
  frame_from_normal(k, c->t_ref, dn);
}
