// Contacts that hold or slide (contact/volume.h): unilateral forces eps at the polygon's vertices,
//
//     0 <= eps_l  _|_  w_l = n . K_l v - v*_l + r_n L / m eps_l >= 0.
//
// Sliding: v = v0 + Phi A eps with A_l = K_l^T (n + mu_k e_l). Holding: A_l = K_l^T n and f = A eps
// - Gt v, hence v = T (v0 + Phi A eps), T = (1 + Phi Gt)^-1. Both are linear complementarity
// problems in eps with the matrix N R A + slack, N_l = n . K_l, R = Phi or T Phi; that of holding
// is symmetric and positive definite.
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
      M[k * n + l] = ab_volume_normal_velocity(column, c->vert[k]) + (k == l) * c->slack;
  }
}

static void build_normals(const abVolumeContact* c, double* A) {
  for (int l = 0; l < c->nvert; l++) ab_volume_generator(c->vert[l], 0, v2(0, 0), A + 6 * l);
}

static abVolumeVertices* take(const abVolumeContact* c) {
  abVolumeVertices* s = AB_TAKE(c->option->scratch, abVolumeVertices, 1);
  if (s) s->has_inverse = false, s->loaded = (1u << c->nvert) - 1;  // the first guess: all of them
  return s;
}

// (1 + Phi Gt)^T x = b gives the rows of T by the unit vectors, and those of B = Gt T by those of
// Gt.
static void solve_rows(const double* lu, const int* pivot, const double* rows, double* out) {
  for (int i = 0; i < 6; i++) {
    if (rows)
      memcpy(out + 6 * i, rows + 6 * i, 6 * sizeof(double));
    else
      for (int j = 0; j < 6; j++) out[6 * i + j] = i == j;
    ab_dense_lu_solve(6, lu, pivot, out + 6 * i);
  }
}

bool ab_volume_start_hold(abVolumeContact* c) {
  if (c->hold) return true;
  abVolumeVertices* s = take(c);
  if (!s) return false;
  double lu[36], R[36];
  int pivot[6];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      lu[6 * j + i] = i == j;  // transposed
      for (int k = 0; k < 6; k++) lu[6 * j + i] += c->phi[i][k] * c->Gt[k][j];
    }
  if (!ab_dense_lu(6, lu, pivot, DBL_EPSILON)) return false;
  solve_rows(lu, pivot, NULL, s->T);
  solve_rows(lu, pivot, c->Gt[0], s->B);
  solve_rows(lu, pivot, c->phi[0], R);  // Phi T^T = T Phi
  build_normals(c, s->A);
  build(c, R, s->A, s->M);
  c->hold = s;
  return true;
}

// Speed a tangential unit impulse at r gives r, the mean of both directions.
static double tangential_mobility(const abVolumeContact* c, abVec2 r) {
  double spin = 2 * (c->phi[1][5] * r.x - c->phi[0][5] * r.y);
  return 0.5 * (c->phi[0][0] + c->phi[1][1] + spin + c->phi[5][5] * v2_dot(r, r));
}

// The friction of f as forces at the vertices: equal shares and a turn about their mean, the
// smallest that have this resultant.
static void share_friction(const abVolumeContact* c, const double f[6], abVec2* t) {
  double share = 1.0 / c->nvert, inertia = 0;
  abVec2 mean = v2(0, 0), force = v2(f[0], f[1]);
  for (int l = 0; l < c->nvert; l++) mean = v2_add(mean, v2_scale(share, c->vert[l]));
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], mean);
    inertia += v2_dot(d, d);
  }
  double torque = f[5] - v2_cross(mean, force), turn = inertia > 0 ? torque / inertia : 0;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], mean);
    t[l] = v2(share * force.x - turn * d.y, share * force.y + turn * d.x);
  }
}

void ab_volume_set_directions(abVolumeContact* c) {
  abVolumeVertices* s = c->slide;
  for (int l = 0; l < c->nvert; l++)
    ab_volume_generator(c->vert[l], c->mu_kinetic, s->e[l], s->A + 6 * l);
  build(c, c->phi[0], s->A, s->M);
  s->has_inverse = false;
}

bool ab_volume_start_slide(abVolumeContact* c, const double v[6], const double f[6], double* turn) {
  bool first = !c->slide;
  if (first) c->slide = take(c);
  abVolumeVertices* s = c->slide;
  if (!s) return false;
  abVec2 t[AB_VOLUME_MAX_VERTEX];
  share_friction(c, f, t);
  double limit = c->mu_kinetic * larger(0, f[2]);
  *turn = first ? 2 : 0;
  for (int l = 0; l < c->nvert; l++) {
    double mobility = tangential_mobility(c, c->vert[l]);
    abVec2 u =
        v2_sub(ab_volume_sliding_velocity(v, c->vert[l]), v2_scale(mobility * c->nvert, t[l]));
    double speed = larger(v2_norm(u), mobility * limit);
    abVec2 e = speed > 0 ? v2_scale(-1 / speed, u) : v2(0, 0);
    if (!first) *turn = larger(*turn, larger(fabs(e.x - s->e[l].x), fabs(e.y - s->e[l].y)));
    s->e[l] = e;
  }
  if (*turn > 0) ab_volume_set_directions(c);
  return true;
}

static void combine(const abVolumeContact* c, const double* A, const double* eps, double f[6]) {
  memset(f, 0, 6 * sizeof(double));
  for (int l = 0; l < c->nvert; l++)
    for (int i = 0; i < 6; i++) f[i] += A[6 * l + i] * eps[l];
}

// --- kept sets of loaded vertices
// -------------------------------------------------------------------------------------------------

static bool invert(const abVolumeContact* c, abVolumeVertices* s, unsigned loaded) {
  double lu[AB_VOLUME_MAX_VERTEX * AB_VOLUME_MAX_VERTEX], column[AB_VOLUME_MAX_VERTEX];
  int pivot[AB_VOLUME_MAX_VERTEX], n = 0;
  for (int l = 0; l < c->nvert; l++)
    if (loaded >> l & 1) s->vertex[n++] = l;
  s->nloaded = n, s->loaded = loaded, s->has_inverse = false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) lu[i * n + j] = s->M[s->vertex[i] * c->nvert + s->vertex[j]];
  if (!ab_dense_lu(n, lu, pivot, 64 * DBL_EPSILON)) return false;
  for (int j = 0; j < n; j++) {
    memset(column, 0, sizeof column);
    column[j] = 1;
    ab_dense_lu_solve(n, lu, pivot, column);
    for (int i = 0; i < n; i++) s->inverse[i * n + j] = column[i];
  }
  return s->has_inverse = true;
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
    for (int j = 0; j < n; j++) sum -= s->inverse[i * n + j] * q[s->vertex[j]];
    eps[s->vertex[i]] = sum;
    force = larger(force, fabs(sum));
  }
  for (int l = 0; l < c->nvert; l++) {
    if (s->loaded >> l & 1) {
      if (eps[l] < -SIGN_TOLERANCE * force) wrong |= 1u << l;
      continue;
    }
    double w = q[l];
    for (int j = 0; j < n; j++) w += s->M[l * c->nvert + s->vertex[j]] * eps[s->vertex[j]];
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

void ab_volume_frictionless(const abVolumeContact* c, const double v0[6], double f[6]) {
  double A[6 * AB_VOLUME_MAX_VERTEX] = {0}, M[AB_VOLUME_MAX_VERTEX * AB_VOLUME_MAX_VERTEX];
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX];
  build_normals(c, A);
  build(c, c->phi[0], A, M);
  speeds(c, v0, q);
  if (lemke(c, M, q, eps))
    combine(c, A, eps, f);
  else
    memset(f, 0, 6 * sizeof(double));
}

bool ab_volume_slide(abVolumeContact* c, const double v0[6], double f[6]) {
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX];
  speeds(c, v0, q);
  if (!solve_vertices(c, c->slide, q, eps)) return false;
  combine(c, c->slide->A, eps, f);
  return true;
}

bool ab_volume_hold(abVolumeContact* c, const double v0[6], double f[6]) {
  const abVolumeVertices* s = c->hold;
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX], v[6];
  for (int i = 0; i < 6; i++) v[i] = dense_dot(s->T + 6 * i, v0, 6);
  speeds(c, v, q);
  if (!solve_vertices(c, c->hold, q, eps)) return false;
  combine(c, s->A, eps, f);
  ab_volume_multiply(c->phi[0], f, v);
  for (int i = 0; i < 6; i++) v[i] += v0[i];
  const int friction[3] = {0, 1, 5};
  for (int i = 0; i < 3; i++) f[friction[i]] -= dense_dot(s->B + 6 * friction[i], v, 6);
  return true;
}
