// Where in a step the impulse acts.
//
// Xie & Chakraborty take the arm of the impulse, r = a - q+, and the sliding velocity there at the
// end of the step. The work of the normal impulse is then p_n n.(v + w x r), and a body that pivots
// about a fixed point gains energy by it: n.(v + w x r) = |w|^2 |r_n| h / 2, the difference of arc
// and chord. gyro = 0 keeps this. gyro = 1 takes the mean arm of the step instead, as follows
// (h = 1).
//
// One body on a fixed one. Cay(w) moves r0 to r such that r - r0 = w x (r + r0)/2 exactly. With
//     M = (1 + [w/2])^-1,  M r = (r + r0)/2,
// a point of the body's matter that ends at r from the centre of mass has been displaced by
// v + w x M r. So the arm lambda = M r makes the work of the normal impulse p_n n.(displacement).
// Where the matter of a sharp feature ends on the plane, that is -p_n (height of the point at the
// start), which is <= 0 since nothing overlapped then. A rounded feature rolls: not the matter of
// its surface bears, but always its lowest point. Let H(R) be the depth of that lowest point below
// a point c of the skeleton; lambda must satisfy n.(w x lambda) = change of height, a discrete
// gradient of H:
//     sphere, capsule    H = rad:              lambda = M c - rad n
//     circle about k     H = rad s,  s = |k - z d|, z = k.d, d = -n:
//                        s+ - s0 = -(z+^2 - z0^2)/(s+ + s0), z+ - z0 = d.(w x M k), so
//                        lambda = M c + rad ((s+ + s0)/2 d - (z+ + z0)/2 (kappa+ + kappa0)/(s+ +
//                        s0)), kappa = k - z d (the barrel of a cylinder is such circles)
//     ellipsoid          H = |A m|, m = B^T d:
//                        lambda = M (off + B A^2 (m+ + m0)/(H+ + H0)) + y d
// (the parts along d leave the work as it is and make d.lambda the mean height). With any of them
//     n.(v + w x lambda) = -(height of the feature at the start) <= 0.
// A disc that lies flat touches with matter, a rim rolls: where a rim comes down flat the two must
// agree, or there are steps that neither solves. So below a tilt s+ of 0.1 (6 degrees) a rim goes
// over from its circle's arm to its matter's, lambda = mu lambda_circle + (1 - mu) lambda_matter:
// both arms do no positive work, and so does any mean of them. (Only such a low coin rolls with a
// loss of first order in h.) All other neighbouring features agree at their borders.
// Friction acts at the same lambda, by the velocity there, and so does no positive work either. The
// load does the work h f.v+. With the identities of implicit Euler (w+.I+ w+ = w+.I w+, as Cay(w)
// leaves w alone)
//     E+ - E = work of load - p_n height - mu p_n sigma - m |v+ - v|^2 / 2 - |w+ - w|_I^2 / 2,
// energy never grows without applied work; and the geometry at the end of the step is exact as
// before. Sticking means that the touching matter does not move at all, and rolling is free of
// loss. On flat faces with w along n, v and w are those of the paper's arm: only lambda enters.
//
// Two moving bodies. Angular momentum about a fixed point is q+ x m v+ + I+ w+ = q x m v+ + I+ w+:
// it is kept exactly if both impulses act at one point A seen from the centres of mass at the
// START, arm_i = A - q_i. The mean arms ask for A_i = q_i + lambda_i, which differ by half a step
// of relative motion. A = (m_2 A_1 + m_1 A_2)/(m_1 + m_2) splits the couple (A_1 - A_2) x P such
// that the heavier body bears it; it is independent of a common velocity (A = a, simpler, is not),
// and one fixed body is its limit. The price is work of that couple: energy may grow by at most
//     |P| |A_1 - A_2| |w|,  A_1 - A_2 = -h/2 (v_1 - v_2 + slip)
// a step. No choice of arms avoids it: for two bodies that turn as one, w_1 = w_2 = w, without slip
// at the end, equal and opposite impulses at one point do the work
// P.(v_1 - v_2 - w x (q_1 - q_2)) = P.(w x (w x rho)) h/2, rho the mean of q_1 - q_2 before and
// after, wherever the point is. Its sign is that of P, which other bodies can choose: x+ = x + h v+
// cannot have exact geometry, exact angular momentum and monotone energy at once between moving
// bodies. (A normal that turns adds p_n times the overlap that the touching features would have had
// at the start along the normal of the end, second order in h, too.)
// Tests: test_ecp_kinematics.
#include "contact/ecp/ecp.h"

typedef enum Shape { MATTER, BARREL, RIM, ELLIPSOID } Shape;

// One side of a contact: lambda = M X + Y, and what their variations need.
typedef struct Side {
  Shape shape;
  int side;
  const abEcpBody* b;
  const abEcpFeature* f;
  double rho;           // surface - skeleton, along n
  abVec3 d, X, Y, MX;   // d: from the skeleton to the surface
  abVec3 k0, k1, r, t;  // circle: axis; rim: unit vectors to the contact point and along the rim
  abVec3 kappa0, kappa1, level, Yc;
  double z0, z1, s0, s1, sign;
  double mu, dmu;  // share of the circle's arm, its derivative by s1
  bool steep;
  abMat3 B0, B1;  // ellipsoid
  abVec3 A2, m0, m1, q;
  double y;
} Side;

// (1 + [w/2])^-1 x
static abVec3 mean_of(const abEcpBody* b, abVec3 x) {
  abVec3 a = v3_scale(0.5, b->w);
  double k = 1 / (1 + v3_norm2(a));
  return v3_scale(k, v3_axpy(v3_dot(a, x), a, v3_sub(x, v3_cross(a, x))));
}

static void circle(Side* p) {
  p->z1 = v3_dot(p->d, p->k1), p->z0 = v3_dot(p->d, p->k0);
  p->kappa0 = v3_axpy(-p->z0, p->d, p->k0), p->kappa1 = v3_axpy(-p->z1, p->d, p->k1);
  p->s0 = v3_norm(p->kappa0), p->s1 = v3_norm(p->kappa1), p->sign = 1;
  // Near upright the azimuth tells the lowest point, not the difference of k and d.
  p->steep = p->shape == RIM && fabs(p->z1) > 0.7;
  if (p->steep) {
    p->s1 = v3_dot(p->d, p->r);
    p->level = v3_axpy(-p->s1, p->d, p->r);
    if (p->s1 < 0) p->s1 = -p->s1, p->sign = -1;
    p->kappa1 = v3_scale(-p->s1 / p->z1, p->level);
    if (p->s0 < AB_ECP_FLAT) p->s0 = 0, p->kappa0 = v3_zero();
  }
  double S = p->s1 + p->s0, zm = 0.5 * (p->z1 + p->z0);
  abVec3 across = p->steep && p->s0 == 0 ? v3_scale(-zm / p->z1, p->level)
                                         : v3_scale(zm / S, v3_add(p->kappa1, p->kappa0));
  p->Y = v3_scale(p->f->rad, v3_axpy(0.5 * S, p->d, v3_neg(across)));
}

static void ellipsoid(Side* p) {
  const abEcpShape* s = p->f->shape;
  abVec3 A = v3_scale(s->scale, s->shape->size);
  p->A2 = v3_mul(A, A);
  p->B1 = m3_mul(&p->b->R, &s->turn), p->B0 = m3_mul(&p->b->R0, &s->turn);
  p->m1 = m3_apply_t(&p->B1, p->d), p->m0 = m3_apply_t(&p->B0, p->d);
  p->s1 = v3_norm(v3_mul(A, p->m1)), p->s0 = v3_norm(v3_mul(A, p->m0));
  double S = p->s1 + p->s0;
  p->q = v3_scale(1 / S, v3_mul(p->A2, v3_add(p->m1, p->m0)));
  p->y = (p->s1 * p->s0 - v3_dot(p->m1, v3_mul(p->A2, p->m0))) / S;
  p->X = v3_add(m3_apply(&p->b->R, s->off), m3_apply(&p->B1, p->q));
  p->Y = v3_scale(p->y, p->d);
}

// Blends the arm of the rim's matter in at low tilts, smoothly.
static void blend(Side* p) {
  const double whole = 0.1;
  double x = p->s1 / whole;
  p->mu = x < 1 ? x * x * (3 - 2 * x) : 1;
  p->dmu = x < 1 ? 6 * x * (1 - x) / whole : 0;
  p->X = v3_axpy((1 - p->mu) * p->f->rad, p->r, p->X);
  p->Yc = p->Y;
  p->Y = v3_scale(p->mu, p->Y);
}

static bool is_curve(const abEcpFeature* f) {
  return f->kind == AB_ECP_SEGMENT || f->kind == AB_ECP_RIM;
}

// Which parameter of the contact is the azimuth of the rim on this side.
static int azimuth(const abEcpContact* c, int side) {
  return c->npar == 2 && c->ref < 0 && side == 1 && is_curve(&c->feature[0]) ? 1 : 0;
}

// Where a vertex on a rim is the point of contact (corner.c).
static double azimuth_of(const abEcpFeature* f, const abEcpBody* b, abVec3 a) {
  abVec3 r = v3_sub(m3_apply_t(&b->R, v3_sub(a, b->x)), f->c);
  return atan2(v3_dot(f->v, r), v3_dot(f->u, r));
}

static Side side_of(const abEcpContact* c, const abEcpKinematics* k, int side) {
  const abEcpFeature* f = &c->feature[side];
  const abEcpBody* b = c->body[side];
  Side p = {.side = side, .b = b, .f = f, .d = side == 0 ? v3_neg(k->n) : k->n};
  bool skeleton = f->kind == AB_ECP_POINT || f->kind == AB_ECP_SEGMENT;
  p.rho = skeleton ? (side == 0 ? -f->rad : f->rad) : 0;
  p.X = v3_axpy(-p.rho, k->n, v3_sub(k->a, b->x));
  p.Y = v3_scale(p.rho, k->n);
  if (f->kind == AB_ECP_ROUND) {
    p.shape = ELLIPSOID;
    ellipsoid(&p);
  } else if (f->kind == AB_ECP_RIM) {
    double phi = c->cornered ? azimuth_of(f, b, k->a) : c->par[azimuth(c, side)];
    p.shape = RIM;
    p.X = m3_apply(&b->R, f->c);
    p.r = m3_apply(&b->R, v3_axpy(cos(phi), f->u, v3_scale(sin(phi), f->v)));
    p.t = m3_apply(&b->R, v3_axpy(cos(phi), f->v, v3_scale(-sin(phi), f->u)));
    p.k1 = m3_apply(&b->R, f->n), p.k0 = m3_apply(&b->R0, f->n);
    circle(&p);
    blend(&p);
  } else if (f->kind == AB_ECP_SEGMENT && f->rad > 0 &&
             f->shape->shape->type == AB_SHAPE_CYLINDER) {
    p.shape = BARREL;
    p.k1 = m3_apply(&b->R, f->u), p.k0 = m3_apply(&b->R0, f->u);
    circle(&p);
  }
  p.MX = mean_of(b, p.X);
  return p;
}

static abVec3 column(const double J[3][AB_ECP_COLUMNS], int j) {
  return v3(J[0][j], J[1][j], J[2][j]);
}

static abVec3 vary_circle(const Side* p, abVec3 turn, abVec3 dd, double dphi, double* by_s) {
  abVec3 dk1 = v3_cross(turn, p->k1), dkappa1;
  double dz1 = v3_dot(dd, p->k1) + v3_dot(p->d, dk1), dz0 = v3_dot(dd, p->k0), ds1;
  double dzm = 0.5 * (dz1 + dz0), zm = 0.5 * (p->z1 + p->z0), S = p->s1 + p->s0;
  if (p->steep) {
    abVec3 dr = v3_axpy(dphi, p->t, v3_cross(turn, p->r));
    double raw = v3_dot(dd, p->r) + v3_dot(p->d, dr), s = p->sign * p->s1;
    abVec3 dlevel = v3_sub(dr, v3_axpy(raw, p->d, v3_scale(s, dd)));
    ds1 = *by_s = p->sign * raw;
    if (p->s0 == 0) {
      abVec3 across =
          v3_axpy(-zm / p->z1, dlevel, v3_scale(-(dzm - zm * dz1 / p->z1) / p->z1, p->level));
      abVec3 up = v3_axpy(0.5 * ds1, p->d, v3_scale(0.5 * S, dd));
      return v3_scale(p->f->rad, v3_sub(up, across));
    }
    dkappa1 =
        v3_axpy(-p->s1 / p->z1, dlevel, v3_scale(-(ds1 - p->s1 * dz1 / p->z1) / p->z1, p->level));
  } else {
    dkappa1 = v3_sub(dk1, v3_axpy(dz1, p->d, v3_scale(p->z1, dd)));
    ds1 = *by_s = v3_dot(p->kappa1, dkappa1) / p->s1;
  }
  abVec3 dkappa0 = v3_neg(v3_axpy(dz0, p->d, v3_scale(p->z0, dd)));
  double ds0 = p->s0 > 0 ? v3_dot(p->kappa0, dkappa0) / p->s0 : 0, dS = ds1 + ds0;
  abVec3 K = v3_add(p->kappa1, p->kappa0), dK = v3_add(dkappa1, dkappa0);
  abVec3 across = v3_axpy(zm / S, dK, v3_scale((dzm - zm * dS / S) / S, K));
  abVec3 up = v3_axpy(0.5 * dS, p->d, v3_scale(0.5 * S, dd));
  return v3_scale(p->f->rad, v3_sub(up, across));
}

static void vary_ellipsoid(const Side* p, abVec3 turn, abVec3 dd, abVec3* dX, abVec3* dY) {
  abVec3 dm1 = m3_apply_t(&p->B1, v3_sub(dd, v3_cross(turn, p->d))), dm0 = m3_apply_t(&p->B0, dd);
  abVec3 Am1 = v3_mul(p->A2, p->m1), Am0 = v3_mul(p->A2, p->m0);
  double ds1 = v3_dot(Am1, dm1) / p->s1, ds0 = v3_dot(Am0, dm0) / p->s0, S = p->s1 + p->s0;
  abVec3 dq = v3_axpy(-(ds1 + ds0), p->q, v3_mul(p->A2, v3_add(dm1, dm0)));
  *dX = v3_add(v3_cross(turn, p->X), m3_apply(&p->B1, v3_scale(1 / S, dq)));
  double dy = ds1 * p->s0 + p->s1 * ds0 - v3_dot(dm1, Am0) - v3_dot(dm0, Am1) - p->y * (ds1 + ds0);
  *dY = v3_axpy(dy / S, p->d, v3_scale(p->y, dd));
}

static const abVec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// d(lambda) by column j.
static abVec3 vary(const Side* p, const abEcpContact* c, const abEcpKinematics* k, int j) {
  bool own = j / 6 == p->side && j < AB_ECP_PAR, spin = own && j % 6 >= 3;
  abVec3 psi = column(k->psi, j), dn = v3_cross(psi, k->n), turn = v3_zero();
  abVec3 dd = p->side == 0 ? v3_neg(dn) : dn;
  if (spin) turn = m3_col(&p->b->T, j % 3);
  abVec3 dX = v3_axpy(-p->rho, dn, column(k->Ja, j)), dY = v3_scale(p->rho, dn);
  if (own && !spin) dX = v3_sub(dX, unit[j % 3]);
  double dphi = p->shape == RIM && j == AB_ECP_PAR + azimuth(c, p->side) ? 1 : 0;
  if (p->shape == RIM && c->cornered) dphi = v3_dot(p->k1, v3_sub(psi, turn));
  double ds;
  if (p->shape == RIM || p->shape == BARREL) dY = vary_circle(p, turn, dd, dphi, &ds);
  if (p->shape == RIM) {
    abVec3 dr = v3_axpy((1 - p->mu) * dphi, p->t, v3_scale(-p->dmu * ds, p->r));
    dX = v3_axpy(p->f->rad, dr, v3_cross(turn, p->X));
    dY = v3_axpy(p->dmu * ds, p->Yc, v3_scale(p->mu, dY));
  }
  if (p->shape == ELLIPSOID) vary_ellipsoid(p, turn, dd, &dX, &dY);
  if (spin) dX = v3_axpy(0.5, v3_cross(p->MX, unit[j % 3]), dX);
  return v3_add(mean_of(p->b, dX), dY);
}

static void paper_levers(const abEcpContact* c, const abEcpKinematics* k, int n, const int* from,
                         abEcpLevers* out) {
  for (int i = 0; i < 2; i++) {
    out->arm[i] = out->slide[i] = v3_sub(k->a, c->body[i]->x);
    for (int l = 0; l < n; l++) {
      int j = from[l];
      abVec3 da = column(k->Ja, j);
      if (j / 6 == i && j % 6 < 3 && j < AB_ECP_PAR) da = v3_sub(da, unit[j % 3]);
      out->Jarm[i][j] = out->Jslide[i][j] = da;
    }
  }
}

void ab_ecp_levers(const abEcpContact* c, const abEcpKinematics* k, int n, const int* from,
                   abEcpLevers* out) {
  if (!c->mean_lever) {
    paper_levers(c, k, n, from, out);
    return;
  }
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  for (int i = 0; i < 2; i++) {
    out->slide[i] = out->arm[i] = v3_zero();
    if (!c->body[i]->moving) {
      for (int l = 0; l < n; l++) out->Jslide[i][from[l]] = out->Jarm[i][from[l]] = v3_zero();
      continue;
    }
    Side p = side_of(c, k, i);
    out->slide[i] = out->arm[i] = v3_add(p.MX, p.Y);
    for (int l = 0; l < n; l++)
      out->Jslide[i][from[l]] = out->Jarm[i][from[l]] = vary(&p, c, k, from[l]);
  }
  if (!b0->moving || !b1->moving) return;
  double share = b1->m / (b0->m + b1->m);
  abVec3 apart = v3_sub(b1->x0, b0->x0);
  abVec3 A = v3_axpy(share, out->slide[0],
                     v3_scale(1 - share, v3_add(apart, out->slide[1])));  // seen from body 0
  out->arm[0] = A, out->arm[1] = v3_sub(A, apart);
  for (int l = 0; l < n; l++) {
    int j = from[l];
    out->Jarm[0][j] = out->Jarm[1][j] =
        v3_axpy(share, out->Jslide[0][j], v3_scale(1 - share, out->Jslide[1][j]));
  }
}

abVec3 ab_ecp_point(const abEcpContact* c, const abEcpKinematics* k) {
  if (!c->mean_lever) return k->a;
  abEcpLevers lever;
  ab_ecp_levers(c, k, 0, NULL, &lever);
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  double share = !b0->moving ? 0 : !b1->moving ? 1 : b1->m / (b0->m + b1->m);
  abVec3 d = v3_zero();
  for (int i = 0; i < 2; i++)
    if (c->body[i]->moving)
      d = v3_axpy(i == 0 ? share : 1 - share, v3_sub(v3_add(c->body[i]->x, lever.slide[i]), k->a),
                  d);
  // Along the line of action on to the plane, which leaves every moment as it is.
  abVec3 P = ab_ecp_impulse(c, k);
  if (!(c->pn > 0)) return k->a;
  return v3_add(k->a, v3_axpy(-v3_dot(k->n, d) / c->pn, P, d));
}
