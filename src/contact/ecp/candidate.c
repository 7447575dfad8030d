// Which modes are near, at given poses, and whether the bodies overlap at all.
//
// Every mode has a normal n of its own; the bodies' separation along it is
// sep(n) = min_1 n.x - max_2 n.x, and disjoint bodies have an n with sep(n) >= 0. For polyhedra the
// face normals and the crossings of edges suffice, for rounded points and segments the directions
// between them. A mode is ranked by what would have to change for it to be the contact: how far its
// separation is below the largest one, how far its features are above the plane they should be in,
// and how far beside each other they are.
// Tests: test_ecp_drop, test_ecp_roll.
#include "collide/distance/gjk.h"
#include "contact/ecp/ecp.h"

typedef struct Ranked {
  double score;
  abEcpMode mode;
} Ranked;

typedef struct Ranking {
  const abEcpContact* c;
  int n, max;
  Ranked* item;
  double best;  // largest separation
} Ranking;

static abVec3 to_world(const abEcpBody* b, abVec3 x) { return v3_add(b->x, m3_apply(&b->R, x)); }

// Neither of the two is a plane.
static double separation(const abEcpContact* c, abVec3 n) {
  abVec3 p = ab_ecp_support(&c->shape[0], c->body[0], v3_neg(n));
  abVec3 q = ab_ecp_support(&c->shape[1], c->body[1], n);
  return v3_dot(n, v3_sub(p, q));
}

static bool on_plane(const abEcpContact* c) { return c->shape[1].shape->type == AB_SHAPE_PLANE; }

static double plane_gap(const abEcpContact* c) {
  const abEcpBody* b = c->body[1];
  abEcpFeature f = ab_ecp_feature(&c->shape[1], AB_ECP_FACE, 0);
  abVec3 N = m3_apply(&b->R, f.n);
  abVec3 p = ab_ecp_support(&c->shape[0], c->body[0], v3_neg(N));
  return v3_dot(N, v3_sub(p, to_world(b, f.c)));
}

// A plane has no extent along other directions than its own.
double ab_ecp_separation(const abEcpContact* c, abVec3 n) {
  return on_plane(c) ? plane_gap(c) : separation(c, n);
}

// Height of the highest point of a feature of body 0 (sign 1) or depth of the lowest of body 1
// (sign -1) along n.
static double feature_height(const abEcpFeature* f, const abEcpBody* b, abVec3 n, double sign) {
  abVec3 d = v3_scale(sign, n);
  double h = v3_dot(d, to_world(b, f->c));
  switch (f->kind) {
    case AB_ECP_POINT:
      return h - f->rad;
    case AB_ECP_SEGMENT:
      return h + f->half * fabs(v3_dot(d, m3_apply(&b->R, f->u))) - f->rad;
    case AB_ECP_FACE: {
      const abShape* shape = f->shape->shape;
      if (shape->type == AB_SHAPE_PLANE) return h;
      if (shape->type == AB_SHAPE_CYLINDER) {
        double x = v3_dot(d, m3_apply(&b->R, f->u)), y = v3_dot(d, m3_apply(&b->R, f->v));
        return h + f->rad * sqrt(x * x + y * y);
      }
      const abPolyhedron* p = shape->poly;
      double most = -INFINITY;
      for (int i = p->face_start[f->index]; i < p->face_start[f->index + 1]; i++) {
        abVec3 x = ab_ecp_feature(f->shape, AB_ECP_POINT, p->loop[i]).c;
        most = fmax(most, v3_dot(d, to_world(b, x)));
      }
      return most;
    }
    case AB_ECP_RIM: {
      double x = v3_dot(d, m3_apply(&b->R, f->u)), y = v3_dot(d, m3_apply(&b->R, f->v));
      return h - f->rad * sqrt(x * x + y * y);
    }
    default:
      return v3_dot(d, ab_ecp_support(f->shape, b, v3_neg(d)));
  }
}

static void add(Ranking* r, double score, abEcpMode mode) {
  int at = r->n;
  if (r->n == r->max) {
    if (score >= r->item[r->n - 1].score) return;
    at = r->n - 1;
  } else {
    r->n++;
  }
  for (; at > 0 && r->item[at - 1].score > score; at--) r->item[at] = r->item[at - 1];
  r->item[at] = (Ranked){score, mode};
}

// Distance beyond a face's border of the point of a feature nearest to the face's centre.
static double beside(const abEcpFeature* face, const abEcpBody* bf, const abEcpFeature* f,
                     const abEcpBody* b, abVec3 N) {
  abVec3 x = to_world(b, f->c);
  if (f->kind == AB_ECP_ROUND || f->kind == AB_ECP_RIM) x = ab_ecp_support(f->shape, b, v3_neg(N));
  if (f->kind == AB_ECP_SEGMENT) {
    abVec3 u = m3_apply(&b->R, f->u);
    double s = v3_dot(u, v3_sub(to_world(bf, face->c), x));
    x = v3_axpy(s > f->half ? f->half : s < -f->half ? -f->half : s, u, x);
  }
  if (f->kind == AB_ECP_FACE) {
    double reach = f->shape->radius;
    return fmax(0, ab_ecp_face_outside(face, bf, x) - reach);
  }
  return fmax(0, ab_ecp_face_outside(face, bf, x));
}

// Features of the other body over face `index` of body `ref`.
static void rank_face(Ranking* r, int ref, int index) {
  static const abEcpKind kinds[] = {AB_ECP_FACE, AB_ECP_SEGMENT, AB_ECP_POINT, AB_ECP_RIM,
                                    AB_ECP_ROUND};
  const abEcpContact* c = r->c;
  const abEcpBody *br = c->body[ref], *bf = c->body[1 - ref];
  abEcpFeature face = ab_ecp_feature(&c->shape[ref], AB_ECP_FACE, index);
  abVec3 N = m3_apply(&br->R, face.n);
  double plane = v3_dot(N, to_world(br, face.c));
  abVec3 low = ab_ecp_support(&c->shape[1 - ref], bf, v3_neg(N));
  double sep = v3_dot(N, low) - plane;
  if (sep < r->best - 0.25) return;
  for (int j = 0; j < 5; j++) {
    if (ref == 0 && kinds[j] == AB_ECP_FACE) continue;  // counted with the other body's plane
    for (int i = 0; i < ab_ecp_feature_count(&c->shape[1 - ref], kinds[j]); i++) {
      abEcpFeature f = ab_ecp_feature(&c->shape[1 - ref], kinds[j], i);
      if (kinds[j] == AB_ECP_FACE && v3_dot(N, m3_apply(&bf->R, f.n)) > -0.5) continue;
      double high = feature_height(&f, bf, N, 1) - plane - sep;
      // A feature that would sink in as a whole asks for all of it: prefer it to its own parts.
      double size = high + sep < 0 ? 1e-3 * j * (high + 1e-3) : high;
      double score = (r->best - sep) + size + beside(&face, br, &f, bf, N) + 1e-9 * j;
      add(r, score,
          ref == 1 ? ab_ecp_mode(kinds[j], i, AB_ECP_FACE, index)
                   : ab_ecp_mode(AB_ECP_FACE, index, kinds[j], i));
    }
  }
}

// Tangent of a curve at the point nearest to a, and how far a lies beyond its ends.
static abVec3 tangent_near(const abEcpFeature* f, const abEcpBody* b, abVec3 a, double* beyond) {
  if (f->kind == AB_ECP_SEGMENT) return m3_apply(&b->R, f->u);
  abVec3 r = v3_sub(m3_apply_t(&b->R, v3_sub(a, b->x)), f->c);
  double x = v3_dot(f->u, r), y = v3_dot(f->v, r), rho = sqrt(x * x + y * y);
  *beyond += fabs(rho - f->rad);
  if (!(rho > 0)) return m3_apply(&b->R, f->v);
  return m3_apply(&b->R, v3_axpy(x / rho, f->v, v3_scale(-y / rho, f->u)));
}

static double rounded(const abEcpFeature* f) { return f->kind == AB_ECP_RIM ? 0 : f->rad; }

// The same where one is an ellipsoid.
static bool round_normal(const abEcpContact* c, const abEcpFeature f[2], abVec3 witness, abVec3* n,
                         double* beyond) {
  int e = f[0].kind == AB_ECP_ROUND ? 0 : 1, o = 1 - e;
  abVec3 N = v3_sub(to_world(c->body[e], f[e].c), witness);
  if (!ab_ecp_round_normal(c, f, &N)) return false;
  *n = o == 1 ? N : v3_neg(N);
  if (f[o].kind != AB_ECP_SEGMENT) return true;
  abVec3 p = ab_ecp_support(f[e].shape, c->body[e], v3_neg(N)),
         u = m3_apply(&c->body[o]->R, f[o].u);
  *beyond = fmax(0, fabs(v3_dot(u, v3_sub(p, to_world(c->body[o], f[o].c)))) - f[o].half);
  return true;
}

// The normal of two features that are not faces; false if they have none.
static bool curved_normal(const abEcpContact* c, const abEcpFeature f[2], abVec3 witness, abVec3* n,
                          double* beyond) {
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  abVec3 x0 = to_world(b0, f[0].c), x1 = to_world(b1, f[1].c), d = v3_sub(x0, x1);
  bool point0 = f[0].kind == AB_ECP_POINT, point1 = f[1].kind == AB_ECP_POINT;
  *beyond = 0;
  if (f[0].kind == AB_ECP_ROUND || f[1].kind == AB_ECP_ROUND)
    return round_normal(c, f, witness, n, beyond);
  for (int i = 0; i < 2; i++)
    if (f[i].kind == AB_ECP_RIM && f[1 - i].kind == AB_ECP_SEGMENT && f[1 - i].rad > 0) {
      // the rim's point nearest to the witness, across the segment
      abVec3 t = tangent_near(&f[i], c->body[i], witness, beyond);
      abVec3 k = m3_apply(&c->body[i]->R, f[i].n), u = m3_apply(&c->body[1 - i]->R, f[1 - i].u);
      abVec3 x = v3_axpy(f[i].rad, v3_cross(t, k), to_world(c->body[i], f[i].c));
      abVec3 e = v3_sub(x, to_world(c->body[1 - i], f[1 - i].c));
      double s = v3_dot(u, e);
      *beyond += fmax(0, fabs(s) - f[1 - i].half);
      e = v3_axpy(-s, u, e);
      *n = v3_unit(i == 0 ? e : v3_neg(e));
      return v3_norm2(e) > 0;
    }
  if (!point0 && !point1) {
    abVec3 u0 = tangent_near(&f[0], b0, witness, beyond);
    abVec3 u1 = tangent_near(&f[1], b1, witness, beyond);
    abVec3 m = v3_cross(u0, u1);
    double norm2 = v3_norm2(m);
    if (norm2 < AB_ECP_ALONGSIDE && f[0].kind == AB_ECP_SEGMENT && f[1].kind == AB_ECP_SEGMENT &&
        rounded(&f[0]) + rounded(&f[1]) > 0) {  // alongside
      *n = v3_unit(v3_axpy(-v3_dot(u1, d), u1, d));
      *beyond = fmax(0, fabs(v3_dot(u1, d)) - f[0].half - f[1].half);
      return true;
    }
    if (norm2 < AB_ECP_PARALLEL) return false;
    if (f[0].kind == AB_ECP_SEGMENT && f[1].kind == AB_ECP_SEGMENT) {
      double a = v3_dot(v3_cross(u1, d), m) / norm2, b = v3_dot(v3_cross(u0, d), m) / norm2;
      *beyond = fmax(0, fabs(a) - f[0].half) + fmax(0, fabs(b) - f[1].half);
    }
    abVec3 inside0 = to_world(b0, c->shape[0].off), inside1 = to_world(b1, c->shape[1].off);
    *n = v3_scale((v3_dot(m, v3_sub(inside0, inside1)) < 0 ? -1 : 1) / sqrt(norm2), m);
    return true;
  }
  if (rounded(&f[0]) + rounded(&f[1]) <= 0) return false;
  if (!point0 || !point1) {
    int curve = point0 ? 1 : 0;
    const abEcpBody* b = c->body[curve];
    abVec3 center = to_world(c->body[1 - curve], f[1 - curve].c);
    if (f[curve].kind == AB_ECP_SEGMENT) {
      abVec3 u = m3_apply(&b->R, f[curve].u);
      double s = v3_dot(u, d);
      *beyond = fmax(0, fabs(s) - f[curve].half);
      d = v3_axpy(-s, u, d);
    } else {
      abVec3 r = v3_sub(m3_apply_t(&b->R, v3_sub(center, b->x)), f[curve].c);
      double x = v3_dot(f[curve].u, r), y = v3_dot(f[curve].v, r), rho = sqrt(x * x + y * y);
      if (!(rho > 0)) return false;
      abVec3 on = v3_axpy(f[curve].rad * x / rho, f[curve].u,
                          v3_axpy(f[curve].rad * y / rho, f[curve].v, f[curve].c));
      d = v3_scale(curve == 1 ? 1 : -1, v3_sub(center, to_world(b, on)));
    }
  }
  *n = v3_unit(d);
  return v3_norm2(d) > 0;
}

static const abEcpKind curved_kind[4] = {AB_ECP_SEGMENT, AB_ECP_POINT, AB_ECP_RIM, AB_ECP_ROUND};

static void consider_curved(Ranking* r, const abEcpFeature f[2], abVec3 witness, bool rank) {
  const abEcpContact* c = r->c;
  abVec3 n;
  double beyond;
  if (!curved_normal(c, f, witness, &n, &beyond)) return;
  double sep = separation(c, n);
  if (!rank) {
    r->best = fmax(r->best, sep);
    return;
  }
  // the tangent of a rim is only known once its contact point is
  bool rim = f[0].kind == AB_ECP_RIM || f[1].kind == AB_ECP_RIM;
  if (sep < r->best - 0.25 && !rim) return;
  double high =
      feature_height(&f[0], c->body[0], n, 1) + feature_height(&f[1], c->body[1], n, -1) - sep;
  add(r, (r->best - sep) + fmax(0, high) + beyond,
      ab_ecp_mode(f[0].kind, f[0].index, f[1].kind, f[1].index));
}

static void each_curved(Ranking* r, abVec3 witness, bool rank) {
  const abEcpContact* c = r->c;
  for (int a = 0; a < 16; a++)
    for (int i = 0; i < ab_ecp_feature_count(&c->shape[0], curved_kind[a % 4]); i++) {
      abEcpFeature f[2] = {ab_ecp_feature(&c->shape[0], curved_kind[a % 4], i)};
      for (int j = 0; j < ab_ecp_feature_count(&c->shape[1], curved_kind[a / 4]); j++) {
        f[1] = ab_ecp_feature(&c->shape[1], curved_kind[a / 4], j);
        // two sharp vertices, or a sharp vertex and a sharp edge, have no normal
        consider_curved(r, f, witness, rank);
      }
    }
}

static void best_of_faces(Ranking* r) {
  const abEcpContact* c = r->c;
  for (int ref = c->shape[1].shape->type == AB_SHAPE_PLANE; ref < 2; ref++)
    for (int i = 0; i < ab_ecp_feature_count(&c->shape[ref], AB_ECP_FACE); i++) {
      abEcpFeature f = ab_ecp_feature(&c->shape[ref], AB_ECP_FACE, i);
      abVec3 N = m3_apply(&c->body[ref]->R, f.n);
      abVec3 p = ab_ecp_support(&c->shape[1 - ref], c->body[1 - ref], v3_neg(N));
      r->best = fmax(r->best, v3_dot(N, v3_sub(p, to_world(c->body[ref], f.c))));
    }
}

static abPose shape_pose(const abEcpShape* s, const abEcpBody* b) {
  abMat3 R = m3_mul(&b->R, &s->turn);
  return (abPose){v3_scale(1 / s->scale, to_world(b, s->off)), quat_from_matrix(&R)};
}

static abDistance distance(const abEcpContact* c) {
  abDistance d;
  ab_distance(c->shape[0].shape, shape_pose(&c->shape[0], c->body[0]), c->shape[1].shape,
              shape_pose(&c->shape[1], c->body[1]), NULL, &d);
  return d;
}

abVec3 ab_ecp_witness(const abEcpContact* c) {
  abDistance d = distance(c);
  return v3_scale(c->shape[0].scale, v3_lerp(d.point1, d.point2, 0.5));
}

int ab_ecp_candidates(const abEcpContact* c, int max, abEcpMode* out) {
  Ranked item[AB_ECP_MODES];
  Ranking r = {
      .c = c, .max = max < AB_ECP_MODES ? max : AB_ECP_MODES, .item = item, .best = -INFINITY};
  bool plane = on_plane(c);
  abVec3 witness = plane ? v3_zero() : ab_ecp_witness(c);
  best_of_faces(&r);
  if (!plane) each_curved(&r, witness, false);
  for (int ref = 0; ref < 2; ref++)
    for (int i = 0; i < ab_ecp_feature_count(&c->shape[ref], AB_ECP_FACE); i++)
      if (!(plane && ref == 0)) rank_face(&r, ref, i);
  if (!plane) each_curved(&r, witness, true);
  for (int i = 0; i < r.n; i++) out[i] = item[i].mode;
  return r.n;
}

static bool finite_axes(const abShape* s) {
  return ab_ecp_is_polyhedron(s) || s->type == AB_SHAPE_SPHERE || s->type == AB_SHAPE_CAPSULE;
}

double ab_ecp_gap(const abEcpContact* c) {
  if (on_plane(c)) return plane_gap(c);
  abVec3 d = v3_sub(to_world(c->body[0], c->shape[0].off), to_world(c->body[1], c->shape[1].off));
  double balls = v3_norm(d) - c->shape[0].radius - c->shape[1].radius;
  if (balls > 0) return balls;
  Ranking r = {.c = c, .best = -INFINITY};
  best_of_faces(&r);
  if (r.best >= 0) return r.best;
  abDistance near = distance(c);
  double scale = c->shape[0].scale, sep = scale * near.separation;
  // GJK is exact to its error bound; closer than that the bodies' own axes tell
  if (sep > AB_ECP_BORDER + scale * near.error) return sep;
  each_curved(&r, v3_scale(scale, v3_lerp(near.point1, near.point2, 0.5)), false);
  bool exact = finite_axes(c->shape[0].shape) && finite_axes(c->shape[1].shape);
  return exact || near.overlap ? r.best : fmax(r.best, sep);
}
