// A support face of body S, a face of many corners (geometry/support_face.c), on a face of body L:
// their overlap is a slab between the two, whose sides are those of S and of L. Cutting plane by
// plane would cost the number of sides squared; here it is their sum.
//
// In the axes u, v, w of the support face, w out of S, the support face lies at w = 0. Let N . x <=
// e be the plane of L's face. If every corner P of the support face lies behind it and every edge
// that leads away from the support face ends before it, the vertices of S behind the plane are
// those of the support face: such vertices are connected by edges, for S is convex. So S behind
// that plane is a slab of as many prisms as the support face has corners, each from P to the point
// Q of its edge in the plane,
//
//   w(Q) = a + b u + c v,   a = e / N_w,   b = -N_u / N_w,   c = -N_v / N_w.
//
// What is left is to cut it by the other planes of L. Those that do not reach its bounds do
// nothing; each of the others must be that of a face next to L's face. Its traces in the planes of
// P and Q are two lines, n_u u + n_v v <= d and, with w(Q) put in, (n_u + n_w b) u + (n_v + n_w c)
// v <= d - n_w a; they are worked on together, one in each lane. The corner furthest out is found
// by climbing around the polygon, which is convex; if it is inside, the plane does not cut, else
// the corners outside are its neighbours on either side. Two prisms take their place. The planes
// come in the order of the face's sides, so that each begins where the last has ended.
//
// Each prism must lie on one side of each plane as a whole, beyond doubt: then the solid is cut as
// its two polygons are. Or two neighbours lie in it to rounding, as in a stack of equal columns:
// then the side of S between them belongs to both. Otherwise the general method is used.
#include "collide/boxes/prism.h"

#include <float.h>

#include "math/rotation.h"

enum { MAX_CORNER = 128, MAX_PLANE = 256, MAX_PRISM = MAX_CORNER + 2 * MAX_CORNER };

// The faces are opposite to each other but for this cosine.
static const double PRISM_LYING = 0.95;
// An edge that crosses a plane must do so by this part of the size, see AB_SKEW in box_box.h.
static const double SKEW = 1e-6;

// The planes of L in the axes of the support face, in lanes, and by how much the slab's bounds
// reach beyond.
typedef struct Planes {
  double u[MAX_PLANE], v[MAX_PLANE], w[MAX_PLANE], d[MAX_PLANE], reach[MAX_PLANE];
} Planes;

// Prisms as a ring: u and v of P and of Q, and the side from here to the next prism: that of a
// corner of the support face or, behind MAX_CORNER, a plane of L.
typedef struct Ring {
  abTwo u[MAX_PRISM], v[MAX_PRISM];
  uint16_t next[MAX_PRISM], last[MAX_PRISM], side[MAX_PRISM];
  int16_t partner[MAX_CORNER];  // of each side of S: the plane of L it lies in, -1 if none
  int n;                        // places in use
  int at;                       // one that is left
} Ring;

typedef struct Slab {
  const abOverlapWork* work;
  const abSupportFace* support;
  int first;  // face of L
  double doubt, skew;
  double a, b, c;   // the plane of Q
  abBounds bounds;  // in the axes of the support face
} Slab;

static inline const double* support_numbers(const Slab* s) {
  return ab_polyhedron_support_lanes(s->work->S.poly) + s->support->start;
}

// --- the prisms of S ---

static const abSupportFace* find_support_face(const abPolyhedron* S, abVec3 n) {
  const abSupportFace *support = ab_polyhedron_support_faces(S), *best = NULL;
  double least = -PRISM_LYING;
  for (int i = 0; i < ab_polyhedron_skin(S)->nsupport; i++) {
    double along = v3_dot(support[i].w, n);
    if (along < least) least = along, best = &support[i];
  }
  return best && best->n <= MAX_CORNER ? best : NULL;
}

// False: a corner does not lie behind the plane, or the end of its edge not before it.
static inline bool raise_prisms(Slab* s, Ring* r) {
  const abSupportFace* support = s->support;
  const abClipPlane* clip = &s->work->clip[s->first];
  abVec3 n = clip->plane.n;
  double Nu = v3_dot(n, support->u), Nv = v3_dot(n, support->v), Nw = v3_dot(n, support->w);
  double e = clip->plane.d - v3_dot(n, support->o);
  s->a = e / Nw, s->b = -Nu / Nw, s->c = -Nv / Nw;
  int lanes = ab_polyhedron_lanes(support->n);
  const double *pu = support_numbers(s), *pv = pu + lanes, *du = pv + lanes, *dv = du + lanes,
               *dw = dv + lanes;
  abFour far = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX}, behind = -far, before = far;
  abFour low_u = far, low_v = far, low_w = far, high_u = -far, high_v = -far;
  for (int i = 0; i < lanes; i += 4) {
    abFour u, v, x, y, z;
    memcpy(&u, pu + i, sizeof u), memcpy(&v, pv + i, sizeof v), memcpy(&x, du + i, sizeof x);
    memcpy(&y, dv + i, sizeof y), memcpy(&z, dw + i, sizeof z);
    abFour at = Nu * u + Nv * v - e, rise = Nu * x + Nv * y + Nw * z, end = at + rise;
    abFour t = -at / rise, qu = u + t * x, qv = v + t * y, qw = t * z;
    behind = AB_FOUR_MORE(at, behind), before = AB_FOUR_LESS(end, before);
    low_u = AB_FOUR_LESS(u, low_u), high_u = AB_FOUR_MORE(u, high_u);
    low_v = AB_FOUR_LESS(v, low_v), high_v = AB_FOUR_MORE(v, high_v);
    low_u = AB_FOUR_LESS(qu, low_u), high_u = AB_FOUR_MORE(qu, high_u);
    low_v = AB_FOUR_LESS(qv, low_v), high_v = AB_FOUR_MORE(qv, high_v);
    low_w = AB_FOUR_LESS(qw, low_w);
    for (int k = 0; k < 4; k++) {
      r->u[i + k] = (abTwo){u[k], qu[k]};
      r->v[i + k] = (abTwo){v[k], qv[k]};
    }
  }
  double furthest = AB_FOUR_MOST(behind), nearest = AB_FOUR_LEAST(before);
  if (!(furthest < -s->doubt && nearest > s->doubt)) return false;
  double lu = AB_FOUR_LEAST(low_u), hu = AB_FOUR_MOST(high_u), lv = AB_FOUR_LEAST(low_v),
         hv = AB_FOUR_MOST(high_v), lw = AB_FOUR_LEAST(low_w);
  s->bounds.middle = v3(0.5 * (lu + hu), 0.5 * (lv + hv), 0.5 * lw);
  s->bounds.half = v3(0.5 * (hu - lu), 0.5 * (hv - lv), -0.5 * lw);
  return true;
}

static inline void join_ring(const Slab* s, Ring* r) {
  int n = s->support->n;
  for (int i = 0; i < n; i++) {
    r->next[i] = (uint16_t)(i + 1), r->last[i] = (uint16_t)(i - 1);
    r->side[i] = (uint16_t)i, r->partner[i] = -1;
  }
  r->next[n - 1] = 0, r->last[0] = (uint16_t)(n - 1);
  r->n = n, r->at = 0;
}

// --- the planes of L ---

// Returns how many of them the bounds may reach, but for that of the face itself.
static inline int turn_planes(Slab* s, Planes* p) {
  const abOverlapWork* w = s->work;
  const abSupportFace* support = s->support;
  int n = ab_polyhedron_lanes(w->nclip), count = 0;
  const double *x = ab_polyhedron_plane_lanes(w->L.poly), *y = x + n, *z = y + n, *d = z + n;
  // axes and origin of the support face seen from L
  abVec3 U = m3_apply_t(&w->R, support->u), V = m3_apply_t(&w->R, support->v),
         W = m3_apply_t(&w->R, support->w), o = m3_apply_t(&w->R, v3_sub(support->o, w->rel.p));
  abVec3 m = s->bounds.middle, h = s->bounds.half;
  for (int i = 0; i < n; i += 4) {
    abFour a, b, c, e;
    memcpy(&a, x + i, sizeof a), memcpy(&b, y + i, sizeof b), memcpy(&c, z + i, sizeof c);
    memcpy(&e, d + i, sizeof e);
    abFour nu = a * U.x + b * U.y + c * U.z, nv = a * V.x + b * V.y + c * V.z,
           nw = a * W.x + b * W.y + c * W.z, dist = e - (a * o.x + b * o.y + c * o.z);
    abFour reach = nu * m.x + nv * m.y + nw * m.z - dist;
    reach +=
        AB_FOUR_MORE(nu, -nu) * h.x + AB_FOUR_MORE(nv, -nv) * h.y + AB_FOUR_MORE(nw, -nw) * h.z;
    memcpy(p->u + i, &nu, sizeof nu), memcpy(p->v + i, &nv, sizeof nv);
    memcpy(p->w + i, &nw, sizeof nw), memcpy(p->d + i, &dist, sizeof dist);
    memcpy(p->reach + i, &reach, sizeof reach);
  }
  for (int j = 0; j < w->nclip; j++) count += p->reach[j] >= -s->doubt;
  return count - (p->reach[s->first] >= -s->doubt);
}

// --- cutting ---

// A plane as a line in the plane of P and one in the plane of Q.
typedef struct Line {
  abTwo u, v, d;
} Line;

static inline abTwo beyond(const Ring* r, const Line* l, int i) {
  return l->u * r->u[i] + l->v * r->v[i] - l->d;
}

// From prism i uphill along one lane, on either side. *s: its distances.
static inline int climb(const Ring* r, const Line* l, int i, int lane, abTwo* s) {
  abTwo t = beyond(r, l, r->next[i]);
  if (t[lane] > (*s)[lane]) {
    while (t[lane] > (*s)[lane]) {
      i = r->next[i], *s = t;
      t = beyond(r, l, r->next[i]);
    }
    return i;
  }
  t = beyond(r, l, r->last[i]);
  while (t[lane] > (*s)[lane]) {
    i = r->last[i], *s = t;
    t = beyond(r, l, r->last[i]);
  }
  return i;
}

// Prisms outside, beginning with i, on one side of it: the last of them, and the first inside.
typedef struct End {
  int out, in;
  abTwo s_out, s_in;
} End;

// False: a prism is neither, or none is inside.
static inline bool find_end(const Ring* r, const Line* l, const uint16_t* way, End* e,
                            double doubt) {
  int start = e->out;
  for (;;) {
    e->in = way[e->out];
    e->s_in = beyond(r, l, e->in);
    if (e->in == start) return false;
    if (!(e->s_in[0] > doubt && e->s_in[1] > doubt)) break;
    e->out = e->in, e->s_out = e->s_in;
  }
  return e->s_in[0] < -doubt && e->s_in[1] < -doubt;
}

// A new prism where the line crosses the edge between the two of an end.
static inline int put_prism(Ring* r, const End* e) {
  abTwo t = e->s_in / (e->s_in - e->s_out);
  int w = r->n++;
  r->u[w] = r->u[e->in] + t * (r->u[e->out] - r->u[e->in]);
  r->v[w] = r->v[e->in] + t * (r->v[e->out] - r->v[e->in]);
  return w;
}

static inline bool steep(const End* e, double skew) {
  abTwo d = e->s_out - e->s_in;
  return d[0] > skew && d[1] > skew;
}

// Does the side of S after prism i lie in plane j of L, and nothing else?
static inline bool touches(const Slab* s, const Ring* r, const Line* l, int i, int j) {
  if (r->side[i] >= MAX_CORNER) return false;
  const abOverlapWork* w = s->work;
  abPlane plane = w->L.poly->plane[j];
  // the noise of a clip plane, half of what the general method takes for the same plane
  double noise = DBL_EPSILON *
                 (2 * w->size + fabs(plane.d) + fabs(v3_dot(m3_apply(&w->R, plane.n), w->rel.p)));
  int k = r->next[i];
  abTwo in = two_more(two_abs(beyond(r, l, i)), two_abs(beyond(r, l, k)));
  abTwo out = two_more(beyond(r, l, r->last[i]), beyond(r, l, r->next[k]));
  return in[0] <= noise && in[1] <= noise && out[0] < -s->doubt && out[1] < -s->doubt;
}

static inline bool share_side(const Slab* s, Ring* r, const Line* l, int top, int j) {
  int i = touches(s, r, l, top, j) ? top : r->last[top];
  if (i != top && !touches(s, r, l, i, j)) return false;
  r->partner[r->side[i]] = (int16_t)j;
  r->at = top;
  return true;
}

// Cuts by plane j of L. False: doubts, or nothing is left.
static inline bool cut_ring(const Slab* s, Ring* r, const Line* l, int j) {
  abTwo at = beyond(r, l, r->at);
  int top = climb(r, l, r->at, 0, &at);
  if (at[0] < -s->doubt) {
    r->at = top;
    climb(r, l, top, 1, &at);
    return at[1] < -s->doubt;
  }
  if (!(at[0] > s->doubt && at[1] > s->doubt)) return share_side(s, r, l, top, j);
  End before = {top, 0, at, at}, after = before;
  if (!find_end(r, l, r->last, &before, s->doubt) || !find_end(r, l, r->next, &after, s->doubt))
    return false;
  if (!steep(&before, s->skew) || !steep(&after, s->skew) || r->n + 2 > MAX_PRISM) return false;
  int side = r->side[after.out], a = put_prism(r, &before), b = put_prism(r, &after);
  r->side[a] = (uint16_t)(MAX_CORNER + j), r->side[b] = (uint16_t)side;
  r->next[before.in] = (uint16_t)a, r->last[a] = (uint16_t)before.in;
  r->next[a] = (uint16_t)b, r->last[b] = (uint16_t)a;
  r->next[b] = (uint16_t)after.in, r->last[after.in] = (uint16_t)b;
  r->at = b;
  return true;
}

// Cuts by the `count` planes that may reach it, which must be next to the face. The loop of the
// face runs around it the other way than that of the support face.
static inline bool cut_slab(Slab* s, Ring* r, const Planes* p, int count) {
  const abPolyhedron* L = s->work->L.poly;
  const int* across = ab_polyhedron_across(L);
  for (int i = L->face_start[s->first + 1] - 1; i >= L->face_start[s->first] && count > 0; i--) {
    int j = across[i];
    if (!(p->reach[j] >= -s->doubt)) continue;
    count--;
    double nw = p->w[j];
    Line l = {{p->u[j], p->u[j] + nw * s->b},
              {p->v[j], p->v[j] + nw * s->c},
              {p->d[j], p->d[j] - nw * s->a}};
    if (!cut_ring(s, r, &l, j)) return false;
  }
  return count == 0;
}

// --- the overlap, in the axes of the support face ---

// The prisms left, in lanes, from the first of them; behind the last, the first again.
typedef struct Row {
  int n;
  double pu[MAX_PRISM + 8], pv[MAX_PRISM + 8];
  double qu[MAX_PRISM + 8], qv[MAX_PRISM + 8], qw[MAX_PRISM + 8];
  double su[MAX_PRISM + 8], sv[MAX_PRISM + 8], sw[MAX_PRISM + 8];  // twice the sides' areas
  uint16_t side[MAX_PRISM];
  int16_t partner[MAX_PRISM];
  double u, v;  // of P_0
} Row;

static inline void line_up(const Slab* s, const Ring* r, Row* row) {
  int n = 0, i = r->at;
  double u = row->u = r->u[i][0], v = row->v = r->v[i][0];
  do {
    abTwo x = r->u[i] - u, y = r->v[i] - v;
    row->pu[n] = x[0], row->qu[n] = x[1], row->pv[n] = y[0], row->qv[n] = y[1];
    int side = row->side[n] = r->side[i];
    row->partner[n++] = side < MAX_CORNER ? r->partner[side] : -1;
    i = r->next[i];
  } while (i != r->at);
  row->n = n;
  for (int k = 0; k < 8; k++) {
    row->pu[n + k] = row->pu[0], row->pv[n + k] = row->pv[0];
    row->qu[n + k] = row->qu[0], row->qv[n + k] = row->qv[0];
  }
  double base = s->a + s->b * u + s->c * v;
  for (int k = 0; k < n + 8; k++) row->qw[k] = base + s->b * row->qu[k] + s->c * row->qv[k];
}

#define LOAD(to, from) memcpy(&(to), from, sizeof(to))

static inline void integrate(Row* row, abPrismTotal* total) {
  abPrismSums sums;
  ab_prism_begin(&sums, v3(row->qu[0], row->qv[0], row->qw[0]));
  for (int i = 0; i < row->n; i += 4) {
    abFourPrisms p, next;
    LOAD(p.pu, row->pu + i), LOAD(p.pv, row->pv + i);
    LOAD(p.qu, row->qu + i), LOAD(p.qv, row->qv + i), LOAD(p.qw, row->qw + i);
    LOAD(next.pu, row->pu + i + 1), LOAD(next.pv, row->pv + i + 1);
    LOAD(next.qu, row->qu + i + 1), LOAD(next.qv, row->qv + i + 1), LOAD(next.qw, row->qw + i + 1);
    ab_prism_add(&sums, &p, &next, (double* [3]){row->su + i, row->sv + i, row->sw + i});
  }
  ab_prism_end(&sums, total);
}

// Edges as they follow each other around the slab: that of P, of Q and the prism.
static inline void put_edges(int n, int (*edge)[4]) {
  typedef int Four __attribute__((vector_size(16)));
  Four p = {0, 1, 0, 2}, q = {n, n + 1, 2, 1}, r = {n, 0, 1, 2};
  for (int i = 0; i < n; i++) {
    memcpy(edge[3 * i], &p, sizeof p);
    memcpy(edge[3 * i + 1], &q, sizeof q);
    memcpy(edge[3 * i + 2], &r, sizeof r);
    p += (Four){1, 1, 0, 1}, q += (Four){1, 1, 1, 0}, r += 1;
  }
  // where the ring closes
  edge[3 * n - 3][1] = 0, edge[3 * n - 2][1] = n, edge[2][2] = n + 1;
}

// The sides: their faces, and the areas of all by owner.
static inline void put_sides(const Slab* s, const Planes* p, const Row* row, abOverlapFace* face,
                             double area[4]) {
  const abPolyhedron* S = s->work->S.poly;
  const int* across = ab_polyhedron_across(S) + S->face_start[s->support->face];
  int lanes = ab_polyhedron_lanes(s->support->n);
  const double* u = support_numbers(s) + 5 * lanes;
  double total[3] = {0, 0, 0};
  for (int i = 0; i < row->n; i++, face++) {
    int k = row->side[i], of_l = k >= MAX_CORNER, j = k - MAX_CORNER;
    abVec3 n = of_l ? v3(p->u[j], p->v[j], p->w[j]) : v3(u[k], u[lanes + k], u[2 * lanes + k]);
    face->normal = n;
    face->owner = of_l ? s->work->L.owner : s->work->S.owner;
    face->source = of_l ? j : across[k];
    face->vector = v3(0.5 * row->su[i], 0.5 * row->sv[i], 0.5 * row->sw[i]);
    face->area = v3_dot(face->vector, n);
    face->vert = i;
    int both = row->partner[i] >= 0;
    if (both) {
      face->owner = AB_OWNER_BOTH;
      if (s->work->L.owner == AB_OWNER_A) face->source = row->partner[i];
    }
    total[both ? 2 : of_l] += face->area;
  }
  area[s->work->S.owner] = total[0], area[s->work->L.owner] = total[1];
  area[AB_OWNER_BOTH] = total[2];
}

static inline void put_faces(const Slab* s, const Planes* p, const Row* row, const abPrismTotal* t,
                             abOverlapFace* face, double area[4]) {
  int j = s->first;
  face[0] = (abOverlapFace){.normal = v3(0, 0, 1),
                            .vector = v3(0, 0, 0.5 * t->top),
                            .area = 0.5 * t->top,
                            .owner = s->work->S.owner,
                            .source = s->support->face,
                            .vert = 0};
  face[1] = (abOverlapFace){.normal = v3(p->u[j], p->v[j], p->w[j]),
                            .vector = v3_scale(0.5, t->bottom),
                            .owner = s->work->L.owner,
                            .source = j,
                            .vert = row->n};
  face[1].area = v3_dot(face[1].vector, face[1].normal);
  put_sides(s, p, row, face + 2, area);
  area[face[0].owner] += face[0].area;
  area[face[1].owner] += face[1].area;
  area[0] = area[AB_OWNER_A] + area[AB_OWNER_B] + area[AB_OWNER_BOTH];
}

static inline bool put_overlap(const Slab* s, const Planes* p, Row* row, abArena* arena,
                               abOverlap* out) {
  size_t n = (size_t)row->n;
  abPrismTotal total;
  integrate(row, &total);
  if (!(total.volume > 0)) return false;
  abVec3* vert = ab_arena_take(
      arena, (sizeof(abVec3) * 2 + sizeof(int[4]) * 3) * n + sizeof(abOverlapFace) * (n + 2));
  if (!vert) return false;
  abOverlapFace* face = (abOverlapFace*)(void*)(vert + 2 * n);
  int(*edge)[4] = (int(*)[4])(void*)(face + n + 2);
  for (size_t i = 0; i < n; i++) {
    vert[i] = v3(row->pu[i], row->pv[i], 0);
    vert[n + i] = v3(row->qu[i], row->qv[i], row->qw[i]);
  }
  put_edges(row->n, edge);
  put_faces(s, p, row, &total, face, out->area);
  out->vert = vert, out->edge = (const int(*)[4])edge, out->face = face;
  out->nvert = 2 * row->n, out->nedge = 3 * row->n, out->nface = row->n + 2;
  out->nprism = row->n;
  out->volume = total.volume;
  out->centroid = total.centroid;
  out->contact = true;
  const abSide* S = &s->work->S;
  abVec3 o = v3_axpy(row->u, s->support->u, v3_axpy(row->v, s->support->v, s->support->o));
  out->frame.p = pose_apply(S->pose, v3_add(S->poly->centroid, o));
  out->frame.q = quat_mul(S->pose.q, s->support->q);
  return true;
}

AB_SIMD AB_FLATTEN bool ab_prism_overlap(abOverlapWork* w, int first, abArena* arena,
                                         abOverlap* out) {
  const abPolyhedron *S = w->S.poly, *L = w->L.poly;
  if (!L || w->nclip > MAX_PLANE) return false;
  const abClipPlane* clip = &w->clip[first];
  Slab s = {.work = w, .first = first, .support = find_support_face(S, clip->plane.n)};
  if (!s.support) return false;
  // no clip plane's is larger
  double noise = DBL_EPSILON * (2 * w->size + L->radius + v3_norm(w->rel.p));
  s.doubt = AB_DOUBT * noise + 2 * w->flush;
  s.skew = SKEW * w->size;
  Ring ring;
  Planes planes;
  if (!raise_prisms(&s, &ring)) return false;
  int count = turn_planes(&s, &planes);
  join_ring(&s, &ring);
  if (!cut_slab(&s, &ring, &planes, count)) return false;
  Row row;
  line_up(&s, &ring, &row);
  if (!put_overlap(&s, &planes, &row, arena, out)) return false;
  w->noise = noise;
  return true;
}
