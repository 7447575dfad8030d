// Implicit functions: gradients and Hessians against differences, unit length on the surface,
// convexity, agreement with the shape.
#include "geometry/implicit.h"

#include "geometry/polyhedron.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

enum { NSHAPE = 9 };

typedef struct Shapes {
  abShape shape[NSHAPE];
} Shapes;

static int create(void** state) {
  static Shapes s;
  Random r = {1};
  abVec3 point[30];
  for (int i = 0; i < 30; i++) point[i] = random_vec(&r, 1);
  s = (Shapes){{{.type = AB_SHAPE_PLANE},
                {.type = AB_SHAPE_BOX, .size = {0.1, 0.2, 0.3}},
                {.type = AB_SHAPE_SPHERE, .size = {0.4, 0, 0}},
                {.type = AB_SHAPE_CAPSULE, .size = {0.2, 0.5, 0}},
                {.type = AB_SHAPE_CYLINDER, .size = {30, 10, 0}},
                {.type = AB_SHAPE_ELLIPSOID, .size = {0.1, 0.2, 0.3}},
                {.type = AB_SHAPE_ELLIPSOID, .size = {1, 1, 0.1}},
                {.type = AB_SHAPE_ELLIPSOID, .size = {0.002, 0.002, 0.002}},
                {.type = AB_SHAPE_MESH}}};
  for (int i = 1; i < NSHAPE; i++) {
    abShape* shape = &s.shape[i];
    shape->poly = shape->type == AB_SHAPE_MESH ? ab_polyhedron_hull(30, point, NULL)
                                               : ab_polyhedron_of_shape(shape, 0.02, NULL, NULL);
  }
  *state = &s;
  return 0;
}

static int destroy(void** state) {
  Shapes* s = *state;
  for (int i = 0; i < NSHAPE; i++) ab_polyhedron_free((abPolyhedron*)s->shape[i].poly);
  return 0;
}

static double size_of(const abShape* s) {
  return s->type == AB_SHAPE_PLANE ? 1 : ab_shape_radius(s);
}

static double largest(const abShape* s, abVec3 x, int* which) {
  double best = -INFINITY;
  for (int i = 0; i < ab_implicit_count(s); i++) {
    double f;
    ab_implicit_eval(s, i, x, &f, NULL, NULL);
    if (f > best) best = f, *which = i;
  }
  return best;
}

// A random point of the surface: from outside inwards along a ray by bisection.
static abVec3 surface_point(const abShape* s, Random* r, int* which) {
  if (s->type == AB_SHAPE_PLANE) {
    *which = 0;
    return v3(random_normal(r), random_normal(r), 0);
  }
  abVec3 d = random_direction(r), o = s->poly->centroid;
  double low = 0, high = 2.1 * ab_shape_radius(s);
  for (int k = 0; k < 60; k++) {
    double mid = 0.5 * (low + high);
    if (largest(s, v3_axpy(mid, d, o), which) > 0)
      high = mid;
    else
      low = mid;
  }
  largest(s, v3_axpy(high, d, o), which);
  return v3_axpy(high, d, o);
}

static void gradients_are_unit_normals_on_the_surface(void** state) {
  const Shapes* s = *state;
  Random r = {2};
  for (int k = 0; k < NSHAPE; k++)
    for (int trial = 0; trial < 200; trial++) {
      const abShape* shape = &s->shape[k];
      int i;
      abVec3 x = surface_point(shape, &r, &i), grad;
      double f;
      ab_implicit_eval(shape, i, x, &f, &grad, NULL);
      check_near(f, 0, 1e-14 * size_of(shape));
      check_near(v3_norm(grad), 1, 1e-13);
      if (shape->type == AB_SHAPE_PLANE) continue;
      // the whole shape lies behind the tangent plane
      abVec3 far = ab_support(shape, grad);
      check_near(v3_dot(grad, far), v3_dot(grad, x), 1e-13 * size_of(shape));
    }
}

static void derivatives_match_differences(void** state) {
  const Shapes* s = *state;
  Random r = {3};
  for (int k = 0; k < NSHAPE; k++)
    for (int trial = 0; trial < 200; trial++) {
      const abShape* shape = &s->shape[k];
      int i;
      abVec3 x = surface_point(shape, &r, &i);
      // outside up to the body's own size, inside a little
      abVec3 n;
      ab_implicit_eval(shape, i, x, NULL, &n, NULL);
      double size = size_of(shape), small = fmin(shape->size.x, size);
      abVec3 a = shape->size;
      if (shape->type == AB_SHAPE_ELLIPSOID) small = pow(fmin(a.x, fmin(a.y, a.z)), 2) / size;
      x = v3_axpy(random_uniform(&r, -0.2 * small, size), n, x);
      if (shape->type == AB_SHAPE_CAPSULE && fabs(fabs(x.z) - 0.5) < 1e-3) continue;  // the seam
      abVec3 grad;
      abMat3 hess;
      ab_implicit_eval(shape, i, x, NULL, &grad, &hess);
      // the smallest radius of curvature is the scale on which the gradient turns
      double radius = shape->type == AB_SHAPE_ELLIPSOID ? small : size, step = 1e-5 * radius;
      for (int axis = 0; axis < 3; axis++) {
        abVec3 e = v3(axis == 0 ? step : 0, axis == 1 ? step : 0, axis == 2 ? step : 0);
        double f0, f1;
        abVec3 g0, g1;
        ab_implicit_eval(shape, i, v3_sub(x, e), &f0, &g0, NULL);
        ab_implicit_eval(shape, i, v3_add(x, e), &f1, &g1, NULL);
        // central differences: (step / radius)^2 = 1e-10 truncation, 1e-16 size / step rounding
        check_near((f1 - f0) / (2 * step), v3_get(grad, axis), 1e-8);
        abVec3 difference = v3_scale(1 / (2 * step), v3_sub(g1, g0));
        check_vec_near(difference, m3_col(&hess, axis), 1e-8 / radius);
      }
    }
}

static void functions_are_convex(void** state) {
  const Shapes* s = *state;
  Random r = {4};
  for (int k = 0; k < NSHAPE; k++)
    for (int trial = 0; trial < 500; trial++) {
      const abShape* shape = &s->shape[k];
      double size = size_of(shape), fa, fb, fm;
      abVec3 a = random_vec(&r, 2 * size), b = random_vec(&r, 2 * size);
      if (trial % 4 == 0) a = v3_scale(0.1, a);
      int i = random_below(&r, ab_implicit_count(shape));
      ab_implicit_eval(shape, i, a, &fa, NULL, NULL);
      ab_implicit_eval(shape, i, b, &fb, NULL, NULL);
      ab_implicit_eval(shape, i, v3_lerp(a, b, 0.5), &fm, NULL, NULL);
      check_below(fm, 0.5 * (fa + fb) + 1e-13 * size);
    }
}

static void ellipsoid_with_equal_radii_is_the_sphere(void** state) {
  (void)state;
  Random r = {5};
  abShape e = {.type = AB_SHAPE_ELLIPSOID, .size = {2, 2, 2}};
  for (int trial = 0; trial < 200; trial++) {
    abVec3 x = random_vec(&r, 5), grad;
    double f;
    ab_implicit_eval(&e, 0, x, &f, &grad, NULL);
    check_near(f, v3_norm(x) - 2, 1e-14);
    check_vec_near(grad, v3_unit(x), 1e-14);
  }
}

static void ellipsoid_is_finite_at_its_centre_and_axes(void** state) {
  (void)state;
  abShape e = {.type = AB_SHAPE_ELLIPSOID, .size = {3, 2, 1}};
  static const abVec3 x[] = {{0, 0, 0}, {0, 0, 0.5}, {1, 0, 0}, {0, 1.5, 0}, {5, 0, 0}, {0, 0, 3}};
  static const double expected[] = {-1, -0.5, 0, 0, 2, 2};
  for (int i = 0; i < 6; i++) {
    double f;
    abVec3 grad;
    abMat3 H;
    ab_implicit_eval(&e, 0, x[i], &f, &grad, &H);
    check_near(v3_norm(grad), 1, 1e-14);
    if (expected[i] != 0) check_near(f, expected[i], 1e-14);
    assert_true(f < 3 && isfinite(m3_det(&H)));
  }
}

static void box_functions_are_in_the_order_of_its_faces(void** state) {
  const Shapes* s = *state;
  const abShape* box = &s->shape[1];
  for (int i = 0; i < 6; i++) {
    abVec3 n;
    double f;
    ab_implicit_eval(box, i, v3_zero(), &f, &n, NULL);
    check_vec_near(n, box->poly->plane[i].n, 0);
    check_near(-f, box->poly->plane[i].d, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_unit_normals_on_the_surface),
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(functions_are_convex),
      cmocka_unit_test(ellipsoid_with_equal_radii_is_the_sphere),
      cmocka_unit_test(ellipsoid_is_finite_at_its_centre_and_axes),
      cmocka_unit_test(box_functions_are_in_the_order_of_its_faces),
  };
  return cmocka_run_group_tests(tests, create, destroy);
}
