// Patches of round shapes that lie on something without depth, or are about to.
#include "collide/distance/gjk.h"
#include "support/text_world.h"
#include "touch_pair.h"

static const double PI = 3.14159265358979323846;

enum { KINDS = 4 };
static const abShapeType TYPE[KINDS] = {AB_SHAPE_SPHERE, AB_SHAPE_CAPSULE, AB_SHAPE_CYLINDER,
                                        AB_SHAPE_ELLIPSOID};
static abShape make_kind(int k) {
  return round_shape(TYPE[k], k == 3 ? v3(0.05, 0.03, 0.04) : v3(0.05, 0.1, 0));
}

// A plane, a box and a mesh whose upper face is z = 0.
static void make_floors(abShape floor[3], abPose pose[3]) {
  floor[0] = plane_shape(), floor[1] = box_shape(v3(0.5, 0.4, 0.2));
  floor[2] = mesh_of_box(v3(0.5, 0.4, 0.2));
  for (int i = 0; i < 3; i++) pose[i] = pose_at(v3(0, 0, i ? -0.2 : 0), v3_zero());
}

// Lying, turned about their axis and the vertical, all on the floor to `gap`: the patch is the same
// on all floors, with the vertical normal, the gap for thickness, below the body.
static void lying_shapes_have_the_same_patch_on_all_floors(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape floor[3];
  abPose at[3];
  make_floors(floor, at);
  const double gaps[] = {0, 1e-6, -1e-6, 1e-9, -3e-8};
  for (int kind = 0; kind < KINDS; kind++)
    for (int g = 0; g < 5; g++) {
      abShape s = make_kind(kind);
      abQuat q = quat_mul(
          quat_from_rotvec(v3(0, 0, 0.7 * g)),
          quat_mul(quat_from_rotvec(v3(PI / 2, 0, 0)), quat_from_rotvec(v3(0, 0, 0.4 + g))));
      abPose pose = {v3(0.1, -0.05, 0), q};
      // of the ellipsoid's radii (a, b, c) its lowest point is |a n| below
      abVec3 up = quat_rotate(quat_conj(q), v3(0, 0, 1));
      double below = kind == 3 ? v3_norm(v3_mul(s.size, up)) : 0.05;
      pose.p.z = below + gaps[g];
      abPatch first = {0};
      for (int k = 0; k < 3; k++)
        for (int known = 0; known < 2; known++) {
          abVec3 n = v3(0, 0, 1), t1 = v3(1, 0, 0);
          abTouch t = touch_of(&s, pose, &floor[k], at[k]);
          if (known) t.normal = &n, t.t1 = &t1;
          abPatch p;
          assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
          check_sound(&p);
          assert_int_equal(p.kind, kind == 1 || kind == 2 ? AB_PATCH_LINE : AB_PATCH_POINT);
          check_vec_near(p.normal, n, 1e-12);
          check_near(p.depth, -gaps[g], 1e-12);
          check_near(p.h0, -gaps[g], 1e-12);
          if (k == 0 && known == 0) first = p;
          check_vec_near(p.center, first.center, 1e-12);
          check_near(p.area, first.area, 1e-9 * first.area);
          if (kind != 3) check_vec_near(p.center, v3(0.1, -0.05, gaps[g] / 2), 1e-12);
          if (kind == 1 || kind == 2) check_near(p.area / (2e-5 * 0.05), 0.2, 1e-9);
        }
      free_shape(&s);
    }
  free_shape(&floor[1]), free_shape(&floor[2]);
  bench_end(bench);
}

// A ball over tiles side by side: where its centre is over a tile at the end of the step, the
// normal is vertical, and beyond its edge it leans by no more than the way to the edge over the
// radius, with the gap that leaves it free to roll on.
static void ball_rolls_over_seams(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  double R = 0.03;
  abShape ball = round_shape(AB_SHAPE_SPHERE, v3(R, 0, 0));
  abShape tile[2] = {box_shape(v3(0.035, 0.035, 0.01)), mesh_of_box(v3(0.035, 0.035, 0.01))};
  const double speed[] = {0.01, 0.3, 2, 8};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 4 * 41; i++) {
      double v = speed[i % 4], h = 5e-3, ahead = 0.0007 * (i / 4 - 20);
      // its centre at the start; the seam is at 0, the tile beyond it
      abTwist before = {v3(v, 0, 0), v3(0, v / R, 0)};
      abTouch t = touch_of(&ball, pose_at(v3(ahead - v * h, 0, R), v3_zero()), &tile[k],
                           pose_at(v3(0.035, 0, -0.01), v3_zero()));
      t.h = h, t.margin = 2e-6, t.tolerance = 3e-5;
      t.before1 = &before;
      t.twist1 = before;
      t.twist1.lin.z -= 9.8 * h;
      abPatch p;
      bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
      if (ahead >= 0) {
        assert_true(seen);
        check_vec_near(p.normal, v3(0, 0, 1), 1e-9);
        check_near(p.depth, 0, 1e-12);
        // below the ball where it is now: its lever is R
        check_vec_near(p.center, v3(ahead - v * h, 0, 0), 1e-9);
      } else if (seen) {
        double lean = -ahead / R, gap = hypot(ahead, R) - R;
        check_below(fabs(p.normal.x), lean);
        // the motion that rolls on is free
        double then = -p.h0 + h * v3_dot(p.normal, twist_at(before, v3_sub(p.center, t.com1)));
        check_near(then, gap, 1e-9);
      }
    }
  free_shape(&ball), free_shape(&tile[0]), free_shape(&tile[1]);
  bench_end(bench);
}

// Fast round bodies do not pass thin walls.
static void fast_round_bodies_see_the_wall(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape wall[2] = {box_shape(v3(0.01, 1, 1)), mesh_of_box(v3(0.01, 1, 1))};
  for (int kind = 0; kind < KINDS; kind++)
    for (int i = 0; i < 60; i++) {
      abShape s = make_kind(kind);
      abPose pose = pose_at(v3(-0.18 - 0.013 * i, 0.1, 0.2), v3(0.1 * i, 0.3 * i, 0.02));
      abTouch t = touch_of(&s, pose, &wall[i & 1], pose_at(v3_zero(), v3_zero()));
      t.twist1.lin = v3(100, 20, 5);
      t.twist1.ang = v3(3, 2, 1);
      abPatch p;
      bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
      if (pose.p.x > -0.9) assert_true(seen);
      if (seen) {
        check_sound(&p);
        check_vec_near(p.normal, v3(-1, 0, 0), 1e-9);
      }
      free_shape(&s);
    }
  free_shape(&wall[0]), free_shape(&wall[1]);
  bench_end(bench);
}

// A standing coin touches with its whole end as long as the step reaches the far side of its rim,
// and with the rim's lowest point beyond.
static void coin_stands_on_its_end_or_on_its_rim(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape coin = round_shape(AB_SHAPE_CYLINDER, v3(0.02, 0.002, 0)), floor[3];
  abPose at[3];
  make_floors(floor, at);
  const double tilts[] = {0, 1e-7, 1e-4, 2e-3, 0.05, 0.5, 1.2};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 7; i++) {
      double tilt = tilts[i], gap = 1e-7;
      abPose pose = pose_at(v3(0.1, 0, 0), v3(tilt, 0, 0));
      pose.p.z = 0.02 * sin(tilt) + 0.002 * cos(tilt) + gap;
      abTouch t = touch_of(&coin, pose, &floor[k], at[k]);
      t.margin = 2e-6, t.tolerance = 4e-6;
      abPatch p;
      assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
      check_sound(&p);
      check_vec_near(p.normal, v3(0, 0, 1), 1e-12);
      bool stands = 2 * 0.02 * sin(tilt) < t.margin;
      assert_int_equal(p.kind, stands ? AB_PATCH_SURFACE : AB_PATCH_POINT);
      // the lowest corner of the inscribed polygon is a little above the rim
      check_near(p.depth, -gap, stands ? 0.02 * sin(tilt) * 0.03 + 1e-12 : 1e-12);
      if (stands) continue;
      abVec3 low = pose_apply(pose, v3(0, -0.02, -0.002));
      check_near(p.center.x, low.x, 1e-9);
      // steep as it stands, the margin reaches that far along its side
      check_near(p.center.y, low.y, 1e-5);
    }
  free_shape(&coin), free_shape(&floor[1]), free_shape(&floor[2]);
  bench_end(bench);
}

// Points on a ball, evenly.
static abShape mesh_ball(int n, double R) {
  static abVec3 point[2000];
  for (int i = 0; i < n; i++) {
    double z = 1 - (2 * i + 1.0) / n, r = sqrt(1 - z * z), a = i * PI * (3 - sqrt(5));
    point[i] = v3(R * r * cos(a), R * r * sin(a), R * z);
  }
  abShape s = {.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(n, point, NULL)};
  assert_non_null(s.poly);
  return s;
}

// A ball of facets touches like a ball that is smaller by the depth of its facets, wherever it has
// rolled to.
static void ball_of_facets_touches_like_the_ball(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  abShape floor[3];
  abPose at[3];
  make_floors(floor, at);
  Random r = {2};
  const int count[] = {200, 500, 2000};
  for (int k = 0; k < 3; k++) {
    abShape ball = mesh_ball(count[k], 0.05);
    for (int i = 0; i < 300; i++) {
      double gap = random_uniform(&r, -1e-6, 1e-5);
      double R = 0.05 - 2.31 * ab_polyhedron_skin(ball.poly)->size / count[k];
      check_near(R, 0.05 * (1 - 4.0 / count[k]), 2e-4 * 0.05);
      abPose pose = {v3(0.1, 0.02, R + gap), random_rotation(&r)};
      abTwist before = {v3(0.7, 0, 0), v3(0, 14, 0)};
      abTouch t = touch_of(&ball, pose, &floor[i % 3], at[i % 3]);
      abVec3 n = v3(0, 0, 1), t1 = v3(1, 0, 0);
      t.normal = &n, t.t1 = &t1;
      t.h = 2e-3, t.twist1 = before, t.before1 = &before;
      abPatch p;
      assert_true(ab_touch_patch(&t, &bench->arena, bench->polygon, &p));
      check_sound(&p);
      check_vec_near(p.normal, n, 1e-12);
      // facets of 200 vertices leave 2e-2 of the radius, the fit 1e-8 of it
      check_near(p.depth, -gap, 1e-7 * 0.05);
      check_vec_near(p.center, v3(0.1, 0.02, gap / 2), 1e-4 * 0.05);
    }
    free_shape(&ball);
  }
  free_shape(&floor[1]), free_shape(&floor[2]);
  bench_end(bench);
}

// As in test_touch.c, for all pairs with a round shape, by their distance along the way.
static void what_meets_is_seen(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {8};
  for (int i = 0; i < 1500; i++) {
    int k = i % KINDS, l = i / KINDS % 6;
    abVec3 size[2];
    for (int j = 0; j < 2; j++) size[j] = random_size(&r, 0.05, 0.3);
    abShape a = round_shape(TYPE[k], size[0]);
    abShape b = l < KINDS ? round_shape(TYPE[l], size[1])
                : l == 4  ? box_shape(size[1])
                          : hull_shape(&r, 30, size[1]);
    abPose pb = {v3_zero(), random_rotation(&r)}, pa = {random_direction(&r), random_rotation(&r)};
    pa.p = v3_scale(2, pa.p);
    abDistance d;
    ab_distance(&a, pa, &b, pb, NULL, &d);
    pa.p = v3_axpy(random_uniform(&r, 0, 1e-3) - d.separation, d.normal, pa.p);
    abTouch t = touch_of(&a, pa, &b, pb);
    t.margin = t.tolerance = 1e-4;
    double fast = i % 3 ? 1 : 10;
    t.twist1.lin = v3_scale(fast, v3_add(v3_scale(-0.3, d.normal), random_vec(&r, 0.2)));
    t.twist1.ang = random_vec(&r, 0.5 * fast);
    abPatch p;
    bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p), meet = false;
    for (int j = 0; j <= 20 && !seen && !meet; j++) {
      abPose at = coasted(t.pose1, t.com1, t.twist1, t.h * j / 20);
      ab_distance(&a, at, &b, pb, NULL, &d);
      meet = d.overlap || d.separation < 0;
    }
    assert_false(meet);
    free_shape(&a), free_shape(&b);
  }
  bench_end(bench);
}

static void random_round_pairs_have_sound_patches(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {3};
  enum { SHAPES = 12 };
  abShape shape[SHAPES] = {plane_shape(), box_shape(v3(0.2, 0.1, 0.3)), box_shape(v3(1, 1, 0.02))};
  shape[3] = hull_shape(&r, 20, v3(0.2, 0.2, 0.1));
  for (int i = 4; i < SHAPES; i++) {
    abVec3 size = random_size(&r, 0.02, 0.3);
    shape[i] = round_shape(TYPE[i % KINDS], size);
  }
  int contacts = 0;
  for (int i = 0; i < 100000; i++) {
    int k = 4 + random_below(&r, SHAPES - 4), l = random_below(&r, SHAPES);
    if (i & 1) {
      int swap = k;
      k = l, l = swap;
    }
    double scale = pow(10, random_uniform(&r, -6, 0.3));
    abPose pa = {random_vec(&r, 0.3), random_rotation(&r)}, pb = {random_vec(&r, 0.3), pa.q};
    if (i % 3) pb.q = random_rotation(&r);
    abTouch t = touch_of(&shape[k], pa, &shape[l], pb);
    t.com1 = v3_add(t.com1, random_vec(&r, 0.1));
    t.twist1 = (abTwist){random_vec(&r, 10 * scale), random_vec(&r, 30 * scale)};
    t.twist2 = (abTwist){random_vec(&r, scale), random_vec(&r, scale)};
    abTwist before = t.twist1;
    before.lin.z += 9.8 * t.h;
    if (i % 4) t.before1 = &before;
    t.margin = 1e-4 * scale;
    abVec3 last = random_direction(&r), t1, t2;
    v3_tangents(last, &t1, &t2);
    if (i % 2) t.normal = &last, t.t1 = &t1;
    abPatch p;
    if (!ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) continue;
    check_sound(&p);
    assert_int_equal(bench->arena.used, 0);
    contacts++;
  }
  assert_true(contacts > 20000);
  for (int i = 1; i < SHAPES; i++) free_shape(&shape[i]);
  bench_end(bench);
}

// A ball that rolls along a cylinder while both turn, 0.55 mm in each other: what the motion closes
// beyond first order, as much in each step of 5 ms, is foreseen, and they do not go in.
static void ball_rolls_on_a_cylinder_without_going_in(void** state) {
  (void)state;
  World w = load(
      "<mujoco><option timestep='.005' gravity='0 0 0'/><worldbody>"
      "<body pos='-.062559584 -.086362688 .116976538' "
      "quat='.306958959 -.525620947 -.627658293 -.485328636'><freejoint/>"
      "<geom type='sphere' size='.05' mass='.89' friction='.5'/></body>"
      "<body pos='-.045827364 -.102433443 .214634575' "
      "quat='.321836616 .729711128 -.002512914 -.603271536'><freejoint/>"
      "<geom type='cylinder' size='.05 .035' mass='1' friction='.5'/></body></worldbody>"
      "<keyframe><key name='k' qvel='-.61 -.385 -.575 -12.08 11.07 -9.197 "
      "-.0538 -.3054 -1.1228 -15.38 -22.61 -.6733'/></keyframe></mujoco>");
  ab_data_reset(w.model, w.data, 0);
  double deepest = 0, first = 0;
  for (int i = 0; i < 6; i++) {
    steps(w, 1);
    if (i == 0) first = w.data->contacts[0].depth;
    for (int k = 0; k < w.data->ncontact; k++) deepest = fmax(deepest, w.data->contacts[k].depth);
  }
  check_near(first, 5.5e-4, 1e-6);
  check_below(deepest, 1.25 * first);  // 4.3 times before
  finish(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_rolls_on_a_cylinder_without_going_in),
      cmocka_unit_test(lying_shapes_have_the_same_patch_on_all_floors),
      cmocka_unit_test(ball_rolls_over_seams),
      cmocka_unit_test(fast_round_bodies_see_the_wall),
      cmocka_unit_test(coin_stands_on_its_end_or_on_its_rim),
      cmocka_unit_test(ball_of_facets_touches_like_the_ball),
      cmocka_unit_test(what_meets_is_seen),
      cmocka_unit_test(random_round_pairs_have_sound_patches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
