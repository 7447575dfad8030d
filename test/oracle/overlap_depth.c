// How thick an overlap is along a direction, by looking everywhere.
//
// Over the projected polygon the overlap lies between a lower surface (convex) and an
// upper one (concave), so its thickness is concave and piecewise linear, and largest at a corner of
// the overlay of the two: at a projected vertex, or where an upper and a lower edge cross. Both are
// tried, and passed over as soon as their heights alone cannot beat the best so far; for a resting
// body the first vertex already reaches the bound (height of the highest minus the lowest point).
//
// A face nearly parallel to the direction has no height to speak of; leaving it out extends its
// neighbours over the strip it covers, which changes the largest chord by no more than
// STEEP * its length.
#include <float.h>

#include "math/rotation.h"
#include "oracle/overlap.h"

static const double STEEP = 1e-9;

// A face as a height over the plane: z = z0 + gx x + gy y.
typedef struct Sheet {
  double z0, gx, gy;
} Sheet;

typedef struct Segment {
  abVec2 a, b;
  double za, zb, most;
} Segment;

typedef struct Field {
  int nupper, nlower, nup, nlow;
  Sheet *upper, *lower;
  Segment *up, *low;    // edges with both faces above, both below
  abVec3* x;            // vertices as (x, y, height)
  unsigned char* side;  // per vertex: 1 upper, 2 lower, 3 both
} Field;

static bool take_field(Field* f, const abOverlap* o, abArena* scratch) {
  f->upper = AB_TAKE(scratch, Sheet, o->nface);
  f->lower = AB_TAKE(scratch, Sheet, o->nface);
  f->up = AB_TAKE(scratch, Segment, o->nedge);
  f->low = AB_TAKE(scratch, Segment, o->nedge);
  f->x = AB_TAKE(scratch, abVec3, o->nvert);
  f->side = AB_TAKE(scratch, unsigned char, o->nvert);
  return f->upper && f->lower && f->up && f->low && f->x && f->side;
}

// 1 if the face looks up along n, 2 if down, 0 if it stands.
static int look(const abOverlapFace* f, abVec3 n) {
  double c = v3_dot(f->normal, n);
  return c > STEEP ? 1 : c < -STEEP ? 2 : 0;
}

static void add_sheets(Field* f, const abOverlap* o, abVec3 n, const abMat3* axes) {
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* face = &o->face[i];
    int side = look(face, n);
    if (!side) continue;
    abVec3 m = m3_apply(axes, face->normal), r = f->x[face->vert];
    Sheet s = {.gx = -m.x / m.z, .gy = -m.y / m.z};
    s.z0 = r.z - s.gx * r.x - s.gy * r.y;
    if (side == 1)
      f->upper[f->nupper++] = s;
    else
      f->lower[f->nlower++] = s;
  }
}

static void add_segments(Field* f, const abOverlap* o, abVec3 n) {
  for (int i = 0; i < o->nvert; i++) f->side[i] = 0;
  for (int i = 0; i < o->nedge; i++) {
    const int* e = o->edge[i];
    int l = look(&o->face[e[2]], n), r = look(&o->face[e[3]], n);
    f->side[e[0]] |= (unsigned char)(l | r), f->side[e[1]] |= (unsigned char)(l | r);
    if (l != r || !l) continue;
    abVec3 a = f->x[e[0]], b = f->x[e[1]];
    Segment s = {{a.x, a.y}, {b.x, b.y}, a.z, b.z, l == 1 ? fmax(a.z, b.z) : fmin(a.z, b.z)};
    if (l == 1)
      f->up[f->nup++] = s;
    else
      f->low[f->nlow++] = s;
  }
}

static double height(int n, const Sheet* s, double x, double y, bool upper) {
  double z = upper ? DBL_MAX : -DBL_MAX;
  for (int i = 0; i < n; i++) {
    double h = s[i].z0 + s[i].gx * x + s[i].gy * y;
    if (upper ? h < z : h > z) z = h;
  }
  return z;
}

// Height difference where two segments cross in projection; 0 if they do not.
static double crossing(const Segment* u, const Segment* l) {
  abVec2 d = v2_sub(u->b, u->a), e = v2_sub(l->b, l->a), w = v2_sub(l->a, u->a);
  double det = v2_cross(d, e);
  if (det == 0) return 0;
  double t = v2_cross(w, e) / det, s = v2_cross(w, d) / det;
  if (!(t >= 0 && t <= 1 && s >= 0 && s <= 1)) return 0;
  return u->za + t * (u->zb - u->za) - l->za - s * (l->zb - l->za);
}

static double best_vertex(const Field* f, int n, double floor, double ceiling) {
  double best = 0;
  for (int i = 0; i < n && best < ceiling - floor; i++) {
    abVec3 v = f->x[i];
    if ((f->side[i] & 1) && v.z - floor > best)
      best = fmax(best, v.z - height(f->nlower, f->lower, v.x, v.y, false));
    if ((f->side[i] & 2) && ceiling - v.z > best)
      best = fmax(best, height(f->nupper, f->upper, v.x, v.y, true) - v.z);
  }
  return best;
}

double oracle_overlap_thickness(const abOverlap* o, abVec3 n, abArena* scratch) {
  abArenaMark mark = ab_arena_mark(scratch);
  Field f = {0};
  if (!take_field(&f, o, scratch)) {
    ab_arena_release(scratch, mark);
    return -1;
  }
  abVec3 t1, t2;
  v3_tangents(n, &t1, &t2);
  abMat3 axes = m3_transpose(&(abMat3){{{t1.x, t2.x, n.x}, {t1.y, t2.y, n.y}, {t1.z, t2.z, n.z}}});
  double floor = DBL_MAX, ceiling = -DBL_MAX;
  for (int i = 0; i < o->nvert; i++) {
    f.x[i] = m3_apply(&axes, v3_sub(o->vert[i], o->centroid));
    floor = fmin(floor, f.x[i].z), ceiling = fmax(ceiling, f.x[i].z);
  }
  add_sheets(&f, o, n, &axes);
  add_segments(&f, o, n);
  double best = f.nupper && f.nlower ? best_vertex(&f, o->nvert, floor, ceiling) : 0;
  for (int i = 0; i < f.nup; i++)
    for (int j = 0; j < f.nlow && f.up[i].most - floor > best; j++)
      if (f.up[i].most - f.low[j].most > best) best = fmax(best, crossing(&f.up[i], &f.low[j]));
  ab_arena_release(scratch, mark);
  return fmin(best, ceiling - floor);
}
