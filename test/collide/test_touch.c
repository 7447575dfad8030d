// Patches of polyhedra that lie on each other without depth.
#include <string.h>

#include "collide/touch/work.h"
#include "touch_pair.h"

// A box of (0.1, 0.15, 0.05) turned by `yaw` on a larger one, `gap` above it, off its middle.
static void check_box_on_box(Bench* bench, double yaw, double gap) {
  abShape a = box_shape(v3(0.1, 0.15, 0.05)), b = box_shape(v3(1, 1, 0.2));
  abPose pa = pose_at(v3(0.3, -0.2, 0.25 + gap), v3(0, 0, yaw));
  abTouch t = touch_of(&a, pa, &b, pose_at(v3(0, 0, 0), v3_zero()));
  abPatch p;
  assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
  check_sound(&p);
  assert_int_equal(p.kind, AB_PATCH_SURFACE);
  assert_int_equal(p.nvert, 4);
  // sums of a few numbers of size 1
  check_vec_near(p.normal, v3(0, 0, 1), 1e-15);
  check_vec_near(p.center, v3(0.3, -0.2, 0.2 + gap / 2), 1e-15);
  check_near(p.area, 0.06, 1e-15);
  check_near(p.h0, -gap, 1e-15);
  check_near(p.hx, 0, 1e-15);
  check_near(p.hy, 0, 1e-15);
  check_near(p.volume, fmax(0, -gap) * 0.06, 1e-15);
  for (int i = 0; i < 4; i++) {
    abVec3 x = v3_axpy(bench->polygon[i].x, p.t1, v3_axpy(bench->polygon[i].y, p.t2, p.center));
    abVec3 local = pose_apply_inverse(pa, x);
    check_near(fabs(local.x), 0.1, 1e-15);
    check_near(fabs(local.y), 0.15, 1e-15);
  }
  free_shape(&a);
  free_shape(&b);
}

static void box_on_box_is_the_face_exactly(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  for (int yaw = 0; yaw < 7; yaw++) {
    check_box_on_box(bench, 0.2 * yaw, 0);
    check_box_on_box(bench, 0.2 * yaw, 1e-6);
    check_box_on_box(bench, 0.2 * yaw, -1e-6);
  }
  bench_end(bench);
}

// A cube falls tilted on another body, so fast that the whole of its lower face comes down within
// the step: the patch is that face, and each of its corners has its own height.
static void landing_box_has_the_height_of_each_corner(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape cube = box_shape(v3(0.1, 0.1, 0.1)), mesh = mesh_of_box(v3(0.1, 0.1, 0.1));
  abShape floor[3] = {plane_shape(), box_shape(v3(1, 1, 0.2)), mesh_of_box(v3(1, 1, 0.2))};
  for (int k = 0; k < 6; k++) {
    const abShape *a = k < 3 ? &cube : &mesh, *b = &floor[k % 3];
    abPose pa = pose_at(v3(0.02, 0.03, 0.14), v3(0.11, -0.07, 0.3));
    abPose pb = pose_at(v3(0, 0, k % 3 ? -0.2 : 0), v3_zero());
    abTouch t = touch_of(a, pa, b, pb);
    t.twist1.lin = v3(0, 0, -10);
    abPatch p;
    assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
    check_sound(&p);
    check_vec_near(p.normal, v3(0, 0, 1), 1e-15);
    double most = -1;
    for (int i = 0; i < 4; i++) {
      abVec3 x = pose_apply(pa, v3(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, -0.1));
      assert_true(patch_holds(&p, x, 1e-12));
      check_near(thickness_at(&p, x), -x.z, 1e-12);
      most = fmax(most, -x.z);
    }
    check_near(p.depth, most, 1e-12);
  }
  free_shape(&cube), free_shape(&mesh), free_shape(&floor[1]), free_shape(&floor[2]);
  bench_end(bench);
}

// On an edge and on a corner the patch is narrow, and the lowest points are in it.
static void edge_and_corner_leave_strip_and_dot(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape cube = box_shape(v3(0.1, 0.1, 0.1)), floor = box_shape(v3(1, 1, 0.2));
  for (int corner = 0; corner < 2; corner++) {
    abVec3 turn = corner ? v3(0.5, 0.6, 0.1) : v3(0.7, 0, 0);
    abPose pa = pose_at(v3_zero(), turn);
    double low = 1;
    abVec3 lowest = v3_zero();
    for (int i = 0; i < 8; i++) {
      abVec3 x = pose_apply(pa, v3(i & 1 ? 0.1 : -0.1, i & 2 ? 0.1 : -0.1, i & 4 ? 0.1 : -0.1));
      if (x.z < low) low = x.z, lowest = x;
    }
    pa.p.z = 0.2 - low + 1e-6, lowest.z = 0.2 + 1e-6;
    abTouch t = touch_of(&cube, pa, &floor, pose_at(v3_zero(), v3_zero()));
    abPatch p;
    assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
    check_sound(&p);
    assert_int_equal(p.kind, corner ? AB_PATCH_POINT : AB_PATCH_LINE);
    check_near(p.depth, -1e-6, 1e-12);
    assert_true(patch_holds(&p, lowest, 1e-12));
    check_near(thickness_at(&p, lowest), -1e-6, 1e-12);
  }
  free_shape(&cube), free_shape(&floor);
  bench_end(bench);
}

// Tiles of 7 cm side by side, a puck that lies on one and is about to go over to the next: all
// normals are vertical, whatever its place and direction.
static void seams_of_tiles_are_not_seen(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape puck[2] = {box_shape(v3(0.02, 0.02, 0.01)), mesh_of_box(v3(0.02, 0.02, 0.01))};
  abShape tile[2] = {box_shape(v3(0.035, 0.035, 0.01)), mesh_of_box(v3(0.035, 0.035, 0.01))};
  const double lead[] = {-1e-3, -1e-9, 0, 1e-9, 1e-6, 1e-3, 0.02};
  const abVec3 way[] = {{1.2, 0, 0}, {0, 1.2, 0},  {0.9, 0.8, 0},   {-1.2, 0, 0},
                        {0, 0, 0},   {0.03, 0, 0}, {0.03, 0.03, 0}, {-0.03, 0, 0}};
  const double depth[] = {0, 1e-8, -1e-8, 2e-6};
  int seen = 0;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 7 * 8 * 4; i++) {
      double x = lead[i % 7] - 0.02 + 0.035, sink = depth[i / 56];
      abVec3 v = way[i / 7 % 8];
      for (int next = 0; next < 2; next++) {
        abTouch t = touch_of(&puck[k & 1], pose_at(v3(x, 0.012, 0.02 - sink), v3_zero()),
                             &tile[k / 2], pose_at(v3(next ? 0.07 : 0, 0, 0), v3_zero()));
        t.h = 5e-3;
        t.margin = 2e-6;
        t.tolerance = 1e-4;
        abTwist before = {v, v3_zero()};
        t.before1 = &before;
        t.twist1.lin = v3_add(v, v3(0, 0, -9.8 * t.h));
        abPatch p;
        bool contact = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
        assert_true(contact || next);
        if (!contact) continue;
        check_sound(&p);
        check_vec_near(p.normal, v3(0, 0, 1), 1e-12);
        check_near(p.depth, sink, 1e-12);
        seen += next;
      }
    }
  // those whose lead is beyond the seam by more than rounding
  assert_true(seen >= 4 * 32 * 3);
  for (int i = 0; i < 2; i++) free_shape(&puck[i]), free_shape(&tile[i]);
  bench_end(bench);
}

// A 1 cm plate at 100 m/s against a 2 cm wall, 1 m of way in a step of 10 ms.
static void fast_plate_sees_the_wall(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape plate[2] = {box_shape(v3(0.005, 0.1, 0.1)), mesh_of_box(v3(0.005, 0.1, 0.1))};
  abShape wall = box_shape(v3(0.01, 1, 1));
  for (int i = 0; i < 40; i++) {
    abPose pa = pose_at(v3(-0.02 - 0.024 * i, 0.1, 0.2), v3(0, 0.3 * (i % 3), 0.02 * i));
    pa.p.x -= 0.15;
    abTouch t = touch_of(&plate[i & 1], pa, &wall, pose_at(v3_zero(), v3_zero()));
    t.twist1.lin = v3(100, 20, 5);
    abPatch p;
    bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
    // the corner that leads is less than 0.15 ahead of the middle
    if (pa.p.x > -0.9) assert_true(seen);
    if (!seen) continue;
    check_sound(&p);
    check_vec_near(p.normal, v3(-1, 0, 0), 1e-12);
    assert_true(p.depth < 0);
  }
  free_shape(&plate[0]), free_shape(&plate[1]), free_shape(&wall);
  bench_end(bench);
}

// Two cards that lean against each other meet edge to edge: a face of either would do, and by
// symmetry the normal lies between them.
static void leaning_cards_have_a_level_normal(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape card = box_shape(v3(0.0005, 0.03, 0.045));
  for (int i = 0; i < 4; i++) {
    double lean = 0.15 + 0.15 * i, gap = 1e-9;
    abPose pa = pose_at(v3_zero(), v3(0, lean, 0)), pb = pose_at(v3_zero(), v3(0, -lean, 0));
    abVec3 edge = quat_rotate(pa.q, v3(0.0005, 0, 0.045));
    pa.p = v3(-edge.x - gap / 2, 0, 0), pb.p = v3(edge.x + gap / 2, 0, 0);
    abTouch t = touch_of(&card, pa, &card, pb);
    abTwist before = {v3_zero(), v3_zero()};
    t.margin = 2e-8, t.tolerance = 5e-6;
    t.before1 = t.before2 = &before;
    t.twist1.lin.z = t.twist2.lin.z = -9.8 * t.h;
    abPatch p;
    assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
    check_sound(&p);
    check_vec_near(p.normal, v3(-1, 0, 0), 1e-9);
    check_near(p.depth, -gap, 1e-12);
    // along the edge, no lower than the least width of a patch
    assert_int_equal(p.kind, AB_PATCH_LINE);
    check_near(p.center.z, edge.z, 4e-5 * 0.054);
  }
  free_shape(&card);
  bench_end(bench);
}

// A stick that flies at a wall with its end first, further than its own length in a step: all of
// its outline stops at the wall.
static void fast_stick_stops_with_its_whole_outline(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape stick = box_shape(v3(0.04, 0.003, 0.001)), wall = box_shape(v3(0.01, 1, 1));
  abPose pose = pose_at(v3(-0.1, 0, 0), v3(0, 0, 0.5));
  abTouch t = touch_of(&stick, pose, &wall, pose_at(v3_zero(), v3_zero()));
  t.twist1.lin = v3(16, 0, 0);
  abPatch p;
  assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
  check_sound(&p);
  check_vec_near(p.normal, v3(-1, 0, 0), 1e-12);
  double width = 0.08 * sin(0.5) + 0.006 * cos(0.5), reach = 0.04 * cos(0.5) + 0.003 * sin(0.5);
  check_near(p.area, width * 0.002, 1e-12);
  check_near(p.h0, -(0.09 - reach), 1e-12);
  check_near(fabs(p.hx) + fabs(p.hy), 0, 1e-12);
  free_shape(&stick), free_shape(&wall);
  bench_end(bench);
}

// A plate that is more than half-way through a wall goes back to the side it came from; a new pair
// takes the shorter way.
static void overlapping_bodies_go_back_where_they_came_from(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape plate = box_shape(v3(0.001, 0.1, 0.1)),
          wall[2] = {box_shape(v3(0.01, 1, 1)), mesh_of_box(v3(0.01, 1, 1))};
  for (int k = 0; k < 4; k++) {
    abTouch t = touch_of(&plate, pose_at(v3(0.002, 0, 0), v3_zero()), &wall[k / 2],
                         pose_at(v3_zero(), v3_zero()));
    t.tolerance = 1e-5;
    abVec3 last = v3(-1, 0, 0), t1 = v3(0, 1, 0);
    if (k & 1) t.normal = &last, t.t1 = &t1;
    abPatch p;
    assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
    check_sound(&p);
    check_vec_near(p.normal, v3(k & 1 ? -1 : 1, 0, 0), 1e-12);
    check_near(p.depth, k & 1 ? 0.013 : 0.009, 1e-12);
  }
  free_shape(&plate), free_shape(&wall[0]), free_shape(&wall[1]);
  bench_end(bench);
}

// A box that lifts one side, and one that is pushed over the edge of another: small motions change
// the patch a little.
static void patches_change_continuously(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape a = box_shape(v3(0.1, 0.1, 0.1)), b = box_shape(v3(0.3, 0.3, 0.1)), plane = plane_shape();
  abPatch last = {0};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 400; i++) {
      abTouch t = touch_of(&a, pose_at(v3(0, 0.01, 0.2), v3_zero()), k == 1 ? &plane : &b,
                           pose_at(v3(0, 0, k == 1 ? 0.1 : 0), v3_zero()));
      if (k == 2) {
        t.pose1.p.x = 0.25 + 5e-4 * i;  // 0.15 hang over at the end
      } else {
        // the far side rises by up to four margins
        double tilt = 0.01 * i * t.margin / 0.2;
        t.pose1 = pose_at(v3(0.1 * (1 - cos(tilt)), 0.01, 0.1), v3(0, tilt, 0));
        t.pose1.p.z += 0.1 * cos(tilt) + 0.1 * sin(tilt);
      }
      abPatch p;
      bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
      // less than the margin is left, and it is not pressed on
      if (k == 2 && i >= 300) assert_false(seen);
      if (k == 2 && i >= 300) continue;
      assert_true(seen);
      check_sound(&p);
      if (i > 0) {
        // of 0.04: the polygon gives way by a hundredth, or 5e-4 of its length of 0.2
        check_below(fabs(p.area - last.area), 1.2e-2 * 0.04);
        check_near(p.depth, last.depth, 1e-12);
        check_below(v3_norm(v3_sub(p.center, last.center)), 1.2e-2 * 0.1);
      }
      last = p;
    }
  free_shape(&a), free_shape(&b);
  bench_end(bench);
}

// Strips and dots have closed forms; the general measure of the same rectangle says the same.
static void strips_measure_as_polygons_do(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {5};
  for (int trial = 0; trial < 300; trial++) {
    abTouchWork w = {.size = 1, .origin = random_vec(&r, 1)};
    double b = exp(random_uniform(&r, -12, -7));
    double a = trial % 3 ? b * exp(random_uniform(&r, 0.01, 9)) : b, g = random_uniform(&r, -1, 1);
    double turn = random_uniform(&r, 0, 7);
    abVec2 u = v2(cos(turn), sin(turn)), other[4];
    if (trial % 3 == 0) g = 0;
    w.width = b;
    abPatch p = {
        .normal = v3(0, 0, 1), .t1 = v3(1, 0, 0), .t2 = v3(0, 1, 0), .polygon = bench->polygon};
    p.h0 = random_uniform(&r, -1, 1) * a, p.hx = g * u.x, p.hy = g * u.y;
    abPatch q = p;
    abVec3 at = random_vec(&r, 1);
    ab_touch_measure_strip(&w, at, u, a, b, bench->polygon, &p);
    memcpy(other, bench->polygon, sizeof other);
    q.polygon = other, q.nvert = 4;
    assert_true(ab_touch_measure(&w, at, v2(0, 0), other, &q));
    assert_int_equal(p.kind, q.kind);
    assert_int_equal(p.nvert, q.nvert);
    // corners carry the rounding of a, which is felt across b
    double rounding = 1e-14 * a / b;
    check_vec_near(p.center, q.center, 1e-15 + rounding * a);
    check_near(p.area, q.area, rounding * q.area);
    check_near(p.mxx + p.myy, q.mxx + q.myy, rounding * (q.mxx + q.myy));
    check_near(p.mxy, q.mxy, rounding * (q.mxx + q.myy));
    check_near(p.mxx, q.mxx, rounding * (q.mxx + q.myy));
    check_near(p.depth, q.depth, 1e-12 * a);
    check_near(p.volume, q.volume, 10 * rounding * q.area * a);
    check_near(p.h0, q.h0, 1e-12 * a);
  }
  bench_end(bench);
}

// Grains that pass each other within a step whose ways are `far` of their sizes: each patch that is
// seen is sound, though of the coordinates there only so many digits are left.
static void check_far_flights(Bench* bench, Random* r, double far, int n) {
  int seen = 0;
  for (int i = 0; i < n; i++) {
    double size = pow(10, random_uniform(r, -6, -2));
    abShape a = box_shape(v3_scale(size, v3(1, random_uniform(r, 0.3, 1.3), 0.2)));
    abShape b = i % 2 ? hull_shape(r, 12, v3(size, size, 2 * size))
                      : mesh_of_box(v3_scale(size, v3(2, 1, 1)));
    abTouch t = touch_of(&a, pose_at(v3_zero(), random_direction(r)), &b,
                         pose_at(v3_zero(), random_direction(r)));
    abVec3 *v1 = &t.twist1.lin, *v2 = &t.twist2.lin;
    *v1 = v3_scale(far * size / t.h, random_direction(r));
    *v2 = v3_scale(i % 3 ? far * size / t.h : 0, random_direction(r));
    // they are nearest within the step, about their sizes apart
    double when = random_uniform(r, 0, t.h);
    t.pose1.p = v3_axpy(-when, *v1, v3_scale(size, random_direction(r)));
    t.pose2.p = v3_scale(-when, *v2);
    t.com1 = t.pose1.p, t.com2 = t.pose2.p;
    t.margin = 4e-6 * size, t.tolerance = 1e-3 * size;
    abPatch p;
    if (ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) check_sound(&p), seen++;
    free_shape(&a), free_shape(&b);
  }
  assert_true(seen > n / 4);
}

static void grains_that_fly_kilometres_in_a_step_have_sound_patches(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {7};
  for (int k = 1; k <= 12; k++) check_far_flights(bench, &r, pow(10, k), 500);
  bench_end(bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_on_box_is_the_face_exactly),
      cmocka_unit_test(landing_box_has_the_height_of_each_corner),
      cmocka_unit_test(edge_and_corner_leave_strip_and_dot),
      cmocka_unit_test(seams_of_tiles_are_not_seen),
      cmocka_unit_test(fast_plate_sees_the_wall),
      cmocka_unit_test(leaning_cards_have_a_level_normal),
      cmocka_unit_test(fast_stick_stops_with_its_whole_outline),
      cmocka_unit_test(overlapping_bodies_go_back_where_they_came_from),
      cmocka_unit_test(patches_change_continuously),
      cmocka_unit_test(strips_measure_as_polygons_do),
      cmocka_unit_test(grains_that_fly_kilometres_in_a_step_have_sound_patches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
