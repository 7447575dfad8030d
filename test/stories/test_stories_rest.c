// What users of other simulators complain about, at rest: creep, drift, rattle, sinking, chatter.
#include "stories/story.h"

static void box_on_a_ramp_does_not_creep(void** state) {
  (void)state;
  Story s = story_begin("01_ramp_hold.xml", NULL);
  int box = story_body(&s, "box");
  story_run(&s, 3);  // the friction takes up its load
  abVec3 p = s.data->com[box];
  abQuat q = s.data->pose[box].q;
  story_run(&s, story_time(3600, 20));
  // An hour of simulated time, to the last bits of the position: no motion at all. Places on the
  // two bodies are remembered from step to step; their rounding adds up to some 4e-16 m/s.
  check_vec_near(s.data->com[box], p, 1e-14 + 1e-15 * story_time(3600, 20));
  check_near(fabs(s.data->pose[box].q.w), fabs(q.w), 1e-15);
  check_below(v3_norm(s.data->twist[box].lin), 1e-12);
  story_end(&s);
}

static void steeper_ramp_lets_it_slide(void** state) {
  (void)state;
  Story s = story_begin("01_ramp_slide.xml", NULL);
  int box = story_body(&s, "box");
  double angle = 1.1 * atan(0.5), mu = 0.4;
  story_run(&s, 0.2);
  double v0 = v3_norm(s.data->twist[box].lin);
  story_run(&s, 0.5);
  double expected = g * (sin(angle) - mu * cos(angle)) * 0.5;
  check_near(v3_norm(s.data->twist[box].lin) - v0, expected, 1e-4 * g * 0.5);
  story_end(&s);
}

static void cube_on_a_cube_does_not_drift(void** state) {
  (void)state;
  Story s = story_begin("02_cube_on_cube.xml", NULL);
  int upper = story_body(&s, "upper");
  story_run(&s, 2);
  abVec3 p = s.data->com[upper];
  story_run(&s, story_time(36000, 60));
  check_vec_near(s.data->com[upper], p, 1e-9);
  story_end(&s);
}

static void yaw_stays_zero_for_any_order_of_contacts(void** state) {
  (void)state;
  const char* const name[] = {"03_two_supports_a.xml", "03_two_supports_b.xml"};
  for (int k = 0; k < 2; k++) {
    Story s = story_begin(name[k], NULL);
    int box = story_body(&s, "box");
    story_run(&s, 10);
    check_near(s.data->pose[box].q.z, 0, 1e-12);
    check_vec_near(v3(s.data->com[box].x, s.data->com[box].y, 0), v3(0.013, 0.007, 0), 1e-9);
    story_end(&s);
  }
}

static void mesh_box_rests_like_the_primitive(void** state) {
  (void)state;
  Story s = story_begin("08_mesh_box.xml", NULL);
  story_run(&s, 2);
  assert_int_equal(s.data->ncontact, 2);
  const abContact *a = &s.data->contacts[0], *b = &s.data->contacts[1];
  // The file holds single precision: its box differs by 1e-9 m.
  check_near(b->area, a->area, 1e-6 * a->area);
  check_vec_near(b->wrench.force, a->wrench.force, 1e-6 * g);
  check_near(b->depth, a->depth, 1e-6 * a->depth + 1e-8);
  assert_int_equal(a->nvert, 4);
  assert_int_equal(b->nvert, 4);
  story_end(&s);
}

static void perfect_cubes_do_not_rattle(void** state) {
  (void)state;
  Story s = story_begin("09_perfect_cubes.xml", NULL);
  story_run(&s, 2);
  double weight = 1.5 * g;
  for (int i = 0; i < 500; i++) {
    story_run(&s, s.data->h);
    check_near(story_floor_force(&s), weight, 1e-6 * weight);
    for (int k = 0; k < s.data->ncontact; k++)
      assert_int_equal(s.data->contacts[k].mode, AB_CONTACT_STICK);
  }
  story_end(&s);
}

static void battery_lies_on_its_line(void** state) {
  (void)state;
  Story s = story_begin("11_battery.xml", NULL);
  int battery = story_body(&s, "battery");
  story_run(&s, 5);
  assert_int_equal(s.data->ncontact, 1);
  const abContact* c = &s.data->contacts[0];
  assert_int_equal(c->kind, AB_PATCH_LINE);
  check_near(c->wrench.force.z, 0.023 * g, 1e-9 * 0.023 * g);
  check_vec_near(s.data->com[battery], v3(0, 0, 0.00725), 1e-9 * 0.05);
  check_vec_near(c->point, v3(0, 0, 0), 1e-6 * 0.05);
  story_end(&s);
}

static void desk_stands_on_coin_sized_feet(void** state) {
  (void)state;
  Story s = story_begin("14_desk.xml", NULL);
  int desk = story_body(&s, "desk");
  story_run(&s, 3);
  assert_int_equal(s.data->ncontact, 4);
  double weight = 25 * g;
  check_near(story_floor_force(&s), weight, 1e-6 * weight);
  for (int i = 0; i < 4; i++)
    check_near(s.data->contacts[i].wrench.force.z, weight / 4, 1e-3 * weight);
  // It sinks by the model's rest depth of some g h^2 = 0.04 mm, and stays.
  check_below(0.7 - s.data->com[desk].z + s.model->body[desk].com.z, 5 * g * s.data->h * s.data->h);
  check_below(v3_norm(s.data->twist[desk].lin), 1e-9);
  story_end(&s);
}

static void box_on_an_edge_falls_only_when_its_centre_is_beyond(void** state) {
  (void)state;
  Story inside = story_begin("15_edge_inside.xml", NULL),
        beyond = story_begin("15_edge_beyond.xml", NULL);
  story_run(&inside, 5);
  check_near(inside.data->com[1].z, 0.25,
             5 * g * inside.data->h * inside.data->h);  // the rest depth
  check_near(inside.data->pose[1].q.y, 0, 1e-3);
  long n = (long)(3 / beyond.data->h);
  for (long i = 0; i < n; i++) ab_step(beyond.model, beyond.data);
  check_below(beyond.data->com[1].z, 0.15);
  story_end(&inside);
  story_end(&beyond);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_on_a_ramp_does_not_creep),
      cmocka_unit_test(steeper_ramp_lets_it_slide),
      cmocka_unit_test(cube_on_a_cube_does_not_drift),
      cmocka_unit_test(yaw_stays_zero_for_any_order_of_contacts),
      cmocka_unit_test(mesh_box_rests_like_the_primitive),
      cmocka_unit_test(perfect_cubes_do_not_rattle),
      cmocka_unit_test(battery_lies_on_its_line),
      cmocka_unit_test(desk_stands_on_coin_sized_feet),
      cmocka_unit_test(box_on_an_edge_falls_only_when_its_centre_is_beyond),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
