// When and in which direction a round body meets another.
// Tests: test_touch_round.
#include <float.h>

#include "base/simd.h"
#include "collide/distance/gjk.h"
#include "collide/patch/patch.h"
#include "collide/touch/round.h"

enum { MAX_ADVANCES = 24 };
// What is left of a skin where the nearest points below it are looked for.
static const double THIN_SKIN = 1e-3;

void ab_touch_place(const abTouchWork* w, double time, abTouchPlace* out) {
  out->time = time;
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    const abTwist *v = ab_touch_twist(w, i), *a = i ? w->touch->bias2 : w->touch->bias1;
    abVec3 way = v3_scale(time, v->lin), turn = v3_scale(time, v->ang);
    if (a) {
      way = v3_axpy(0.5 * time * time, a->lin, way);
      turn = v3_axpy(0.5 * time * time, a->ang, turn);
    }
    abQuat own = i ? w->touch->pose2.q : w->touch->pose1.q;
    out->com[i] = v3_add(s->com, way);
    if (v3_norm2(turn) == 0) {  // the start, and whoever does not turn
      out->pose[i] = (abPose){v3_add(out->com[i], v3_sub(s->p0, s->com)), own};
      out->R[i] = s->R0;
      continue;
    }
    abQuat q = quat_from_rotvec(turn);
    out->pose[i].p = v3_add(out->com[i], quat_rotate(q, v3_sub(s->p0, s->com)));
    out->pose[i].q = quat_mul(q, own);
    out->R[i] = quat_matrix(out->pose[i].q);
  }
}

static bool way_of_skins(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way) {
  abVec3 p[2], e[2];
  double l[2];
  for (int i = 0; i < 2; i++) {
    e[i] = m3_col(&at->R[i], 2);
    l[i] = w->side[i].shape->type == AB_SHAPE_CAPSULE ? w->side[i].shape->size.y : 0;
  }
  ab_touch_segments(at->pose[0].p, e[0], l[0], at->pose[1].p, e[1], l[1], &p[0], &p[1]);
  abVec3 d = v3_sub(p[0], p[1]);
  double length = v3_norm(d);
  if (!(length > 1e-9 * w->size)) return false;
  way->n = v3_scale(1 / length, d);
  way->gap = length - w->side[0].shape->size.x - w->side[1].shape->size.x;
  return true;
}

// A ball and a box: the point of the box nearest to the centre.
static bool way_of_ball_and_box(const abTouchWork* w, const abTouchPlace* at, int ball,
                                abTouchWay* way) {
  int box = 1 - ball;
  const abSkin* skin = w->side[box].skin;
  abVec3 c = m3_apply_t(&at->R[box], v3_sub(at->pose[ball].p, at->pose[box].p));
  c = v3_sub(c, skin->middle);
  double x[3] = {c.x, c.y, c.z}, h[3] = {skin->half.x, skin->half.y, skin->half.z}, d[3];
  int over = 0, axis = 0;
  for (int i = 0; i < 3; i++) {
    d[i] = x[i] - fmin(fmax(x[i], -h[i]), h[i]);
    if (d[i] != 0) over++, axis = i;
  }
  if (over == 0) return false;
  double r = w->side[ball].shape->size.x, sign = ball ? -1 : 1;
  if (over == 1) {
    way->n = v3_scale(sign * (d[axis] > 0 ? 1 : -1), m3_col(&at->R[box], axis));
    way->gap = fabs(d[axis]) - r;
    way->side = box, way->face = AB_BOX_FACE[2 * axis + (d[axis] > 0)];
    return true;
  }
  abVec3 e = v3(d[0], d[1], d[2]);
  double length = v3_norm(e);
  way->n = v3_scale(sign / length, m3_apply(&at->R[box], e));
  way->gap = length - r;
  return true;
}

// A skin of hardly any thickness: so its body may be nearly that deep in the other and still be
// apart from it along the same direction.
static abShape without_skin(const abTouchSide* s) {
  abShape core = *s->shape;
  if (ab_touch_has_skin(s)) core.size.x *= THIN_SKIN;
  return core;
}

// GJK with the first body moved out by `out`.
static bool way_of_distance(const abTouchWork* w, const abTouchPlace* at, abVec3 out,
                            abTouchWay* way) {
  abPose pose = at->pose[0];
  pose.p = v3_add(pose.p, out);
  abDistance d;
  abShape a = without_skin(&w->side[0]), b = without_skin(&w->side[1]);
  ab_distance(&a, pose, &b, at->pose[1], NULL, &d);
  if (d.overlap || !(v3_norm2(d.normal) > 0.5)) return false;
  way->n = v3_unit(d.normal);
  way->gap = ab_touch_gap(w, at, way->n);
  return true;
}

static void try_direction(const abTouchWork* w, const abTouchPlace* at, abVec3 n, abTouchWay* way) {
  double gap = ab_touch_gap(w, at, n);
  if (gap > way->gap) way->n = n, way->gap = gap;
}

// A direction in which the two overlap little: the line between their middles, their axes, and the
// faces of a polyhedron of not too many.
static void try_directions(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way) {
  abVec3 middle[2];
  for (int i = 0; i < 2; i++)
    middle[i] = v3_add(at->pose[i].p, m3_apply(&at->R[i], w->side[i].middle));
  abVec3 between = v3_sub(middle[0], middle[1]);
  if (v3_norm2(between) > 0) try_direction(w, at, v3_unit(between), way);
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    for (int k = 0; k < 3; k++) {
      abVec3 n = m3_col(&at->R[i], k);
      try_direction(w, at, v3_dot(n, between) < 0 ? v3_neg(n) : n, way);
    }
    for (int f = 0;
         ab_touch_flat(s) && !s->skin->box && f < s->poly->nface && f < AB_TOUCH_MANY_FACES; f++)
      try_direction(w, at, v3_scale(i ? 1 : -1, m3_apply(&at->R[i], s->poly->plane[f].n)), way);
  }
}

// Bodies without a skin that touch have no nearest points: they are looked at a little further
// apart, along the last normal or a short way out.
static void way_of_touching(const abTouchWork* w, const abTouchPlace* at, const abVec3* guess,
                            abTouchWay* way) {
  double step = fmax(w->touch->tolerance, 1e-4 * w->size);
  if (guess && way_of_distance(w, at, v3_scale(step, *guess), way) && v3_dot(way->n, *guess) > 0.5)
    return;
  abTouchWay best = {.gap = -DBL_MAX};
  try_directions(w, at, &best);
  for (int k = 0; k < 2; k++) {
    abTouchWay next = best;
    if (!way_of_distance(w, at, v3_scale(fmax(-best.gap, 0) + step, best.n), &next)) break;
    if (!(next.gap > best.gap)) break;
    best = next;
  }
  way->n = best.n, way->gap = best.gap;
}

// Flat faces near the direction found, which is then theirs exactly.
static void snap(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way) {
  abVec3 from = way->n;
  double gap = way->gap;
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    double sign = i ? 1 : -1;
    abVec3 d = v3_scale(sign, m3_apply_t(&at->R[i], from)), m;
    int face = 0;
    if (s->shape->type == AB_SHAPE_CYLINDER) {
      if (fabs(d.z) < 0.9) continue;
      m = v3(0, 0, d.z > 0 ? 1 : -1), face = d.z > 0;
    } else if (ab_touch_flat(s)) {
      face = ab_touch_face_at(s->poly, d, d, w->near[i]);
      m = s->poly->plane[face].n;
    } else {
      continue;
    }
    if (v3_dot(m, d) < 0.9) continue;
    abVec3 n = v3_scale(sign, m3_apply(&at->R[i], m));
    double g = ab_touch_gap(w, at, n);
    if (g < gap - w->tie || (way->side >= 0 && g <= way->gap)) continue;
    *way = (abTouchWay){n, g, i, face};
  }
}

// The side of a cylinder, or a capsule, on an edge: GJK finds the direction between two lines that
// are nearly parallel to no more than the root of its tolerance. It is that from the axis to the
// nearest point of the edge, across the axis.
static void snap_to_edge(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way) {
  for (int i = 0; i < 2 && way->side < 0; i++) {
    const abTouchSide *s = &w->side[i], *o = &w->side[1 - i];
    bool straight = s->shape->type == AB_SHAPE_CYLINDER || s->shape->type == AB_SHAPE_CAPSULE;
    if (!straight || !ab_touch_flat(o)) continue;
    abTouchLine edge = ab_touch_edge(w, at, 1 - i, way->n);
    if (edge.n < 2) continue;
    abVec3 axis = m3_col(&at->R[i], 2), e = v3_sub(edge.p[1], edge.p[0]), p, q;
    double length = v3_norm(e);
    ab_touch_segments(at->pose[i].p, axis, s->shape->size.y, v3_lerp(edge.p[0], edge.p[1], 0.5),
                      v3_scale(1 / length, e), 0.5 * length, &p, &q);
    abVec3 d = v3_sub(p, q), n = v3_axpy(-v3_dot(d, axis), axis, d);
    if (!(v3_norm2(n) > 0)) continue;
    n = v3_scale(i ? -1 : 1, v3_unit(n));
    double gap = ab_touch_gap(w, at, n);
    if (gap >= way->gap - w->tie) way->n = n, way->gap = gap;
  }
}

// The face of box i that is farthest from the other body. The middle of that is farther from a
// face than its lowest point: most are settled by that.
static void best_box_face(const abTouchWork* w, const abTouchPlace* at, int i, abTouchWay* best) {
  const abTouchSide *s = &w->side[i], *o = &w->side[1 - i];
  abVec3 c = v3_add(at->pose[1 - i].p, m3_apply(&at->R[1 - i], o->middle));
  c = v3_sub(m3_apply_t(&at->R[i], v3_sub(c, at->pose[i].p)), s->middle);
  double far[6] = {-c.x - s->half.x, c.x - s->half.x,  -c.y - s->half.y,
                   c.y - s->half.y,  -c.z - s->half.z, c.z - s->half.z};
  int first = 0;
  for (int k = 1; k < 6; k++)
    if (far[k] > far[first]) first = k;
  for (int k = -1; k < 6; k++) {
    int f = k < 0 ? first : k;
    if (k == first || far[f] <= best->gap) continue;
    abVec3 m = s->poly->plane[AB_BOX_FACE[f]].n;
    abVec3 n = v3_scale(i ? 1 : -1, m3_apply(&at->R[i], m));
    double gap = ab_touch_gap(w, at, n);
    if (gap > best->gap) best->n = n, best->gap = gap, best->face = AB_BOX_FACE[f];
  }
}

// A flat face below (or above) a round body is the nearest if the lowest of the line it would touch
// with lies over it: the usual case, without GJK. Of a box the face farthest out is tried, else
// the one along the guess.
static bool way_of_face(const abTouchWork* w, const abTouchPlace* at, const abVec3* guess,
                        abTouchWay* way) {
  int i = ab_touch_flat(&w->side[1]) ? 1 : 0;
  const abTouchSide* s = &w->side[i];
  if (!ab_touch_flat(s) || ab_touch_flat(&w->side[1 - i]) || (!s->skin->box && !guess))
    return false;
  double sign = i ? 1 : -1;
  abTouchWay best = {.gap = -DBL_MAX, .side = i};
  if (s->skin->box) {
    best_box_face(w, at, i, &best);
  } else {
    abVec3 d = v3_scale(sign, m3_apply_t(&at->R[i], *guess));
    best.face = ab_touch_face_at(s->poly, d, d, w->near[i]);
    best.n = v3_scale(sign, m3_apply(&at->R[i], s->poly->plane[best.face].n));
    best.gap = ab_touch_gap(w, at, best.n);
  }
  if (best.gap < -w->touch->tolerance && !w->side[1 - i].smooth) return false;
  abTouchLine l = ab_touch_line(w, at, 1 - i, best.n);
  abVec3 d = i ? v3_neg(best.n) : best.n;
  double low = fmax(v3_dot(d, l.p[0]), v3_dot(d, l.p[l.n - 1]));
  if (!ab_touch_cut_line(w, at, &best, &l)) return false;
  if (fmax(v3_dot(d, l.p[0]), v3_dot(d, l.p[l.n - 1])) < low - w->tie) return false;
  *way = best;
  return true;
}

static bool way_of_plane(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way) {
  if (w->side[0].poly && w->side[1].poly) return false;
  int plane = w->side[0].poly ? 1 : 0;
  way->n = v3_scale(plane ? 1 : -1, ab_plane_normal(at->pose[plane].q));
  way->gap = ab_touch_gap(w, at, way->n);
  way->side = plane, way->face = 0;
  return true;
}

void ab_touch_find_way(const abTouchWork* w, const abTouchPlace* at, const abVec3* guess,
                       abTouchWay* way) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  *way = (abTouchWay){.side = -1, .face = -1};
  if (way_of_plane(w, at, way)) return;
  if (ab_touch_has_skin(a) && ab_touch_has_skin(b) && way_of_skins(w, at, way)) return;
  if (a->shape->type == AB_SHAPE_SPHERE && ab_touch_flat(b) && b->skin->box &&
      way_of_ball_and_box(w, at, 0, way))
    return;
  if (b->shape->type == AB_SHAPE_SPHERE && ab_touch_flat(a) && a->skin->box &&
      way_of_ball_and_box(w, at, 1, way))
    return;
  if (way_of_face(w, at, guess, way)) return;
  if (!way_of_distance(w, at, v3_zero(), way)) way_of_touching(w, at, guess, way);
  snap(w, at, way);
  snap_to_edge(w, at, way);
}

double ab_touch_way_now(const abTouchWork* w, const abVec3* guess, abVec3* n) {
  abTouchPlace start;
  abTouchWay way;
  ab_touch_place(w, 0, &start);
  ab_touch_find_way(w, &start, guess, &way);
  // what overlaps may be less deep along the direction that it came from
  double gap = guess ? ab_touch_gap(w, &start, *guess) : -DBL_MAX;
  if (gap > way.gap) return gap;
  *n = way.n;
  return way.gap;
}

// --- the time

// The gap at the start along the direction, turned back with the flat body it belongs to.
static double gap_before(const abTouchWork* w, const abTouchPlace* start, const abTouchPlace* at,
                         const abTouchWay* way) {
  abVec3 n = way->n;
  int i = ab_touch_flat(&w->side[1]) || !w->side[1].poly ? 1 : 0;
  n = m3_apply(&start->R[i], m3_apply_t(&at->R[i], n));
  return ab_touch_gap(w, start, n);
}

// Follows the two from the start until they meet. False if they do not in this step.
static bool advance(const abTouchWork* w, abTouchPlace* at, abTouchWay* way) {
  const abTouch* t = w->touch;
  double turn = 0, time = 0;
  for (int i = 0; i < 2; i++)
    if (w->side[i].poly)
      turn += v3_norm(ab_touch_twist(w, i)->ang) *
              (v3_norm(v3_sub(w->side[i].p0, w->side[i].com)) + v3_norm(w->side[i].half));
  for (int k = 0; k < MAX_ADVANCES; k++) {
    abVec3 last = way->n;
    ab_touch_place(w, time, at);
    ab_touch_find_way(w, at, k ? &last : t->normal, way);
    if (way->gap <= 0.1 * t->tolerance || time >= t->h) return true;
    abVec3 v = v3_sub(ab_touch_twist(w, 0)->lin, ab_touch_twist(w, 1)->lin);
    double rate = turn - v3_dot(way->n, v);
    if (!(rate > 0)) return way->gap <= w->watch;
    time = fmin(t->h, time + way->gap / rate);
  }
  return true;
}

// Whether the direction in which the two are apart at the start still tells them apart at the end:
// then nothing went through anything, however far the nearest points have gone round a corner.
static bool stays_apart(const abTouchWork* w, const abTouchPlace* start, const abTouchPlace* at) {
  abTouchWay first;
  ab_touch_find_way(w, start, w->touch->normal, &first);
  double enough = -w->touch->tolerance;
  if (first.gap < enough) return false;
  int i = ab_touch_flat(&w->side[1]) || !w->side[1].poly ? 1 : 0;
  abVec3 n = m3_apply(&at->R[i], m3_apply_t(&start->R[i], first.n));
  return ab_touch_gap(w, at, n) >= enough;
}

// Bodies that touch already meet at the start. Where the step does not bring them deep into each
// other, the poses at its end tell what it closes beyond first order all the same: along a face,
// and of a body with a skin. How deep others are is not known well enough.
static bool rolls_on(const abTouchWork* w, const abTouchWay* way, double before) {
  int skins = ab_touch_has_skin(&w->side[0]) + ab_touch_has_skin(&w->side[1]);
  if (way->side < 0 && skins == 0) return false;
  double tolerance = w->touch->tolerance, near = w->touch->pressed ? tolerance : w->touch->margin;
  if (skins == 2 && before < -tolerance) return false;  // nor do these roll on, deep in each other
  return before <= near && way->gap > fmin(before, 0) - AB_TOUCH_NOT_DEEP * w->size;
}

// It strikes, or comes from the other side; what lies deep all the time does neither.
static bool comes_in(const abTouchWork* w, double before, double after) {
  const abTouch* t = w->touch;
  return after < (before > t->margin ? 0 : -t->tolerance) && after < before - t->tolerance;
}

static bool comes_out(const abTouchWork* w, double before, double after) {
  return before < -w->touch->tolerance && before < after - w->touch->tolerance;
}

// Two round bodies have no face whose direction turns with them: their gap at the start is that
// along its own direction.
static bool turns_alone(const abTouchWork* w) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  return a->poly && b->poly && !ab_touch_flat(a) && !ab_touch_flat(b);
}

AB_SIMD AB_FLATTEN bool ab_touch_meet(const abTouchWork* w, abTouchPlace* at, abTouchWay* way) {
  const abTouch* t = w->touch;
  abTouchPlace start;
  ab_touch_place(w, 0, &start);
  ab_touch_place(w, t->h, at);
  ab_touch_find_way(w, at, t->normal, way);
  double before = gap_before(w, &start, at, way);
  bool strikes = comes_in(w, before, way->gap), passes = comes_out(w, before, way->gap);
  if ((strikes || passes) && turns_alone(w)) {
    abTouchWay first;
    ab_touch_find_way(w, &start, t->normal, &first);
    before = first.gap;
    strikes = comes_in(w, before, way->gap), passes = comes_out(w, before, way->gap);
  }
  if (strikes && rolls_on(w, way, before)) return true;
  if (strikes || (passes && !stays_apart(w, &start, at))) return advance(w, at, way);
  // with the loads of the step
  double after = way->gap + v3_dot(way->n, w->pull);
  return before <= w->watch || after <= w->watch || way->gap <= w->watch;
}

// The facets lie below the smooth surface; a body that came to lie on them is that deep.
static bool smooth_way(const abTouchWork* w, int i, const abTouchPlace* at, abTouchWay* way,
                       double* deep) {
  if (!way_of_plane(w, at, way) && !way_of_face(w, at, w->touch->normal, way)) return false;
  abVec3 point, d = m3_apply_t(&at->R[i], i ? way->n : v3_neg(way->n));
  const abPolyhedron* p = w->side[i].poly;
  w->near[i] = ab_touch_support(p, d, w->near[i]);
  return ab_touch_smooth(p, w->near[i], d, &point, deep);
}

bool ab_touch_meet_smooth(const abTouchWork* w, int i, abTouchPlace* at, abTouchWay* way) {
  const abTouch* t = w->touch;
  abTouchPlace start;
  double deep;
  ab_touch_place(w, 0, &start);
  ab_touch_place(w, t->h, at);
  if (!smooth_way(w, i, at, way, &deep)) return false;
  double before = gap_before(w, &start, at, way);
  if (before < -t->tolerance - deep) return false;
  if (way->gap >= -t->tolerance || before <= -t->tolerance) return true;
  // it strikes: where it is when it does
  ab_touch_place(w, t->h * fmax(before, 0) / (fmax(before, 0) - way->gap), at);
  return smooth_way(w, i, at, way, &deep);
}
