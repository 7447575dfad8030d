// Cutting a convex solid by a plane, at the cost of what the cut touches.
//
// The surface is a graph of half-edges on shared vertices. A cut by the plane n . x <= d, with
// s = n . x - d of a vertex, calls a vertex outside if s > noise, and
//   - on every edge with one end outside makes ONE new vertex, which both its faces share (if the
//     inside end is within the noise of the plane, at that end);
//   - walks from such a half-edge h, which leaves through the plane, along the outside boundary of
//     the face on its left to the half-edge g by which this face comes back in; joins the new
//     vertex of h to that of g by an edge of this face and, the other way, of the cap; and goes on
//     with g ^ 1, which leaves through the plane on the next face, until it is back at h;
//   - drops the outside vertices and the edges between them.
// From a half-edge that leaves one comes to exactly one other, and back from it: the walk always
// closes, whatever signs rounding has given to vertices close to the plane. Every face remains a
// closed chain of half-edges and every edge lies in two faces: the surface is closed as a matter of
// bookkeeping, not of geometry. Hence the area vectors sum to zero to rounding, and volume and
// moments, which are integrals over the surface, are continuous and right to noise * area however
// the faces are aligned. New vertices have three edges, kept ones lose none, so by Euler's formula
// F faces never have more than 2 F - 4 vertices and 3 F - 6 edges; while a cut is made old and new
// ones are there together.
//
// Outside vertices are connected, because the solid is convex; those that rounding has cut off from
// the others lie outside by a few times the noise.
//
// A small solid is measured at all vertices. In a large one the vertex furthest out is found by
// climbing from the place of one of the last cuts, and the outside vertices by going on from it to
// their neighbours: such a cut costs what it removes, not what it leaves. At the top v, where three
// faces with normals m_i meet, a plane that is not reached is certain not to be: if n = sum l_i m_i
// with l_i >= 0, then for each point x of the solid n . x <= sum l_i m_i . v = n . v. If that
// fails, all vertices are measured.
//
// Planes often cut off one whole face, all of whose vertices have three edges: then these move
// along their third edges, and nothing else changes but the face's number.
// Tests: test_overlap.
#include "collide/clip/solid.h"

#include <float.h>
#include <string.h>

#include "math/vec.h"

// Up to so many vertices, measuring all is faster than climbing.
enum { SMALL_SOLID = 40 };
// The bound by three faces is as certain as their vertices lie in them, times this.
static const double LEAN = 16;

static void room(const abPolyhedron* body, int nclip, int* vert, int* edge) {
  int nface = body->nface + nclip;
  *vert = (body->nvert > 2 * nface ? body->nvert : 2 * nface) * 2 + 8;
  *edge = (body->nedge > 3 * nface ? body->nedge : 3 * nface) * 2 + 8;
}

static size_t padded(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

size_t ab_solid_bytes(const abPolyhedron* body, int nclip) {
  int vert, edge;
  room(body, nclip, &vert, &edge);
  size_t v = (size_t)vert, e = (size_t)edge;
  return padded(sizeof(abVec3) * v) + padded(sizeof(double) * v) + padded(sizeof(abHalf) * 2 * e) +
         padded(sizeof(int) * (4 * v + 4 * e));
}

static void load_vertices(abSolid* p) {
  const abPolyhedron* S = p->body;
  abVec3 c = S->centroid;
  for (int i = 0; i < S->nvert; i++) p->vert[i] = v3_sub(S->vert[i], c);
  p->nvert = S->nvert;
}

static void load_graph(abSolid* p) {
  const abPolyhedron* S = p->body;
  memcpy(p->half, ab_polyhedron_half(S), sizeof(abHalf) * 2 * (size_t)S->nedge);
  p->nhalf = 2 * S->nedge;
  p->large = S->nvert > SMALL_SOLID;
  if (!p->large) return;
  memcpy(p->leave, ab_polyhedron_vert_half(S), sizeof(int) * (size_t)S->nvert);
  memset(p->mark, 0, sizeof(int) * (size_t)p->vert_cap);
}

bool ab_solid_make(abSolid* p, const abPolyhedron* body, int nclip, const abClipPlane* clip,
                   abArena* arena) {
  char* at = ab_arena_take(arena, ab_solid_bytes(body, nclip));
  if (!at) return false;
  int edge;
  memset(p, 0, sizeof *p);
  p->body = body, p->clip = clip, p->nclip = nclip, p->nface = body->nface + nclip;
  room(body, nclip, &p->vert_cap, &edge);
  p->half_cap = 2 * edge;
  size_t v = (size_t)p->vert_cap, e = (size_t)edge;
  p->vert = (abVec3*)(void*)at, at += padded(sizeof(abVec3) * v);
  p->s = (double*)(void*)at, at += padded(sizeof(double) * v);
  p->half = (abHalf*)(void*)at, at += padded(sizeof(abHalf) * 2 * e);
  p->leave = (int*)(void*)at;
  p->mark = p->leave + v;
  p->free_vert = p->mark + v;
  p->gone_vert = p->free_vert + v;
  p->free_edge = p->gone_vert + v;
  p->gone_edge = p->free_edge + e;
  p->cross = p->gone_edge + e;
  load_vertices(p);
  load_graph(p);
  return true;
}

static inline double distance(const abPlane* plane, abVec3 x) {
  return v3_dot(plane->n, x) - plane->d;
}

// Where the edge from `in` to `out` (outside) meets the plane.
static inline abVec3 meet(const abSolid* p, int in, int out, double noise) {
  double si = p->s[in], so = p->s[out];
  abVec3 a = p->vert[in], b = p->vert[out];
  if (si >= -noise) return a;
  // from the nearer end, so that a vertex close to the plane hardly moves
  double t = 1 / (si - so);
  return -si <= so ? v3_lerp(a, b, si * t) : v3_lerp(b, a, -so * t);
}

static inline int end_of(const abSolid* p, int h) { return p->half[h ^ 1].from; }
// The half-edge that leaves the same vertex, on the right of h.
static inline int around(const abSolid* p, int h) { return p->half[h ^ 1].next; }

// --- a whole face goes ---

// Is the face on the left of `first` what lies outside, nout vertices with three edges each?
static bool is_outside(const abSolid* p, int first, int nout, double noise) {
  int n = 0, h = first;
  do {
    int third = around(p, h);
    if (!(p->s[p->half[h].from] > noise) || p->s[end_of(p, third)] > noise) return false;
    if (around(p, around(p, third)) != h || ++n > nout) return false;
    h = p->half[h].next;
  } while (h != first);
  return n == nout;
}

static bool cut_face(abSolid* p, double noise, int cap) {
  int nout = 0, any = 0;
  for (int v = 0; v < p->nvert; v++)
    if (p->s[v] > noise) nout++, any = v;
  int h = p->leave[any];
  for (int k = 0; k < 3; k++, h = around(p, h)) {
    if (!is_outside(p, h, nout, noise)) continue;
    int g = h;
    do {
      int v = p->half[g].from;
      p->vert[v] = meet(p, end_of(p, around(p, g)), v, noise);
      p->half[g].left = cap;
      g = p->half[g].next;
    } while (g != h);
    return true;
  }
  return false;
}

// --- any cut ---

static int new_vertex(abSolid* p, abVec3 x, int leave) {
  int v = p->nfree_vert ? p->free_vert[--p->nfree_vert] : p->nvert++;
  p->vert[v] = x;
  p->leave[v] = leave;
  p->s[v] = 0;
  return v;
}

static int new_edge(abSolid* p) {
  if (p->nfree_edge) return 2 * p->free_edge[--p->nfree_edge];
  int h = p->nhalf;
  p->nhalf += 2;
  return h;
}

// A new vertex where half-edge h leaves through the plane.
static inline int vertex_on(abSolid* p, int h, double noise) {
  return new_vertex(p, meet(p, p->half[h].from, end_of(p, h), noise), h ^ 1);
}

// Walks once around the cut, beginning with half-edge `start`.
static void walk(abSolid* p, int start, double noise, int cap) {
  int x = vertex_on(p, start, noise), x0 = x, h = start, last = -1, first = -1;
  do {
    int g = p->half[h].next, face = p->half[h].left;
    while (p->s[end_of(p, g)] > noise) g = p->half[g].next;
    int leaving = g ^ 1, y = leaving == start ? x0 : vertex_on(p, leaving, noise);
    int a = new_edge(p), b = a ^ 1;
    p->half[a] = (abHalf){x, g, face};
    p->half[b] = (abHalf){y, last, cap};
    p->half[h].next = a;
    p->half[g].from = y;
    if (first < 0) first = b;
    last = b, x = y, h = leaving;
  } while (h != start);
  p->half[first].next = last;
  p->recent[p->round % AB_SOLID_RECENT] = x0;
}

// What a cut removes.
typedef struct Loss {
  int nvert, nedge, ncross;
} Loss;

// Outside vertices that can be reached from v, and the half-edges that leave through the plane.
static Loss look_around(abSolid* p, const abClipPlane* clip, int v) {
  Loss k = {.nvert = 1};
  p->gone_vert[0] = v;
  p->mark[v] = p->round;
  for (int i = 0; i < k.nvert; i++) {
    int first = p->leave[p->gone_vert[i]], h = first;
    do {
      int w = end_of(p, h);
      if (p->mark[w] != p->round) {
        p->s[w] = distance(&clip->plane, p->vert[w]);
        if (p->s[w] > clip->noise) {
          p->gone_vert[k.nvert++] = w;
          p->mark[w] = p->round;
        } else {
          p->cross[k.ncross++] = h ^ 1;
        }
      }
      // an edge between two of them is met from both ends: counted once
      if (p->mark[w] == p->round && !(h & 1)) p->gone_edge[k.nedge++] = h >> 1;
      h = around(p, h);
    } while (h != first);
  }
  return k;
}

// The same where all vertices have been measured, by looking at every edge.
static Loss look_everywhere(abSolid* p, double noise) {
  Loss k = {0};
  for (int h = 0; h < p->nhalf; h += 2) {
    int u = p->half[h].from, w = p->half[h + 1].from;
    if (u < 0) continue;
    bool uo = p->s[u] > noise, wo = p->s[w] > noise;
    if (!uo && !wo) continue;
    if (uo && wo)
      p->gone_edge[k.nedge++] = h >> 1;
    else
      p->cross[k.ncross++] = h | uo;
  }
  for (int v = 0; v < p->nvert; v++) {
    p->gone_vert[k.nvert] = v;
    k.nvert += p->s[v] > noise;
  }
  return k;
}

static void bury(abSolid* p, Loss loss) {
  for (int i = 0; i < loss.nedge; i++) {
    int e = p->gone_edge[i];
    p->half[2 * e].from = -1;
    p->free_edge[p->nfree_edge++] = e;
  }
  for (int i = 0; i < loss.nvert; i++) {
    int v = p->gone_vert[i];
    p->vert[v] = v3(NAN, NAN, NAN);
    p->free_vert[p->nfree_vert++] = v;
  }
}

// Moves the living vertices and edges together, so that none is dead.
static void pack(abSolid* p) {
  int nvert = 0, nhalf = 0, *vert_map = p->gone_vert, *half_map = p->cross;
  for (int v = 0; v < p->nvert; v++)
    if (p->vert[v].x == p->vert[v].x) {
      vert_map[v] = nvert;
      p->vert[nvert++] = p->vert[v];
    }
  for (int h = 0; h < p->nhalf; h += 2)
    if (p->half[h].from >= 0) {
      half_map[h >> 1] = nhalf;
      p->half[nhalf++] = p->half[h];
      p->half[nhalf++] = p->half[h + 1];
    }
  for (int h = 0; h < nhalf; h++) {
    abHalf* a = &p->half[h];
    a->from = vert_map[a->from];
    a->next = half_map[a->next >> 1] | (a->next & 1);
  }
  p->nvert = nvert, p->nhalf = nhalf;
  p->nfree_vert = p->nfree_edge = 0;
}

static abCut cut_graph(abSolid* p, int i, Loss loss) {
  double noise = p->clip[i].noise;
  if (loss.ncross == 0) return AB_CUT_ALL;
  if (p->nvert + loss.ncross > p->vert_cap || p->nhalf + 2 * loss.ncross > p->half_cap)
    return AB_CUT_FULL;
  for (int k = 0; k < loss.ncross; k++) {
    int h = p->cross[k];
    if (p->s[end_of(p, h)] > noise) walk(p, h, noise, p->body->nface + i);
  }
  bury(p, loss);
  int living = p->nvert - p->nfree_vert;
  if (living <= SMALL_SOLID) p->large = false;
  if (!p->large && p->nvert > 16 && 2 * living < p->nvert) pack(p);
  return AB_CUT_SOME;
}

// --- looking for the vertex furthest out ---

// The vertex, uphill from one of the last, whose neighbours all lie lower.
static int climb(abSolid* p, const abPlane* plane) {
  int top = 0, last = -1;
  double most = -DBL_MAX;
  for (int k = 0; k < AB_SOLID_RECENT; k++) {
    double s = distance(plane, p->vert[p->recent[k]]);
    if (s > most) most = s, top = p->recent[k];
  }
  while (top != last) {
    last = top;
    int first = p->leave[last], h = first;
    do {
      int v = end_of(p, h);
      double s = distance(plane, p->vert[v]);
      if (s > most) most = s, top = v;
      h = around(p, h);
    } while (h != first);
  }
  p->s[top] = most;
  p->recent[p->round % AB_SOLID_RECENT] = top;
  return top;
}

static abVec3 normal(const abSolid* p, int h) {
  int f = p->half[h].left, n = p->body->nface;
  return f < n ? p->body->plane[f].n : p->clip[f - n].plane.n;
}

// Is the plane certain to be out of reach, judging from the three faces at the top?
static bool out_of_reach(const abSolid* p, const abClipPlane* clip, int top) {
  if (p->s[top] >= -clip->flush - 2 * LEAN * clip->noise) return false;
  int h = p->leave[top], h1 = around(p, h), h2 = around(p, h1);
  if (around(p, h2) != h) return false;
  abVec3 a = normal(p, h), b = normal(p, h1), c = normal(p, h2);
  abVec3 n = clip->plane.n, bc = v3_cross(b, c);
  double all = v3_dot(a, bc), sign = all < 0 ? -1 : 1;
  double x = sign * v3_dot(n, bc), y = sign * v3_dot(n, v3_cross(c, a)),
         z = sign * v3_dot(n, v3_cross(a, b));
  return x >= 0 && y >= 0 && z >= 0 && x + y + z <= LEAN * fabs(all);
}

typedef struct Look {
  double least, most;
} Look;

static Look measure_all(abSolid* p, const abPlane* plane) {
  Look l = {DBL_MAX, -DBL_MAX};
  for (int i = 0; i < p->nvert; i++) {
    double s = distance(plane, p->vert[i]);
    p->s[i] = s;
    l.least = s < l.least ? s : l.least;
    l.most = s > l.most ? s : l.most;
  }
  return l;
}

abCut ab_solid_cut(abSolid* p, int i) {
  const abClipPlane* clip = &p->clip[i];
  int cap = p->body->nface + i;
  // the first plane removes much
  if (++p->round > 1 && p->large) {
    int top = climb(p, &clip->plane);
    if (p->s[top] > clip->flush) return cut_graph(p, i, look_around(p, clip, top));
    if (out_of_reach(p, clip, top)) return AB_CUT_NOTHING;
  }
  Look l = measure_all(p, &clip->plane);
  abCut cut = ab_judge_cut(clip, l.least, l.most, &p->flush);
  if (cut != AB_CUT_SOME) return cut;
  if (p->large && cut_face(p, clip->noise, cap)) return AB_CUT_SOME;
  return cut_graph(p, i, look_everywhere(p, clip->noise));
}

bool ab_solid_touches(const abSolid* p, int face) {
  bool any = false;
  for (int h = 0; h < p->nhalf; h++) {
    if (p->half[h & ~1].from < 0 || p->half[h].left != face) continue;
    if (p->s[p->half[h].from] < -p->flush) return false;
    any = true;
  }
  return any;
}

void ab_solid_ranges(const abSolid* p, const abVec3 axis[3], double range[6]) {
  for (int i = 0; i < 3; i++) {
    double least = DBL_MAX, most = -DBL_MAX;
    for (int v = 0; v < p->nvert; v++) {
      double s = v3_dot(axis[i], p->vert[v]);
      least = s < least ? s : least;
      most = s > most ? s : most;
    }
    range[2 * i] = -least, range[2 * i + 1] = most;
  }
}
