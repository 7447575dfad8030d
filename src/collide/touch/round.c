// Round shapes touch at a point or along a line that moves over them as they roll.
//
// The material that is nearest now goes up while a ball rolls on; linearised where it is now, an
// edge ahead forbids what is allowed. So normal and points are those of the poses at the end of the
// step (without the step's own loads: what lies on something will not fall), and the thickness is
// reckoned back,
//
//   thickness now = thickness then + h n . V,
//
// V = v1 - v2 the velocity that led there. Where the two touch already, point and normal are those
// of the start all the same, for the force (roll_back). A body that would be deep in the other by
// then, or beyond it, is followed only up to where it meets it: conservative advancement along the
// gap, which no thin wall escapes. The point then belongs to both bodies where they are at the end;
// so that its levers are right it is moved back with the body that moves.
//
// A ball and an ellipsoid leave a dot, a capsule and the side of a cylinder a strip along the
// generator that is nearest, over the face or along the edge it lies on. The flat end of a cylinder
// is a face (faces.c) as long as the step reaches the far side of its rim; then its generator
// takes over, whose lower end is the rim's lowest point.
#include <float.h>
#include <string.h>

#include "base/simd.h"
#include "collide/patch/patch.h"
#include "collide/touch/round.h"

static double radius_of(const abTouchWork* w) {
  double r = DBL_MAX;
  for (int i = 0; i < 2; i++) {
    const abTouchSide* s = &w->side[i];
    if (!s->poly || ab_touch_flat(s)) continue;
    abVec3 z = s->shape->size;
    double own = s->shape->type == AB_SHAPE_ELLIPSOID ? fmin(z.x, fmin(z.y, z.z)) : z.x;
    r = fmin(r, s->smooth ? 0.5 * s->skin->thin : own);
  }
  return r;
}

// --- the patch

// From the two lines to points half-way between the surfaces and the gap at each. Of what rolls the
// gap is that of the start, and what the motion closes of it beyond first order is known, too.
typedef struct Strip {
  int n;
  abVec3 x[2];
  double gap[2], closes[2];
  abVec3 beyond;  // likewise across
  bool rolls;
  abVec3 meet[2];  // abPatch.meet
  double meet_time;
} Strip;

static abVec3 point_of(const abTouchLine* l, double s) {
  return l->n == 1 ? l->p[0] : v3_lerp(l->p[0], l->p[1], s);
}

static void set_point(Strip* out, int k, abVec3 n, abVec3 a, abVec3 b) {
  out->gap[k] = v3_dot(n, v3_sub(a, b));
  out->x[k] = v3_scale(0.5, v3_add(a, b));
}

// A point of body i's face that looks along n.
static abVec3 face_point(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n) {
  return w->side[i].poly ? ab_touch_far(w, at, i, i ? n : v3_neg(n)) : at->pose[i].p;
}

// A line over a face: the plane of the face is below (or above) each of its points.
static void strip_on_face(const abTouchPlace* at, const abTouchWork* w, const abTouchWay* way,
                          const abTouchLine* l, Strip* out) {
  abVec3 on = face_point(w, at, way->side, way->n);
  out->n = l->n;
  for (int k = 0; k < l->n; k++) {
    double z = v3_dot(way->n, v3_sub(l->p[k], on));
    out->gap[k] = way->side ? z : -z;
    out->x[k] = v3_axpy(-0.5 * z, way->n, l->p[k]);
  }
}

// A dot stays where it is, across n; the other body is beside it at the height of its line.
static void strip_of_dot(abVec3 n, const abTouchLine* a, const abTouchLine* b, Strip* out) {
  const abTouchLine* line = a->n == 1 ? b : a;
  abVec3 dot = a->n == 1 ? a->p[0] : b->p[0];
  double s = 0;
  if (line->n == 2) {
    abVec3 e = v3_sub(line->p[1], line->p[0]);
    e = v3_axpy(-v3_dot(e, n), n, e);
    double ee = v3_norm2(e);
    s = ee > 0 ? fmin(fmax(v3_dot(e, v3_sub(dot, line->p[0])) / ee, 0), 1) : 0;
  }
  abVec3 other = v3_axpy(v3_dot(n, v3_sub(point_of(line, s), dot)), n, dot);
  set_point(out, 0, n, a->n == 1 ? dot : other, a->n == 1 ? other : dot);
}

// Two lines: where they cross as seen along n; a strip where they are almost parallel, as long as
// its gap is constant to a millionth of the radius: at a distance s from the crossing, the angle e
// lets two cylinders part by (e s)^2 / (2 r). From an angle of a tenth on it is a dot.
static void strip_of_lines(abVec3 n, const abTouchLine* a, const abTouchLine* b, double r,
                           Strip* out) {
  out->n = 1;
  if (a->n == 1 || b->n == 1) {
    strip_of_dot(n, a, b, out);
    return;
  }
  abVec3 ea = v3_sub(a->p[1], a->p[0]), eb = v3_sub(b->p[1], b->p[0]);
  abVec3 fa = v3_axpy(-v3_dot(ea, n), n, ea), fb = v3_axpy(-v3_dot(eb, n), n, eb);
  double la = v3_norm(fa), lb = v3_norm(fb);
  if (!(la > 0) || !(lb > 0)) {
    set_point(out, 0, n, point_of(a, 0.5), point_of(b, 0.5));
    return;
  }
  fa = v3_scale(1 / la, fa), fb = v3_scale(1 / lb, fb);
  abVec3 ma = point_of(a, 0.5), mb = point_of(b, 0.5), pa, pb, d = v3_sub(ma, mb);
  abVec3 flat = v3_axpy(-v3_dot(d, n), n, d);
  ab_touch_segments(flat, fa, 0.5 * la, v3_zero(), fb, 0.5 * lb, &pa, &pb);
  // along a from its middle, s is nearest to t = tb + c s along b
  double c = v3_dot(fa, fb), tb = v3_dot(fb, flat), s = v3_dot(fa, v3_sub(pa, flat));
  double angle = v3_norm(v3_cross(fa, fb)), half = 1.4e-3 * r * (1 / fmax(angle, 1e-300) - 10);
  double low = -0.5 * la, high = 0.5 * la;
  if (fabs(c) > 0.5) {  // what of a lies beside b
    double one = (-0.5 * lb - tb) / c, two = (0.5 * lb - tb) / c;
    low = fmax(low, fmin(one, two)), high = fmin(high, fmax(one, two));
  }
  // parallel lines have no crossing
  if (half > la + lb) s = 0.5 * (low + high);
  low = fmax(low, s - half), high = fmin(high, s + half);
  out->n = high > low ? 2 : 1;
  for (int k = 0; k < out->n; k++) {
    double at = out->n == 1 ? s : k ? high : low, t = tb + c * at;
    at = fmin(fmax(at, -0.5 * la), 0.5 * la), t = fmin(fmax(t, -0.5 * lb), 0.5 * lb);
    set_point(out, k, n, point_of(a, at / la + 0.5), point_of(b, t / lb + 0.5));
  }
}

// Back to the start: the point where its levers are those of the meeting, the gap reckoned back.
static void move_back(const abTouchWork* w, const abTouchPlace* at, abVec3 n, Strip* s) {
  abVec3 da = v3_sub(at->com[0], w->side[0].com), db = v3_sub(at->com[1], w->side[1].com);
  double aa = v3_norm2(da), bb = v3_norm2(db);
  abVec3 back =
      aa + bb > 0 ? v3_scale(1 / (aa + bb), v3_add(v3_scale(aa, da), v3_scale(bb, db))) : v3_zero();
  s->meet[0] = v3_sub(back, da), s->meet[1] = v3_sub(back, db), s->meet_time = at->time;
  for (int k = 0; k < s->n; k++) {
    s->x[k] = v3_sub(s->x[k], back);
    abVec3 a = twist_at(*ab_touch_twist(w, 0), v3_sub(s->x[k], w->side[0].com));
    abVec3 b = twist_at(*ab_touch_twist(w, 1), v3_sub(s->x[k], w->side[1].com));
    s->gap[k] -= at->time * v3_dot(n, v3_sub(a, b));
  }
}

// A point of the round body's line, given by its place s along the axis; n from 2 to 1. And the
// place of a point.
static abVec3 generator_at(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n,
                           double s) {
  const abShape* shape = w->side[i].shape;
  abVec3 d = i ? n : v3_neg(n), axis = m3_col(&at->R[i], 2);
  if (shape->type != AB_SHAPE_CAPSULE && shape->type != AB_SHAPE_CYLINDER)
    return ab_touch_far(w, at, i, d);
  if (shape->type == AB_SHAPE_CYLINDER) {
    d = v3_axpy(-v3_dot(d, axis), axis, d);
    d = v3_norm2(d) > 1e-20 ? v3_unit(d) : m3_col(&at->R[i], 0);
  }
  return v3_axpy(s, axis, v3_axpy(shape->size.x, d, at->pose[i].p));
}

static double generator_of(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n,
                           abVec3 x) {
  return v3_dot(m3_col(&at->R[i], 2), v3_sub(x, generator_at(w, at, i, n, 0)));
}

// What the way of body i's points under the contact, ever new ones, adds to that of the first of
// them: half of the turn times what the lever changes, and what the velocities alone accelerate.
static abVec3 way_beyond(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 from,
                         abVec3 to) {
  const abTwist *v = ab_touch_twist(w, i), *a = i ? w->touch->bias2 : w->touch->bias1;
  double t = at->time;
  abVec3 r0 = v3_sub(from, w->side[i].com), r1 = v3_sub(to, at->com[i]);
  abVec3 way = v3_scale(0.5 * t, v3_cross(v->ang, v3_sub(r1, r0)));
  return a ? v3_axpy(0.5 * t * t, twist_at(*a, r0), way) : way;
}

// The gap of now takes the place of that of then; what is left is beyond the motion's first order.
// then: where the contact goes.
static void close_beyond(const abTouchWork* w, const abTouchPlace* at, abVec3 n, int k, abVec3 then,
                         double now, Strip* s) {
  abVec3 a = twist_at(*ab_touch_twist(w, 0), v3_sub(s->x[k], w->side[0].com));
  abVec3 b = twist_at(*ab_touch_twist(w, 1), v3_sub(s->x[k], w->side[1].com));
  s->closes[k] = now + at->time * v3_dot(n, v3_sub(a, b)) - s->gap[k];
  s->gap[k] = now;
  s->beyond = v3_sub(way_beyond(w, at, 0, s->x[k], then), way_beyond(w, at, 1, s->x[k], then));
}

// What rolls on a face: the same generator where it is when the step begins. The force of a step
// acts there and not where the point will be: the motion of the last step led away from the point
// as much as that of the next will, so that together they do no work on what only rolls. A disc
// that rolls on its rim keeps its energy by this.
static void roll_back(const abTouchWork* w, const abTouchPlace* at, abTouchWay* way, Strip* s) {
  int i = 1 - way->side;
  abTouchPlace start;
  ab_touch_place(w, 0, &start);
  abVec3 n0 = m3_apply(&start.R[way->side], m3_apply_t(&at->R[way->side], way->n));
  abVec3 on = face_point(w, &start, way->side, n0), on_then = face_point(w, at, way->side, way->n);
  for (int k = 0; k < s->n; k++) {
    abVec3 x = v3_axpy(way->side ? 0.5 * s->gap[k] : -0.5 * s->gap[k], way->n, s->x[k]);
    double along = generator_of(w, at, i, way->n, x);
    abVec3 then = generator_at(w, at, i, way->n, along),
           now = generator_at(w, &start, i, n0, along);
    s->x[k] = v3_add(s->x[k], v3_sub(now, then));
    double rise = v3_dot(n0, v3_sub(now, on)) - v3_dot(way->n, v3_sub(then, on_then));
    close_beyond(w, at, n0, k, then, s->gap[k] + (way->side ? rise : -rise), s);
  }
  s->rolls = true;
  way->n = n0;
}

// Whether the contact goes from one place to the other by rolling, and does not jump to another
// part of a body.
static bool is_on_its_way(const abTouchWork* w, double r, abVec3 from, abVec3 to) {
  double way = 0;
  for (int i = 0; i < 2; i++)
    way += v3_norm(ab_touch_twist(w, i)->ang) * v3_norm(v3_sub(from, w->side[i].com));
  abVec3 v = v3_sub(twist_at(*ab_touch_twist(w, 0), v3_sub(from, w->side[0].com)),
                    twist_at(*ab_touch_twist(w, 1), v3_sub(from, w->side[1].com)));
  return v3_norm(v3_sub(to, from)) <= 0.1 * r + 2 * w->touch->h * (way + v3_norm(v));
}

// Two round bodies that roll on each other, or one that goes over an edge it presses on: likewise
// normal and points of the beginning, the gaps of the end. With the normal of the end, what turns
// about an edge would go on into it by the square of its way in each step, or be given energy.
// False if they did not touch then, press deep in each other (balls and capsules, which know how
// deep, not at all), or turn by too much for it: then it is an impact, whose normal is that of its
// moment.
static bool roll_on_round(const abTouchWork* w, const abTouchPlace* at, double r, abTouchWay* way,
                          Strip* s) {
  bool edge = ab_touch_flat(&w->side[0]) || ab_touch_flat(&w->side[1]);
  if (edge && !(w->touch->pressed && v3_dot(*w->touch->normal, way->n) > 0.9)) return false;
  bool skins = ab_touch_has_skin(&w->side[0]) && ab_touch_has_skin(&w->side[1]);
  double deepest = skins ? w->touch->tolerance : AB_TOUCH_NOT_DEEP * w->size;
  abTouchPlace start;
  abTouchWay first;
  ab_touch_place(w, 0, &start);
  ab_touch_find_way(w, &start, w->touch->normal, &first);
  if (first.side >= 0 || first.gap > w->touch->tolerance) return false;
  if (first.gap < -deepest) return false;
  if (v3_dot(first.n, way->n) < 0.9) return false;
  abTouchLine la = ab_touch_line(w, &start, 0, first.n), lb = ab_touch_line(w, &start, 1, first.n);
  Strip now;
  strip_of_lines(first.n, &la, &lb, r, &now);
  if (now.n != s->n) return false;
  for (int k = 0; k < s->n; k++)
    if (!is_on_its_way(w, r, now.x[k], s->x[k])) return false;
  for (int k = 0; k < s->n; k++) {
    abVec3 then = s->x[k];
    s->x[k] = now.x[k];
    close_beyond(w, at, first.n, k, then, now.gap[k], s);
  }
  s->rolls = true;
  way->n = first.n;
  return true;
}

// Shortens the strip to where the step reaches; at least `width` of it is left. What strikes is in
// reach, whatever its turning makes of the gap reckoned back.
static bool cut_to_reach(const abTouchWork* w, abVec3 n, double width, bool strikes, Strip* s) {
  int last = s->n - 1;
  double reach = 0, gap[2] = {s->gap[0] - s->closes[0], s->gap[last] - s->closes[last]};
  for (int k = 0; k < s->n; k++)
    reach = fmax(reach, -w->touch->h * v3_dot(n, ab_touch_velocity(w, s->x[k])));
  reach += w->touch->margin;
  int low = gap[0] <= gap[1] ? 0 : 1, high = 1 - low;
  if (gap[low] > fmax(reach, w->watch) && !strikes) return false;
  reach = fmax(reach, gap[low] + w->tie);
  if (s->n == 1 || gap[high] <= reach) return true;
  abVec3 along = v3_sub(s->x[1], s->x[0]);
  double length = v3_norm(v3_axpy(-v3_dot(along, n), n, along));
  double t = (reach - gap[low]) / (gap[high] - gap[low]);
  t = length > width ? fmax(t, width / length) : 1;
  s->x[high] = v3_lerp(s->x[low], s->x[high], t);
  s->gap[high] = s->gap[low] + t * (s->gap[high] - s->gap[low]);
  s->closes[high] = s->closes[low] + t * (s->closes[high] - s->closes[low]);
  return true;
}

// A motion that opens the contact beyond first order leaves that much of a gap for the step to
// close; bodies that overlap are not let in by it.
static void count_as_gap(abPatch* p) {
  if (!(p->closes[0] < 0)) return;
  p->h0 += p->closes[0], p->hx += p->closes[1], p->hy += p->closes[2];
  memset(p->closes, 0, sizeof p->closes);
}

static bool strip_patch(const abTouchWork* w, abVec3 n, double r, const Strip* s, abVec2* polygon,
                        abPatch* p) {
  *p = (abPatch){.normal = n, .polygon = polygon, .nvert = 4};
  ab_patch_tangents(&(abPatchHint){.normal = w->touch->normal, .t1 = w->touch->t1}, p);
  abVec3 x = s->x[0], along = v3_zero();
  p->h0 = -s->gap[0], p->closes[0] = s->closes[0], p->rolls = s->rolls;
  p->meet[0] = s->meet[0], p->meet[1] = s->meet[1], p->meet_time = s->meet_time;
  p->slides[0] = v3_dot(s->beyond, p->t1), p->slides[1] = v3_dot(s->beyond, p->t2);
  double b = AB_TOUCH_DOT * r, a = b;
  abVec2 u = v2(1, 0);
  if (s->n == 2) {
    x = v3_lerp(s->x[0], s->x[1], 0.5), along = v3_scale(0.5, v3_sub(s->x[1], s->x[0]));
    p->h0 = -0.5 * (s->gap[0] + s->gap[1]), p->closes[0] = 0.5 * (s->closes[0] + s->closes[1]);
    u = v2(v3_dot(p->t1, along), v3_dot(p->t2, along));
    a = v2_norm(u);
    if (a > b) {
      double g = 0.5 * (s->gap[0] - s->gap[1]) / a, c = 0.5 * (s->closes[1] - s->closes[0]) / a;
      u = v2_scale(1 / a, u);
      p->hx = g * u.x, p->hy = g * u.y;
      p->closes[1] = c * u.x, p->closes[2] = c * u.y;
    } else {  // it stands upright: its lower end
      int low = s->gap[0] <= s->gap[1] ? 0 : 1;
      u = v2(1, 0), a = b;
      x = s->x[low], p->h0 = -s->gap[low], p->closes[0] = s->closes[low];
    }
  }
  count_as_gap(p);
  ab_touch_measure_strip(w, x, u, a, b, polygon, p);
  return true;
}

// Whether a cylinder stands on (or under) the other with its flat end: the step reaches the far
// side of its rim.
static bool stands(const abTouchWork* w, const abTouchPlace* at, int i, abVec3 n) {
  const abTouchSide* s = &w->side[i];
  if (!s->poly || s->shape->type != AB_SHAPE_CYLINDER) return false;
  abVec3 axis = m3_col(&at->R[i], 2);
  double r = s->shape->size.x, rise = 2 * r * v3_norm(v3_cross(axis, n));
  if (rise > 0.5 * r) return false;
  abVec3 x = ab_touch_far(w, at, i, i ? n : v3_neg(n));
  double turn = v3_norm(v3_sub(w->side[0].twist.ang, w->side[1].twist.ang));
  double closing = 2 * r * turn - v3_dot(n, ab_touch_velocity(w, x));
  return rise <= w->touch->margin + w->touch->h * fmax(closing, 0);
}

// Two faces: as in faces.c, at the start of the step.
static bool flat_patch(abTouchWork* w, const abTouchPlace* at, const abTouchWay* way,
                       abVec2* polygon, abPatch* p) {
  abTouchPlace start;
  ab_touch_place(w, 0, &start);
  ab_touch_end(w);
  abTouchFeature f = {.n = way->n, .face = {-1, -1}, .edge = {-1, -1}};
  int i = way->side;
  if (i >= 0) {
    const abTouchSide* s = &w->side[i];
    f.n = m3_apply(&s->R0, m3_apply_t(&at->R[i], way->n));  // it turns with the body
    if (s->poly)
      f.face[i] =
          s->shape->type == AB_SHAPE_CYLINDER ? ab_touch_end_face(s->poly, way->face) : way->face;
  }
  f.g0 = ab_touch_gap(w, &start, f.n);
  const abTouchSide* round = &w->side[i == 0 ? 1 : 0];
  f.g1 = f.g0 + w->touch->h * v3_dot(f.n, ab_touch_velocity(w, round->p0));
  // what meets beside the corners of the tessellation, or later, is a dot
  abVec3 v = ab_touch_velocity(w, round->p0);
  double slack = 0.05 * v3_norm(round->half) + w->touch->tolerance + w->touch->h * v3_norm(v);
  return ab_touch_faces(w, &f, slack, polygon, p);
}

// As take_outline of faces.c: the whole line at the height of its lower end, where it is now.
static bool sweep_strip(const abTouchWork* w, const abTouchPlace* at, const abTouchWay* way,
                        Strip* s) {
  int i = 1 - way->side;
  const abTouchSide* side = &w->side[i];
  if (side->shape->type != AB_SHAPE_CAPSULE && side->shape->type != AB_SHAPE_CYLINDER) return false;
  if (!ab_touch_sweeps(w, i, way->n)) return false;
  abTouchPlace start;
  ab_touch_place(w, 0, &start);
  abVec3 n = way->n, on = ab_touch_far(w, &start, i, i ? n : v3_neg(n));
  double gap = ab_touch_gap(w, &start, n);
  abVec3 axis = v3_scale(side->shape->size.y, m3_col(&start.R[i], 2));
  s->n = 2;
  for (int k = 0; k < 2; k++) {
    abVec3 x = v3_add(start.pose[i].p, k ? axis : v3_neg(axis));
    s->gap[k] = gap;
    s->x[k] = v3_axpy(v3_dot(n, v3_sub(on, x)) + (i ? 0.5 : -0.5) * gap, n, x);
  }
  return gap >= -w->touch->tolerance && at->time < w->touch->h;
}

// The dot or strip of a round body where it was found to meet.
static bool round_patch(abTouchWork* w, const abTouchPlace* at, abTouchWay* way, abVec2* polygon,
                        abPatch* p) {
  abVec3 n = way->n;
  double r = radius_of(w);
  Strip strip = {.n = 0}, swept = {.n = 0};
  if (way->side >= 0) {
    abTouchLine l = ab_touch_line(w, at, 1 - way->side, n);
    if (!ab_touch_cut_line(w, at, way, &l)) ab_touch_keep_lowest(way->side ? v3_neg(n) : n, &l);
    strip_on_face(at, w, way, &l, &strip);
    if (sweep_strip(w, at, way, &swept)) return strip_patch(w, n, r, &swept, polygon, p);
  } else {
    abTouchLine la = ab_touch_line(w, at, 0, n), lb = ab_touch_line(w, at, 1, n);
    strip_of_lines(n, &la, &lb, r, &strip);
  }
  bool strikes = at->time < w->touch->h;
  if (way->side >= 0 && !strikes)
    roll_back(w, at, way, &strip);
  else if (strikes || !roll_on_round(w, at, r, way, &strip))
    move_back(w, at, n, &strip);
  n = way->n;
  return cut_to_reach(w, n, 2 * AB_TOUCH_DOT * r, strikes, &strip) &&
         strip_patch(w, n, r, &strip, polygon, p);
}

// --- flat ends beside flat faces

// Whether the two are apart along the axis m of body i, now and then.
static bool apart_along(const abTouchWork* w, const abTouchPlace* at, const abTouchWay* way, int i,
                        abVec3 m) {
  abTouchPlace start;
  ab_touch_place(w, 0, &start);
  abVec3 now = m3_apply(&start.R[i], m), then = m3_apply(&at->R[i], m);
  double enough = -w->touch->tolerance;
  return fabs(v3_dot(then, way->n)) < AB_TOUCH_ACROSS && ab_touch_gap(w, &start, now) >= enough &&
         ab_touch_gap(w, at, then) >= enough;
}

// A disc that lies on a tile and just touches the next one with its rim is apart from that along
// two directions, as boxes are (passes in touch.c): along the one found nothing really overlaps,
// and along a face or its own flat end nothing will.
static bool passes(const abTouchWork* w, const abTouchPlace* at, const abTouchWay* way) {
  const abTouch* t = w->touch;
  if (at->time < t->h || way->gap < -t->margin) return false;
  if (t->pressed && v3_dot(*t->normal, way->n) > AB_TOUCH_ACROSS) return false;
  bool found = false;
  for (int i = 0; i < 2 && !found; i++) {
    const abTouchSide* s = &w->side[i];
    double sign = i ? 1 : -1;
    if (!ab_touch_flat(s) && s->shape->type != AB_SHAPE_CYLINDER) continue;
    if (s->shape->type == AB_SHAPE_CYLINDER)
      for (int k = -1; k < 2 && !found; k += 2) found = apart_along(w, at, way, i, v3(0, 0, k));
    else
      for (int f = 0; f < s->poly->nface && f < AB_TOUCH_MANY_FACES && !found; f++)
        found = apart_along(w, at, way, i, v3_scale(sign, s->poly->plane[f].n));
  }
  return found;
}

// A plane has no end beside which something could be.
static bool has_end(const abTouchWork* w) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  return a->poly && b->poly &&
         (a->shape->type == AB_SHAPE_CYLINDER || b->shape->type == AB_SHAPE_CYLINDER);
}

AB_SIMD AB_FLATTEN bool ab_touch_round(abTouchWork* w, abVec2* polygon, abPatch* p) {
  const abTouchSide *a = &w->side[0], *b = &w->side[1];
  if (a->poly && b->poly && ab_touch_sat(w)) return false;
  abTouchPlace at;
  abTouchWay way;
  if (!ab_touch_meet(w, &at, &way)) return false;
  if (has_end(w) && passes(w, &at, &way)) return false;
  bool fa = !a->poly || ab_touch_flat(a) || stands(w, &at, 0, way.n);
  bool fb = !b->poly || ab_touch_flat(b) || stands(w, &at, 1, way.n);
  return (fa && fb && flat_patch(w, &at, &way, polygon, p)) ||
         round_patch(w, &at, &way, polygon, p);
}

bool ab_touch_rolls(abTouchWork* w, abVec2* polygon, abPatch* p, bool* seen) {
  for (int i = 0; i < 2; i++) {
    abTouchSide* s = &w->side[i];
    if (!ab_touch_facets(s->shape) || ab_touch_facets(w->side[1 - i].shape)) continue;
    abTouchPlace at;
    abTouchWay way;
    s->smooth = true;
    if (ab_touch_meet_smooth(w, i, &at, &way)) {
      *seen = round_patch(w, &at, &way, polygon, p);
      return true;
    }
    s->smooth = false;
  }
  return false;
}
