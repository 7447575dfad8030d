// How thick an overlap is along a direction, and the shortest way out of one.
//
// Thickness. Over the projected polygon the overlap lies between a lower surface (convex) and an
// upper one (concave), so its thickness f(x) = min_i U_i(x) - max_j L_j(x) is concave and piecewise
// linear: the highest chord is a linear program over (v, x): v <= U_i(x) - L_j(x) for each pair of
// an upper and a lower face, and 0 <= d_k - m_k . x for each upright one. It is solved by the dual
// simplex method: three rows hold v down at a point x; the faces are measured there, each once,
// which gives the row that is violated most; it takes the place of one of the three. v falls until
// no row is violated. If there is nothing better, the first three rows are artificial, around and
// far above the overlap.
//
// Mostly that is not needed. The overlap lies behind the plane of each of its faces, so no chord is
// longer than the distance, along n, of the vertex furthest from that plane; if the chord through
// this vertex reaches as far, it is the longest. The face to try is the largest seen along n, from
// either side: in a contact of two faces one of them mostly bounds the thickest place. If the sides
// of the overlap lean inwards, both of these two do, and the method starts from the corner where
// they are furthest apart: with the row of the two faces, and those of the two sides there.
//
// A face with |normal . n| <= STEEP_FACE counts as upright: its height is mostly rounding, and what
// it covers is narrower than STEEP_FACE * its length.
// Tests: test_patch_geometry.
#include <float.h>

#include "collide/patch/patch.h"
#include "collide/touch/work.h"
#include "math/quad.h"
#include "math/rotation.h"

static const double STEEP_FACE = 1e-6;
// A row counts as violated by more than this part of the thickness (or extent, for a wall):
// more digits of a depth nobody needs, and steep faces do not give them.
static const double SAME_DEPTH = 1e-10;
static const double STALLED = 1e-6;
enum { MAX_PIVOT = 100 };

// k v <= a + g . x, k = 1 or 0
typedef struct Row {
  double k, a;
  abVec2 g;
} Row;

// Faces as heights over the plane, z = a + g . x, and walls.
typedef struct Field {
  int nupper, nlower, nwall;
  Row *upper, *lower, *wall;
  Row** of_face;
} Field;

// Axes: t1, t2, n as rows.
static void add_faces(Field* f, const abOverlap* o, const abMat3* axes) {
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* face = &o->face[i];
    abVec3 m = m3_apply(axes, face->normal);
    abVec3 r = m3_apply(axes, v3_sub(o->vert[face->vert], o->centroid));
    bool upright = fabs(m.z) <= STEEP_FACE;
    double scale = upright ? -1 : -1 / m.z;
    Row row = {.g = {scale * m.x, scale * m.y}};
    row.a = (upright ? 0 : r.z) - row.g.x * r.x - row.g.y * r.y;
    f->of_face[i] = upright   ? &f->wall[f->nwall++]
                    : m.z > 0 ? &f->upper[f->nupper++]
                              : &f->lower[f->nlower++];
    *f->of_face[i] = row;
  }
}

static inline double value(const Row* r, abVec2 x) { return r->a + r->g.x * x.x + r->g.y * x.y; }

// The wall that x lies behind by the most; 0 if by no more than `slack`.
static const Row* worst_wall(const Field* f, abVec2 x, double slack) {
  const Row* worst = 0;
  double least = -slack;
  for (int i = 0; i < f->nwall; i++) {
    double z = value(&f->wall[i], x);
    if (z < least) least = z, worst = &f->wall[i];
  }
  return worst;
}

// The row of the thickness at x: lowest upper sheet minus highest lower one. Returns f(x).
static double measure(const Field* f, abVec2 x, Row* row) {
  double high = DBL_MAX, low = -DBL_MAX;
  int up = 0, down = 0;
  for (int i = 0; i < f->nupper; i++) {
    double z = value(&f->upper[i], x);
    if (z < high) high = z, up = i;
  }
  for (int i = 0; i < f->nlower; i++) {
    double z = value(&f->lower[i], x);
    if (z > low) low = z, down = i;
  }
  const Row *u = &f->upper[up], *l = &f->lower[down];
  *row = (Row){1, u->a - l->a, v2_sub(u->g, l->g)};
  return high - low;
}

// Three rows that meet in a corner (v, x), and the weights (>= 0) with which they hold v down. With
// C_i = g_j x g_k (i, j, k in turn) their determinant is D = sum k_i C_i, and w_i = C_i / D.
typedef struct Corner {
  Row row[3];
  double weight[3];
  double scale;  // 1 / D
} Corner;

// k v - g . x = a for the three rows, by Cramer's rule.
static bool solve_corner(Corner* c, double* v, abVec2* x) {
  const Row *p = &c->row[0], *q = &c->row[1], *r = &c->row[2];
  double C[3] = {v2_cross(q->g, r->g), v2_cross(r->g, p->g), v2_cross(p->g, q->g)};
  c->scale = 1 / (p->k * C[0] + q->k * C[1] + r->k * C[2]);
  for (int i = 0; i < 3; i++) c->weight[i] = C[i] * c->scale;
  *v = c->weight[0] * p->a + c->weight[1] * q->a + c->weight[2] * r->a;
  double px = p->a * (q->k * r->g.y - r->k * q->g.y) + q->a * (r->k * p->g.y - p->k * r->g.y) +
              r->a * (p->k * q->g.y - q->k * p->g.y);
  double py = p->a * (r->k * q->g.x - q->k * r->g.x) + q->a * (p->k * r->g.x - r->k * p->g.x) +
              r->a * (q->k * p->g.x - p->k * q->g.x);
  *x = v2(px * c->scale, py * c->scale);
  return isfinite(*v) && isfinite(x->x) && isfinite(x->y);
}

// (k, g) of a row as a combination of those of the corner.
static bool combine(const Corner* c, const Row* row, double share[3]) {
  const Row *p = &c->row[0], *q = &c->row[1], *r = &c->row[2];
  double P = v2_cross(p->g, row->g), Q = v2_cross(q->g, row->g), R = v2_cross(r->g, row->g);
  share[0] = row->k * c->weight[0] + c->scale * (q->k * R - r->k * Q);
  share[1] = row->k * c->weight[1] + c->scale * (r->k * P - p->k * R);
  share[2] = row->k * c->weight[2] + c->scale * (p->k * Q - q->k * P);
  return isfinite(share[0] + share[1] + share[2]);
}

// Puts the row in the place of the one that leaves the weights positive.
static bool pivot(Corner* c, const Row* row) {
  double share[3], least = DBL_MAX;
  int leave = -1;
  if (!combine(c, row, share)) return false;
  // a share that is rounding would leave three rows in line
  double zero = 1e-12 * (fabs(share[0]) + fabs(share[1]) + fabs(share[2]));
  for (int k = 0; k < 3; k++)
    if (share[k] > zero && c->weight[k] < least * share[k])
      least = c->weight[k] / share[k], leave = k;
  if (leave < 0) return false;
  c->row[leave] = *row;
  return true;
}

static inline Row between(const Row* upper, const Row* lower) {
  return (Row){1, upper->a - lower->a, v2_sub(upper->g, lower->g)};
}

// The largest faces seen along n from above and from below, and the corner where they are furthest
// apart.
typedef struct Slab {
  int top, bottom, vert;
} Slab;

// The row of the slab and those of the two other faces at its corner. False if it has other faces,
// or the rows do not hold v down.
static bool start_at(Corner* c, const abOverlap* o, const Field* f, const Slab* slab) {
  if (slab->vert < 0) return false;
  const Row *top = f->of_face[slab->top], *bottom = f->of_face[slab->bottom];
  c->row[0] = between(top, bottom);
  int n = 1;
  for (int i = 0; i < o->nedge; i++) {
    const int* e = o->edge[i];
    if (e[0] != slab->vert && e[1] != slab->vert) continue;
    // each face of the vertex is on the left of one edge that leaves it
    int face = e[0] == slab->vert ? e[2] : e[3];
    if (face == slab->top || face == slab->bottom) continue;
    if (n == 3) return false;
    const Row* side = f->of_face[face];
    if (side >= f->wall && side < f->wall + f->nwall)
      c->row[n++] = *side;
    else
      c->row[n++] = side >= f->upper && side < f->upper + f->nupper ? between(side, bottom)
                                                                    : between(top, side);
  }
  double v;
  abVec2 x;
  return n == 3 && solve_corner(c, &v, &x) && c->weight[0] >= 0 && c->weight[1] >= 0 &&
         c->weight[2] >= 0;
}

// Steep walls around the circle of radius `reach`, higher than the overlap inside of it.
static void start_above(Corner* c, double reach, double height) {
  static const abVec2 wall[3] = {{1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}};
  const double steep = 10;
  for (int k = 0; k < 3; k++)
    c->row[k] = (Row){1, (1 + steep) * height, v2_scale(steep * height / reach, wall[k])};
}

// reach: no point of the overlap is further from the axis through the origin of x.
static double longest_chord(const Field* f, Corner* c, double reach, double height) {
  double last = DBL_MAX, v = height;
  abVec2 x;
  for (int i = 0; i < MAX_PIVOT && solve_corner(c, &v, &x); i++) {
    Row row;
    const Row* enter = worst_wall(f, x, SAME_DEPTH * reach);
    double gap = enter ? DBL_MAX : v - measure(f, x, &row);
    // Between parallel faces v may rest while x moves; but a small gap that does not close any more
    // is the rounding of steep faces.
    if (gap <= SAME_DEPTH * v || (gap <= STALLED * v && v >= last)) break;
    if (!pivot(c, enter ? enter : &row)) break;
    last = v;
  }
  return v;
}

// Does the chord from vertex v along n, which points up (side 1) or down (-1) from it, stay in the
// overlap for that long?
static bool reaches(const abOverlap* o, abVec3 n, int v, double side, double length) {
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* f = &o->face[i];
    double c = side * v3_dot(f->normal, n);
    if (c > STEEP_FACE && v3_dot(f->normal, v3_sub(o->vert[f->vert], o->vert[v])) < c * length)
      return false;
  }
  return true;
}

// How far, along n, the furthest vertices lie from the planes of top and bottom, which they are,
// and the vertex with the longest way between the two.
typedef struct Ways {
  double way[2], apart;
  int far[2], vert;
} Ways;

static inline void look_at(const abOverlap* o, const abVec3 m[2], const abVec3 r[2], Ways* w) {
  *w = (Ways){{-1, -1}, -DBL_MAX, {0, 0}, -1};
  for (int i = 0; i < o->nvert; i++) {
    double t[2];
    for (int k = 0; k < 2; k++) {
      t[k] = v3_dot(m[k], v3_sub(r[k], o->vert[i]));
      if (t[k] > w->way[k]) w->way[k] = t[k], w->far[k] = i;
    }
    if (t[0] + t[1] > w->apart) w->apart = t[0] + t[1], w->vert = i;
  }
}

// Of the prisms of a slab, one end lies in either plane. Which: bottom, if face 0 is the top.
static inline void look_at_prisms(const abOverlap* o, const abVec3 m[2], const abVec3 r[2],
                                  bool top, Ways* w) {
  *w = (Ways){{-1, -1}, -DBL_MAX, {0, 0}, -1};
  for (int k = 0; k < 2; k++) {
    int from = (k == 0) == top ? o->nprism : 0, far = 0;
    double way = -1;
    for (int i = from; i < from + o->nprism; i++) {
      double t = v3_dot(m[k], v3_sub(r[k], o->vert[i]));
      if (t > way) way = t, far = i;
    }
    w->way[k] = way, w->far[k] = far;
  }
  w->vert = w->far[w->way[1] > w->way[0]];
}

// The largest faces seen along n from above and from below, and the cosines of their normals.
static inline void find_slab(const abOverlap* o, abVec3 n, Slab* slab, double cosine[2]) {
  double most[2] = {0, 0};
  for (int i = 0; i < (o->nprism ? 2 : o->nface); i++) {
    double c = v3_dot(o->face[i].normal, n), seen = c * o->face[i].area;
    if (seen > most[0]) most[0] = seen, slab->top = i, cosine[0] = c;
    if (-seen > most[1]) most[1] = -seen, slab->bottom = i, cosine[1] = -c;
  }
}

// The longest chord, if one of the two faces of the slab bounds it; else 0.
static double from_slab(const abOverlap* o, abVec3 n, Slab* slab) {
  double cosine[2] = {0, 0};
  *slab = (Slab){0, 0, -1};
  find_slab(o, n, slab, cosine);
  if (!(cosine[0] > STEEP_FACE && cosine[1] > STEEP_FACE)) return 0;
  const abOverlapFace *top = &o->face[slab->top], *bottom = &o->face[slab->bottom];
  abVec3 m[2] = {v3_scale(1 / cosine[0], top->normal), v3_scale(1 / cosine[1], bottom->normal)};
  abVec3 r[2] = {o->vert[top->vert], o->vert[bottom->vert]};
  Ways w;
  if (o->nprism)
    look_at_prisms(o, m, r, slab->top == 0, &w);
  else
    look_at(o, m, r, &w);
  slab->vert = w.vert;
  for (int k = 0; k < 2; k++) {
    double enough = w.way[k] * (1 - 8 * DBL_EPSILON) - o->noise;
    if (reaches(o, n, w.far[k], k ? -1 : 1, enough)) return w.way[k];
  }
  return 0;
}

// Of a tetrahedron the thickness is a cone over the projected polygon, with one top: V = S h / 3.
// The volume is known to `noise` of the surface.
static double tetrahedron(const abOverlap* o, abVec3 n) {
  if (o->nvert != 4 || o->nface != 4 || o->volume * SAME_DEPTH < o->noise * o->area[0]) return 0;
  double twice = 0;
  for (int f = 0; f < 4; f++) twice += fabs(v3_dot(n, o->face[f].vector));
  return 6 * o->volume / twice;
}

AB_SIMD AB_FLATTEN double ab_overlap_thickness(const abOverlap* o, abVec3 n, abArena* scratch) {
  double simple = tetrahedron(o, n);
  if (simple > 0) return simple;
  Slab slab;
  simple = from_slab(o, n, &slab);
  if (simple > 0) return simple;
  double floor = DBL_MAX, ceiling = -DBL_MAX, reach2 = 0;
  for (int i = 0; i < o->nvert; i++) {
    double z = v3_dot(n, o->vert[i]), r2 = v3_norm2(v3_sub(o->vert[i], o->centroid));
    reach2 = r2 > reach2 ? r2 : reach2;
    floor = z < floor ? z : floor;
    ceiling = z > ceiling ? z : ceiling;
  }
  double height = ceiling - floor;
  abArenaMark mark = ab_arena_mark(scratch);
  Row* row = AB_TAKE(scratch, Row, 3 * o->nface);
  Row** of_face = AB_TAKE(scratch, Row*, o->nface);
  if (!row || !of_face) return -1;
  Field f = {.upper = row, .lower = row + o->nface, .wall = row + 2 * o->nface, .of_face = of_face};
  abVec3 t1, t2;
  v3_tangents(n, &t1, &t2);
  abMat3 axes = {{{t1.x, t1.y, t1.z}, {t2.x, t2.y, t2.z}, {n.x, n.y, n.z}}};
  add_faces(&f, o, &axes);
  double best = 0;
  if (f.nupper > 0 && f.nlower > 0) {
    Corner c;
    double reach = sqrt(reach2);
    if (!start_at(&c, o, &f, &slab)) start_above(&c, reach, height);
    best = longest_chord(&f, &c, reach, height);
  }
  ab_arena_release(scratch, mark);
  return best < height ? best : height;
}

// Smallest way along an outward normal of P's faces that takes Q out of P.
static double shortest_way(const abPolyhedron* P, abPose pose_p, const abPolyhedron* Q,
                           abPose pose_q, abVec3* normal) {
  double best = DBL_MAX;
  int lowest = 0;
  for (int f = 0; f < (P ? P->nface : 1); f++) {
    abPlane plane = P ? P->plane[f] : (abPlane){{0, 0, 1}, 0};
    abVec3 n = quat_rotate(pose_p.q, plane.n);
    abVec3 local = quat_rotate(quat_conj(pose_q.q), n);
    lowest = ab_touch_support(Q, v3_neg(local), lowest);
    double least = v3_dot(local, Q->vert[lowest]);
    double way = plane.d - least - v3_dot(n, v3_sub(pose_q.p, pose_p.p));
    if (way < best) best = way, *normal = n;
  }
  return best;
}

abVec3 ab_least_penetration(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B,
                            abPose pose_b, double* depth) {
  abVec3 by_a = v3(0, 0, 1), by_b = v3(0, 0, 1);
  double way_b = A ? shortest_way(B, pose_b, A, pose_a, &by_b) : DBL_MAX;
  double way_a = B ? shortest_way(A, pose_a, B, pose_b, &by_a) : DBL_MAX;
  *depth = fmin(way_a, way_b);
  // out of B along a face of B moves A that way; out of A along a face of A moves B
  return way_b <= way_a ? by_b : v3_neg(by_a);
}
