// The overlap as Muller & Preparata (1978) find it, and with them the volumetric contact papers.
//
// In world coordinates shifted to the middle between the bodies: planes n_i . x <= d_i.
// The point x0 deepest inside all of them solves max r, n_i . x + r <= d_i; its dual,
//   min d . y  subject to  sum y_i n_i = 0, sum y_i = 1, y >= 0,
// has four rows, and its multipliers are (x0, r). About x0 the plane i has the dual point
// n_i / (d_i - n_i . x0); a facet m . y <= c of the dual points' hull is the vertex x0 + m / c.
#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>

#include <abut/solve.h>

#include "math/rotation.h"
#include "oracle/overlap.h"

static int add_planes(const abPolyhedron* P, abPose pose, abVec3 origin, abPlane* plane) {
  pose.p = v3_sub(pose.p, origin);
  int n = P ? P->nface : 1;
  for (int i = 0; i < n; i++) {
    abPlane in = P ? P->plane[i] : (abPlane){{0, 0, 1}, 0};
    plane[i].n = quat_rotate(pose.q, in.n);
    plane[i].d = in.d + v3_dot(plane[i].n, pose.p);
  }
  return n;
}

// How deep it lies; NAN if the linear program was not solved.
static double deepest_point(int n, const abPlane* plane, abVec3* x0) {
  double* a = malloc(sizeof(double) * (size_t)n * 6);
  double *c = a + 4 * (size_t)n, *y = c + n;
  double b[4] = {0, 0, 0, 1}, dual[4] = {0};
  for (int i = 0; i < n; i++) {
    a[4 * i] = plane[i].n.x, a[4 * i + 1] = plane[i].n.y, a[4 * i + 2] = plane[i].n.z;
    a[4 * i + 3] = 1;
    c[i] = plane[i].d;
  }
  void* workspace = malloc(ab_lp_workspace(4, n));
  abLpDef def = {.nrow = 4, .ncol = n, .a = a, .b = b, .c = c};
  abSolveResult result = ab_lp(&def, y, dual, workspace);
  *x0 = v3(dual[0], dual[1], dual[2]);
  double r = result.status == AB_SOLVE_OK ? INFINITY : NAN;
  for (int i = 0; i < n && r > -INFINITY; i++) r = fmin(r, plane[i].d - v3_dot(plane[i].n, *x0));
  free(workspace);
  free(a);
  return r;
}

// Facet planes of a hull as m . y <= c, and its volume. Returns their number, -1 if qhull gives up.
static int hull(int n, double* point, abPlane* facet_out, int cap, double* volume) {
  FILE* sink = fopen("/dev/null", "w");
  qhT* qh = malloc(sizeof *qh);
  qh_zero(qh, sink);
  char command[] = "qhull Pp Qt FA";
  int count = qh_new_qhull(qh, 3, n, point, False, command, NULL, sink) ? -1 : 0;
  facetT* facet;
  if (count == 0) {
    qh_getarea(qh, qh->facet_list);
    *volume = qh->totvol;
    FORALLfacets {
      if (count == cap) break;
      facet_out[count].n = v3(facet->normal[0], facet->normal[1], facet->normal[2]);
      facet_out[count++].d = -facet->offset;
    }
  }
  qh_freeqhull(qh, !qh_ALL);
  int left, total;
  qh_memfreeshort(qh, &left, &total);
  free(qh);
  fclose(sink);
  return count;
}

static abVec3 centroid_of_hull(int n, const double* x, int nfacet, const abPlane* facet);

bool oracle_overlap_dual(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                         OracleOverlap* out) {
  *out = (OracleOverlap){0};
  int na = A ? A->nface : 1, n = na + (B ? B->nface : 1), cap = 8 * n + 64;
  abPlane* plane = malloc(sizeof(abPlane) * (size_t)(n + cap));
  abPlane* facet = plane + n;
  double* point = malloc(sizeof(double) * 3 * (size_t)cap);
  abVec3 origin = A ? pose_a.p : pose_b.p, x0;
  add_planes(A, pose_a, origin, plane);
  add_planes(B, pose_b, origin, plane + na);
  double r = deepest_point(n, plane, &x0);
  bool good = !isnan(r);
  if (good && r > 0) {
    for (int i = 0; i < n; i++) {
      abVec3 y = v3_scale(r / (plane[i].d - v3_dot(plane[i].n, x0)), plane[i].n);
      point[3 * i] = y.x, point[3 * i + 1] = y.y, point[3 * i + 2] = y.z;
    }
    double ignored;
    int nvert = hull(n, point, facet, cap, &ignored);
    for (int i = 0; i < nvert; i++) {
      abVec3 x = v3_scale(1 / facet[i].d, facet[i].n);  // in units of r
      point[3 * i] = x.x, point[3 * i + 1] = x.y, point[3 * i + 2] = x.z;
    }
    double volume = 0;
    int nfacet = nvert > 0 ? hull(nvert, point, facet, cap, &volume) : -1;
    good = nfacet > 0;
    out->contact = good;
    out->volume = volume * r * r * r;
    out->inradius = r;
    if (good)
      out->centroid =
          v3_add(v3_add(origin, x0), v3_scale(r, centroid_of_hull(nvert, point, nfacet, facet)));
  }
  free(point);
  free(plane);
  return good;
}

// By the pyramids between the origin (inside) and the facets: a facet's share of the volume and its
// centroid come from the points in its plane, ordered by angle.
static int by_angle(const void* a, const void* b) {
  const double *p = a, *q = b;
  return (p[3] > q[3]) - (p[3] < q[3]);
}

static abVec3 centroid_of_hull(int n, const double* x, int nfacet, const abPlane* facet) {
  double(*ring)[4] = malloc(sizeof(double[4]) * (size_t)n);
  double volume = 0, size = 0;
  abVec3 moment = v3_zero();
  for (int i = 0; i < 3 * n; i++) size = fmax(size, fabs(x[i]));
  for (int f = 0; f < nfacet; f++) {
    // triangulated facets of one plane repeat it: take the first only
    bool seen = false;
    for (int g = 0; g < f && !seen; g++)
      seen = v3_norm(v3_sub(facet[f].n, facet[g].n)) < 1e-9 &&
             fabs(facet[f].d - facet[g].d) < 1e-9 * size;
    if (seen) continue;
    abVec3 t1, t2, mean = v3_zero();
    v3_tangents(facet[f].n, &t1, &t2);
    int m = 0;
    for (int i = 0; i < n; i++) {
      abVec3 p = v3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
      if (fabs(v3_dot(facet[f].n, p) - facet[f].d) > 1e-9 * size) continue;
      ring[m][0] = p.x, ring[m][1] = p.y, ring[m++][2] = p.z;
      mean = v3_add(mean, p);
    }
    mean = v3_scale(1.0 / m, mean);
    for (int i = 0; i < m; i++) {
      abVec3 d = v3_sub(v3(ring[i][0], ring[i][1], ring[i][2]), mean);
      ring[i][3] = atan2(v3_dot(t2, d), v3_dot(t1, d));
    }
    qsort(ring, (size_t)m, sizeof ring[0], by_angle);
    for (int i = 0; i < m; i++) {
      const double *p = ring[i], *q = ring[(i + 1) % m];
      abVec3 a = v3(p[0], p[1], p[2]), b = v3(q[0], q[1], q[2]);
      double v = v3_dot(mean, v3_cross(a, b)) / 6;
      volume += v;
      moment = v3_axpy(v / 4, v3_add(mean, v3_add(a, b)), moment);
    }
  }
  free(ring);
  return v3_scale(1 / volume, moment);
}
