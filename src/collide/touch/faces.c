// The patch of two faces that look at each other along n.
//
// Both are projected along n, and each is the graph of an affine height over the plane (t1, t2): a
// face with the outward normal m through c has
//
//   z(x) = z_c + k . (x - x_c),   k = -(m . t1, m . t2) / (m . n),
//
// so the thickness z_2 - z_1 is affine, and exact. The polygon is where the projections overlap,
// cut to where the thickness is above -reach: reach is the margin and what the step's motion closes
// at the fastest corner. The lowest corner is a corner of this polygon. A face that stands on
// an edge or a corner leaves a strip or a small triangle; the cut leaves at least 2 W of it beyond
// the lowest corner, W the least width.
//
// Bodies that meet late in the step have moved sideways until then. The faces are laid on each
// other as they are at the time of meeting, s apart from where they are now. Each body is moved by
// a part of s only, the one that moves more the less: levers are taken about the bodies where they
// are at the start, and a body that rests has no lever to be wrong. For the same reason the centre
// then is nearer to the face that moves more; it is half-way where the bodies touch.
// Tests: test_touch, test_touch_random.
#include <float.h>

#include "base/simd.h"
#include "collide/patch/patch.h"
#include "collide/touch/faces.h"

// Of polygons up to so many corners the room is on the stack.
enum { SMALL = 24 };
// Corners of faces beside each other are equally near if their distances differ by less than this
// fraction of them, or of the smaller body. Smaller, and of parallel edges one end is lost to
// rounding; larger, and an edge that is not quite parallel is one.
static const double AS_NEAR = 1e-6;

static double height(const abTouchFace* f, abVec2 x) {
  return f->z + v2_dot(f->slope, v2_sub(x, f->middle));
}

// From now on what the face has is counted from o.
static void count_from(abTouchFace* f, abVec2 o) {
  abVec2 s = v2_sub(f->at, o);
  f->at = o;
  f->middle = v2_add(s, f->middle);
  for (int i = 0; i < f->n; i++) f->corner[i] = v2_add(s, f->corner[i]);
}

// Where o is, at the height z.
static abVec3 place(const abPatch* p, abVec2 o, double z) {
  return v3_add(v3_scale(z, p->normal), v3_add(v3_scale(o.x, p->t1), v3_scale(o.y, p->t2)));
}

// The middle of the smaller body's face, half-way between both where none is smaller: which of them
// comes first must not matter. *small: that face.
static abVec3 middle_of_smaller(const abTouchWork* w, const abPatch* p, const abTouchFace* a,
                                const abTouchFace* b, const abTouchFace** small) {
  double size_a = a->all ? DBL_MAX : w->side[0].skin->size,
         size_b = b->all ? DBL_MAX : w->side[1].skin->size;
  abVec3 at_a = place(p, v2_add(a->at, a->middle), a->z),
         at_b = place(p, v2_add(b->at, b->middle), b->z);
  *small = size_a <= size_b ? a : b;
  if (fabs(size_a - size_b) <= AS_NEAR * size_a) return v3_lerp(at_a, at_b, 0.5);
  return size_a < size_b ? at_a : at_b;
}

// Lays the faces on each other as they are when the bodies meet. Returns how much more the first
// one moves until then, of both: -1 to 1, and 0 for bodies that are within the margin already.
// *o: a place near the two then, from which they are to be counted: grains come from kilometres.
static double move_to_meeting(const abTouchWork* w, const abTouchFeature* g, abPatch* p,
                              abTouchFace* a, abTouchFace* b, abVec2* o) {
  double margin = w->touch->margin;
  *o = v2(0, 0);
  if (!(g->g0 > margin) || !(g->g1 < g->g0)) return 0;
  double t = fmin(1, (g->g0 - margin) / (g->g0 - g->g1)) * w->touch->h;
  const abTouchSide *A = &w->side[0], *B = &w->side[1];
  const abTouchFace* small;
  abVec3 x = middle_of_smaller(w, p, a, b, &small);
  abVec3 da = v3_scale(t, twist_at(A->twist, v3_sub(x, A->com)));
  abVec3 db = v3_scale(t, twist_at(B->twist, v3_sub(x, B->com))), d = v3_sub(da, db);
  double aa = v3_norm2(da), bb = v3_norm2(db);
  if (!(aa + bb > 0)) return 0;
  abVec2 s = v2(v3_dot(d, p->t1), v3_dot(d, p->t2));
  a->at = v2_add(a->at, v2_scale(bb / (aa + bb), s));
  b->at = v2_add(b->at, v2_scale(-aa / (aa + bb), s));
  *o = small->at;
  abVec3 back = v3_scale(1 / (aa + bb), v3_add(v3_scale(aa, da), v3_scale(bb, db)));
  p->meet[0] = v3_axpy(-t, A->twist.lin, back), p->meet[1] = v3_axpy(-t, B->twist.lin, back);
  p->meet_time = t;
  return (aa - bb) / (aa + bb) * (1 - margin / g->g0);
}

// --- cutting

// Keeps of a convex polygon what has o + g . x >= 0; out has room for one corner more. Returns the
// number of corners.
static int cut(int n, const abVec2* in, double o, abVec2 g, abVec2* out) {
  int m = 0;
  if (n == 0) return 0;
  abVec2 a = in[n - 1];
  double va = o + v2_dot(g, a);
  for (int i = 0; i < n; i++) {
    abVec2 b = in[i];
    double vb = o + v2_dot(g, b);
    if ((va < 0) != (vb < 0)) out[m++] = v2_add(a, v2_scale(va / (va - vb), v2_sub(b, a)));
    if (vb >= 0) out[m++] = b;
    a = b, va = vb;
  }
  return m;
}

static bool cuts(int n, const abVec2* p, double o, abVec2 g) {
  bool any = false;
  for (int i = 0; i < n; i++) any |= o + v2_dot(g, p[i]) < 0;
  return any;
}

// The common part of two polygons, in one of the two buffers, which is returned.
static abVec2* overlap(const abTouchFace* a, const abTouchFace* b, int* n, abVec2* buffer[2]) {
  if (a->n < b->n || b->all) {
    const abTouchFace* c = a;
    a = b, b = c;
  }
  // a, the one with more corners, is cut by the sides of b
  const abTouchFace* kept = a->all ? b : a;
  *n = kept->n;
  for (int i = 0; i < *n; i++) buffer[0][i] = kept->corner[i];
  if (a->all) return buffer[0];
  abVec2 *now = buffer[0], *next = buffer[1];
  for (int i = 0; i < b->n && *n; i++) {
    abVec2 p = b->corner[i], side = v2_sub(b->corner[i + 1 < b->n ? i + 1 : 0], p);
    abVec2 g = v2(-side.y, side.x);  // inwards
    double o = -v2_dot(g, p);
    if (!cuts(*n, now, o, g)) continue;
    *n = cut(*n, now, o, g, next);
    abVec2* last = now;
    now = next, next = last;
  }
  return now;
}

// How far the step reaches: the margin, and what the motion closes at the fastest corner. The
// relative velocity along n is affine over the plane.
static double reach(const abTouchWork* w, const abPatch* p, abVec2 o, int n,
                    const abVec2* polygon) {
  abVec3 turn = v3_cross(p->normal, v3_sub(w->side[0].twist.ang, w->side[1].twist.ang));
  abVec2 g = v2(v3_dot(turn, p->t1), v3_dot(turn, p->t2));
  double v0 = v3_dot(p->normal, ab_touch_velocity(w, place(p, o, 0))), most = 0;
  for (int i = 0; i < n; i++) {
    // an impact may turn the motion round within the step: corners that leave count, too
    double v = fabs(v0 + v2_dot(g, polygon[i]));
    most = v > most ? v : most;
  }
  return w->touch->margin + w->touch->h * most;
}

// Distance of a point from a convex polygon it is outside of, and the nearest point.
static double distance_to(const abTouchFace* f, abVec2 x, abVec2* nearest) {
  double least = DBL_MAX;
  for (int i = 0; i < f->n; i++) {
    abVec2 a = f->corner[i], e = v2_sub(f->corner[i + 1 < f->n ? i + 1 : 0], a);
    double ee = v2_dot(e, e), t = ee > 0 ? v2_dot(e, v2_sub(x, a)) / ee : 0;
    abVec2 p = v2_add(a, v2_scale(t < 0 ? 0 : t > 1 ? 1 : t, e));
    double d = v2_norm(v2_sub(x, p));
    if (d < least) least = d, *nearest = p;
  }
  return least;
}

// Of points on a line, but for rounding, the two ends.
static int keep_ends(int n, abVec2* p) {
  int a = 0, b = 0;
  double most = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double d = v2_norm(v2_sub(p[i], p[j]));
      if (d > most) most = d, a = j, b = i;
    }
  abVec2 end[2] = {p[a], p[b]};
  p[0] = end[0], p[1] = end[1];
  return n > 0 && most > 0 ? 2 : n > 0;
}

// Two faces that pass beside each other: the dot, or strip, between their nearest points, if they
// are not farther apart than `slack`. That may be kilometres, of which a fraction would be all
// corners of both: those count that are as near as the nearest to a fraction of the smaller body.
static bool beside(const abTouchWork* w, const abTouchFace* a, const abTouchFace* b, double slack,
                   abVec2* polygon, abPatch* p) {
  if (a->all || b->all) return false;
  double least = DBL_MAX, z = 0;
  const abTouchFace* face[2] = {a, b};
  abVec2 near = v2(0, 0);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < face[k]->n; i++)
      least = fmin(least, distance_to(face[1 - k], face[k]->corner[i], &near));
  if (!(least <= slack)) return false;
  double near_enough = least + AS_NEAR * fmin(least, w->size) + 1e-3 * w->width;
  p->nvert = 0, p->polygon = polygon, p->h0 = -DBL_MAX;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < face[k]->n; i++) {
      abVec2 x = face[k]->corner[i];
      if (distance_to(face[1 - k], x, &near) > near_enough) continue;
      polygon[p->nvert++] = v2_scale(0.5, v2_add(x, near));
      double za = height(a, k ? near : x), zb = height(b, k ? x : near);
      if (zb - za > p->h0) p->h0 = zb - za, z = 0.5 * (za + zb);
    }
  p->nvert = keep_ends(p->nvert, polygon);
  if (!(p->h0 >= -fmax(reach(w, p, a->at, p->nvert, polygon), w->watch))) return false;
  return ab_touch_measure(w, place(p, a->at, z), v2(0, 0), polygon, p);
}

// share: what move_to_meeting returned. The centre lies that much nearer to the first face.
static bool make_patch(const abTouchWork* w, abTouchFace* a, abTouchFace* b, double share,
                       abVec2* buffer[2], abVec2* polygon, abPatch* p) {
  int n;
  abVec2* loop = overlap(a, b, &n, buffer);
  if (n == 0) return false;
  abVec2 g = v2_sub(b->slope, a->slope);
  double t0 = height(b, v2(0, 0)) - height(a, v2(0, 0)), most = -DBL_MAX;
  for (int i = 0; i < n; i++) {
    double t = t0 + v2_dot(g, loop[i]);
    most = t > most ? t : most;
  }
  double far = reach(w, p, a->at, n, loop);
  if (!(most >= -fmax(far, w->watch))) return false;
  far = fmax(far, fmax(2 * w->width * v2_norm(g), w->tie) - most);
  p->nvert = cut(n, loop, t0 + far, g, polygon);
  p->polygon = polygon;
  p->h0 = t0, p->hx = g.x, p->hy = g.y;
  double of_a = 0.5 * (1 + share), of_b = 0.5 * (1 - share);
  abVec2 slope = v2_add(v2_scale(of_a, a->slope), v2_scale(of_b, b->slope));
  double z = of_a * height(a, v2(0, 0)) + of_b * height(b, v2(0, 0));
  return ab_touch_measure(w, place(p, a->at, z), slope, polygon, p);
}

static int corners(const abTouchSide* s) { return s->poly ? s->poly->nvert : 0; }

AB_SIMD AB_FLATTEN bool ab_touch_faces(const abTouchWork* w, const abTouchFeature* feature,
                                       double slack, abVec2* polygon, abPatch* p) {
  int na = corners(&w->side[0]), nb = corners(&w->side[1]), room = na + nb + 2;
  abVec2 small[4 * SMALL];
  abArenaMark mark = ab_arena_mark(w->scratch);
  abVec2* memory = room <= SMALL ? small : AB_TAKE(w->scratch, abVec2, na + nb + 2 * room);
  if (!memory) return false;
  abTouchFace a = {.corner = memory + 2 * room}, b = {.corner = memory + 2 * room + na};
  *p = (abPatch){.normal = feature->n};
  ab_patch_tangents(&(abPatchHint){.normal = w->touch->normal, .t1 = w->touch->t1}, p);
  ab_touch_take_side(w, 0, feature, p, &a);
  ab_touch_take_side(w, 1, feature, p, &b);
  ab_touch_take_outline(w, 0, p, &a);
  ab_touch_take_outline(w, 1, p, &b);
  abVec2 o;
  double share = move_to_meeting(w, feature, p, &a, &b, &o);
  count_from(&a, o);
  count_from(&b, o);
  abVec2* buffer[2] = {memory, memory + room};
  bool found = make_patch(w, &a, &b, share, buffer, polygon, p) ||
               (slack > 0 && beside(w, &a, &b, slack, polygon, p));
  ab_arena_release(w->scratch, mark);
  return found;
}

bool ab_touch_dot(const abTouchWork* w, const abTouchFeature* feature, abVec2* polygon,
                  abPatch* p) {
  *p = (abPatch){.normal = feature->n, .polygon = polygon, .nvert = 1, .h0 = -feature->g0};
  ab_patch_tangents(&(abPatchHint){.normal = w->touch->normal, .t1 = w->touch->t1}, p);
  abVec3 far[2];
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    abVec3 d = v3_scale(i ? 1 : -1, m3_apply_t(&s->R0, p->normal));
    abVec3 x = s->poly->vert[ab_touch_support(s->poly, d, w->near[i])];
    far[i] = v3_add(s->p0, m3_apply(&s->R0, x));
  }
  polygon[0] = v2(0, 0);
  return ab_touch_measure(w, v3_lerp(far[0], far[1], 0.5), v2(0, 0), polygon, p);
}
