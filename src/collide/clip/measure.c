// Volume, centroid and face areas of what the cutting has left. With o a point near it, r_f a
// vertex of face f, (p, q) the edges of a face and c = (p - o) x (q - o),
//
//   area vector  a_f = 1/2 sum c,   volume  V = 1/3 sum_f (r_f - o) . a_f,
//   24 V (centroid - o) = sum_f sum_edges [(r_f - o) . c] (r_f + p + q - 3 o).
//
// An edge belongs to two faces, l and r, which see it with opposite c but the same p + q: both
// together add [(r_l - r_r) . c] (p + q - 2 o), and what is left of the last sum is
// sum_f [(r_f - o) . 2 a_f] (r_f - o). So an edge is worked on once, and a face once.
// Tests: test_overlap.
#include <string.h>

#include "collide/clip/overlap.h"
#include "math/vec.h"

// --- the surface ---

static inline void set_face(const abOverlapWork* w, int f, abOverlapFace* face) {
  int n = w->S.poly->nface;
  if (f >= n) {
    face->normal = w->clip[f - n].plane.n;
    face->owner = w->L.owner;
    face->source = f - n;
    return;
  }
  face->normal = w->S.poly->plane[f].n;
  face->owner = w->S.owner;
  face->source = f;
  if (w->partner[f] < 0) return;
  if (face->owner == AB_OWNER_B) face->source = w->partner[f];
  face->owner = AB_OWNER_BOTH;
}

// The arrays of the overlap while they are filled, and scratch.
typedef struct Surface {
  const abOverlapWork* work;
  abOverlap* out;
  abVec3* vert;
  int (*edge)[4];
  abOverlapFace* face;
  // scratch
  abQuad* relative;  // vertices from the origin of the integrals
  abQuad* corner;    // of each face: one of them
  abQuad* twice;     // of each face: twice its area vector
  int* map;          // the new number of each vertex
  int* face_map;     // a vertex of each face, -1 where the face is gone; then its new number
} Surface;

static bool make_room(Surface* s, abArena* arena) {
  const abOverlapWork* w = s->work;
  size_t nface = (size_t)(w->S.poly->nface + w->nclip), nvert, nedge;
  if (w->is_small)
    nvert = AB_LITTLE_VERT, nedge = (size_t)w->little.nedge;
  else
    nvert = (size_t)w->solid.nvert, nedge = (size_t)w->solid.nhalf / 2;
  char* at = ab_arena_take(arena, sizeof(abQuad) * (nvert + 2 * nface) + sizeof(abVec3) * nvert +
                                      sizeof(abOverlapFace) * nface + sizeof(int[4]) * nedge +
                                      sizeof(int) * (nvert + nface));
  if (!at) return false;
  s->relative = (abQuad*)(void*)at;
  s->corner = s->relative + nvert;
  s->twice = s->corner + nface;
  s->vert = (abVec3*)(void*)(s->twice + nface);
  s->face = (abOverlapFace*)(void*)(s->vert + nvert);
  s->edge = (int(*)[4])(void*)(s->face + nface);
  s->map = (int*)(s->edge + nedge);
  s->face_map = s->map + nvert;
  return true;
}

// Living vertices, renumbered without gaps, and edges, still with the old numbers of the faces.
static void gather_solid(Surface* s) {
  const abSolid* p = &s->work->solid;
  int nvert = 0, nedge = 0;
  for (int v = 0; v < p->nvert; v++) {
    s->map[v] = nvert;
    s->relative[nvert] = quad(p->vert[v].x, p->vert[v].y, p->vert[v].z, 1);
    nvert += p->vert[v].x == p->vert[v].x;
  }
  for (int h = 0; h < p->nhalf; h += 2) {
    const abHalf* a = &p->half[h];
    if (a->from < 0) continue;
    int* e = s->edge[nedge++];
    e[0] = s->map[a[0].from], e[1] = s->map[a[1].from], e[2] = a[0].left, e[3] = a[1].left;
  }
  s->out->nvert = nvert, s->out->nedge = nedge;
}

// Face f of both bodies is the next of the overlap; v is a vertex of it.
static inline void add_face(Surface* s, int f, int v) {
  int n = s->out->nface++;
  set_face(s->work, f, &s->face[n]);
  s->face[n].vert = v;
  s->face_map[f] = n;
}

// Of a small solid the edges are left to add_edges.
static inline void gather_small(Surface* s) {
  const abSmallSolid* p = &s->work->little;
  int nvert = 0, *map = s->map;
  for (uint64_t left = p->alive; left; left &= left - 1) {
    int v = __builtin_ctzll(left);
    abFour r;
    map[v] = nvert;
    memcpy(&r, &p->vert[v], sizeof r);
    memcpy(&s->relative[nvert++], &r, sizeof r);
  }
  s->out->nvert = nvert, s->out->nedge = p->nedge;
  // a vertex of each face, counted from 1: eight faces are looked at at once
  uint8_t vert_of[AB_LITTLE_FACE];
  memset(vert_of, 0, (size_t)((p->nface + 7) & ~7));
  for (int k = 0; k < p->nedge; k++) {
    abLink link = p->edge[k];
    vert_of[ab_link_left(link)] = vert_of[ab_link_right(link)] = (uint8_t)(ab_link_from(link) + 1);
  }
  for (int i = 0; i < p->nface; i += 8) {
    uint64_t eight;
    memcpy(&eight, vert_of + i, sizeof eight);
    while (eight) {
      int k = __builtin_ctzll(eight) / 8;
      add_face(s, i + k, map[vert_of[i + k] - 1]);
      eight &= ~((uint64_t)255 << 8 * k);
    }
  }
}

// A plain box keeps vertices and edges of its body, and has six faces.
static inline void gather_plain(Surface* s) {
  const abSmallSolid* p = &s->work->little;
  const abPolyhedron* body = s->work->S.poly;
  for (int v = 0; v < 8; v++) s->relative[v] = p->vert[v];
  for (int f = 0; f < 6; f++) {
    set_face(s->work, p->slot[f], &s->face[f]);
    s->face[f].vert = body->loop[4 * f];
  }
  s->out->nvert = 8, s->out->nedge = 12, s->out->nface = 6;
  s->edge = (int(*)[4])body->edge;
}

static inline void gather_faces(Surface* s) {
  int all = s->work->S.poly->nface + s->work->nclip, *map = s->face_map;
  for (int f = 0; f < all; f++) map[f] = -1;
  for (int i = 0; i < s->out->nedge; i++) {
    const int* e = s->edge[i];
    map[e[2]] = map[e[3]] = e[0];
  }
  for (int f = 0; f < all; f++)
    if (map[f] >= 0) add_face(s, f, map[f]);
}

// --- its integrals ---

// Four numbers are written and read as one: what is written in halves and read as a whole soon
// after has to wait.

// The vertices as they are to be returned, and from their mean, which is the origin from here on.
static inline void subtract_mean(Surface* s, abQuad* mean) {
  abFour sum = {0}, r;
  abQuad* relative = s->relative;
  int n = s->out->nvert;
  for (int i = 0; i < n; i++) {
    memcpy(&r, &relative[i], sizeof r);
    sum += r;
  }
  sum *= 1.0 / n;
  sum[3] = 1;
  for (int i = 0; i < n; i++) {
    memcpy(&r, &relative[i], sizeof r);
    s->vert[i] = v3(r[0], r[1], r[2]);
    r -= sum;
    memcpy(&relative[i], &r, sizeof r);
  }
  memcpy(mean, &sum, sizeof sum);
}

// A corner of each face, and sums that begin with nothing.
static inline void begin_faces(Surface* s) {
  abFour none = {0}, r;
  for (int f = 0; f < s->out->nface; f++) {
    memcpy(&r, &s->relative[s->face[f].vert], sizeof r);
    memcpy(&s->corner[f], &r, sizeof r);
    memcpy(&s->twice[f], &none, sizeof none);
  }
}

// Where the surface comes from: a box with its own edges, another small solid, or a large one.
typedef enum Form { FORM_PLAIN, FORM_LITTLE, FORM_LARGE } Form;

// The numbers of the overlap for those of the solid.
typedef struct Numbers {
  const int *vert, *face;
  const abLink* link;
} Numbers;

static inline void number_edge(const Numbers* to, Form form, int i, int* e) {
  if (form == FORM_LARGE) e[2] = to->face[e[2]], e[3] = to->face[e[3]];
  if (form != FORM_LITTLE) return;
  abLink link = to->link[i];
  e[0] = to->vert[ab_link_from(link)], e[1] = to->vert[ab_link_to(link)];
  e[2] = to->face[ab_link_left(link)], e[3] = to->face[ab_link_right(link)];
}

// Twice the area vectors, and the edges' part of the moment.
static inline void add_edges(Surface* s, Form form, abQuad* moment) {
  abFour sum = {0};
  abQuad* twice = s->twice;
  const abQuad *vert = s->relative, *corner = s->corner;
  const Numbers numbers = {s->map, s->face_map, s->work->little.edge};
  int n = s->out->nedge, (*edge)[4] = s->edge;
  for (int i = 0; i < n; i++) {
    int* e = edge[i];
    number_edge(&numbers, form, i, e);
    int l = e[2], r = e[3];
    abFour a, b, c, p, q, to_l, to_r;
    memcpy(&a, &vert[e[0]], sizeof a), memcpy(&b, &vert[e[1]], sizeof b);
    memcpy(&p, &corner[l], sizeof p), memcpy(&q, &corner[r], sizeof q);
    c = AB_FOUR_CROSS(a, b);
    memcpy(&to_l, &twice[l], sizeof to_l);
    to_l += c;
    memcpy(&twice[l], &to_l, sizeof to_l);
    memcpy(&to_r, &twice[r], sizeof to_r);
    to_r -= c;
    memcpy(&twice[r], &to_r, sizeof to_r);
    p = (p - q) * c;
    sum += (p[0] + p[1] + p[2]) * (a + b);
  }
  memcpy(moment, &sum, sizeof sum);
}

// Areas, and the faces' part of the moment. Returns 6 V.
static inline double add_faces(Surface* s, abQuad* moment) {
  double volume = 0, area[4] = {0};
  abQuad sum = *moment;
  for (int i = 0; i < s->out->nface; i++) {
    abOverlapFace* f = &s->face[i];
    abQuad r = s->corner[i];
    double w = quad_dot3(r, s->twice[i]);
    volume += w;
    sum = quad_axpy(w, r, sum);
    f->vector = quad_v3(quad_scale(0.5, s->twice[i]));
    f->area = v3_dot(f->vector, f->normal);
    area[f->owner] += f->area;
  }
  *moment = sum;
  area[0] = area[AB_OWNER_A] + area[AB_OWNER_B] + area[AB_OWNER_BOTH];
  memcpy(s->out->area, area, sizeof area);
  return volume;
}

// The origin, the moment about it and V.
typedef struct Sums {
  abQuad origin, moment;
  double volume;
} Sums;

AB_SIMD AB_FLATTEN static void integrate(Surface* s, Sums* sums) {
  bool little = s->work->is_small, plain = little && s->work->little.plain;
  if (plain)
    gather_plain(s);
  else if (little)
    gather_small(s);
  else
    gather_faces(s);
  subtract_mean(s, &sums->origin);
  begin_faces(s);
  if (plain)
    add_edges(s, FORM_PLAIN, &sums->moment);
  else if (little)
    add_edges(s, FORM_LITTLE, &sums->moment);
  else
    add_edges(s, FORM_LARGE, &sums->moment);
  sums->volume = add_faces(s, &sums->moment) / 6;
}

// A tetrahedron, which most contacts of a corner or of two edges are: its faces have the products
// of its edges as area vectors, and its centroid is the mean of its corners. Its first edge runs
// from v0 to v1, v2 is the third corner of the face on the left of it; seen from outside they go
// around counter-clockwise, and v3 lies behind.
AB_SIMD static void integrate_tetrahedron(Surface* s, Sums* sums) {
  const abSmallSolid* p = &s->work->little;
  abQuad vert[4], mean = quad_all(0);
  int *map = s->map, *face_map = s->face_map, n = 0, nface = 0;
  unsigned corners[4];  // of each face, as bits
  for (uint64_t left = p->alive; left; left &= left - 1) {
    int v = __builtin_ctzll(left);
    map[v] = n;
    vert[n++] = p->vert[v];
    mean = quad_add(mean, p->vert[v]);
  }
  for (int f = 0; f < p->nface; f++) face_map[f] = -1;
  for (int k = 0; k < 6; k++) {
    abLink link = p->edge[k];
    int from = map[ab_link_from(link)], to = map[ab_link_to(link)];
    int side[2] = {ab_link_left(link), ab_link_right(link)};
    for (int i = 0; i < 2; i++) {
      int f = side[i];
      if (face_map[f] < 0) {
        set_face(s->work, f, &s->face[nface]);
        corners[nface] = 0;
        face_map[f] = nface++;
      }
      side[i] = face_map[f];
      corners[side[i]] |= 1u << from | 1u << to;
    }
    int* e = s->edge[k];
    e[0] = from, e[1] = to, e[2] = side[0], e[3] = side[1];
  }
  const int* e = s->edge[0];
  int v0 = e[0], v1 = e[1], last = __builtin_ctz(~corners[e[2]]), v2 = 6 - v0 - v1 - last;
  abQuad a = quad_sub(vert[v1], vert[v0]), b = quad_sub(vert[v2], vert[v0]),
         c = quad_sub(vert[last], vert[v0]);
  abQuad ab = quad_cross(a, b), bc = quad_cross(b, c), ca = quad_cross(c, a);
  abQuad across[4];  // twice the area vector of the face across from each corner
  across[v0] = quad_scale(-1, quad_add(ab, quad_add(bc, ca)));
  across[v1] = bc, across[v2] = ca, across[last] = ab;
  double area[4] = {0};
  for (int i = 0; i < 4; i++) {
    abOverlapFace* f = &s->face[i];
    f->vert = __builtin_ctz(corners[i]);
    f->vector = quad_v3(quad_scale(0.5, across[__builtin_ctz(~corners[i])]));
    f->area = v3_dot(f->vector, f->normal);
    area[f->owner] += f->area;
    s->vert[i] = quad_v3(vert[i]);
  }
  area[0] = area[AB_OWNER_A] + area[AB_OWNER_B] + area[AB_OWNER_BOTH];
  memcpy(s->out->area, area, sizeof area);
  s->out->nvert = 4, s->out->nedge = 6, s->out->nface = 4;
  sums->origin = quad_scale(0.25, mean);
  sums->moment = quad_all(0);
  sums->volume = quad_dot3(a, bc) / -6;
}

// So many times the noise thick, an overlap has its centroid inside of its bounds.
static const double THICK = 1e6;

static inline double clamp(double x, double middle, double half) {
  return x < middle - half ? middle - half : x > middle + half ? middle + half : x;
}

static void keep_inside(abOverlap* out) {
  abBounds b = ab_bounds_of(out->nvert, out->vert);
  abVec3 c = out->centroid, m = b.middle, h = b.half;
  out->centroid = v3(clamp(c.x, m.x, h.x), clamp(c.y, m.y, h.y), clamp(c.z, m.z, h.z));
}

// Is what is left thicker than the noise?
static bool is_thick(const abOverlapWork* w, double volume, double area) {
  // A plate of thickness t has V = t * surface / 2. No body has more volume than a ball of its
  // surface, 36 pi V^2 <= A^3: a needle of rounding has.
  return volume > 0.5 * w->noise * area && 113 * volume * volume <= area * area * area;
}

abStatus ab_overlap_measure(const abOverlapWork* w, abArena* arena, abOverlap* out) {
  Surface s = {.work = w, .out = out};
  if (!make_room(&s, arena)) return AB_ERROR_MEMORY;
  if (!w->is_small) gather_solid(&s);
  Sums sums;
  if (w->is_small && w->little.nedge == 6)
    integrate_tetrahedron(&s, &sums);
  else
    integrate(&s, &sums);
  out->vert = s.vert, out->edge = (const int(*)[4])s.edge, out->face = s.face;
  out->volume = sums.volume;
  out->contact = is_thick(w, sums.volume, out->area[0]);
  if (!out->contact) return AB_OK;
  out->centroid = quad_v3(quad_axpy(1 / (24 * sums.volume), sums.moment, sums.origin));
  // An average of the vertices: where little more than rounding is left, that must not throw it out
  // of their bounds.
  if (sums.volume < THICK * w->noise * out->area[0]) keep_inside(out);
  return AB_OK;
}
