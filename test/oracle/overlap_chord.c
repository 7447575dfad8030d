// How thick an overlap is along a direction, by linear programming with GLPK.
//
// The longest chord along n: a point x and a length l, x and x + l n behind every face plane, l as
// large as can be. It is asked for in coordinates in which the overlap is about one long in each
// direction, so that slivers are no harder than other overlaps: along its widest direction, the
// widest across that, and the third, each divided by the extent along it.
#include "oracle/overlap.h"

#ifdef ABUT_HAVE_GLPK

#include <float.h>
#include <glpk.h>

#include "math/rotation.h"

// Orthonormal axes, as rows, along which the overlap is widest, next and narrowest: from its first
// vertex to the furthest, across that to the furthest, across both.
static void sliver_axes(const abOverlap* o, abMat3* axes) {
  abVec3 u = v3_zero(), v = v3_zero();
  for (int i = 1; i < o->nvert; i++) {
    abVec3 r = v3_sub(o->vert[i], o->vert[0]);
    if (v3_norm2(r) > v3_norm2(u)) u = r;
  }
  u = v3_unit(u);
  for (int i = 1; i < o->nvert; i++) {
    abVec3 r = v3_sub(o->vert[i], o->vert[0]);
    r = v3_axpy(-v3_dot(r, u), u, r);
    if (v3_norm2(r) > v3_norm2(v)) v = r;
  }
  v = v3_unit(v3_axpy(-v3_dot(v, u), u, v));
  abVec3 w = v3_cross(u, v);
  *axes = (abMat3){{{u.x, u.y, u.z}, {v.x, v.y, v.z}, {w.x, w.y, w.z}}};
}

double oracle_overlap_chord(const abOverlap* o, abVec3 n) {
  abMat3 axes = m3_identity();
  abVec3 low = v3(DBL_MAX, DBL_MAX, DBL_MAX), high = v3_neg(low);
  sliver_axes(o, &axes);
  for (int i = 0; i < o->nvert; i++) {
    abVec3 r = m3_apply(&axes, v3_sub(o->vert[i], o->vert[0]));
    low = v3(fmin(low.x, r.x), fmin(low.y, r.y), fmin(low.z, r.z));
    high = v3(fmax(high.x, r.x), fmax(high.y, r.y), fmax(high.z, r.z));
  }
  abVec3 extent = v3_sub(high, low), along = m3_apply(&axes, n);
  // no chord is longer than this: the unit of l
  double unit = DBL_MAX;
  for (int k = 0; k < 3; k++)
    unit = fmin(unit, v3_get(extent, k) / fmax(fabs(v3_get(along, k)), DBL_MIN));
  glp_prob* lp = glp_create_prob();
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_cols(lp, 4);
  for (int k = 1; k <= 4; k++) glp_set_col_bnds(lp, k, k == 4 ? GLP_LO : GLP_FR, 0, 0);
  glp_set_obj_coef(lp, 4, 1);
  glp_add_rows(lp, 2 * o->nface);
  for (int f = 0; f < o->nface; f++) {
    abVec3 m = m3_apply(&axes, o->face[f].normal);
    double row[4] = {m.x * extent.x, m.y * extent.y, m.z * extent.z, unit * v3_dot(m, along)};
    double d = v3_dot(o->face[f].normal, v3_sub(o->vert[o->face[f].vert], o->vert[0]));
    double scale = 1 / fmax(fabs(row[0]), fmax(fabs(row[1]), fabs(row[2])));
    for (int end = 0; end < 2; end++) {
      int index[5] = {0, 1, 2, 3, 4};
      double value[5] = {0, scale * row[0], scale * row[1], scale * row[2],
                         end ? scale * row[3] : 0};
      glp_set_mat_row(lp, 2 * f + end + 1, 4, index, value);
      glp_set_row_bnds(lp, 2 * f + end + 1, GLP_UP, 0, scale * d);
    }
  }
  glp_smcp option;
  glp_init_smcp(&option);
  option.msg_lev = GLP_MSG_OFF;
  option.tol_bnd = option.tol_dj = 1e-10;
  option.it_lim = 300;  // degenerate corners make it go round in circles
  int failed = glp_simplex(lp, &option);
  double length = failed || glp_get_status(lp) != GLP_OPT ? -1 : unit * glp_get_obj_val(lp);
  glp_delete_prob(lp);
  return length;
}

#else

double oracle_overlap_chord(const abOverlap* o, abVec3 n) {
  (void)o, (void)n;
  return -1;
}

#endif
