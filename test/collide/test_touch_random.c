// Random pairs of polyhedra that touch without depth: invariants, and brute force.
#include "collide/distance/gjk.h"
#include "touch_pair.h"

// Whether two patches are of the same contact; `blur` is what the bodies differ by.
static bool alike(const abPatch* p, const abPatch* q, double blur) {
  double d = 0;
  for (int i = 0; i < q->nvert; i++) d = fmax(d, v2_norm(q->polygon[i]));
  return v3_norm(v3_sub(p->normal, q->normal)) < blur &&
         v3_norm(v3_sub(p->center, q->center)) < blur && fabs(p->area - q->area) < 8 * blur * d &&
         fabs(p->depth - q->depth) < blur &&
         fabs(p->mxx + p->myy - q->mxx - q->myy) < 8 * blur * d * d * d &&
         fabs(p->volume - q->volume) < blur * q->area + 8 * blur * d * fabs(q->depth);
}

typedef struct Pair {
  abShape a, b;
  abTouch t;
} Pair;

// Two bodies close to each other that come nearer and turn: boxes, or hulls.
static void random_pair(Random* r, bool hulls, Pair* out) {
  abVec3 size = random_size(r, 0.05, 0.3);
  out->a = hulls ? hull_shape(r, 30, size) : box_shape(size);
  double width = random_uniform(r, 0.05, 0.3);
  out->b = box_shape(v3(random_uniform(r, 0.05, 0.3), width, 0.1));
  abPose pb = {random_vec(r, 1), random_rotation(r)},
         pa = {random_direction(r), random_rotation(r)};
  if (random_below(r, 2)) pa.q = quat_mul(quat_from_rotvec(random_vec(r, 0.05)), pb.q);
  pa.p = v3_axpy(2, pa.p, pb.p);
  abDistance d;
  ab_distance(&out->a, pa, &out->b, pb, NULL, &d);
  double gap = random_uniform(r, 0, 1e-3);
  pa.p = v3_axpy(gap - d.separation, d.normal, pa.p);
  out->t = touch_of(&out->a, pa, &out->b, pb);
  out->t.margin = out->t.tolerance = 1e-4;
  out->t.twist1 =
      (abTwist){v3_add(v3_scale(-0.3, d.normal), random_vec(r, 0.2)), random_vec(r, 0.5)};
  out->t.twist2.ang = random_vec(r, 0.2);
}

static abVec3 turned(abPose g, abVec3 v) { return quat_rotate(g.q, v); }
static abTwist turned_twist(abPose g, abTwist v) {
  return (abTwist){turned(g, v.lin), turned(g, v.ang)};
}

static abTouch swapped(const abTouch* t) {
  abTouch s = *t;
  s.shape1 = t->shape2, s.shape2 = t->shape1, s.pose1 = t->pose2, s.pose2 = t->pose1;
  s.com1 = t->com2, s.com2 = t->com1, s.twist1 = t->twist2, s.twist2 = t->twist1;
  return s;
}

static abTouch moved(const abTouch* t, abPose g) {
  abTouch s = *t;
  s.pose1 = pose_mul(g, t->pose1), s.pose2 = pose_mul(g, t->pose2);
  s.com1 = pose_apply(g, t->com1), s.com2 = pose_apply(g, t->com2);
  s.twist1 = turned_twist(g, t->twist1), s.twist2 = turned_twist(g, t->twist2);
  return s;
}

// The same scene with the bodies swapped, and as a whole moved and turned. The search for the
// features of hulls begins elsewhere then, and where corners meet corners may end elsewhere.
static void swapped_and_moved_scenes_have_the_same_patch(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  static abVec2 room[TOUCH_ROOM];
  Random r = {5};
  int contacts = 0, other[2] = {0, 0};
  for (int i = 0; i < 4000; i++) {
    Pair x;
    random_pair(&r, i & 1, &x);
    abPatch p, q;
    bool seen = ab_touch_patch(&x.t, &bench->arena, bench->polygon, &p);
    contacts += seen;
    abTouch s = swapped(&x.t);
    // rounding of coordinates of size 1, over the least angle at which sides cross
    bool same = ab_touch_patch(&s, &bench->arena, room, &q) == seen;
    q.normal = v3_neg(q.normal);
    other[i & 1] += !same || (seen && !alike(&p, &q, 1e-9));
    abPose g = {random_vec(&r, 1), random_rotation(&r)};
    s = moved(&x.t, g);
    same = ab_touch_patch(&s, &bench->arena, room, &q) == seen;
    if (same && seen) {
      q.normal = quat_rotate(quat_conj(g.q), q.normal);
      q.center = pose_apply_inverse(g, q.center);
      same = alike(&p, &q, 1e-9);
    }
    other[i & 1] += !same;
    free_shape(&x.a), free_shape(&x.b);
  }
  assert_true(contacts > 3000);
  assert_int_equal(other[0], 0);
  assert_in_range(other[1], 0, contacts / 200);
  bench_end(bench);
}

// Boxes as boxes and as meshes: but for the same corners.
static void mesh_boxes_touch_as_boxes_do(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  static abVec2 room[TOUCH_ROOM];
  Random r = {6};
  int contacts = 0, other = 0;
  for (int i = 0; i < 4000; i++) {
    Pair x;
    random_pair(&r, false, &x);
    // off its own middle, and not quite straight, so that it is not taken for a box
    abVec3 off = v3(0.01, 0.02, -0.03), point[8], h = x.a.size;
    for (int k = 0; k < 8; k++)
      point[k] = v3_add(off, v3(k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z));
    point[7].x += 1e-13 * h.x;
    abShape mesh = {.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(8, point, NULL)};
    assert_false(ab_polyhedron_skin(mesh.poly)->box);
    abPatch p, q;
    abTouch t = x.t;
    bool seen = ab_touch_patch(&t, &bench->arena, bench->polygon, &p);
    t.shape1 = &mesh;
    t.pose1.p = v3_sub(t.pose1.p, quat_rotate(t.pose1.q, off));
    bool same = ab_touch_patch(&t, &bench->arena, room, &q) == seen;
    other += !same || (seen && !alike(&p, &q, 1e-9));
    contacts += seen;
    free_shape(&x.a), free_shape(&x.b), free_shape(&mesh);
  }
  assert_in_range(other, 0, contacts / 100);
  bench_end(bench);
}

// Nobody gets through: where nothing is seen in a step, the bodies are at its end no deeper in each
// other than what still counts as apart. Bodies that turn by a tenth of a radian in the step may
// meet with other corners than those looked at: a few are deeper, by a hundredth of their size.
static void what_meets_is_seen(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {8};
  int unseen = 0, deeper = 0;
  for (int i = 0; i < 8000; i++) {
    Pair x;
    random_pair(&r, i & 1, &x);
    abTouch t = x.t;
    if (i % 4 > 1) t.twist1 = (abTwist){v3_scale(20, t.twist1.lin), v3_scale(20, t.twist1.ang)};
    abPatch p;
    if (!ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) {
      unseen++;
      t.pose1 = coasted(t.pose1, t.com1, t.twist1, t.h);
      t.pose2 = coasted(t.pose2, t.com2, t.twist2, t.h);
      t.twist1 = t.twist2 = (abTwist){v3_zero(), v3_zero()};
      if (!ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) p.depth = 0;
      deeper += p.depth > 1.1 * t.tolerance;
      check_below(p.depth, 2e-3);
    }
    free_shape(&x.a), free_shape(&x.b);
  }
  assert_true(unseen > 500);
  assert_in_range(deeper, 0, 4);
  bench_end(bench);
}

// Nothing but sound patches, whatever the bodies do: near, far, deep in each other, fast, tiny.
static void random_pairs_have_sound_patches(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {7};
  enum { SHAPES = 12 };
  abShape shape[SHAPES] = {plane_shape()};
  for (int i = 1; i < SHAPES; i++) {
    abVec3 size = random_size(&r, 0.02, 1);
    shape[i] = i < 5 ? box_shape(size) : hull_shape(&r, i < 10 ? 4 * i - 14 : 40 * i, size);
  }
  int contacts = 0;
  for (int i = 0; i < 100000; i++) {
    int k = random_below(&r, SHAPES), l = 1 + random_below(&r, SHAPES - 1);
    if (i & 1) {
      int swap = k;
      k = l, l = swap;
    }
    double scale = pow(10, random_uniform(&r, -6, 0.3));
    abPose pa = {random_vec(&r, 1), random_rotation(&r)}, pb = {random_vec(&r, 1), pa.q};
    if (i % 3) pb.q = random_rotation(&r);
    abTouch t = touch_of(&shape[k], pa, &shape[l], pb);
    t.com1 = v3_add(t.com1, random_vec(&r, 0.1));
    t.twist1 = (abTwist){random_vec(&r, 10 * scale), random_vec(&r, 30 * scale)};
    t.twist2 = (abTwist){random_vec(&r, scale), random_vec(&r, scale)};
    t.margin = 1e-4 * scale;
    abVec3 last = random_direction(&r), t1, t2;
    v3_tangents(last, &t1, &t2);
    if (i % 2) t.normal = &last, t.t1 = &t1;
    abPatch p;
    if (!ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) continue;
    check_sound(&p);
    assert_true(p.nvert <= ab_touch_room(&shape[k], &shape[l]));
    assert_int_equal(bench->arena.used, 0);
    contacts++;
  }
  assert_true(contacts > 20000);
  for (int i = 1; i < SHAPES; i++) free_shape(&shape[i]);
  bench_end(bench);
}

// Gap along a direction by all vertices.
static double gap_along(const abShape* a, abPose pa, const abShape* b, abPose pb, abVec3 n) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < a->poly->nvert; i++)
    low = fmin(low, v3_dot(n, pose_apply(pa, a->poly->vert[i])));
  for (int i = 0; i < b->poly->nvert; i++)
    high = fmax(high, v3_dot(n, pose_apply(pb, b->poly->vert[i])));
  return low - high;
}

// Two hulls almost at each other, without turning: the normal is as good as the best of many
// directions.
static void normal_is_the_best_of_all_directions(void** state) {
  (void)state;
  Bench* bench = bench_begin();
  Random r = {11};
  int contacts = 0;
  for (int i = 0; i < 300; i++) {
    abShape a = hull_shape(&r, 6 + random_below(&r, 60), v3(0.3, 0.2, 0.25));
    abShape b = i % 3 ? hull_shape(&r, 6 + random_below(&r, 60), v3(0.3, 0.3, 0.3))
                      : box_shape(v3(0.2, 0.2, 0.2));
    abPose pa = {random_direction(&r), random_rotation(&r)}, pb = {v3_zero(), random_rotation(&r)};
    pa.p = v3_scale(2, pa.p);
    abDistance d;
    ab_distance(&a, pa, &b, pb, NULL, &d);
    // along the line of the nearest points: they meet within the step
    double gap = random_uniform(&r, 1e-5, 1e-3);
    pa.p = v3_axpy(gap - d.separation, d.normal, pa.p);
    abTouch t = touch_of(&a, pa, &b, pb);
    t.twist1.lin = v3_scale(1 / t.h, v3_add(v3_scale(-2 * gap, d.normal), random_vec(&r, gap)));
    abPatch p;
    if (!ab_touch_patch(&t, &bench->arena, bench->polygon, &p)) {
      free_shape(&a), free_shape(&b);
      continue;
    }
    check_sound(&p);
    contacts++;
    abPose end = pa;
    end.p = v3_axpy(t.h, t.twist1.lin, end.p);
    double chosen = gap_along(&a, end, &b, pb, p.normal);
    check_below(-t.tolerance, gap_along(&a, pa, &b, pb, p.normal));
    for (int k = 0; k < 2000; k++) {
      // half of them close to the chosen one
      double near = pow(10, random_uniform(&r, -4, 1));
      abVec3 n = v3_unit(v3_axpy(near, random_direction(&r), p.normal));
      if (gap_along(&a, pa, &b, pb, n) < -t.tolerance) continue;
      // ties: 1e-6 of the size, and a product of edges counts less than a face
      check_below(gap_along(&a, end, &b, pb, n), chosen + 5e-6);
    }
    free_shape(&a), free_shape(&b);
  }
  assert_true(contacts > 200);
  bench_end(bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(swapped_and_moved_scenes_have_the_same_patch),
      cmocka_unit_test(mesh_boxes_touch_as_boxes_do),
      cmocka_unit_test(what_meets_is_seen),
      cmocka_unit_test(random_pairs_have_sound_patches),
      cmocka_unit_test(normal_is_the_best_of_all_directions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
