// Two and three bodies of all kinds thrown on a plane and on each other: every step is solved, with
// nothing sunk in, and contact adds no more to the energy than it may. ABUT_THROWS=100 throws that
// often each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/distance/gjk.h"
#include "geometry/polyhedron.h"
#include "oracle/ecp_checks.h"
#include "support/check.h"
#include "support/random.h"

static const abShape plane = {.type = AB_SHAPE_PLANE};
static EcpWorld w;
static Solid solid[4];
static abShape shape[4];
static abPolyhedron* hull[4];
static int total_touched;  // steps and pairs of moving bodies

// b box, c cylinder, p capsule, s sphere, e ellipsoid, h hull of 24 points
static void add_body(Random* r, int i, char kind) {
  abVec3 s = random_size(r, .08, .3);
  double m = exp(random_uniform(r, -1, 1));
  abVec3 inertia = v3(m * (s.y * s.y + s.z * s.z) / 4, m * (s.x * s.x + s.z * s.z) / 4,
                      m * (s.x * s.x + s.y * s.y) / 4);
  const abShape* use = &shape[i];
  if (kind == 'b') {
    solid_box(&solid[i], s);
    use = &solid[i].shape;
    inertia = inertia_of_box(m, s);
  } else if (kind == 'h') {
    abVec3 cloud[24];
    for (int j = 0; j < 24; j++) cloud[j] = v3_mul(s, random_direction(r));
    hull[i] = ab_polyhedron_hull_flat(24, cloud, 0, NULL);
    assert_non_null(hull[i]);
    shape[i] = (abShape){.type = AB_SHAPE_MESH, .poly = hull[i]};
  } else {
    shape[i] = (abShape){.size = s};
    shape[i].type = kind == 'c'   ? AB_SHAPE_CYLINDER
                    : kind == 'p' ? AB_SHAPE_CAPSULE
                    : kind == 's' ? AB_SHAPE_SPHERE
                                  : AB_SHAPE_ELLIPSOID;
    if (kind == 's') {
      shape[i].size = v3(s.x, 0, 0);
      inertia = v3_scale(0.4 * m * s.x * s.x, v3(1, 1, 1));
    }
  }
  abPose pose = {{random_uniform(r, -.1, .1), random_uniform(r, -.1, .1), 0.6 + 1.15 * i},
                 random_rotation(r)};
  int b = ecpw_add_body(&w, use, m, inertia, pose);
  w.body[b].twist = (abTwist){random_vec(r, 0.5), random_vec(r, 4)};
}

// The poses at the end of the step by another road: the bodies' distance where they do not touch,
// and none where they do.
static void check_distances(int* touched) {
  for (int i = 0; i < w.npair; i++) {
    int a = w.pair[i].body1, b = w.pair[i].body2;
    if (b == 0) continue;
    abDistance d;
    ab_distance(w.shape[a], (abPose){w.body[a].com, w.body[a].q}, w.shape[b],
                (abPose){w.body[b].com, w.body[b].q}, NULL, &d);
    bool touch = w.solution[i].kind != AB_PATCH_NONE;
    *touched += touch;
    if (touch && !d.overlap) check_below(d.separation, 1e-7 + d.error);
    // where the cores of the shapes meet, the deepest direction tried is all that is known
    if (!d.overlap) check_below(-d.separation, 1e-9 + d.error);
    if (!touch) assert_false(d.overlap && d.separation < -1e-7);
  }
}

// Where matter that ends at x began.
static abVec3 began(int b, abVec3 x) {
  const abContactBody *now = &w.body[b], *then = &w.before[b];
  abVec3 local = quat_rotate(quat_conj(now->q), v3_sub(x, now->com));
  return v3_add(then->com, quat_rotate(then->q, local));
}

// What contacts between moving bodies may add to the energy in a step (ecp/lever.c): the work of
// the couple between the bodies' mean arms, and p_n times the speed with which what touches comes
// out of an overlap, at the start and along the normal of the end (edges that pass each other).
static double may_gain(void) {
  double sum = 0;
  for (int i = 0; i < w.npair; i++) {
    const abPairSolution* s = &w.solution[i];
    int a = w.pair[i].body1, b = w.pair[i].body2;
    if (b == 0 || s->kind == AB_PATCH_NONE) continue;
    abTwist va = w.body[a].twist, vb = w.body[b].twist;
    abVec3 t, o, apart = v3_sub(began(a, s->point), began(b, s->point));
    v3_tangents(s->normal, &t, &o);
    abVec3 slip = v3_axpy(s->slip[0], t, v3_scale(s->slip[1], o));
    double couple = 0.5 * w.h * v3_norm(v3_add(v3_sub(va.lin, vb.lin), slip));
    sum += v3_norm(s->impulse.force) * couple * fmax(v3_norm(va.ang), v3_norm(vb.ang));
    sum += v3_norm(s->normal_part.force) * fmax(0, -v3_dot(s->normal, apart)) / w.h;
  }
  return sum;
}

static void throw_once(const char* kinds, int i) {
  Random r = {1000 + 7919u * (uint64_t)i};
  ecpw_init(&w, random_uniform(&r, 0.002, 0.01), 1);
  w.mu = random_uniform(&r, 0.05, 0.8);
  w.e_r = -1;
  for (int b = 0; kinds[b]; b++) add_body(&r, b, kinds[b]);
  ecpw_add_fixed(&w, &plane, pose_identity());
  snprintf(w.name, sizeof w.name, "%s, throw %d", kinds, i);
  int steps = (int)(1.5 / w.h), touched = 0;
  for (int k = 0; k < steps; k++) {
    double before = ecpw_energy(&w);
    ecpw_step_ok(&w);
    check_distances(&touched);
    // twice: s->point is where the impulse acts, half a step from where features touch; and energy
    // to some metres of height, to rounding
    check_below(ecpw_energy(&w) - before, 2 * may_gain() + 1e-9 * ecpw_weight(&w));
  }
  for (int b = 0; kinds[b]; b++) {
    ab_polyhedron_free(hull[b]);
    hull[b] = NULL;
  }
  ecpw_free(&w);
  total_touched += touched;
}

static void throw_often(const char* const* kinds, int n) {
  const char* many = getenv("ABUT_THROWS");
  int times = many ? atoi(many) : 8;
  for (int k = 0; k < n; k++) {
    total_touched = 0;
    for (int i = 0; i < times; i++) throw_once(kinds[k], i);
    if (getenv("ABUT_VERBOSE"))
      printf("%s: %d contacts between moving bodies\n", kinds[k], total_touched);
    assert_true(2 * total_touched > times);
  }
}

static void two_bodies_solve_every_step(void** state) {
  (void)state;
  static const char* const kinds[] = {"bb", "cc", "pp", "hh", "cb", "cp", "ch", "bp", "hp", "bs"};
  throw_often(kinds, 10);
}

static void three_bodies_solve_every_step(void** state) {
  (void)state;
  static const char* const kinds[] = {"bbb", "ccc", "cbp", "hcs", "ecb"};
  throw_often(kinds, 5);
}

// Steps that sweeps do not solve, since several contacts change their modes at once; found among
// three hundred throws of each kind, 2,050,000 steps. hcs: the hull rolls on to another vertex on
// the plane, while its edge leaves the face of the can across its rim. bbb: a vertex comes to lie
// on an edge.
static void contacts_that_change_together_are_solved(void** state) {
  (void)state;
  throw_once("ccc", 87);
  throw_once("hcs", 85);
  throw_once("bbb", 166);
}

static void ellipsoids_meet_every_other_shape(void** state) {
  (void)state;
  static const char* const kinds[] = {"ee", "eb", "be", "ec", "ce", "ep", "es", "eh"};
  throw_often(kinds, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_bodies_solve_every_step),
      cmocka_unit_test(three_bodies_solve_every_step),
      cmocka_unit_test(contacts_that_change_together_are_solved),
      cmocka_unit_test(ellipsoids_meet_every_other_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
