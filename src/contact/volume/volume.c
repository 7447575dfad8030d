// Tests: test_volume_models, test_volume_scales.
#include "contact/volume/volume.h"

#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "solve/dense.h"

// --- preparation
// ----------------------------------------------------------------------------------------

// Keeps the outline with at most AB_VOLUME_MAX_VERTEX of the polygon's vertices, evenly.
static void take_vertices(const abPatch* patch, abVolumeContact* c) {
  int n = patch->nvert < AB_VOLUME_MAX_VERTEX ? patch->nvert : AB_VOLUME_MAX_VERTEX;
  c->nvert = n;
  for (int l = 0; l < n; l++)
    c->vert[l] = v2_scale(1 / c->size, patch->polygon[l * patch->nvert / n]);
}

// The damper m / r_n in shares of the vertices: half of the two triangles each has in the fan about
// the area's centroid. Two vertices close together share what one has in their place, so that the
// law is continuous when the overlap gains or loses one. None has less than a thousandth of an
// equal share: its load would be rounding.
static void share_damper(abVolumeContact* c, abVec2 centroid) {
  double share[AB_VOLUME_MAX_VERTEX] = {0}, sum = 0, least = AB_VOLUME_LEAST_SHARE / c->nvert;
  for (int l = 0; l < c->nvert; l++) {
    int next = (l + 1) % c->nvert;
    double area = v2_cross(v2_sub(c->vert[l], centroid), v2_sub(c->vert[next], centroid));
    area = fmax(0, area);
    share[l] += 0.5 * area, share[next] += 0.5 * area, sum += area;
  }
  for (int l = 0; l < c->nvert; l++) {
    double part = sum > 0 ? fmax(least, share[l] / sum) : 1.0 / c->nvert;
    c->slack[l] = c->option->r_normal / (c->mass * part);
    c->damper[l] = 1 / c->slack[l];
  }
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

// Phi seen in the patch frame, angular parts scaled: R^T B R of each 3 x 3 block B, R = (t1, t2,
// n).
static void response_in_frame(const abContactProblem* problem, abVolumeContact* c) {
  const abPatch* p = &c->pair->patch;
  const abVec3 axis[3] = {p->t1, p->t2, p->normal};
  abMat6 phi;
  ab_pair_response(problem, c->pair, p->center, &phi);
  c->mass = ab_effective_mass(&phi, p->normal);
  for (int bi = 0; bi < 6; bi += 3)
    for (int bj = 0; bj < 6; bj += 3) {
      double scale = (bi ? c->size : 1) * (bj ? c->size : 1);
      for (int j = 0; j < 3; j++) {
        abVec3 column = v3_scale(scale, axis[j]), turned;
        const double *x = phi.m[bi] + bj, *y = phi.m[bi + 1] + bj, *z = phi.m[bi + 2] + bj;
        turned.x = x[0] * column.x + x[1] * column.y + x[2] * column.z;
        turned.y = y[0] * column.x + y[1] * column.y + y[2] * column.z;
        turned.z = z[0] * column.x + z[1] * column.y + z[2] * column.z;
        for (int i = 0; i < 3; i++) c->phi[bi + i][bj + j] = v3_dot(axis[i], turned);
      }
    }
}

// Largest speed at which an overlap is resolved: a tenth of that of a fall through the scene's
// length.
static double max_speed(const abContactProblem* problem) {
  double speed = 0.1 * sqrt(v3_norm(problem->gravity) * problem->length);
  return speed > 0 ? speed : INFINITY;
}

// Without gravity and loads it is the momentum of what meets that measures impulses.
static double impulse_scale(const abContactProblem* problem) {
  double scale = ab_impulse_scale(problem);
  if (scale > 0) return scale;
  for (int i = 0; i < problem->npair; i++) {
    const abPair* pair = &problem->pair[i];
    abTwist v = ab_pair_twist_now(problem, pair, pair->patch.center);
    scale = fmax(scale, ab_reduced_mass(problem, pair) * v3_norm(v.lin));
  }
  return scale;
}

bool ab_volume_begin(const abContactProblem* problem, abVolumeOption* option) {
  abVec2* direction = AB_TAKE(problem->scratch, abVec2, option->npyramid);
  if (!direction) return false;
  for (int p = 0; p < option->npyramid; p++) {
    double angle = 6.283185307179586 * p / option->npyramid;
    direction[p] = v2(cos(angle), sin(angle));
  }
  option->direction = direction;
  option->inner = cos(3.141592653589793 / option->npyramid);
  option->max_speed = max_speed(problem);
  option->scale = impulse_scale(problem);
  option->small *= option->scale;
  option->scratch = problem->scratch;
  return true;
}

static bool carries(const abPatch* p) { return p->nvert >= 3 && p->area > 0 && p->volume > 0; }

bool ab_volume_islands(const abContactProblem* problem, abIslands* islands) {
  abArena* scratch = problem->scratch;
  int(*mover)[2] = ab_arena_take(scratch, sizeof(int[2]) * (size_t)problem->npair);
  if (!mover) return false;
  const int* mover_of_body = problem->response->mover_of_body;
  for (int i = 0; i < problem->npair; i++) {
    const abPair* pair = &problem->pair[i];
    mover[i][0] = carries(&pair->patch) ? mover_of_body[pair->body1] : -1;
    mover[i][1] = carries(&pair->patch) ? mover_of_body[pair->body2] : -1;
  }
  return ab_islands(problem->response->nmover, problem->npair, (const int(*)[2])mover, scratch,
                    islands) == AB_OK;
}

// The side of the square whose corners are as far from its centre as the patch's farthest. For a
// line, which has next to no area, this is its length, too: in its units the moments of a force at
// a vertex are no larger than the force.
static double patch_size(const abPatch* p) {
  double most = 0;
  for (int l = 0; l < p->nvert; l++) most = fmax(most, v2_dot(p->polygon[l], p->polygon[l]));
  return sqrt(2 * most);
}

void ab_volume_prepare(const abContactProblem* problem, const abPair* pair,
                       const abVolumeOption* option, abVolumeContact* c) {
  const abPatch* p = &pair->patch;
  memset(c, 0, sizeof *c);
  c->pair = pair, c->option = option, c->size = patch_size(p);
  bool rough = pair->surface.condim != 1;
  c->mu_static = rough ? pair->surface.mu_static : 0;
  c->mu_kinetic = rough ? pair->surface.mu_kinetic : 0;
  if (!carries(p)) return;
  response_in_frame(problem, c);
  if (!(c->mass > 0)) return;
  c->active = true;
  take_vertices(p, c);
  double Qn[6][6], Qt[6][6];
  damping_matrices(p, c->size, Qn, Qt);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      c->Gt[i][j] = c->mass * Qt[i][j] / option->r_tangent;
      c->G[i][j] = c->Gt[i][j] + c->mass * Qn[i][j] / option->r_normal;
    }
  // Deep overlaps, as scenes may start with, are resolved at a limited speed.
  double k = p->depth * option->k > option->max_speed ? option->max_speed / p->depth : option->k;
  c->Gv[2] = c->mass / option->r_normal * k * p->volume / p->area;
  // Thickness at the vertices by the affine fit, which is never negative in truth.
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = v2_scale(c->size, c->vert[l]);
    c->target[l] = k * fmax(0, p->h0 + p->hx * r.x + p->hy * r.y);
  }
  share_damper(c, v2(p->mx / (p->area * c->size), p->my / (p->area * c->size)));
}

AB_SIMD void ab_volume_product(const double* restrict a, const double* restrict b,
                               double* restrict ab) {
  for (int i = 0; i < 6; i++, a += 6, ab += 6) {
    for (int j = 0; j < 6; j++) ab[j] = a[0] * b[j];
    for (int k = 1; k < 6; k++)
      for (int j = 0; j < 6; j++) ab[j] += a[k] * b[6 * k + j];
  }
}

// --- sticking
// -----------------------------------------------------------------------------------------------

bool ab_volume_prepare_stick(abVolumeContact* c) {
  double A[36], X[36];
  int pivot[6];
  ab_volume_product(c->G[0], c->phi[0], A);
  for (int i = 0; i < 6; i++) A[7 * i] += 1;
  memset(c->S, 0, sizeof c->S);
  memset(c->s, 0, sizeof c->s);
  if (!ab_dense_invert(6, A, pivot, DBL_EPSILON)) return false;
  ab_volume_product(A, c->G[0], X);
  // S = (G^-1 + Phi)^-1 is symmetric up to rounding.
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) c->S[i][j] = 0.5 * (X[6 * i + j] + X[6 * j + i]);
  for (int i = 0; i < 6; i++) c->s[i] = dense_dot(A + 6 * i, c->Gv, 6);
  return true;
}

void ab_volume_stick(const abVolumeContact* c, const double v0[6], double f[6]) {
  ab_volume_multiply(c->S[0], v0, f);
  for (int i = 0; i < 6; i++) f[i] = c->s[i] - f[i];
}

// --- memory and report
// -------------------------------------------------------------------------------------------------

// The last step's force in the present frame; zero where there was none.
void ab_volume_recall(abVolumeContact* c) {
  const abVolumeMemory* memory = c->pair->memory;
  memset(c->f, 0, sizeof c->f);
  if (c->pair->fresh || !memory) return;
  ab_volume_wrench_in(c, wrench_from_array(memory->f), c->f);
  if (memory->plane[2] < 0) c->cone.last_plane = memory->plane;
  c->slid = memory->slid;
}

void ab_volume_remember(const abVolumeContact* c) {
  abVolumeMemory* memory = c->pair->memory;
  if (!memory) return;
  if (!c->active) {
    memset(memory, 0, sizeof *memory);
    return;
  }
  wrench_to_array(ab_volume_wrench_out(c, c->f), memory->f);
  memory->slid = c->mode == AB_VOLUME_SLIDE;
  if (c->cone.has_plane) memcpy(memory->plane, c->cone.plane, sizeof memory->plane);
}

void ab_volume_report(const abContactProblem* problem, const abVolumeContact* c, const double* v,
                      abPairSolution* out) {
  const abPatch* p = &c->pair->patch;
  out->point = p->center;
  if (!c->active) {
    out->mode = AB_CONTACT_SEPARATING;
    return;
  }
  const double normal[6] = {0, 0, c->f[2], c->f[3], c->f[4], 0};
  out->impulse = ab_volume_wrench_out(c, c->f);
  out->normal_part = ab_volume_wrench_out(c, normal);
  out->mode = c->f[2] <= 0                 ? AB_CONTACT_SEPARATING
              : c->mode >= AB_VOLUME_SLIDE ? AB_CONTACT_SLIP
                                           : AB_CONTACT_STICK;
  double w[6];
  ab_volume_twist_in(c, ab_pair_twist(problem, c->pair, p->center, v), w);
  abVec2 cop = c->f[2] > 0 ? v2(-c->f[4] / c->f[2], c->f[3] / c->f[2]) : v2(0, 0);
  abVec2 s = ab_volume_sliding_velocity(w, cop);
  out->slip[0] = s.x, out->slip[1] = s.y, out->slip[2] = w[5] / c->size;
}
