// Shapes have exactly flat faces (boxes; prisms with corners above each other; hulls of points in
// general position, whose faces are triangles), so that the exact reference applies to all of them.
#include "oracle/overlap_pairs.h"

#include "geometry/polyhedron.h"
#include "support/random.h"

const char* pair_family_name(PairFamily family) {
  static const char* const name[PAIR_FAMILIES] = {
      "boxes",     "hulls",        "prisms", "plates",        "rods",
      "stacked",   "nearly flush", "grid",   "parallel edge", "inside",
      "identical", "touching",     "tiny",   "half-space",    "lattice"};
  return name[family];
}

abPolyhedron* pair_prism(int sides, double radius, double half) {
  abVec3 v[512];
  for (int i = 0; i < sides; i++) {
    double a = 6.283185307179586 * i / sides, x = radius * cos(a), y = radius * sin(a);
    v[2 * i] = v3(x, y, -half), v[2 * i + 1] = v3(x, y, half);
  }
  return ab_polyhedron_hull_flat(2 * sides, v, 1e-13, NULL);
}

static double between(Random* r, double low, double high) { return random_uniform(r, low, high); }
static double log_between(Random* r, double low, double high) {
  return exp(random_uniform(r, log(low), log(high)));
}

static abPolyhedron* random_box(Random* r) {
  double x = between(r, 0.2, 1), y = between(r, 0.2, 1);
  return ab_polyhedron_box(v3(x, y, between(r, 0.2, 1)));
}

static abPolyhedron* random_hull(Random* r) {
  abPolyhedron* p = NULL;
  while (!p) {
    abVec3 point[64];
    int n = 4 + random_below(r, 61);
    for (int i = 0; i < n; i++) point[i] = v3_scale(between(r, 0.7, 1), random_direction(r));
    p = ab_polyhedron_hull_flat(n, point, 1e-13, NULL);
  }
  return p;
}

static abPolyhedron* random_shape(Random* r) {
  switch (random_below(r, 4)) {
    case 0:
      return random_hull(r);
    case 1:
      return pair_prism(3 + random_below(r, 10), between(r, 0.3, 1), between(r, 0.2, 1));
    default:
      return random_box(r);
  }
}

// A box of size about 1 whose half lengths are multiples of 1/8, moved by multiples of 1/8.
static abVec3 grid_half(Random* r) {
  double x = 0.125 * (1 + random_below(r, 4)), y = 0.125 * (1 + random_below(r, 4));
  return v3(x, y, 0.125 * (1 + random_below(r, 4)));
}
static abVec3 grid_point(Random* r) {
  double x = 0.125 * (random_below(r, 9) - 4), y = 0.125 * (random_below(r, 9) - 4);
  return v3(x, y, 0.125 * (random_below(r, 9) - 4));
}

static void random_poses(TestPair* p, Random* r, double reach) {
  p->pose_a = (abPose){random_vec(r, reach), random_rotation(r)};
  p->pose_b = (abPose){random_vec(r, reach), random_rotation(r)};
}

static void make_thin(TestPair* p, Random* r, abVec3 half) {
  p->A = ab_polyhedron_box(half);
  switch (random_below(r, 3)) {
    case 0:
      p->B = ab_polyhedron_box(half);
      break;
    case 1:
      p->B = random_box(r);
      break;
    default:
      p->B = random_hull(r);
  }
  random_poses(p, r, 0.4);
  // often almost parallel
  if (random_below(r, 2)) {
    abVec3 turn = v3_scale(log_between(r, 1e-9, 1e-1), random_direction(r));
    p->pose_b.q = quat_mul(quat_from_rotvec(turn), p->pose_a.q);
    abVec3 step = v3(between(r, -0.3, 0.3), between(r, -0.3, 0.3), between(r, -1, 1) * 1e-4);
    p->pose_b.p = v3_add(p->pose_a.p, quat_rotate(p->pose_a.q, step));
  }
}

// B on A with depth d, both upright; sides flush, shifted, or turned by a right angle.
static void make_stacked(TestPair* p, Random* r) {
  abVec3 half = random_below(r, 2) ? v3(0.5, 0.5, 0.5) : grid_half(r);
  p->A = random_below(r, 3) ? ab_polyhedron_box(half) : pair_prism(64, 0.5, half.z);
  p->B = p->A->nvert == 128 ? pair_prism(64, 0.5, half.z) : ab_polyhedron_box(half);
  double depth = log_between(r, 1e-6, 0.5) * half.z;
  p->pose_a = p->pose_b = pose_identity();
  p->pose_b.p = v3(0, 0, 2 * half.z - depth);
  if (random_below(r, 2)) p->pose_b.p.x = between(r, -half.x, half.x);
  if (random_below(r, 4) == 0)
    p->pose_b.q = quat_from_rotvec(v3(0, 0, 1.5707963267948966 * (1 + random_below(r, 3))));
}

static void make_parallel_edge(TestPair* p, Random* r) {
  p->A = random_box(r);
  p->B = random_box(r);
  // both turned about x only, so all their x edges are parallel
  p->pose_a = (abPose){v3_zero(), quat_from_rotvec(v3(between(r, 0, 6), 0, 0))};
  p->pose_b = (abPose){random_vec(r, 0.8), quat_from_rotvec(v3(between(r, 0, 6), 0, 0))};
  if (random_below(r, 2)) p->pose_b.p.x = 0;
}

static void make_inside(TestPair* p, Random* r) {
  p->A = random_shape(r);
  p->B = ab_polyhedron_box(v3(4, 4, 4));
  random_poses(p, r, 0.5);
  if (random_below(r, 2)) {
    abPolyhedron* t = p->A;
    p->A = p->B, p->B = t;
  }
}

// Boxes that meet in a face, an edge or a corner; overlap by `depth` along each meeting axis.
static void make_meeting(TestPair* p, Random* r, double depth) {
  abVec3 h = grid_half(r), g = grid_half(r);
  p->A = ab_polyhedron_box(h);
  p->B = ab_polyhedron_box(g);
  p->pose_a = p->pose_b = pose_identity();
  abVec3 d = v3_sub(v3_add(h, g), v3(depth, depth, depth));
  abVec3 x = v3_scale(0.5, grid_point(r));
  int kind = random_below(r, 3);  // face, edge, corner
  p->pose_b.p = v3(kind == 2 ? d.x : x.x, kind >= 1 ? d.y : x.y, d.z);
}

static abPolyhedron* lattice_hull(Random* r) {
  abPolyhedron* p = NULL;
  while (!p) {  // clouds in one plane have no hull
    abVec3 point[12];
    int n = 4 + random_below(r, 9);
    for (int i = 0; i < n; i++) {
      double x = 0.25 * random_below(r, 4), y = 0.25 * random_below(r, 4);
      point[i] = v3(x, y, 0.25 * random_below(r, 4));
    }
    p = ab_polyhedron_hull_flat(n, point, 1e-13, NULL);
  }
  return p;
}

static void make_half_space(TestPair* p, Random* r) {
  p->A = random_shape(r);
  p->B = NULL;
  p->pose_a = (abPose){random_vec(r, 0.5), random_rotation(r)};
  p->pose_b = (abPose){random_vec(r, 0.5), random_rotation(r)};
  if (random_below(r, 3) == 0) {  // resting flat
    p->pose_a.q = p->pose_b.q;
    double depth = log_between(r, 1e-9, 1e-2), low = 0;
    for (int i = 0; i < p->A->nvert; i++) low = fmin(low, p->A->vert[i].z);
    p->pose_a.p = v3_add(p->pose_b.p, quat_rotate(p->pose_b.q, v3(0, 0, -low - depth)));
  }
}

static void make_family(TestPair* p, Random* r) {
  switch (p->family) {
    case PAIR_BOXES:
      p->A = random_box(r), p->B = random_box(r);
      random_poses(p, r, 0.6);
      break;
    case PAIR_HULLS:
      p->A = random_hull(r), p->B = random_hull(r);
      random_poses(p, r, 0.6);
      break;
    case PAIR_PRISMS:
      p->A = pair_prism(64, between(r, 0.3, 1), between(r, 0.1, 1));
      p->B = random_below(r, 2) ? pair_prism(64, between(r, 0.3, 1), between(r, 0.1, 1))
                                : random_box(r);
      random_poses(p, r, 0.5);
      break;
    case PAIR_PLATES:
      make_thin(p, r, v3(between(r, 0.3, 1), between(r, 0.3, 1), 1e-4));
      break;
    case PAIR_RODS:
      make_thin(p, r, v3(1, 1e-4, 1e-4));
      break;
    case PAIR_STACKED:
      make_stacked(p, r);
      break;
    case PAIR_NEARLY_FLUSH: {
      make_stacked(p, r);
      double eps = log_between(r, 1e-12, 1e-6);
      p->pose_b.q = quat_unit(quat_mul(p->pose_b.q, quat_from_rotvec(random_vec(r, eps))));
      p->pose_b.p = v3_add(p->pose_b.p, random_vec(r, eps));
      break;
    }
    case PAIR_GRID:
      p->A = ab_polyhedron_box(grid_half(r)), p->B = ab_polyhedron_box(grid_half(r));
      p->pose_a = (abPose){grid_point(r), quat_identity()};
      p->pose_b = (abPose){grid_point(r), quat_identity()};
      break;
    case PAIR_PARALLEL_EDGE:
      make_parallel_edge(p, r);
      break;
    case PAIR_INSIDE:
      make_inside(p, r);
      break;
    case PAIR_IDENTICAL: {
      uint64_t state = r->state;
      p->A = random_shape(r);
      r->state = state;
      p->B = random_shape(r);
      p->pose_a = p->pose_b = (abPose){random_vec(r, 0.5), random_rotation(r)};
      break;
    }
    case PAIR_TOUCHING:
      make_meeting(p, r, 0);
      break;
    case PAIR_TINY:
      make_meeting(p, r, log_between(r, 0.5e-9, 1e-7));
      break;
    case PAIR_LATTICE:
      p->A = lattice_hull(r), p->B = lattice_hull(r);
      p->pose_a = p->pose_b = pose_identity();
      p->pose_b.p = v3_scale(random_below(r, 2), grid_point(r));
      break;
    default:
      make_half_space(p, r);
  }
}

TestPair pair_make(uint64_t number) {
  Random r = {number * 0x2545f4914f6cdd1du + 1};
  TestPair p = {.family = (PairFamily)(number % PAIR_FAMILIES), .scale = 1};
  make_family(&p, &r);
  // Grid and touching pairs stay where every number is exact; half of the others are moved, some a
  // kilometre away.
  bool exact = p.family == PAIR_GRID || p.family == PAIR_LATTICE || p.family == PAIR_TOUCHING ||
               p.family == PAIR_TINY;
  if (!exact && random_below(&r, 2)) {
    p.far = random_below(&r, 4) == 0;
    abPose move = {random_vec(&r, p.far ? 1000 : 2), random_rotation(&r)};
    p.pose_a = pose_mul(move, p.pose_a);
    p.pose_b = pose_mul(move, p.pose_b);
  }
  return p;
}

void pair_free(TestPair* p) {
  ab_polyhedron_free(p->A);
  ab_polyhedron_free(p->B);
}
