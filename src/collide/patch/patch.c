// The contact patch of two overlapping bodies, after Hasegawa & Sato (2004) and Wakisaka & Sugihara
// (2017), in one consistent convention.
//
// The overlap V has faces j with area vectors a_j (outward), each in the surface of A, of B, or of
// both. The restitution normal, from B to A, is
//
//   n = norm( sum_B a_j - sum_A a_j ) = norm( sum_B a_j ) = norm( - sum_A a_j )
//
// since all a_j sum to zero; a face of both counts half to each. Of the two equal forms the one
// with the smaller total area is used: a box on a floor then has the floor's normal exactly. For
// the same reason a_j is taken along the plane's own normal, not along that of the computed
// polygon, whose direction is uncertain by noise / width.
//
// Where the sum vanishes (|sum| < 1e-12 of the surface: one body inside the other, plates that
// pierce each other symmetrically) there is no such normal. Then the last normal of the pair is
// kept, and for a new pair it is the normal of the face through which one body leaves the other by
// the shortest way.
//
// The contact plane passes through the barycentre p0 of V. The polygon is the projection of V on it
// along n, i.e. the convex hull of its projected vertices, so each point of it has one thickness.
// Its integrals need no quadrature. The thickness is represented by the affine field
// h = h0 + hx x + hy y with the same volume and first moments: about p0
//
//   [ S   mx  my  ] [h0]   [V]        S, m.: moments of the polygon. The right-hand side is exact:
//   [ mx  mxx mxy ] [hx] = [0]        p0 is the barycentre, so the thickness has no first moment.
//   [ my  mxy myy ] [hy]   [0]
//
// About the area centroid c the system splits: mean thickness V/S, and slope g with C g = -V c, C
// the central second moments. On the principal axes of C each slope is found by itself, and left at
// 0 where the polygon is narrower than the rounding of its points.
// Tests: test_patch_geometry.
#include "collide/patch/patch.h"

#include <float.h>

#include "math/quad.h"
#include "math/rotation.h"

// Below this fraction of the surface the area vectors cancel to rounding only.
static const double NO_NORMAL = 1e-12;
// A patch narrower than this fraction of the smaller body (half its diagonal) is a line, shorter, a
// point. A body that rocks on an edge by 0.01 rad at a depth of 1e-4 of its size touches over a
// strip of 1e-2: beyond that angle it is a line contact.
static const double NARROW_PATCH = 0.01;
// Ratio of second moments below which the smaller one has lost digits to the larger.
static const double SLENDER_PATCH = 1e-4;

// Area vectors of one body's faces, along the planes' normals; half of those of both.
static abVec3 owned_sum(const abOverlap* o, abOwner owner) {
  abVec3 sum = v3_zero();
  for (int i = 0; i < o->nface; i++) {
    const abOverlapFace* f = &o->face[i];
    if (!(f->owner & owner)) continue;
    sum = v3_axpy(f->owner == AB_OWNER_BOTH ? 0.5 * f->area : f->area, f->normal, sum);
  }
  return sum;
}

// The normal by the area vectors, in the overlap's frame. False: they cancel.
static bool sum_normal(const abOverlap* o, abVec3* n) {
  bool use_b = o->area[AB_OWNER_B] <= o->area[AB_OWNER_A];
  abVec3 sum = owned_sum(o, use_b ? AB_OWNER_B : AB_OWNER_A);
  double length = v3_norm(sum);
  *n = v3_scale((use_b ? 1 : -1) / length, sum);
  return length > NO_NORMAL * o->area[0];
}

abVec3 ab_overlap_normal(const abOverlap* o, const abPatchHint* hint) {
  // a half-space has one face: its normal needs no detour through the overlap's frame
  if (hint->A && !hint->B) return ab_plane_normal(hint->pose_b.q);
  if (hint->B && !hint->A) return v3_neg(ab_plane_normal(hint->pose_a.q));
  abVec3 n;
  if (sum_normal(o, &n)) return quat_rotate(o->frame.q, n);
  if (hint->normal) return *hint->normal;
  double depth;
  return ab_least_penetration(hint->A, hint->pose_a, hint->B, hint->pose_b, &depth);
}

// The patch's normal; returns it in the overlap's frame.
static abVec3 set_normal(const abOverlap* o, const abPatchHint* hint, abPatch* p) {
  abVec3 n;
  if (hint->A && hint->B && sum_normal(o, &n)) {
    p->normal = quat_rotate(o->frame.q, n);
    return n;
  }
  p->normal = ab_overlap_normal(o, hint);
  return quat_rotate(quat_conj(o->frame.q), p->normal);
}

static inline bool before(abVec2 a, abVec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

static void sort_points(int n, abVec2* p) {
  // insertion below a handful, else halves merged by heap order: no recursion, no allocation
  if (n <= 24) {
    for (int i = 1; i < n; i++) {
      abVec2 x = p[i];
      int j = i;
      for (; j > 0 && before(x, p[j - 1]); j--) p[j] = p[j - 1];
      p[j] = x;
    }
    return;
  }
  for (int start = n / 2 - 1, end = n; end > 1;) {
    abVec2 x;
    if (start >= 0)
      x = p[start];
    else
      x = p[--end], p[end] = p[0];
    int i = start >= 0 ? start-- : 0;
    for (int child; (child = 2 * i + 1) < end; i = child) {
      if (child + 1 < end && before(p[child], p[child + 1])) child++;
      if (!before(x, p[child])) break;
      p[i] = p[child];
    }
    p[i] = x;
  }
}

// Does b add nothing between a and c: a copy of one of them, or on the line between them?
static inline bool idle(abVec2 a, abVec2 b, abVec2 c, double flat) {
  abVec2 ab = v2_sub(b, a), bc = v2_sub(c, b);
  return v2_cross(ab, bc) <= flat && v2_dot(ab, bc) >= -flat;
}

// Takes idle corners out of a convex polygon.
static int simplify(int n, abVec2* p, double flat) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    while (m > 1 && idle(p[m - 2], p[m - 1], p[i], flat)) m--;
    p[m++] = p[i];
  }
  while (m > 2 && idle(p[m - 2], p[m - 1], p[0], flat)) m--;
  int first = 0;
  while (m - first > 2 && idle(p[m - 1], p[first], p[first + 1], flat)) first++;
  for (int i = 0; i < m - first && first; i++) p[i] = p[i + first];
  m -= first;
  if (m == 2 && v2_dot(v2_sub(p[1], p[0]), v2_sub(p[1], p[0])) <= flat) m = 1;
  return m;
}

// Does the loop turn left at each corner? *least: the smallest turn; *size: the square of the
// furthest corner's distance.
static bool turns_left(int n, const abVec2* loop, double* least, double* size) {
  abVec2 a = loop[n - 1], last = v2_sub(a, loop[n - 2]);
  double smallest = DBL_MAX, largest = 0;
  bool left = true;
  for (int k = 0; k < n; k++) {
    abVec2 side = v2_sub(loop[k], a);
    double turn = v2_cross(last, side), reach = v2_dot(loop[k], loop[k]);
    left &= turn > 0;
    smallest = turn < smallest ? turn : smallest;
    largest = reach > largest ? reach : largest;
    a = loop[k], last = side;
  }
  *least = smallest, *size = largest;
  return left;
}

// Takes idle corners out of a loop. Returns the number of those left, 0 if it is not convex.
static int clean(int count, abVec2* loop) {
  double least, size;
  if (count < 3) return 0;
  bool left = turns_left(count, loop, &least, &size);
  double flat = 32 * DBL_EPSILON * size;
  if (left && least > flat) return count;
  int m = simplify(count, loop, flat);
  return m > 2 && turns_left(m, loop, &least, &size) ? m : 0;
}

// Andrew's two chains. The turns are decided without a tolerance: one that pops a point because it
// is almost in line with its neighbours would lose corners that lie beyond them. Idle corners go
// afterwards.
int ab_hull2(int n, abVec2* p, abVec2* hull) {
  if (n < 1) return 0;
  sort_points(n, p);
  double low = p[0].y, high = p[0].y;
  for (int i = 1; i < n; i++) {
    low = p[i].y < low ? p[i].y : low;
    high = p[i].y > high ? p[i].y : high;
  }
  int m = 0;
  for (int i = 0; i < n; i++) {
    while (m > 1 && v2_cross(v2_sub(hull[m - 1], hull[m - 2]), v2_sub(p[i], hull[m - 2])) <= 0) m--;
    hull[m++] = p[i];
  }
  for (int i = n - 2, floor = m + 1; i >= 0; i--) {
    while (m >= floor && v2_cross(v2_sub(hull[m - 1], hull[m - 2]), v2_sub(p[i], hull[m - 2])) <= 0)
      m--;
    hull[m++] = p[i];
  }
  if (m > 1) m--;  // the first point again
  // the rounding of a product of two lengths
  double width = p[n - 1].x - p[0].x, size = width > high - low ? width : high - low;
  return simplify(m, hull, 16 * DBL_EPSILON * size * size);
}

// Sums over the sides of a polygon, of which a side from a to b adds c = a x b times
// 1, a + b, aa + ab + bb = (a + b)^2 - ab, and the mixed one likewise; in four lanes, for four
// sides at once.
typedef struct FourSums {
  abFour area, x, y, xx, xy, yy;
} FourSums;

// Sides from (ax, ay) to (bx, by).
static inline void add_sides(FourSums* s, const abFour* ax, const abFour* ay, const abFour* bx,
                             const abFour* by) {
  abFour c = *ax * *by - *ay * *bx, x = *ax + *bx, y = *ay + *by;
  s->area += c;
  s->x += c * x, s->y += c * y;
  s->xx += c * (x * x - *ax * *bx);
  s->yy += c * (y * y - *ay * *by);
  s->xy += c * (2 * x * y - *ax * *by - *bx * *ay);
}

// Where the polygon has fewer corners, its first follows the last: sides from it to itself add
// nothing.
static void few_moments(int n, const abVec2* p, FourSums* out) {
  int i1 = n > 1 ? 1 : 0, i2 = n > 2 ? 2 : 0, i3 = n > 3 ? 3 : 0;
  int i4 = n > 4 ? 4 : 0, i5 = n > 5 ? 5 : 0, i6 = n > 6 ? 6 : 0, i7 = n > 7 ? 7 : 0;
  abFour x = {p[0].x, p[i1].x, p[i2].x, p[i3].x}, y = {p[0].y, p[i1].y, p[i2].y, p[i3].y};
  abFour u = {p[i4].x, p[i5].x, p[i6].x, p[i7].x}, v = {p[i4].y, p[i5].y, p[i6].y, p[i7].y};
  for (int k = 0; k < n; k += 4) {
    abFour bx = __builtin_shufflevector(x, u, 1, 2, 3, 4);
    abFour by = __builtin_shufflevector(y, v, 1, 2, 3, 4);
    add_sides(out, &x, &y, &bx, &by);
    abFour last = x;
    x = u, u = last;
    last = y, y = v, v = last;
  }
}

static void many_moments(int n, const abVec2* p, FourSums* out) {
  for (int a = 0; a < n; a += 4) {
    int b = a + 1 < n ? a + 1 : 0, c = a + 2 < n ? a + 2 : 0, d = a + 3 < n ? a + 3 : 0,
        e = a + 4 < n ? a + 4 : 0;
    abFour x = {p[a].x, p[b].x, p[c].x, p[d].x}, y = {p[a].y, p[b].y, p[c].y, p[d].y};
    abFour u = {p[b].x, p[c].x, p[d].x, p[e].x}, v = {p[b].y, p[c].y, p[d].y, p[e].y};
    add_sides(out, &x, &y, &u, &v);
  }
}

static void moments(abPatch* p) {
  abFour none = {0};
  FourSums s = {none, none, none, none, none, none};
  if (p->nvert > 8)
    many_moments(p->nvert, p->polygon, &s);
  else if (p->nvert > 0)
    few_moments(p->nvert, p->polygon, &s);
  p->area = AB_TOTAL(s.area) / 2, p->mx = AB_TOTAL(s.x) * (1.0 / 6);
  p->my = AB_TOTAL(s.y) * (1.0 / 6), p->mxx = AB_TOTAL(s.xx) * (1.0 / 12);
  p->myy = AB_TOTAL(s.yy) * (1.0 / 12), p->mxy = AB_TOTAL(s.xy) * (1.0 / 24);
}

// Second moment across the direction u through c, summed as such: not as a difference of two large
// numbers.
static double moment_across(const abPatch* p, abVec2 c, abVec2 u) {
  double sum = 0;
  abVec2 a = v2_sub(p->polygon[p->nvert - 1], c);
  double ya = v2_cross(u, a);
  for (int i = 0; i < p->nvert; i++) {
    abVec2 b = v2_sub(p->polygon[i], c);
    double yb = v2_cross(u, b);
    sum += v2_cross(a, b) * (ya * ya + ya * yb + yb * yb);
    a = b, ya = yb;
  }
  return sum > 0 ? sum * (1.0 / 12) : 0;
}

// Slope and kind where the polygon is narrow, on its principal axes: c is its centroid, `moment`
// half the difference of its central moments, the mixed one, and half their sum. n and b: the
// moments of more than the rounding of the points, and of what is narrow.
static void slender_slope(abPatch* p, abVec2 c, abVec3 moment, double n, double b) {
  double half = moment.x, xy = moment.y, spread = sqrt(half * half + xy * xy);
  // principal axis u of the larger moment: twice its angle has cosine half / spread
  abVec2 u = v2(1, 0);
  if (spread > 0) {
    double x = sqrt(0.5 * (1 + fabs(half) / spread)), y = 0.5 * xy / (spread * x);
    u = half >= 0 ? v2(x, y) : v2(fabs(y), xy >= 0 ? x : -x);
  }
  double big = moment.z + spread, small = moment.z - spread;
  if (small < SLENDER_PATCH * big) small = moment_across(p, c, u);
  double gu = big > n ? -p->volume * v2_dot(c, u) / big : 0;
  double gw = small > n ? -p->volume * v2_cross(u, c) / small : 0;
  p->hx = gu * u.x - gw * u.y;
  p->hy = gu * u.y + gw * u.x;
  p->kind = small > b ? AB_PATCH_SURFACE : big > b ? AB_PATCH_LINE : AB_PATCH_POINT;
}

// Extents along the principal axes (of the rectangle with the same second moments), the kind, and
// the affine thickness.
static void thickness_and_kind(double size, double noise, abPatch* p) {
  double narrow = NARROW_PATCH * size;
  if (!(p->area > 0)) {  // a line or a point to rounding
    double longest = 0;
    for (int i = 1; i < p->nvert; i++)
      longest = fmax(longest, v2_norm(v2_sub(p->polygon[i], p->polygon[0])));
    p->kind = longest > narrow ? AB_PATCH_LINE : AB_PATCH_POINT;
    p->area = p->mx = p->my = p->mxx = p->mxy = p->myy = 0;
    p->h0 = p->hx = p->hy = 0;
    return;
  }
  double per = 1 / p->area, cx = p->mx * per, cy = p->my * per, thick = p->volume * per;
  double xx = p->mxx - p->mx * cx, xy = p->mxy - p->mx * cy, yy = p->myy - p->my * cy;
  // Of the principal moments, small <= big, the sum and the product tell without a root how they
  // lie to a bound b: both are on the same side of it if b^2 - b sum + product >= 0.
  double sum = xx + yy, product = xx * yy - xy * xy, unit = p->area * (1.0 / 12);
  // moments of an extent of `narrow`, and of more than the rounding of the points
  double b = narrow * narrow * unit;
  double n = 512 * (noise * noise + DBL_EPSILON * DBL_EPSILON * 12 * sum * per) * unit;
  if (product >= SLENDER_PATCH * sum * sum && n * (n - sum) + product > 0 && sum > 2 * n) {
    double scale = -p->volume / product;
    p->hx = scale * (yy * cx - xy * cy);
    p->hy = scale * (xx * cy - xy * cx);
    p->kind = b * (b - sum) + product < 0 ? AB_PATCH_LINE
              : sum > 2 * b               ? AB_PATCH_SURFACE
                                          : AB_PATCH_POINT;
  } else {
    slender_slope(p, v2(cx, cy), v3(0.5 * (xx - yy), xy, 0.5 * sum), n, b);
  }
  p->h0 = thick - p->hx * cx - p->hy * cy;
}

// Projects points of the overlap's frame on the plane of the patch.
static void project(const abOverlap* o, const abPatch* p, int n, const abVec3* x, abVec2* out) {
  abQuat inverse = quat_conj(o->frame.q);
  abVec3 t1 = quat_rotate(inverse, p->t1), t2 = quat_rotate(inverse, p->t2);
  for (int i = 0; i < n; i++) {
    abVec3 r = v3_sub(x[i], o->centroid);
    out[i] = v2(v3_dot(t1, r), v3_dot(t2, r));
  }
}

// The silhouette of the overlap seen along n, as a loop of projected vertices: the edges with a
// face that looks up on their left and one that does not on their right. Cheaper than a hull, but
// where faces stand upright rounding may break the loop or bend it inwards; then 0 is returned.
static int silhouette(const abOverlap* o, const abPatch* p, abVec3 n, int* next, abVec2* loop) {
  // the place behind the vertices takes what is not in the silhouette: half of the edges are, and a
  // branch would guess in vain
  int count = 0, first = -1, none = o->nvert, *up = next + o->nvert + 1;
  for (int i = 0; i < o->nvert; i++) next[i] = -1;
  for (int f = 0; f < o->nface; f++) up[f] = v3_dot(o->face[f].normal, n) > 0;
  for (int i = 0; i < o->nedge; i++) {
    const int* e = o->edge[i];
    int left = up[e[2]], in = left ^ up[e[3]], from = e[1 - left];
    next[in ? from : none] = e[left];
    first = in ? from : first;
    count += in;
  }
  if (count < 3) return 0;
  abQuat inverse = quat_conj(o->frame.q);
  abVec3 t1 = quat_rotate(inverse, p->t1), t2 = v3_cross(n, t1);
  int v = first;
  for (int k = 0; k < count; k++) {
    if (v < 0 || (k > 0 && v == first)) return 0;
    abVec3 r = v3_sub(o->vert[v], o->centroid);
    loop[k] = v2(v3_dot(t1, r), v3_dot(t2, r));
    v = next[v];
  }
  return v == first ? clean(count, loop) : 0;
}

// The same of a slab: each side shows its edge in face 0 or in face 1, whichever looks the other
// way than the side, and where neighbours show different ones, the prism between them.
static int silhouette_of_slab(const abOverlap* o, const abPatch* p, abVec3 n, abVec2* loop) {
  int m = o->nprism, count = 0;
  const abOverlapFace* side = o->face + 2;
  bool up = v3_dot(o->face[0].normal, n) > 0;
  if (up == (v3_dot(o->face[1].normal, n) > 0)) return 0;
  abQuat inverse = quat_conj(o->frame.q);
  abVec3 t1 = quat_rotate(inverse, p->t1), t2 = v3_cross(n, t1);
  // seen from below, the other way around
  int step = up ? 1 : -1, i = up ? 0 : m - 1;
  bool last = (v3_dot(side[up ? m - 1 : 0].normal, n) > 0) == up;
  for (int k = 0; k < m; k++, i += step) {
    bool now = (v3_dot(side[i].normal, n) > 0) == up;
    int prism = up ? i : i + 1 < m ? i + 1 : 0;
    abVec3 r = v3_sub(o->vert[last ? m + prism : prism], o->centroid);
    loop[count++] = v2(v3_dot(t1, r), v3_dot(t2, r));
    if (now != last) {
      r = v3_sub(o->vert[now ? m + prism : prism], o->centroid);
      loop[count++] = v2(v3_dot(t1, r), v3_dot(t2, r));
    }
    last = now;
  }
  return clean(count, loop);
}

// The projected polygon into `hull` (room for 2 nvert), through the silhouette if it can be had.
static int project_polygon(const abOverlap* o, abPatch* p, abVec3 n, abVec2* point, abVec2* hull) {
  // The projected points come into play only when the silhouette has failed: lend it their room,
  // of four integers for each vertex. There are no more faces than twice the vertices.
  int m =
      o->nprism ? silhouette_of_slab(o, p, n, hull) : silhouette(o, p, n, (int*)(void*)point, hull);
  if (m) return m;
  project(o, p, o->nvert, o->vert, point);
  return ab_hull2(o->nvert, point, hull);
}

AB_SIMD AB_FLATTEN void ab_patch_measure(double size, double noise, abPatch* p) {
  moments(p);
  thickness_and_kind(size, noise, p);
}

AB_SIMD AB_FLATTEN bool ab_patch_finish(abVec2* polygon, double size, double noise, abPatch* p) {
  p->nvert = clean(p->nvert, polygon);
  if (p->nvert == 0) return false;
  moments(p);
  thickness_and_kind(size, noise, p);
  return true;
}

AB_SIMD AB_FLATTEN abStatus ab_patch_make(const abOverlap* o, const abPatchHint* hint,
                                          abArena* scratch, int polygon_cap, abVec2* polygon,
                                          abPatch* p) {
  p->volume = o->volume;
  abArenaMark mark = ab_arena_mark(scratch);
  abVec2* point = AB_TAKE(scratch, abVec2, 3 * o->nvert);
  if (!point) return AB_ERROR_MEMORY;
  abVec2* hull = point + o->nvert;
  p->center = pose_apply(o->frame, o->centroid);
  abVec3 n = set_normal(o, hint, p);
  ab_patch_tangents(hint, p);
  p->nvert = project_polygon(o, p, n, point, hull);
  if (p->nvert > polygon_cap) p->nvert = polygon_cap;
  // the caller's polygon may be far away: what is read of it is read here
  p->polygon = hull;
  ab_patch_measure(o->size, o->noise, p);
  for (int i = 0; i < p->nvert; i++) polygon[i] = hull[i];
  p->polygon = polygon;
  ab_arena_release(scratch, mark);
  p->depth = ab_overlap_thickness(o, n, scratch);
  return p->depth >= 0 ? AB_OK : AB_ERROR_MEMORY;
}

// Q = [S 1, -[m x]; [m x], tr(M) 1 - M] with m, M the first and second moments in space, because
// -[r x]^2 = r.r 1 - r r^T.
void ab_patch_Q(const abPatch* p, abMat6* Q) {
  if (!p || !Q) return;
  abVec3 m = v3_add(v3_scale(p->mx, p->t1), v3_scale(p->my, p->t2));
  abMat3 skew = m3_skew(m);
  double a[3] = {p->t1.x, p->t1.y, p->t1.z}, b[3] = {p->t2.x, p->t2.y, p->t2.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double M = p->mxx * a[i] * a[j] + p->mxy * (a[i] * b[j] + b[i] * a[j]) + p->myy * b[i] * b[j];
      Q->m[i][j] = i == j ? p->area : 0;
      Q->m[i][j + 3] = -skew.m[i][j];
      Q->m[i + 3][j] = skew.m[i][j];
      Q->m[i + 3][j + 3] = (i == j ? p->mxx + p->myy : 0) - M;
    }
}
