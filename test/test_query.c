// Rays, distances, Jacobians and sums of contact forces, against closed forms, against differences
// and against MuJoCo.
#include <stdio.h>
#include <stdlib.h>

#include "math/spatial.h"
#include "support/random_motion.h"
#include "support/text_world.h"

static const char* const SHAPES =
    "<mujoco><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1'/>"
    "<geom name='box' type='box' size='.1 .2 .3' pos='1 0 1' euler='0 0 30'/>"
    "<geom name='ball' type='sphere' size='.25' pos='2 0 1'/>"
    "<geom name='rod' type='capsule' size='.1 .3' pos='3 0 1' euler='90 0 0'/>"
    "<geom name='can' type='cylinder' size='.2 .3' pos='4 0 1' euler='20 10 0'/>"
    "<geom name='egg' type='ellipsoid' size='.1 .2 .3' pos='5 0 1' euler='0 40 0'/>"
    "<body name='ghost' pos='0 0 3'><joint type='slide'/>"
    "<geom name='ghost' type='box' size='.1 .1 .1' contype='0' conaffinity='0'/></body>"
    "</worldbody></mujoco>";

static abRayHit cast(World w, abRay ray) {
  abRayHit hit;
  abError error = {0};
  if (ab_ray_cast(w.model, w.data, &ray, &hit, &error) != AB_OK) fail_msg("%s", error.message);
  return hit;
}

static void rays_meet_what_they_should(void** state) {
  (void)state;
  World w = load(SHAPES);
  int floor = ab_find_geom(w.model, "floor"), ball = ab_find_geom(w.model, "ball");
  abRayHit hit = cast(w, ab_ray(v3(0.3, 0.4, 2), v3(0, 0, -7)));
  assert_int_equal(hit.geom, floor);
  check_near(hit.distance, 2, 1e-15);
  check_vec_near(hit.normal, v3(0, 0, 1), 1e-15);
  // a ball at height x off its middle: sqrt(r^2 - x^2) before it
  hit = cast(w, ab_ray(v3(2.1, 0.05, 3), v3(0, 0, -1)));
  assert_int_equal(hit.geom, ball);
  double up = sqrt(0.0625 - 0.01 - 0.0025);
  check_near(hit.distance, 2 - up, 1e-14);
  check_vec_near(hit.normal, v3(0.4, 0.2, 4 * up), 1e-14);
  // from within, a shape is not entered: the floor is behind it
  hit = cast(w, ab_ray(v3(2, 0, 1), v3(0, 0, -1)));
  assert_int_equal(hit.geom, floor);
  check_near(hit.distance, 1, 1e-15);
  // the limit, upwards, away
  abRay up_ray = ab_ray(v3(0, 0, 0.5), v3(0, 0, 1));
  assert_int_equal(cast(w, up_ray).geom, -1);
  up_ray.all = true;
  assert_int_equal(cast(w, up_ray).geom, ab_find_geom(w.model, "ghost"));
  up_ray.length = 2.3;
  assert_int_equal(cast(w, up_ray).geom, -1);
  up_ray.length = 2.5;
  check_near(cast(w, up_ray).distance, 2.4, 1e-14);
  up_ray.without = ab_find_body(w.model, "ghost");
  assert_int_equal(cast(w, up_ray).geom, -1);
  finish(w);
}

static void senseless_rays_are_refused(void** state) {
  (void)state;
  World w = load(SHAPES);
  const abRay bad[] = {ab_ray(v3(0, 0, 0), v3(0, 0, 0)),
                       ab_ray(v3(NAN, 0, 0), v3(0, 0, 1)),
                       ab_ray(v3(0, 0, 0), v3(0, INFINITY, 1)),
                       {.direction = {0, 0, 1}, .length = NAN},
                       {.direction = {0, 0, 1}, .length = -1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    abRayHit hit = {.geom = 7};
    abError error = {0};
    assert_int_equal(ab_ray_cast(w.model, w.data, &bad[i], &hit, &error), AB_ERROR_ARGUMENT);
    assert_int_equal(hit.geom, -1);
    assert_true(error.message[0]);
  }
  finish(w);
}

// The point of entry lies on the surface: the ray cast back from outside it meets the same point,
// and the normal looks back along the ray.
static void entries_lie_on_the_surface(void** state) {
  (void)state;
  World w = load(SHAPES);
  Random r = {5};
  int nhit = 0;
  for (int i = 0; i < 20000; i++) {
    abVec3 from =
        v3(random_uniform(&r, -1, 7), random_uniform(&r, -2, 2), random_uniform(&r, 1e-3, 3));
    abRay ray = ab_ray(from, random_direction(&r));
    abRayHit hit = cast(w, ray);
    if (hit.geom < 0) continue;
    nhit++;
    check_below(v3_dot(hit.normal, ray.direction), 0);
    check_near(v3_norm(hit.normal), 1, 1e-12);
    const abShape* s = &w.model->geom[hit.geom].shape;
    abVec3 p = pose_apply_inverse(w.data->geom_pose[hit.geom], hit.point), a = s->size;
    double level = 0;  // of the surface, in lengths
    switch (s->type) {
      case AB_SHAPE_PLANE:
        level = p.z;
        break;
      case AB_SHAPE_BOX:
        level = fmax(fmax(fabs(p.x) - a.x, fabs(p.y) - a.y), fabs(p.z) - a.z);
        break;
      case AB_SHAPE_SPHERE:
        level = v3_norm(p) - a.x;
        break;
      case AB_SHAPE_CAPSULE:
        level = v3_norm(v3(p.x, p.y, fmax(fabs(p.z) - a.y, 0))) - a.x;
        break;
      case AB_SHAPE_CYLINDER:
        level = fmax(sqrt(p.x * p.x + p.y * p.y) - a.x, fabs(p.z) - a.y);
        break;
      case AB_SHAPE_ELLIPSOID:
        level = (v3_norm(v3(p.x / a.x, p.y / a.y, p.z / a.z)) - 1) * a.x;
        break;
      case AB_SHAPE_MESH:
        break;
    }
    check_near(level, 0, 1e-12);  // of rounding at distances of some metres
  }
  assert_true(nhit > 5000);
  finish(w);
}

static void distances_have_closed_forms(void** state) {
  (void)state;
  World w = load(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
      "<geom type='sphere' size='.2' pos='0 0 1'/><geom type='sphere' size='.3' pos='1 0 1'/>"
      "<geom type='box' size='.1 .1 .1' pos='0 0 2' euler='0 0 45'/>"
      "<geom type='sphere' size='.2' pos='.3 0 1'/></worldbody></mujoco>");
  abGeomDistance d;
  abError error = {0};
  assert_int_equal(ab_geom_distance(w.model, w.data, 1, 2, &d, &error), AB_OK);
  check_near(d.distance, 0.5, 1e-14);
  check_vec_near(d.point1, v3(0.2, 0, 1), 1e-14);
  check_vec_near(d.point2, v3(0.7, 0, 1), 1e-14);
  check_vec_near(d.normal, v3(-1, 0, 0), 1e-14);
  assert_false(d.bound);
  assert_int_equal(ab_geom_distance(w.model, w.data, 3, 0, &d, &error), AB_OK);
  check_near(d.distance, 1.9, 1e-14);
  check_vec_near(d.normal, v3(0, 0, 1), 1e-14);
  assert_int_equal(ab_geom_distance(w.model, w.data, 0, 3, &d, &error), AB_OK);
  check_vec_near(d.normal, v3(0, 0, -1), 1e-14);
  assert_int_equal(ab_geom_distance(w.model, w.data, 3, 1, &d, &error), AB_OK);
  check_near(d.distance, 0.7, 1e-12);
  assert_int_equal(ab_geom_distance(w.model, w.data, 1, 4, &d, &error), AB_OK);
  check_near(d.distance, -0.1, 1e-14);
  assert_int_equal(ab_geom_distance(w.model, w.data, 0, 0, &d, &error), AB_ERROR_ARGUMENT);
  assert_int_equal(ab_geom_distance(w.model, w.data, 0, 5, &d, &error), AB_ERROR_ARGUMENT);
  finish(w);
}

// Whatever is said of an overlap: moved by it, the two just touch, and by nine tenths of it they
// still overlap.
static void the_way_out_of_an_overlap_parts_them(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option gravity='0 0 0'/><worldbody><geom type='box' size='.3 .2 .1'/>"
      "<body><freejoint/><geom type='box' size='.2 .2 .2'/></body></worldbody></mujoco>");
  Random r = {3};
  abError error = {0};
  int noverlap = 0;
  for (int i = 0; i < 500; i++) {
    abVec3 p = random_vec(&r, 0.3);
    abQuat q = random_rotation(&r);
    const double at[7] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
    memcpy(w.data->q, at, sizeof at);
    ab_forward(w.model, w.data);
    abGeomDistance d;
    assert_int_equal(ab_geom_distance(w.model, w.data, 1, 0, &d, &error), AB_OK);
    if (d.distance >= 0) continue;
    noverlap++;
    assert_false(d.bound);
    check_vec_near(v3_sub(d.point2, d.point1), v3_scale(-d.distance, d.normal), 1e-12);
    for (int part = 9; part <= 10; part++) {
      abVec3 out = v3_axpy(-0.1 * part * d.distance, d.normal, p);
      w.data->q[0] = out.x, w.data->q[1] = out.y, w.data->q[2] = out.z;
      ab_forward(w.model, w.data);
      abGeomDistance left;
      assert_int_equal(ab_geom_distance(w.model, w.data, 1, 0, &left, &error), AB_OK);
      check_near(left.distance, (1 - 0.1 * part) * d.distance, 1e-9);
    }
  }
  assert_true(noverlap > 100);
  finish(w);
}

// Smooth shapes: never worse than the ways along the axes.
static void smooth_overlaps_have_a_bound(void** state) {
  (void)state;
  World w = load(
      "<mujoco><worldbody><geom type='ellipsoid' size='.3 .2 .1'/>"
      "<geom type='cylinder' size='.1 .3' pos='.1 .05 0'/></worldbody></mujoco>");
  abGeomDistance d;
  abError error = {0};
  assert_int_equal(ab_geom_distance(w.model, w.data, 0, 1, &d, &error), AB_OK);
  assert_true(d.bound && d.distance < 0);
  // no more than what parts them along x: 0.3 + 0.1 - 0.1 m, nor along y: 0.2 + 0.1 - 0.05 m
  check_below(-d.distance, 0.25 + 1e-12);
  finish(w);
}

static const char* const ARM =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body name='a' pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom size='.1' pos='.1 0 .2'/>"
    "<body name='b' pos='.3 .1 0' euler='10 20 30'><joint type='slide' axis='1 0 1'/>"
    "<joint type='ball'/><geom type='box' size='.1 .1 .2' pos='0 .1 .1'/>"
    "<body name='c' pos='0 0 .4'><geom size='.1'/></body></body></body>"
    "<body name='d' pos='2 0 0'><freejoint/><geom type='box' size='.1 .2 .3' pos='.1 .1 0'/></body>"
    "<body name='e' pos='4 0 0'><freejoint/><geom size='.1' pos='.1 .1 0'/>"
    "<body name='f' pos='0 0 .3'><joint axis='1 1 0'/><geom type='capsule' size='.1 .2'/></body>"
    "</body></worldbody></mujoco>";

static void shake(World w, Random* r) {
  random_motion(w.model, r, w.data);
  ab_forward(w.model, w.data);
}

// J v is the velocity, and the velocity is how the point moves.
static void jacobians_tell_how_points_move(void** state) {
  (void)state;
  World w = load(ARM), after = load(ARM);
  abError error = {0};
  assert_int_equal(ab_set_contact(after.model, after.data, "none", &error), AB_OK);
  Random r = {9};
  int nv = w.model->nv;
  double J[6 * 32];
  assert_true(nv <= 32);
  for (int i = 0; i < 200; i++) {
    shake(w, &r);
    int body = random_below(&r, w.model->nbody);
    abVec3 local = random_vec(&r, 0.5), point = pose_apply(w.data->pose[body], local);
    assert_int_equal(ab_point_jacobian(w.model, w.data, body, point, J), AB_OK);
    double u[6] = {0};
    for (int k = 0; k < 6; k++)
      for (int c = 0; c < nv; c++) u[k] += J[k * nv + c] * w.data->v[c];
    abVec3 v = ab_point_velocity(w.model, w.data, body, point);
    check_vec_near(v3(u[0], u[1], u[2]), v, 1e-13 * 30);
    check_vec_near(v3(u[3], u[4], u[5]), w.data->twist[body].ang, 1e-13 * 30);
    // a step of 1e-6 s, in which accelerations of some hundred m/s2 bend the way by 1e-10 m
    assert_int_equal(ab_data_copy(w.model, w.data, after.data, &error), AB_OK);
    assert_int_equal(ab_set_contact(after.model, after.data, "none", &error), AB_OK);
    after.data->h = 1e-6;
    assert_int_equal(ab_step(after.model, after.data), AB_STEP_OK);
    abVec3 moved = v3_sub(pose_apply(after.data->pose[body], local), point);
    check_vec_near(v3_scale(1e6, moved), v, 1e-3);
  }
  assert_int_equal(ab_point_jacobian(w.model, w.data, w.model->nbody, v3_zero(), J),
                   AB_ERROR_ARGUMENT);
  finish(w), finish(after);
}

// A force at a point does the work J^T f.
static void a_force_at_a_point_is_its_wrench(void** state) {
  (void)state;
  World w = load(ARM);
  int body = ab_find_body(w.model, "d");
  abVec3 point = v3(2.3, -0.1, 0.2), force = v3(1, 2, 3), com = w.data->com[body];
  assert_int_equal(ab_apply_force(w.model, w.data, body, point, force), AB_OK);
  assert_int_equal(ab_apply_force(w.model, w.data, body, point, force), AB_OK);
  check_vec_near(w.data->applied[body].force, v3(2, 4, 6), 1e-15);
  check_vec_near(w.data->applied[body].torque, v3_scale(2, v3_cross(v3_sub(point, com), force)),
                 1e-14);
  assert_int_equal(ab_apply_force(w.model, w.data, -1, point, force), AB_ERROR_ARGUMENT);
  finish(w);
}

// Two boxes on a floor, one on the other: the lower one carries both.
static void contact_forces_add_up_to_the_weight(void** state) {
  (void)state;
  World w = load(
      "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
      "<body name='low' pos='0 0 .1'><freejoint/><geom type='box' size='.2 .2 .1' mass='3'/></body>"
      "<body name='top' pos='.05 0 .3'><freejoint/><geom type='box' size='.1 .1 .1' "
      "mass='2'/></body>"
      "</worldbody></mujoco>");
  steps(w, 200);
  int low = ab_find_body(w.model, "low"), top = ab_find_body(w.model, "top");
  double g = 9.81;
  abWrench floor = ab_contact_wrench(w.data, low, 0, v3_zero());
  check_vec_near(floor.force, v3(0, 0, 5 * g), 1e-6);
  // about the origin: the weights at x = 0 and 0.05 m
  check_vec_near(floor.torque, v3(0, -2 * g * 0.05, 0), 1e-6);
  check_vec_near(ab_contact_wrench(w.data, low, top, v3_zero()).force, v3(0, 0, -2 * g), 1e-6);
  abWrench all = ab_contact_wrench(w.data, low, -1, w.data->com[low]);
  check_vec_near(all.force, v3(0, 0, 3 * g), 1e-6);
  check_vec_near(all.torque, v3_zero(), 1e-6);
  int n = 0;
  for (int i = ab_next_contact(w.data, low, -1, 0); i >= 0;
       i = ab_next_contact(w.data, low, -1, i + 1))
    n++;
  assert_int_equal(n, 2);
  assert_int_equal(ab_next_contact(w.data, top, 0, 0), -1);
  finish(w);
}

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

static mjModel* peer(const char* text) {
  mjVFS* vfs = malloc(sizeof *vfs);
  char error[500] = "";
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "scene.xml", (int)strlen(text));
  memcpy(vfs->filedata[0], text, strlen(text));
  mjModel* model = mj_loadXML("scene.xml", vfs, error, sizeof error);
  mj_deleteVFS(vfs);
  free(vfs);
  if (!model) fail_msg("%s", error);
  return model;
}

// MuJoCo's rays also meet shapes from within: those are left out.
static void rays_are_those_of_mujoco(void** state) {
  (void)state;
  World w = load(SHAPES);
  mjModel* m = peer(SHAPES);
  mjData* d = mj_makeData(m);
  mj_forward(m, d);
  Random r = {8};
  int nsame = 0;
  for (int i = 0; i < 5000; i++) {
    // from below the shapes' height, and outside of all of them
    abVec3 from =
        v3(random_uniform(&r, 0.5, 5.5), random_uniform(&r, 0.5, 2), random_uniform(&r, 0.1, 2));
    abVec3 u = random_direction(&r);
    abRay ray = ab_ray(from, u);
    ray.all = true;
    abRayHit hit = cast(w, ray);
    const double p[3] = {from.x, from.y, from.z}, n[3] = {u.x, u.y, u.z};
    int geom = -1;
    double distance = mj_ray(m, d, p, n, NULL, 1, -1, &geom);
    bool beyond = hit.geom == 0 && (fabs(hit.point.x) > 5 || fabs(hit.point.y) > 5);
    if (beyond) continue;  // MuJoCo's planes end where they are drawn, ours do not
    assert_int_equal(hit.geom, geom);
    if (geom >= 0) check_near(hit.distance, distance, 1e-9);
    nsame += geom >= 0;
  }
  assert_true(nsame > 1000);
  mj_deleteData(d), mj_deleteModel(m);
  finish(w);
}

// Columns of hinges, slides and balls mean the same in both; velocities of free joints do not.
static void jacobians_are_those_of_mujoco(void** state) {
  (void)state;
  World w = load(ARM);
  mjModel* m = peer(ARM);
  mjData* d = mj_makeData(m);
  Random r = {4};
  assert_int_equal(m->nv, w.model->nv);
  int nv = m->nv, ntree = 5;  // hinge, slide, ball
  double J[6 * 32], lin[3 * 32], ang[3 * 32];
  for (int i = 0; i < 100; i++) {
    shake(w, &r);
    memcpy(d->qpos, w.data->q, sizeof(double) * (size_t)m->nq);
    mj_forward(m, d);
    int body = 1 + random_below(&r, 3);
    abVec3 point = random_vec(&r, 2);
    const double p[3] = {point.x, point.y, point.z};
    mj_jac(m, d, lin, ang, p, body);
    assert_int_equal(ab_point_jacobian(w.model, w.data, body, point, J), AB_OK);
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < ntree; c++) {
        check_near(J[k * nv + c], lin[k * nv + c], 1e-12);
        check_near(J[(3 + k) * nv + c], ang[k * nv + c], 1e-12);
      }
  }
  mj_deleteData(d), mj_deleteModel(m);
  finish(w);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_meet_what_they_should),
      cmocka_unit_test(senseless_rays_are_refused),
      cmocka_unit_test(entries_lie_on_the_surface),
      cmocka_unit_test(distances_have_closed_forms),
      cmocka_unit_test(the_way_out_of_an_overlap_parts_them),
      cmocka_unit_test(smooth_overlaps_have_a_bound),
      cmocka_unit_test(jacobians_tell_how_points_move),
      cmocka_unit_test(a_force_at_a_point_is_its_wrench),
      cmocka_unit_test(contact_forces_add_up_to_the_weight),
#ifdef ABUT_HAVE_MUJOCO
      cmocka_unit_test(rays_are_those_of_mujoco),
      cmocka_unit_test(jacobians_are_those_of_mujoco),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
