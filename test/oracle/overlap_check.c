#include "oracle/overlap_check.h"

#include <float.h>
#include <stdio.h>

#include "collide/boxes/box_box.h"
#include "geometry/polyhedron.h"
#include "oracle/overlap.h"
#include "support/random.h"

enum { MAX_POLYGON = 1024 };

typedef struct Result {
  abOverlap overlap;
  abPatch patch;
  abVec2 polygon[MAX_POLYGON];
} Result;

#define REQUIRE(condition, ...)                                     \
  do {                                                              \
    if (!(condition)) {                                             \
      snprintf(check->message, sizeof check->message, __VA_ARGS__); \
      return false;                                                 \
    }                                                               \
  } while (0)

static bool run(OverlapCheck* check, const TestPair* p, Result* r) {
  abStatus status = ab_overlap(p->A, p->pose_a, p->B, p->pose_b, check->arena, &r->overlap);
  REQUIRE(status == AB_OK, "overlap returned status %d", status);
  if (!r->overlap.contact) return true;
  abPatchHint hint = {.A = p->A, .B = p->B, .pose_a = p->pose_a, .pose_b = p->pose_b};
  status = ab_patch_make(&r->overlap, &hint, check->arena, MAX_POLYGON, r->polygon, &r->patch);
  REQUIRE(status == AB_OK, "patch returned status %d", status);
  return true;
}

static double smaller_volume(const TestPair* p) {
  if (!p->A) return p->B->volume;
  return p->B && p->B->volume < p->A->volume ? p->B->volume : p->A->volume;
}

// What is asked of the volume: nine digits, or 1e-15 of the smaller body where it is tiny.
static double tolerance(const TestPair* p, double volume) {
  return fmax(1e-9 * volume, 1e-15 * smaller_volume(p));
}

static bool check_numbers(OverlapCheck* check, const TestPair* p, const Result* r) {
  const abOverlap* o = &r->overlap;
  const abPatch* q = &r->patch;
  double sum = o->volume + o->centroid.x + o->centroid.y + o->centroid.z + o->area[0] +
               q->normal.x + q->normal.y + q->normal.z + q->t1.x + q->t2.x + q->area + q->mx +
               q->my + q->mxx + q->mxy + q->myy + q->h0 + q->hx + q->hy + q->depth;
  REQUIRE(isfinite(sum), "not a number: volume %g area %g depth %g", o->volume, q->area, q->depth);
  REQUIRE(o->volume > 0, "contact with volume %g", o->volume);
  double most = smaller_volume(p);
  REQUIRE(o->volume <= most * (1 + 1e-12), "volume %.17g exceeds the smaller body's %.17g",
          o->volume, most);
  abVec3 closure = v3_zero();
  for (int i = 0; i < o->nface; i++) closure = v3_add(closure, o->face[i].vector);
  // each edge adds and subtracts the same vector: only the sums round
  REQUIRE(v3_norm(closure) <= 1e-14 * o->area[0] + 1e-300, "surface open by %g of area %g",
          v3_norm(closure), o->area[0]);
  REQUIRE(fabs(v3_norm(q->normal) - 1) < 1e-14, "normal of length %.17g", v3_norm(q->normal));
  REQUIRE(q->depth >= 0 && q->area >= 0, "depth %g area %g", q->depth, q->area);
  // between a cone and a prism over the polygon: depth * area / 3 <= V <= depth * area
  double slack = 1e-6 * o->volume + 64 * o->noise * o->area[0];
  REQUIRE(o->volume <= q->depth * q->area + slack && q->depth * q->area / 3 <= o->volume + slack,
          "volume %g against depth %g and area %g", o->volume, q->depth, q->area);
  return true;
}

// Where two boxes have a closed form, it is that of the general way.
static bool check_boxes(OverlapCheck* check, const TestPair* p, const Result* r) {
  abOverlapWork work;
  abPatch q;
  abVec2 polygon[16];
  abPatchHint hint = {.A = p->A, .B = p->B, .pose_a = p->pose_a, .pose_b = p->pose_b};
  const abOverlap* o = &r->overlap;
  REQUIRE(ab_overlap_begin(&work, p->A, p->pose_a, p->B, p->pose_b) == AB_OK, "not begun");
  bool apart = ab_overlap_sat(&work);
  REQUIRE(!apart || !o->contact, "bodies that overlap by %g called apart", o->volume);
  if (apart || !ab_box_box_patch(&work, &hint, polygon, &q)) return true;
  REQUIRE(o->contact, "boxes overlap by %g in closed form, and not by cutting", q.volume);
  double most = tolerance(p, o->volume), blur = 1e-12 + 64 * o->noise * o->area[0] / o->volume;
  double size = o->size, depth = r->patch.depth;
  REQUIRE(fabs(q.volume - o->volume) <= most, "boxes: volume %.17g, by cutting %.17g", q.volume,
          o->volume);
  REQUIRE(v3_norm(v3_sub(q.center, r->patch.center)) <= (blur + 1e-12) * size,
          "boxes: centre moved by %g of %g", v3_norm(v3_sub(q.center, r->patch.center)), size);
  // where sides cross at a millionth of a radian is known to a million times the noise
  REQUIRE(v3_norm(v3_sub(q.normal, r->patch.normal)) <= blur + 1e-9, "boxes: normal turned by %g",
          v3_norm(v3_sub(q.normal, r->patch.normal)));
  REQUIRE(fabs(q.area - r->patch.area) <= blur * size * size, "boxes: area %g, by cutting %g",
          q.area, r->patch.area);
  // chords that end in faces which lean by less than a millionth are not exact by cutting
  REQUIRE(fabs(q.depth - depth) <= (1e-7 + blur) * depth, "boxes: depth %.17g, by cutting %.17g",
          q.depth, depth);
  return true;
}

static bool check_swapped(OverlapCheck* check, const TestPair* p, const Result* r) {
  TestPair swapped = *p;
  swapped.A = p->B, swapped.B = p->A, swapped.pose_a = p->pose_b, swapped.pose_b = p->pose_a;
  Result s;
  if (!run(check, &swapped, &s)) return false;
  double tol = tolerance(p, r->overlap.volume);
  REQUIRE(fabs(s.overlap.volume - r->overlap.volume) <= 2 * tol,
          "volume %.17g, swapped %.17g, tolerance %g", r->overlap.volume, s.overlap.volume,
          2 * tol);
  if (!r->overlap.contact || !s.overlap.contact) return true;
  // Where the area vectors cancel the normal is a choice. Bodies of one size swap the knife: what
  // their faces share by rounding only may change hands.
  if (!p->A || !p->B || p->A->radius == p->B->radius) return true;
  abVec3 sum = v3_zero();
  for (int i = 0; i < r->overlap.nface; i++)
    if (r->overlap.face[i].owner == AB_OWNER_A)
      sum = v3_add(sum, r->overlap.face[i].vector);
    else if (r->overlap.face[i].owner == AB_OWNER_BOTH)
      sum = v3_axpy(0.5, r->overlap.face[i].vector, sum);
  if (v3_norm(sum) < 1e-9 * r->overlap.area[0]) return true;
  double skew = v3_norm(v3_add(s.patch.normal, r->patch.normal));
  REQUIRE(skew < 1e-9, "normal changes by %g beside its sign when the bodies are swapped", skew);
  return true;
}

static bool check_moved(OverlapCheck* check, const TestPair* p, const Result* r, Random* random) {
  // exact only where the bodies' own positions round little
  if (p->far) return true;
  abPose move = {random_vec(random, 1), random_rotation(random)};
  TestPair moved = *p;
  moved.pose_a = pose_mul(move, p->pose_a);
  moved.pose_b = pose_mul(move, p->pose_b);
  Result s;
  if (!run(check, &moved, &s)) return false;
  // the moved poses are rounded themselves: each coordinate by a few units of size 4
  double tol = tolerance(p, r->overlap.volume) +
               16 * DBL_EPSILON * 4 * fmax(r->overlap.area[0], s.overlap.area[0]);
  REQUIRE(fabs(s.overlap.volume - r->overlap.volume) <= tol,
          "volume %.17g, moved %.17g, tolerance %g", r->overlap.volume, s.overlap.volume, tol);
  return true;
}

// A cut in two by a plane: the overlaps of the parts with B add up.
static bool check_cutting(OverlapCheck* check, const TestPair* p, const Result* r, Random* random) {
  if (!p->A || !r->overlap.contact) return true;
  abVec3 n = random_direction(random), c = pose_apply(r->overlap.frame, r->overlap.centroid);
  abVec3 z = v3(0, 0, 1), axis = v3_cross(z, n);
  double angle = atan2(v3_norm(axis), n.z);
  double sum = 0;
  for (int part = 0; part < 2; part++) {
    abPose plane = {c, quat_from_axis_angle(axis, angle)};
    if (part) plane.q = quat_mul(plane.q, (abQuat){0, 1, 0, 0});
    abOverlap piece, rest;
    ab_overlap(p->A, p->pose_a, NULL, plane, check->arena, &piece);
    if (!piece.contact) continue;
    abPolyhedron* half = ab_polyhedron_hull_flat(piece.nvert, piece.vert, 1e-13, NULL);
    if (!half) return true;  // too flat a part to be a body
    ab_overlap(half, piece.frame, p->B, p->pose_b, check->arena, &rest);
    sum += rest.volume;
    ab_polyhedron_free(half);
  }
  // the parts' corners are rounded, and their hulls flat to rounding only
  double tol = tolerance(p, r->overlap.volume) + 1e-6 * r->overlap.volume * 1e-6 +
               64 * DBL_EPSILON * (v3_norm(p->pose_a.p) + 4) * r->overlap.area[0];
  REQUIRE(fabs(sum - r->overlap.volume) <= tol,
          "volume %.17g, sum of the parts %.17g, tolerance %g", r->overlap.volume, sum, tol);
  return true;
}

static bool check_exact(OverlapCheck* check, const TestPair* p, const Result* r) {
  OracleOverlap e;
  if (!oracle_overlap_exact(p->A, p->pose_a, p->B, p->pose_b, &e)) return true;
  const abOverlap* o = &r->overlap;
  double tol = tolerance(p, e.volume), error = fabs(o->volume - e.volume);
  check->worst = fmax(check->worst, error / tol);
  REQUIRE(error <= tol, "volume %.17g, exact %.17g, difference %g, tolerance %g", o->volume,
          e.volume, error, tol);
  if (p->family == PAIR_TOUCHING || p->family == PAIR_GRID || p->family == PAIR_LATTICE)
    REQUIRE(o->contact == e.contact, "contact %d, exact %d", o->contact, e.contact);
  if (!o->contact || !e.contact) return true;
  // digits of the centroid and the areas are lost as the thickness comes near the rounding
  double area = e.area_a + e.area_b + e.area_ab, thick = 2 * e.volume / area;
  double blur = 64 * o->noise / thick;
  double off = v3_norm(v3_sub(pose_apply(o->frame, o->centroid), e.centroid));
  double place = DBL_EPSILON * 8 * (v3_norm(p->pose_a.p) + v3_norm(p->pose_b.p));
  REQUIRE(off <= blur * o->size + place + 1e-13, "centroid off by %g, tolerance %g", off,
          blur * o->size + place + 1e-13);
  bool exact = p->family == PAIR_GRID || p->family == PAIR_LATTICE || p->family == PAIR_TINY;
  REQUIRE(!exact || fabs(o->area[AB_OWNER_BOTH] - e.area_ab) <= area * (blur + 1e-12),
          "shared surface %.17g, exact %.17g", o->area[AB_OWNER_BOTH], e.area_ab);
  REQUIRE(fabs(o->area[0] - area) <= area * (blur + 1e-12), "surface %.17g, exact %.17g",
          o->area[0], area);
  return true;
}

static bool check_dual(OverlapCheck* check, const TestPair* p, const Result* r) {
  OracleOverlap d;
  if (!oracle_overlap_dual(p->A, p->pose_a, p->B, p->pose_b, &d)) return true;
  const abOverlap* o = &r->overlap;
  double place = 1 + v3_norm(v3_sub(p->pose_a.p, p->pose_b.p));
  // the dual points' hull blurs in proportion to size / inradius; below a thousandth it proves
  // little
  if (d.contact && d.inradius < 1e-4 * place) return true;
  double tol = tolerance(p, d.volume) + 1e-15 * place * o->area[0];
  REQUIRE(fabs(o->volume - d.volume) <= tol,
          "volume %.17g, by the dual transform %.17g, tolerance %g", o->volume, d.volume, tol);
  return true;
}

bool overlap_check(OverlapCheck* check, const TestPair* p) {
  check->message[0] = 0;
  abArenaMark mark = ab_arena_mark(check->arena);
  Random random = {(uint64_t)p->family * 77 + (uint64_t)(p->A ? p->A->nvert : 0)};
  static const double unit = 1;
  random.state += (uint64_t)(fabs(p->pose_b.p.x - unit) * 1e9);
  Result* r = ab_arena_take(check->arena, sizeof *r);
  bool good =
      r && run(check, p, r) && (!r->overlap.contact || check_numbers(check, p, r)) &&
      check_boxes(check, p, r) && check_swapped(check, p, r) && check_moved(check, p, r, &random) &&
      (!check->cutting || check_cutting(check, p, r, &random)) &&
      (!check->exact || check_exact(check, p, r)) && (!check->dual || check_dual(check, p, r));
  ab_arena_release(check->arena, mark);
  return good;
}
