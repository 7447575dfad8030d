// The candidate list is exactly the pairs whose boxes meet, however the bodies came there.
#include "base/arena.h"
#include "collide/broad/broadphase.h"
#include "collide/broad/filter.h"
#include "geometry/support.h"
#include "internal.h"
#include "math/spatial.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

static World crowd(Random* r, int n, double room) {
  World w = world_begin(1e-2, true);
  world_add_static_box(&w, v3(room, 0.1, room), (abPose){v3(0, room, 0), quat_identity()});
  for (int i = 0; i < n; i++) {
    abVec3 half = v3(random_uniform(r, 0.02, 0.1), random_uniform(r, 0.02, 0.1),
                     random_uniform(r, 0.02, 0.5));
    world_add_box(&w, half, 1, (abPose){random_vec(r, room), random_rotation(r)});
  }
  ab_scene_option(w.scene)->gravity = v3_zero();
  world_start(&w, "volume-penalty");
  return w;
}

// All pairs by the definition.
static int count_by_definition(const World* w, const int (*candidate)[2], int n) {
  const abModel* m = w->model;
  int found = 0;
  for (int i = 0; i < m->ngeom; i++)
    for (int j = i + 1; j < m->ngeom; j++) {
      if (!ab_may_collide(m, i, j)) continue;
      abVec3 li, hi, lj, hj;
      bool near = true;
      int plane = m->geom[i].shape.type == AB_SHAPE_PLANE   ? i
                  : m->geom[j].shape.type == AB_SHAPE_PLANE ? j
                                                            : -1;
      if (plane >= 0) {
        ab_shape_aabb(&m->geom[i + j - plane].shape, &w->data->geom_pose[i + j - plane], &li, &hi);
        near = li.z <= 0;
      } else {
        ab_shape_aabb(&m->geom[i].shape, &w->data->geom_pose[i], &li, &hi);
        ab_shape_aabb(&m->geom[j].shape, &w->data->geom_pose[j], &lj, &hj);
        near = li.x <= hj.x && lj.x <= hi.x && li.y <= hj.y && lj.y <= hi.y && li.z <= hj.z &&
               lj.z <= hi.z;
      }
      if (!near) continue;
      assert_true(found < n);
      assert_int_equal(candidate[found][0], i);
      assert_int_equal(candidate[found][1], j);
      found++;
    }
  return found;
}

static void candidates_are_the_pairs_whose_boxes_meet(void** state) {
  (void)state;
  Random r = {7};
  World w = crowd(&r, 150, 1);
  for (int k = 0; k < 200; k++) {
    // Small drifts, now and then a jump across the room; at times everybody moves: the tree is made
    // anew.
    for (int b = 2; b < w.model->nbody; b++) {
      double* q = w.data->q + w.model->joint[w.model->body[b].joint0].q0;
      double step = k % 10 == 9 ? 0.3 : random_below(&r, 50) == 0 ? 1 : 0.005;
      for (int i = 0; i < 3; i++) q[i] = fmax(-1, fmin(1, q[i] + random_uniform(&r, -step, step)));
    }
    ab_forward(w.model, w.data);
    ab_step(w.model, w.data);  // its kinematics and broad phase are the ones looked at below
    ab_forward(w.model, w.data);
    ab_arena_release(w.data->internal->step_arena, 0);
    assert_int_equal(ab_broadphase(w.model, w.data), AB_OK);
    ab_arena_release(w.data->internal->scratch, 0);
    assert_int_equal(
        count_by_definition(&w, w.data->internal->candidate, w.data->internal->ncandidate),
        w.data->internal->ncandidate);
    for (int i = 0; i < w.model->nv; i++) w.data->v[i] = 0;
  }
  world_free(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(candidates_are_the_pairs_whose_boxes_meet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
