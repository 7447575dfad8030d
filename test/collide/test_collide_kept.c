// Patches that are not measured again follow their bodies, and only near where they were measured.
#include "collide/collide_kept.h"

#include <string.h>

#include "collide/broadphase.h"
#include "collide/collide.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

static const double STEP = 1e-3, G = 9.81, KEPT = 1e-6;

static void no_solve(const abContactProblem* problem, abContactSolution* solution) {
  (void)problem, (void)solution;
}
static size_t no_bytes(const double* param) { return param ? 0 : 0; }
static const abContactModel model = {.name = "near",
                                     .geometry = AB_GEOMETRY_VOLUME,
                                     .margin = 4,
                                     .memory_bytes = no_bytes,
                                     .solve = no_solve};

// The pairs of the present poses, remembered for the next call.
static void collide(World* w) {
  w->data->contact = &model;
  ab_forward(w->model, w->data);
  ab_arena_release(w->data->step_arena, 0);
  assert_int_equal(ab_broadphase(w->model, w->data), AB_OK);
  assert_int_equal(ab_collide(w->model, w->data), AB_OK);
  ab_memory_commit(w->data->memory);
}

static double thickness(const abPatch* p, abVec3 point) {
  abVec3 r = v3_sub(point, p->center);
  return p->h0 + p->hx * v3_dot(r, p->t1) + p->hy * v3_dot(r, p->t2);
}

// Box 1 on the floor, box 2 on it: on its face, an edge or a corner.
typedef struct Case {
  World w, fresh;  // the same poses; the second is asked for the first time
  int q0[2];
} Case;

static Case make_case(Random* r, int kind) {
  static const abQuat lying[3] = {{1, 0, 0, 0},
                                  {0.92387953251128674, 0.38268343236508978, 0, 0},
                                  {0.88047623922542, 0.27984814233312, -0.36470519963100, 0.1}};
  abVec3 half = v3(0.1, 0.07, 0.05), low = v3(0.2, 0.15, 0.1);
  abQuat yaw = quat_from_rotvec(v3(0, 0, random_uniform(r, -3, 3)));
  abQuat q = quat_unit(quat_mul(yaw, lying[kind]));
  double reach = 0;
  for (int i = 0; i < 3; i++) {
    abVec3 e = quat_rotate(q, v3(i == 0, i == 1, i == 2));
    reach += fabs(e.z) * (i == 0 ? half.x : i == 1 ? half.y : half.z);
  }
  double depth = 2e-5;
  Case c;
  for (int k = 0; k < 2; k++) {
    World* w = k ? &c.fresh : &c.w;
    *w = world_begin(STEP, true);
    world_add_box(w, low, 1, (abPose){{0, 0, low.z - depth}, {1, 0, 0, 0}});
    world_add_box(w, half, 1, (abPose){{0.02, 0.01, 2 * low.z + reach - 2 * depth}, q});
    world_start(w, NULL);
  }
  c.q0[0] = 0, c.q0[1] = 7;
  return c;
}

static void free_case(Case* c) { world_free(&c->w), world_free(&c->fresh); }

// Moves the upper box by a random motion none of whose points goes further than `most`.
static void move(Case* c, Random* r, const double* from, double most) {
  double* q = c->w.data->q + c->q0[1];
  abVec3 d = v3_scale(0.5 * most, random_direction(r));
  abVec3 turn = v3_scale(0.5 * most / 0.14, random_direction(r));  // half the diagonal is 0.132
  abQuat old = {from[3], from[4], from[5], from[6]};
  abQuat new = quat_unit(quat_mul(quat_from_rotvec(turn), old));
  q[0] = from[0] + d.x, q[1] = from[1] + d.y, q[2] = from[2] + d.z;
  q[3] = new.w, q[4] = new.x, q[5] = new.y, q[6] = new.z;
  memcpy(c->fresh.data->q, c->w.data->q, sizeof(double) * (size_t)c->w.model->nq);
}

static const abPair* upper(const World* w) {
  assert_int_equal(w->data->npair, 2);
  return &w->data->pair[1];
}

// The thickness may differ where the outline follows from the depth, by no more than the motion;
// of a face by the share of the depth in its size, and by rounding of coordinates of some 0.3 m.
static void kept_patches_follow_their_bodies(void** state) {
  (void)state;
  Random r = {1};
  const double limit = KEPT * 4 * G * STEP * STEP, rounding = 1e-15;
  for (int k = 0; k < 60; k++) {
    Case c = make_case(&r, k % 3);
    double from[7];
    collide(&c.w);
    assert_false(upper(&c.w)->kept);
    memcpy(from, c.w.data->q + c.q0[1], sizeof from);
    for (int i = 0; i < 20; i++) {
      move(&c, &r, from, limit);
      collide(&c.w);
      ab_memory_clear(c.fresh.data->memory, 0);
      collide(&c.fresh);
      const abPatch *kept = &upper(&c.w)->patch, *measured = &upper(&c.fresh)->patch;
      assert_true(upper(&c.w)->kept);
      assert_false(upper(&c.fresh)->kept);
      double allowed = (k % 3 == 0 ? 1e-2 : 1) * limit + rounding;
      for (int j = 0; j < kept->nvert; j++) {
        abVec2 p = kept->polygon[j];
        abVec3 at = v3_axpy(p.y, kept->t2, v3_axpy(p.x, kept->t1, kept->center));
        check_near(thickness(kept, at), thickness(measured, at), allowed);
      }
      // The barycentre of so thin a solid goes far when it tilts: by the size over the depth.
      check_vec_near(kept->center, measured->center, limit * 0.28 / 4e-5);
      check_near(kept->depth, measured->depth, limit);
    }
    free_case(&c);
  }
}

static void what_moves_further_is_measured(void** state) {
  (void)state;
  Random r = {2};
  const double limit = KEPT * 4 * G * STEP * STEP;
  for (int k = 0; k < 30; k++) {
    Case c = make_case(&r, k % 3);
    double from[7];
    collide(&c.w);
    memcpy(from, c.w.data->q + c.q0[1], sizeof from);
    // step by step, each within the limit of the last: it counts from where it was measured
    int kept = 0, measured = 0;
    for (int i = 1; i <= 40; i++) {
      double* q = c.w.data->q + c.q0[1];
      q[k % 2] = from[k % 2] + 0.1 * i * limit;
      collide(&c.w);
      if (upper(&c.w)->kept)
        kept++;
      else
        measured++;
    }
    assert_in_range(kept, 20, 38);
    assert_in_range(measured, 2, 20);
    free_case(&c);
  }
}

// As after a change of the step.
static void another_margin_is_measured(void** state) {
  (void)state;
  Random r = {3};
  Case c = make_case(&r, 0);
  collide(&c.w);
  collide(&c.w);
  assert_true(upper(&c.w)->kept);
  c.w.data->h = 2 * STEP;
  collide(&c.w);
  assert_false(upper(&c.w)->kept);
  free_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_patches_follow_their_bodies),
      cmocka_unit_test(what_moves_further_is_measured),
      cmocka_unit_test(another_margin_is_measured),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
