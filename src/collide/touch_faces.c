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
#include <float.h>

#include "collide/patch.h"
#include "collide/touch_work.h"

// A face steeper than this against the normal is not chosen by how it will lie.
static const double STEEP = 0.3;
// Vertices that are as far to this fraction of the body's radius are equally far.
static const double LEVEL = 1e-9;
// Of polygons up to so many corners the room is on the stack.
enum { SMALL = 16 };

// Where the faces are in AB_BRICK_FACE.
static const int PLACE[6] = {0, 4, 2, 5, 3, 1};

// A projected face.
typedef struct Face {
  int n;
  abVec2* corner;  // counter-clockwise
  abVec2 middle;   // mean of the corners
  double z;        // height there
  abVec2 slope;
  bool all;  // the whole plane
} Face;

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

int ab_touch_face_at(const abPolyhedron* p, abVec3 now, abVec3 mid) {
  Facing f = {now, mid, -1, -1, -DBL_MAX, -DBL_MAX};
  int v = ab_touch_support(p, now, 0);
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
static int choose_face(const abTouchSide* s, abVec3 n, double sign, int edge) {
  abVec3 now = v3_scale(sign, m3_apply_t(&s->R0, n)), end = v3_scale(sign, m3_apply_t(&s->R1, n));
  abVec3 mid = v3_add(now, end);
  if (edge < 0) return ab_touch_face_at(s->poly, now, mid);
  const abHalf* half = ab_polyhedron_half(s->poly);
  int a = half[edge].left, b = half[edge ^ 1].left;
  const abPlane* plane = s->poly->plane;
  return v3_dot(plane[a].n, mid) >= v3_dot(plane[b].n, mid) ? a : b;
}

// Axis (0 to 2) and side of the brick's face; ties go to the first.
static int choose_brick_face(const abTouchSide* s, abVec3 n, double sign) {
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

static void take_plane(const abTouchSide* s, const abPatch* p, Face* f) {
  f->all = true;
  f->n = 0;
  f->middle = v2(v3_dot(p->t1, s->p0), v3_dot(p->t2, s->p0));
  f->z = v3_dot(p->normal, s->p0);
  f->slope = v2(0, 0);
}

// face as in AB_BRICK_FACE.
static void take_brick(const abTouchSide* s, const abPatch* p, int face, Face* f) {
  int i = face / 2, j = (i + 1) % 3, k = (i + 2) % 3;
  abVec3 h = s->skin->half, m = m3_col(&s->R0, i), u = m3_col(&s->R0, j), v = m3_col(&s->R0, k);
  if (!(face & 1)) m = v3_neg(m);
  abVec3 c = v3_add(s->p0, m3_apply(&s->R0, s->skin->middle));
  c = v3_axpy(v3_get(h, i), m, c);
  f->n = 4;
  f->middle = v2(v3_dot(p->t1, c), v3_dot(p->t2, c));
  f->z = v3_dot(p->normal, c);
  double along = -1 / v3_dot(m, p->normal);
  f->slope = v2(along * v3_dot(m, p->t1), along * v3_dot(m, p->t2));
  double hu = v3_get(h, j), hv = v3_get(h, k);
  abVec2 U = v2(hu * v3_dot(u, p->t1), hu * v3_dot(u, p->t2));
  abVec2 V = v2(hv * v3_dot(v, p->t1), hv * v3_dot(v, p->t2));
  if (v2_cross(U, V) < 0) V = v2_scale(-1, V);
  abVec2 a = v2_add(U, V), b = v2_sub(U, V);
  f->corner[0] = v2_sub(f->middle, a);
  f->corner[1] = v2_add(f->middle, b);
  f->corner[2] = v2_add(f->middle, a);
  f->corner[3] = v2_sub(f->middle, b);
}

// below: the body is the lower one, its loop is counter-clockwise as it is.
static void take_face(const abTouchSide* s, const abPatch* p, int face, bool below, Face* f) {
  const abPolyhedron* poly = s->poly;
  const int* loop = poly->loop + poly->face_start[face];
  f->n = poly->face_start[face + 1] - poly->face_start[face];
  abVec3 t1 = m3_apply_t(&s->R0, p->t1), t2 = m3_apply_t(&s->R0, p->t2);
  abVec3 n = m3_apply_t(&s->R0, p->normal), m = poly->plane[face].n, mean = v3_zero();
  abVec2 o = v2(v3_dot(p->t1, s->p0), v3_dot(p->t2, s->p0));
  for (int i = 0; i < f->n; i++) {
    abVec3 x = poly->vert[loop[i]];
    mean = v3_axpy(1.0 / f->n, x, mean);
    f->corner[below ? i : f->n - 1 - i] = v2_add(o, v2(v3_dot(t1, x), v3_dot(t2, x)));
  }
  f->middle = v2_add(o, v2(v3_dot(t1, mean), v3_dot(t2, mean)));
  double along = -1 / v3_dot(m, n);
  f->slope = v2(along * v3_dot(m, t1), along * v3_dot(m, t2));
  // the corners lie in the plane to the data's flatness; the plane counts
  f->z =
      v3_dot(p->normal, s->p0) + v3_dot(n, mean) + along * (v3_dot(m, mean) - poly->plane[face].d);
}

static void take_side(const abTouchWork* w, int i, const abTouchFeature* feature, abPatch* p,
                      Face* f) {
  const abTouchSide* s = &w->side[i];
  double sign = i ? 1 : -1;
  f->all = false;
  bool own = feature->face[i] >= 0;
  if (!s->poly)
    take_plane(s, p, f);
  else if (s->skin->brick)
    take_brick(s, p, own ? PLACE[feature->face[i]] : choose_brick_face(s, p->normal, sign), f);
  else
    take_face(s, p, own ? feature->face[i] : choose_face(s, p->normal, sign, feature->edge[i]),
              i == 1, f);
  // its own normal has no slope but by rounding
  if (own) f->slope = v2(0, 0);
}

static double height(const Face* f, abVec2 x) {
  return f->z + v2_dot(f->slope, v2_sub(x, f->middle));
}

static void move_face(Face* f, abVec2 s) {
  f->middle = v2_add(f->middle, s);
  for (int i = 0; i < f->n; i++) f->corner[i] = v2_add(f->corner[i], s);
}

// Lays the faces on each other as they are when the bodies meet. Returns how much more the first
// one moves until then, of both: -1 to 1, and 0 for bodies that are within the margin already.
static double move_to_meeting(const abTouchWork* w, const abTouchFeature* g, const abPatch* p,
                              Face* a, Face* b) {
  double margin = w->touch->margin;
  if (!(g->g0 > margin) || !(g->g1 < g->g0)) return 0;
  double t = fmin(1, (g->g0 - margin) / (g->g0 - g->g1)) * w->touch->h;
  const abTouchSide *A = &w->side[0], *B = &w->side[1];
  const Face* small = b->all || (!a->all && A->skin->size <= B->skin->size) ? a : b;
  abVec3 x = v3_add(v3_add(v3_scale(small->middle.x, p->t1), v3_scale(small->middle.y, p->t2)),
                    v3_scale(small->z, p->normal));
  abVec3 da = v3_scale(t, twist_at(A->twist, v3_sub(x, A->com)));
  abVec3 db = v3_scale(t, twist_at(B->twist, v3_sub(x, B->com))), d = v3_sub(da, db);
  double aa = v3_norm2(da), bb = v3_norm2(db);
  if (!(aa + bb > 0)) return 0;
  abVec2 s = v2(v3_dot(d, p->t1), v3_dot(d, p->t2));
  move_face(a, v2_scale(bb / (aa + bb), s));
  move_face(b, v2_scale(-aa / (aa + bb), s));
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
static abVec2* overlap(const Face* a, const Face* b, int* n, abVec2* buffer[2]) {
  if (a->n < b->n || b->all) {
    const Face* c = a;
    a = b, b = c;
  }
  // a, the one with more corners, is cut by the sides of b
  const Face* kept = a->all ? b : a;
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

// How far the step reaches: the margin, and how far the fastest corner moves. An impact may turn the
// motion round within the step, so that corners that leave count, too. The relative velocity along
// n is affine over the plane.
static double reach(const abTouchWork* w, const abPatch* p, int n, const abVec2* polygon) {
  abVec3 turn = v3_cross(p->normal, v3_sub(w->side[0].twist.ang, w->side[1].twist.ang));
  abVec2 g = v2(v3_dot(turn, p->t1), v3_dot(turn, p->t2));
  double v0 = v3_dot(p->normal, ab_touch_velocity(w, v3_zero())), most = 0;
  for (int i = 0; i < n; i++) {
    double v = fabs(v0 + v2_dot(g, polygon[i]));
    most = v > most ? v : most;
  }
  return w->touch->margin + w->touch->h * most;
}

// Distance of a point from a convex polygon it is outside of, and the nearest point.
static double distance_to(const Face* f, abVec2 x, abVec2* nearest) {
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

// Two faces that pass beside each other: the dot, or strip, between their nearest points, if they
// are not farther apart than `slack`.
static bool beside(const abTouchWork* w, const Face* a, const Face* b, double slack,
                   abVec2* polygon, abPatch* p) {
  if (a->all || b->all) return false;
  double least = DBL_MAX, z = 0;
  const Face* face[2] = {a, b};
  abVec2 near;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < face[k]->n; i++)
      least = fmin(least, distance_to(face[1 - k], face[k]->corner[i], &near));
  if (!(least <= slack)) return false;
  p->nvert = 0, p->polygon = polygon, p->h0 = -DBL_MAX;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < face[k]->n; i++) {
      abVec2 x = face[k]->corner[i];
      if (distance_to(face[1 - k], x, &near) > least * (1 + 1e-6) + 1e-3 * w->width) continue;
      polygon[p->nvert++] = v2_scale(0.5, v2_add(x, near));
      double za = height(a, k ? near : x), zb = height(b, k ? x : near);
      if (zb - za > p->h0) p->h0 = zb - za, z = 0.5 * (za + zb);
    }
  if (!(p->h0 >= -fmax(reach(w, p, p->nvert, polygon), w->watch))) return false;
  return ab_touch_measure(w, v3_scale(z, p->normal), v2(0, 0), polygon, p);
}

// share: what move_to_meeting returned. The centre lies that much nearer to the first face.
static bool make_patch(const abTouchWork* w, Face* a, Face* b, double share, abVec2* buffer[2],
                       abVec2* polygon, abPatch* p) {
  int n;
  abVec2* loop = overlap(a, b, &n, buffer);
  if (n == 0) return false;
  abVec2 g = v2_sub(b->slope, a->slope);
  double t0 = height(b, v2(0, 0)) - height(a, v2(0, 0)), most = -DBL_MAX;
  for (int i = 0; i < n; i++) {
    double t = t0 + v2_dot(g, loop[i]);
    most = t > most ? t : most;
  }
  double far = reach(w, p, n, loop);
  if (!(most >= -fmax(far, w->watch))) return false;
  far = fmax(far, fmax(2 * w->width * v2_norm(g), w->tie) - most);
  p->nvert = cut(n, loop, t0 + far, g, polygon);
  p->polygon = polygon;
  p->h0 = t0, p->hx = g.x, p->hy = g.y;
  double of_a = 0.5 * (1 + share), of_b = 0.5 * (1 - share);
  abVec2 slope = v2_add(v2_scale(of_a, a->slope), v2_scale(of_b, b->slope));
  double z = of_a * height(a, v2(0, 0)) + of_b * height(b, v2(0, 0));
  return ab_touch_measure(w, v3_scale(z, p->normal), slope, polygon, p);
}

static int corners(const abTouchSide* s) {
  return !s->poly ? 0 : s->skin->brick ? 4 : s->poly->nvert;
}

bool ab_touch_faces(const abTouchWork* w, const abTouchFeature* feature, double slack,
                    abVec2* polygon, abPatch* p) {
  int na = corners(&w->side[0]), nb = corners(&w->side[1]), room = na + nb + 2;
  abVec2 small[4 * SMALL];
  abArenaMark mark = ab_arena_mark(w->scratch);
  abVec2* memory = room <= SMALL ? small : AB_TAKE(w->scratch, abVec2, na + nb + 2 * room);
  if (!memory) return false;
  Face a = {.corner = memory + 2 * room}, b = {.corner = memory + 2 * room + na};
  *p = (abPatch){.normal = feature->n};
  ab_patch_tangents(&(abPatchHint){.normal = w->touch->normal, .t1 = w->touch->t1}, p);
  take_side(w, 0, feature, p, &a);
  take_side(w, 1, feature, p, &b);
  double share = move_to_meeting(w, feature, p, &a, &b);
  abVec2* buffer[2] = {memory, memory + room};
  bool found = make_patch(w, &a, &b, share, buffer, polygon, p) ||
               (slack > 0 && beside(w, &a, &b, slack, polygon, p));
  ab_arena_release(w->scratch, mark);
  return found;
}

// The two farthest points along n, half-way between them.
void ab_touch_dot(const abTouchWork* w, const abTouchFeature* feature, abVec2* polygon,
                  abPatch* p) {
  *p = (abPatch){.normal = feature->n, .polygon = polygon, .nvert = 1, .h0 = -feature->g0};
  ab_patch_tangents(&(abPatchHint){.normal = w->touch->normal, .t1 = w->touch->t1}, p);
  abVec3 middle = v3_zero();
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    abVec3 d = v3_scale(i ? 1 : -1, m3_apply_t(&s->R0, p->normal));
    abVec3 x = s->poly->vert[ab_touch_support(s->poly, d, 0)];
    middle = v3_axpy(0.5, v3_add(s->p0, m3_apply(&s->R0, x)), middle);
  }
  polygon[0] = v2(0, 0);
  ab_touch_measure(w, middle, v2(0, 0), polygon, p);
}
