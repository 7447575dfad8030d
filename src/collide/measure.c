// Volume, centroid and face areas of what the cutting has left. With o a point near it, r_f a
// vertex of face f, (p, q) the edges of a face and c = (p - o) x (q - o),
//
//   area vector  a_f = 1/2 sum c,   volume  V = 1/3 sum_f (r_f - o) . a_f,
//   24 V (centroid - o) = sum_f sum_edges [(r_f - o) . c] (r_f + p + q - 3 o).
//
// An edge belongs to two faces, l and r, which see it with opposite c but the same p + q: both
// together add [(r_l - r_r) . c] (p + q - 2 o), and what is left of the last sum is
// sum_f [(r_f - o) . 2 a_f] (r_f - o). So an edge is worked on once, and a face once.
#include <string.h>

#include "base/wide.h"
#include "collide/overlap_work.h"
#include "math/vec.h"

// --- the surface ---

static inline void set_face(const abOverlapWork* w, int f, abOverlapFace* face) {
  int n = w->S.poly->nface;
  if (f >= n) {
    face->normal = w->blade[f - n].plane.n;
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
  size_t nface = (size_t)(w->S.poly->nface + w->nblade), nvert, nedge;
  if (w->is_little)
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
    s->relative[nvert] = (abQuad){p->vert[v].x, p->vert[v].y, p->vert[v].z, 1};
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

static inline void gather_little(Surface* s) {
  const abLittle* p = &s->work->little;
  int nvert = 0, *map = s->map, (*edge)[4] = s->edge;
  for (uint64_t left = p->alive; left; left &= left - 1) {
    int v = __builtin_ctzll(left);
    map[v] = nvert;
    s->relative[nvert++] = p->vert[v];
  }
  for (int k = 0; k < p->nedge; k++) {
    abLink link = p->edge[k];
    edge[k][0] = map[ab_link_from(link)], edge[k][1] = map[ab_link_to(link)];
    edge[k][2] = ab_link_left(link), edge[k][3] = ab_link_right(link);
  }
  s->out->nvert = nvert, s->out->nedge = p->nedge;
}

static inline void gather_faces(Surface* s) {
  const abOverlapWork* w = s->work;
  int all = w->S.poly->nface + w->nblade, nface = 0, *map = s->face_map;
  for (int f = 0; f < all; f++) map[f] = -1;
  for (int i = 0; i < s->out->nedge; i++) {
    const int* e = s->edge[i];
    map[e[2]] = map[e[3]] = e[0];
  }
  for (int f = 0; f < all; f++) {
    int v = map[f];
    if (v < 0) continue;
    set_face(w, f, &s->face[nface]);
    s->face[nface].vert = v;
    s->corner[nface] = s->relative[v];
    s->twice[nface] = (abQuad){0};
    map[f] = nface++;
  }
  s->out->nface = nface;
}

// --- its integrals ---

// The vertices as they are to be returned, and from their mean, which is the origin from here on.
static inline void subtract_mean(Surface* s, abQuad* mean) {
  abQuad sum = {0}, *relative = s->relative;
  int n = s->out->nvert;
  for (int i = 0; i < n; i++) sum += relative[i];
  sum *= 1.0 / n;
  sum[3] = 1;
  for (int i = 0; i < n; i++) {
    s->vert[i] = v3(relative[i][0], relative[i][1], relative[i][2]);
    relative[i] -= sum;
  }
  *mean = sum;
}

// Twice the area vectors, and the edges' part of the moment; the edges get the faces' new numbers.
static inline void add_edges(Surface* s, abQuad* moment) {
  abQuad sum = {0}, *twice = s->twice;
  const abQuad *vert = s->relative, *corner = s->corner;
  int n = s->out->nedge, *map = s->face_map, (*edge)[4] = s->edge;
  for (int i = 0; i < n; i++) {
    int* e = edge[i];
    int l = map[e[2]], r = map[e[3]];
    e[2] = l, e[3] = r;
    abQuad a = vert[e[0]], b = vert[e[1]], c = AB_QUAD_CROSS(a, b);
    twice[l] += c;
    twice[r] -= c;
    abQuad w = (corner[l] - corner[r]) * c;
    sum += (w[0] + w[1] + w[2]) * (a + b);
  }
  *moment = sum;
}

// Areas, and the faces' part of the moment. Returns 6 V.
static inline double add_faces(Surface* s, abQuad* moment) {
  double volume = 0, area[4] = {0};
  abQuad sum = *moment;
  for (int i = 0; i < s->out->nface; i++) {
    abOverlapFace* f = &s->face[i];
    abQuad r = s->corner[i], a = s->twice[i], ra = r * a;
    double w = ra[0] + ra[1] + ra[2];
    volume += w;
    sum += w * r;
    a *= 0.5;
    f->vector = v3(a[0], a[1], a[2]);
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

AB_WIDE static void integrate(Surface* s, Sums* sums) {
  if (s->work->is_little) gather_little(s);
  subtract_mean(s, &sums->origin);
  gather_faces(s);
  add_edges(s, &sums->moment);
  sums->volume = add_faces(s, &sums->moment) / 6;
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

abStatus ab_overlap_measure(const abOverlapWork* w, abArena* arena, abOverlap* out) {
  Surface s = {.work = w, .out = out};
  if (!make_room(&s, arena)) return AB_ERROR_MEMORY;
  if (!w->is_little) gather_solid(&s);
  Sums sums;
  integrate(&s, &sums);
  out->vert = s.vert, out->edge = (const int(*)[4])s.edge, out->face = s.face;
  double volume = sums.volume;
  // A plate of thickness t has V = t * surface / 2.
  if (!(volume > 0.5 * w->noise * out->area[0])) return AB_OK;
  // No body has more volume than a ball of its surface, 36 pi V^2 <= A^3: a needle of rounding has.
  if (113 * volume * volume > out->area[0] * out->area[0] * out->area[0]) return AB_OK;
  out->contact = true;
  out->volume = volume;
  abQuad c = sums.origin + 1 / (24 * volume) * sums.moment;
  out->centroid = v3(c[0], c[1], c[2]);
  // An average of the vertices: where little more than rounding is left, that must not throw it out
  // of their bounds.
  if (volume < THICK * w->noise * out->area[0]) keep_inside(out);
  return AB_OK;
}
