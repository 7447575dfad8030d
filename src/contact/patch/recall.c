// What a contact takes over from the last step: pressure, bristle and impulses where they are now,
// and the drift that its motion showed; or what one without a past begins with.
// Tests: test_patch_stories, test_stories_motion.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "contact/patch/patch.h"
#include "math/spatial.h"

// Pressure goes with the patch as long as that keeps its shape: with the body whose face it is, or
// with the line along which something rolls. Else it stays with the body that moves less against
// the patch.
static abVec3 carried_center(const abPair* pair, const abVec3 p[2]) {
  const abPatchMemory* m = pair->memory;
  abVec3 now = pair->patch.center;
  if (pair->patch.rolls || fabs(pair->patch.area - m->area) <= 0.02 * m->area) return now;
  return v3_norm2(v3_sub(now, p[0])) < v3_norm2(v3_sub(now, p[1])) ? p[0] : p[1];
}

// What rolls or is rolled on. A patch that goes over a body meets ever new points of it; what
// counts as slip is the velocity of whichever is there. With the lever r of the patch, going from
// r0 to r1 while the body turned by the vector a, that adds up to the way of the centre of mass and
// a x (r0 + r1) / 2, instead of that of the point touched first, which is (R - 1) r0. Up to the
// same constant for both bodies:
static abVec3 rolled(const abPatchMemory* m, int k, abQuat q, abVec3 r1) {
  abVec3 r0 = m->lever[k];
  const abQuat* last = &m->q[k];
  if (q.w == last->w && q.x == last->x && q.y == last->y && q.z == last->z) return v3_sub(r0, r1);
  abQuat by = quat_mul(q, quat_conj(m->q[k]));
  abVec3 carried = quat_rotate(by, r0);
  // it does not go over this body
  if (v3_norm2(v3_sub(r1, carried)) <= 0.25 * v3_norm2(v3_sub(carried, r0)))
    return v3_sub(carried, r1);
  abVec3 turn = v3_cross(quat_to_rotvec(by), v3_scale(0.5, v3_add(r0, r1)));
  return v3_add(v3_sub(r0, r1), turn);
}

AB_SIMD AB_FLATTEN abPatchPlace ab_patch_find_place(const abPair* pair, const abPatchContact* c) {
  const abPatchMemory* m = pair->memory;
  abPose pose[2] = {pair->pose1, pair->pose2};
  abVec3 p[2], n[2], t[2];
  for (int k = 0; k < 2; k++) {
    p[k] = pose_apply(pose[k], m->center[k]);
    n[k] = quat_rotate(pose[k].q, m->normal[k]);
    t[k] = quat_rotate(pose[k].q, m->t1[k]);
  }
  abPatchPlace place = {.point = {p[0], p[1]}, .center = carried_center(pair, p)};
  abVec3 normal = v3_unit(v3_add(n[0], n[1])), mean = v3_add(t[0], t[1]);
  place.axis[0] = v3_unit(v3_axpy(-v3_dot(mean, normal), normal, mean));
  place.axis[1] = v3_cross(normal, place.axis[0]);
  place.axis[2] = normal;
  abVec3 d = v3_sub(p[0], p[1]);
  place.way[2] = v3_dot(normal, d);
  if (pair->patch.kind != AB_PATCH_SURFACE)
    d = v3_sub(rolled(m, 0, pose[0].q, c->side[0].r), rolled(m, 1, pose[1].q, c->side[1].r));
  // Across the normal, axes that turned with it but did not spin about it: what slides straight on
  // while it spins has not turned off.
  abVec3 n0 = quat_rotate(m->q[0], m->normal[0]), t0 = quat_rotate(m->q[0], m->t1[0]);
  abVec3 u = v3_axpy(-v3_dot(normal, t0) / (1 + v3_dot(n0, normal)), v3_add(n0, normal), t0);
  place.way[0] = v3_dot(u, d), place.way[1] = v3_dot(v3_cross(normal, u), d);
  place.turn = v3_dot(normal, v3_cross(t[1], t[0]));
  return place;
}

// The contact has been torn from where it was, by somebody who set coordinates.
bool ab_patch_displaced(const abPatchMemory* m, const abPatchPlace* place, double thin) {
  double way = 0;
  for (int k = 0; k < 3; k++) way = fmax(way, fabs(place->way[k] - m->h * m->V[k]));
  double turn = fabs(place->turn - m->h * m->V[5]);
  return !(way <= 0.1 * fmin(thin, 1e30) && turn <= 0.2);
}

// What the motion of a step adds to its velocities at the start, per h: of second order, and the
// same from step to step for whatever is carried round a corner. Along the normal material points
// tell nothing of what rolls, whose points come and go: there the change of the thickness tells the
// same, or nothing is added.
static void find_drift(const abPair* pair, const abPatchPlace* place, abPatchContact* c) {
  const abPatchMemory* m = pair->memory;
  const abPatch* patch = &pair->patch;
  abVec3 at = v3_sub(v3_scale(0.5, v3_add(place->point[0], place->point[1])), patch->center);
  double x = v3_dot(patch->t1, at), y = v3_dot(patch->t2, at);
  double thick = patch->h0 + patch->hx * x + patch->hy * y;
  double by_points = place->way[2] / m->h - m->V[2];
  double by_thickness = (m->thick - thick) / m->h - m->V[2];
  double least = fabs(by_points) < fabs(by_thickness) ? by_points : by_thickness;
  double d[3] = {place->way[0] / m->h - m->V[0], place->way[1] / m->h - m->V[1],
                 by_points * by_thickness > 0 ? least : 0};
  abVec3 drift = v3_zero();
  for (int k = 0; k < 3; k++) drift = v3_axpy(d[k], place->axis[k], drift);
  for (int k = 0; k < 3; k++) c->drift[k] = v3_dot(c->axis[k], drift);
  c->drift[5] = place->turn / m->h - m->V[5];
}

// An affine field in the coordinates remembered, in those of now.
static void carry_field(const abPatchPlace* place, const abPatchContact* c, abVec3 shift,
                        double ratio, const double from[3], double to[3]) {
  abVec3 slope = v3_add(v3_scale(from[1], place->axis[0]), v3_scale(from[2], place->axis[1]));
  to[0] = ratio * (from[0] + v3_dot(slope, shift));
  to[1] = ratio * v3_dot(slope, c->axis[0]);
  to[2] = ratio * v3_dot(slope, c->axis[1]);
}

static abVec3 in_plane(const abVec3 axis[3], const double x[2]) {
  return v3_add(v3_scale(x[0], axis[0]), v3_scale(x[1], axis[1]));
}

// Sticking is a position: the bristle has been told of the displacement that the last step was to
// bring, and learns here what it was.
static void recall_bristle(const abPatchSystem* system, const abPair* pair,
                           const abPatchPlace* place, abPatchContact* c) {
  const abPatchMemory* m = pair->memory;
  double k = system->param[AB_PATCH_RECOVERY] / system->h;
  const double b[3] = {m->bristle[0] + place->way[0] - m->went[0],
                       m->bristle[1] + place->way[1] - m->went[1],
                       m->bristle[2] + place->turn - m->went[2]};
  abVec3 shift = v3_sub(pair->patch.center, place->center);
  abVec3 turned = v3_scale(b[2], place->axis[2]);
  abVec3 bristle = v3_add(in_plane(place->axis, b), v3_cross(turned, shift));
  c->law.bristle[0] = k * v3_dot(bristle, c->axis[0]);
  c->law.bristle[1] = k * v3_dot(bristle, c->axis[1]);
  c->law.bristle[2] = k * b[2];
}

// field: the pressure of the last step.
AB_SIMD AB_FLATTEN void ab_patch_recall(const abPatchSystem* system, const abPair* pair,
                                        const abPatchPlace* place, abPatchContact* c,
                                        double field[3]) {
  const abPatchMemory* m = pair->memory;
  abPatchLaw* law = &c->law;
  recall_bristle(system, pair, place, c);
  find_drift(pair, place, c);
  abVec3 shift = v3_sub(pair->patch.center, place->center);
  double ratio = system->h / m->h;
  abWrench w = wrench_zero();
  for (int i = 0; i < 3; i++) {
    w.force = v3_axpy(ratio * m->impulse[i], place->axis[i], w.force);
    w.torque = v3_axpy(ratio * m->impulse[3 + i], place->axis[i], w.torque);
  }
  w = wrench_move(w, shift);
  carry_field(place, c, shift, ratio, m->field, field);
  abVec3 acts = v3_sub(in_plane(place->axis, m->acts), shift);
  law->about_pole = m->about_pole;
  ab_patch_spread(law, v3_dot(acts, c->axis[0]), v3_dot(acts, c->axis[1]));
  for (int i = 0; i < 3; i++) {
    c->impulse[i] = v3_dot(c->axis[i], w.force);
    c->impulse[3 + i] = v3_dot(c->axis[i], w.torque);
  }
  abVec3 slide = in_plane(place->axis, m->slide);
  c->X[0] = v3_dot(slide, c->axis[0]) - law->bristle[0];
  c->X[1] = v3_dot(slide, c->axis[1]) - law->bristle[1];
  c->X[5] = m->slide[2] - law->bristle[2];
  c->slipping = m->slipping;
}

// Carried by points of the bodies: would it stay with the patch, whose borders move with the least
// turn, a face that stands on an edge deep in something would sink while it turns about that.
void ab_patch_recall_rest(const abPair* pair, const abPatchPlace* place, abPatchContact* c) {
  const abPatchMemory* m = pair->memory;
  const abPatch* p = &pair->patch;
  if (!place || m->rest != c->rest) {
    c->rests[0] = p->h0, c->rests[1] = p->hx, c->rests[2] = p->hy;
    return;
  }
  abVec3 point = v3_scale(0.5, v3_add(place->point[0], place->point[1]));
  carry_field(place, c, v3_sub(p->center, point), 1, m->rests, c->rests);
}

// The normal velocity at which the law gives the pressure field of the last step.
void ab_patch_recall_state(abPatchContact* c, const double field[3]) {
  const double *t = ab_patch_aim(&c->law), per = 1 / c->law.stiffness;
  c->X[2] = t[0] - per * field[0];
  c->X[3] = t[2] - per * field[2];
  c->X[4] = per * field[1] - t[1];
}

// The same for a patch without a past: the accelerations a of its material points that the
// velocities alone cause, seen from axes that turn with the normal by w: a1 - a2 - 2 w x (v1 - v2).
static abVec3 guess_drift(const abPatchSystem* system, const abPatchContact* c) {
  abVec3 a[2], turn = v3_zero(), n = c->axis[2];
  abTwist t[2];
  for (int k = 0; k < 2; k++) {
    const abContactBody* b = &system->problem->body[c->side[k].body];
    abVec3 w = b->twist.ang, r = c->side[k].r;
    a[k] = v3_add(twist_move(b->bias, r).lin, v3_cross(w, v3_cross(w, r)));
    t[k] = twist_move(b->twist, r);
    turn = v3_add(turn, w);  // twice the mean
  }
  turn = v3_axpy(-v3_dot(n, turn), n, turn);
  abVec3 turned = v3_cross(turn, v3_sub(t[0].lin, t[1].lin));
  return v3_scale(0.5 * system->h, v3_sub(v3_sub(a[0], a[1]), turned));
}

// Along the normal only of faces, which do not roll.
void ab_patch_begin_drift(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  const abPatch* p = &pair->patch;
  for (int k = 0; k < 2 && p->rolls; k++) c->drift[k] = p->slides[k] / system->h;
  if (p->rolls) return;
  abVec3 drift = guess_drift(system, c);
  bool face = p->kind == AB_PATCH_SURFACE;
  for (int k = 0; k < (face ? 3 : 2); k++) c->drift[k] = v3_dot(c->axis[k], drift);
}

// The drift of the last step says nothing of this one where an impact has changed the motion or a
// body tumbles: none where one of the two turns by more than AB_PATCH_TUMBLES in the step, and none
// that is far beyond what the velocities of now explain. Along the normal it holds what is carried
// round, both bodies turning alike. Where one rocks on the other, the place at which they touch is
// another one in each step, and the drift of the last one would only add energy: it fades out with
// the share of the turning that is against each other, about axes in the patch.
void ab_patch_check_drift(const abPatchSystem* system, abPatchContact* c, bool fresh) {
  double turn = ab_patch_turning(system, c), size = 0;
  for (int k = 0; k < 3; k++) size += c->drift[k] * c->drift[k];
  double most = AB_PATCH_EXPLAINED * v3_norm(guess_drift(system, c)) + system->gravity * system->h;
  bool explained = fresh || sqrt(size) <= most;
  if (turn * system->h > AB_PATCH_TUMBLES || !explained) memset(c->drift, 0, sizeof c->drift);
  double tilt = sqrt(c->start[3] * c->start[3] + c->start[4] * c->start[4]);
  c->drift[2] *= tilt < AB_PATCH_ROCKS * turn ? 1 - tilt / (AB_PATCH_ROCKS * turn) : 0;
}

// A new patch: the impulse that would stop it alone, evenly spread, bounds friction at first.
double ab_patch_begin_fresh(abPatchContact* c, double field[3]) {
  abPatchLaw* law = &c->law;
  double load = c->mass * fmax(0, fmin(law->target[0][0], law->target[1][0]) - c->free[2]);
  memset(law->bristle, 0, sizeof law->bristle);
  ab_patch_spread(law, law->centroid.x, law->centroid.y);
  field[0] = load, field[1] = field[2] = 0;
  memset(c->impulse, 0, sizeof c->impulse);
  memset(c->X, 0, sizeof c->X);
  return load;
}
