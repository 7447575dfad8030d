// What a body shows of itself along a normal: a face, or its whole outline.
// Tests: test_touch, test_touch_random.
#include <float.h>

#include "base/simd.h"
#include "collide/patch/patch.h"
#include "collide/touch/faces.h"

// A face steeper than this against the normal is not chosen by how it will lie.
static const double STEEP = 0.3;
// Vertices that are as far to this fraction of the body's radius are equally far.
static const double LEVEL = 1e-9;
// Of a body's outline its face is most from this fraction on.
static const double MOST = 0.7;

// Where the faces are in AB_BOX_FACE.
static const int PLACE[6] = {0, 4, 2, 5, 3, 1};

// --- which face

// The faces about a vertex: the best of them and of what is known already.
typedef struct Facing {
  abVec3 now, mid;
  int best, steep;
  double most, upright;
} Facing;

static void look_about(const abPolyhedron* p, int vertex, Facing* f) {
  const abHalf* half = ab_polyhedron_half(p);
  int first = ab_polyhedron_vert_half(p)[vertex], h = first;
  do {
    int face = half[h].left;
    double along = v3_dot(p->plane[face].n, f->now), later = v3_dot(p->plane[face].n, f->mid);
    if (along > STEEP && later > f->most) f->most = later, f->best = face;
    if (along > f->upright) f->upright = along, f->steep = face;
    h = half[h ^ 1].next;
  } while (h != first);
}

int ab_touch_face_at(const abPolyhedron* p, abVec3 now, abVec3 mid, int start) {
  Facing f = {now, mid, -1, -1, -DBL_MAX, -DBL_MAX};
  int v = ab_touch_support(p, now, start);
  look_about(p, v, &f);
  // where an edge or a face is farthest, its other corners have their say, too
  const abHalf* half = ab_polyhedron_half(p);
  int first = ab_polyhedron_vert_half(p)[v], h = first;
  double far = v3_dot(p->vert[v], now) - LEVEL * p->radius;
  do {
    int to = half[h ^ 1].from;
    if (v3_dot(p->vert[to], now) > far) look_about(p, to, &f);
    h = half[h ^ 1].next;
  } while (h != first);
  return f.best >= 0 ? f.best : f.steep;
}

// edge: the half-edge that is farthest, -1 if it is not known to be one.
static int choose_face(const abTouchSide* s, abVec3 n, double sign, int edge, int start) {
  abVec3 now = v3_scale(sign, m3_apply_t(&s->R0, n)), end = v3_scale(sign, m3_apply_t(&s->R1, n));
  abVec3 mid = v3_add(now, end);
  if (edge < 0) return ab_touch_face_at(s->poly, now, mid, start);
  const abHalf* half = ab_polyhedron_half(s->poly);
  int a = half[edge].left, b = half[edge ^ 1].left;
  const abPlane* plane = s->poly->plane;
  return v3_dot(plane[a].n, mid) >= v3_dot(plane[b].n, mid) ? a : b;
}

// Axis (0 to 2) and side of the box's face; ties go to the first.
static int choose_box_face(const abTouchSide* s, abVec3 n, double sign) {
  int best = 0;
  double most = -1, along = 0;
  for (int i = 0; i < 3; i++) {
    double now = sign * v3_dot(m3_col(&s->R0, i), n);
    double mid = fabs(now + sign * v3_dot(m3_col(&s->R1, i), n));
    if (fabs(now) > STEEP && mid > most) most = mid, best = i, along = now;
  }
  return 2 * best + (along > 0);
}

// --- projection

static void take_plane(const abTouchSide* s, const abPatch* p, abTouchFace* f) {
  f->all = true;
  f->n = 0;
  f->at = v2(v3_dot(p->t1, s->p0), v3_dot(p->t2, s->p0));
  f->middle = v2(0, 0);
  f->z = v3_dot(p->normal, s->p0);
  f->slope = v2(0, 0);
}

// face as in AB_BOX_FACE.
static void take_box(const abTouchSide* s, const abPatch* p, int face, abTouchFace* f) {
  int i = face / 2, j = (i + 1) % 3, k = (i + 2) % 3;
  abVec3 h = s->skin->half, m = m3_col(&s->R0, i), u = m3_col(&s->R0, j), v = m3_col(&s->R0, k);
  if (!(face & 1)) m = v3_neg(m);
  abVec3 c = v3_add(s->p0, m3_apply(&s->R0, s->skin->middle));
  c = v3_axpy(v3_get(h, i), m, c);
  f->n = 4;
  f->at = v2(v3_dot(p->t1, c), v3_dot(p->t2, c));
  f->middle = v2(0, 0);
  f->z = v3_dot(p->normal, c);
  double along = -1 / v3_dot(m, p->normal);
  f->slope = v2(along * v3_dot(m, p->t1), along * v3_dot(m, p->t2));
  double hu = v3_get(h, j), hv = v3_get(h, k);
  abVec2 U = v2(hu * v3_dot(u, p->t1), hu * v3_dot(u, p->t2));
  abVec2 V = v2(hv * v3_dot(v, p->t1), hv * v3_dot(v, p->t2));
  if (v2_cross(U, V) < 0) V = v2_scale(-1, V);
  abVec2 a = v2_add(U, V), b = v2_sub(U, V);
  f->corner[0] = v2_scale(-1, a);
  f->corner[1] = b;
  f->corner[2] = a;
  f->corner[3] = v2_scale(-1, b);
}

// below: the body is the lower one, its loop is counter-clockwise as it is.
static void take_face(const abTouchSide* s, const abPatch* p, int face, bool below,
                      abTouchFace* f) {
  const abPolyhedron* poly = s->poly;
  const int* loop = poly->loop + poly->face_start[face];
  f->n = poly->face_start[face + 1] - poly->face_start[face];
  abVec3 t1 = m3_apply_t(&s->R0, p->t1), t2 = m3_apply_t(&s->R0, p->t2);
  abVec3 n = m3_apply_t(&s->R0, p->normal), m = poly->plane[face].n, mean = v3_zero();
  f->at = v2(v3_dot(p->t1, s->p0), v3_dot(p->t2, s->p0));
  for (int i = 0; i < f->n; i++) {
    abVec3 x = poly->vert[loop[i]];
    mean = v3_axpy(1.0 / f->n, x, mean);
    f->corner[below ? i : f->n - 1 - i] = v2(v3_dot(t1, x), v3_dot(t2, x));
  }
  f->middle = v2(v3_dot(t1, mean), v3_dot(t2, mean));
  double along = -1 / v3_dot(m, n);
  f->slope = v2(along * v3_dot(m, t1), along * v3_dot(m, t2));
  // the corners lie in the plane to the data's flatness; the plane counts
  f->z =
      v3_dot(p->normal, s->p0) + v3_dot(n, mean) + along * (v3_dot(m, mean) - poly->plane[face].d);
}

AB_SIMD AB_FLATTEN void ab_touch_take_side(const abTouchWork* w, int i,
                                           const abTouchFeature* feature, const abPatch* p,
                                           abTouchFace* f) {
  const abTouchSide* s = &w->side[i];
  double sign = i ? 1 : -1;
  f->all = false;
  bool own = feature->face[i] >= 0;
  if (!s->poly)
    take_plane(s, p, f);
  else if (s->skin->box)
    take_box(s, p, own ? PLACE[feature->face[i]] : choose_box_face(s, p->normal, sign), f);
  else
    take_face(
        s, p,
        own ? feature->face[i] : choose_face(s, p->normal, sign, feature->edge[i], w->near[i]),
        i == 1, f);
  // its own normal has no slope but by rounding
  if (own) f->slope = v2(0, 0);
}

// --- bodies that may pass as a whole

static double area_of(int n, const abVec2* p) {
  double twice = 0;
  for (int i = 1; i + 1 < n; i++) twice += v2_cross(v2_sub(p[i], p[0]), v2_sub(p[i + 1], p[0]));
  return 0.5 * twice;
}

static int project_all(const abTouchSide* s, const abPatch* p, abVec2* point) {
  const abPolyhedron* poly = s->poly;
  for (int i = 0; i < poly->nvert; i++) {
    abVec3 x = m3_apply(&s->R0, poly->vert[i]);
    point[i] = v2(v3_dot(p->t1, x), v3_dot(p->t2, x));
  }
  return poly->nvert;
}

// A body that could pass the other's surface as a whole within the step must not do so with what is
// behind the face it shows: a stick that strikes with its end turns over it. It is taken as flat,
// with its whole outline at the height of its lowest point, unless its face is most of that.
void ab_touch_take_outline(const abTouchWork* w, int i, const abPatch* p, abTouchFace* f) {
  const abTouchSide* s = &w->side[i];
  if (!s->poly || !ab_touch_sweeps(w, i, p->normal)) return;
  abArenaMark mark = ab_arena_mark(w->scratch);
  int n = s->poly->nvert;
  abVec2 *point = AB_TAKE(w->scratch, abVec2, n), *hull = AB_TAKE(w->scratch, abVec2, 2 * n);
  if (point && hull) {
    int m = ab_hull2(project_all(s, p, point), point, hull);
    if (m > 2 && area_of(f->n, f->corner) < MOST * area_of(m, hull)) {
      abVec3 d = v3_scale(i ? 1 : -1, m3_apply_t(&s->R0, p->normal));
      abVec3 x = s->poly->vert[ab_touch_support(s->poly, d, w->near[i])];
      f->z = v3_dot(p->normal, v3_add(s->p0, m3_apply(&s->R0, x)));
      f->slope = v2(0, 0);
      abVec2 at = v2(v3_dot(p->t1, s->p0), v3_dot(p->t2, s->p0));
      f->middle = v2_add(f->middle, v2_sub(f->at, at));
      f->at = at;
      f->n = m;
      for (int k = 0; k < m; k++) f->corner[k] = hull[k];
    }
  }
  ab_arena_release(w->scratch, mark);
}
