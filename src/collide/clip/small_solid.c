// Cutting a small solid: no graph, only a list of edges.
//
// An edge is four bytes: the vertices it joins and the faces on its left and right. A cut by the
// plane n . x <= d, with s = n . x - d of a vertex, goes once through the list: edges inside stay,
// those outside go, and of each that crosses the plane the part inside remains, with a new vertex
// at its end. Seen along the boundary of a face, one crossing leaves the solid's rest and one comes
// back: the door by which face f is left is noted, and from it to the place of its return runs the
// new edge of f, the other side of which is the cap's. So the surface stays closed by bookkeeping
// as in solid.c, and by the same reasoning.
//
// Of a box planes often cut off one whole side: then its four corners move along the edges that
// lead away from it, and nothing else changes but the side's number.
//
// The first plane mostly leaves little of a body. So it is cut as a whole: its vertices are
// measured, and only those inside with the edges at them become the solid, packed.
//
// Rounding may cut a face more than once: then it has two doors, which the note shows, and the
// caller turns to solid.c, which can walk any cut.
// Tests: test_overlap.
#include "collide/clip/small_solid.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec.h"

// Vertices are measured so many at a time.
enum { SOLID_LANES = 2 };

// Of a box as ab_polyhedron_box lists it: bit i of a face's mask says that vertex i is one of its
// corners, and the corner across from vertex i is i ^ ACROSS.
static const unsigned BOX_MASK[6] = {0x0f, 0x55, 0x33, 0xaa, 0xcc, 0xf0};
static const int BOX_ACROSS[6] = {4, 1, 2, 1, 2, 4};

bool ab_small_solid_fits(const abPolyhedron* body, int nclip) {
  return body->nvert <= AB_LITTLE_VERT / 2 && body->nedge <= AB_LITTLE_EDGE / 2 &&
         body->nface + nclip <= AB_LITTLE_FACE;
}

void ab_small_solid_make(abSmallSolid* p, const abPolyhedron* body, int nclip) {
  p->nplace = ab_polyhedron_places(body);
  p->nedge = body->nedge, p->nface = body->nface + nclip;
  memcpy(p->vert, ab_polyhedron_points(body), sizeof(abQuad) * (size_t)p->nplace);
  memcpy(p->edge, ab_polyhedron_link(body), sizeof(abLink) * (size_t)p->nedge);
  memset(p->door, 0, sizeof(uint16_t) * (size_t)p->nface);
  p->alive = ((uint64_t)1 << body->nvert) - 1;
  p->round = 0;
  p->plain = ab_polyhedron_skin(body)->boxlike;
  for (int f = 0; f < 6; f++) p->slot[f] = f;
}

typedef struct Look {
  double least, most;
  uint64_t out;
} Look;

// The products of two vertices with a plane (nx, ny, nz, -d).
static inline abTwo distances(const abQuad* v, abQuad plane) {
  abTwo a = v[0].xy * plane.xy + v[0].zw * plane.zw, b = v[1].xy * plane.xy + v[1].zw * plane.zw;
  return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
}

// Distances of all vertices; empty places lose every comparison.
static inline void measure(abSmallSolid* p, const abClipPlane* clip, Look* look) {
  abPlane a = clip->plane;
  abQuad plane = quad(a.n.x, a.n.y, a.n.z, -a.d);
  abTwo noise = {clip->noise, clip->noise}, least = {DBL_MAX, DBL_MAX}, most = -least;
  abTwoMask bit = {1, 2}, out = {0};
  for (int i = 0; i < p->nplace; i += SOLID_LANES) {
    abTwo s = distances(&p->vert[i], plane);
    memcpy(&p->s[i], &s, sizeof s);
    least = two_less(s, least);
    most = two_more(s, most);
    out |= (s > noise) & bit;
    bit <<= SOLID_LANES;
  }
  look->least = least[0] < least[1] ? least[0] : least[1];
  look->most = most[0] > most[1] ? most[0] : most[1];
  look->out = (uint64_t)(out[0] | out[1]);
}

// The three axes in three lanes.
AB_SIMD void ab_small_solid_ranges(const abSmallSolid* p, const abVec3 axis[3], double range[6]) {
  abFour x = {axis[0].x, axis[1].x, axis[2].x, 0}, y = {axis[0].y, axis[1].y, axis[2].y, 0},
         z = {axis[0].z, axis[1].z, axis[2].z, 0};
  abFour least = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX}, most = -least;
  for (int v = 0; v < p->nplace; v++) {
    abTwo xy = p->vert[v].xy;
    abFour s = xy[0] * x + xy[1] * y + p->vert[v].zw[0] * z;
    least = AB_FOUR_LESS(s, least);
    most = AB_FOUR_MORE(s, most);
  }
  for (int i = 0; i < 3; i++) range[2 * i] = -least[i], range[2 * i + 1] = most[i];
}

// Vertex i of a list of x, y, z, 1.
static inline abQuad load(const double* vert, int i) {
  abQuad v;
  memcpy(&v, vert + 4 * i, sizeof v);
  return v;
}

// Where the edge from `in` to `out` (outside) meets the plane, given vertices and their distances:
// from the nearer end, so that a vertex close to the plane hardly moves, and at the inside end if
// that lies in it.
static inline abQuad meet(const double* vert, const double* s, int in, int out, double noise) {
  double si = s[in], so = s[out];
  int a = -si <= so ? in : out, b = a ^ in ^ out;
  double t = s[a] / (s[a] - s[b]);
  if (si >= -noise) a = in, t = 0;
  abQuad from = load(vert, a), to = load(vert, b);
  return quad_axpy(t, quad_sub(to, from), from);
}

static inline void put_vertex(abSmallSolid* p, int w, int in, int out, double noise) {
  p->vert[w] = meet((const double*)p->vert, p->s, in, out, noise);
}

// Cuts off one side of a box, if that is what lies outside.
static inline bool cut_side(abSmallSolid* p, uint64_t out, double noise, int cap) {
  int f = 0;
  while (f < 6 && out != BOX_MASK[f]) f++;
  if (f == 6) return false;
  for (; out; out &= out - 1) {
    int v = __builtin_ctzll(out);
    put_vertex(p, v, v ^ BOX_ACROSS[f], v, noise);
  }
  for (int k = 0; k < 12; k++) {
    abLink e = p->edge[k];
    if (ab_link_left(e) == p->slot[f])
      p->edge[k] = (e & ~((abLink)255 << 16)) | (abLink)cap << 16;
    else if (ab_link_right(e) == p->slot[f])
      p->edge[k] = (e & ~((abLink)255 << 24)) | (abLink)cap << 24;
  }
  p->slot[f] = cap;
  return true;
}

// Keeps the edges inside and lists those that cross. Returns their number.
static inline int sort_edges(abSmallSolid* p, uint64_t out, abLink* cross) {
  int kept = 0, ncross = 0;
  for (int k = 0; k < p->nedge; k++) {
    abLink e = p->edge[k];
    int a = (int)(out >> (e & 63) & 1), b = (int)(out >> (e >> 8 & 63) & 1);
    p->edge[kept] = cross[ncross] = e;
    kept += 1 - (a | b);
    ncross += a ^ b;
  }
  p->nedge = kept;
  return ncross;
}

// The edge `part` that leaves by new vertex w ends there, and its face on the left has this door;
// `cap_edge`: the cap's edge at w, but for the vertex it comes from. False: a second door.
static inline bool leave_by(abSmallSolid* p, abLink e, int w, int n, unsigned stamp, int cap,
                            abLink* cap_edge) {
  int door = ab_link_left(e), back = ab_link_right(e);
  p->edge[n] = (e & ~(abLink)0xff00) | (abLink)w << 8;
  if (p->door[door] >= stamp) return false;
  p->door[door] = (uint16_t)(stamp | (unsigned)w);
  *cap_edge = ab_link(0, w, back, cap);
  return true;
}

// Adds the cap's edges, each from the door of the face on its other side.
static inline bool close_cap(abSmallSolid* p, unsigned stamp, int ncross, const abLink* cap_edge) {
  for (int k = 0; k < ncross; k++) {
    int f = ab_link_left(cap_edge[k]);
    unsigned door = p->door[f];
    if (door < stamp) return false;
    p->door[f] = 0;
    p->edge[p->nedge++] = cap_edge[k] | (door & 255);
  }
  return true;
}

// Adds what is left of the edges that cross, and the cap's edges.
static inline bool close_up(abSmallSolid* p, uint64_t out, double noise, int ncross, abLink* cross,
                            int cap) {
  int n = p->nedge, last = 0;
  if (n + 2 * ncross > AB_LITTLE_EDGE || __builtin_popcountll(~p->alive) < ncross) return false;
  unsigned stamp = (unsigned)++p->round << 8;
  uint64_t empty = ~p->alive;
  for (int k = 0; k < ncross; k++) {
    abLink e = cross[k];
    // run through so that it leaves; which way it is listed is a matter of chance, hence no branch
    abLink turned = (e >> 8 & 0xff00ff) | (e & 0xff00ff) << 8;
    e = out >> (e & 63) & 1 ? turned : e;
    int w = __builtin_ctzll(empty);
    empty &= empty - 1;
    last = w;
    put_vertex(p, w, ab_link_from(e), ab_link_to(e), noise);
    if (!leave_by(p, e, w, n++, stamp, cap, &cross[k])) return false;
  }
  p->nedge = n;
  if (!close_cap(p, stamp, ncross, cross)) return false;
  uint64_t gone = out;
  p->alive = ~empty & ~gone;
  while (p->nplace <= last) {
    p->nplace += SOLID_LANES;
    gone |= ((uint64_t)3 << (p->nplace - SOLID_LANES)) & empty;
  }
  abQuad none = quad_all(NAN);
  for (; gone; gone &= gone - 1) p->vert[__builtin_ctzll(gone)] = none;
  return true;
}

AB_SIMD abCut ab_small_solid_cut(abSmallSolid* p, const abClipPlane* clip, int cap) {
  Look l;
  measure(p, clip, &l);
  abCut cut = ab_judge_cut(clip, l.least, l.most, &p->flush);
  if (cut != AB_CUT_SOME) return cut;
  if (p->plain && cut_side(p, l.out, clip->noise, cap)) return AB_CUT_SOME;
  p->plain = false;
  abLink cross[AB_LITTLE_EDGE];
  int ncross = sort_edges(p, l.out, cross);
  if (p->round == 255 || !close_up(p, l.out, clip->noise, ncross, cross, cap)) return AB_CUT_FULL;
  return AB_CUT_SOME;
}

// --- the first cut ---

// A body before it is cut: distances of its vertices, and which of them are outside.
typedef struct Body {
  double s[AB_LITTLE_BODY];
  uint64_t out[AB_LITTLE_BODY / 64];
  uint8_t place[AB_LITTLE_BODY];  // of the vertices inside, in the solid
} Body;

static inline void measure_body(Body* b, const abPolyhedron* body, const abClipPlane* clip,
                                Look* l) {
  int n = ab_polyhedron_lanes(body->nvert);
  const double *x = ab_polyhedron_vert_lanes(body), *y = x + n, *z = y + n;
  abVec3 a = clip->plane.n;
  abFour least = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX}, most = -least;
  for (int k = 0; k < n; k += 64) {
    abFourMask bit = {1, 2, 4, 8}, out = {0};
    for (int i = k; i < n && i < k + 64; i += 4, bit <<= 4) {
      abFour px, py, pz;
      memcpy(&px, x + i, sizeof px), memcpy(&py, y + i, sizeof py), memcpy(&pz, z + i, sizeof pz);
      abFour s = a.x * px + a.y * py + a.z * pz - clip->plane.d;
      memcpy(b->s + i, &s, sizeof s);
      least = AB_FOUR_LESS(s, least);
      most = AB_FOUR_MORE(s, most);
      out |= (s > clip->noise) & bit;
    }
    b->out[k / 64] = (uint64_t)(out[0] | out[1] | out[2] | out[3]);
  }
  l->least = AB_FOUR_LEAST(least), l->most = AB_FOUR_MOST(most);
}

// The vertices inside, packed; lists them. Returns their number, 0 if there are too many.
static inline int take_inside(abSmallSolid* p, Body* b, const abPolyhedron* body, uint8_t* inside) {
  const double* point = ab_polyhedron_points(body);
  int n = 0;
  for (int k = 0; k < body->nvert; k += 64) {
    int rest = body->nvert - k;
    uint64_t in = ~b->out[k / 64] & (rest < 64 ? ((uint64_t)1 << rest) - 1 : ~(uint64_t)0);
    if (n + __builtin_popcountll(in) > AB_LITTLE_VERT / 2) return 0;
    for (; in; in &= in - 1) {
      int v = k + __builtin_ctzll(in);
      b->place[v] = (uint8_t)n;
      p->vert[n] = load(point, v);
      inside[n++] = (uint8_t)v;
    }
  }
  return n;
}

// The edges between them, and those that leave by the plane, still with the body's numbers. Returns
// the number of these.
static inline int take_edges(abSmallSolid* p, const Body* b, const abPolyhedron* body, int nin,
                             const uint8_t* inside, abLink* cross) {
  const abLink* star = ab_polyhedron_star(body);
  const int* start = ab_polyhedron_star_start(body);
  int ncross = 0, kept = 0;
  for (int i = 0; i < nin; i++) {
    int v = inside[i], end = start[v + 1];
    if (kept + ncross + end - start[v] > AB_LITTLE_EDGE) return 0;
    for (int k = start[v]; k < end; k++) {
      abLink e = star[k];
      int w = ab_link_to(e), out = (int)(b->out[w >> 6] >> (w & 63) & 1);
      p->edge[kept] = (e & ~(abLink)0xffff) | (abLink)i | (abLink)b->place[w] << 8;
      cross[ncross] = e;
      kept += (1 - out) & (v < w);
      ncross += out;
    }
  }
  p->nedge = kept;
  return ncross;
}

AB_SIMD bool ab_small_solid_start(abSmallSolid* p, const abPolyhedron* body, int nclip,
                                  const abClipPlane* clip, int cap) {
  if (body->nvert > AB_LITTLE_BODY || body->nface + nclip > AB_LITTLE_FACE) return false;
  Body b;
  Look l;
  measure_body(&b, body, clip, &l);
  if (ab_judge_cut(clip, l.least, l.most, &p->flush) != AB_CUT_SOME) return false;
  uint8_t inside[AB_LITTLE_VERT];
  abLink cross[AB_LITTLE_EDGE];
  int nin = take_inside(p, &b, body, inside);
  int ncross = nin ? take_edges(p, &b, body, nin, inside, cross) : 0;
  if (ncross == 0 || nin + ncross > AB_LITTLE_VERT || p->nedge + 2 * ncross > AB_LITTLE_EDGE)
    return false;
  p->nface = body->nface + nclip;
  memset(p->door, 0, sizeof(uint16_t) * (size_t)p->nface);
  p->round = 1;
  p->plain = false;
  unsigned stamp = 1u << 8;
  const double* point = ab_polyhedron_points(body);
  for (int k = 0; k < ncross; k++) {
    abLink e = cross[k];
    int from = ab_link_from(e), w = nin + k;
    p->vert[w] = meet(point, b.s, from, ab_link_to(e), clip->noise);
    e = (e & ~(abLink)0xff) | b.place[from];
    if (!leave_by(p, e, w, p->nedge++, stamp, cap, &cross[k])) return false;
  }
  if (!close_cap(p, stamp, ncross, cross)) return false;
  int n = nin + ncross;
  if (n & 1) p->vert[n] = quad_all(NAN);
  p->nplace = (n + 1) & ~1;
  p->alive = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
  return true;
}

AB_SIMD void ab_small_solid_bounds(const abSmallSolid* p, abVec3* middle, abVec3* half) {
  abQuad least = quad_all(DBL_MAX), most = quad_all(-DBL_MAX);
  for (int i = 0; i < p->nplace; i++) {
    least = quad_less(p->vert[i], least);
    most = quad_more(p->vert[i], most);
  }
  *middle = quad_v3(quad_scale(0.5, quad_add(least, most)));
  *half = quad_v3(quad_scale(0.5, quad_sub(most, least)));
}

bool ab_small_solid_touches(const abSmallSolid* p, int face) {
  bool any = false;
  for (int k = 0; k < p->nedge; k++) {
    abLink e = p->edge[k];
    if (ab_link_left(e) != face && ab_link_right(e) != face) continue;
    if (p->s[ab_link_from(e)] < -p->flush || p->s[ab_link_to(e)] < -p->flush) return false;
    any = true;
  }
  return any;
}
