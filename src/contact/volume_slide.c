// Unilateral forces eps at the polygon's vertices (contact/volume.h) as complementarity problems,
//
//     0 <= eps_l  _|_  w_l = n . K_l v - v*_l + slack_l eps_l >= 0.
//
// Holding: A_l = K_l^T n and f = A eps - Gt v, hence f = A eps - H (v0 + Phi A eps), where H =
// (Gt^-1
// + Phi)^-1 in the axes of friction and zero else, and v = (1 - Phi H) (v0 + Phi A eps).
// Sliding in given directions, where Newton's method (volume_law.c) found no answer: v = v0 + Phi A
// eps with A_l = K_l^T (n + mu_k e_l). Both are linear in eps with the matrix N R A + slack, N_l =
// n . K_l, R = (1 - Phi H) Phi or Phi; that of holding is symmetric and positive definite.
//
// Sweeps ask for the answer at many v0 that hardly differ. The vertices that carried a force the
// last time are tried first: their eps is one product with a kept inverse, and all signs decide
// whether it is the answer. If not, every vertex with a wrong sign changes sides, a few times
// (block principal pivoting), and only then Lemke's method is asked.
#include <abut/solve.h>
#include <float.h>
#include <string.h>

#include "contact/volume.h"
#include "solve/dense.h"

// A sign counts as right if it is violated by less than this, relative to the largest speed or
// force of the problem: the tolerance Lemke's method is given, too.
static const double SIGN_TOLERANCE = 1e-9;

// --- the problem
// -------------------------------------------------------------------------------------------------

// R is symmetric, 6 x 6.
static void build(const abVolumeContact* c, const double* R, const double* A, double* M) {
  int n = c->nvert;
  for (int l = 0; l < n; l++) {
    double column[6];
    ab_volume_multiply(R, A + 6 * l, column);
    for (int k = 0; k < n; k++)
      M[k * n + l] = ab_volume_normal_velocity(column, c->vert[k]) + (k == l) * c->slack[l];
  }
}

static void build_normals(const abVolumeContact* c, double* A) {
  for (int l = 0; l < c->nvert; l++) ab_volume_generator(c->vert[l], 0, v2(0, 0), A + 6 * l);
}

static abVolumeVertices* take(const abVolumeContact* c) {
  abVolumeVertices* s = AB_TAKE(c->option->scratch, abVolumeVertices, 1);
  if (!s) return NULL;
  s->has_inverse = s->tangent.known = false;
  s->loaded = (1u << c->nvert) - 1;  // the first guess: all of them
  return s;
}

static const int FRICTION[3] = {0, 1, 5};

// H = (Gt^-1 + Phi)^-1 in the three axes of friction, as (1 + Gt Phi)^-1 Gt: symmetric. False where
// that is singular.
static bool holding_friction(const abVolumeContact* c, double H[9]) {
  double lu[9];
  int pivot[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double x = i == j;
      for (int k = 0; k < 3; k++)
        x += c->Gt[FRICTION[i]][FRICTION[k]] * c->phi[FRICTION[k]][FRICTION[j]];
      lu[3 * i + j] = x, H[3 * j + i] = c->Gt[FRICTION[i]][FRICTION[j]];
    }
  if (!ab_dense_lu(3, lu, pivot, DBL_EPSILON)) return false;
  for (int j = 0; j < 3; j++) ab_dense_lu_solve(3, lu, pivot, H + 3 * j);
  return true;
}

// y: the friction -H v of the motion v, in all six axes.
static void friction_of(const double H[9], const double v[6], double y[6]) {
  memset(y, 0, 6 * sizeof(double));
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) y[FRICTION[i]] -= H[3 * i + k] * v[FRICTION[k]];
}

bool ab_volume_start_hold(abVolumeContact* c) {
  if (c->hold) return true;
  abVolumeVertices* s = take(c);
  if (!s || !holding_friction(c, s->H)) return false;
  double R[36], f[6];
  for (int j = 0; j < 6; j++) {
    friction_of(s->H, c->phi[j], f);
    ab_volume_multiply(c->phi[0], f, R + 6 * j);
    for (int i = 0; i < 6; i++) R[6 * j + i] += c->phi[j][i];
  }
  build_normals(c, s->A);
  build(c, R, s->A, s->M);
  c->hold = s;
  return true;
}

bool ab_volume_start_slide(abVolumeContact* c, const double f[6]) {
  if (c->slide) return true;
  c->slide = take(c);
  if (c->slide) ab_volume_share_friction(c, f);
  return c->slide != NULL;
}

static void combine(const abVolumeContact* c, const double* A, const double* eps, double f[6]) {
  memset(f, 0, 6 * sizeof(double));
  for (int l = 0; l < c->nvert; l++)
    for (int i = 0; i < 6; i++) f[i] += A[6 * l + i] * eps[l];
}

// --- kept sets of loaded vertices
// -------------------------------------------------------------------------------------------------

static bool invert(const abVolumeContact* c, abVolumeVertices* s, unsigned loaded) {
  int pivot[AB_VOLUME_MAX_VERTEX], n = 0;
  for (int l = 0; l < c->nvert; l++)
    if (loaded >> l & 1) s->index[n++] = l;
  s->nloaded = n, s->loaded = loaded;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) s->inverse[i * n + j] = s->M[s->index[i] * c->nvert + s->index[j]];
  return s->has_inverse = ab_dense_invert(n, s->inverse, pivot, 64 * DBL_EPSILON);
}

// eps of the kept set; returns the vertices on the wrong side.
static unsigned try_loaded(const abVolumeContact* c, const abVolumeVertices* s, const double* q,
                           double* eps) {
  int n = s->nloaded;
  unsigned wrong = 0;
  double force = 0, speed = 0;
  memset(eps, 0, (size_t)c->nvert * sizeof *eps);
  for (int l = 0; l < c->nvert; l++) speed = larger(speed, fabs(q[l]));
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum -= s->inverse[i * n + j] * q[s->index[j]];
    eps[s->index[i]] = sum;
    force = larger(force, fabs(sum));
  }
  for (int l = 0; l < c->nvert; l++) {
    if (s->loaded >> l & 1) {
      if (eps[l] < -SIGN_TOLERANCE * force) wrong |= 1u << l;
      continue;
    }
    double w = q[l];
    for (int j = 0; j < n; j++) w += s->M[l * c->nvert + s->index[j]] * eps[s->index[j]];
    if (w < -SIGN_TOLERANCE * speed) wrong |= 1u << l;
  }
  return wrong;
}

// False: the sets did not lead to an answer.
static bool pivot_sets(const abVolumeContact* c, abVolumeVertices* s, const double* q,
                       double* eps) {
  for (int round = 0; round < 5; round++) {
    if (!s->has_inverse && !invert(c, s, s->loaded)) return false;
    unsigned wrong = try_loaded(c, s, q, eps);
    if (!wrong) return true;
    s->loaded ^= wrong, s->has_inverse = false;
  }
  return false;
}

static bool lemke(const abVolumeContact* c, const double* M, const double* q, double* eps) {
  abArena* scratch = c->option->scratch;
  abArenaMark mark = ab_arena_mark(scratch);
  void* workspace = ab_arena_take(scratch, ab_lcp_workspace(c->nvert));
  abLcpDef def = {.n = c->nvert, .m = M, .q = q, .tolerance = SIGN_TOLERANCE};
  bool solved = workspace && ab_lcp(&def, eps, NULL, workspace).status == AB_SOLVE_OK;
  ab_arena_release(scratch, mark);
  return solved;
}

// The answer for the vertices' speeds q without forces.
static bool solve_vertices(const abVolumeContact* c, abVolumeVertices* s, const double* q,
                           double* eps) {
  if (pivot_sets(c, s, q, eps)) return true;
  if (!lemke(c, s->M, q, eps)) return false;
  s->loaded = 0, s->has_inverse = false;
  for (int l = 0; l < c->nvert; l++) s->loaded |= (unsigned)(eps[l] > 0) << l;
  return true;
}

static void speeds(const abVolumeContact* c, const double v[6], double* q) {
  for (int l = 0; l < c->nvert; l++) q[l] = ab_volume_normal_velocity(v, c->vert[l]) - c->target[l];
}

// Directions from the friction t of the vertices, with at most the limit; mu_scale 0: none.
static bool slide_along(abVolumeContact* c, double mu_scale, const double v0[6], double f[6]) {
  abVolumeVertices* s = c->slide;
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX];
  for (int l = 0; l < c->nvert; l++) {
    const abVolumeVertex* p = &s->vertex[l];
    double size = larger(v2_norm(p->t), c->mu_kinetic * p->eps);
    abVec2 e = size > 0 ? v2_scale(mu_scale / size, p->t) : v2(0, 0);
    ab_volume_generator(c->vert[l], c->mu_kinetic, e, s->A + 6 * l);
  }
  build(c, c->phi[0], s->A, s->M);
  s->has_inverse = false;
  speeds(c, v0, q);
  if (!solve_vertices(c, s, q, eps)) return false;
  combine(c, s->A, eps, f);
  return true;
}

void ab_volume_slide_on(abVolumeContact* c, const double v0[6], double f[6]) {
  if (c->slide && (slide_along(c, 1, v0, f) || slide_along(c, 0, v0, f))) return;
  memset(f, 0, 6 * sizeof(double));
}

bool ab_volume_hold(abVolumeContact* c, const double v0[6], double f[6]) {
  const abVolumeVertices* s = c->hold;
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX], t[6], v[6];
  friction_of(s->H, v0, t);
  ab_volume_multiply(c->phi[0], t, v);
  for (int i = 0; i < 6; i++) v[i] += v0[i];
  speeds(c, v, q);
  if (!solve_vertices(c, c->hold, q, eps)) return false;
  combine(c, s->A, eps, f);
  ab_volume_multiply(c->phi[0], f, v);
  for (int i = 0; i < 6; i++) v[i] += v0[i];
  friction_of(s->H, v, t);
  for (int i = 0; i < 6; i++) f[i] += t[i];
  return true;
}
