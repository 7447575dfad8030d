// Sleeping islands: what rests costs nothing and does not move, what creeps does not sleep, and
// waking changes nothing.
#include <stdlib.h>
#include <string.h>

#include "collide/collide.h"
#include "internal.h"
#include "math/spatial.h"
#include "pairs.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

#define G 9.8

static const char* const MODEL[] = {"patch",          "ecp",       "volume-pgs",   "volume-qp",
                                    "volume-penalty", "point-pgs", "point-penalty"};
enum { NMODEL = 7 };

static abPose at(double x, double y, double z) { return (abPose){v3(x, y, z), quat_identity()}; }

// The points of the baselines never come to rest: boxes on them jump and slide. They count as
// resting here, so that waking can be tested.
static void let_sleep(World* w) {
  w->data->sleep.on = true;
  if (strncmp(w->data->contact->name, "point", 5) == 0)
    w->data->sleep.speed = 1e2, w->data->sleep.drift = 1;
}

static void step(World* w) { assert_true(ab_step(w->model, w->data) != AB_STEP_BROKEN); }

// Until so many bodies sleep; fails when that takes longer than `time`.
static void run_until_asleep(World* w, int n, double time) {
  double end = w->data->time + time;
  while (w->data->stat.nasleep < n && w->data->time < end) step(w);
  if (w->data->stat.nasleep != n) print_error("%s: ", w->data->contact->name);
  assert_int_equal(w->data->stat.nasleep, n);
}

static void set_position(World* w, int body, abVec3 p) {
  double* q = w->data->q + w->model->joint[w->model->body[body].joint0].q0;
  q[0] = p.x, q[1] = p.y, q[2] = p.z;
}

static World heap(void) {
  World w = world_begin(4e-3, true);
  for (int i = 0; i < 16; i++)
    world_add_box(&w, v3(0.1, 0.05, 0.025), 0.5,
                  (abPose){v3(0.07 * (i % 3), 0.05 * (i % 2), 0.05 + 0.09 * i),
                           quat_from_rotvec(v3(0.1 * i, 0.3, 0))});
  world_start(&w, "patch");
  return w;
}

// Columns of two boxes at the given places, and a ball far above.
typedef struct Columns {
  World w;
  int n, low[4], high[4], ball;
} Columns;

static Columns columns(const char* contact, int n, double h) {
  Columns c = {.w = world_begin(h, true), .n = n};
  for (int i = 0; i < n; i++) {
    c.low[i] = world_add_box(&c.w, v3(0.05, 0.05, 0.04), 1, at(0.5 * i, 0, 0.04));
    c.high[i] = world_add_box(&c.w, v3(0.04, 0.04, 0.03), 0.5, at(0.5 * i, 0, 0.11));
  }
  c.ball = world_add_shape(&c.w, AB_SHAPE_SPHERE, v3(0.03, 0, 0), 0.2, at(0, 0, 1000));
  world_start(&c.w, contact);
  let_sleep(&c.w);
  return c;
}

// The ball, a millimetre above the first column, falling at 1 m/s.
static void throw_ball(Columns* c) {
  set_position(&c->w, c->ball, v3(0.01, 0.005, 0.14 + 0.03 + 1e-3));
  world_set_twist(&c->w, c->ball, (abTwist){v3(0.2, 0, -1), v3(0, 0, 0)});
}

static void copy_motion(const World* from, World* to) {
  to->data->time = from->data->time;
  memcpy(to->data->q, from->data->q, sizeof(double) * (size_t)from->model->nq);
  memcpy(to->data->v, from->data->v, sizeof(double) * (size_t)from->model->nv);
}

static void check_same_bits(const World* a, const World* b) {
  assert_memory_equal(a->data->q, b->data->q, sizeof(double) * (size_t)a->model->nq);
  assert_memory_equal(a->data->v, b->data->v, sizeof(double) * (size_t)a->model->nv);
  assert_int_equal(a->data->ncontact, b->data->ncontact);
  for (int i = 0; i < a->data->ncontact; i++)
    assert_memory_equal(&a->data->contacts[i].wrench, &b->data->contacts[i].wrench,
                        sizeof(abWrench));
}

// --- at rest

static void settled_heap_is_still_for_an_hour(void** state) {
  (void)state;
  World w = heap();
  w.data->sleep.on = true;
  run_until_asleep(&w, 16, 20);
  double q[16 * 7];
  memcpy(q, w.data->q, sizeof q);
  int ncontact = w.data->ncontact;
  double force = world_floor_force(&w), depth = w.data->stat.max_penetration;
  double end = w.data->time + 3600;
  while (w.data->time < end) {
    assert_int_equal(ab_step(w.model, w.data), AB_STEP_OK);
    assert_true(w.data->stat.npair == 0 && w.data->stat.ncandidate == 0);
  }
  assert_memory_equal(q, w.data->q, sizeof q);
  for (int i = 0; i < w.model->nv; i++) assert_true(w.data->v[i] == 0);
  assert_int_equal(w.data->ncontact, ncontact);
  assert_true(world_floor_force(&w) == force);
  assert_true(w.data->stat.max_penetration == depth);
  // every body's forces balance to what may change its speed by twice the rule's in a step
  check_near(force, w.model->total_mass * G, 2 * w.data->sleep.speed * w.model->total_mass * G);
  world_free(&w);
}

static void contacts_stay_as_they_were(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    Columns c = columns(MODEL[k], 1, 1e-3);
    run_until_asleep(&c.w, 2, 5);
    const abData* d = c.w.data;
    assert_true(d->ncontact >= 2);
    abContact before = d->contacts[0];
    double pressure = before.pressure ? before.pressure[0] : 0;
    abVec3 corner = before.polygon ? before.polygon[0] : v3_zero();
    for (int i = 0; i < 10; i++) step(&c.w);
    const abContact* now = &d->contacts[0];
    assert_int_equal(d->stat.npair, 0);
    assert_int_equal(now->nvert, before.nvert);
    assert_memory_equal(&now->wrench, &before.wrench, sizeof(abWrench));
    assert_memory_equal(&now->point, &before.point, sizeof(abVec3));
    if (before.pressure) assert_true(now->pressure[0] == pressure);
    if (before.polygon) check_vec_near(now->polygon[0], corner, 0);
    assert_true(d->asleep[c.low[0]] && d->asleep[c.high[0]] && !d->asleep[c.ball]);
    world_free(&c.w);
  }
}

static void two_islands_sleep_independently(void** state) {
  (void)state;
  Columns c = columns("patch", 2, 1e-3);
  for (int i = 0; i < 1000; i++) {
    c.w.data->applied[c.high[0]].force.x = i % 2 ? 0.5 : -0.5;  // never at rest
    step(&c.w);
  }
  const abData* d = c.w.data;
  assert_int_equal(d->stat.nasleep, 2);
  assert_true(d->asleep[c.low[1]] && d->asleep[c.high[1]]);
  assert_true(!d->asleep[c.low[0]] && !d->asleep[c.high[0]]);
  assert_int_equal(d->stat.npair, 2);
  assert_int_equal(d->ncontact, 4);
  check_near(world_floor_force(&c.w), 3 * G, 0.02 * 3 * G);
  for (int i = 1; i < d->ncontact; i++)  // in the order of an awake run
    assert_true(ab_pair_key(d->contacts[i - 1].geom1, d->contacts[i - 1].geom2) <
                ab_pair_key(d->contacts[i].geom1, d->contacts[i].geom2));
  world_free(&c.w);
}

static void off_means_off(void** state) {
  (void)state;
  Columns a = columns("patch", 2, 1e-3), b = columns("patch", 2, 1e-3);
  b.w.data->sleep.on = false;
  for (int i = 0; i < 600; i++) {
    step(&a.w), step(&b.w);
    if (a.w.data->stat.nasleep == 0) check_same_bits(&a.w, &b.w);
  }
  assert_true(a.w.data->stat.nasleep > 0);
  assert_int_equal(b.w.data->stat.nasleep, 0);
  a.w.data->sleep.on = false;  // wakes all
  step(&a.w);
  assert_int_equal(a.w.data->stat.nasleep, 0);
  assert_int_equal(a.w.data->stat.npair, 4);
  world_free(&a.w), world_free(&b.w);
}

// --- waking

static void copy_memory(const abMemory* from, abMemory* to) {
  const abTable* last = &from->table[from->last];
  to->stride = from->stride;
  assert_true(ab_memory_begin(to, last->n, last->key));
  if (last->n > 0)
    memcpy(to->table[1 - to->last].entry, last->entry, from->stride * (size_t)last->n);
  ab_memory_commit(to);
}

// The reference has the memory of when the column fell asleep, and is awake with velocity zero.
static void waking_is_exact(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    Columns a = columns(MODEL[k], 1, 1e-3), b = columns(MODEL[k], 1, 1e-3);
    run_until_asleep(&a.w, 2, 5);
    b.w.data->sleep.on = false;
    copy_memory(a.w.data->internal->memory, b.w.data->internal->memory);
    for (int i = 0; i < 100; i++) step(&a.w);
    throw_ball(&a);
    for (int i = 0; i < 20 && a.w.data->stat.nasleep; i++) {
      copy_motion(&a.w, &b.w);
      step(&a.w);
    }
    assert_int_equal(a.w.data->stat.nasleep, 0);
    for (int i = 0; i < 50; i++) {
      step(&b.w);
      check_same_bits(&a.w, &b.w);
      step(&a.w);
    }
    world_free(&a.w), world_free(&b.w);
  }
}

// Two runs alike. What a touch wakes in the first is woken by hand in the second before the same
// step: the step must be the same, to the bit.
static void a_touch_wakes_as_a_call_does(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL - 2; k++) {
    Columns c[2] = {columns(MODEL[k], 4, 2e-3), columns(MODEL[k], 4, 2e-3)};
    abData *d = c[0].w.data, *other = c[1].w.data;
    Random r = {(uint64_t)k + 1};
    int nwoken = 0;
    for (int i = 0; i < 3000; i++) {
      bool asleep[16];
      memcpy(asleep, d->asleep, (size_t)c[0].w.model->nbody);
      if (i % 400 == 399) {  // the ball hits some column from above or from the side
        abVec3 p = v3(0.5 * (i / 400 % 4) - 0.06 * (i % 3), 0, random_uniform(&r, 0.05, 0.2));
        abVec3 v = v3(random_uniform(&r, 0, 2), random_uniform(&r, -0.2, 0.2), -1);
        for (int j = 0; j < 2; j++) {
          set_position(&c[j].w, c[j].ball, v3_sub(p, v3_scale(0.1, v)));
          world_set_twist(&c[j].w, c[j].ball, (abTwist){v, v3_zero()});
        }
      }
      step(&c[0].w);
      for (int b = 0; b < c[0].w.model->nbody; b++)
        if (asleep[b] && !d->asleep[b]) ab_data_wake(other, b), nwoken++;
      step(&c[1].w);
      check_same_bits(&c[0].w, &c[1].w);
      assert_memory_equal(d->asleep, other->asleep, (size_t)c[0].w.model->nbody);
    }
    assert_true(nwoken >= 6);
    world_free(&c[0].w), world_free(&c[1].w);
  }
}

static void a_hit_heap_moves_as_if_it_had_never_slept(void** state) {
  (void)state;
  Columns a = columns("patch", 1, 1e-3), b = columns("patch", 1, 1e-3);
  b.w.data->sleep.on = false;
  for (int i = 0; i < 1000; i++) step(&a.w), step(&b.w);
  assert_int_equal(a.w.data->stat.nasleep, 2);
  throw_ball(&a), throw_ball(&b);
  for (int i = 0; i < 300; i++) step(&a.w), step(&b.w);
  assert_int_equal(a.w.data->stat.nasleep, 0);
  check_near(v3_norm(v3_sub(a.w.data->com[a.ball], v3(0.01, 0.005, 0.171))), 0.05, 0.04);
  // a stack at rest moves by less than 1e-12 m in a step; the hit makes 1e3 times more of it at
  // most
  for (int i = 1; i < a.w.model->nbody; i++)
    check_vec_near(a.w.data->com[i], b.w.data->com[i], 1e-9);
  world_free(&a.w), world_free(&b.w);
}

static void pulling_the_lower_box_wakes_the_upper_one(void** state) {
  (void)state;
  for (int way = 0; way < 2; way++) {
    Columns c = columns("patch", 1, 1e-3);
    run_until_asleep(&c.w, 2, 5);
    for (int i = 0; i < 100; i++) step(&c.w);
    if (way == 0)
      c.w.data->applied[c.low[0]].force.x = 100;
    else
      set_position(&c.w, c.low[0], v3(1, 0, 0.04));
    step(&c.w);
    assert_int_equal(c.w.data->stat.nasleep, 0);
    world_run(&c.w, 0.3);
    check_below(c.w.data->com[c.high[0]].z, 0.05);  // on the floor
    world_free(&c.w);
  }
}

// The first column, pushed, slides into the second one, which sleeps until then.
static void a_woken_island_wakes_the_next(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL - 2; k++) {
    Columns a = columns(MODEL[k], 2, 1e-3), b = columns(MODEL[k], 2, 1e-3);
    run_until_asleep(&a.w, 4, 5);
    b.w.data->sleep.on = false;
    copy_memory(a.w.data->internal->memory, b.w.data->internal->memory);
    copy_motion(&a.w, &b.w);
    world_set_twist(&a.w, a.low[0], (abTwist){v3(4, 0, 0), v3_zero()});
    world_set_twist(&b.w, b.low[0], (abTwist){v3(4, 0, 0), v3_zero()});
    int alone = 0;
    for (int i = 0; i < 300; i++) {
      step(&a.w), step(&b.w);
      alone += a.w.data->stat.nasleep == 2;
      // Begun from other last impulses, the blow of 4 m/s is solved alike to how near `patch` comes
      // to the bound of friction in a blow, 1e-5. What tumbles afterwards goes its own way.
      for (int j = 0; j < a.w.model->nq && i < alone + 10; j++)
        check_near(a.w.data->q[j], b.w.data->q[j], 1e-5);
    }
    assert_in_range(alone, 80, 200);  // 0.4 m at 4 m/s and less
    assert_int_equal(a.w.data->stat.nasleep, 0);
    assert_true(a.w.data->com[a.low[1]].x > 0.505);
    world_free(&a.w), world_free(&b.w);
  }
}

static void forces_and_velocities_wake_in_the_same_step(void** state) {
  (void)state;
  Columns a = columns("patch", 2, 1e-3), b = columns("patch", 2, 1e-3);
  b.w.data->sleep.on = false;
  for (int i = 0; i < 1000; i++) step(&a.w), step(&b.w);
  assert_int_equal(a.w.data->stat.nasleep, 4);
  a.w.data->applied[a.high[0]].force.z = b.w.data->applied[b.high[0]].force.z = 100;
  step(&a.w), step(&b.w);
  assert_int_equal(a.w.data->stat.nasleep, 2);
  assert_true(!a.w.data->asleep[a.low[0]] && a.w.data->asleep[a.low[1]]);
  world_set_twist(&a.w, a.high[1], (abTwist){v3(0, 0, 1), v3_zero()});
  world_set_twist(&b.w, b.high[1], (abTwist){v3(0, 0, 1), v3_zero()});
  step(&a.w), step(&b.w);
  assert_int_equal(a.w.data->stat.nasleep, 0);
  for (int i = 0; i < a.w.model->nv; i++)  // 0.2 and 1 m/s where it acts
    check_near(a.w.data->v[i], b.w.data->v[i], 1e-9);
  world_free(&a.w), world_free(&b.w);
}

static void settings_and_calls_wake(void** state) {
  (void)state;
  Columns c = columns("patch", 2, 1e-3);
  abData* d = c.w.data;
  run_until_asleep(&c.w, 4, 5);
  d->h = 0.5e-3;
  step(&c.w);
  assert_int_equal(d->stat.nasleep, 0);
  run_until_asleep(&c.w, 4, 5);
  ab_data_wake(d, c.low[1]);
  assert_true(!d->asleep[c.high[1]] && d->asleep[c.low[0]]);
  step(&c.w);
  assert_int_equal(d->stat.nasleep, 2);
  run_until_asleep(&c.w, 4, 5);
  ab_data_wake(d, -1);
  step(&c.w);
  assert_int_equal(d->stat.nasleep, 0);
  assert_int_equal(d->ncontact, 4);
  check_near(world_floor_force(&c.w), 3 * G, 1e-3);  // nothing jumps
  run_until_asleep(&c.w, 4, 5);
  world_set_param(&c.w, "stiffness", 4e3);
  step(&c.w);
  assert_int_equal(d->stat.nasleep, 0);
  world_free(&c.w);
}

static void reset_rewinds_sleep(void** state) {
  (void)state;
  Columns c = columns("patch", 2, 1e-3);
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    world_run(&c.w, 0.5);
    assert_int_equal(c.w.data->stat.nasleep, 4);
    hash[k] = ab_state_hash(c.w.model, c.w.data);
    ab_data_reset(c.w.model, c.w.data, -1);
    for (int b = 0; b < c.w.model->nbody; b++) assert_true(!c.w.data->asleep[b]);
  }
  assert_true(hash[0] == hash[1]);
  world_free(&c.w);
}

// A gripper that holds a box in the air: the servos' targets are its controls.
static void servos_sleep_until_their_target_changes(void** state) {
  (void)state;
  abError error;
  World w = {.model = ab_load(ABUT_SOURCE_DIR "/scenes/gripper_pinch.xml", NULL, &error)};
  w.data = ab_data_create(w.model, &error);
  assert_int_equal(ab_data_reset(w.model, w.data, ab_find_key(w.model, "grip")), AB_OK);
  w.data->sleep.on = true;
  for (int i = 0; i < 1000; i++) {  // moving targets do not sleep
    w.data->ctrl[0] = 0.15 + 1e-9 * i;
    step(&w);
    assert_int_equal(w.data->stat.nasleep, 0);
  }
  run_until_asleep(&w, 4, 2);
  World awake = {.model = w.model, .data = ab_data_create(w.model, &error)};
  copy_memory(w.data->internal->memory, awake.data->internal->memory);
  world_run(&w, 0.5);
  assert_int_equal(w.data->stat.npair, 0);
  copy_motion(&w, &awake);
  for (int i = 0; i < 3; i++) awake.data->ctrl[i] = w.data->ctrl[i] += i == 0 ? 0.05 : 0;
  for (int i = 0; i < 500; i++) {
    step(&w), step(&awake);
    assert_int_equal(w.data->stat.nasleep, 0);
    check_same_bits(&w, &awake);
  }
  assert_true(w.data->com[ab_find_body(w.model, "box")].z > 0.27);  // lifted
  ab_data_free(awake.data);
  ab_data_free(w.data);
  ab_model_free(w.model);
}

// --- scales

// Lengths times 4^k and times times 2^k, so that every number scales without rounding; masses by
// any power of 2.
static void scaled_scenes_fall_asleep_in_the_same_step(void** state) {
  (void)state;
  int first = 0;
  for (int k = -4; k <= 6; k++)
    for (int m = -10; m <= 10; m += 10) {
      double s = ldexp(1, 2 * k), mass = ldexp(1, m);
      World w = world_begin(ldexp(1, -9 + k), true);
      for (int i = 0; i < 3; i++)
        world_add_box(&w, v3_scale(s, v3(0.125, 0.125, 0.0625)), mass,
                      at(0.03125 * s * i, 0, s * (0.0625 + 0.126 * i)));
      world_start(&w, "patch");
      w.data->sleep.on = true;
      int n = 0;
      for (; w.data->stat.nasleep < 3 && n < 2000; n++) step(&w);
      assert_int_equal(w.data->stat.nasleep, 3);
      if (!first) first = n;
      assert_int_equal(n, first);
      world_free(&w);
    }
}

static void sleeps_at_every_step_size(void** state) {
  (void)state;
  for (double h = 1e-4; h < 0.02; h *= sqrt(10)) {
    Columns c = columns("patch", 1, h);
    run_until_asleep(&c.w, 2, 4);
    assert_true(c.w.data->time > fmax(50 * h, 0.2));
    world_free(&c.w);
  }
}

// --- what every step promises

static uint64_t hash_of_a_life(const char* contact, int nthread) {
  abError error;
  Columns c = columns(contact, 4, 1e-3);
  assert_int_equal(ab_set_threads(c.w.data, nthread, &error), AB_OK);
  world_run(&c.w, 0.9);
  throw_ball(&c);
  world_run(&c.w, 0.4);
  uint64_t hash = ab_state_hash(c.w.model, c.w.data);
  world_free(&c.w);
  return hash;
}

static void threads_do_not_change_a_bit(void** state) {
  (void)state;
  for (int k = 0; k < NMODEL; k++) {
    uint64_t one = hash_of_a_life(MODEL[k], 1);
    assert_true(hash_of_a_life(MODEL[k], 1) == one);
    assert_true(hash_of_a_life(MODEL[k], 3) == one);
  }
}

static long nalloc;
static void* counting_alloc(size_t n) { return nalloc++, malloc(n); }
static void* counting_realloc(void* p, size_t n) { return nalloc++, realloc(p, n); }

static void no_allocation_while_falling_asleep_and_waking(void** state) {
  (void)state;
  ab_set_allocator((abAllocator){counting_alloc, counting_realloc, free});
  Columns c = columns("patch", 2, 1e-3);
  long before = 0;
  for (int life = 0; life < 2; life++) {  // in the first it grows
    ab_data_reset(c.w.model, c.w.data, -1);
    before = nalloc;
    world_run(&c.w, 0.5);
    assert_int_equal(c.w.data->stat.nasleep, 4);
    throw_ball(&c);
    world_run(&c.w, 0.1);
    assert_int_equal(c.w.data->stat.nasleep, 2);
  }
  assert_int_equal(nalloc, before);
  world_free(&c.w);
  ab_set_allocator((abAllocator){malloc, realloc, free});
}

static void a_broken_step_leaves_sleepers_where_they_were(void** state) {
  (void)state;
  Columns c = columns("patch", 2, 1e-3);
  run_until_asleep(&c.w, 4, 5);
  uint64_t before = ab_state_hash(c.w.model, c.w.data);
  c.w.data->applied[c.high[0]].force.x = NAN;
  assert_int_equal(ab_step(c.w.model, c.w.data), AB_STEP_BROKEN);
  assert_true(ab_state_hash(c.w.model, c.w.data) == before);
  c.w.data->applied[c.high[0]].force.x = 0;
  step(&c.w);
  check_near(world_floor_force(&c.w), 3 * G, 1e-3);
  run_until_asleep(&c.w, 4, 5);
  world_free(&c.w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settled_heap_is_still_for_an_hour),
      cmocka_unit_test(contacts_stay_as_they_were),
      cmocka_unit_test(two_islands_sleep_independently),
      cmocka_unit_test(off_means_off),
      cmocka_unit_test(waking_is_exact),
      cmocka_unit_test(a_touch_wakes_as_a_call_does),
      cmocka_unit_test(a_hit_heap_moves_as_if_it_had_never_slept),
      cmocka_unit_test(pulling_the_lower_box_wakes_the_upper_one),
      cmocka_unit_test(a_woken_island_wakes_the_next),
      cmocka_unit_test(forces_and_velocities_wake_in_the_same_step),
      cmocka_unit_test(settings_and_calls_wake),
      cmocka_unit_test(reset_rewinds_sleep),
      cmocka_unit_test(servos_sleep_until_their_target_changes),
      cmocka_unit_test(scaled_scenes_fall_asleep_in_the_same_step),
      cmocka_unit_test(sleeps_at_every_step_size),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(no_allocation_while_falling_asleep_and_waking),
      cmocka_unit_test(a_broken_step_leaves_sleepers_where_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
