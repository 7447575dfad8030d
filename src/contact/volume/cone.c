// Is a 6-axis force admissible? The cone test of contact/volume/volume.h: f = sum of lambda a over
// the generators a = K_l^T (n + mu e_p) of all vertices l and pyramid edges p, lambda >= 0.
//
// In general this is phase one of a linear program of six rows. While forces are sought, the
// question comes again and again with forces that hardly differ, so four cheaper answers are tried
// first, each of them a proof:
//
//   inside   weights affine over the vertices carry the normal force and the tilting moments, and
//            friction in proportion to them plus a turn about the centre of pressure stays within
//            the pyramids' inner radius; or the six generators of the last inside force carry this
//            one too, with non-negative weights (a product with their inverse);
//   outside  the resultant leaves the cone, or the centre of pressure the polygon; or the plane
//   that
//            separated the last outside force from all generators separates this one too (Farkas):
//            that of this step, or the last step's, lowered until it has the present generators
//            below it.
// Tests: test_volume_models, test_volume_scales.
#include <abut/solve.h>
#include <float.h>
#include <string.h>

#include "contact/volume/volume.h"
#include "solve/dense.h"

// --- answers without a linear program
// -------------------------------------------------------------------------------------------------

// Inverse of sum_l g g^T, g = (1, x, y): weights a + b . r of given sums. Zero weights, which
// answer nothing, where it is singular (a line): vertices are in units of the patch's size.
static void prepare_moment(abVolumeContact* c) {
  double(*inverse)[3] = c->cone.moment, n = c->nvert, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 r = c->vert[l];
    x += r.x, y += r.y, xx += r.x * r.x, xy += r.x * r.y, yy += r.y * r.y;
  }
  const double cofactor[3][3] = {{xx * yy - xy * xy, y * xy - x * yy, x * xy - y * xx},
                                 {y * xy - x * yy, n * yy - y * y, x * y - n * xy},
                                 {x * xy - y * xx, x * y - n * xy, n * xx - x * x}};
  double det = n * cofactor[0][0] + x * cofactor[0][1] + y * cofactor[0][2];
  for (int i = 0; i < 3 && det > DBL_EPSILON; i++)
    for (int j = 0; j < 3; j++) inverse[i][j] = cofactor[i][j] / det;
  c->cone.has_moment = true;
}

// Weights affine over the vertices that carry the normal force and the tilting moments of f. On a
// thin patch the inverse has lost digits, so what is left over is carried again.
static bool spread(abVolumeContact* c, const double f[6], double* lambda) {
  if (!c->cone.has_moment) prepare_moment(c);
  double(*m)[3] = c->cone.moment;
  double b[3] = {0}, left[3] = {f[2], -f[4], f[3]};  // of the sums of 1, x, y
  for (int pass = 0; pass < 3; pass++) {
    for (int i = 0; i < 3; i++) b[i] += m[0][i] * left[0] + m[1][i] * left[1] + m[2][i] * left[2];
    left[0] = f[2], left[1] = -f[4], left[2] = f[3];
    for (int l = 0; l < c->nvert; l++) {
      abVec2 r = c->vert[l];
      lambda[l] = b[0] + b[1] * r.x + b[2] * r.y;
      if (!(lambda[l] >= 0)) return false;
      left[0] -= lambda[l], left[1] -= lambda[l] * r.x, left[2] -= lambda[l] * r.y;
    }
    if (fabs(left[0]) + fabs(left[1]) + fabs(left[2]) <= AB_VOLUME_CONE_TOLERANCE * f[2])
      return true;
  }
  return false;
}

static bool spread_is_inside(abVolumeContact* c, const double f[6]) {
  double lambda[AB_VOLUME_MAX_VERTEX];
  if (!spread(c, f, lambda)) return false;
  double inverse = 1 / f[2], inertia = 0;
  abVec2 cop = v2(-f[4] * inverse, f[3] * inverse);
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], cop);
    inertia += lambda[l] * v2_dot(d, d);
  }
  if (!(inertia > 0)) return false;
  double turn = (f[5] - (cop.x * f[1] - cop.y * f[0])) / inertia;
  double limit = c->mu_static * c->option->inner;
  for (int l = 0; l < c->nvert; l++) {
    abVec2 d = v2_sub(c->vert[l], cop);
    abVec2 t = v2(f[0] * inverse - turn * d.y, f[1] * inverse + turn * d.x);
    if (v2_dot(t, t) > limit * limit) return false;
  }
  return true;
}

bool ab_volume_tips(const abVolumeContact* c, const double f[6]) {
  if (f[2] <= 0) return true;
  abVec2 cop = v2(-f[4] / f[2], f[3] / f[2]), a = c->vert[c->nvert - 1];
  for (int l = 0; l < c->nvert; l++) {
    abVec2 b = c->vert[l];
    // Vertices are in units of the patch's size, so the cross product is a distance times a length
    // of order one.
    if (v2_cross(v2_sub(b, a), v2_sub(cop, a)) < -AB_VOLUME_CONE_TOLERANCE) return true;
    a = b;
  }
  return false;
}

static bool resultant_is_outside(const abVolumeContact* c, const double f[6]) {
  double limit = c->mu_static * f[2] * (1 + AB_VOLUME_CONE_TOLERANCE);
  return f[0] * f[0] + f[1] * f[1] > limit * limit || ab_volume_tips(c, f);
}

static bool basis_carries(const abVolumeCone* cone, const double f[6]) {
  for (int i = 0; i < 6; i++)
    if (!(dense_dot(cone->basis + 6 * i, f, 6) >= 0)) return false;
  return true;
}

// The plane proves |f - A lambda| >= plane . f / sum |plane| for every lambda >= 0; `plane` is
// scaled to sum 1.
static bool plane_separates(const abVolumeCone* cone, const double f[6]) {
  double size = 0;
  for (int i = 0; i < 6; i++) size = larger(size, fabs(f[i]));
  return dense_dot(cone->plane, f, 6) > AB_VOLUME_CONE_TOLERANCE * size;
}

// --- the linear program
// -------------------------------------------------------------------------------------------------

static bool build_generators(abVolumeContact* c) {
  int n = c->nvert * c->option->npyramid;
  double* a = c->cone.generator = AB_TAKE(c->option->scratch, double, 6 * n);
  if (!a) return false;
  for (int l = 0; l < c->nvert; l++)
    for (int p = 0; p < c->option->npyramid; p++, a += 6)
      ab_volume_generator(c->vert[l], c->mu_static, c->option->direction[p], a);
  return true;
}

// Only a full basis is worth keeping: with fewer generators f lies on a face of the cone.
static void keep_basis(abVolumeCone* cone, int n, const double* x) {
  double B[36], column[6];
  int pivot[6], k = 0;
  for (int j = 0; j < n; j++) {
    if (!(x[j] > 0)) continue;
    if (k == 6) return;
    for (int i = 0; i < 6; i++) B[6 * i + k] = cone->generator[6 * j + i];
    k++;
  }
  cone->has_basis = k == 6 && ab_dense_lu(6, B, pivot, 1e-10);
  for (int j = 0; cone->has_basis && j < 6; j++) {
    memset(column, 0, sizeof column);
    column[j] = 1;
    ab_dense_lu_solve(6, B, pivot, column);
    for (int i = 0; i < 6; i++) cone->basis[6 * i + j] = column[i];
  }
}

// The largest plane . generator: the plane's force at a vertex, (t, n), has n + mu t . e along the
// pyramid's edge e.
static double highest(const abVolumeContact* c, const double plane[6]) {
  double most = -INFINITY;
  for (int l = 0; l < c->nvert; l++) {
    double normal = ab_volume_normal_velocity(plane, c->vert[l]), along = -INFINITY;
    abVec2 t = ab_volume_sliding_velocity(plane, c->vert[l]);
    for (int p = 0; p < c->option->npyramid; p++)
      along = larger(along, v2_dot(t, c->option->direction[p]));
    most = larger(most, normal + c->mu_static * along);
  }
  return most;
}

// All generators have the normal component 1, so lowering the plane's makes up for the rounding of
// the dual, and for what a patch changed in a step.
static void keep_plane(abVolumeContact* c, const double plane[6]) {
  abVolumeCone* cone = &c->cone;
  double sum = 0;
  memcpy(cone->plane, plane, sizeof cone->plane);
  cone->plane[2] -= larger(0, highest(c, plane));
  for (int i = 0; i < 6; i++) sum += fabs(cone->plane[i]);
  cone->has_plane = isfinite(sum) && sum > 0;
  for (int i = 0; cone->has_plane && i < 6; i++) cone->plane[i] /= sum;
}

static bool last_plane_separates(abVolumeContact* c, const double f[6]) {
  if (!c->cone.last_plane) return false;
  keep_plane(c, c->cone.last_plane);
  c->cone.last_plane = NULL;
  return c->cone.has_plane && plane_separates(&c->cone, f);
}

static bool program_is_feasible(abVolumeContact* c, const double f[6]) {
  abVolumeCone* cone = &c->cone;
  if (!cone->generator && !build_generators(c)) return false;
  abArena* scratch = c->option->scratch;
  abArenaMark mark = ab_arena_mark(scratch);
  int n = c->nvert * c->option->npyramid;
  double *x = AB_TAKE(scratch, double, n), dual[6];
  void* workspace = ab_arena_take(scratch, ab_lp_workspace(6, n));
  bool inside = false;
  if (x && workspace) {
    abLpDef def = {
        .nrow = 6, .ncol = n, .a = cone->generator, .b = f, .tolerance = AB_VOLUME_CONE_TOLERANCE};
    abSolveStatus status = ab_lp_feasible(&def, x, dual, workspace).status;
    inside = status == AB_SOLVE_OK;
    if (inside) keep_basis(cone, n, x);
    if (status == AB_SOLVE_INFEASIBLE) keep_plane(c, dual);
  }
  ab_arena_release(scratch, mark);
  return inside;
}

static bool is_none(const abVolumeContact* c, const double f[6]) {
  double limit = AB_VOLUME_CONE_TOLERANCE * c->option->scale;
  return dense_dot(f, f, 6) <= limit * limit;
}

bool ab_volume_in_cone(abVolumeContact* c, const double f[6]) {
  if (f[2] > 0 && spread_is_inside(c, f)) return true;
  if (is_none(c, f)) return true;
  if (f[2] <= 0) return false;
  if (resultant_is_outside(c, f)) return false;
  if (c->cone.has_basis && basis_carries(&c->cone, f)) return true;
  if (c->cone.has_plane && plane_separates(&c->cone, f)) return false;
  if (last_plane_separates(c, f)) return false;
  return program_is_feasible(c, f);
}
