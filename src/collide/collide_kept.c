// Patches that are not measured again.
//
// In a pile at rest nearly every pair is where it was in the step before, but for a motion of some
// 1e-12 m on which its contact model still works. Such a motion d, w of one shape against the other
// (at the patch's centre) changes the thickness along the normal by exactly
//
//   - n . (d + w x r)
//
// wherever the shapes overlap before and after. This is applied, always from where the patch was
// measured, so that nothing adds up; the outline stays. What is neglected is that the outline
// moves. The affine thickness over the true outline would differ: little for a face, whose outline
// moves no further than the bodies, so by the share of the depth in its size; but for an edge or a
// corner that dips in, whose outline follows from the depth, by as much as the motion itself.
//
// So KEPT bounds the motion. It is measured by the margin of the contact model, some g h^2: when
// the patch is measured again its thickness jumps by no more than KEPT of that, which means a
// velocity smaller than KEPT times what gravity gives in a few steps, a tenth of what a step's
// solution may leave.
//
// Not so for round bodies: what rolls has its contact always below its centre, and a patch that
// lagged behind would drive it to and fro. Theirs are measured in every step.
//
// Models without a margin have no such measure, and every patch of theirs is measured.
#include "collide/collide_kept.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"

static const double KEPT = 1e-6;

double ab_kept_slack(double margin) { return margin > 0 ? KEPT * margin : -1; }

// The small motion of a shape from `then` to `now`: of its origin, and its rotation vector. False
// if any point of it has moved by more than `most`. Turned through zero, q and -q are the same pose
// but not seen as such: it is then measured again.
static bool moved_little(const abShape* shape, abPose then, abPose now, double most, abTwist* move,
                         double* slack) {
  double w = now.q.w - then.q.w, x = now.q.x - then.q.x, y = now.q.y - then.q.y,
         z = now.q.z - then.q.z;
  move->lin = v3_sub(now.p, then.p);
  double turn = w * w + x * x + y * y + z * z;  // a quarter of the angle's square
  double shift = v3_norm2(move->lin);
  if (!shape->poly) {  // without end
    move->ang = v3_zero();
    return turn == 0 && shift == 0;
  }
  double reach = shape->poly->radius;
  double way2 = shift + 4 * reach * reach * turn;
  if (!(way2 <= 0.5 * most * most)) return false;
  *slack -= sqrt(2 * way2);
  // dq q^-1, to first order
  abQuat q = then.q;
  move->ang =
      v3(2 * (x * q.w - w * q.x - y * q.z + z * q.y), 2 * (y * q.w - w * q.y - z * q.x + x * q.z),
         2 * (z * q.w - w * q.z - x * q.y + y * q.x));
  return true;
}

static abVec3 motion_at(abTwist move, abPose then, abVec3 point) {
  return v3_add(move.lin, v3_cross(move.ang, v3_sub(point, then.p)));
}

bool ab_kept_patch(const abTrace* trace, double margin, abPair* pair, double* slack) {
  abTwist move[2];
  double most = ab_kept_slack(margin), left = most;
  if (!(margin > 0 && trace->margin == margin)) return false;
  if (!moved_little(pair->shape1, trace->pose1, pair->pose1, most, &move[0], &left) ||
      !moved_little(pair->shape2, trace->pose2, pair->pose2, most, &move[1], &left))
    return false;
  *slack = fmax(0, left);
  abPatch* patch = &pair->patch;
  *patch = trace->patch;
  abVec3 d1 = motion_at(move[0], trace->pose1, patch->center);
  abVec3 d2 = motion_at(move[1], trace->pose2, patch->center);
  abVec3 turn = v3_sub(move[0].ang, move[1].ang);
  // the thickness grows by c + x * .x + y * .y
  double c = -v3_dot(patch->normal, v3_sub(d1, d2));
  double cx = v3_dot(turn, patch->t2), cy = -v3_dot(turn, patch->t1);
  patch->center = v3_axpy(0.5, v3_add(d1, d2), patch->center);
  patch->h0 += c, patch->hx += cx, patch->hy += cy;
  patch->depth += c;
  patch->volume = fmax(0, patch->volume + c * patch->area + cx * patch->mx + cy * patch->my);
  return true;
}

void ab_keep_patch(const abPair* pair, double margin, abTrace* trace) {
  const abPatch* patch = &pair->patch;
  trace->patch = *patch;
  trace->margin = 0;
  if (!(margin > 0) || patch->nvert > AB_TRACE_CORNERS) return;
  memcpy(trace->polygon, patch->polygon, sizeof(abVec2) * (size_t)patch->nvert);
  trace->pose1 = pair->pose1, trace->pose2 = pair->pose2;
  trace->margin = margin;
}
