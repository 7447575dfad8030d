// The overlap of two convex polyhedra by clipping one with the face planes of the other.
//
// The polyhedron under the knife is kept as a set of directed edges (from, to, left face, right
// face) on shared vertices; nothing else. A cut by the plane n . x <= d
//   - measures every vertex once, s = n . x - d, and calls it outside if s > noise;
//   - keeps edges with both ends inside, drops those with both ends outside, and shortens each
//     edge with one end outside at ONE new vertex, which both its faces share (an inside end within
//     the noise of the plane is that vertex itself);
//   - on the left face of a shortened edge the boundary leaves (or enters) there, on the right face
//     it enters (or leaves): joining each face's leaving point to its entering point gives the edge
//     between this face and the new face, the cap.
// Every face remains a closed chain of edges and every edge lies in exactly two faces, whatever
// signs rounding has given to vertices close to the plane: the surface is closed as a matter of
// bookkeeping, not of geometry. Hence the area vectors sum to zero to rounding, and volume and
// moments, which are integrals over the surface, are continuous and right to noise * area however
// the faces are aligned. Where rounding makes a face cross the plane more than twice (a face
// parallel to the plane) the points are joined in the order they are met: the chains remain closed
// and the enclosed volume differs by less than the noise.
//
// With r_f a vertex of face f and (p, q) its edges, o a point near the overlap,
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
#include <string.h>

#include "math/rotation.h"

// Where the boundary of a face leaves the kept half-space, or enters it.
typedef struct Crossing {
  int vert, next;  // next: of the same face and kind, or -1
  bool leaves;
} Crossing;

// A plane of the other body. `noise`: rounding of s, which grows with every length that goes into
// it. `flush`: the same with the rounding of the bodies' positions in the world, within which a
// face that lies in the plane was meant to.
typedef struct Blade {
  abPlane plane;
  double noise, flush;
} Blade;

typedef struct Piece {
  int nvert, nedge, nface;  // nface: of both bodies together
  int nblade;               // of the other body
  int vert_cap, edge_cap;
  abVec3 *vert, *spare;
  int (*edge)[4];
  int (*fresh)[4];  // edges of the cap under way
  double* s;        // signed distance of each vertex to the plane
  int* map;         // vertex -> vertex after the cut, -1 if outside
  int* open;        // per face: newest unmatched crossing, or -1
  Crossing* crossing;
  abOverlapFace* face;
  Blade* blade;
  abVec3 low, high;  // bounds of vert
  bool loose;        // they may be too large
  double noise;
} Piece;

// Leaving off a cut of depth s changes the volume of what is w thick along the normal by less than
// 3 s / w of it: a flush face may cost so much.
static const double FLUSH_ERROR = 1e-10;

typedef enum Cut { CUT_NOTHING, CUT_SOME, CUT_ALL, CUT_FULL } Cut;

// A convex polyhedron of F faces has at most 2F - 4 vertices and 3F - 6 edges; the doubled room is
// for empty faces and edges that exact alignment leaves behind. More is refused, never overrun.
static void room(const abPolyhedron* S, int nface, int* vert, int* edge) {
  *vert = (S->nvert > 2 * nface ? S->nvert : 2 * nface) * 2 + 64;
  *edge = (S->nedge > 3 * nface ? S->nedge : 3 * nface) * 2 + 64;
}

static size_t bytes_of(int nvert, int nedge, int nface) {
  size_t v = sizeof(abVec3) * 2 + sizeof(double) + sizeof(int);
  size_t e = sizeof(int[4]) * 2 + sizeof(Crossing) * 2;
  size_t f = sizeof(int) + sizeof(abOverlapFace) + sizeof(Blade);
  return v * (size_t)nvert + e * (size_t)nedge + f * (size_t)nface + 256;
}

size_t ab_overlap_bytes(const abPolyhedron* A, const abPolyhedron* B) {
  int nface = (A ? A->nface : 1) + (B ? B->nface : 1), nvert, nedge;
  size_t most = 0;
  for (int i = 0; i < 2; i++) {
    const abPolyhedron* S = i ? B : A;
    if (!S) continue;
    room(S, nface, &nvert, &nedge);
    size_t bytes = bytes_of(nvert, nedge, nface);
    if (bytes > most) most = bytes;
  }
  return most;
}

// Carves an array out of a block.
static void* carve(char** at, size_t bytes) {
  void* p = *at;
  *at += (bytes + 15) & ~(size_t)15;
  return p;
}

static bool make_room(Piece* p, const abPolyhedron* S, abArena* arena) {
  room(S, p->nface, &p->vert_cap, &p->edge_cap);
  size_t v = (size_t)p->vert_cap, e = (size_t)p->edge_cap, f = (size_t)p->nface;
  char* at = ab_arena_take(arena, bytes_of(p->vert_cap, p->edge_cap, p->nface));
  if (!at) return false;
  p->face = carve(&at, sizeof(abOverlapFace) * f);
  p->blade = carve(&at, sizeof(Blade) * (size_t)p->nblade);
  p->edge = (int(*)[4])carve(&at, sizeof(int[4]) * e);
  p->vert = carve(&at, sizeof(abVec3) * v);
  p->spare = carve(&at, sizeof(abVec3) * v);
  p->fresh = (int(*)[4])carve(&at, sizeof(int[4]) * e);
  p->s = carve(&at, sizeof(double) * v);
  p->map = carve(&at, sizeof(int) * v);
  p->open = carve(&at, sizeof(int) * f);
  p->crossing = carve(&at, sizeof(Crossing) * 2 * e);
  return true;
}

// fmin and fmax are calls, because of NaN.
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline double larger(double a, double b) { return a > b ? a : b; }

static inline void grow(abVec3* low, abVec3* high, abVec3 x) {
  low->x = x.x < low->x ? x.x : low->x, high->x = x.x > high->x ? x.x : high->x;
  low->y = x.y < low->y ? x.y : low->y, high->y = x.y > high->y ? x.y : high->y;
  low->z = x.z < low->z ? x.z : low->z, high->z = x.z > high->z ? x.z : high->z;
}

static void load_vertices(Piece* p, const abPolyhedron* S) {
  p->nvert = S->nvert;
  p->low = v3(DBL_MAX, DBL_MAX, DBL_MAX), p->high = v3_neg(p->low);
  for (int i = 0; i < S->nvert; i++) {
    p->vert[i] = v3_sub(S->vert[i], S->centroid);
    grow(&p->low, &p->high, p->vert[i]);
  }
}

static void load_faces(Piece* p, const abPolyhedron* S, abOwner own, abOwner other) {
  p->nedge = S->nedge;
  memcpy(p->edge, S->edge, sizeof(int[4]) * (size_t)S->nedge);
  for (int f = 0; f < p->nface; f++) {
    bool first = f < S->nface;
    abOverlapFace* face = &p->face[f];
    p->open[f] = -1;
    face->owner = first ? own : other;
    face->source = first ? f : f - S->nface;
    face->normal = first ? S->plane[f].n : p->blade[f - S->nface].plane.n;
  }
}

// Largest n . x over the bounds.
static inline double reach(abVec3 low, abVec3 high, abVec3 n) {
  return n.x * (n.x > 0 ? high.x : low.x) + n.y * (n.y > 0 ? high.y : low.y) +
         n.z * (n.z > 0 ? high.z : low.z);
}

// The plane of `cap` touches the piece without cutting it: faces of the first body that lie in it
// and look the same way belong to both.
static void share_faces(Piece* p, abVec3 n, double flush, int cap) {
  abOwner own = p->face[cap].owner;
  int on = 0;
  for (int i = 0; i < p->nvert; i++) on += p->map[i] = p->s[i] >= -flush;
  if (on < 3) return;
  // open[f] = 0: an edge of f lies in the plane; 1: and another does not
  bool any = false;
  for (int i = 0; i < p->nedge; i++) {
    const int* e = p->edge[i];
    if (!(p->map[e[0]] && p->map[e[1]])) continue;
    for (int k = 2; k < 4; k++) {
      const abOverlapFace* f = &p->face[e[k]];
      if (f->owner == own || v3_dot(f->normal, n) <= 0.5) continue;
      p->open[e[k]] = 0;
      any = true;
    }
  }
  if (!any) return;
  for (int i = 0; i < p->nedge; i++) {
    const int* e = p->edge[i];
    if (p->map[e[0]] && p->map[e[1]]) continue;
    for (int k = 2; k < 4; k++)
      if (p->open[e[k]] == 0) p->open[e[k]] = 1;
  }
  for (int i = 0; i < p->nedge; i++)
    for (int k = 2; k < 4; k++) {
      int id = p->edge[i][k];
      if (p->open[id] == 0) {
        if (p->face[id].owner == AB_OWNER_B) p->face[id].source = p->face[cap].source;
        p->face[id].owner = AB_OWNER_BOTH;
      }
      p->open[id] = -1;
    }
}

typedef struct Knife {
  Piece* p;
  int cap, nvert, ncrossing, nfresh;
} Knife;

// The boundary of `face` crosses the plane at `vert`: join it to a crossing of the other kind, if
// one waits.
static inline void cross_face(Knife* k, int face, int vert, bool leaves) {
  Piece* p = k->p;
  int waiting = p->open[face];
  if (waiting >= 0 && p->crossing[waiting].leaves != leaves) {
    p->open[face] = p->crossing[waiting].next;
    int from = leaves ? vert : p->crossing[waiting].vert;
    int to = leaves ? p->crossing[waiting].vert : vert;
    if (from == to) return;
    int* e = p->fresh[k->nfresh++];
    e[0] = from, e[1] = to, e[2] = face, e[3] = k->cap;
    return;
  }
  p->crossing[k->ncrossing] = (Crossing){vert, waiting, leaves};
  p->open[face] = k->ncrossing++;
}

// The vertex where the edge from `in` to `out` (outside) meets the plane.
static inline int cut_edge(Knife* k, int in, int out, double noise) {
  const Piece* p = k->p;
  if (p->s[in] >= -noise) return p->map[in];
  double t = p->s[in] / (p->s[in] - p->s[out]);
  abVec3 a = p->vert[in], b = p->vert[out];
  // from the nearer end, so that a vertex close to the plane hardly moves
  abVec3 x = t <= 0.5 ? v3_lerp(a, b, t) : v3_lerp(b, a, p->s[out] / (p->s[out] - p->s[in]));
  p->spare[k->nvert] = x;
  return k->nvert++;
}

static Cut cut_edges(Piece* p, Knife* k, double noise) {
  int nkept = 0;
  for (int i = 0; i < p->nedge; i++) {
    const int* e = p->edge[i];
    int u = e[0], v = e[1], left = e[2], right = e[3], mu = p->map[u], mv = p->map[v];
    if (mu < 0 && mv < 0) continue;
    if (mu >= 0 && mv >= 0) {
      int* keep = p->edge[nkept++];
      keep[0] = mu, keep[1] = mv, keep[2] = left, keep[3] = right;
      continue;
    }
    if (k->nvert == p->vert_cap || k->nfresh + 2 > p->edge_cap) return CUT_FULL;
    bool leaves = mu >= 0;  // of the left face; the right face sees the edge reversed
    int x = leaves ? cut_edge(k, u, v, noise) : cut_edge(k, v, u, noise);
    if (x != (leaves ? mu : mv)) {
      int* keep = p->edge[nkept++];
      keep[0] = leaves ? mu : x, keep[1] = leaves ? x : mv, keep[2] = left, keep[3] = right;
    }
    cross_face(k, left, x, leaves);
    cross_face(k, right, x, !leaves);
  }
  if (nkept + k->nfresh > p->edge_cap) return CUT_FULL;
  for (int i = 0; i < k->nfresh; i++, nkept++)
    for (int j = 0; j < 4; j++) p->edge[nkept][j] = p->fresh[i][j];
  p->nedge = nkept;
  return CUT_SOME;
}

static void find_bounds(Piece* p) {
  p->low = p->high = p->vert[0];
  for (int i = 1; i < p->nvert; i++) grow(&p->low, &p->high, p->vert[i]);
}

// Cuts the piece with a plane; `cap` is the index of the face that this adds.
static Cut cut(Piece* p, const Blade* blade, int cap) {
  abPlane plane = blade->plane;
  double noise = blade->noise;
  double least = DBL_MAX, most = -DBL_MAX;
  for (int i = 0; i < p->nvert; i++) {
    double s = v3_dot(plane.n, p->vert[i]) - plane.d;
    p->s[i] = s;
    least = s < least ? s : least;
    most = s > most ? s : most;
  }
  double flush = larger(noise, smaller(blade->flush, FLUSH_ERROR * (most - least)));
  if (most <= flush) {
    if (most >= -flush) share_faces(p, plane.n, flush, cap);
    return CUT_NOTHING;
  }
  if (least >= -noise) return CUT_ALL;
  Knife k = {p, cap, 0, 0, 0};
  for (int i = 0; i < p->nvert; i++) {
    bool inside = p->s[i] <= noise;
    p->map[i] = inside ? k.nvert : -1;
    if (inside) p->spare[k.nvert++] = p->vert[i];
  }
  int kept = k.nvert;
  Cut result = cut_edges(p, &k, noise);
  if (result != CUT_SOME) return result;
  abVec3* old = p->vert;
  p->vert = p->spare, p->spare = old;
  // bounds that are a little too large still hold
  p->loose = 4 * kept >= 3 * p->nvert;
  p->nvert = k.nvert;
  if (!p->loose) find_bounds(p);
  return p->nedge < 6 ? CUT_ALL : CUT_SOME;
}

// Sums over the edges, each seen from its two faces. The first vertex met of a face serves as its
// r_f; an edge that contains r_f adds nothing to the volume, so one pass suffices.
static double integrate(Piece* p, abVec3 o, abVec3* moment_out) {
  double volume = 0;
  abVec3 moment = v3_zero(), *q = p->spare;
  for (int i = 0; i < p->nvert; i++) q[i] = v3_sub(p->vert[i], o);
  for (int f = 0; f < p->nface; f++) p->face[f].vert = -1;
  for (int i = 0; i < p->nedge; i++) {
    const int* e = p->edge[i];
    abVec3 a = q[e[0]], b = q[e[1]], c = v3_cross(a, b);
    abOverlapFace *l = &p->face[e[2]], *r = &p->face[e[3]];
    if (l->vert < 0) l->vert = e[0], l->vector = v3_zero();
    if (r->vert < 0) r->vert = e[0], r->vector = v3_zero();
    l->vector = v3_add(l->vector, c);
    r->vector = v3_sub(r->vector, c);
    abVec3 ql = q[l->vert], qr = q[r->vert];
    double wl = v3_dot(ql, c), wr = v3_dot(qr, c), w = wl - wr;
    volume += w;
    moment.x += w * (a.x + b.x) + wl * ql.x - wr * qr.x;
    moment.y += w * (a.y + b.y) + wl * ql.y - wr * qr.y;
    moment.z += w * (a.z + b.z) + wl * ql.z - wr * qr.z;
  }
  *moment_out = v3_scale(1.0 / 24, moment);
  return volume / 6;
}

// Drops faces without edges, and adds up the areas.
static void gather_faces(Piece* p, abOverlap* out) {
  int nface = 0;
  for (int f = 0; f < p->nface; f++) {
    if (p->face[f].vert < 0) continue;
    p->open[f] = nface;
    abOverlapFace* face = &p->face[nface++];
    if (face != &p->face[f]) *face = p->face[f];
    face->vector = v3_scale(0.5, face->vector);
    face->area = v3_dot(face->vector, face->normal);
    out->area[face->owner] += face->area;
  }
  out->area[0] = out->area[AB_OWNER_A] + out->area[AB_OWNER_B] + out->area[AB_OWNER_BOTH];
  for (int i = 0; i < p->nedge; i++) {
    p->edge[i][2] = p->open[p->edge[i][2]];
    p->edge[i][3] = p->open[p->edge[i][3]];
  }
  p->nface = nface;
}

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// Returns false if nothing thicker than the noise is left.
static bool measure(Piece* p, abOverlap* out) {
  if (p->loose) find_bounds(p);
  abVec3 o = v3_scale(0.5, v3_add(p->low, p->high)), moment;
  double volume = integrate(p, o, &moment);
  gather_faces(p, out);
  // A plate of thickness t has V = t * surface / 2.
  if (!(volume > 0.5 * p->noise * out->area[0])) return false;
  out->volume = volume;
  abVec3 c = v3_axpy(1 / volume, moment, o);
  // an average of the vertices: rounding must not throw it out of their bounds
  out->centroid = v3(clamp(c.x, p->low.x, p->high.x), clamp(c.y, p->low.y, p->high.y),
                     clamp(c.z, p->low.z, p->high.z));
  return true;
}

typedef struct Side {
  const abPolyhedron* poly;
  abPose pose;
  abOwner owner;
} Side;

// Pose of L in the piece's frame. The quaternion of the relative turn is the identity exactly where
// the two are equal, which products of matrices would miss: aligned stacks stay aligned.
static abPose relative_pose(const Side* S, const Side* L, abVec3 origin) {
  abQuat inverse = quat_conj(S->pose.q);
  abVec3 p = quat_rotate(inverse, v3_sub(L->pose.p, S->pose.p));
  return (abPose){v3_sub(p, origin), quat_unit(quat_mul(inverse, L->pose.q))};
}

// Bounds of L in the piece's frame against the piece's: the face directions of a box, and cheap. Of
// a body with many vertices the ball about its frame's origin does.
static bool bounds_apart(const Piece* p, const abPolyhedron* L, const abMat3* R, abVec3 x) {
  abVec3 r = v3(L->radius, L->radius, L->radius), low = v3_sub(x, r), high = v3_add(x, r);
  if (L->nvert <= 16) {
    low = v3(DBL_MAX, DBL_MAX, DBL_MAX), high = v3_neg(low);
    for (int i = 0; i < L->nvert; i++) grow(&low, &high, m3_apply(R, L->vert[i]));
    low = v3_add(low, x), high = v3_add(high, x);
  }
  return low.x >= p->high.x || low.y >= p->high.y || low.z >= p->high.z || high.x <= p->low.x ||
         high.y <= p->low.y || high.z <= p->low.z;
}

// Turns the planes of L into the piece's frame. scale.x is the size of the piece, scale.y the
// distance of the bodies from the world's origin, at which their positions are rounded. Returns the
// plane that removes the largest part of the bounds, -1 if one of them leaves nothing.
static int make_blades(Piece* p, const abPolyhedron* L, abPose rel, abVec3 scale) {
  int first = 0;
  double most = -DBL_MAX;
  abMat3 R = quat_matrix(rel.q);
  if (L && bounds_apart(p, L, &R, rel.p)) return -1;
  for (int j = 0; j < p->nblade; j++) {
    abPlane in = L ? L->plane[j] : (abPlane){{0, 0, 1}, 0};
    abVec3 n = m3_apply(&R, in.n);
    double shift = v3_dot(n, rel.p), d = in.d + shift;
    // every term rounds once or twice at its own size
    double noise = DBL_EPSILON * (2 * scale.x + fabs(in.d) + fabs(shift));
    double high = reach(p->low, p->high, n), low = -reach(p->low, p->high, v3_neg(n));
    if (low >= d - noise) return -1;
    double removed = (high - d) / (high - low);
    if (removed > most) most = removed, first = j;
    p->blade[j] = (Blade){{n, d}, noise, 2 * noise + DBL_EPSILON * scale.y};
    p->noise = larger(p->noise, noise);
  }
  return first;
}

static Cut cut_all(Piece* p, int first) {
  int base = p->nface - p->nblade;
  for (int k = -1; k < p->nblade; k++) {
    int j = k < 0 ? first : k;
    if (k == first) continue;
    const Blade* b = &p->blade[j];
    if (reach(p->low, p->high, b->plane.n) < b->plane.d - b->flush) continue;
    Cut result = cut(p, b, base + j);
    if (result == CUT_ALL || result == CUT_FULL) return result;
  }
  return CUT_SOME;
}

// No shorter than v, and no root.
static double spread(abVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

static bool finite_pose(abPose a) {
  return isfinite(a.p.x + a.p.y + a.p.z + a.q.w + a.q.x + a.q.y + a.q.z);
}

abStatus ab_overlap(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                    abArena* arena, abOverlap* out) {
  *out = (abOverlap){0};
  Side a = {A, pose_a, AB_OWNER_A}, b = {B, pose_b, AB_OWNER_B};
  if (!A && !B) return AB_ERROR_ARGUMENT;
  if (!finite_pose(pose_a) || !finite_pose(pose_b)) return AB_ERROR_NUMERIC;
  // cut the smaller body: its coordinates round least
  bool b_smaller = !A || (B && B->radius < A->radius);
  const Side *S = b_smaller ? &b : &a, *L = b_smaller ? &a : &b;
  abArenaMark mark = ab_arena_mark(arena);
  Piece p = {.nblade = L->poly ? L->poly->nface : 1};
  p.nface = S->poly->nface + p.nblade;
  if (!make_room(&p, S->poly, arena)) return AB_ERROR_MEMORY;
  load_vertices(&p, S->poly);
  abPose rel = relative_pose(S, L, S->poly->centroid);
  double size = 0.5 * v3_norm(v3_sub(p.high, p.low));
  double away = 2 * larger(spread(S->pose.p), spread(L->pose.p));
  int first = make_blades(&p, L->poly, rel, v3(size, away, 0));
  Cut result = CUT_ALL;
  if (first >= 0) {
    load_faces(&p, S->poly, S->owner, L->owner);
    result = cut_all(&p, first);
  }
  if (result == CUT_FULL) return AB_ERROR_MEMORY;
  if (result == CUT_ALL || !measure(&p, out)) {
    ab_arena_release(arena, mark);
    *out = (abOverlap){0};
    return isfinite(size) ? AB_OK : AB_ERROR_NUMERIC;
  }
  out->contact = true;
  out->nvert = p.nvert, out->nedge = p.nedge, out->nface = p.nface;
  out->vert = p.vert, out->edge = (const int(*)[4])p.edge, out->face = p.face;
  out->frame = (abPose){pose_apply(S->pose, S->poly->centroid), S->pose.q};
  out->size = size, out->noise = p.noise;
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
