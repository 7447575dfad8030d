// Overlap volumes of convex bodies: closed forms, invariants, two independent references.
#include "collide/clip/intersect.h"

#include <stdio.h>

#include "collide/patch/patch.h"
#include "geometry/polyhedron.h"
#include "oracle/overlap.h"
#include "oracle/overlap_check.h"
#include "support/check.h"
#include "support/random.h"

static abArena arena;

static abOverlap overlap(const abPolyhedron* A, abPose a, const abPolyhedron* B, abPose b) {
  abOverlap o;
  ab_arena_release(&arena, 0);
  assert_int_equal(ab_overlap(A, a, B, b, &arena, &o), AB_OK);
  return o;
}

static abPose at(double x, double y, double z) { return (abPose){{x, y, z}, {1, 0, 0, 0}}; }

static void sunk_box_has_the_volume_of_the_slab(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.2, 0.3, 0.4));
  abOverlap o = overlap(box, at(5, 6, 0.4 - 0.01), NULL, pose_identity());
  check_near(o.volume, 0.4 * 0.6 * 0.01, 1e-15);
  check_vec_near(pose_apply(o.frame, o.centroid), v3(5, 6, -0.005), 1e-14);
  check_near(o.area[AB_OWNER_B], 0.24, 1e-14);
  check_near(o.area[AB_OWNER_A], 0.24 + 2 * 0.01 * (0.4 + 0.6), 1e-14);
  check_near(o.area[AB_OWNER_BOTH], 0, 0);
  ab_polyhedron_free(box);
}

static void flush_sides_belong_to_both(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  abOverlap o = overlap(box, at(0, 0, 0.875), box, pose_identity());
  check_near(o.volume, 0.125, 0);
  check_near(o.area[AB_OWNER_A], 1, 0);
  check_near(o.area[AB_OWNER_B], 1, 0);
  check_near(o.area[AB_OWNER_BOTH], 0.5, 0);
  o = overlap(box, pose_identity(), box, pose_identity());
  check_near(o.volume, 1, 0);
  check_near(o.area[AB_OWNER_BOTH], 6, 0);
  ab_polyhedron_free(box);
}

// The stack turned as a whole: flushness survives where both have one orientation.
static void flush_stack_stays_flush_when_turned(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  Random r = {3};
  for (int i = 0; i < 200; i++) {
    abPose a = {random_vec(&r, 10), random_rotation(&r)};
    abPose b = pose_mul(a, at(0, 0, 1 - 1e-3));
    abOverlap o = overlap(box, a, box, b);
    check_near(o.volume, 1e-3, 1e-13);
    check_near(o.area[AB_OWNER_BOTH], 4e-3, 1e-12);
  }
  ab_polyhedron_free(box);
}

static void touching_is_no_contact(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  for (int i = 1; i < 8; i++) {  // face, edge, corner
    abPose b = at(i & 1, (i >> 1) & 1, (i >> 2) & 1);
    assert_false(overlap(box, pose_identity(), box, b).contact);
  }
  assert_false(overlap(box, at(0, 0, 0.5), NULL, pose_identity()).contact);
  assert_false(overlap(NULL, pose_identity(), box, at(0, 0, 0.5)).contact);
  assert_true(overlap(box, at(0, 0, -7), NULL, pose_identity()).contact);
  ab_polyhedron_free(box);
}

// The case that clipping each face by itself gets wrong by parts in a million.
static void turn_of_1e_12_changes_the_volume_by_as_much(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  for (double turn = 1e-15; turn < 1e-3; turn *= 3) {
    abPose b = {v3(0, 0, 0.5), quat_from_rotvec(v3(0, 0, turn))};
    abOverlap o = overlap(box, pose_identity(), box, b);
    // two unit squares turned by t share 1 - tan(t/2) sin(t)... to first order 1 - t/2
    check_near(o.volume, 0.5 * (1 - turn / 2), 0.5 * turn * turn + 1e-15);
  }
  ab_polyhedron_free(box);
}

static void overlap_far_from_the_origin_keeps_its_digits(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  // dyadic numbers: exact even at a kilometre
  abPose a = at(1000, -2000, 512), b = at(1000.25, -2000.5, 512.875);
  check_near(overlap(box, a, box, b).volume, 0.75 * 0.5 * 0.125, 1e-16);
  ab_polyhedron_free(box);
}

static void scale_does_not_matter(void** state) {
  (void)state;
  for (double scale = 1e-9; scale < 1e10; scale *= 1e3) {
    abPolyhedron *A = ab_polyhedron_box(v3(0.5 * scale, 0.3 * scale, 0.2 * scale)),
                 *B = ab_polyhedron_box(v3(0.4 * scale, 0.4 * scale, 0.1 * scale));
    abPose b = {v3(0.2 * scale, 0.1 * scale, 0.25 * scale), quat_from_rotvec(v3(0.1, 0.2, 0.3))};
    abOverlap o = overlap(A, pose_identity(), B, b);
    static double reference;
    if (scale == 1e-9) reference = o.volume / (scale * scale * scale);
    check_near(o.volume / (scale * scale * scale), reference, 1e-13 * reference);
    ab_polyhedron_free(A);
    ab_polyhedron_free(B);
  }
}

static void not_a_number_is_refused(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  abOverlap o;
  assert_int_equal(ab_overlap(box, at(NAN, 0, 0), box, pose_identity(), &arena, &o),
                   AB_ERROR_NUMERIC);
  assert_int_equal(ab_overlap(box, at(0, INFINITY, 0), NULL, pose_identity(), &arena, &o),
                   AB_ERROR_NUMERIC);
  assert_int_equal(ab_overlap(NULL, pose_identity(), NULL, pose_identity(), &arena, &o),
                   AB_ERROR_ARGUMENT);
  abArena small;
  ab_arena_init(&small, 1u << 20);
  small.capacity = 256;
  assert_int_equal(ab_overlap(box, at(0, 0, 0.4), NULL, pose_identity(), &small, &o),
                   AB_ERROR_MEMORY);
  small.capacity = 1u << 20;
  ab_arena_free(&small);
  ab_polyhedron_free(box);
}

static void check_pairs(uint64_t first, int n, bool exact, bool dual) {
  ab_arena_release(&arena, 0);
  int failed = 0;
  for (uint64_t i = first; i < first + (uint64_t)n; i++) {
    TestPair p = pair_make(i);
    bool many = p.A->nface + (p.B ? p.B->nface : 0) > 24;
    OverlapCheck check = {
        .arena = &arena, .exact = exact && !many, .dual = dual, .cutting = dual && i % 4 == 0};
    if (!overlap_check(&check, &p)) {
      fprintf(stderr, "pair %llu (%s): %s\n", (unsigned long long)i, pair_family_name(p.family),
              check.message);
      failed++;
    }
    pair_free(&p);
  }
  assert_int_equal(failed, 0);
}

static void pairs_of_all_families_agree_with_the_dual_transform(void** state) {
  (void)state;
  check_pairs(1000000, 4200, false, true);
}

static void pairs_of_all_families_agree_with_exact_arithmetic(void** state) {
  (void)state;
  check_pairs(2000000, 560, true, false);
}

// The references are right where the answer is known.
static void references_know_the_cube(void** state) {
  (void)state;
  abPolyhedron* box = ab_polyhedron_box(v3(0.5, 0.5, 0.5));
  OracleOverlap o;
  assert_true(oracle_overlap_dual(box, pose_identity(), box, at(0.25, 0.5, 0.875), &o));
  check_near(o.volume, 0.75 * 0.5 * 0.125, 1e-15);
  check_vec_near(o.centroid, v3(0.125, 0.25, 0.4375), 1e-14);
  if (oracle_overlap_exact(box, pose_identity(), box, at(0.25, 0.5, 0.875), &o)) {
    check_near(o.volume, 0.75 * 0.5 * 0.125, 0);
    check_vec_near(o.centroid, v3(0.125, 0.25, 0.4375), 0);
    check_near(o.area_a + o.area_b + o.area_ab, 2 * (0.375 + 0.0625 + 0.09375), 0);
    assert_true(oracle_overlap_exact(box, pose_identity(), box, at(0, 0, 0.5), &o));
    check_near(o.area_ab, 2, 0);
    assert_true(oracle_overlap_exact(box, pose_identity(), box, at(1, 0, 0), &o));
    assert_false(o.contact);
  }
  ab_polyhedron_free(box);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sunk_box_has_the_volume_of_the_slab),
      cmocka_unit_test(flush_sides_belong_to_both),
      cmocka_unit_test(flush_stack_stays_flush_when_turned),
      cmocka_unit_test(touching_is_no_contact),
      cmocka_unit_test(turn_of_1e_12_changes_the_volume_by_as_much),
      cmocka_unit_test(overlap_far_from_the_origin_keeps_its_digits),
      cmocka_unit_test(scale_does_not_matter),
      cmocka_unit_test(not_a_number_is_refused),
      cmocka_unit_test(references_know_the_cube),
      cmocka_unit_test(pairs_of_all_families_agree_with_the_dual_transform),
      cmocka_unit_test(pairs_of_all_families_agree_with_exact_arithmetic),
  };
  ab_arena_init(&arena, (size_t)1 << 28);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ab_arena_free(&arena);
  return failed;
}
