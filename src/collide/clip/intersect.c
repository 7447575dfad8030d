// The overlap of two convex polyhedra by clipping one with the face planes of the other.
//
// The body that is cut keeps a closed surface whatever rounding does: a little one as a list of
// edges (small_solid.c), a large one, or one that rounding has made trouble with, as a graph of
// half-edges (solid.c). What is left is measured (measure.c).
//
// Speed: bodies whose boxes are apart are not cut at all (boxes/sat.c); all is done in the frame of
// the smaller body, so that only planes of the larger one are turned; the plane that removes most
// comes first; after it, of all others only those near the ball about what is left are turned, and
// of these only those cut that reach the box about it.
//
// Muller & Preparata (1978) and the volumetric contact papers use the dual transform and a convex
// hull instead; it serves as the reference in the tests. It needs a common interior point and a
// hull tolerance, which thin overlaps do not offer.
// Tests: test_overlap.
#include "collide/clip/intersect.h"

#include <float.h>
#include <string.h>

#include "collide/boxes/prism.h"
#include "collide/clip/overlap.h"
#include "math/rotation.h"

typedef abOverlapWork Work;

// fmax is a call, because of NaN.
static inline double larger(double a, double b) { return a > b ? a : b; }

// No shorter than v, and no root.
static double spread(abVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

// Of the planes and what is noted of them, see ab_overlap_finish.
static size_t clip_bytes(const abPolyhedron* S, int nclip) {
  return sizeof(abClipPlane) * (size_t)nclip + sizeof(double) * (size_t)ab_polyhedron_lanes(nclip) +
         sizeof(int) * (size_t)(nclip + S->nface);
}

// --- the planes ---

// Clip plane j: normal n, offset d of the face in its body, `shift` = n . rel.p.
static inline void set_clip(Work* w, int j, abVec3 n, double d, double shift) {
  // every term rounds once or twice at its own size
  double noise = DBL_EPSILON * (2 * w->size + fabs(d) + fabs(shift));
  w->clip[j] = (abClipPlane){{n, d + shift}, noise, 2 * noise + w->flush};
  w->noise = larger(w->noise, noise);
}

static void turn_plane(Work* w, int j) {
  abPlane in = w->L.poly ? w->L.poly->plane[j] : (abPlane){{0, 0, 1}, 0};
  abVec3 n = m3_apply(&w->R, in.n);
  set_clip(w, j, n, in.d, v3_dot(n, w->rel.p));
}

// Plane k (0: the lower, 1: the upper) of axis i of a box.
static void turn_box(Work* w, int i, int k) {
  int j = AB_BOX_FACE[2 * i + k];
  abVec3 n = w->axis[i];
  double shift = w->shift[i];
  set_clip(w, j, k ? n : v3_neg(n), w->L.poly->plane[j].d, k ? shift : -shift);
}

// The plane of a box that removes the largest part of the bounds, -1 if one of them leaves
// nothing.
static int first_of_box(Work* w) {
  const abPlane* plane = w->L.poly->plane;
  int first = 0;
  // the largest over / half so far, without dividing
  double most = -1, of = 0, noise = DBL_EPSILON * 2 * w->size;
  for (int i = 0; i < 3; i++) {
    abVec3 n = w->axis[i] = m3_col(&w->R, i);
    double shift = w->shift[i] = v3_dot(n, w->rel.p);
    double half = ab_extent(w->bounds.half, n), middle = v3_dot(n, w->bounds.middle) - shift;
    // the nearer of the two planes
    int k = middle > 0;
    double over = fabs(middle) - plane[AB_BOX_FACE[2 * i + k]].d;
    if (over - half >= -noise) return -1;
    if (over * of > most * half) most = over, of = half, first = 2 * i + k;
  }
  turn_box(w, first >> 1, first & 1);
  return AB_BOX_FACE[first];
}

// Where the ball about the bounds is, seen from L.
static void find_ball(Work* w) {
  w->middle = m3_apply_t(&w->R, v3_sub(w->bounds.middle, w->rel.p));
  double slack = 16 * DBL_EPSILON * (2 * w->size + w->L.poly->radius + spread(w->rel.p));
  w->reach = v3_norm(w->bounds.half) + slack + 2 * w->flush;
}

// How far the middle lies before each plane of L. Returns the most.
AB_SIMD static double look_at_planes(Work* w) {
  int n = ab_polyhedron_lanes(w->nclip);
  const double *x = ab_polyhedron_plane_lanes(w->L.poly), *y = x + n, *z = y + n, *d = z + n;
  abVec3 m = w->middle;
  abFour most = {-DBL_MAX, -DBL_MAX, -DBL_MAX, -DBL_MAX};
  for (int i = 0; i < n; i += 4) {
    abFour a, b, c, e;
    memcpy(&a, x + i, sizeof a), memcpy(&b, y + i, sizeof b), memcpy(&c, z + i, sizeof c);
    memcpy(&e, d + i, sizeof e);
    abFour s = a * m.x + b * m.y + c * m.z - e;
    memcpy(w->before + i, &s, sizeof s);
    most = AB_FOUR_MORE(s, most);
  }
  return AB_FOUR_MOST(most);
}

// Of any other body: the plane furthest behind the middle of the bounds.
static int first_of_any(Work* w) {
  if (!w->L.poly) {
    turn_plane(w, 0);
    return 0;
  }
  find_ball(w);
  double most = look_at_planes(w);
  if (!(most <= w->reach)) return -1;
  int first = 0;
  while (w->before[first] < most) first++;
  turn_plane(w, first);
  const abClipPlane* b = &w->clip[first];
  double over = v3_dot(b->plane.n, w->bounds.middle) - b->plane.d;
  return over - ab_extent(w->bounds.half, b->plane.n) >= -b->noise ? -1 : first;
}

// --- cutting ---

abBounds ab_bounds_of(int n, const abVec3* point) {
  abVec3 low = v3(DBL_MAX, DBL_MAX, DBL_MAX), high = v3_neg(low);
  for (int i = 0; i < n; i++) {
    abVec3 x = point[i];
    low.x = x.x < low.x ? x.x : low.x, high.x = x.x > high.x ? x.x : high.x;
    low.y = x.y < low.y ? x.y : low.y, high.y = x.y > high.y ? x.y : high.y;
    low.z = x.z < low.z ? x.z : low.z, high.z = x.z > high.z ? x.z : high.z;
  }
  return (abBounds){v3_scale(0.5, v3_add(low, high)), v3_scale(0.5, v3_sub(high, low))};
}

// The plane of clip plane j touches the solid without cutting it: faces of S that lie in it and
// look the same way belong to both.
static void share_faces(Work* w, int j) {
  const abPolyhedron* S = w->S.poly;
  abVec3 n = w->clip[j].plane.n;
  for (int f = 0; f < S->nface; f++)
    if (w->partner[f] < 0 && v3_dot(S->plane[f].n, n) > 0.5 &&
        (w->is_small ? ab_small_solid_touches(&w->little, f) : ab_solid_touches(&w->solid, f)))
      w->partner[f] = j;
}

static abCut cut_by(Work* w, int j) {
  abCut result = w->is_small ? ab_small_solid_cut(&w->little, &w->clip[j], w->S.poly->nface + j)
                             : ab_solid_cut(&w->solid, j);
  if (result == AB_CUT_TOUCH) share_faces(w, j);
  return result;
}

static inline bool is_end(abCut result) { return result == AB_CUT_ALL || result == AB_CUT_FULL; }

// The other planes of a box, of which those cut that reach what is left: first those that take
// the largest part of it, since that may put it out of reach of others.
static abCut cut_by_box(Work* w, int first) {
  const abPlane* plane = w->L.poly->plane;
  double range[6], part[6],
      slack = w->flush + 1e-14 * (w->size + w->L.poly->radius + spread(w->rel.p));
  int face[6], n = 0;
  if (w->is_small)
    ab_small_solid_ranges(&w->little, w->axis, range);
  else
    ab_solid_ranges(&w->solid, w->axis, range);
  for (int i = 0; i < 6; i++) {
    int j = AB_BOX_FACE[i];
    double shift = w->shift[i >> 1], d = plane[j].d + (i & 1 ? shift : -shift), over = range[i] - d;
    // no clip plane is blunter than this
    if (over < -slack || j == first) continue;
    turn_box(w, i >> 1, i & 1);
    if (over < -w->clip[j].flush) continue;
    double p = over / (range[i] + range[i ^ 1]);
    int k = n++;
    for (; k > 0 && part[k - 1] < p; k--) part[k] = part[k - 1], face[k] = face[k - 1];
    part[k] = p, face[k] = j;
  }
  for (int k = 0; k < n; k++) {
    abCut result = cut_by(w, face[k]);
    if (is_end(result)) return result;
  }
  return AB_CUT_SOME;
}

static void find_bounds(Work* w) {
  if (w->is_small)
    ab_small_solid_bounds(&w->little, &w->bounds.middle, &w->bounds.half);
  else
    w->bounds = ab_bounds_of(w->solid.nvert, w->solid.vert);
  find_ball(w);
}

// Lists the planes that the ball about the bounds reaches, but for the first. Returns their number.
static int list_near(const Work* w, int first, int* list) {
  int n = 0;
  for (int j = 0; j < w->nclip; j++) {
    list[n] = j;
    n += (w->before[j] >= -w->reach) & (j != first);
  }
  return n;
}

// The other planes of any body.
static abCut cut_by_any(Work* w, int first) {
  find_bounds(w);
  look_at_planes(w);
  int n = list_near(w, first, w->near);
  for (int k = 0; k < n; k++) {
    int j = w->near[k];
    turn_plane(w, j);
    const abClipPlane* b = &w->clip[j];
    double reach = v3_dot(b->plane.n, w->bounds.middle) + ab_extent(w->bounds.half, b->plane.n);
    if (reach < b->plane.d - b->flush) continue;
    abCut result = cut_by(w, j);
    if (is_end(result)) return result;
    // of a large solid a plane takes little
    if (result == AB_CUT_SOME && !w->is_small && !w->solid.large) find_bounds(w);
  }
  return AB_CUT_SOME;
}

// -1 for all.
static void no_partners(Work* w) {
  memset(w->partner, 0xff, sizeof(int) * (size_t)w->S.poly->nface);
}

static abCut cut_by_others(Work* w, int first) {
  const abPolyhedron* L = w->L.poly;
  if (!L) return AB_CUT_SOME;
  return ab_polyhedron_skin(L)->box ? cut_by_box(w, first) : cut_by_any(w, first);
}

static abCut cut_all(Work* w, int first) {
  no_partners(w);
  abCut result = cut_by(w, first);
  return is_end(result) ? result : cut_by_others(w, first);
}

// The small solid if that is possible, else the large one.
static abCut cut(Work* w, int first, abArena* arena) {
  const abPolyhedron* S = w->S.poly;
  abCut result = AB_CUT_FULL;
  w->is_small = !ab_polyhedron_skin(S)->boxlike &&
                ab_small_solid_start(&w->little, S, w->nclip, &w->clip[first], S->nface + first);
  if (w->is_small) {
    no_partners(w);
    result = cut_by_others(w, first);
  } else if (ab_small_solid_fits(S, w->nclip)) {
    w->is_small = true;
    ab_small_solid_make(&w->little, S, w->nclip);
    result = cut_all(w, first);
  }
  if (result != AB_CUT_FULL) return result;
  w->is_small = false;
  if (!ab_solid_make(&w->solid, S, w->nclip, w->clip, arena)) return AB_CUT_FULL;
  return cut_all(w, first);
}

// --- all of it ---

// One by one: the instruction that clears a whole struct is slow to start.
static inline void clear(abOverlap* o) {
  o->contact = false;
  o->volume = 0;
  o->centroid = v3_zero();
  o->area[0] = o->area[1] = o->area[2] = o->area[3] = 0;
  o->nvert = o->nedge = o->nface = o->nprism = 0;
  o->vert = NULL, o->edge = NULL, o->face = NULL;
  o->frame = (abPose){0};
  o->size = o->noise = 0;
}

abStatus ab_overlap_finish(Work* w, abArena* arena, abOverlap* out) {
  const abPolyhedron *S = w->S.poly, *L = w->L.poly;
  const abSkin* skin = ab_polyhedron_skin(S);
  clear(out);
  w->nclip = L ? L->nface : 1;
  w->noise = 0;
  w->bounds = (abBounds){v3_sub(skin->middle, S->centroid), skin->half};
  abArenaMark mark = ab_arena_mark(arena);
  w->clip = ab_arena_take(arena, clip_bytes(S, w->nclip));
  if (!w->clip) return AB_ERROR_MEMORY;
  w->before = (double*)(void*)(w->clip + w->nclip);
  w->near = (int*)(void*)(w->before + ab_polyhedron_lanes(w->nclip));
  w->partner = w->near + w->nclip;
  int first = L && ab_polyhedron_skin(L)->box ? first_of_box(w) : first_of_any(w);
  bool known = first >= 0 && skin->nsupport > 0 && ab_prism_overlap(w, first, arena, out);
  abCut result = first < 0 || known ? AB_CUT_ALL : cut(w, first, arena);
  if (result == AB_CUT_FULL) return AB_ERROR_MEMORY;
  abStatus status = AB_OK;
  if (result != AB_CUT_ALL) status = ab_overlap_measure(w, arena, out);
  if (status != AB_OK) return status;
  if (!out->contact) {
    ab_arena_release(arena, mark);
    clear(out);
    return AB_OK;
  }
  if (!known) out->frame = (abPose){pose_apply(w->S.pose, S->centroid), w->S.pose.q};
  out->size = w->size, out->noise = w->noise;
  return isfinite(out->volume) ? AB_OK : AB_ERROR_NUMERIC;
}

abStatus ab_overlap(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                    abArena* arena, abOverlap* out) {
  Work w;
  clear(out);
  abStatus status = ab_overlap_begin(&w, A, pose_a, B, pose_b);
  if (status != AB_OK || ab_overlap_sat(&w)) return status;
  return ab_overlap_finish(&w, arena, out);
}
