// Contact without depth, seen ahead.
//
// Bodies at rest lie at depth zero, so an overlap tells nothing: the nearest points "now" of a puck
// and the next tile of a floor are its side. What counts is along which direction the two are apart
// and will be so best. Each feature that can tell them apart (a face of either, a pair of edges)
// has a gap g0 now and a gap g1 in the poses at the end of the free motion, its direction turned
// along with the bodies. Among the features with g0 >= -margin the one with the largest g1 is the
// normal: to stay apart there needs the least. Where there is none, overlap up to the tolerance is
// overlooked. Beyond that the bodies overlap, and the largest g0 is the shortest way out. A pair is
// in contact if min(g0, g1) <= margin.
//
// What lies on something falls in the free motion of every step, though it will not; so g1 is
// compared without what the step's own loads do to it. Bodies may be apart along two features at
// once: a puck whose side is flush with that of the next tile. What is left to meet along the first
// is narrower than the tolerance then, and unless it would really overlap in the step, there is no
// contact.
//
// In ties the last step's normal is kept, and faces count before edges, so that nothing flips from
// step to step.
#include "collide/touch/touch.h"

#include <float.h>

#include "base/simd.h"
#include "collide/patch/patch.h"
#include "collide/touch/round.h"

// Gaps that differ by less than this fraction of the smaller body, or of the margin, are equal.
static const double TIE_SIZE = 1e-6, TIE_MARGIN = 1e-3;
// So many features are tried: where two faces do not lie over each other when they meet, the bodies
// pass there, and another feature decides.
enum { TRIES = 3 };
// Bodies that do not lie over each other yet, and would not overlap but for the step's loads, by
// less than this fraction of the smaller one, are left to the next step.
static const double LATER = 0.1;

int ab_touch_room(const abShape* a, const abShape* b) {
  return (a->poly ? a->poly->nvert : 0) + (b->poly ? b->poly->nvert : 0) + 4;
}

// --- places

// The box about the shape itself, not its tessellation.
static void set_box(abTouchSide* s) {
  abVec3 z = s->shape->size;
  s->middle = v3_zero();
  switch (s->shape->type) {
    case AB_SHAPE_SPHERE:
      s->half = v3(z.x, z.x, z.x);
      break;
    case AB_SHAPE_CAPSULE:
      s->half = v3(z.x, z.x, z.x + z.y);
      break;
    case AB_SHAPE_CYLINDER:
      s->half = v3(z.x, z.x, z.y);
      break;
    case AB_SHAPE_ELLIPSOID:
      s->half = z;
      break;
    default:
      s->middle = s->skin->middle, s->half = s->skin->half;
  }
}

static void set_start(abTouchSide* s, const abShape* shape, abPose pose, abVec3 origin) {
  s->shape = shape;
  s->poly = shape->poly;
  s->skin = shape->poly ? ab_polyhedron_skin(shape->poly) : NULL;
  s->smooth = false;
  s->R0 = quat_matrix(pose.q);
  if (s->skin) set_box(s);
  s->p0 = v3_sub(pose.p, origin);
}

static void set_end(abTouchSide* s, double h) {
  if (v3_norm2(s->twist.ang) == 0) {
    s->R1 = s->R0;
    s->p1 = v3_axpy(h, s->twist.lin, s->p0);
    return;
  }
  abVec3 r = v3_sub(s->p0, s->com);
  abQuat q = quat_from_rotvec(v3_scale(h, s->twist.ang));
  abMat3 turn = quat_matrix(q);
  s->R1 = m3_mul(&turn, &s->R0);
  s->p1 = v3_axpy(h, s->twist.lin, v3_add(s->com, m3_apply(&turn, r)));
}

void ab_touch_end(abTouchWork* w) {
  set_end(&w->side[0], w->touch->h);
  set_end(&w->side[1], w->touch->h);
}

// What the loads of the step add to the relative way of the material in the middle of the smaller
// body.
static void set_pull(abTouchWork* w) {
  const abTouch* t = w->touch;
  w->pull = v3_zero();
  if (!t->before1 && !t->before2) return;
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  const abTouchSide* s = a->skin && (!b->skin || a->skin->size <= b->skin->size) ? a : b;
  abVec3 x = v3_add(s->p0, m3_apply(&s->R0, s->middle));
  abVec3 now = ab_touch_velocity(w, x);
  abTwist ta = t->before1 ? *t->before1 : t->twist1, tb = t->before2 ? *t->before2 : t->twist2;
  abVec3 before = v3_sub(twist_at(ta, v3_sub(x, a->com)), twist_at(tb, v3_sub(x, b->com)));
  w->pull = v3_scale(t->h, v3_sub(now, before));
}

static void begin(const abTouch* t, abArena* scratch, abTouchWork* w) {
  w->touch = t;
  w->scratch = scratch;
  w->origin = t->shape1->type == AB_SHAPE_PLANE ? t->pose2.p : t->pose1.p;
  set_start(&w->side[0], t->shape1, t->pose1, w->origin);
  set_start(&w->side[1], t->shape2, t->pose2, w->origin);
  w->side[0].com = v3_sub(t->com1, w->origin);
  w->side[1].com = v3_sub(t->com2, w->origin);
  w->side[0].twist = t->twist1, w->side[1].twist = t->twist2;
  double a = w->side[0].skin ? w->side[0].skin->size : DBL_MAX;
  double b = w->side[1].skin ? w->side[1].skin->size : DBL_MAX;
  w->size = a < b ? a : b;
  w->width = AB_TOUCH_WIDTH * w->size;
  w->watch = fmax(t->margin, t->watch);
  w->tie = fmax(TIE_SIZE * w->size, TIE_MARGIN * t->margin);
  set_pull(w);
}

static bool finite_touch(const abTouch* t) {
  abVec3 sum = v3_add(v3_add(t->pose1.p, t->pose2.p), v3_add(t->com1, t->com2));
  sum = v3_add(sum,
               v3_add(v3_add(t->twist1.lin, t->twist1.ang), v3_add(t->twist2.lin, t->twist2.ang)));
  abQuat p = t->pose1.q, q = t->pose2.q;
  return v3_finite(sum) && isfinite(p.w + p.x + p.y + p.z + q.w + q.x + q.y + q.z);
}

bool ab_touch_sweeps(const abTouchWork* w, int i, abVec3 n) {
  const abTouchSide *s = &w->side[i], *o = &w->side[1 - i];
  double h = w->touch->h, size = v3_norm(s->half), sign = i ? 1 : -1;
  abVec3 x = v3_add(s->p0, m3_apply(&s->R0, s->middle));
  double closing = -v3_dot(n, ab_touch_velocity(w, x));
  double way = h * (fmax(closing, 0) + v3_norm(v3_sub(s->twist.ang, o->twist.ang)) * size);
  if (!(way > s->skin->thin)) return false;
  abVec3 d = m3_apply_t(&s->R0, v3_scale(sign, n)), z = s->half;
  if (s->skin->box || s->shape->type != AB_SHAPE_MESH)
    return way > 2 * (z.x * fabs(d.x) + z.y * fabs(d.y) + z.z * fabs(d.z));
  const abVec3* v = s->poly->vert;
  return way > v3_dot(d, v3_sub(v[ab_touch_support(s->poly, d, w->near[i])],
                                v[ab_touch_support(s->poly, v3_neg(d), w->near[i])]));
}

// --- on a plane

// The lowest of the side's points along n.
static double lowest(const abTouchSide* s, const abMat3* R, abVec3 p, abVec3 n, int* vertex) {
  abVec3 d = v3_neg(m3_apply_t(R, n));
  if (s->skin->box) {
    abVec3 h = s->skin->half;
    return v3_dot(n, p) - v3_dot(d, s->middle) -
           (h.x * fabs(d.x) + h.y * fabs(d.y) + h.z * fabs(d.z));
  }
  *vertex = ab_touch_support(s->poly, d, *vertex);
  return v3_dot(n, p) - v3_dot(d, s->poly->vert[*vertex]);
}

static int find_plane(abTouchWork* w, abTouchFeature* feature) {
  bool first = !w->side[0].poly;
  const abTouchSide *plane = &w->side[first ? 0 : 1], *s = &w->side[first ? 1 : 0];
  abVec3 up = ab_plane_normal(first ? w->touch->pose1.q : w->touch->pose2.q);
  int vertex = 0;
  double g0 = lowest(s, &s->R0, s->p0, up, &vertex) - v3_dot(up, plane->p0);
  double h = w->touch->h, margin = w->watch;
  abVec3 middle = v3_add(s->p0, m3_apply(&s->R0, s->middle));
  double turn = v3_norm(s->twist.ang) * (v3_norm(v3_sub(middle, s->com)) + s->skin->size);
  double sink = v3_dot(up, v3_sub(s->twist.lin, plane->twist.lin));
  bool still = v3_norm2(plane->twist.ang) == 0;
  if (still && g0 > margin && g0 + h * (sink - turn) > margin) return 0;
  ab_touch_end(w);
  abVec3 later = v3_unit(m3_col(&plane->R1, 2));
  double g1 = lowest(s, &s->R1, s->p1, later, &vertex) - v3_dot(later, plane->p1);
  feature[0] = (abTouchFeature){first ? v3_neg(up) : up, g0, g1, {-1, -1}, {-1, -1}};
  return 1;
}

// --- the whole

static bool is_plane(const abTouchWork* w) { return !w->side[0].poly || !w->side[1].poly; }

static bool is_round(const abShape* s) {
  return s->type != AB_SHAPE_PLANE && s->type != AB_SHAPE_BOX && s->type != AB_SHAPE_MESH;
}

// The way the two go across the feature's direction after they have met along it.
static double sideways(const abTouchWork* w, const abTouchFeature* f) {
  double margin = w->touch->margin, t = 1;
  if (f->g0 > margin && f->g1 < f->g0) t = 1 - fmin(1, (f->g0 - margin) / (f->g0 - f->g1));
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  const abTouchSide* s = !b->skin || (a->skin && a->skin->size <= b->skin->size) ? a : b;
  abVec3 v = ab_touch_velocity(w, v3_add(s->p0, m3_apply(&s->R0, s->middle)));
  double turn = v3_norm(v3_sub(a->twist.ang, b->twist.ang)) * v3_norm(s->half);
  return t * w->touch->h * (turn + v3_norm(v3_axpy(-v3_dot(v, f->n), f->n, v)));
}

static bool is_hulls(const abTouchWork* w) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  return a->poly && b->poly && !(a->skin->box && b->skin->box);
}

// The features to be tried, in their order: at once, or of hulls one by one.
static int find_features(abTouchWork* w, int ntried, int n, abTouchFeature* feature) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  if (is_hulls(w)) return ntried + (ab_touch_hulls(w, ntried, true, feature) ? 1 : 0);
  if (ntried) return n;
  return a->poly && b->poly ? ab_touch_box_box(w, feature) : find_plane(w, feature);
}

// Where the second feature tells the two apart, too, across the first, only a sliver can meet: one
// that does not overlap in the step by more than the margin is no contact, unless it has carried a
// load, as an edge that rests on an edge does.
static bool passes(abTouchWork* w, int n, abTouchFeature* feature, const abPatch* p) {
  const abTouch* t = w->touch;
  if (p->kind == AB_PATCH_SURFACE || fmin(feature[0].g0, feature[0].g1) < -t->margin) return false;
  if (t->pressed && v3_dot(*t->normal, feature[0].n) > AB_TOUCH_ACROSS) return false;
  if (is_hulls(w)) n = ab_touch_hulls(w, 1, false, feature) ? 2 : 1;
  return n > 1 && feature[1].g0 >= -t->tolerance &&
         fabs(v3_dot(feature[0].n, feature[1].n)) < AB_TOUCH_ACROSS;
}

AB_SIMD AB_FLATTEN bool ab_touch_patch(const abTouch* t, abArena* scratch, abVec2* polygon,
                                       abPatch* patch) {
  int near[2] = {0, 0};
  abTouchWork w = {.near = near};
  abTouchFeature feature[AB_TOUCH_FEATURES];
  if (!finite_touch(t) || (!t->shape1->poly && !t->shape2->poly)) return false;
  begin(t, scratch, &w);
  if (is_round(t->shape1) || is_round(t->shape2)) return ab_touch_round(&w, polygon, patch);
  bool seen;
  if (ab_touch_facets(t->shape1) != ab_touch_facets(t->shape2)) {
    if (!is_plane(&w) && ab_touch_sat(&w)) return false;
    if (ab_touch_rolls(&w, polygon, patch, &seen)) return seen;
  }
  int n = 0;
  for (int i = 0; i < TRIES; i++) {
    n = find_features(&w, i, n, feature);
    if (n <= i) break;
    const abTouchFeature* f = &feature[i];
    if (f->g0 > w.watch && f->g1 > w.watch) return false;
    // what overlaps by less than the tolerance is still told apart in the next step
    bool later = f->g0 >= -t->tolerance && f->g1 >= -LATER * w.size &&
                 ab_touch_coasting(&w, f->n, f->g1) >= -t->tolerance;
    double slack = later ? 0 : t->tolerance + sideways(&w, f);
    if (ab_touch_faces(&w, f, slack, polygon, patch))
      return i > 0 || !passes(&w, n, feature, patch);
    if (later) return false;
  }
  // Overlapping bodies always have a patch.
  return n > 0 && feature[0].g0 < -t->tolerance && ab_touch_dot(&w, &feature[0], polygon, patch);
}

double ab_touch_separation(const abShape* shape1, abPose pose1, const abShape* shape2, abPose pose2,
                           double tolerance, bool guess, abVec3* n) {
  int near[2] = {0, 0};
  abTouchWork w = {.near = near};
  abTouch t = {.shape1 = shape1,
               .shape2 = shape2,
               .pose1 = pose1,
               .pose2 = pose2,
               .com1 = pose1.p,
               .com2 = pose2.p,
               .tolerance = tolerance};
  begin(&t, NULL, &w);
  return ab_touch_way_now(&w, guess ? n : NULL, n);
}
