// A ball on a floor touches it at a point, a lying cylinder along a line. Rolling, the material of
// the front comes down and that of the rear goes up, but the overlap does not change; a patch with
// a width along the way would see the front pressing and the rear lifting, and brake. A tessellated
// ball even rolls from facet to facet. So round contacts get the patch they have in the rigid
// limit: a strip along the line of contact, or a dot, WIDTH times the radius wide: wide enough for
// all that is divided by the area, and so narrow that rolling costs less than a millionth of the
// speed in a step.
//
// Along the strip the thickness is linear: H(x) = H + s x, |x| <= a.
// The patch's centre is its barycentre, s a^2 / (3 H) from the middle, so that the first moments
// vanish as they do for an overlap's.
#include "collide/patch/round.h"

#include "collide/distance/gjk.h"
#include "math/rotation.h"

static const double WIDTH = 1e-5;
// A cylinder whose axis is steeper than this against the plane stands rather than lies: its flat
// ends matter.
static const double STANDING_AXIS = 0.7;

// Where the round side meets the other surface: from p[0] to p[1], on the other surface, with
// thickness H[i] there.
typedef struct Strip {
  abVec3 n;  // from 2 to 1
  abVec3 p[2];
  double H[2];
  double radius;
} Strip;

static void frame(const abPatchHint* hint, abVec3 n, abPatch* patch) {
  patch->normal = n;
  v3_tangents(n, &patch->t1, &patch->t2);
  if (!hint->t1) return;
  abVec3 t = v3_axpy(-v3_dot(*hint->t1, n), n, *hint->t1);
  if (v3_norm(t) < 0.1) return;
  patch->t1 = v3_unit(t);
  patch->t2 = v3_cross(n, patch->t1);
}

static void make_patch(const Strip* strip, const abPatchHint* hint, abVec2* polygon,
                       abPatch* patch) {
  *patch = (abPatch){.nvert = AB_ROUND_POLYGON, .polygon = polygon};
  frame(hint, strip->n, patch);
  double b = WIDTH * strip->radius, H = 0.5 * (strip->H[0] + strip->H[1]);
  abVec3 along = v3_scale(0.5, v3_sub(strip->p[1], strip->p[0]));
  abVec2 u = v2(v3_dot(patch->t1, along), v3_dot(patch->t2, along));
  double a = v2_norm(u), s = 0;
  if (a > b) {
    u = v2_scale(1 / a, u);
    s = 0.5 * (strip->H[1] - strip->H[0]) / a;
  } else {
    u = v2(1, 0), a = b;
  }
  double shift = s * a * a / (3 * H);
  for (int i = 0; i < AB_ROUND_POLYGON; i++) {
    double x = (i == 1 || i == 2 ? a : -a) - shift, y = i < 2 ? -b : b;
    polygon[i] = v2(u.x * x - u.y * y, u.y * x + u.x * y);
  }
  double area = 4 * a * b, xx = area * (a * a / 3 + shift * shift), yy = area * b * b / 3;
  patch->kind = a > 100 * b ? AB_PATCH_LINE : AB_PATCH_POINT;
  patch->area = area;
  patch->mx = -area * shift * u.x, patch->my = -area * shift * u.y;
  patch->mxx = u.x * u.x * xx + u.y * u.y * yy;
  patch->myy = u.y * u.y * xx + u.x * u.x * yy;
  patch->mxy = u.x * u.y * (xx - yy);
  patch->h0 = H + s * shift;
  patch->hx = s * u.x, patch->hy = s * u.y;
  patch->depth = fmax(strip->H[0], strip->H[1]);
  patch->volume = area * H;
  abVec3 middle = v3_scale(0.5, v3_add(strip->p[0], strip->p[1]));
  abVec3 lengthwise = v3_add(v3_scale(u.x, patch->t1), v3_scale(u.y, patch->t2));
  // Half-way between the two surfaces.
  patch->center = v3_axpy(-0.5 * patch->h0, strip->n, v3_axpy(shift, lengthwise, middle));
}

// Shortens the strip to where its thickness is positive; false if it is so nowhere.
static bool clip(Strip* s) {
  if (s->H[0] <= 0 && s->H[1] <= 0) return false;
  for (int i = 0; i < 2; i++) {
    if (s->H[i] > 0) continue;
    double t = s->H[1 - i] / (s->H[1 - i] - s->H[i]);
    s->p[i] = v3_lerp(s->p[1 - i], s->p[i], t);
    s->H[i] = 0;
  }
  return true;
}

// --- on a plane
// -----------------------------------------------------------------------------------------------

// The line of the shape nearest to the plane: a segment of centres, and how far the surface lies
// below them along n.
static bool lowest_line(const abShape* shape, abPose pose, abVec3 n, abVec3 centre[2],
                        double* below, double* radius) {
  abVec3 axis = quat_rotate(pose.q, v3(0, 0, 1));
  centre[0] = centre[1] = pose.p;
  *below = *radius = shape->size.x;
  switch (shape->type) {
    case AB_SHAPE_SPHERE:
      return true;
    case AB_SHAPE_CAPSULE:
      break;
    case AB_SHAPE_CYLINDER: {
      double rise = v3_dot(axis, n);
      if (fabs(rise) > STANDING_AXIS) return false;
      // The lowest generator is the axis moved by the radius against n, as far as that is across
      // the axis.
      *below = shape->size.x * sqrt(1 - rise * rise);
      break;
    }
    case AB_SHAPE_ELLIPSOID: {
      abVec3 d = quat_rotate(quat_conj(pose.q), n), e = v3_mul(shape->size, d);
      *below = v3_norm(e);
      *radius = fmin(shape->size.x, fmin(shape->size.y, shape->size.z));
      abVec3 low = v3_scale(-1 / *below, v3_mul(shape->size, e));
      centre[0] = centre[1] = v3_axpy(*below, n, pose_apply(pose, low));
      return true;
    }
    default:
      return false;
  }
  centre[0] = v3_axpy(-shape->size.y, axis, pose.p);
  centre[1] = v3_axpy(shape->size.y, axis, pose.p);
  return true;
}

static bool on_plane(const abShape* shape, abPose pose, abPose plane, Strip* strip) {
  abVec3 up = quat_rotate(plane.q, v3(0, 0, 1)), centre[2];
  double below;
  if (!lowest_line(shape, pose, up, centre, &below, &strip->radius)) return false;
  abVec3 axis = quat_rotate(pose.q, v3(0, 0, 1));
  // A cylinder's generator lies beside its axis: by what the radius leans.
  abVec3 lean = v3_zero();
  if (shape->type == AB_SHAPE_CYLINDER) {
    abVec3 across = v3_unit(v3_axpy(-v3_dot(axis, up), axis, up));
    lean = v3_scale(-shape->size.x, v3_axpy(-v3_dot(across, up), up, across));
  }
  strip->n = up;
  for (int i = 0; i < 2; i++) {
    double height = v3_dot(up, v3_sub(centre[i], plane.p));
    strip->H[i] = below - height;
    strip->p[i] = v3_add(v3_axpy(-height, up, centre[i]), lean);
  }
  return true;
}

// --- on anything convex
// ------------------------------------------------------------------------------------------

// The ball about one point of the capsule's axis against the other shape; false if the point is
// inside.
static bool ball_distance(const abShape* round, abVec3 centre, const abShape* other, abPose pose,
                          abVec3* p, abVec3* n, double* H) {
  abShape ball = {.type = AB_SHAPE_SPHERE, .size = v3(round->size.x, 0, 0)};
  abDistance d;
  ab_distance(&ball, (abPose){centre, quat_identity()}, other, pose, NULL, &d);
  *p = d.point2, *n = d.normal, *H = -d.separation;
  return !d.overlap;
}

// A capsule's line of contact ends where the ball at its end touches in the same direction as the
// nearest one; where the other surface ends before, only the nearest point counts.
static bool on_convex(const abShape* round, abPose pose, const abShape* other, abPose other_pose,
                      Strip* strip) {
  abDistance d;
  ab_distance(round, pose, other, other_pose, NULL, &d);
  if (d.overlap) return false;
  strip->n = d.normal;
  strip->radius = round->size.x;
  for (int i = 0; i < 2; i++) strip->p[i] = d.point2, strip->H[i] = -d.separation;
  if (round->type != AB_SHAPE_CAPSULE || strip->H[0] <= 0) return true;
  abVec3 axis = quat_rotate(pose.q, v3(0, 0, 1));
  for (int i = 0; i < 2; i++) {
    abVec3 p, n;
    double H;
    abVec3 end = v3_axpy(i ? round->size.y : -round->size.y, axis, pose.p);
    if (ball_distance(round, end, other, other_pose, &p, &n, &H) && v3_dot(n, d.normal) > 1 - 1e-9)
      strip->p[i] = p, strip->H[i] = H;
  }
  return true;
}

static bool has_round_skin(const abShape* s) {
  return s->type == AB_SHAPE_SPHERE || s->type == AB_SHAPE_CAPSULE;
}

bool ab_round_patch(const abPair* pair, const abPatchHint* hint, abVec2* polygon, abPatch* patch) {
  Strip strip;
  const abShape *a = pair->shape1, *b = pair->shape2;
  bool handled, second = false;
  if (b->type == AB_SHAPE_PLANE) {
    handled = on_plane(a, pair->pose1, pair->pose2, &strip);
  } else if (a->type == AB_SHAPE_PLANE) {
    handled = on_plane(b, pair->pose2, pair->pose1, &strip);
    second = true;
  } else if (has_round_skin(a)) {
    handled = on_convex(a, pair->pose1, b, pair->pose2, &strip);
  } else if (has_round_skin(b)) {
    handled = on_convex(b, pair->pose2, a, pair->pose1, &strip);
    second = true;
  } else {
    return false;
  }
  if (!handled) return false;
  *patch = (abPatch){.kind = AB_PATCH_NONE};
  if (!clip(&strip)) return true;
  // p lies on the surface of the other body, from which n points to the round one. Where that is
  // body 2, its own surface is the one to start from, H against n, and n points the other way.
  if (second) {
    for (int i = 0; i < 2; i++) strip.p[i] = v3_axpy(-strip.H[i], strip.n, strip.p[i]);
    strip.n = v3_neg(strip.n);
  }
  make_patch(&strip, hint, polygon, patch);
  return true;
}
