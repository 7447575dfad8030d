// The directions that tell two convex polyhedra apart.
//
// Not all of them are looked at: from a direction n, the vertices of either body that are farthest
// towards the other are found by climbing along edges, and the faces about these two vertices, and
// the products of the edges that meet there, are the features near n. The best of them is the next
// n, until none is better. Bodies that are apart have one best direction, so that every start leads
// there but for rounding; starts are the last step's normal, the direction of the nearest points
// now and at the end, or where they overlap, the shortest way out through a face.
//
// A feature whose gap between just these two vertices is too small cannot have a larger one: most
// are settled by that.
// Tests: test_touch, test_touch_random.
#include <float.h>

#include "collide/distance/gjk.h"
#include "collide/patch/patch.h"
#include "collide/touch/work.h"

// Up to so many vertices are looked at one by one.
enum { FEW_VERTICES = 16, MAX_TURNS = 32 };
// Of a vertex with more edges (the tip of a cone) only so many are multiplied.
enum { VALENCE = 48 };
// Up to so many products of faces and vertices all faces are looked at.
enum { MANY_PAIRS = 20000 };
// So many tolerances are no rounding; directions with this cosine lead out on the same side.
static const double NO_ROUNDING = 10, SAME_WAY = 0.9;
static const int NONE[2] = {-1, -1};

int ab_touch_support(const abPolyhedron* p, abVec3 d, int start) {
  int best = start;
  double most = v3_dot(p->vert[start], d);
  if (p->nvert <= FEW_VERTICES) {
    for (int i = 0; i < p->nvert; i++) {
      double s = v3_dot(p->vert[i], d);
      if (s > most) most = s, best = i;
    }
    return best;
  }
  const abHalf* half = ab_polyhedron_half(p);
  const int* leaving = ab_polyhedron_vert_half(p);
  for (int at = -1; at != best;) {
    at = best;
    int h = leaving[at];
    do {
      int v = half[h ^ 1].from;
      double s = v3_dot(p->vert[v], d);
      if (s > most) most = s, best = v;
      h = half[h ^ 1].next;
    } while (h != leaving[at]);
  }
  return best;
}

// The search: the vertices where it is, and the best features so far.
typedef struct Search {
  abTouchWork* w;
  int v[2];               // farthest towards the other along the present direction, at the start
  int seen[2];            // the last ones whose features were looked at
  abTouchFeature* tried;  // features that are not wanted again
  int ntried;
  int apart;            // 2: there is one with g0 >= -margin, 1: with g0 >= -tolerance, 0: none
  abTouchFeature best;  // of those, else that with the largest g0
  double score;
} Search;

static abVec3 point(const abTouchSide* s, int vertex, bool end) {
  return v3_add(end ? s->p1 : s->p0, m3_apply(end ? &s->R1 : &s->R0, s->poly->vert[vertex]));
}

// Gap along n, by the farthest vertices.
static double gap_along(const Search* s, abVec3 n, bool end) {
  const abTouchSide *a = &s->w->side[0], *b = &s->w->side[1];
  int va = ab_touch_support(a->poly, v3_neg(m3_apply_t(end ? &a->R1 : &a->R0, n)), s->v[0]);
  int vb = ab_touch_support(b->poly, m3_apply_t(end ? &b->R1 : &b->R0, n), s->v[1]);
  return v3_dot(n, v3_sub(point(a, va, end), point(b, vb, end)));
}

static bool was_tried(const Search* s, abVec3 n) {
  for (int i = 0; i < s->ntried; i++)
    if (v3_norm2(v3_sub(s->tried[i].n, n)) < AB_TOUCH_SAME) return true;
  return false;
}

// Offers the feature with direction n0 now and n1 at the end. True if it is better than all before.
static bool offer(Search* s, abVec3 n0, abVec3 n1, const int face[2], const int edge[2]) {
  const abTouchWork* w = s->w;
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  double tolerance = w->touch->tolerance;
  bool edges = edge[0] >= 0;
  // between the present vertices: a bound
  double bound = v3_dot(n0, v3_sub(point(a, s->v[0], false), point(b, s->v[1], false)));
  if ((s->apart == 2 && bound < -w->touch->margin) || (s->apart == 1 && bound < -tolerance))
    return false;
  if (bound < -tolerance &&
      (s->apart || ab_touch_score(w, n0, ab_touch_out(w, n0, bound), edges) <= s->score))
    return false;
  bound = v3_dot(n1, v3_sub(point(a, s->v[0], true), point(b, s->v[1], true)));
  bound = ab_touch_score(w, n0, ab_touch_coasting(w, n0, bound), edges);
  if ((s->apart == 2 && bound <= s->score) || was_tried(s, n0)) return false;
  abTouchFeature f = {n0, gap_along(s, n0, false), 0, {face[0], face[1]}, {edge[0], edge[1]}};
  int apart = f.g0 >= -w->touch->margin ? 2 : f.g0 >= -tolerance ? 1 : 0;
  if (s->apart > apart) return false;
  f.g1 = gap_along(s, n1, true);
  double gap = apart ? ab_touch_coasting(w, n0, f.g1) : ab_touch_out(w, n0, f.g0);
  double score = ab_touch_score(w, n0, gap, edges);
  if (apart == s->apart && score <= s->score) return false;
  s->apart = apart, s->best = f, s->score = score;
  return true;
}

// The faces about the present vertex of one side.
static bool offer_faces(Search* s, int side) {
  const abTouchSide* b = &s->w->side[side];
  const abHalf* half = ab_polyhedron_half(b->poly);
  int first = ab_polyhedron_vert_half(b->poly)[s->v[side]], h = first;
  bool better = false;
  double sign = side ? 1 : -1;
  do {
    int f = half[h].left;
    abVec3 m = v3_scale(sign, b->poly->plane[f].n);
    int face[2] = {side ? -1 : f, side ? f : -1};
    better |= offer(s, m3_apply(&b->R0, m), m3_apply(&b->R1, m), face, NONE);
    h = half[h ^ 1].next;
  } while (h != first);
  return better;
}

// The edges at a vertex: their directions, the normals beside them, in the world at the start.
typedef struct Star {
  int n, half[VALENCE];
  abVec3 e[VALENCE], left[VALENCE], right[VALENCE];
} Star;

static void gather_star(const abTouchSide* s, int vertex, Star* star) {
  const abPolyhedron* p = s->poly;
  const abHalf* half = ab_polyhedron_half(p);
  int first = ab_polyhedron_vert_half(p)[vertex], h = first;
  star->n = 0;
  do {
    int k = star->n++;
    abVec3 e = v3_sub(p->vert[half[h ^ 1].from], p->vert[vertex]);
    star->half[k] = h;
    star->e[k] = m3_apply(&s->R0, v3_scale(1 / v3_norm(e), e));
    star->left[k] = m3_apply(&s->R0, p->plane[half[h].left].n);
    star->right[k] = m3_apply(&s->R0, p->plane[half[h ^ 1].left].n);
    h = half[h ^ 1].next;
  } while (h != first && star->n < VALENCE);
}

// Edges e of body 1 and f of body 2 touch if n = e x f looks away from all else of body 2 and
// towards that of body 1: if it lies between the normals c, d of the faces beside f, and against
// those beside e. Across f, n lies in the direction f x n = e - f (e . f), and c . f = 0: it is
// between them if c . e and d . e have different signs.
static bool offer_edges(Search* s) {
  const abTouchSide *a = &s->w->side[0], *b = &s->w->side[1];
  Star A, B;
  gather_star(a, s->v[0], &A);
  gather_star(b, s->v[1], &B);
  bool better = false;
  for (int i = 0; i < A.n; i++)
    for (int j = 0; j < B.n; j++) {
      if (v3_dot(B.left[j], A.e[i]) * v3_dot(B.right[j], A.e[i]) > 0 ||
          v3_dot(A.left[i], B.e[j]) * v3_dot(A.right[i], B.e[j]) > 0)
        continue;
      abVec3 n0 = v3_cross(A.e[i], B.e[j]);
      double length = v3_norm2(n0), sign = v3_dot(n0, v3_add(B.left[j], B.right[j]));
      if (!(length > AB_TOUCH_PARALLEL) || !(sign * v3_dot(n0, v3_add(A.left[i], A.right[i])) < 0))
        continue;
      n0 = v3_scale(copysign(1 / sqrt(length), sign), n0);
      // the same product at the end
      abVec3 e = m3_apply(&a->R1, m3_apply_t(&a->R0, A.e[i]));
      abVec3 n1 = v3_cross(e, m3_apply(&b->R1, m3_apply_t(&b->R0, B.e[j])));
      double later = v3_norm2(n1);
      if (!(later > AB_TOUCH_PARALLEL)) continue;
      n1 = v3_scale(copysign(1 / sqrt(later), sign), n1);
      better |= offer(s, n0, n1, NONE, (int[2]){A.half[i], B.half[j]});
    }
  return better;
}

// The features about a pair of vertices, unless it was the last one to be looked at.
static bool look_about(Search* s) {
  if (s->v[0] == s->seen[0] && s->v[1] == s->seen[1]) return false;
  s->seen[0] = s->v[0], s->seen[1] = s->v[1];
  bool better = offer_faces(s, 1);
  better |= offer_faces(s, 0);
  better |= offer_edges(s);
  return better;
}

// Climbs from the direction n.
static void climb(Search* s, abVec3 n) {
  const abTouchSide *a = &s->w->side[0], *b = &s->w->side[1];
  for (int turn = 0; turn < MAX_TURNS; turn++) {
    s->v[0] = ab_touch_support(a->poly, v3_neg(m3_apply_t(&a->R0, n)), s->v[0]);
    s->v[1] = ab_touch_support(b->poly, m3_apply_t(&b->R0, n), s->v[1]);
    bool better = look_about(s);
    // bodies that turn far in the step meet with other vertices at its end
    int v0 = ab_touch_support(a->poly, v3_neg(m3_apply_t(&a->R1, n)), s->v[0]);
    int v1 = ab_touch_support(b->poly, m3_apply_t(&b->R1, n), s->v[1]);
    if (v0 != s->v[0] || v1 != s->v[1]) {
      s->v[0] = v0, s->v[1] = v1;
      better |= look_about(s);
    }
    if (!better) return;
    n = s->best.n;
  }
}

// What the step can close of a gap: the way of the smaller body's points, seen from the other. What
// the two do together, as links of one robot, closes nothing. While they turn, the velocity between
// them turns along, and grows by no more than its share of the angle.
static double closing(const abTouchWork* w) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  const abTouchSide* s = a->skin->size <= b->skin->size ? a : b;
  abVec3 x = v3_add(s->p0, m3_apply(&s->R0, s->skin->middle));
  double turn = v3_norm(v3_sub(a->twist.ang, b->twist.ang)), h = w->touch->h;
  double both = v3_norm(a->twist.ang) + v3_norm(b->twist.ang);
  return h * (1 + h * both) * (v3_norm(ab_touch_velocity(w, x)) + turn * s->skin->size);
}

static abShape body_of(const abTouchSide* s) {
  return (abShape){.type = AB_SHAPE_MESH, .poly = s->poly};
}

// Where the step began and ended, GJK tells the best direction of bodies that are apart. far: they
// need not be looked at farther than this, 0: however far.
static bool nearest_now(const abTouchWork* w, double far, abDistance* d) {
  abShape a = body_of(&w->side[0]), b = body_of(&w->side[1]);
  abGjkSeed seed = {.far = far};
  ab_distance(&a, w->touch->pose1, &b, w->touch->pose2, &seed, d);
  return !d->overlap && v3_norm2(d->normal) > 0.5;
}

static bool nearest_later(const abTouchWork* w, abDistance* d) {
  const abTouch* t = w->touch;
  abShape a = body_of(&w->side[0]), b = body_of(&w->side[1]);
  abPose pa = {v3_add(w->side[0].p1, w->origin),
               quat_mul(quat_from_rotvec(v3_scale(t->h, t->twist1.ang)), t->pose1.q)};
  abPose pb = {v3_add(w->side[1].p1, w->origin),
               quat_mul(quat_from_rotvec(v3_scale(t->h, t->twist2.ang)), t->pose2.q)};
  ab_distance(&a, pa, &b, pb, NULL, d);
  return !d->overlap && v3_norm2(d->normal) > 0.5;
}

// Bodies that overlap, and nothing is known: through the face with the shortest way, or of large
// ones along the line of their middles, and as they would meet if they were drawn out there.
static void climb_out(Search* s) {
  const abTouchWork* w = s->w;
  const abTouch* t = w->touch;
  const abTouchSide *A = &w->side[0], *B = &w->side[1];
  if (A->poly->nface * B->poly->nvert + B->poly->nface * A->poly->nvert <= MANY_PAIRS) {
    double way;
    climb(s, ab_least_penetration(A->poly, t->pose1, B->poly, t->pose2, &way));
  } else {
    abVec3 d = v3_sub(v3_add(A->p0, m3_apply(&A->R0, A->middle)),
                      v3_add(B->p0, m3_apply(&B->R0, B->middle)));
    climb(s, v3_norm2(d) > 0 ? v3_unit(d) : v3(0, 0, 1));
  }
  if (!(s->score > -DBL_MAX)) return;
  abShape a = body_of(A), b = body_of(B);
  abPose out = t->pose1;
  out.p = v3_axpy(fmax(-s->best.g0, 0) + t->tolerance, s->best.n, out.p);
  abDistance d;
  ab_distance(&a, out, &b, t->pose2, NULL, &d);
  if (!d.overlap && v3_norm2(d.normal) > 0.5) climb(s, d.normal);
}

// Bodies that were in each other are so still, and the way out is that of the last step: nothing
// else is looked for.
static bool is_deep(const Search* s, abVec3 last) {
  return !s->apart && s->best.g0 < -NO_ROUNDING * s->w->touch->tolerance &&
         v3_dot(s->best.n, last) > SAME_WAY;
}

// The first time from the last step's normal, else from the nearest points; then, from the feature
// that was best.
bool ab_touch_hulls(abTouchWork* w, int ntried, bool thorough, abTouchFeature* feature) {
  const abTouch* t = w->touch;
  Search s = {.w = w, .tried = feature, .ntried = ntried, .score = -DBL_MAX, .seen = {-1, -1}};
  s.v[0] = w->near[0], s.v[1] = w->near[1];
  if (ntried == 0 && ab_touch_sat(w)) return false;
  const abVec3* guess = ntried ? &feature[0].n : t->normal;
  abDistance d;
  double far = w->watch + closing(w);
  bool apart = !guess && nearest_now(w, far, &d);
  if (apart && d.separation > far) return false;
  if (ntried == 0) ab_touch_end(w);
  if (guess) climb(&s, *guess);
  if (apart) climb(&s, d.normal);
  if (guess && thorough && is_deep(&s, *guess)) thorough = false;
  if (!s.apart && guess && thorough && nearest_now(w, 0, &d)) climb(&s, d.normal);
  if (!s.apart && thorough) climb_out(&s);
  if (s.apart && thorough && ab_touch_coasting(w, s.best.n, s.best.g1) < -t->tolerance &&
      nearest_later(w, &d))
    climb(&s, d.normal);
  feature[ntried] = s.best;
  w->near[0] = s.v[0], w->near[1] = s.v[1];
  return s.score > -DBL_MAX;
}
