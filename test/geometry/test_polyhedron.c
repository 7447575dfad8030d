// Polyhedra: hulls with merged faces, boxes, given faces, tessellations.
#include "geometry/polyhedron.h"

#include <string.h>

#include "base/alloc.h"
#include "geometry/mass.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

// The copies for loops over lanes hold the same numbers.
static void check_lanes(const abPolyhedron* p) {
  int n = ab_polyhedron_lanes(p->nvert), m = ab_polyhedron_lanes(p->nface);
  const double *x = ab_polyhedron_vert_lanes(p), *a = ab_polyhedron_plane_lanes(p);
  for (int i = 0; i < n; i++) {
    abVec3 v = v3(x[i], x[n + i], x[2 * n + i]);
    if (i < p->nvert)
      check_vec_near(v, v3_sub(p->vert[i], p->centroid), 0);
    else
      assert_true(isnan(v.x) && isnan(v.y) && isnan(v.z));
  }
  for (int i = 0; i < m; i++) {
    abVec3 normal = i < p->nface ? p->plane[i].n : v3_zero();
    check_vec_near(v3(a[i], a[m + i], a[2 * m + i]), normal, 0);
    if (i < p->nface)
      check_near(a[3 * m + i], p->plane[i].d, 0);
    else
      assert_true(a[3 * m + i] > 1e300);
  }
}

// Each edge is in the stars of its two vertices, away from each.
static void check_stars(const abPolyhedron* p) {
  if (p->nvert > 256 || p->nface > 256) return;
  const abLink *link = ab_polyhedron_link(p), *star = ab_polyhedron_star(p);
  const int* start = ab_polyhedron_star_start(p);
  assert_int_equal(start[0], 0);
  assert_int_equal(start[p->nvert], 2 * p->nedge);
  for (int v = 0; v < p->nvert; v++)
    for (int k = start[v]; k < start[v + 1]; k++) {
      abLink e = star[k],
             back = ab_link(ab_link_to(e), ab_link_from(e), ab_link_right(e), ab_link_left(e));
      int found = 0;
      assert_int_equal(ab_link_from(e), v);
      for (int i = 0; i < p->nedge; i++) found += link[i] == (v < ab_link_to(e) ? e : back);
      assert_int_equal(found, 1);
    }
}

// What every polyhedron must satisfy, whatever it was made from.
static void check_consistent(const abPolyhedron* p, double flat) {
  assert_int_equal(p->nvert - p->nedge + p->nface, 2);
  assert_int_equal(p->nloop, 2 * p->nedge);
  assert_int_equal(p->face_start[p->nface], p->nloop);
  double volume = 0;
  for (int f = 0; f < p->nface; f++) {
    check_near(v3_norm(p->plane[f].n), 1, 1e-14);
    assert_true(p->face_start[f + 1] - p->face_start[f] >= 3);
    for (int i = 0; i < p->nvert; i++)
      check_below(v3_dot(p->plane[f].n, p->vert[i]) - p->plane[f].d, flat);
    const int* loop = p->loop + p->face_start[f];
    int n = p->face_start[f + 1] - p->face_start[f];
    abVec3 area = v3_zero();
    for (int i = 0; i < n; i++) {
      abVec3 v = p->vert[loop[i]];
      check_near(v3_dot(p->plane[f].n, v), p->plane[f].d, flat);
      area = v3_axpy(0.5, v3_cross(v, p->vert[loop[(i + 1) % n]]), area);
    }
    assert_true(v3_dot(area, p->plane[f].n) > 0);
    // divergence theorem with face areas: a second way to the volume
    volume += p->plane[f].d * v3_dot(area, p->plane[f].n) / 3;
  }
  check_near(p->volume, volume, 1e-5 * p->volume);
  for (int e = 0; e < p->nedge; e++) {
    const int* edge = p->edge[e];
    assert_true(edge[0] < edge[1]);
    for (int side = 0; side < 2; side++) {
      int f = edge[2 + side], found = 0, n = p->face_start[f + 1] - p->face_start[f];
      const int* loop = p->loop + p->face_start[f];
      for (int i = 0; i < n; i++)
        found += loop[i] == edge[side] && loop[(i + 1) % n] == edge[1 - side];
      assert_int_equal(found, 1);
    }
  }
  double radius = 0;
  for (int i = 0; i < p->nvert; i++) radius = fmax(radius, v3_norm(p->vert[i]));
  check_near(p->radius, radius, 0);
  double nearest = INFINITY;
  for (int f = 0; f < p->nface; f++)
    nearest = fmin(nearest, p->plane[f].d - v3_dot(p->plane[f].n, p->centroid));
  check_near(ab_polyhedron_skin(p)->thin, 2 * nearest, 0);
  check_lanes(p);
  check_stars(p);
}

static void check_equal(const abPolyhedron* a, const abPolyhedron* b) {
  assert_int_equal(a->nvert, b->nvert);
  assert_int_equal(a->nface, b->nface);
  assert_int_equal(a->nedge, b->nedge);
  assert_int_equal(a->nloop, b->nloop);
  assert_memory_equal(a->loop, b->loop, (size_t)a->nloop * sizeof(int));
  assert_memory_equal(a->face_start, b->face_start, (size_t)(a->nface + 1) * sizeof(int));
  assert_memory_equal(a->edge, b->edge, (size_t)a->nedge * sizeof(int[4]));
  for (int i = 0; i < a->nvert; i++) check_vec_near(a->vert[i], b->vert[i], 0);
  for (int i = 0; i < a->nface; i++) {
    check_vec_near(a->plane[i].n, b->plane[i].n, 1e-15);
    check_near(a->plane[i].d, b->plane[i].d, 1e-15 * a->radius);
  }
  check_vec_near(a->centroid, b->centroid, 1e-15 * a->radius);
  check_near(a->volume, b->volume, 1e-15 * a->volume);
  check_near(a->radius, b->radius, 0);
}

static int box_points(abVec3 h, abVec3* out) {
  for (int i = 0; i < 8; i++)
    out[i] = v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
  return 8;
}

static void box_is_a_cuboid(void** state) {
  (void)state;
  abPolyhedron* p = ab_polyhedron_box(v3(1, 2, 3));
  assert_int_equal(p->nvert, 8);
  assert_int_equal(p->nface, 6);
  assert_int_equal(p->nedge, 12);
  check_near(p->volume, 48, 0);
  check_consistent(p, 1e-15);
  ab_polyhedron_free(p);
}

static void hull_of_box_corners_is_the_box_field_by_field(void** state) {
  (void)state;
  abVec3 h = v3(0.3, 0.07, 1.9), point[40];
  int n = box_points(h, point);
  // repeated corners, midpoints of edges, centres of faces and inner points change nothing
  for (int i = 0; i < 8; i++) point[n++] = point[i];
  for (int i = 0; i < 8; i++) point[n++] = v3_lerp(point[i], point[i ^ 1], 0.5);
  for (int i = 0; i < 8; i++) point[n++] = v3_lerp(point[i], point[i ^ 3], 0.5);
  for (int i = 0; i < 8; i++) point[n++] = v3_scale(0.5, point[i]);
  abPolyhedron *a = ab_polyhedron_hull(n, point, NULL), *b = ab_polyhedron_box(h);
  assert_non_null(a);
  check_equal(a, b);
  ab_polyhedron_free(a);
  ab_polyhedron_free(b);
}

static void hull_does_not_depend_on_the_order_of_points(void** state) {
  (void)state;
  Random r = {7};
  abVec3 point[60], shuffled[60];
  for (int i = 0; i < 60; i++) point[i] = shuffled[i] = random_vec(&r, 1);
  for (int i = 59; i > 0; i--) {
    int k = random_below(&r, i + 1);
    abVec3 t = shuffled[i];
    shuffled[i] = shuffled[k];
    shuffled[k] = t;
  }
  abPolyhedron* a = ab_polyhedron_hull(60, point, NULL);
  abPolyhedron* b = ab_polyhedron_hull(60, shuffled, NULL);
  check_equal(a, b);
  ab_polyhedron_free(a);
  ab_polyhedron_free(b);
}

// A file holds the corners of a turned box to single precision: no four of them are coplanar.
static void turned_box_in_single_precision_has_six_faces(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 300; trial++) {
    double scale = pow(10, random_uniform(&r, -3, 3));
    abVec3 h = v3(scale * random_uniform(&r, 0.02, 1), scale * random_uniform(&r, 0.02, 1), scale);
    abPose pose = {random_vec(&r, scale), random_rotation(&r)};
    abVec3 point[8];
    box_points(h, point);
    for (int i = 0; i < 8; i++) {
      abVec3 x = pose_apply(pose, point[i]);
      point[i] = v3((double)(float)x.x, (double)(float)x.y, (double)(float)x.z);
    }
    abError error = {0};
    abPolyhedron* p = ab_polyhedron_hull(8, point, &error);
    if (!p) fail_msg("%s", error.message);
    assert_int_equal(p->nvert, 8);
    assert_int_equal(p->nface, 6);
    assert_int_equal(p->nedge, 12);
    check_consistent(p, 3e-6 * scale);
    check_near(p->volume, 8 * h.x * h.y * h.z, 1e-5 * 8 * h.x * h.y * h.z);
    ab_polyhedron_free(p);
  }
}

static void random_hulls_are_consistent_at_every_scale(void** state) {
  (void)state;
  Random r = {11};
  for (int trial = 0; trial < 300; trial++) {
    double scale = pow(10, random_uniform(&r, -4, 4));
    int n = 4 + random_below(&r, 100);
    abVec3 centre = random_vec(&r, 10 * scale), point[104];
    bool sphere = random_below(&r, 2);
    for (int i = 0; i < n; i++)
      point[i] = v3_add(centre, v3_scale(scale, sphere ? random_direction(&r) : random_vec(&r, 1)));
    abError error = {0};
    abPolyhedron* p = ab_polyhedron_hull(n, point, &error);
    if (!p) fail_msg("trial %d, %d points: %s", trial, n, error.message);
    check_consistent(p, 1e-5 * scale);
    for (int f = 0; f < p->nface; f++)
      for (int i = 0; i < n; i++)
        check_below(v3_dot(p->plane[f].n, point[i]) - p->plane[f].d, 3e-6 * scale);
    ab_polyhedron_free(p);
  }
}

// Points on a lattice: many coplanar and collinear ones.
static void lattice_hull_has_only_its_corners(void** state) {
  (void)state;
  abVec3 point[1000];
  int n = 0;
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 10; k++) point[n++] = v3(0.1 * i, 0.1 * j, 0.1 * k);
  abPolyhedron* p = ab_polyhedron_hull(n, point, NULL);
  assert_int_equal(p->nvert, 8);
  assert_int_equal(p->nface, 6);
  ab_polyhedron_free(p);
}

// A prism over a square with one corner raised by 1e-8: to files flat, to the exact hull not.
static void exact_hull_keeps_what_files_cannot_tell(void** state) {
  (void)state;
  abVec3 point[8];
  box_points(v3(0.5, 0.5, 0.5), point);
  point[7].z += 1e-8;
  abPolyhedron* a = ab_polyhedron_hull(8, point, NULL);
  abPolyhedron* b = ab_polyhedron_hull_flat(8, point, 0, NULL);
  assert_int_equal(a->nface, 6);
  assert_int_equal(b->nface, 7);  // the top is two triangles
  // the corner's tetrahedron: base of area 1/2 below it
  check_near(b->volume, 1 + 1e-8 / 3, 1e-15);
  ab_polyhedron_free(a);
  ab_polyhedron_free(b);
}

static void finely_divided_sphere_keeps_its_facets(void** state) {
  (void)state;
  enum { N = 4000 };
  abVec3* point = ab_alloc(N * sizeof *point);
  for (int i = 0; i < N; i++) {  // a spiral of evenly spread points
    double z = 1 - (2 * i + 1.0) / N, a = 2.399963229728653 * i, rho = sqrt(1 - z * z);
    point[i] = v3(rho * cos(a), rho * sin(a), z);
  }
  abPolyhedron* p = ab_polyhedron_hull(N, point, NULL);
  assert_int_equal(p->nvert, N);
  assert_true(p->nface > N);
  check_consistent(p, 1e-6);
  ab_polyhedron_free(p);
  ab_free(point);
}

static void expect_error(int n, const abVec3* point, const char* word) {
  abError error = {0};
  assert_null(ab_polyhedron_hull(n, point, &error));
  assert_int_equal(error.code, AB_ERROR_SCENE);
  if (!strstr(error.message, word))
    fail_msg("\"%s\" does not speak of \"%s\"", error.message, word);
}

static void points_without_volume_are_refused_with_the_reason(void** state) {
  (void)state;
  Random r = {5};
  abVec3 p[20];
  for (int i = 0; i < 20; i++) p[i] = random_vec(&r, 1);
  expect_error(3, p, "3 points");
  p[4].y = NAN;
  expect_error(20, p, "finite");
  p[4].y = INFINITY;
  expect_error(20, p, "finite");
  abQuat q = random_rotation(&r);
  for (int i = 0; i < 20; i++) p[i] = quat_rotate(q, v3(random_normal(&r), random_normal(&r), 0.3));
  expect_error(20, p, "one plane");
  for (int i = 0; i < 20; i++) p[i] = quat_rotate(q, v3(random_normal(&r), 0.2, 0.3));
  expect_error(20, p, "one line");
  for (int i = 0; i < 20; i++) p[i] = v3(0.1, 0.2, 0.3);
  expect_error(20, p, "coincide");
  // a flat sheet stored in single precision is still flat
  for (int i = 0; i < 20; i++) {
    abVec3 x = quat_rotate(q, v3(random_normal(&r), random_normal(&r), 0.3));
    p[i] = v3((double)(float)x.x, (double)(float)x.y, (double)(float)x.z);
  }
  expect_error(20, p, "one plane");
}

static void thin_plates_and_needles_have_hulls(void** state) {
  (void)state;
  Random r = {13};
  for (int trial = 0; trial < 100; trial++) {
    double t = pow(10, random_uniform(&r, -5, 0)), u = pow(10, random_uniform(&r, -5, 0));
    abVec3 point[8];
    box_points(v3(1, t, random_below(&r, 2) ? u : 1), point);
    abQuat q = random_rotation(&r);
    for (int i = 0; i < 8; i++) point[i] = quat_rotate(q, point[i]);
    abError error = {0};
    abPolyhedron* p = ab_polyhedron_hull(8, point, &error);
    if (!p) fail_msg("trial %d: %s", trial, error.message);
    assert_int_equal(p->nvert, 8);
    assert_int_equal(p->nface, 6);
    ab_polyhedron_free(p);
  }
}

static void moved_polyhedron_keeps_its_volume(void** state) {
  (void)state;
  Random r = {17};
  abPolyhedron* p = ab_polyhedron_box(v3(1, 2, 3));
  abPose pose = {random_vec(&r, 5), random_rotation(&r)};
  abPolyhedron* q = ab_polyhedron_moved(p, pose, NULL);
  check_consistent(q, 1e-14 * q->radius);
  check_near(q->volume, 48, 0);
  check_vec_near(q->centroid, pose.p, 1e-15);
  ab_polyhedron_free(p);
  ab_polyhedron_free(q);
}

static void given_faces_are_kept_or_merged(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(1, 2, 3));
  abPolyhedron* p = ab_polyhedron_faces(8, box->vert, 6, box->face_start, box->loop, NULL);
  check_equal(p, box);
  ab_polyhedron_free(p);
  // the box's faces cut into triangles come back whole
  int start[13], loop[36], n = 0;
  for (int f = 0; f < 6; f++) {
    const int* q = box->loop + box->face_start[f];
    int t[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
    memcpy(loop + 6 * f, t, sizeof t);
  }
  for (n = 0; n < 13; n++) start[n] = 3 * n;
  p = ab_polyhedron_faces(8, box->vert, 12, start, loop, NULL);
  check_equal(p, box);
  ab_polyhedron_free(p);
  ab_polyhedron_free(box);
}

static void bad_faces_are_refused(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(1, 1, 1));
  int loop[24], start[7];
  abVec3 vert[8];
  abError error = {0};
  memcpy(vert, box->vert, sizeof vert);
  memcpy(start, box->face_start, sizeof start);
  for (int f = 0; f < 6; f++)  // all faces turned inside out
    for (int i = 0; i < 4; i++) loop[4 * f + i] = box->loop[4 * f + 3 - i];
  assert_null(ab_polyhedron_faces(8, vert, 6, start, loop, &error));
  assert_non_null(strstr(error.message, "counter-clockwise"));
  memcpy(loop, box->loop, sizeof loop);
  loop[3] = 8;
  assert_null(ab_polyhedron_faces(8, vert, 6, start, loop, &error));
  assert_non_null(strstr(error.message, "names vertex 8"));
  memcpy(loop, box->loop, sizeof loop);
  assert_null(ab_polyhedron_faces(8, vert, 5, start, loop, &error));
  assert_non_null(strstr(error.message, "close"));
  vert[3] = v3_scale(1.5, vert[3]);
  assert_null(ab_polyhedron_faces(8, vert, 6, start, loop, &error));
  assert_non_null(strstr(error.message, "not flat"));
  vert[3].x = NAN;
  assert_null(ab_polyhedron_faces(8, vert, 6, start, loop, &error));
  assert_non_null(strstr(error.message, "finite"));
  ab_polyhedron_free(box);
}

static void tessellations_keep_their_bound_and_lie_on_the_surface(void** state) {
  (void)state;
  static const abShape shape[] = {{AB_SHAPE_SPHERE, {0.7, 0, 0}, NULL, 0},
                                  {AB_SHAPE_CAPSULE, {0.2, 0.5, 0}, NULL, 0},
                                  {AB_SHAPE_CAPSULE, {0.2, 50, 0}, NULL, 0},
                                  {AB_SHAPE_CAPSULE, {20, 0.005, 0}, NULL, 0},
                                  {AB_SHAPE_CYLINDER, {0.3, 0.1, 0}, NULL, 0},
                                  {AB_SHAPE_ELLIPSOID, {0.001, 0.002, 0.0005}, NULL, 0}};
  static const double bound[] = {0.2, 0.05, 0.02, 0.01, 0.002};
  for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
    for (size_t b = 0; b < sizeof bound / sizeof *bound; b++) {
      double achieved;
      abError error = {0};
      abPolyhedron* p = ab_polyhedron_of_shape(&shape[s], bound[b], &achieved, &error);
      if (!p) fail_msg("%s", error.message);
      double exact = ab_mass_of_shape(shape[s].type, shape[s].size, false, 1).mass,
             size = ab_shape_radius(&shape[s]);
      check_below(achieved, bound[b]);
      check_near(p->volume, (1 - achieved) * exact, 1e-12 * exact);
      check_consistent(p, 1e-13 * size);
      abVec3 low, high;
      abPose pose = pose_identity();
      ab_shape_aabb(&shape[s], &pose, &low, &high);
      abVec3 top = v3_zero();
      for (int i = 0; i < p->nvert; i++) {  // inscribed: nothing beyond the shape in any direction
        abVec3 v = p->vert[i];
        top = v3(fmax(top.x, v.x), fmax(top.y, v.y), fmax(top.z, v.z));
        if (v3_norm(v) > 0)
          check_below(v3_dot(v, v), v3_dot(v, ab_support(&shape[s], v)) * (1 + 1e-14));
      }
      check_vec_near(top, high, 1e-15 * size);
      ab_polyhedron_free(p);
    }
}

static void impossible_tessellations_are_refused(void** state) {
  (void)state;
  abShape sphere = {AB_SHAPE_SPHERE, {1, 0, 0}, NULL, 0},
          plane = {AB_SHAPE_PLANE, {1, 1, 1}, NULL, 0};
  abError error = {0};
  assert_null(ab_polyhedron_of_shape(&sphere, 1e-9, NULL, &error));
  assert_non_null(strstr(error.message, "too many"));
  assert_null(ab_polyhedron_of_shape(&plane, 0.01, NULL, &error));
}

// Each half-edge follows the other around its face, and the two of an edge run opposite ways.
static void half_edges_run_around_the_faces(void** state) {
  (void)state;
  Random r = {21};
  for (int k = 0; k < 50; k++) {
    abVec3 point[40];
    int n = 4 + random_below(&r, 36);
    for (int i = 0; i < n; i++) point[i] = random_vec(&r, 1);
    abPolyhedron* p = k ? ab_polyhedron_hull(n, point, NULL) : ab_polyhedron_box(v3(1, 2, 3));
    assert_non_null(p);
    assert_int_equal(ab_polyhedron_skin(p)->box, k == 0);
    const abHalf* half = ab_polyhedron_half(p);
    for (int f = 0; f < p->nface; f++) {
      int first = ab_polyhedron_face_half(p)[f], h = first, count = 0;
      do {
        assert_int_equal(half[h].left, f);
        assert_int_equal(half[half[h].next].from, half[h ^ 1].from);
        h = half[h].next, count++;
      } while (h != first);
      assert_int_equal(count, p->face_start[f + 1] - p->face_start[f]);
    }
    for (int v = 0; v < p->nvert; v++)
      assert_int_equal(half[ab_polyhedron_vert_half(p)[v]].from, v);
    const abSkin* skin = ab_polyhedron_skin(p);
    for (int v = 0; v < p->nvert; v++) {
      abVec3 d = v3_sub(p->vert[v], skin->middle);
      check_below(
          fmax(fabs(d.x) - skin->half.x, fmax(fabs(d.y) - skin->half.y, fabs(d.z) - skin->half.z)),
          1e-15);
    }
    ab_polyhedron_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_edges_run_around_the_faces),
      cmocka_unit_test(box_is_a_cuboid),
      cmocka_unit_test(hull_of_box_corners_is_the_box_field_by_field),
      cmocka_unit_test(hull_does_not_depend_on_the_order_of_points),
      cmocka_unit_test(turned_box_in_single_precision_has_six_faces),
      cmocka_unit_test(random_hulls_are_consistent_at_every_scale),
      cmocka_unit_test(lattice_hull_has_only_its_corners),
      cmocka_unit_test(exact_hull_keeps_what_files_cannot_tell),
      cmocka_unit_test(finely_divided_sphere_keeps_its_facets),
      cmocka_unit_test(points_without_volume_are_refused_with_the_reason),
      cmocka_unit_test(thin_plates_and_needles_have_hulls),
      cmocka_unit_test(moved_polyhedron_keeps_its_volume),
      cmocka_unit_test(given_faces_are_kept_or_merged),
      cmocka_unit_test(bad_faces_are_refused),
      cmocka_unit_test(tessellations_keep_their_bound_and_lie_on_the_surface),
      cmocka_unit_test(impossible_tessellations_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
