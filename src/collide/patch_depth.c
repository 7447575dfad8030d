// How thick an overlap is along a direction, and the shortest way out of one.
//
// Thickness. Over the projected polygon the overlap lies between a lower surface (convex) and an
// upper one (concave), so its thickness f(x) = min_i U_i(x) - max_j L_j(x) is concave and piecewise
// linear: the highest chord is a linear program over (x, v), v <= U_i(x) - L_j(x), with one row for
// each pair of an upper and a lower face. It is solved by the dual simplex method: three rows hold
// v down at a point x; f is measured there, which needs each face once and gives the row that is
// violated most; it takes the place of one of the three. At the optimum v = f(x): v is an upper
// bound all the way, f a lower one. The first three rows are artificial, far above f.
//
// A face nearly parallel to the direction has no height to speak of; leaving it out extends its
// neighbours over the strip it covers, which changes the largest chord by no more than
// STEEP * its length.
#include <float.h>

#include "collide/patch.h"
#include "math/rotation.h"

static const double STEEP = 1e-9;
// The bounds have met when they differ by this part of the overlap's height: more digits of a depth
// nobody needs, and steep faces do not give them.
static const double SAME = 1e-10;
enum { MAX_PIVOT = 100 };

// v <= a + g . x
typedef struct Row {
  double a;
  abVec2 g;
} Row;

// Faces as heights over the plane, z = a + g . x; the upper ones first.
typedef struct Field {
  int nupper, nface;
  Row* sheet;
} Field;

// Axes: t1, t2, n as rows.
static void add_sheets(Field* f, const abOverlap* o, const abMat3* axes, bool upper) {
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* face = &o->face[i];
    abVec3 m = m3_apply(axes, face->normal);
    if (upper ? !(m.z > STEEP) : !(m.z < -STEEP)) continue;
    abVec3 r = m3_apply(axes, v3_sub(o->vert[face->vert], o->centroid));
    Row s = {.g = {-m.x / m.z, -m.y / m.z}};
    s.a = r.z - s.g.x * r.x - s.g.y * r.y;
    f->sheet[f->nface++] = s;
  }
}

// The row of the thickness at x: lowest upper sheet minus highest lower one. Returns f(x).
static double measure(const Field* f, abVec2 x, Row* row) {
  double high = DBL_MAX, low = -DBL_MAX;
  int up = 0, down = f->nupper;
  for (int i = 0; i < f->nupper; i++) {
    double z = f->sheet[i].a + f->sheet[i].g.x * x.x + f->sheet[i].g.y * x.y;
    if (z < high) high = z, up = i;
  }
  for (int i = f->nupper; i < f->nface; i++) {
    double z = f->sheet[i].a + f->sheet[i].g.x * x.x + f->sheet[i].g.y * x.y;
    if (z > low) low = z, down = i;
  }
  row->a = f->sheet[up].a - f->sheet[down].a;
  row->g = v2_sub(f->sheet[up].g, f->sheet[down].g);
  return high - low;
}

// Where three rows are equal, and the weights (>= 0, sum 1) with which their slopes cancel.
typedef struct Corner {
  Row row[3];
  double weight[3];
} Corner;

// weight_k of any (1, g) as a combination of the (1, g_k): areas of triangles of slopes. False if
// the three slopes are in line.
static bool combine(const Corner* c, abVec2 g, double weight[3]) {
  const Row* r = c->row;
  double all = v2_cross(v2_sub(r[1].g, r[0].g), v2_sub(r[2].g, r[0].g));
  if (all == 0) return false;
  for (int k = 0; k < 3; k++) {
    abVec2 p = v2_sub(r[(k + 1) % 3].g, g), q = v2_sub(r[(k + 2) % 3].g, g);
    weight[k] = v2_cross(p, q) / all;
  }
  return true;
}

static bool solve_corner(Corner* c, abVec2* x, double* v) {
  if (!combine(c, v2(0, 0), c->weight)) return false;
  *v = 0;
  for (int k = 0; k < 3; k++) *v += c->weight[k] * c->row[k].a;
  // a_k + g_k . x = v: two differences
  abVec2 p = v2_sub(c->row[1].g, c->row[0].g), q = v2_sub(c->row[2].g, c->row[0].g);
  double b = c->row[0].a - c->row[1].a, d = c->row[0].a - c->row[2].a, det = v2_cross(p, q);
  *x = v2((b * q.y - d * p.y) / det, (d * p.x - b * q.x) / det);
  return isfinite(x->x) && isfinite(x->y);
}

// Puts the row in the place of the one that leaves the weights positive.
static bool pivot(Corner* c, Row row) {
  double share[3], least = DBL_MAX;
  int leave = -1;
  if (!combine(c, row.g, share)) return false;
  for (int k = 0; k < 3; k++)
    if (share[k] > 0 && c->weight[k] < least * share[k]) least = c->weight[k] / share[k], leave = k;
  if (leave < 0) return false;
  c->row[leave] = row;
  return true;
}

// reach: no point of the overlap is further from the axis through the origin of x.
static double longest_chord(const Field* f, double reach, double height) {
  // steep walls around the circle of that radius, higher than the overlap inside of it
  static const abVec2 wall[3] = {{1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}};
  const double steep = 10;
  Corner c;
  for (int k = 0; k < 3; k++)
    c.row[k] = (Row){(1 + steep) * height, v2_scale(steep * height / reach, wall[k])};
  double best = 0, last = DBL_MAX, v;
  abVec2 x;
  for (int i = 0; i < MAX_PIVOT && solve_corner(&c, &x, &v); i++) {
    Row row;
    double here = measure(f, x, &row);
    if (here > best) best = here;
    // met, or as near as the rounding of steep faces lets them come
    if (v - best <= SAME * height || (v >= last && v - best <= 1e-6 * height)) break;
    last = v;
    if (!pivot(&c, row)) break;
  }
  return best;
}

// Length of the chord through vertex v along n.
static double chord(const abOverlap* o, abVec3 n, int v) {
  double up = DBL_MAX, down = DBL_MAX;
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* f = &o->face[i];
    double c = v3_dot(f->normal, n);
    if (fabs(c) <= STEEP) continue;
    double t = v3_dot(f->normal, v3_sub(o->vert[f->vert], o->vert[v])) / c;
    if (c > 0)
      up = t < up ? t : up;
    else
      down = -t < down ? -t : down;
  }
  return up < DBL_MAX && down < DBL_MAX ? up + down : 0;
}

double ab_overlap_thickness(const abOverlap* o, abVec3 n, abArena* scratch) {
  // No chord is longer than the distance of the highest from the lowest vertex: if the chord
  // through one of them is, that is all.
  int lowest = 0, highest = 0;
  double floor = DBL_MAX, ceiling = -DBL_MAX, reach2 = 0;
  for (int i = 0; i < o->nvert; i++) {
    double z = v3_dot(n, o->vert[i]), r2 = v3_norm2(v3_sub(o->vert[i], o->centroid));
    reach2 = r2 > reach2 ? r2 : reach2;
    if (z < floor) floor = z, lowest = i;
    if (z > ceiling) ceiling = z, highest = i;
  }
  double height = ceiling - floor, whole = height * (1 - 8 * DBL_EPSILON) - o->noise;
  double best = chord(o, n, lowest);
  if (best >= whole) return height;
  best = fmax(best, chord(o, n, highest));
  if (best >= whole) return height;
  abArenaMark mark = ab_arena_mark(scratch);
  Field f = {.sheet = AB_TAKE(scratch, Row, o->nface)};
  if (!f.sheet) return -1;
  abVec3 t1, t2;
  v3_tangents(n, &t1, &t2);
  abMat3 axes = {{{t1.x, t1.y, t1.z}, {t2.x, t2.y, t2.z}, {n.x, n.y, n.z}}};
  add_sheets(&f, o, &axes, true);
  f.nupper = f.nface;
  add_sheets(&f, o, &axes, false);
  if (f.nupper > 0 && f.nface > f.nupper)
    best = fmax(best, longest_chord(&f, sqrt(reach2), height));
  ab_arena_release(scratch, mark);
  return best < height ? best : height;
}

// Smallest way along an outward normal of P's faces that takes Q out of P.
static double shortest_way(const abPolyhedron* P, abPose pose_p, const abPolyhedron* Q,
                           abPose pose_q, abVec3* normal) {
  double best = DBL_MAX;
  for (int f = 0; f < (P ? P->nface : 1); f++) {
    abPlane plane = P ? P->plane[f] : (abPlane){{0, 0, 1}, 0};
    abVec3 n = quat_rotate(pose_p.q, plane.n);
    abVec3 local = quat_rotate(quat_conj(pose_q.q), n);
    double least = DBL_MAX;
    for (int i = 0; i < Q->nvert; i++) least = fmin(least, v3_dot(local, Q->vert[i]));
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
