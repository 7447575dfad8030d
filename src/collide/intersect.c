// The overlap of two convex polyhedra by clipping one with the face planes of the other.
//
// The body that is cut is a graph of half-edges whose surface stays closed whatever rounding does
// (solid.c). What is left is measured: with o one of its vertices, r_f a vertex of face f (o
// itself, if it is one) and (p, q) its edges,
//   area vector  a_f = 1/2 sum (p - o) x (q - o),   volume  V = 1/3 sum_f (r_f - o) . a_f,
//   V (centroid - o) = 1/24 sum_f sum_edges [(r_f - o) . ((p - o) x (q - o))] (r_f + p + q - 3 o).
//
// Speed: all is done in the frame of the smaller body, so that only the planes of the larger one
// are turned; the plane that removes most comes first; a plane that does not reach the bounding box
// of what is left costs nine multiplications.
//
// Muller & Preparata (1978) and the volumetric contact papers use the dual transform and a convex
// hull instead; it serves as the reference in the tests. It needs a common interior point and a
// hull tolerance, which thin overlaps do not offer.
#include "collide/intersect.h"

#include <float.h>

#include "collide/solid.h"
#include "math/rotation.h"

typedef struct Side {
  const abPolyhedron* poly;
  abPose pose;
  abOwner owner;
} Side;

// Bounds of what is left: middle and half lengths.
typedef struct Bounds {
  abVec3 middle, half;
} Bounds;

typedef struct Work {
  abSolid solid;
  Side S, L;  // the one that is cut, and the one whose planes cut
  Bounds bounds;
  double noise;
  int* partner;  // per face of S: the face of L that lies in it, -1 if none
} Work;

// fmax is a call, because of NaN.
static inline double larger(double a, double b) { return a > b ? a : b; }

static size_t bytes_for(const abPolyhedron* S, int nblade) {
  int nface = S->nface + nblade;
  int nedge = S->nedge > 3 * nface ? S->nedge : 3 * nface;
  return ab_solid_bytes(S, nblade) + sizeof(int) * (size_t)S->nface +
         (sizeof(int[4]) + sizeof(abOverlapFace)) * (size_t)nedge + 64 * 8;
}

size_t ab_overlap_bytes(const abPolyhedron* A, const abPolyhedron* B) {
  size_t most = 0;
  for (int i = 0; i < 2; i++) {
    const abPolyhedron *S = i ? B : A, *L = i ? A : B;
    size_t bytes = S ? bytes_for(S, L ? L->nface : 1) : 0;
    if (bytes > most) most = bytes;
  }
  return most;
}

// Half the extent of a box along n.
static inline double extent(abVec3 half, abVec3 n) {
  return fabs(n.x) * half.x + fabs(n.y) * half.y + fabs(n.z) * half.z;
}

// --- the planes ---

// Pose of L in the frame of S moved to its centroid. The quaternion of the relative turn is the
// identity exactly where the two are equal, which products of matrices would miss: aligned stacks
// stay aligned.
static abPose relative_pose(const Side* S, const Side* L) {
  abQuat inverse = quat_conj(S->pose.q);
  abVec3 p = quat_rotate(inverse, v3_sub(L->pose.p, S->pose.p));
  return (abPose){v3_sub(p, S->poly->centroid), quat_unit(quat_mul(inverse, L->pose.q))};
}

// Bounds of L against those of S: the face directions of a box, and cheap.
static bool bounds_apart(const Bounds* S, const abPolyhedron* L, const abMat3* R, abVec3 x) {
  const abSkin* skin = ab_polyhedron_skin(L);
  abVec3 h = skin->half, c = v3_add(m3_apply(R, skin->middle), x), d = v3_sub(c, S->middle);
  return fabs(d.x) >= S->half.x + extent(h, m3_row(R, 0)) ||
         fabs(d.y) >= S->half.y + extent(h, m3_row(R, 1)) ||
         fabs(d.z) >= S->half.z + extent(h, m3_row(R, 2));
}

// Turns the planes of L into the frame of the solid. `size` is that of the solid, `away` the
// distance of the bodies from the world's origin, at which their positions are rounded. Returns the
// plane that removes the largest part of the bounds, -1 if one of them leaves nothing.
static int make_blades(Work* w, double size, double away) {
  const abPolyhedron* L = w->L.poly;
  abPose rel = relative_pose(&w->S, &w->L);
  abMat3 R = quat_matrix(rel.q);
  Bounds bounds = w->bounds;
  if (L && bounds_apart(&bounds, L, &R, rel.p)) return -1;
  int first = 0;
  double most = -DBL_MAX, loudest = 0, flush = DBL_EPSILON * away;
  for (int j = 0; j < w->solid.nblade; j++) {
    abPlane in = L ? L->plane[j] : (abPlane){{0, 0, 1}, 0};
    abVec3 n = m3_apply(&R, in.n);
    double shift = v3_dot(n, rel.p), d = in.d + shift;
    // every term rounds once or twice at its own size
    double noise = DBL_EPSILON * (2 * size + fabs(in.d) + fabs(shift));
    double middle = v3_dot(n, bounds.middle), half = extent(bounds.half, n), over = middle - d;
    if (over - half >= -noise) return -1;
    if (over > most * half) most = over / half, first = j;
    w->solid.blade[j] = (abBlade){{n, d}, noise, 2 * noise + flush};
    loudest = larger(loudest, noise);
  }
  w->noise = loudest;
  return first;
}

// --- cutting ---

static void find_bounds(Work* w) {
  const abSolid* p = &w->solid;
  abVec3 low = v3(DBL_MAX, DBL_MAX, DBL_MAX), high = v3_neg(low);
  for (int i = 0; i < p->nvert; i++) {
    abVec3 x = p->vert[i];
    low.x = x.x < low.x ? x.x : low.x, high.x = x.x > high.x ? x.x : high.x;
    low.y = x.y < low.y ? x.y : low.y, high.y = x.y > high.y ? x.y : high.y;
    low.z = x.z < low.z ? x.z : low.z, high.z = x.z > high.z ? x.z : high.z;
  }
  w->bounds = (Bounds){v3_scale(0.5, v3_add(low, high)), v3_scale(0.5, v3_sub(high, low))};
}

// The plane of blade j touches the solid without cutting it: faces of S that lie in it and look the
// same way belong to both.
static void share_faces(Work* w, int j) {
  const abPolyhedron* S = w->S.poly;
  abVec3 n = w->solid.blade[j].plane.n;
  for (int f = 0; f < S->nface; f++)
    if (w->partner[f] < 0 && v3_dot(S->plane[f].n, n) > 0.5 && ab_solid_touches(&w->solid, f))
      w->partner[f] = j;
}

static abCut cut_all(Work* w, int first) {
  for (int k = -1; k < w->solid.nblade; k++) {
    int j = k < 0 ? first : k;
    if (k == first) continue;
    const abBlade* b = &w->solid.blade[j];
    double reach = v3_dot(b->plane.n, w->bounds.middle) + extent(w->bounds.half, b->plane.n);
    if (reach < b->plane.d - b->flush) continue;
    abCut result = ab_solid_cut(&w->solid, j);
    if (result == AB_CUT_ALL || result == AB_CUT_FULL) return result;
    if (result == AB_CUT_TOUCH) share_faces(w, j);
    // of a large solid a plane takes little, of a box one side
    bool smaller = k < 0 || !(w->solid.large || w->solid.plain);
    if (result == AB_CUT_SOME && smaller && w->solid.nblade > 1) find_bounds(w);
  }
  return AB_CUT_SOME;
}

// --- the surface that is left ---

static void set_face(const Work* w, int f, abOverlapFace* face) {
  int n = w->S.poly->nface;
  if (f >= n) {
    *face = (abOverlapFace){
        .normal = w->solid.blade[f - n].plane.n, .owner = w->L.owner, .source = f - n, .vert = -1};
    return;
  }
  *face = (abOverlapFace){
      .normal = w->S.poly->plane[f].n, .owner = w->S.owner, .source = f, .vert = -1};
  if (w->partner[f] < 0) return;
  if (face->owner == AB_OWNER_B) face->source = w->partner[f];
  face->owner = AB_OWNER_BOTH;
}

// A plain box has the edges of its body, and six faces.
static bool gather_plain(Work* w, abArena* arena, abOverlap* out) {
  abOverlapFace* face = AB_TAKE(arena, abOverlapFace, 6);
  if (!face) return false;
  for (int k = 0; k < 6; k++) set_face(w, w->solid.slot[k], &face[k]);
  out->nvert = 8, out->nedge = 12, out->nface = 6;
  out->vert = w->solid.vert, out->edge = w->S.poly->edge, out->face = face;
  return true;
}

// The living vertices, edges and faces, renumbered without gaps.
static bool gather_graph(Work* w, abArena* arena, abOverlap* out) {
  abSolid* p = &w->solid;
  int nedge = p->nhalf / 2 - p->nfree_edge, *face_map = p->cross, *map = p->gone_vert;
  int(*edge)[4] = ab_arena_take(arena, sizeof(int[4]) * (size_t)nedge);
  abOverlapFace* face = AB_TAKE(arena, abOverlapFace, nedge);  // more than there are faces
  if (!face || !edge) return false;
  for (int v = 0; v < p->nvert; v++) {
    map[v] = out->nvert;
    p->vert[out->nvert] = p->vert[v];
    out->nvert += p->vert[v].x == p->vert[v].x;
  }
  for (int f = 0; f < p->nface; f++) face_map[f] = -1;
  for (int h = 0; h < p->nhalf; h += 2) {
    if (p->half[h].from < 0) continue;
    int* e = edge[out->nedge++];
    for (int k = 0; k < 2; k++) {
      const abHalf* a = &p->half[h + k];
      if (face_map[a->left] < 0) {
        set_face(w, a->left, &face[out->nface]);
        face_map[a->left] = out->nface++;
      }
      e[k] = map[a->from];
      e[2 + k] = face_map[a->left];
    }
  }
  out->vert = p->vert, out->edge = (const int(*)[4])edge, out->face = face;
  return true;
}

// --- measuring ---

// Sums over edges (a, b) of faces with a vertex r: w = r . (a x b).
typedef struct Sum {
  double volume;
  abVec3 moment;
} Sum;

static inline void add_triangle(Sum* sum, abVec3 r, abVec3 c, abVec3 ab) {
  double w = v3_dot(r, c);
  sum->volume += w;
  sum->moment = v3_axpy(w, v3_add(ab, r), sum->moment);
}

static abVec3 mean_vertex(const abOverlap* o) {
  abVec3 sum = v3_zero();
  for (int i = 0; i < o->nvert; i++) sum = v3_add(sum, o->vert[i]);
  return v3_scale(1.0 / o->nvert, sum);
}

// Every edge is seen from its two faces. r_f is the first vertex met of a face.
static Sum integrate(const abOverlap* o, abVec3 origin, abOverlapFace* face) {
  Sum sum = {0};
  const abVec3* vert = o->vert;
  for (int i = 0; i < o->nedge; i++) {
    const int* e = o->edge[i];
    abVec3 a = v3_sub(vert[e[0]], origin), b = v3_sub(vert[e[1]], origin);
    abVec3 c = v3_cross(a, b), ab = v3_add(a, b);
    abOverlapFace *l = &face[e[2]], *r = &face[e[3]];
    l->vector = v3_add(l->vector, c);
    r->vector = v3_sub(r->vector, c);
    if (l->vert < 0) l->vert = e[0];
    if (r->vert < 0) r->vert = e[0];
    // an edge that begins at r_f adds nothing
    if (l->vert != e[0]) add_triangle(&sum, v3_sub(vert[l->vert], origin), c, ab);
    if (r->vert != e[0]) add_triangle(&sum, v3_sub(vert[r->vert], origin), v3_neg(c), ab);
  }
  return sum;
}

// So many times the noise thick, an overlap has its centroid inside of its bounds.
static const double THICK = 1e6;

static inline double clamp(double x, double middle, double half) {
  return x < middle - half ? middle - half : x > middle + half ? middle + half : x;
}

static void keep_inside(Work* w, abOverlap* out) {
  w->solid.nvert = out->nvert;
  find_bounds(w);
  abVec3 c = out->centroid, m = w->bounds.middle, h = w->bounds.half;
  out->centroid = v3(clamp(c.x, m.x, h.x), clamp(c.y, m.y, h.y), clamp(c.z, m.z, h.z));
}

// Returns false if nothing thicker than the noise is left.
static bool measure(Work* w, abArena* arena, abOverlap* out) {
  bool plain = w->solid.plain;
  if (!(plain ? gather_plain(w, arena, out) : gather_graph(w, arena, out))) return false;
  abOverlapFace* face = (abOverlapFace*)out->face;
  abVec3 origin = mean_vertex(out);
  Sum sum = integrate(out, origin, face);
  for (int i = 0; i < out->nface; i++) {
    abOverlapFace* f = &face[i];
    f->vector = v3_scale(0.5, f->vector);
    f->area = v3_dot(f->vector, f->normal);
    out->area[f->owner] += f->area;
  }
  out->area[0] = out->area[AB_OWNER_A] + out->area[AB_OWNER_B] + out->area[AB_OWNER_BOTH];
  double volume = sum.volume / 6;
  // A plate of thickness t has V = t * surface / 2.
  if (!(volume > 0.5 * w->noise * out->area[0])) return false;
  // No body has more volume than a ball of its surface, 36 pi V^2 <= A^3: a needle of rounding has.
  if (113 * volume * volume > out->area[0] * out->area[0] * out->area[0]) return false;
  out->volume = volume;
  out->centroid = v3_axpy(1 / (24 * volume), sum.moment, origin);
  // An average of the vertices: where little more than rounding is left, that must not throw it out
  // of their bounds.
  if (volume < THICK * w->noise * out->area[0]) keep_inside(w, out);
  return true;
}

// No shorter than v, and no root.
static double spread(abVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

static bool finite_pose(abPose a) {
  return isfinite(a.p.x + a.p.y + a.p.z + a.q.w + a.q.x + a.q.y + a.q.z);
}

abStatus ab_overlap(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                    abArena* arena, abOverlap* out) {
  *out = (abOverlap){0};
  if (!A && !B) return AB_ERROR_ARGUMENT;
  if (!finite_pose(pose_a) || !finite_pose(pose_b)) return AB_ERROR_NUMERIC;
  // cut the smaller body: its coordinates round least
  bool b_smaller = !A || (B && B->radius < A->radius);
  Side a = {A, pose_a, AB_OWNER_A}, b = {B, pose_b, AB_OWNER_B};
  Work w;
  w.S = b_smaller ? b : a, w.L = b_smaller ? a : b;
  const abPolyhedron *S = w.S.poly, *L = w.L.poly;
  abArenaMark mark = ab_arena_mark(arena);
  w.partner = AB_TAKE(arena, int, S->nface);
  if (!w.partner || !ab_solid_make(&w.solid, S, L ? L->nface : 1, arena)) return AB_ERROR_MEMORY;
  for (int f = 0; f < S->nface; f++) w.partner[f] = -1;
  const abSkin* skin = ab_polyhedron_skin(S);
  w.bounds = (Bounds){v3_sub(skin->middle, S->centroid), skin->half};
  int first = make_blades(&w, skin->size, 2 * larger(spread(pose_a.p), spread(pose_b.p)));
  abCut result = first < 0 ? AB_CUT_ALL : cut_all(&w, first);
  if (result == AB_CUT_FULL) return AB_ERROR_MEMORY;
  if (result == AB_CUT_ALL || !measure(&w, arena, out)) {
    ab_arena_release(arena, mark);
    *out = (abOverlap){0};
    return isfinite(skin->size) ? AB_OK : AB_ERROR_NUMERIC;
  }
  out->contact = true;
  out->frame = (abPose){pose_apply(w.S.pose, S->centroid), w.S.pose.q};
  out->size = skin->size, out->noise = w.noise;
  return isfinite(out->volume) ? AB_OK : AB_ERROR_NUMERIC;
}

int ab_overlap_section(const abOverlap* o, abPlane plane, abVec3* point) {
  int n = 0;
  for (int i = 0; i < o->nedge; i++) {
    abVec3 a = o->vert[o->edge[i][0]], b = o->vert[o->edge[i][1]];
    double sa = v3_dot(plane.n, a) - plane.d, sb = v3_dot(plane.n, b) - plane.d;
    if ((sa > 0) == (sb > 0)) continue;
    point[n++] = v3_lerp(a, b, sa / (sa - sb));
  }
  return n;
}
