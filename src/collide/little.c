// Cutting a little solid: no graph, only a list of edges.
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
// Rounding may cut a face more than once: then it has two doors, which the note shows, and the
// caller turns to solid.c, which can walk any cut.
#include "collide/little.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec.h"

// Vertices are measured so many at a time.
enum { LANES = 2 };

// Of a box as ab_polyhedron_box lists it: bit i of a face's mask says that vertex i is one of its
// corners, and the corner across from vertex i is i ^ ACROSS.
static const unsigned BOX_MASK[6] = {0x0f, 0x55, 0x33, 0xaa, 0xcc, 0xf0};
static const int BOX_ACROSS[6] = {4, 1, 2, 1, 2, 4};

bool ab_little_fits(const abPolyhedron* body, int nblade) {
  return body->nvert <= AB_LITTLE_VERT / 2 && body->nedge <= AB_LITTLE_EDGE / 2 &&
         body->nface + nblade <= AB_LITTLE_FACE;
}

void ab_little_make(abLittle* p, const abPolyhedron* body, int nblade) {
  p->nplace = ab_polyhedron_places(body);
  p->nedge = body->nedge, p->nface = body->nface + nblade;
  memcpy(p->vert, ab_polyhedron_points(body), sizeof(abQuad) * (size_t)p->nplace);
  memcpy(p->edge, ab_polyhedron_link(body), sizeof(abLink) * (size_t)p->nedge);
  memset(p->door, 0, sizeof(uint16_t) * (size_t)p->nface);
  p->alive = ((uint64_t)1 << body->nvert) - 1;
  p->round = 0;
  p->plain = ab_polyhedron_skin(body)->box;
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
static inline void measure(abLittle* p, const abBlade* blade, Look* look) {
  abPlane a = blade->plane;
  abQuad plane = quad(a.n.x, a.n.y, a.n.z, -a.d);
  abTwo noise = {blade->noise, blade->noise}, least = {DBL_MAX, DBL_MAX}, most = -least;
  abTwoMask bit = {1, 2}, out = {0};
  for (int i = 0; i < p->nplace; i += LANES) {
    abTwo s = distances(&p->vert[i], plane);
    memcpy(&p->s[i], &s, sizeof s);
    least = two_less(s, least);
    most = two_more(s, most);
    out |= (s > noise) & bit;
    bit <<= LANES;
  }
  look->least = least[0] < least[1] ? least[0] : least[1];
  look->most = most[0] > most[1] ? most[0] : most[1];
  look->out = (uint64_t)(out[0] | out[1]);
}

AB_WIDE void ab_little_ranges(const abLittle* p, const abVec3 axis[3], double range[6]) {
  for (int i = 0; i < 3; i++) {
    abQuad n = quad(axis[i].x, axis[i].y, axis[i].z, 0);
    abTwo least = {DBL_MAX, DBL_MAX}, most = -least;
    for (int v = 0; v < p->nplace; v += LANES) {
      abTwo s = distances(&p->vert[v], n);
      least = two_less(s, least);
      most = two_more(s, most);
    }
    range[2 * i] = least[0] < least[1] ? -least[0] : -least[1];
    range[2 * i + 1] = most[0] > most[1] ? most[0] : most[1];
  }
}

// Where the edge from `in` to `out` (outside) meets the plane: from the nearer end, so that a
// vertex close to the plane hardly moves, and at the inside end if that lies in it.
static inline void put_vertex(abLittle* p, int w, int in, int out, double noise) {
  double si = p->s[in], so = p->s[out];
  int a = -si <= so ? in : out, b = a ^ in ^ out;
  double t = p->s[a] / (p->s[a] - p->s[b]);
  if (si >= -noise) a = in, t = 0;
  p->vert[w] = quad_axpy(t, quad_sub(p->vert[b], p->vert[a]), p->vert[a]);
}

// Cuts off one side of a box, if that is what lies outside.
static inline bool cut_side(abLittle* p, uint64_t out, double noise, int cap) {
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
static inline int sort_edges(abLittle* p, uint64_t out, abLink* cross) {
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

// Adds what is left of the edges that cross, and the cap's edges.
static inline bool close_up(abLittle* p, uint64_t out, double noise, int ncross, abLink* cross,
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
    int w = __builtin_ctzll(empty), door = ab_link_left(e), back = ab_link_right(e);
    empty &= empty - 1;
    last = w;
    put_vertex(p, w, ab_link_from(e), ab_link_to(e), noise);
    p->edge[n++] = (e & ~(abLink)0xff00) | (abLink)w << 8;
    if (p->door[door] >= stamp) return false;
    p->door[door] = (uint16_t)(stamp | (unsigned)w);
    cross[k] = ab_link(0, w, back, cap);
  }
  for (int k = 0; k < ncross; k++) {
    int f = ab_link_left(cross[k]);
    unsigned door = p->door[f];
    if (door < stamp) return false;
    p->door[f] = 0;
    p->edge[n++] = cross[k] | (door & 255);
  }
  p->nedge = n;
  uint64_t gone = out;
  p->alive = ~empty & ~gone;
  while (p->nplace <= last) {
    p->nplace += LANES;
    gone |= ((uint64_t)3 << (p->nplace - LANES)) & empty;
  }
  abQuad none = quad_all(NAN);
  for (; gone; gone &= gone - 1) p->vert[__builtin_ctzll(gone)] = none;
  return true;
}

AB_WIDE abCut ab_little_cut(abLittle* p, const abBlade* blade, int cap) {
  Look l;
  measure(p, blade, &l);
  abCut cut = ab_judge_cut(blade, l.least, l.most, &p->flush);
  if (cut != AB_CUT_SOME) return cut;
  if (p->plain && cut_side(p, l.out, blade->noise, cap)) return AB_CUT_SOME;
  p->plain = false;
  abLink cross[AB_LITTLE_EDGE];
  int ncross = sort_edges(p, l.out, cross);
  if (p->round == 255 || !close_up(p, l.out, blade->noise, ncross, cross, cap)) return AB_CUT_FULL;
  return AB_CUT_SOME;
}

AB_WIDE void ab_little_bounds(const abLittle* p, abVec3* middle, abVec3* half) {
  abQuad least = quad_all(DBL_MAX), most = quad_all(-DBL_MAX);
  for (int i = 0; i < p->nplace; i++) {
    least = quad_less(p->vert[i], least);
    most = quad_more(p->vert[i], most);
  }
  *middle = quad_v3(quad_scale(0.5, quad_add(least, most)));
  *half = quad_v3(quad_scale(0.5, quad_sub(most, least)));
}

bool ab_little_touches(const abLittle* p, int face) {
  bool any = false;
  for (int k = 0; k < p->nedge; k++) {
    abLink e = p->edge[k];
    if (ab_link_left(e) != face && ab_link_right(e) != face) continue;
    if (p->s[ab_link_from(e)] < -p->flush || p->s[ab_link_to(e)] < -p->flush) return false;
    any = true;
  }
  return any;
}
