#include "contact/volume.h"

#include <abut/solve.h>
#include <float.h>
#include <string.h>

#include "base/arena.h"

// --- preparation
// ----------------------------------------------------------------------------------------

// Keeps the outline with at most AB_VOLUME_MAX_VERTEX of the polygon's vertices, evenly.
static void take_vertices(const abPatch* patch, abVolumeContact* c) {
  int n = patch->nvert < AB_VOLUME_MAX_VERTEX ? patch->nvert : AB_VOLUME_MAX_VERTEX;
  c->nvert = n;
  for (int l = 0; l < n; l++)
    c->vert[l] = v2_scale(1 / c->size, patch->polygon[l * patch->nvert / n]);
}

// int K^T n n^T K and int K^T (1 - n n^T) K over the polygon, scaled coordinates, per unit area.
static void damping_matrices(const abPatch* p, double size, double Qn[6][6], double Qt[6][6]) {
  double s = 1 / p->area, x = s * p->mx / size, y = s * p->my / size, l2 = size * size;
  double xx = s * p->mxx / l2, xy = s * p->mxy / l2, yy = s * p->myy / l2;
  memset(Qn, 0, 36 * sizeof(double));
  memset(Qt, 0, 36 * sizeof(double));
  // normal velocity at (x, y): v_n + w_1 y - w_2 x
  const double n[3][3] = {{1, y, -x}, {y, yy, -xy}, {-x, -xy, xx}};
  const int in[3] = {2, 3, 4};
  // tangential velocity: (v_1 - w_n y, v_2 + w_n x)
  const double t[3][3] = {{1, 0, -y}, {0, 1, x}, {-y, x, xx + yy}};
  const int it[3] = {0, 1, 5};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      Qn[in[i]][in[j]] = n[i][j];
      Qt[it[i]][it[j]] = t[i][j];
    }
}

void ab_volume_twist_in(const abVolumeContact* c, abTwist t, double v[6]) {
  const abPatch* p = &c->pair->patch;
  v[0] = v3_dot(p->t1, t.lin), v[1] = v3_dot(p->t2, t.lin), v[2] = v3_dot(p->normal, t.lin);
  v[3] = c->size * v3_dot(p->t1, t.ang), v[4] = c->size * v3_dot(p->t2, t.ang);
  v[5] = c->size * v3_dot(p->normal, t.ang);
}

static abVec3 from_frame(const abPatch* p, const double x[3]) {
  return v3_axpy(x[2], p->normal, v3_axpy(x[1], p->t2, v3_scale(x[0], p->t1)));
}

abWrench ab_volume_wrench_out(const abVolumeContact* c, const double f[6]) {
  const abPatch* p = &c->pair->patch;
  return (abWrench){from_frame(p, f), v3_scale(c->size, from_frame(p, f + 3))};
}

void ab_volume_wrench_in(const abVolumeContact* c, abWrench w, double f[6]) {
  const abPatch* p = &c->pair->patch;
  f[0] = v3_dot(p->t1, w.force), f[1] = v3_dot(p->t2, w.force), f[2] = v3_dot(p->normal, w.force);
  double s = 1 / c->size;
  f[3] = s * v3_dot(p->t1, w.torque), f[4] = s * v3_dot(p->t2, w.torque);
  f[5] = s * v3_dot(p->normal, w.torque);
}

static void response_in_frame(const abContactProblem* problem, abVolumeContact* c) {
  abMat6 phi;
  ab_pair_response(problem, c->pair, c->pair->patch.center, &phi);
  c->mass = ab_effective_mass(&phi, c->pair->patch.normal);
  for (int j = 0; j < 6; j++) {
    double unit[6] = {0}, column[6];
    unit[j] = 1;
    ab_volume_twist_in(c, m6_apply_wrench(&phi, ab_volume_wrench_out(c, unit)), column);
    for (int i = 0; i < 6; i++) c->phi[i][j] = column[i];
  }
}

double ab_volume_max_speed(const abContactProblem* problem) {
  double speed = 0.1 * sqrt(v3_norm(problem->gravity) * problem->length);
  return speed > 0 ? speed : INFINITY;
}

void ab_volume_prepare(const abContactProblem* problem, const abPair* pair,
                       const abVolumeOption* option, abVolumeContact* c) {
  const abPatch* p = &pair->patch;
  *c = (abVolumeContact){.pair = pair, .size = sqrt(p->area)};
  if (p->nvert < 3 || !(p->area > 0) || !(p->volume > 0)) return;
  response_in_frame(problem, c);
  if (!(c->mass > 0)) return;
  c->active = true;
  take_vertices(p, c);
  double Qn[6][6], Qt[6][6];
  damping_matrices(p, c->size, Qn, Qt);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      c->G[i][j] = c->mass * (Qn[i][j] / option->r_normal + Qt[i][j] / option->r_tangent);
  // Deep overlaps, as scenes may start with, are resolved at a limited speed.
  double k = p->depth * option->k > option->max_speed ? option->max_speed / p->depth : option->k;
  c->Gv[2] = c->mass / option->r_normal * k * p->volume / p->area;
  // Thickness at the vertices by the affine fit, which is never negative in truth.
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = v2_scale(c->size, c->vert[l]);
    c->target[l] = k * fmax(0, p->h0 + p->hx * r.x + p->hy * r.y);
  }
  c->slack = option->r_normal * c->nvert / c->mass;
}

// Residual of the cone test, relative to the force: an order above the simplex method's own
// default.
static const double CONE_TOLERANCE = 1e-8;

// --- the friction cone
// ------------------------------------------------------------------------------------

// Weights lambda_l = a + b . r_l that carry f's normal force and tilting moments: the answer if
// none is negative.
static bool affine_weights(const abVolumeContact* c, const double f[6], double* lambda) {
  double m[9] = {0},
         b[3] = {f[2], -f[4], f[3]};  // sum 1, sum x, sum y: moments are (sum y, -sum x)
  for (int l = 0; l < c->nvert; l++) {
    const double g[3] = {1, c->vert[l].x, c->vert[l].y};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) m[3 * i + j] += g[i] * g[j];
  }
  int pivot[3];
  if (!dense_lu_solve(3, m, b, pivot)) return false;
  for (int l = 0; l < c->nvert; l++) {
    lambda[l] = b[0] + b[1] * c->vert[l].x + b[2] * c->vert[l].y;
    if (!(lambda[l] >= 0)) return false;
  }
  return true;
}

// A sufficient test that costs little: friction shared in proportion to the weights, plus a turn
// about the centre of pressure, stays below the pyramid's inner radius at every vertex.
static bool surely_in_cone(const abVolumeContact* c, const double f[6], double mu, int npyramid) {
  double lambda[AB_VOLUME_MAX_VERTEX];
  if (!(f[2] > 0) || !affine_weights(c, f, lambda)) return false;
  double inverse = 1 / f[2];
  abVec2 cop = v2(-f[4] * inverse, f[3] * inverse);
  double inertia = 0;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], cop);
    inertia += lambda[l] * v2_dot(d, d);
  }
  double torque = f[5] - (cop.x * f[1] - cop.y * f[0]);
  double turn = inertia > 0 ? torque / inertia : 0;
  if (inertia <= 0 && torque != 0) return false;
  double limit = mu * cos(3.141592653589793 / npyramid);
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], cop);
    abVec2 t = v2(f[0] * inverse - turn * d.y, f[1] * inverse + turn * d.x);
    if (v2_norm(t) > limit) return false;
  }
  return true;
}

// A necessary test that costs as little: the resultant of forces inside cones is inside the cone,
// the centre of pressure inside the polygon.
static bool surely_outside(const abVolumeContact* c, const double f[6], double mu) {
  double slack = 1 + CONE_TOLERANCE;
  if (f[0] * f[0] + f[1] * f[1] > mu * mu * f[2] * f[2] * slack * slack) return true;
  abVec2 cop = v2(-f[4] / f[2], f[3] / f[2]);
  for (int l = 0; l < c->nvert; l++) {
    abVec2 a = c->vert[l], b = c->vert[(l + 1) % c->nvert];
    // Vertices are in units of the patch's size, so the cross product is a distance times a length
    // of order one.
    if (v2_cross(v2_sub(b, a), v2_sub(cop, a)) < -CONE_TOLERANCE) return true;
  }
  return false;
}

// K_l^T (n + mu e): force (mu e, 1) at (x, y, 0).
static void generator(abVec2 r, double mu, abVec2 e, double a[6]) {
  a[0] = mu * e.x, a[1] = mu * e.y, a[2] = 1;
  a[3] = r.y, a[4] = -r.x, a[5] = mu * (r.x * e.y - r.y * e.x);
}

bool ab_volume_in_cone(const abVolumeContact* c, const double f[6], double mu, int npyramid,
                       double scale, abArena* scratch) {
  double norm2 = 0;
  for (int i = 0; i < 6; i++) norm2 += f[i] * f[i];
  if (norm2 <= CONE_TOLERANCE * CONE_TOLERANCE * scale * scale) return true;
  if (f[2] <= 0) return false;
  if (surely_in_cone(c, f, mu, npyramid)) return true;
  if (surely_outside(c, f, mu)) return false;
  abArenaMark mark = ab_arena_mark(scratch);
  int n = c->nvert * npyramid;
  double* a = AB_TAKE(scratch, double, 6 * n);
  double* x = AB_TAKE(scratch, double, n);
  void* workspace = ab_arena_take(scratch, ab_lp_workspace(6, n));
  bool inside = false;
  if (a && x && workspace) {
    for (int l = 0; l < c->nvert; l++)
      for (int p = 0; p < npyramid; p++) {
        double angle = 6.283185307179586 * p / npyramid;
        generator(c->vert[l], mu, v2(cos(angle), sin(angle)), a + 6 * (l * npyramid + p));
      }
    abLpDef def = {.nrow = 6, .ncol = n, .a = a, .b = f, .tolerance = CONE_TOLERANCE};
    inside = ab_lp_feasible(&def, x, NULL, workspace).status == AB_SOLVE_OK;
  }
  ab_arena_release(scratch, mark);
  return inside;
}

// --- sticking and sliding
// -----------------------------------------------------------------------------------

bool ab_volume_stick(const abVolumeContact* c, const double v0[6], double f[6]) {
  double A[36];
  int pivot[6];
  for (int i = 0; i < 6; i++) {
    f[i] = c->Gv[i];
    for (int j = 0; j < 6; j++) {
      f[i] -= c->G[i][j] * v0[j];
      double s = i == j;
      for (int k = 0; k < 6; k++) s += c->G[i][k] * c->phi[k][j];
      A[6 * i + j] = s;
    }
  }
  return dense_lu_solve(6, A, f, pivot);
}

static abVec2 sliding_velocity(const double v[6], abVec2 r) {
  return v2(v[0] - v[5] * r.y, v[1] + v[5] * r.x);
}

// Sliding that a normal impulse alone would start: that which stops the approach at the centre.
static void add_started_slip(const abVolumeContact* c, const double v[6], double out[6]) {
  double impulse = c->mass * fmax(0, -v[2]);
  for (int i = 0; i < 6; i++) out[i] = v[i] + c->phi[i][2] * impulse;
}

void ab_volume_slip_directions(const abVolumeContact* c, const double v[6],
                               const double fallback[6], abVec2* e) {
  // A vertex counts as moving if its speed is not lost in the rounding of the twist it comes from.
  double size = fabs(v[0]) + fabs(v[1]) + fabs(v[5]), started[6];
  double other = fabs(fallback[0]) + fabs(fallback[1]) + fabs(fallback[5]);
  // A body that falls straight on a corner does not slide before, but by the impact.
  add_started_slip(c, fallback, started);
  double by_impact = fabs(started[0]) + fabs(started[1]) + fabs(started[5]);
  if (other < 1e-3 * by_impact) fallback = started, other = by_impact;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 s = sliding_velocity(v, c->vert[l]);
    // Much slower than the change this step would bring: the motion is only about to start, and its
    // direction is that of the drive.
    if (!(v2_norm(s) > 1e-6 * size) || size < 1e-3 * other)
      s = sliding_velocity(fallback, c->vert[l]);
    double speed = v2_norm(s);
    e[l] = speed > 0 ? v2_scale(-1 / speed, s) : v2(0, 0);
  }
}

void ab_volume_generators(const abVolumeContact* c, double mu, const abVec2* e, double* A) {
  for (int l = 0; l < c->nvert; l++) generator(c->vert[l], mu, e[l], A + 6 * l);
}

// n . K_l v for scaled v
static double normal_velocity(const double v[6], abVec2 r) {
  return v[2] + v[3] * r.y - v[4] * r.x;
}

static bool solve_sliding(const abVolumeContact* c, const double v0[6], double mu, const abVec2* e,
                          abArena* scratch, double f[6]) {
  int n = c->nvert;
  double A[6 * AB_VOLUME_MAX_VERTEX], M[AB_VOLUME_MAX_VERTEX * AB_VOLUME_MAX_VERTEX];
  double q[AB_VOLUME_MAX_VERTEX], eps[AB_VOLUME_MAX_VERTEX];
  ab_volume_generators(c, mu, e, A);
  for (int l = 0; l < n; l++) {
    double column[6];
    for (int i = 0; i < 6; i++) {
      column[i] = 0;
      for (int j = 0; j < 6; j++) column[i] += c->phi[i][j] * A[6 * l + j];
    }
    for (int k = 0; k < n; k++)
      M[k * n + l] = normal_velocity(column, c->vert[k]) + (k == l) * c->slack;
    q[l] = normal_velocity(v0, c->vert[l]) - c->target[l];
  }
  void* workspace = ab_arena_take(scratch, ab_lcp_workspace(n));
  if (!workspace) return false;
  abLcpDef def = {.n = n, .m = M, .q = q, .tolerance = 1e-9};
  abSolveResult result = ab_lcp(&def, eps, NULL, workspace);
  if (result.status != AB_SOLVE_OK) return false;
  for (int i = 0; i < 6; i++) {
    f[i] = 0;
    for (int l = 0; l < n; l++) f[i] += A[6 * l + i] * eps[l];
  }
  return true;
}

bool ab_volume_slide(const abVolumeContact* c, const double v0[6], const double v_now[6],
                     abArena* scratch, double f[6]) {
  abArenaMark mark = ab_arena_mark(scratch);
  abVec2 e[AB_VOLUME_MAX_VERTEX];
  ab_volume_slip_directions(c, v_now, v0, e);
  double mu = c->pair->surface.condim == 1 ? 0 : c->pair->surface.mu_kinetic;
  bool solved = solve_sliding(c, v0, mu, e, scratch, f);
  if (!solved) {
    bool frictionless = solve_sliding(c, v0, 0, e, scratch, f);
    if (!frictionless) memset(f, 0, 6 * sizeof(double));
  }
  ab_arena_release(scratch, mark);
  return solved;
}

// --- report
// -------------------------------------------------------------------------------------------------

void ab_volume_report(const abContactProblem* problem, const abVolumeContact* c, const double* v,
                      abPairSolution* out) {
  const abPatch* p = &c->pair->patch;
  out->point = p->center;
  if (!c->active) {
    out->mode = AB_SEPARATING;
    return;
  }
  const double normal[6] = {0, 0, c->f[2], c->f[3], c->f[4], 0};
  out->impulse = ab_volume_wrench_out(c, c->f);
  out->normal_part = ab_volume_wrench_out(c, normal);
  out->mode = c->f[2] <= 0 ? AB_SEPARATING : c->sliding ? AB_SLIP : AB_STICK;
  double w[6];
  ab_volume_twist_in(c, ab_pair_twist(problem, c->pair, p->center, v), w);
  abVec2 cop = c->f[2] > 0 ? v2(-c->f[4] / c->f[2], c->f[3] / c->f[2]) : v2(0, 0);
  abVec2 s = sliding_velocity(w, cop);
  out->slip[0] = s.x, out->slip[1] = s.y, out->slip[2] = w[5] / c->size;
}
