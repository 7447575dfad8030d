// Unilateral forces eps at the polygon's vertices (contact/volume/volume.h) as complementarity
// problems,
//
//     0 <= eps_l  _|_  w_l = n . K_l v - v*_l + slack_l eps_l >= 0.
//
// Holding: A_l = K_l^T n and f = A eps - Gt v, hence f = A eps - H (v0 + Phi A eps), where
// H = (Gt^-1 + Phi)^-1 in the axes of friction and zero else, and v = (1 - Phi H) (v0 + Phi A eps).
// Sliding in given directions, where Newton's method (law.c) found no answer: v = v0 + Phi A
// eps with A_l = K_l^T (n + mu_k e_l). Both are linear in eps with the matrix N R A + slack, N_l =
// n . K_l, R = (1 - Phi H) Phi or Phi; that of holding is symmetric and positive definite.
//
// Sweeps ask for the answer at many v0 that hardly differ. The vertices that carried a force the
// last time are tried first: their eps is one product with a kept inverse, and all signs decide
// whether it is the answer. If not, every vertex with a wrong sign changes sides, a few times
// (block principal pivoting), and only then Lemke's method is asked.
// Tests: test_volume_models, test_volume_scales.
#include <abut/solve.h>
#include <float.h>
#include <string.h>

#include "contact/volume/volume.h"
#include "solve/dense.h"

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

static abVolumeVertices* take(const abVolumeContact* c) {
  abVolumeVertices* s = AB_TAKE(c->option->scratch, abVolumeVertices, 1);
  if (!s) return NULL;
  s->has_inverse = s->tangent.known = false;
  s->loaded = (1u << c->nvert) - 1;  // the first guess: all of them
  return s;
}

// The axes of friction and those of the forces K_l^T n, and Phi between them.
static const int FRICTION[3] = {0, 1, 5}, NORMAL[3] = {2, 3, 4};

static void coupling(const abVolumeContact* c, double W[9]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) W[3 * i + k] = c->phi[NORMAL[i]][FRICTION[k]];
}

// C = A B, or A B^T
static void multiply3(const double A[9], const double B[9], bool transposed, double C[9]) {
  int row = transposed ? 1 : 3, column = transposed ? 3 : 1;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      C[3 * i + j] = A[3 * i] * B[column * j] + A[3 * i + 1] * B[row + column * j] +
                     A[3 * i + 2] * B[2 * row + column * j];
}

// H = (Gt^-1 + Phi)^-1 in the three axes of friction, as (1 + Gt Phi)^-1 Gt: symmetric. False where
// that is singular.
static bool holding_friction(const abVolumeContact* c, double H[9]) {
  double G[9], phi[9], inverse[9];
  int pivot[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      G[3 * i + j] = c->Gt[FRICTION[i]][FRICTION[j]];
      phi[3 * i + j] = c->phi[FRICTION[i]][FRICTION[j]];
    }
  multiply3(G, phi, false, inverse);
  for (int i = 0; i < 3; i++) inverse[4 * i] += 1;
  if (!ab_dense_invert(3, inverse, pivot, DBL_EPSILON)) return false;
  multiply3(inverse, G, false, H);
  return true;
}

// With N_l = (1, y, -x) at vertex l, in the axes NORMAL, the matrix is N_k R N_l, R = Phi - Phi H
// Phi there.
bool ab_volume_start_hold(abVolumeContact* c) {
  if (c->hold) return true;
  abVolumeVertices* s = take(c);
  if (!s || !holding_friction(c, s->H)) return false;
  double W[9], WH[9], R[9];
  coupling(c, W);
  multiply3(W, s->H, false, WH);
  multiply3(WH, W, true, R);
  for (int i = 0; i < 9; i++) R[i] = c->phi[NORMAL[i / 3]][NORMAL[i % 3]] - R[i];
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = c->vert[l];
    double column[3];
    for (int i = 0; i < 3; i++) column[i] = R[3 * i] + R[3 * i + 1] * r.y - R[3 * i + 2] * r.x;
    for (int k = 0; k < c->nvert; k++)
      s->M[k * c->nvert + l] =
          column[0] + c->vert[k].y * column[1] - c->vert[k].x * column[2] + (k == l) * c->slack[l];
  }
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
      if (eps[l] < -AB_VOLUME_SIGN_TOLERANCE * force) wrong |= 1u << l;
      continue;
    }
    double w = q[l];
    for (int j = 0; j < n; j++) w += s->M[l * c->nvert + s->index[j]] * eps[s->index[j]];
    if (w < -AB_VOLUME_SIGN_TOLERANCE * speed) wrong |= 1u << l;
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
  abLcpDef def = {.n = c->nvert, .m = M, .q = q, .tolerance = AB_VOLUME_SIGN_TOLERANCE};
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
  const double *H = c->hold->H, slip[3] = {v0[0], v0[1], v0[5]};
  double W[9], q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX], t[3], v[3], n[3] = {0};
  coupling(c, W);
  for (int i = 0; i < 3; i++) t[i] = -dense_dot(H + 3 * i, slip, 3);
  for (int i = 0; i < 3; i++) v[i] = v0[NORMAL[i]] + dense_dot(W + 3 * i, t, 3);
  for (int l = 0; l < c->nvert; l++)
    q[l] = v[0] + v[1] * c->vert[l].y - v[2] * c->vert[l].x - c->target[l];
  if (!solve_vertices(c, c->hold, q, eps)) return false;
  for (int l = 0; l < c->nvert; l++)
    n[0] += eps[l], n[1] += eps[l] * c->vert[l].y, n[2] -= eps[l] * c->vert[l].x;
  for (int i = 0; i < 3; i++) v[i] = slip[i] + W[i] * n[0] + W[3 + i] * n[1] + W[6 + i] * n[2];
  for (int i = 0; i < 3; i++) f[FRICTION[i]] = -dense_dot(H + 3 * i, v, 3), f[NORMAL[i]] = n[i];
  return true;
}

bool ab_volume_stands(abVolumeContact* c, const double v0[6], abVolumeMode least, double f[6]) {
  bool tips = true;
  if (least == AB_VOLUME_STICK) {
    c->mode = AB_VOLUME_STICK;
    ab_volume_stick(c, v0, f);
    if (ab_volume_in_cone(c, f)) return true;
    tips = ab_volume_tips(c, f);
  }
  if (least > AB_VOLUME_HOLD || !tips) return false;
  c->mode = AB_VOLUME_HOLD;
  return ab_volume_start_hold(c) && ab_volume_hold(c, v0, f) && ab_volume_in_cone(c, f);
}
