#include "pairs.h"

#include <stdlib.h>

#include "collide/clip/intersect.h"
#include "geometry/polyhedron.h"
#include "support/random.h"

enum { MAX_PAIR = 16 };

static abShape box(double x, double y, double z) {
  abVec3 half = v3(x, y, z);
  return (abShape){.type = AB_SHAPE_BOX, .size = half, .poly = ab_polyhedron_box(half)};
}

static abShape hull32(Random* r) {
  abVec3 point[32];
  for (int i = 0; i < 32; i++) point[i] = v3_scale(0.5, random_direction(r));
  return (abShape){.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(32, point, NULL)};
}

static abShape prism64(void) {
  abVec3 point[128];
  for (int i = 0; i < 128; i++) {
    double a = 6.283185307179586 * (i / 2) / 64;
    point[i] = v3(0.5 * cos(a), 0.5 * sin(a), i % 2 ? 0.5 : -0.5);
  }
  return (abShape){.type = AB_SHAPE_MESH, .poly = ab_polyhedron_hull(128, point, NULL)};
}

// Extent of a shape below its frame's origin, when turned by q.
static double extent_down(const abShape* s, abQuat q, double sign) {
  if (s->type == AB_SHAPE_PLANE) return 0;
  double most = -1e300;
  for (int i = 0; i < s->poly->nvert; i++)
    most = fmax(most, -sign * quat_rotate(q, s->poly->vert[i]).z);
  return most;
}

// A turned by qa above B turned by qb, sunk in by `depth` (apart if negative), with small changes.
static BenchPair pair(const char* name, abShape a, abShape b, abQuat qa, abQuat qb) {
  BenchPair p = {.name = name, .a = a, .b = b, .touching = true};
  for (int i = 0; i < BENCH_POSES; i++) {
    p.pose_a[i].q = qa;
    p.pose_b[i].q = qb;
  }
  return p;
}

// Height at which A, coming down from z, just meets B.
static double meeting_height(const BenchPair* p, int i, abVec3 shift, double z) {
  static abArena arena;
  if (arena.capacity == 0) ab_arena_init(&arena, (size_t)1 << 24);
  double apart = z, inside = z - 0.5;
  for (int k = 0; k < 50; k++) {
    double middle = 0.5 * (apart + inside);
    abPose a = {v3_add(shift, v3(0, 0, middle)), p->pose_a[i].q};
    abOverlap o;
    ab_arena_release(&arena, 0);
    ab_overlap(p->a.poly, a, p->b.poly, p->pose_b[i], &arena, &o);
    *(o.contact ? &inside : &apart) = middle;
  }
  return apart;
}

static void place(BenchPair* p, abVec3 shift, double depth, Random* r) {
  for (int i = 0; i < BENCH_POSES; i++) {
    abVec3 turn = random_vec(r, 1e-3);
    turn = p->b.type == AB_SHAPE_PLANE ? v3_scale(0.1, turn) : turn;
    p->pose_a[i].q = quat_unit(quat_mul(quat_from_rotvec(turn), p->pose_a[i].q));
    p->pose_b[i].p = v3_zero();
    double z = extent_down(&p->a, p->pose_a[i].q, 1) + extent_down(&p->b, p->pose_b[i].q, -1);
    z = meeting_height(p, i, shift, z + 1e-3) - depth;
    p->pose_a[i].p = v3_add(shift, v3(0, 0, z));
  }
  p->touching = depth > 0;
}

int bench_pairs(BenchPair** out) {
  BenchPair* p = calloc(MAX_PAIR, sizeof *p);
  Random r = {7};
  int n = 0;
  const double quarter = 0.7853981633974483;
  abQuat one = quat_identity();
  abQuat edge = quat_from_rotvec(v3(quarter, 0, 0));
  abQuat edge2 = quat_mul(quat_from_rotvec(v3(0, 0, 2 * quarter)), edge);
  abQuat corner = quat_mul(quat_from_rotvec(v3(0, -0.6154797086703873, 0)), edge);
  abShape plane = {.type = AB_SHAPE_PLANE, .size = {10, 10, 1}}, cube = box(0.5, 0.5, 0.5);

  p[n] = pair("box-plane", cube, plane, one, one);
  place(&p[n++], v3_zero(), 2e-3, &r);
  p[n] = pair("box-box face", cube, cube, one, one);
  place(&p[n++], v3(0.2, 0.1, 0), 2e-3, &r);
  p[n] = pair("box-box flush", cube, cube, one, one);
  place(&p[n], v3_zero(), 1e-3, &r);
  for (int i = 0; i < BENCH_POSES; i++) {  // a stack to the last bit
    p[n].pose_a[i] = (abPose){v3(0, 0, 1 - 1e-3 * (1 + i) / BENCH_POSES), one};
  }
  n++;
  p[n] = pair("box-box edge", cube, cube, edge2, edge);
  place(&p[n++], v3_zero(), 2e-3, &r);
  p[n] = pair("box-box line", cube, cube, edge, one);
  Random own = {8};  // the pairs after it stay as they were
  place(&p[n++], v3(0.1, 0.2, 0), 2e-3, &own);
  p[n] = pair("box-box vertex", cube, cube, corner, one);
  place(&p[n++], v3(0.1, 0.2, 0), 2e-3, &r);
  p[n] = pair("box-box apart", cube, cube, corner, edge);
  place(&p[n++], v3(0.1, 0.2, 0), -2e-2, &r);
  p[n] = pair("hull32-hull32", hull32(&r), hull32(&r), one, one);
  place(&p[n++], v3(0.01, 0.02, 0), 2e-2, &r);
  p[n] = pair("hull32-box", hull32(&r), cube, one, one);
  place(&p[n++], v3(0.01, 0.02, 0), 1e-2, &r);
  p[n] = pair("prism64-prism64", prism64(), prism64(), one, one);
  place(&p[n++], v3(0.1, 0.05, 0), 2e-3, &r);
  p[n] = pair("prism64-prism64 side", prism64(), prism64(), quat_from_rotvec(v3(2 * quarter, 0, 0)),
              quat_from_rotvec(v3(0, 2 * quarter, 0)));
  place(&p[n++], v3(0.1, 0.05, 0), 2e-3, &r);
  p[n] = pair("prism64-box", prism64(), cube, one, one);
  place(&p[n++], v3(0.1, 0.05, 0), 2e-3, &r);
  *out = p;
  return n;
}
