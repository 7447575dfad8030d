// Mass properties against closed forms, quadrature, tetrahedra, and their behaviour under motion.
#include "geometry/mass.h"

#include "geometry/polyhedron.h"
#include "geometry/support.h"
#include "math/rotation.h"
#include "support/check.h"
#include "support/random.h"

static void check_props(abMassProps a, abMassProps b, double relative, double size) {
  check_near(a.mass, b.mass, relative * b.mass);
  check_vec_near(a.com, b.com, relative * size);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      check_near(a.inertia.m[i][j], b.inertia.m[i][j], relative * b.mass * size * size);
}

// Values of MuJoCo for density 1000, solid and shell.
static void shapes_weigh_as_in_mujoco(void** state) {
  (void)state;
  static const struct {
    abShapeType type;
    abVec3 size;
    bool shell;
    double mass, inertia[3];
  } known[] = {{AB_SHAPE_SPHERE,
                {0.3, 0, 0},
                false,
                113.09733552923255,
                {4.071504079052, 4.071504079052, 4.071504079052}},
               {AB_SHAPE_BOX, {0.1, 0.2, 0.3}, false, 48, {2.08, 1.6, 0.8}},
               {AB_SHAPE_CAPSULE,
                {0.1, 0.2, 0},
                false,
                16.75516081914557,
                {0.44610615681, 0.44610615681, 0.079587013891}},
               {AB_SHAPE_CYLINDER,
                {0.1, 0.2, 0},
                false,
                12.566370614359174,
                {0.198967534727, 0.198967534727, 0.062831853072}},
               {AB_SHAPE_ELLIPSOID,
                {0.1, 0.2, 0.3},
                false,
                25.132741228718345,
                {0.653451271947, 0.502654824574, 0.251327412287}},
               {AB_SHAPE_SPHERE,
                {0.3, 0, 0},
                true,
                1130.9733552923256,
                {67.85840131754, 67.85840131754, 67.85840131754}},
               {AB_SHAPE_BOX,
                {0.1, 0.2, 0.3},
                true,
                880,
                {54.133333333333, 42.133333333333, 24.266666666667}},
               {AB_SHAPE_CAPSULE,
                {0.1, 0.2, 0},
                true,
                376.9911184307752,
                {12.985249634838, 12.985249634838, 3.351032163829}},
               {AB_SHAPE_CYLINDER,
                {0.1, 0.2, 0},
                true,
                314.1592653589793,
                {7.278022980816, 7.278022980816, 2.827433388231}},
               {AB_SHAPE_ELLIPSOID,
                {0.1, 0.2, 0.3},
                true,
                489.7193333371731,
                {18.075174882542, 14.068366576335, 8.102680936805}}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    abMassProps p = ab_mass_of_shape(known[i].type, known[i].size, known[i].shell, 1000);
    check_near(p.mass, known[i].mass, 1e-13 * p.mass);
    // an ellipsoid's shell has a thickness of 1e-6 m there, here none: 1e-6 / 0.1 of the inertia
    double relative = known[i].type == AB_SHAPE_ELLIPSOID && known[i].shell ? 1e-5 : 1e-11;
    for (int k = 0; k < 3; k++)
      check_near(p.inertia.m[k][k], known[i].inertia[k], relative * known[i].inertia[k]);
  }
}

// Midpoint rule over the bounding box: the integral of the indicator function.
static abMassProps quadrature(const abShape* s, int n) {
  abVec3 low, high;
  abPose pose = pose_identity();
  ab_shape_aabb(s, &pose, &low, &high);
  abVec3 cell = v3_scale(1.0 / n, v3_sub(high, low));
  double volume = cell.x * cell.y * cell.z;
  abMassProps sum = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        abVec3 x = v3_add(low, v3_mul(cell, v3(i + 0.5, j + 0.5, k + 0.5)));
        bool inside = true;
        for (int f = 0; f < s->poly->nface && inside; f++)
          inside = v3_dot(s->poly->plane[f].n, x) <= s->poly->plane[f].d;
        if (!inside) continue;
        abMassProps point = {volume, x, {{{0}}}};
        sum = ab_mass_added(sum, point);
      }
  return sum;
}

static abPolyhedron* random_hull(Random* r, int n, abVec3 centre) {
  abVec3 point[64];
  for (int i = 0; i < n; i++) point[i] = v3_add(centre, random_vec(r, 1));
  return ab_polyhedron_hull(n, point, NULL);
}

static void polyhedra_weigh_what_quadrature_says(void** state) {
  (void)state;
  Random r = {1};
  for (int trial = 0; trial < 5; trial++) {
    abShape s = {.type = AB_SHAPE_MESH, .poly = random_hull(&r, 30, v3(3, -2, 1))};
    // the indicator's midpoint rule errs by the surface's cells, partly cancelling: 0.2 % at n = 60
    check_props(ab_mass_of_polyhedron(s.poly, 1), quadrature(&s, 60), 2e-3, 2);
    ab_polyhedron_free((abPolyhedron*)s.poly);
  }
}

// An independent way: tetrahedra from one vertex, each by its own closed form in its own centre.
static abMassProps tetra_sum(const abPolyhedron* p, double density) {
  abMassProps sum = {0};
  for (int f = 0; f < p->nface; f++)
    for (int i = p->face_start[f] + 1; i + 1 < p->face_start[f + 1]; i++) {
      abVec3 v[4] = {p->centroid, p->vert[p->loop[p->face_start[f]]], p->vert[p->loop[i]],
                     p->vert[p->loop[i + 1]]};
      abVec3 c = v3_scale(0.25, v3_add(v3_add(v[0], v[1]), v3_add(v[2], v[3])));
      abVec3 a = v3_sub(v[1], v[0]), b = v3_sub(v[2], v[0]), d = v3_sub(v[3], v[0]);
      abMassProps t = {density * v3_dot(a, v3_cross(b, d)) / 6, c, {{{0}}}};
      // a tetrahedron has the second moments of m / 20 at each corner, seen from its centre
      for (int k = 0; k < 4; k++) {
        abVec3 x = v3_sub(v[k], c);
        for (int q = 0; q < 3; q++)
          for (int w = 0; w < 3; w++)
            t.inertia.m[q][w] +=
                t.mass / 20 * ((q == w ? v3_norm2(x) : 0) - v3_get(x, q) * v3_get(x, w));
      }
      sum = ab_mass_added(sum, t);
    }
  return sum;
}

static void polyhedra_weigh_what_their_tetrahedra_do(void** state) {
  (void)state;
  Random r = {2};
  for (int trial = 0; trial < 100; trial++) {
    abPolyhedron* p = random_hull(&r, 4 + random_below(&r, 60), random_vec(&r, 10));
    check_props(ab_mass_of_polyhedron(p, 700), tetra_sum(p, 700), 1e-12, 1);
    ab_polyhedron_free(p);
  }
}

static int fan(const abPolyhedron* p, int (*triangle)[3]) {
  int n = 0;
  for (int f = 0; f < p->nface; f++)
    for (int i = p->face_start[f] + 1; i + 1 < p->face_start[f + 1]; i++, n++) {
      triangle[n][0] = p->loop[p->face_start[f]];
      triangle[n][1] = p->loop[i];
      triangle[n][2] = p->loop[i + 1];
    }
  return n;
}

static void rules_agree_on_convex_surfaces(void** state) {
  (void)state;
  Random r = {3};
  int triangle[200][3];
  for (int trial = 0; trial < 50; trial++) {
    abPolyhedron* p = random_hull(&r, 40, random_vec(&r, 3));
    int n = fan(p, triangle);
    const int(*t)[3] = (const int(*)[3])triangle;
    abMassProps whole = ab_mass_of_polyhedron(p, 1000);
    check_props(ab_mass_of_triangles(p->vert, n, t, AB_MESH_INERTIA_EXACT, 1000), whole, 1e-12, 1);
    check_props(ab_mass_of_triangles(p->vert, n, t, AB_MESH_INERTIA_LEGACY, 1000), whole, 1e-12, 1);
    ab_polyhedron_free(p);
  }
}

static void box_surface_is_the_box_shell(void** state) {
  (void)state;
  int triangle[12][3];
  abVec3 h = v3(0.1, 0.2, 0.3);
  abPolyhedron* p = ab_polyhedron_box(h);
  int n = fan(p, triangle);
  abMassProps a =
      ab_mass_of_triangles(p->vert, n, (const int(*)[3])triangle, AB_MESH_INERTIA_SHELL, 7);
  check_props(a, ab_mass_of_shape(AB_SHAPE_BOX, h, true, 7), 1e-14, 1);
  ab_polyhedron_free(p);
}

// A tetrahedron with a dent so deep that its surface is not star-shaped: MuJoCo's numbers.
static void dented_mesh_weighs_as_in_mujoco(void** state) {
  (void)state;
  static const abVec3 vert[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.25, 0.25, 0.375}};
  static const int t[6][3] = {{0, 2, 4}, {2, 1, 4}, {1, 0, 4}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  static const struct {
    abMeshInertia rule;
    double mass, com[2], inertia[4];  // com x = y and z; inertia xx = yy, zz, xy, xz = yz
  } known[] = {{AB_MESH_INERTIA_LEGACY,
                129.88331692461412,
                {0.234661184184, 0.297850049226},
                {9.158086136643, 9.756145118852, 1.616093286805, 1.521101265243}},
               {AB_MESH_INERTIA_EXACT,
                104.16666666666667,
                {0.2125, 0.34375},
                {7.23876953125, 7.51953125, 1.448567708333, 1.033528645833}},
               {AB_MESH_INERTIA_SHELL,
                2681.153806645269,
                {0.268489999503, 0.269995520769},
                {300.416122732118, 331.513888499304, 57.672539637455, 49.357279440454}}};
  for (size_t i = 0; i < 3; i++) {
    abMassProps p = ab_mass_of_triangles(vert, 6, t, known[i].rule, 1000);
    check_near(p.mass, known[i].mass, 1e-12 * p.mass);
    check_vec_near(p.com, v3(known[i].com[0], known[i].com[0], known[i].com[1]), 1e-11);
    const double* I = known[i].inertia;
    check_near(p.inertia.m[0][0], I[0], 1e-11 * p.mass);
    check_near(p.inertia.m[1][1], I[0], 1e-11 * p.mass);
    check_near(p.inertia.m[2][2], I[1], 1e-11 * p.mass);
    check_near(p.inertia.m[0][1], I[2], 1e-11 * p.mass);
    check_near(p.inertia.m[0][2], I[3], 1e-11 * p.mass);
    check_near(p.inertia.m[1][2], I[3], 1e-11 * p.mass);
  }
}

static void moving_the_mesh_moves_its_mass(void** state) {
  (void)state;
  Random r = {4};
  for (int trial = 0; trial < 50; trial++) {
    abPolyhedron* p = random_hull(&r, 20, v3_zero());
    abPose pose = {random_vec(&r, 5), random_rotation(&r)};
    abPolyhedron* q = ab_polyhedron_moved(p, pose, NULL);
    check_props(ab_mass_of_polyhedron(q, 3), ab_mass_moved(ab_mass_of_polyhedron(p, 3), pose),
                1e-12, 1);
    ab_polyhedron_free(p);
    ab_polyhedron_free(q);
  }
}

static void halves_make_the_whole(void** state) {
  (void)state;
  Random r = {5};
  abPose pose = {random_vec(&r, 2), random_rotation(&r)};
  abMassProps half = ab_mass_of_shape(AB_SHAPE_BOX, v3(0.5, 2, 3), false, 2);
  abMassProps left = ab_mass_moved(half, (abPose){{-0.5, 0, 0}, {1, 0, 0, 0}});
  abMassProps right = ab_mass_moved(half, (abPose){{0.5, 0, 0}, {1, 0, 0, 0}});
  abMassProps sum = ab_mass_added(ab_mass_moved(left, pose), ab_mass_moved(right, pose));
  check_props(sum, ab_mass_moved(ab_mass_of_shape(AB_SHAPE_BOX, v3(1, 2, 3), false, 2), pose),
              1e-14, 3);
  abMassProps nothing = {0};
  check_props(ab_mass_added(nothing, left), left, 0, 1);
  check_props(ab_mass_added(left, nothing), left, 0, 1);
}

static void tessellation_converges_to_the_smooth_inertia(void** state) {
  (void)state;
  static const abShape shape[] = {{AB_SHAPE_SPHERE, {0.7, 0, 0}, NULL, 0},
                                  {AB_SHAPE_CAPSULE, {0.2, 0.5, 0}, NULL, 0},
                                  {AB_SHAPE_CYLINDER, {0.3, 0.1, 0}, NULL, 0},
                                  {AB_SHAPE_ELLIPSOID, {0.1, 0.2, 0.05}, NULL, 0}};
  for (int i = 0; i < 4; i++) {
    double achieved;
    abPolyhedron* p = ab_polyhedron_of_shape(&shape[i], 0.002, &achieved, NULL);
    abMassProps a = ab_mass_of_polyhedron(p, 1);
    abMassProps b = ab_mass_of_shape(shape[i].type, shape[i].size, false, 1);
    check_near(a.mass, b.mass, 1.0001 * achieved * b.mass);
    // moments of inertia weigh the missing rim by its distance: 5/3 of the volume's share and more
    check_props(a, b, 3 * achieved, ab_shape_radius(&shape[i]));
    ab_polyhedron_free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_weigh_as_in_mujoco),
      cmocka_unit_test(polyhedra_weigh_what_quadrature_says),
      cmocka_unit_test(polyhedra_weigh_what_their_tetrahedra_do),
      cmocka_unit_test(rules_agree_on_convex_surfaces),
      cmocka_unit_test(box_surface_is_the_box_shell),
      cmocka_unit_test(dented_mesh_weighs_as_in_mujoco),
      cmocka_unit_test(moving_the_mesh_moves_its_mass),
      cmocka_unit_test(halves_make_the_whole),
      cmocka_unit_test(tessellation_converges_to_the_smooth_inertia),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
