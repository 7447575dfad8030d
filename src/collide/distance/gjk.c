// Gilbert, Johnson and Keerthi's distance algorithm.
//
// The distance of A and B is that of the origin from the Minkowski difference A - B. The algorithm
// keeps a simplex of at most four points w_i = a_i - b_i of it, takes the point v of the simplex
// nearest to the origin, drops the points that do not carry v, and asks both shapes for their
// farthest points against v. Since A - B lies in the half-space x . v >= w . v of the new point w,
//
//     w . v / |v|  <=  distance  <=  |v|:
//
// the two bounds are the stopping rule, and the error that is reported. |v| must fall at every
// turn; where rounding no longer lets it, or the new point is already in the simplex, the answer
// stands. So no loop is possible, and a cap of turns guards smooth shapes, which are approached
// point by point.
//
// Spheres and capsules are a point and a segment with a radius added afterwards, so that their
// distances are exact and remain known while only the skins overlap. A plane needs no iteration:
// its nearest point is below the shape's lowest one.
//
// Of polyhedra of many vertices a few, spread all around, come first. Where these are apart, their
// simplex is where the search goes on with all.
//
// All is computed in shape 1's frame shifted to the centre of shape 2, so that bodies far from the
// world's origin lose nothing.
#include "collide/distance/gjk.h"

#include <float.h>
#include <string.h>

#include "collide/touch/work.h"
#include "geometry/polyhedron.h"
#include "math/quad.h"
#include "math/rotation.h"

enum { GJK_TURNS = 200 };
// Up to so many vertices are looked at one by one, of more all four at a time, and of
// AB_MANY_VERTICES those on a way along the edges from the last one.
enum { FEW_CORNERS = 24 };
// The gap between the bounds at which the distance is taken, relative to it: some hundred
// roundings.
static const double GAP = 1e-13;
// The same with a few of the vertices: from there on all of them decide.
static const double FEW_GAP = 0.2;

typedef struct Core {
  const abShape* shape;
  abMat3 R;  // core frame -> working frame
  abVec3 p;
  double radius;  // of the skin
  bool few;       // only some of the vertices count
} Core;

typedef struct Vertex {
  abVec3 w, a, b;
  int ia, ib;
} Vertex;

typedef struct Simplex {
  int n;
  Vertex point[4];
  double weight[4];
} Simplex;

// The vertex farthest along d; of several the first. Four at once: each lane keeps its best and the
// number of the four it was in.
AB_SIMD static int farthest_of_many(int n, const double* x, abVec3 d) {
  int best = 0;
  const double *y = x + n, *z = y + n;
  abFour most = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  abFourMask at = {0}, now = {0};
  for (int i = 0; i < n; i += 4, now += 4) {
    abFour u, v, w;
    memcpy(&u, x + i, sizeof u), memcpy(&v, y + i, sizeof v), memcpy(&w, z + i, sizeof w);
    abFour s = d.x * u + d.y * v + d.z * w;
    abFourMask more = s > most;
    most = AB_FOUR_PICK(more, s, most);
    at = (more & now) | (~more & at);
  }
  for (int k = 1; k < 4; k++)
    if (most[k] > most[best] || (most[k] == most[best] && at[k] + k < at[best] + best)) best = k;
  return (int)at[best] + best;
}

static int farthest_of_few(const abPolyhedron* poly, abVec3 d) {
  int i = farthest_of_many(ab_polyhedron_few(poly->nvert), ab_polyhedron_few_lanes(poly), d);
  return ab_polyhedron_few_vertex(poly)[i];
}

// *index: the last one found, -1: none.
static abVec3 farthest_of_polyhedron(const abPolyhedron* poly, abVec3 d, int* index) {
  int best = 0;
  double most = -INFINITY;
  if (ab_polyhedron_few(poly->nvert)) {
    best = ab_touch_support(poly, d, *index >= 0 ? *index : farthest_of_few(poly, d));
  } else if (poly->nvert > FEW_CORNERS) {
    best = farthest_of_many(ab_polyhedron_lanes(poly->nvert), ab_polyhedron_vert_lanes(poly), d);
  } else {
    for (int i = 0; i < poly->nvert; i++) {
      double s = v3_dot(poly->vert[i], d);
      if (s > most) most = s, best = i;
    }
  }
  *index = best;
  return poly->vert[best];
}

// Farthest point of the core along d, in the core's own frame; index -1 where it is no vertex.
static abVec3 farthest(const abShape* s, abVec3 d, int* index) {
  if (s->type != AB_SHAPE_BOX && s->type != AB_SHAPE_MESH) *index = -1;
  switch (s->type) {
    case AB_SHAPE_SPHERE:
      return v3_zero();
    case AB_SHAPE_CAPSULE:
      return v3(0, 0, copysign(s->size.y, d.z));
    case AB_SHAPE_CYLINDER: {
      double r = hypot(d.x, d.y);
      double k = r > 0 ? s->size.x / r : 0;
      return v3(k * d.x, k * d.y, copysign(s->size.y, d.z));
    }
    case AB_SHAPE_ELLIPSOID: {
      abVec3 e = v3_mul(s->size, d);
      double n = v3_norm(e);
      return n > 0 ? v3_scale(1 / n, v3_mul(s->size, e)) : v3(s->size.x, 0, 0);
    }
    default:
      return farthest_of_polyhedron(s->poly, d, index);
  }
}

static abVec3 farthest_in_work(const Core* c, abVec3 d, int* index) {
  abVec3 local = m3_apply_t(&c->R, d), x;
  if (c->few)
    x = c->shape->poly->vert[*index = farthest_of_few(c->shape->poly, local)];
  else
    x = farthest(c->shape, local, index);
  return v3_add(c->p, m3_apply(&c->R, x));
}

// The point of A - B farthest against v; ia and ib: those of the last one.
static Vertex support(const Core* a, const Core* b, abVec3 v, int ia, int ib) {
  Vertex p = {.ia = ia, .ib = ib};
  p.a = farthest_in_work(a, v3_neg(v), &p.ia);
  p.b = farthest_in_work(b, v, &p.ib);
  p.w = v3_sub(p.a, p.b);
  return p;
}

// --- the point of a simplex nearest to the origin
// --------------------------------------------------------- Every face of the simplex that contains
// the newest point is tried; the nearest of those whose weights are all positive carries the
// answer. (A face without the newest point was searched in an earlier turn.)

// Weights of the origin's projection on the segment; false if it falls outside.
static bool on_segment(abVec3 p, abVec3 q, double w[2]) {
  abVec3 d = v3_sub(q, p);
  double dd = v3_norm2(d);
  if (!(dd > 0)) return false;
  w[1] = -v3_dot(p, d) / dd;
  w[0] = 1 - w[1];
  return w[0] > 0 && w[1] > 0;
}

static bool on_triangle(abVec3 p, abVec3 q, abVec3 r, double w[3]) {
  abVec3 n = v3_cross(v3_sub(q, p), v3_sub(r, p));
  double nn = v3_norm2(n);
  if (!(nn > 0)) return false;
  w[0] = v3_dot(n, v3_cross(q, r));
  w[1] = v3_dot(n, v3_cross(r, p));
  w[2] = v3_dot(n, v3_cross(p, q));
  if (!(w[0] > 0 && w[1] > 0 && w[2] > 0)) return false;
  // In slivers the three are off by more than their sum is: made to add up to one, they still name
  // a point of the triangle.
  double sum = w[0] + w[1] + w[2];
  for (int i = 0; i < 3; i++) w[i] /= sum;
  return true;
}

static bool in_tetrahedron(const abVec3 p[4], double w[4]) {
  double volume = v3_dot(v3_sub(p[1], p[0]), v3_cross(v3_sub(p[2], p[0]), v3_sub(p[3], p[0])));
  if (!(fabs(volume) > 0)) return false;
  w[0] = v3_dot(p[1], v3_cross(p[2], p[3])) / volume;
  w[1] = -v3_dot(p[0], v3_cross(p[2], p[3])) / volume;
  w[2] = v3_dot(p[0], v3_cross(p[1], p[3])) / volume;
  w[3] = -v3_dot(p[0], v3_cross(p[1], p[2])) / volume;
  return w[0] > 0 && w[1] > 0 && w[2] > 0 && w[3] > 0;
}

typedef struct Best {
  double norm2;
  int n, index[4];
  double weight[4];
  abVec3 v;
} Best;

static void offer(const Simplex* s, int n, const int* index, const double* weight, Best* best) {
  abVec3 v = v3_zero();
  for (int i = 0; i < n; i++) v = v3_axpy(weight[i], s->point[index[i]].w, v);
  double norm2 = v3_norm2(v);
  if (!(norm2 < best->norm2)) return;
  best->norm2 = norm2;
  best->n = n;
  best->v = v;
  for (int i = 0; i < n; i++) best->index[i] = index[i], best->weight[i] = weight[i];
}

// Reduces the simplex to the points that carry the nearest point, which is returned.
static abVec3 nearest(Simplex* s) {
  const int last = s->n - 1;
  const abVec3 z = s->point[last].w;
  Best best = {.norm2 = INFINITY};
  double w[4];
  offer(s, 1, (int[]){last}, (double[]){1}, &best);
  for (int i = 0; i < last; i++) {
    if (on_segment(s->point[i].w, z, w)) offer(s, 2, (int[]){i, last}, w, &best);
    for (int j = i + 1; j < last; j++)
      if (on_triangle(s->point[i].w, s->point[j].w, z, w))
        offer(s, 3, (int[]){i, j, last}, w, &best);
  }
  if (s->n == 4) {
    abVec3 p[4] = {s->point[0].w, s->point[1].w, s->point[2].w, z};
    if (in_tetrahedron(p, w)) {
      best.n = 4;
      best.v = v3_zero();
      for (int i = 0; i < 4; i++) best.index[i] = i, best.weight[i] = w[i];
    }
  }
  Simplex kept = {.n = best.n};
  for (int i = 0; i < best.n; i++) {
    kept.point[i] = s->point[best.index[i]];
    kept.weight[i] = best.weight[i];
  }
  *s = kept;
  return best.v;
}

static bool contains(const Simplex* s, const Vertex* p) {
  for (int i = 0; i < s->n; i++)
    if (v3_norm2(v3_sub(s->point[i].w, p->w)) == 0) return true;
  return false;
}

// --- the iteration
// ------------------------------------------------------------------------------------

typedef struct Result {
  Simplex simplex;
  abVec3 v;      // from B to A
  double lower;  // bound on the distance of the cores
  bool overlap;
  int turns;
} Result;

// The farthest points along v as the first simplex.
static void begin(const Core* a, const Core* b, abVec3 v, Result* r) {
  *r = (Result){.turns = 1};
  r->simplex.point[0] = support(a, b, v, -1, -1);
  r->simplex.n = 1;
  r->simplex.weight[0] = 1;
  r->v = r->simplex.point[0].w;
}

// Goes on from the simplex until the bounds are as near as `gap`, of the distance. far: a distance
// of the cores that is enough.
static void iterate(const Core* a, const Core* b, double size, double far, double gap, Result* r) {
  const Vertex* last = &r->simplex.point[r->simplex.n - 1];
  int ia = last->ia, ib = last->ib;
  for (; r->turns < GJK_TURNS; r->turns++) {
    double d = v3_norm(r->v);
    // Nearer than the rounding of the coordinates: the cores touch or overlap.
    if (d <= 16 * DBL_EPSILON * size) {
      r->overlap = true;
      break;
    }
    Vertex next = support(a, b, r->v, ia, ib);
    ia = next.ia, ib = next.ib;
    double bound = v3_dot(next.w, r->v) / d;
    if (bound > r->lower) r->lower = bound;
    if (r->lower > far) break;
    if (d - r->lower <= gap * d + 4 * DBL_EPSILON * size || contains(&r->simplex, &next)) break;
    Simplex before = r->simplex;
    r->simplex.point[r->simplex.n++] = next;
    abVec3 v_next = nearest(&r->simplex);
    if (r->simplex.n == 4) {
      r->overlap = true;
      break;
    }
    if (!(v3_norm2(v_next) < v3_norm2(r->v))) {  // rounding: no progress any more
      r->simplex = before;
      break;
    }
    r->v = v_next;
  }
}

static bool has_few(const abShape* s) {
  return s->type == AB_SHAPE_MESH && ab_polyhedron_few(s->poly->nvert) > 0;
}

// With a few of the vertices first: their simplex is one of all.
static void iterate_all(Core* a, Core* b, abVec3 start, double size, double far, Result* r) {
  a->few = has_few(a->shape), b->few = has_few(b->shape);
  bool few = a->few || b->few;
  begin(a, b, start, r);
  if (few) {
    iterate(a, b, size, INFINITY, FEW_GAP, r);
    a->few = b->few = false;
    r->lower = 0;
    if (r->overlap) begin(a, b, start, r);
  }
  iterate(a, b, size, far, GAP, r);
}

static double core_size(const abShape* s) {
  switch (s->type) {
    case AB_SHAPE_SPHERE:
      return s->size.x;
    case AB_SHAPE_CAPSULE:
    case AB_SHAPE_CYLINDER:
      return s->size.x + s->size.y;
    case AB_SHAPE_ELLIPSOID:
      return fmax(s->size.x, fmax(s->size.y, s->size.z));
    default:
      return s->poly->radius;
  }
}

static double skin(const abShape* s) {
  return s->type == AB_SHAPE_SPHERE || s->type == AB_SHAPE_CAPSULE ? s->size.x : 0;
}

// The plane's outward normal is the direction; the other shape's farthest point against it is
// nearest or deepest.
static void plane_distance(const abPose* plane, const abShape* s, const abPose* pose, double sign,
                           abDistance* out) {
  abVec3 n = quat_rotate(plane->q, v3(0, 0, 1));
  int index;
  abVec3 low = farthest(s, quat_rotate(quat_conj(pose->q), v3_neg(n)), &index);
  abVec3 p = v3_axpy(-skin(s), n, pose_apply(*pose, low));
  double gap = v3_dot(n, v3_sub(p, plane->p));
  abVec3 foot = v3_axpy(-gap, n, p);
  *out = (abDistance){.separation = gap,
                      .point1 = sign > 0 ? p : foot,
                      .point2 = sign > 0 ? foot : p,
                      .normal = v3_scale(sign, n),
                      .nfeature = 1,
                      .vertex1 = {sign > 0 ? index : -1, -1, -1, -1},
                      .vertex2 = {sign > 0 ? -1 : index, -1, -1, -1},
                      .error = 8 * DBL_EPSILON * (fabs(gap) + core_size(s))};
}

static void report(const Result* r, const Core* a, const Core* b, const abPose* frame, double size,
                   abDistance* out) {
  double d = r->overlap ? 0 : v3_norm(r->v);
  abVec3 n = d > 0 ? v3_scale(1 / d, r->v) : v3_zero();
  abVec3 p1 = v3_zero(), p2 = v3_zero();
  for (int i = 0; i < r->simplex.n; i++) {
    p1 = v3_axpy(r->simplex.weight[i], r->simplex.point[i].a, p1);
    p2 = v3_axpy(r->simplex.weight[i], r->simplex.point[i].b, p2);
  }
  p1 = v3_axpy(-a->radius, n, p1);
  p2 = v3_axpy(b->radius, n, p2);
  *out = (abDistance){.separation = d - a->radius - b->radius,
                      .point1 = pose_apply(*frame, p1),
                      .point2 = pose_apply(*frame, p2),
                      .normal = quat_rotate(frame->q, n),
                      .overlap = r->overlap,
                      .nfeature = r->simplex.n,
                      .error = (r->overlap ? 0 : fmax(0, d - r->lower)) + 16 * DBL_EPSILON * size,
                      .iterations = r->turns};
  for (int i = 0; i < 4; i++) {
    out->vertex1[i] = i < r->simplex.n ? r->simplex.point[i].ia : -1;
    out->vertex2[i] = i < r->simplex.n ? r->simplex.point[i].ib : -1;
  }
}

void ab_distance(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2,
                 abGjkSeed* seed, abDistance* out) {
  if (shape2->type == AB_SHAPE_PLANE) {
    plane_distance(&pose2, shape1, &pose1, 1, out);
    return;
  }
  if (shape1->type == AB_SHAPE_PLANE) {
    plane_distance(&pose1, shape2, &pose2, -1, out);
    return;
  }
  // The working frame has shape 1's axes and its origin at shape 2's.
  abQuat to_work = quat_conj(pose1.q);
  Core a = {.shape = shape1,
            .R = m3_identity(),
            .p = quat_rotate(to_work, v3_sub(pose1.p, pose2.p)),
            .radius = skin(shape1)};
  Core b = {.shape = shape2,
            .R = quat_matrix(quat_mul(to_work, pose2.q)),
            .p = v3_zero(),
            .radius = skin(shape2)};
  double size = v3_norm(a.p) + core_size(shape1) + core_size(shape2);
  abVec3 start = seed && v3_norm2(seed->direction) > 0 ? seed->direction : a.p;
  if (!(v3_norm2(start) > 0)) start = v3(0, 0, 1);
  bool any = !seed || !(seed->far > 0);
  Result r;
  iterate_all(&a, &b, start, size, any ? INFINITY : seed->far + a.radius + b.radius, &r);
  abPose frame = {pose2.p, pose1.q};
  report(&r, &a, &b, &frame, size, out);
  if (seed && !r.overlap) seed->direction = r.v;
}
