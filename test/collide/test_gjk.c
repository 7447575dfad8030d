// Distances of all pairs of shapes. A distance carries its own proof: the nearest points lie on the
// shapes and are that far apart, so it is not smaller; the plane between them separates the shapes
// by as much, so it is not larger. The proof uses the shapes' support functions from geometry/,
// which the distance code does not share.
#include <abut/abut.h>
#include <float.h>

#ifdef ABUT_HAVE_CCD
#include <ccd/ccd.h>
#include <ccd/quat.h>
#endif

#include "collide/distance/gjk.h"
#include "geometry/polyhedron.h"
#include "geometry/support.h"
#include "support/check.h"
#include "support/random.h"

static abPolyhedron* box_poly(abVec3 half) { return ab_polyhedron_box(half); }

static abShape random_shape(Random* r, abShapeType type) {
  double a = random_uniform(r, 0.1, 1), b = random_uniform(r, 0.1, 1),
         c = random_uniform(r, 0.1, 1);
  abShape s = {.type = type, .size = v3(a, b, c)};
  if (type == AB_SHAPE_BOX) s.poly = box_poly(s.size);
  if (type == AB_SHAPE_MESH) {
    abVec3 point[20];
    for (int i = 0; i < 20; i++) point[i] = random_vec(r, 0.8);
    s.poly = ab_polyhedron_hull(20, point, NULL);
    assert_non_null(s.poly);
  }
  return s;
}

static void free_shape(abShape* s) {
  if (s->type == AB_SHAPE_BOX || s->type == AB_SHAPE_MESH)
    ab_polyhedron_free((abPolyhedron*)s->poly);
}

static abVec3 support_world(const abShape* s, abPose p, abVec3 d) {
  return pose_apply(p, ab_support(s, quat_rotate(quat_conj(p.q), d)));
}

// Largest error of a found distance by both bounds, relative to the size of the configuration.
static double proof_gap(const abShape* a, abPose pa, const abShape* b, abPose pb,
                        const abDistance* d) {
  double size = v3_norm(v3_sub(pa.p, pb.p)) + 2;
  abVec3 n = d->normal;
  // Plane bound: every point of A is above its lowest along n, every point of B below its highest.
  double low = v3_dot(n, v3_sub(support_world(a, pa, v3_neg(n)), d->point2));
  double high = v3_dot(n, v3_sub(support_world(b, pb, n), d->point2));
  double plane = fabs((low - high) - d->separation);
  double length = fabs(v3_dot(n, v3_sub(d->point1, d->point2)) - d->separation);
  double skew = v3_norm(v3_cross(n, v3_sub(d->point1, d->point2)));
  // The points lie in their shapes: no farther along n, nor along the line between them, than the
  // support points.
  double out = fmax(v3_dot(n, v3_sub(d->point1, support_world(a, pa, n))),
                    v3_dot(v3_neg(n), v3_sub(d->point2, support_world(b, pb, v3_neg(n)))));
  return fmax(fmax(plane, length), fmax(skew, out)) / size;
}

static const abShapeType types[] = {AB_SHAPE_BOX,      AB_SHAPE_SPHERE,    AB_SHAPE_CAPSULE,
                                    AB_SHAPE_CYLINDER, AB_SHAPE_ELLIPSOID, AB_SHAPE_MESH};

static void every_distance_carries_its_proof(void** state) {
  (void)state;
  Random r = {1};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 60; k++) {
        abShape a = random_shape(&r, types[i]), b = random_shape(&r, types[j]);
        abPose pa = {random_vec(&r, 1), random_rotation(&r)};
        abPose pb = {v3_add(pa.p, v3_scale(random_uniform(&r, 2.6, 6), random_direction(&r))),
                     random_rotation(&r)};
        abDistance d;
        ab_distance(&a, pa, &b, pb, NULL, &d);
        assert_false(d.overlap);
        // Polyhedra end on a feature, exactly. Curved surfaces are approached until the two bounds
        // differ by rounding: the distance is then right to 1e-12, the points, at which the
        // distance is stationary, to its root.
        bool smooth = types[i] == AB_SHAPE_CYLINDER || types[i] == AB_SHAPE_ELLIPSOID ||
                      types[j] == AB_SHAPE_CYLINDER || types[j] == AB_SHAPE_ELLIPSOID;
        check_below(proof_gap(&a, pa, &b, pb, &d), smooth ? 1e-9 : 1e-12);
        assert_true(d.iterations < 150);
        free_shape(&a);
        free_shape(&b);
      }
}

static void distance_is_symmetric_and_follows_rigid_motion(void** state) {
  (void)state;
  Random r = {2};
  for (int k = 0; k < 500; k++) {
    abShape a = random_shape(&r, types[k % 6]), b = random_shape(&r, types[(k / 6) % 6]);
    abPose pa = {random_vec(&r, 1), random_rotation(&r)};
    abPose pb = {v3_add(pa.p, v3_scale(random_uniform(&r, 2.6, 4), random_direction(&r))),
                 random_rotation(&r)};
    abPose move = {random_vec(&r, 1000), random_rotation(&r)};  // a kilometre away
    abDistance d, swapped, moved;
    ab_distance(&a, pa, &b, pb, NULL, &d);
    ab_distance(&b, pb, &a, pa, NULL, &swapped);
    abPose qa = pose_mul(move, pa), qb = pose_mul(move, pb);
    ab_distance(&a, qa, &b, qb, NULL, &moved);
    // Each result bounds its own error.
    check_near(swapped.separation, d.separation, d.error + swapped.error);
    check_vec_near(v3_neg(swapped.normal), d.normal, 1e-5);
    // Coordinates of 1000 m are rounded to 1e-13 m.
    check_near(moved.separation, d.separation, d.error + moved.error + 1e-12);
    check_below(d.error, 1e-8 * 5);
    free_shape(&a);
    free_shape(&b);
  }
}

static void spheres_and_planes_are_exact(void** state) {
  (void)state;
  abShape a = {.type = AB_SHAPE_SPHERE, .size = v3(0.3, 0, 0)},
          b = {.type = AB_SHAPE_SPHERE, .size = v3(0.2, 0, 0)};
  abDistance d;
  ab_distance(&a, (abPose){v3(0, 0, 0.4), quat_identity()}, &b, pose_identity(), NULL, &d);
  check_near(d.separation, -0.1, 1e-15);  // the skins overlap, the centres do not
  check_vec_near(d.normal, v3(0, 0, 1), 1e-15);
  abShape plane = {.type = AB_SHAPE_PLANE};
  ab_distance(&a, (abPose){v3(1, 2, 0.25), quat_identity()}, &plane, pose_identity(), NULL, &d);
  check_near(d.separation, -0.05, 1e-15);
  check_vec_near(d.point1, v3(1, 2, -0.05), 1e-15);
  ab_distance(&plane, pose_identity(), &a, (abPose){v3(1, 2, 0.25), quat_identity()}, NULL, &d);
  check_vec_near(d.normal, v3(0, 0, -1), 1e-15);
  abShape cylinder = {.type = AB_SHAPE_CYLINDER, .size = v3(0.1, 0.5, 0)};
  abQuat lying = quat_from_rotvec(v3(0, 3.141592653589793 / 2, 0));
  ab_distance(&cylinder, (abPose){v3(0, 0, 0.3), lying}, &plane, pose_identity(), NULL, &d);
  check_near(d.separation, 0.2, 1e-15);
}

static void parallel_faces_and_edges_are_no_trouble(void** state) {
  (void)state;
  abShape a = {.type = AB_SHAPE_BOX, .size = v3(0.5, 0.5, 0.5)};
  a.poly = box_poly(a.size);
  // A box above its twin, straight, turned by tiny angles, slid along: the gap is the gap.
  for (int k = 0; k < 40; k++) {
    double angle = k < 20 ? pow(10, -k) : 0, slide = 0.05 * k;
    abPose above = {v3(slide < 0.9 ? slide : 0.9, 0, 1.25), quat_from_rotvec(v3(0, 0, angle))};
    abDistance d;
    ab_distance(&a, above, &a, pose_identity(), NULL, &d);
    check_near(d.separation, 0.25, 1e-14);
    check_vec_near(d.normal, v3(0, 0, 1), 1e-12);
  }
  ab_polyhedron_free((abPolyhedron*)a.poly);
}

static void touching_and_overlapping_shapes_are_told(void** state) {
  (void)state;
  Random r = {3};
  for (int k = 0; k < 600; k++) {
    abShape a = random_shape(&r, types[k % 6]), b = random_shape(&r, types[(k / 6) % 6]);
    abVec3 p = random_vec(&r, 1);
    abPose pa = {p, random_rotation(&r)},
           pb = {v3_add(p, random_vec(&r, 0.02)), random_rotation(&r)};
    abDistance d;
    ab_distance(&a, pa, &b, pb, NULL, &d);
    assert_true(d.separation < 0 || d.overlap);
    assert_true(isfinite(d.separation) && v3_finite(d.point1) && v3_finite(d.point2) &&
                v3_finite(d.normal));
    free_shape(&a);
    free_shape(&b);
  }
}

static void last_direction_saves_turns(void** state) {
  (void)state;
  Random r = {4};
  abShape a = random_shape(&r, AB_SHAPE_MESH), b = random_shape(&r, AB_SHAPE_MESH);
  abGjkSeed seed = {.far = 0};
  int cold = 0, warm = 0;
  for (int k = 0; k < 100; k++) {
    abPose pa = {v3(3, 0.01 * k, 0), quat_from_rotvec(v3(0, 0.002 * k, 0.001 * k))};
    abDistance d, e;
    ab_distance(&a, pa, &b, pose_identity(), NULL, &d);
    ab_distance(&a, pa, &b, pose_identity(), &seed, &e);
    check_near(e.separation, d.separation, 1e-13 * 5);
    cold += d.iterations;
    warm += e.iterations;
  }
  assert_true(warm < cold);
  free_shape(&a);
  free_shape(&b);
}

// Who is known to be farther apart than asked for need not be measured: fewer turns, the same
// answer to the question, and the direction that tells the two apart.
static void far_apart_is_told_early(void** state) {
  (void)state;
  Random r = {5};
  int all = 0, early = 0, nfar = 0;
  for (int k = 0; k < 500; k++) {
    abShape a = random_shape(&r, types[k % 3]), b = random_shape(&r, AB_SHAPE_MESH);
    abPose pa = {random_vec(&r, 3), random_rotation(&r)},
           pb = {random_vec(&r, 3), random_rotation(&r)};
    abDistance d, e;
    abGjkSeed seed = {.far = 0.1 + 0.001 * k};
    ab_distance(&a, pa, &b, pb, NULL, &d);
    ab_distance(&a, pa, &b, pb, &seed, &e);
    assert_true((d.separation > seed.far) == (e.separation > seed.far));
    assert_true(e.separation >= d.separation - 1e-12 * 10);
    bool far = d.separation > seed.far;
    if (far) {
      abVec3 n = e.normal;
      double gap = v3_dot(n, v3_sub(support_world(&a, pa, v3_neg(n)), support_world(&b, pb, n)));
      assert_true(gap > 0);
    }
    nfar += far, all += d.iterations, early += e.iterations;
    free_shape(&a);
    free_shape(&b);
  }
  assert_true(nfar > 100 && early < all);
}

static abShape many_vertices(Random* r, abVec3 radii) {
  static abVec3 point[600];
  for (int i = 0; i < 600; i++) point[i] = v3_mul(radii, random_direction(r));
  abShape s = {.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(600, point, NULL)};
  assert_non_null(s.poly);
  return s;
}

// Where a few of the vertices lead, all of them go on: the distance is that of all, and who touches
// is found, however slender the bodies and near each other. Against a few the others stand out.
static void distances_of_many_vertices_are_exact(void** state) {
  (void)state;
  Random r = {6};
  int apart = 0, nearest_among_few = 0;
  for (int k = 0; k < 40; k++) {
    abShape a = many_vertices(&r, v3(1, 0.3, 0.05)), b = many_vertices(&r, v3(0.6, 0.5, 0.4));
    assert_true(ab_polyhedron_few(a.poly->nvert) > 0);
    for (int i = 0; i < 20; i++) {
      abPose pa = {random_vec(&r, 1.2), random_rotation(&r)}, pb = {v3_zero(), random_rotation(&r)};
      abDistance d;
      ab_distance(&a, pa, &b, pb, NULL, &d);
      if (d.overlap) continue;
      check_below(proof_gap(&a, pa, &b, pb, &d), 1e-12);
      apart++;
      for (int v = 0; v < AB_FEW; v++)
        nearest_among_few += ab_polyhedron_few_vertex(a.poly)[v] == d.vertex1[0];
    }
    free_shape(&a);
    free_shape(&b);
  }
  assert_true(apart > 200 && nearest_among_few < apart);
}

#ifdef ABUT_HAVE_CCD
typedef struct CcdBox {
  abVec3 half;
  abPose pose;
} CcdBox;

static void ccd_support_box(const void* object, const ccd_vec3_t* dir, ccd_vec3_t* out) {
  const CcdBox* box = object;
  abVec3 d = quat_rotate(quat_conj(box->pose.q), v3(dir->v[0], dir->v[1], dir->v[2]));
  abVec3 p = pose_apply(box->pose, v3(copysign(box->half.x, d.x), copysign(box->half.y, d.y),
                                      copysign(box->half.z, d.z)));
  ccdVec3Set(out, p.x, p.y, p.z);
}

static void libccd_agrees_on_which_boxes_meet(void** state) {
  (void)state;
  Random r = {5};
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = ccd_support_box;
  ccd.max_iterations = 1000;
  int meet = 0;
  for (int k = 0; k < 3000; k++) {
    abShape a = random_shape(&r, AB_SHAPE_BOX), b = random_shape(&r, AB_SHAPE_BOX);
    CcdBox ca = {a.size, {random_vec(&r, 0.8), random_rotation(&r)}},
           cb = {b.size, {random_vec(&r, 0.8), random_rotation(&r)}};
    abDistance d;
    ab_distance(&a, ca.pose, &b, cb.pose, NULL, &d);
    bool theirs = ccdGJKIntersect(&ca, &cb, &ccd) != 0;
    // A gap below 1e-6 is within the peer's own tolerance.
    if (d.overlap || d.separation > 1e-6) assert_true(theirs == d.overlap);
    meet += d.overlap;
    free_shape(&a);
    free_shape(&b);
  }
  assert_true(meet > 500 && meet < 2500);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_distance_carries_its_proof),
      cmocka_unit_test(distance_is_symmetric_and_follows_rigid_motion),
      cmocka_unit_test(spheres_and_planes_are_exact),
      cmocka_unit_test(parallel_faces_and_edges_are_no_trouble),
      cmocka_unit_test(touching_and_overlapping_shapes_are_told),
      cmocka_unit_test(last_direction_saves_turns),
      cmocka_unit_test(far_apart_is_told_early),
      cmocka_unit_test(distances_of_many_vertices_are_exact),
#ifdef ABUT_HAVE_CCD
      cmocka_unit_test(libccd_agrees_on_which_boxes_meet),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
