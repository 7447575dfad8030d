// Claims about the steps volume-pgs takes with all contacts of a group together, and about the
// factorisation they use.
#include <string.h>

#include "math/spatial.h"
#include "solve/dense.h"
#include "solve/dense_blocks.h"
#include "support/check.h"
#include "support/random.h"
#include "support/world.h"

static const double g = 9.8;

// --- factorisation
// -------------------------------------------------------------------------------------------------

enum { MAX_BLOCK = 24, MAX_TOTAL = 6 * MAX_BLOCK, MAX_EDGE = 60 };

typedef struct System {
  int n, nedge, total;
  int size[MAX_BLOCK], offset[MAX_BLOCK + 1], edge[MAX_EDGE][2];
  double dense[MAX_TOTAL * MAX_TOTAL];
} System;

static void fill_block(System* s, Random* r, int a, int b, double diagonal) {
  for (int i = 0; i < s->size[a]; i++)
    for (int j = 0; j < s->size[b]; j++)
      s->dense[(s->offset[a] + i) * s->total + s->offset[b] + j] =
          random_uniform(r, -1, 1) + (i == j ? diagonal : 0);
}

// Unsymmetric blocks in a random symmetric pattern; six rows each, or any number up to six.
static void make_system(System* s, Random* r, int n, bool equal) {
  s->n = n, s->nedge = 0, s->offset[0] = 0;
  for (int i = 0; i < n; i++) {
    s->size[i] = equal ? 6 : 1 + random_below(r, 6);
    s->offset[i + 1] = s->offset[i] + s->size[i];
  }
  s->total = s->offset[n];
  memset(s->dense, 0, sizeof s->dense);
  for (int i = 0; i < n; i++) fill_block(s, r, i, i, 30);
  for (int k = 0; k < 2 * n && n > 1; k++) {
    int a = random_below(r, n), b = (a + 1 + random_below(r, n - 1)) % n;
    s->edge[s->nedge][0] = a, s->edge[s->nedge++][1] = b;
    fill_block(s, r, a, b, 0);
    fill_block(s, r, b, a, 0);
  }
}

static void load_block(const System* s, abBlockLu* m, int a, int b) {
  double block[36];
  for (int i = 0; i < s->size[a]; i++)
    for (int j = 0; j < s->size[b]; j++)
      block[i * s->size[b] + j] = s->dense[(s->offset[a] + i) * s->total + s->offset[b] + j];
  ab_block_lu_add(m, a, b, block);
}

static void load(const System* s, abBlockLu* m) {
  bool done[MAX_BLOCK][MAX_BLOCK] = {{false}};
  for (int i = 0; i < s->n; i++) load_block(s, m, i, i);
  for (int e = 0; e < s->nedge; e++) {
    int a = s->edge[e][0], b = s->edge[e][1];
    if (done[a][b]) continue;
    load_block(s, m, a, b);
    load_block(s, m, b, a);
    done[a][b] = done[b][a] = true;
  }
}

static void unsymmetric_blocks_solve_their_system(void** state) {
  (void)state;
  static System s;
  Random r = {11};
  abArena arena;
  ab_arena_init(&arena, (size_t)1 << 24);
  for (int trial = 0; trial < 60; trial++) {
    abArenaMark mark = ab_arena_mark(&arena);
    make_system(&s, &r, 1 + random_below(&r, MAX_BLOCK), trial % 2 == 0);
    abBlockSymbolic symbolic;
    abBlockLu m;
    assert_int_equal(ab_block_symbolic(s.n, s.size, s.nedge, (const int(*)[2])s.edge, INFINITY,
                                       &arena, &arena, &symbolic),
                     AB_OK);
    assert_true(ab_block_lu_begin(&m, &symbolic, &arena));
    ab_block_lu_clear(&m);
    load(&s, &m);
    assert_true(ab_block_lu_factor(&m));
    double b[MAX_TOTAL], x[MAX_TOTAL];
    for (int i = 0; i < s.total; i++) x[i] = b[i] = random_uniform(&r, -1, 1);
    ab_block_lu_solve(&m, x);
    // Entries of order 30 and a matrix that the diagonal dominates: a few rounding errors each.
    for (int i = 0; i < s.total; i++) {
      double sum = 0;
      for (int j = 0; j < s.total; j++) sum += s.dense[i * s.total + j] * x[j];
      check_near(sum, b[i], 1e-13);
    }
    ab_arena_release(&arena, mark);
  }
  ab_arena_free(&arena);
}

static void singular_block_is_refused(void** state) {
  (void)state;
  abArena arena;
  ab_arena_init(&arena, (size_t)1 << 20);
  const int size[1] = {6};
  abBlockSymbolic symbolic;
  abBlockLu m;
  assert_int_equal(ab_block_symbolic(1, size, 0, NULL, INFINITY, &arena, &arena, &symbolic), AB_OK);
  assert_true(ab_block_lu_begin(&m, &symbolic, &arena));
  ab_block_lu_clear(&m);
  double block[36] = {0};
  for (int i = 0; i < 5; i++) block[7 * i] = 1e6;
  ab_block_lu_add(&m, 0, 0, block);
  assert_false(ab_block_lu_factor(&m));
  ab_arena_free(&arena);
}

// Any size; six with and without rows that must be exchanged: a leading block of zeros.
static void inverse_times_matrix_is_one(void** state) {
  (void)state;
  Random r = {3};
  for (int trial = 0; trial < 400; trial++) {
    int n = trial < 200 ? 6 : 1 + random_below(&r, 8), pivot[8];
    double a[64], inverse[64], largest = 0;
    for (int i = 0; i < n * n; i++) a[i] = random_uniform(&r, -1, 1);
    for (int i = 0; n == 6 && trial % 2 == 1 && i < 9; i++) a[6 * (i / 3) + i % 3] = 0;
    memcpy(inverse, a, sizeof a);
    assert_true(ab_dense_invert(n, inverse, pivot, 1e-14));
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(inverse[i]));
    // Six digits may be lost before rows are exchanged, and as many as the condition number has.
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += inverse[i * n + k] * a[k * n + j];
        check_near(sum, i == j, 1e-10 * n * largest);
      }
  }
}

// --- joint steps
// -------------------------------------------------------------------------------------------------

// Bricks dropped on each other in random poses.
static World heap(int n, const char* contact, double mu) {
  World w = world_begin(1e-3, true);
  w.mu_static = w.mu_kinetic = mu;
  Random r = {5};
  for (int i = 0; i < n; i++) {
    abVec3 p = v3(0.06 * (i % 2) + random_uniform(&r, 0, 0.02), random_uniform(&r, 0, 0.02),
                  0.1 + 0.11 * i);
    world_add_box(&w, v3(0.1, 0.05, 0.025), 0.5, (abPose){p, random_rotation(&r)});
  }
  world_start(&w, contact);
  return w;
}

static void let_converge(World* w, double accelerate) {
  world_set_param(w, "tolerance", 1e-9);
  world_set_param(w, "sweeps", 20000);
  world_set_param(w, "accelerate", accelerate);
}

typedef struct Comparison {
  int nstep;    // with more than one contact
  int ndiffer;  // of them: some velocity differs
  int iterations[2];
} Comparison;

// Every step of a falling heap taken from the same state in both worlds. Velocities agree up to
// what is left of the tolerance, 1e-9 of a weight in a step, by the stiffness of the law, 100.
static Comparison compare(World w[2]) {
  Comparison c = {0};
  for (int i = 0; i < 600; i++) {
    size_t nq = (size_t)w[0].model->nq, nv = (size_t)w[0].model->nv;
    memcpy(w[1].data->q, w[0].data->q, sizeof(double) * nq);
    memcpy(w[1].data->v, w[0].data->v, sizeof(double) * nv);
    double most = 0;
    for (int k = 0; k < 2; k++) {
      ab_step(w[k].model, w[k].data);
      c.iterations[k] += w[k].data->stat.iterations;
    }
    for (size_t k = 0; k < nv; k++) most = fmax(most, fabs(w[0].data->v[k] - w[1].data->v[k]));
    if (w[0].data->ncontact < 2) continue;
    c.nstep++;
    c.ndiffer += !(most <= 1e-6 * g * w[0].data->h);
  }
  for (int k = 0; k < 2; k++) world_free(&w[k]);
  return c;
}

static void smooth_heap_moves_as_the_direct_method_says(void** state) {
  (void)state;
  World w[2] = {heap(8, "volume-pgs", 0), heap(8, "volume-qp", 0)};
  let_converge(&w[0], 2);
  Comparison c = compare(w);
  assert_true(c.nstep > 300);
  assert_int_equal(c.ndiffer, 0);
}

// With friction a group may have several answers, each of them consistent: whether one contact
// sticks depends on the others. Which one is reached depends on the path; that is rare, and between
// sweeps alone and sweeps accelerated by their history as well.
static void rough_heap_mostly_moves_as_the_direct_method_says(void** state) {
  (void)state;
  World w[2] = {heap(8, "volume-pgs", 0.45), heap(8, "volume-qp", 0.45)};
  let_converge(&w[0], 2);
  Comparison c = compare(w);
  assert_true(c.nstep > 300);
  check_below(c.ndiffer, 0.08 * c.nstep);
}

static void joint_steps_lead_where_sweeps_alone_lead(void** state) {
  (void)state;
  World w[2] = {heap(8, "volume-pgs", 0.45), heap(8, "volume-pgs", 0.45)};
  let_converge(&w[0], 2);
  let_converge(&w[1], 0);
  Comparison c = compare(w);
  assert_true(c.nstep > 300);
  check_below(c.ndiffer, 0.06 * c.nstep);
  check_below(c.iterations[0], 0.1 * c.iterations[1]);
}

// A chain of contacts is where sweeps alone are worst: 1.6 n^2 of them for a hundredth.
static void tall_stack_needs_no_more_sweeps_than_a_low_one(void** state) {
  (void)state;
  int iterations[2] = {0};
  for (int k = 0; k < 2; k++) {
    World w = world_begin(1e-3, true);
    for (int i = 0; i < (k == 0 ? 3 : 30); i++) {
      double jitter = 1e-3 * (i % 3 - 1);
      world_add_box(&w, v3(0.05, 0.05, 0.05), 0.5,
                    (abPose){v3(jitter, -jitter, 0.05 + 0.1 * i), quat_identity()});
    }
    world_start(&w, "volume-pgs");
    for (int i = 0; i < 100; i++) {
      ab_step(w.model, w.data);
      assert_int_equal(w.data->stat.status, AB_STEP_OK);
      iterations[k] += w.data->stat.iterations;
    }
    world_free(&w);
  }
  check_below(iterations[1], 2 * iterations[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unsymmetric_blocks_solve_their_system),
      cmocka_unit_test(singular_block_is_refused),
      cmocka_unit_test(inverse_times_matrix_is_one),
      cmocka_unit_test(smooth_heap_moves_as_the_direct_method_says),
      cmocka_unit_test(rough_heap_mostly_moves_as_the_direct_method_says),
      cmocka_unit_test(joint_steps_lead_where_sweeps_alone_lead),
      cmocka_unit_test(tall_stack_needs_no_more_sweeps_than_a_low_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
