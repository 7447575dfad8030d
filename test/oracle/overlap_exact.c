// The overlap in rational arithmetic: every number below is exact.
//
// A double is a rational number, and so is the rotation M(q) / |q|^2 of a quaternion of doubles (it
// need not be of unit length). A face through a, b, c of the body, m = (b - a) x (c - a), is in the
// world the plane
//   n . x <= d,  n = M m,  d = |q|^2 m . a + n . p,
// because M^T M = |q|^4 1. The corners of the overlap are the points where three planes meet and
// all others hold; a face's corners are those on its plane, ordered by a convex hull in the plane.
// Volume and moment are the sums over tetrahedra from the origin.
#include "oracle/overlap.h"

#ifndef ABUT_HAVE_GMP

bool oracle_overlap_exact(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B,
                          abPose pose_b, OracleOverlap* out) {
  (void)A, (void)pose_a, (void)B, (void)pose_b, (void)out;
  return false;
}

#else

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation.h"

enum { MAX_PLANE = 160, MAX_CORNER = 512 };

typedef struct Q3 {
  mpq_t v[3];
} Q3;

typedef struct Face {
  Q3 n;
  mpq_t d;
  int owner;  // 1 A, 2 B, 3 both
  double approx[4];
} Face;

typedef struct Corner {
  Q3 x;
  bool on[MAX_PLANE];
} Corner;

typedef struct Work {
  int nface, ncorner;
  Face face[MAX_PLANE];
  Corner corner[MAX_CORNER];
  mpq_t t[6];  // scratch numbers
  Q3 u[6];     // scratch vectors
} Work;

static void q3_init(Q3* a) {
  for (int i = 0; i < 3; i++) mpq_init(a->v[i]);
}
static void q3_clear(Q3* a) {
  for (int i = 0; i < 3; i++) mpq_clear(a->v[i]);
}
static void q3_set(Q3* a, abVec3 x) {
  mpq_set_d(a->v[0], x.x), mpq_set_d(a->v[1], x.y), mpq_set_d(a->v[2], x.z);
}
static void q3_sub(Q3* r, const Q3* a, const Q3* b) {
  for (int i = 0; i < 3; i++) mpq_sub(r->v[i], a->v[i], b->v[i]);
}
static abVec3 q3_get(const Q3* a) {
  return v3(mpq_get_d(a->v[0]), mpq_get_d(a->v[1]), mpq_get_d(a->v[2]));
}
// r = a x b; r differs from both. t: two scratch numbers
static void q3_cross(Q3* r, const Q3* a, const Q3* b, mpq_t* t) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    mpq_mul(t[0], a->v[j], b->v[k]);
    mpq_mul(t[1], a->v[k], b->v[j]);
    mpq_sub(r->v[i], t[0], t[1]);
  }
}
static void q3_dot(mpq_t r, const Q3* a, const Q3* b, mpq_t t) {
  mpq_mul(r, a->v[0], b->v[0]);
  for (int i = 1; i < 3; i++) {
    mpq_mul(t, a->v[i], b->v[i]);
    mpq_add(r, r, t);
  }
}

// r = M(q) x, with M the rotation times |q|^2: |q|^2-fold Rodrigues, x (w^2 - u.u) + 2 u (u.x) + 2
// w (u x x).
static void turn(Work* w, Q3* r, abQuat q, const Q3* x) {
  Q3 *u = &w->u[4], *c = &w->u[5];
  q3_set(u, v3(q.x, q.y, q.z));
  q3_cross(c, u, x, &w->t[2]);
  mpq_t s, ux, two_w, t;
  mpq_inits(s, ux, two_w, t, NULL);
  q3_dot(s, u, u, t);
  mpq_set_d(t, q.w);
  mpq_add(two_w, t, t);
  mpq_mul(t, t, t);
  mpq_sub(s, t, s);
  q3_dot(ux, u, x, t);
  mpq_add(ux, ux, ux);
  for (int i = 0; i < 3; i++) {
    mpq_mul(r->v[i], x->v[i], s);
    mpq_mul(t, u->v[i], ux);
    mpq_add(r->v[i], r->v[i], t);
    mpq_mul(t, c->v[i], two_w);
    mpq_add(r->v[i], r->v[i], t);
  }
  mpq_clears(s, ux, two_w, t, NULL);
}

// Three corners of a face that span the largest triangle.
static void widest(const abPolyhedron* P, int f, int pick[3]) {
  const int* loop = P->loop + P->face_start[f];
  int n = P->face_start[f + 1] - P->face_start[f];
  double best = -1;
  for (int j = 1; j < n; j++)
    for (int k = j + 1; k < n; k++) {
      abVec3 a = P->vert[loop[0]];
      double area = v3_norm(v3_cross(v3_sub(P->vert[loop[j]], a), v3_sub(P->vert[loop[k]], a)));
      if (area > best) best = area, pick[0] = loop[0], pick[1] = loop[j], pick[2] = loop[k];
    }
}

static void add_face(Work* w, const abPolyhedron* P, int f, abPose pose, int owner) {
  Face* face = &w->face[w->nface++];
  Q3 *a = &w->u[0], *b = &w->u[1], *c = &w->u[2], *m = &w->u[3];
  if (P) {
    int pick[3] = {0};
    widest(P, f, pick);
    q3_set(a, P->vert[pick[0]]), q3_set(b, P->vert[pick[1]]), q3_set(c, P->vert[pick[2]]);
    q3_sub(b, b, a);
    q3_sub(c, c, a);
    q3_cross(m, b, c, w->t);
  } else {
    q3_set(a, v3_zero()), q3_set(m, v3(0, 0, 1));
  }
  q3_dot(w->t[1], m, a, w->t[0]);
  turn(w, &face->n, pose.q, m);
  mpq_set_ui(w->t[2], 0, 1);
  double q[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  for (int i = 0; i < 4; i++) {
    mpq_set_d(w->t[0], q[i]);
    mpq_mul(w->t[0], w->t[0], w->t[0]);
    mpq_add(w->t[2], w->t[2], w->t[0]);
  }
  mpq_mul(face->d, w->t[1], w->t[2]);
  q3_set(a, pose.p);
  q3_dot(w->t[1], &face->n, a, w->t[0]);
  mpq_add(face->d, face->d, w->t[1]);
  face->owner = owner;
  abVec3 n = q3_get(&face->n);
  double length = v3_norm(n);
  face->approx[0] = n.x / length, face->approx[1] = n.y / length, face->approx[2] = n.z / length;
  face->approx[3] = mpq_get_d(face->d) / length;
}

// Sign of n . (X / D) - d for D > 0.
static int side(Work* w, const Face* f, const Q3* X, const mpq_t D) {
  q3_dot(w->t[1], &f->n, X, w->t[0]);
  mpq_mul(w->t[0], f->d, D);
  return mpq_cmp(w->t[1], w->t[0]);
}

// The last face, if it is the plane of an earlier one, becomes that one.
static void merge_face(Work* w) {
  Face* f = &w->face[w->nface - 1];
  for (int i = 0; i < w->nface - 1; i++) {
    Face* g = &w->face[i];
    q3_cross(&w->u[0], &f->n, &g->n, w->t);
    q3_dot(w->t[1], &f->n, &g->n, w->t[0]);
    bool parallel = mpq_sgn(w->u[0].v[0]) == 0 && mpq_sgn(w->u[0].v[1]) == 0 &&
                    mpq_sgn(w->u[0].v[2]) == 0 && mpq_sgn(w->t[1]) > 0;
    if (!parallel) continue;
    // n_f = s n_g, so d_f = s d_g: compare d_f (n_g . n_g) with d_g (n_f . n_g)
    mpq_mul(w->t[2], g->d, w->t[1]);
    q3_dot(w->t[1], &g->n, &g->n, w->t[0]);
    mpq_mul(w->t[3], f->d, w->t[1]);
    if (mpq_cmp(w->t[2], w->t[3]) != 0) continue;
    g->owner |= f->owner;
    w->nface--;
    return;
  }
}

// Could the corner of these three planes be one? Decided in doubles where it is clear.
static bool plausible(const Work* w, int i, int j, int k) {
  const double *a = w->face[i].approx, *b = w->face[j].approx, *c = w->face[k].approx;
  abVec3 na = v3(a[0], a[1], a[2]), nb = v3(b[0], b[1], b[2]), nc = v3(c[0], c[1], c[2]);
  double det = v3_dot(na, v3_cross(nb, nc));
  if (fabs(det) < 1e-5) return true;
  abVec3 x = v3_add(v3_scale(a[3], v3_cross(nb, nc)),
                    v3_add(v3_scale(b[3], v3_cross(nc, na)), v3_scale(c[3], v3_cross(na, nb))));
  x = v3_scale(1 / det, x);
  double size = 1e-8 * (v3_norm(x) + fabs(a[3]) + fabs(b[3]) + fabs(c[3]));
  for (int m = 0; m < w->nface; m++) {
    const double* f = w->face[m].approx;
    if (v3_dot(v3(f[0], f[1], f[2]), x) - f[3] > size + 1e-8 * fabs(f[3])) return false;
  }
  return true;
}

// The meeting point of planes i, j, k as X / D, D > 0; false if they do not meet in a point.
static bool meet(Work* w, int i, int j, int k, Q3* X, mpq_t D) {
  const Face* f[3] = {&w->face[i], &w->face[j], &w->face[k]};
  q3_cross(&w->u[0], &f[1]->n, &f[2]->n, w->t);
  q3_dot(D, &f[0]->n, &w->u[0], w->t[0]);
  if (mpq_sgn(D) == 0) return false;
  q3_cross(&w->u[1], &f[2]->n, &f[0]->n, w->t);
  q3_cross(&w->u[2], &f[0]->n, &f[1]->n, w->t);
  for (int c = 0; c < 3; c++) {
    mpq_set_ui(X->v[c], 0, 1);
    for (int r = 0; r < 3; r++) {
      mpq_mul(w->t[0], f[r]->d, w->u[r].v[c]);
      mpq_add(X->v[c], X->v[c], w->t[0]);
    }
  }
  if (mpq_sgn(D) < 0) {
    mpq_neg(D, D);
    for (int c = 0; c < 3; c++) mpq_neg(X->v[c], X->v[c]);
  }
  return true;
}

static void try_corner(Work* w, int i, int j, int k) {
  if (w->ncorner == MAX_CORNER || !plausible(w, i, j, k)) return;
  for (int c = 0; c < w->ncorner; c++) {
    const bool* on = w->corner[c].on;
    if (on[i] && on[j] && on[k]) return;
  }
  Corner* c = &w->corner[w->ncorner];
  mpq_t* D = &w->t[5];
  if (!meet(w, i, j, k, &c->x, *D)) return;
  for (int m = 0; m < w->nface; m++) {
    int s = side(w, &w->face[m], &c->x, *D);
    if (s > 0) return;
    c->on[m] = s == 0;
  }
  for (int r = 0; r < 3; r++) mpq_div(c->x.v[r], c->x.v[r], *D);
  w->ncorner++;
}

// --- faces in order
// -----------------------------------------------------------------------------------

typedef struct Ring {
  Work* w;
  int n, index[2 * MAX_CORNER], x, y;
} Ring;

static int before(const Ring* r, int a, int b) {
  int c = mpq_cmp(r->w->corner[a].x.v[r->x], r->w->corner[b].x.v[r->x]);
  return c ? c : mpq_cmp(r->w->corner[a].x.v[r->y], r->w->corner[b].x.v[r->y]);
}

static int turns(Ring* r, int a, int b, int c) {
  Work* w = r->w;
  const Q3 *A = &w->corner[a].x, *B = &w->corner[b].x, *C = &w->corner[c].x;
  mpq_sub(w->t[0], B->v[r->x], A->v[r->x]);
  mpq_sub(w->t[1], C->v[r->y], A->v[r->y]);
  mpq_mul(w->t[0], w->t[0], w->t[1]);
  mpq_sub(w->t[2], B->v[r->y], A->v[r->y]);
  mpq_sub(w->t[3], C->v[r->x], A->v[r->x]);
  mpq_mul(w->t[2], w->t[2], w->t[3]);
  return mpq_cmp(w->t[0], w->t[2]);
}

// Corners of face f, in order, counter-clockwise seen from outside; 0 if it has no area.
static int order_face(Work* w, int f, Ring* r) {
  const double* a = w->face[f].approx;
  int axis = fabs(a[0]) > fabs(a[1]) ? 0 : 1;
  if (fabs(a[2]) > fabs(a[axis])) axis = 2;
  *r = (Ring){.w = w, .x = (axis + 1) % 3, .y = (axis + 2) % 3};
  if (a[axis] < 0) r->x = (axis + 2) % 3, r->y = (axis + 1) % 3;
  int list[MAX_CORNER], n = 0;
  for (int i = 0; i < w->ncorner; i++) {
    if (!w->corner[i].on[f]) continue;
    int j = n++;
    for (; j > 0 && before(r, i, list[j - 1]) < 0; j--) list[j] = list[j - 1];
    list[j] = i;
  }
  if (n < 3) return 0;
  int m = 0;
  for (int i = 0; i < n; i++) {
    while (m > 1 && turns(r, r->index[m - 2], r->index[m - 1], list[i]) <= 0) m--;
    r->index[m++] = list[i];
  }
  for (int i = n - 2, floor = m + 1; i >= 0; i--) {
    while (m >= floor && turns(r, r->index[m - 2], r->index[m - 1], list[i]) <= 0) m--;
    r->index[m++] = list[i];
  }
  r->n = m - 1;
  return r->n < 3 ? 0 : r->n;
}

// Adds a face to six times the volume and 24 times the moment; its area vector in doubles.
static abVec3 add_face_moments(Work* w, const Ring* r, mpq_t volume, Q3* moment) {
  Q3 *cross = &w->u[0], *a = &w->u[1], *b = &w->u[2], *sum = &w->u[3];
  for (int c = 0; c < 3; c++) mpq_set_ui(sum->v[c], 0, 1);
  const Q3* root = &w->corner[r->index[0]].x;
  for (int i = 1; i + 1 < r->n; i++) {
    const Q3 *p = &w->corner[r->index[i]].x, *q = &w->corner[r->index[i + 1]].x;
    q3_sub(a, p, root);
    q3_sub(b, q, root);
    q3_cross(cross, a, b, w->t);
    for (int c = 0; c < 3; c++) mpq_add(sum->v[c], sum->v[c], cross->v[c]);
    q3_dot(w->t[1], root, cross, w->t[0]);
    mpq_add(volume, volume, w->t[1]);
    for (int c = 0; c < 3; c++) {
      mpq_add(w->t[0], root->v[c], p->v[c]);
      mpq_add(w->t[0], w->t[0], q->v[c]);
      mpq_mul(w->t[0], w->t[0], w->t[1]);
      mpq_add(moment->v[c], moment->v[c], w->t[0]);
    }
  }
  return v3_scale(0.5, q3_get(sum));
}

static void measure(Work* w, OracleOverlap* out) {
  mpq_t volume;
  Q3 moment;
  mpq_init(volume);
  q3_init(&moment);
  Ring ring;
  for (int f = 0; f < w->nface; f++) {
    if (!order_face(w, f, &ring)) continue;
    abVec3 area = add_face_moments(w, &ring, volume, &moment);
    int owner = w->face[f].owner;
    double size = v3_norm(area);
    *(owner == 1 ? &out->area_a : owner == 2 ? &out->area_b : &out->area_ab) += size;
    if (owner & 2) out->sum_b = v3_axpy(owner == 3 ? 0.5 : 1, area, out->sum_b);
  }
  if (mpq_sgn(volume) > 0) {
    out->contact = true;
    out->volume = mpq_get_d(volume) / 6;
    mpq_set_ui(w->t[0], 4, 1);
    mpq_mul(w->t[0], w->t[0], volume);
    for (int c = 0; c < 3; c++) mpq_div(moment.v[c], moment.v[c], w->t[0]);
    out->centroid = q3_get(&moment);
  } else {
    *out = (OracleOverlap){0};
  }
  mpq_clear(volume);
  q3_clear(&moment);
}

static Work* make_work(void) {
  Work* w = calloc(1, sizeof *w);
  for (int i = 0; i < MAX_PLANE; i++) q3_init(&w->face[i].n), mpq_init(w->face[i].d);
  for (int i = 0; i < MAX_CORNER; i++) q3_init(&w->corner[i].x);
  for (int i = 0; i < 6; i++) mpq_init(w->t[i]), q3_init(&w->u[i]);
  return w;
}

static void free_work(Work* w) {
  for (int i = 0; i < MAX_PLANE; i++) q3_clear(&w->face[i].n), mpq_clear(w->face[i].d);
  for (int i = 0; i < MAX_CORNER; i++) q3_clear(&w->corner[i].x);
  for (int i = 0; i < 6; i++) mpq_clear(w->t[i]), q3_clear(&w->u[i]);
  free(w);
}

bool oracle_overlap_exact(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B,
                          abPose pose_b, OracleOverlap* out) {
  *out = (OracleOverlap){0};
  int na = A ? A->nface : 1, nb = B ? B->nface : 1;
  if (na + nb > MAX_PLANE) return false;
  Work* w = make_work();
  for (int f = 0; f < na + nb; f++) {
    if (f < na)
      add_face(w, A, f, pose_a, 1);
    else
      add_face(w, B, f - na, pose_b, 2);
    merge_face(w);
  }
  for (int i = 0; i < w->nface; i++)
    for (int j = i + 1; j < w->nface; j++)
      for (int k = j + 1; k < w->nface; k++) try_corner(w, i, j, k);
  bool good = w->ncorner < MAX_CORNER;
  if (good && w->ncorner >= 4) measure(w, out);
  free_work(w);
  return good;
}

#endif
