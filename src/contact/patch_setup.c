// From the pairs of a step to the contacts and islands of the model `patch`.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch.h"
#include "math/spatial.h"

// As fmax, but an instruction.
static inline double larger(double a, double b) { return a > b ? a : b; }

// --- one contact
// ---------------------------------------------------------------------------------------

// A rebound slower than this many times what the free motion changes in a step is rest.
#define REBOUND 0.1

// Stiffness follows the load up to this factor: a load that grows with the stiffness must end.
#define FIRMEST 1e6
#define NEVER_PRESSES -1e9  // target velocity [m/s]

// Extent of a convex shape along a direction of the world.
static double extent_along(const abShape* shape, abPose pose, abVec3 direction) {
  if (!shape || shape->type == AB_PLANE) return INFINITY;
  if (!shape->poly) return 2 * shape->size.x;
  abVec3 d = quat_rotate(quat_conj(pose.q), direction);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < shape->poly->nvert; i++) {
    double s = v3_dot(d, shape->poly->vert[i]);
    low = fmin(low, s), high = fmax(high, s);
  }
  return high - low;
}

void ab_patch_relative_at(const abContactProblem* problem, const abPatchContact* c,
                          bool free_motion, double V[6]) {
  abTwist t[2];
  for (int k = 0; k < 2; k++) {
    const abContactBody* b = &problem->body[c->side[k].body];
    t[k] = twist_move(free_motion ? b->twist_free : b->twist, c->side[k].r);
  }
  abTwist d = twist_sub(t[0], t[1]);
  for (int k = 0; k < 3; k++) {
    V[k] = v3_dot(c->axis[k], d.lin);
    V[3 + k] = v3_dot(c->axis[k], d.ang);
  }
}

// Rebound. A body approaches with u over the gap d while the free motion accelerates it towards the
// other by a; it strikes after the time t, d = u t + a t^2 / 2, with sqrt(u^2 + 2 a d) and leaves
// with e times that. What is left of the step may hold more flights, each e times as long as the
// one before, from 2 w / a on: their number follows from the sum of the series, and where the whole
// series, 2 w / (a (1 - e)), has room, the body has come to rest. In the last flight, begun with w
// and T old, it ends with the velocity w - a T at the height w T - a T^2 / 2: energy and time are
// right whatever the step's length.
//
// The velocity is the target. The height is another than d + h (w - a T): the impulse p did not act
// from the beginning of the step on but later, on the mean at the time t_p. The coordinates are
// moved back by t_p M^-1 J^T p for this, and by half a step's fall, as in free flight (find_shift
// in patch_solve.c): so turning and friction of a rebound are those of its time, too. That this
// gives the height above says what t_p is.
typedef struct Rebound {
  enum { NO_IMPACT, RESTS, LEAVES } what;
  int flights;          // that ended within the step
  double launch, time;  // w, t
  double fall;          // a T
  double impulse_time;  // t_p
} Rebound;

static Rebound find_rebound(double u, double a, double d, double e, double h) {
  Rebound r = {.what = NO_IMPACT};
  double square = u * u + 2 * a * d;
  if (!(square >= 0) || (u <= 0 && a <= 0)) return r;
  double strikes = sqrt(square);
  r.time = u > 0 ? 2 * d / (u + strikes) : (strikes - u) / a;
  if (!(r.time < h)) return r;
  double T = h - r.time, w = e * strikes, flight = a > 0 ? 2 * w / a : INFINITY;
  r.what = RESTS;
  if (!(w > 0) || T * (1 - e) >= flight) return r;
  if (T >= flight) {
    double n = e < 1 ? floor(log1p(-T * (1 - e) / flight) / log(e)) : floor(T / flight);
    double share = pow(e, n);
    T = fmax(0, T - flight * (e < 1 ? (1 - share) / (1 - e) : n));
    w *= share, r.flights = 1;
  }
  double height = (w - 0.5 * a * T) * T, gained = w - a * T + u + a * h;
  r.what = LEAVES, r.launch = w, r.fall = a * T;
  r.impulse_time = h * (w - a * T) + 0.5 * a * h * h - (height - d);
  r.impulse_time = gained > 0 ? fmin(fmax(r.impulse_time / gained, 0), h) : 0;
  return r;
}

// Where coordinates cannot be moved back in time, because of joints or of what turns, only the
// energy is made right, at the height d + h v',
//
//   v'^2 / 2 + a (d + h v') = e^2 (u^2 + 2 a d) / 2.
static Rebound find_prompt_rebound(double u, double a, double d, double e, double h) {
  Rebound r = {.what = NO_IMPACT};
  double ah = fmax(a, 0) * h, left = ah * ah + e * e * u * u - 2 * (1 - e * e) * fmax(a, 0) * d;
  if (!(u > 0) || d > h * (u + 0.5 * ah)) return r;
  r.launch = sqrt(fmax(0, left)) - ah;
  r.what = r.launch > REBOUND * fabs(a) * h ? LEAVES : NO_IMPACT;
  return r;
}

// e^T Phi e: the change of velocity at the patch's centre along e by a unit impulse along e.
static double mobility(const abContactProblem* problem, const abPatchSide* side, abVec3 e) {
  if (side->block < 0) return 0;
  const abResponse* r = problem->response;
  abVec3 torque = v3_cross(side->r, e);
  if (!side->branch)
    return r->inv_mass[side->body] + v3_dot(torque, m3_apply(&r->inv_inertia[side->body], torque));
  abWrench w = {e, torque};
  return twist_power(m6_apply_wrench(&side->branch->mobility, w), w);
}

// What gives way at the impact is held by joints, to more than a thousandth: then it is no rebound
// of a free body from something that moves on as it did.
static bool is_jointed(const abPatchSystem* system, const abPatchContact* c) {
  double all = 0, held = 0;
  for (int k = 0; k < 2; k++) {
    double part = mobility(system->problem, &c->side[k], c->axis[2]);
    all += part, held += c->side[k].branch ? part : 0;
  }
  return held > 1e-3 * all;
}

// Whether a corner would end below the surface: its gap, the way of a step at its target, what the
// impulse is too early by, and half a step's fall.
static bool lets_in(const abPatch* p, const abPatchLaw* law, const Rebound* r, const double V[6],
                    const double target[3], double ah, double h) {
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    double gap = fmax(0, -(p->h0 + p->hx * x + p->hy * y));
    double before = V[2] + V[3] * y - V[4] * x, after = target[0] + target[1] * x + target[2] * y;
    double end = gap + h * (after + 0.5 * ah) - r->impulse_time * (after - before + ah);
    if (end < -1e-6 * h * r->launch) return true;
  }
  return false;
}

// Before the impact the body flies, and is not stopped where its velocity at the end of the step
// would lead but where its motion does, half a step's fall later: if no corner strikes.
static void fly_on(const abPatch* p, abPatchLaw* law, const double V[6], double ah, double h) {
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i], gap = -(p->h0 + p->hx * x + p->hy * y);
    if (!(gap > 0 && gap + h * (V[2] + V[3] * y - V[4] * x - 0.5 * ah) > 0)) return;
  }
  for (int i = 0; i < 2; i++) law->target[i][0] -= fmax(0, 0.5 * ah);
}

static double at_point(const double field[3], double x, double y) {
  return field[0] + field[1] * x + field[2] * y;
}

// Target of a rebound, and whether it is delayed. The whole patch leaves in proportion to how it
// came, unless a corner would be let in: then alike.
static bool aim(const abPair* pair, abPatchContact* c, const Rebound* r, const double before[6],
                double ah, double h) {
  abPatchLaw* law = &c->law;
  double A = law->moments.m[AB_M_1], cx = law->moments.m[AB_M_X] / A,
         cy = law->moments.m[AB_M_Y] / A;
  double u = -(before[2] + before[3] * cy - before[4] * cx);
  double ratio = u > 0 ? r->launch / u : 0, flat[3] = {r->launch - r->fall, 0, 0};
  double target[3] = {-ratio * before[2] - r->fall, ratio * before[4], -ratio * before[3]};
  bool alike = u <= 0 || r->flights || lets_in(&pair->patch, law, r, before, target, ah, h);
  if (alike && lets_in(&pair->patch, law, r, before, flat, ah, h)) return false;
  for (int i = 0; i < 2; i++) {
    memcpy(law->target[i], alike ? flat : target, sizeof flat);
    c->plain[i][0] = -r->fall, c->plain[i][1] = c->plain[i][2] = 0;
  }
  c->delayed = true;
  c->impulse_time = r->impulse_time;
  return true;
}

static bool aim_promptly(abPatchContact* c, double launch, const double before[6], double u) {
  abPatchLaw* law = &c->law;
  double ratio = launch / u, flat[3] = {launch, 0, 0};
  double target[3] = {-ratio * before[2], ratio * before[4], -ratio * before[3]};
  bool alike = false;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    alike |= at_point(target, x, y) <
             fmin(at_point(law->target[0], x, y), at_point(law->target[1], x, y));
  }
  for (int i = 0; i < 2; i++) memcpy(law->target[i], alike ? flat : target, sizeof flat);
  return true;
}

static bool add_restitution(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  double e = pair->surface.restitution, h = system->h;
  c->delayed = false, c->impulse_time = 0;
  if (!(e > 0) || c->held) return false;
  abPatchLaw* law = &c->law;
  double before[6], after[6], A = law->moments.m[AB_M_1];
  ab_patch_relative_at(system->problem, c, false, before);
  ab_patch_relative_at(system->problem, c, true, after);
  double cx = law->moments.m[AB_M_X] / A, cy = law->moments.m[AB_M_Y] / A;
  double u = -(before[2] + before[3] * cy - before[4] * cx);
  double a = (before[2] - after[2]) / h;
  double gap = -(pair->patch.h0 + pair->patch.hx * cx + pair->patch.hy * cy);
  double old = fmin(at_point(law->target[0], cx, cy), at_point(law->target[1], cx, cy));
  if (!is_jointed(system, c)) {
    Rebound r = find_rebound(u, a, fmax(gap, 0), e, h);
    if (r.what == NO_IMPACT) fly_on(&pair->patch, law, before, a * h, h);
    if (r.what != LEAVES || (gap < 0 && r.launch - r.fall <= old)) return false;
    if (aim(pair, c, &r, before, a * h, h)) return true;
  }
  Rebound r = find_prompt_rebound(u, a, fmax(gap, 0), e, h);
  return r.what == LEAVES && r.launch > old && aim_promptly(c, r.launch, before, u);
}

// The speed at which depth is taken back is limited: to a small part of what the free motion or the
// load carried change in a step, so that nobody is thrown off and lifting adds next to no energy,
// and for depth that nothing explains (a bad start) to what resolves it in AB_PATCH_RECOVERY_TIME.
// Joints turn no faster by it than AB_PATCH_TURN.
static void limit_recovery(abPatchContact* c, double depth, double unit) {
  abPatchLaw* law = &c->law;
  double fastest = 0, *t = law->target[0];
  double share = fmin(1, fmax(0, depth) / (AB_PATCH_SHALLOW * c->thin));
  double out = share * depth / AB_PATCH_RECOVERY_TIME, turn = AB_PATCH_TURN * c->reach;
  for (int i = 0; i < law->ncorner; i++)
    fastest = larger(fastest, t[0] + t[1] * law->x[i] + t[2] * law->y[i]);
  double scale = 1, most = fmin(fmax(AB_PATCH_LIFT * unit, out), turn),
         all = fmin(fmax(AB_PATCH_LIFT_ALL * unit, out), turn);
  if (fastest > most) scale = most / fastest;
  if (t[0] * scale > all) scale = all / t[0];
  for (int k = 0; k < 3 && scale < 1; k++) t[k] *= scale;
}

static void set_targets(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                        double unit) {
  const abPatch* p = &pair->patch;
  abPatchLaw* law = &c->law;
  double rate[2] = {system->param[AB_PATCH_RECOVERY] / system->h, 1 / system->h};
  for (int i = 0; i < 2; i++) {
    law->target[i][0] = rate[i] * p->h0;
    law->target[i][1] = rate[i] * p->hx;
    law->target[i][2] = rate[i] * p->hy;
  }
  if (c->rest > 0)  // beyond that depth, whatever the thickness elsewhere
    for (int i = 0; i < 2; i++)
      law->target[i][0] = rate[i] * (p->depth - c->rest), law->target[i][1] = law->target[i][2] = 0;
  limit_recovery(c, p->depth - c->rest, unit);
  for (int i = 0; i < 2 && c->held; i++)  // nothing is asked of it, whatever the depth
    law->target[i][0] = NEVER_PRESSES, law->target[i][1] = law->target[i][2] = 0;
  memcpy(c->plain, law->target, sizeof c->plain);
  c->rebounds = add_restitution(system, pair, c);
}

void ab_patch_lower_rebound(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!c->rebounds) continue;
    for (int k = 0; k < 2; k++)
      for (int j = 0; j < 3; j++)
        c->law.target[k][j] += 0.5 * (c->plain[k][j] - c->law.target[k][j]);
    c->law.npart = 0;
    ab_patch_part_area(&c->law, c->part_room);
  }
}

// What lies at another height than its velocity says: the work of the free motion's forces there.
static double shifted(const abPatchIsland* island) {
  double sum = 0;
  for (int b = 0; b < island->nblock; b++) {
    if (island->inertia[b]) continue;
    int body = island->system->problem->response->mover[island->mover[b]].body0;
    const abContactBody* at = &island->system->problem->body[body];
    const double* s = island->shift + island->offset[b];
    abVec3 change = v3_sub(at->twist_free.lin, at->twist.lin);
    sum += island->mass[b] * v3_dot(change, v3(s[0], s[1], s[2]));
  }
  return sum;
}

// A step that begins with v, is free to become v + a h and ends with v' has the energy of the
// contacts' work, J . (v + a h + v') / 2, and that of lying higher by h (v' - v - a h) against a:
// - J . a h. Together J . (v + (v' - v - a h) / 2). The free motion itself, semi-implicit, loses
// m (a h)^2 / 2.
double ab_patch_work(const abPatchIsland* island) {
  const abContactProblem* problem = island->system->problem;
  double sum = 0, size = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    double before[6], free[6];
    ab_patch_relative_at(problem, c, false, before);
    ab_patch_relative_at(problem, c, true, free);
    for (int k = 0; k < 6; k++) {
      sum += c->impulse[k] * (before[k] + 0.5 * (c->V[k] - free[k]));
      size += fabs(c->impulse[k] * before[k]);
    }
  }
  sum -= shifted(island);
  double fall = island->system->gravity * island->system->h;
  for (int b = 0; b < island->nblock; b++) sum -= 0.5 * island->mass[b] * fall * fall;
  return size > 0 ? sum / size : 0;
}

// --- what is remembered

// Where the last step's patch is now, as each of its two bodies carries it, and what lies between
// the two: the displacement of the step.
typedef struct Place {
  abVec3 point[2];  // its centre as body 1 and body 2 carry it
  abVec3 center;    // where its pressure is taken to be now
  abVec3 axis[3];
  double way[3];  // of body 1 against body 2, in the axes
  double turn;    // likewise about the normal
} Place;

// Pressure goes with the patch as long as that keeps its shape: with the body whose face it is, or
// with the line along which something rolls. Else it stays with the body that moves less against
// the patch.
static abVec3 carried_center(const abPair* pair, const abVec3 p[2]) {
  const abPatchMemory* m = pair->memory;
  abVec3 now = pair->patch.center;
  if (fabs(pair->patch.area - m->area) <= 0.02 * m->area) return now;
  return v3_norm2(v3_sub(now, p[0])) < v3_norm2(v3_sub(now, p[1])) ? p[0] : p[1];
}

// What rolls or is rolled on. A patch that goes over a body meets ever new points of it; what
// counts as slip is the velocity of whichever is there. With the lever r of the patch, going from
// r0 to r1 while the body turned by the vector a, that adds up to the way of the centre of mass and
// a x (r0 + r1) / 2, instead of that of the point touched first, which is (R - 1) r0. Up to the
// same constant for both bodies:
static abVec3 rolled(const abPatchMemory* m, int k, abQuat q, abVec3 r1) {
  abVec3 r0 = m->lever[k];
  abQuat by = quat_mul(q, quat_conj(m->q[k]));
  abVec3 carried = quat_rotate(by, r0);
  // it does not go over this body
  if (v3_norm2(v3_sub(r1, carried)) <= 0.25 * v3_norm2(v3_sub(carried, r0)))
    return v3_sub(carried, r1);
  abVec3 turn = v3_cross(quat_to_rotvec(by), v3_scale(0.5, v3_add(r0, r1)));
  return v3_add(v3_sub(r0, r1), turn);
}

static Place find_place(const abPair* pair, const abPatchContact* c) {
  const abPatchMemory* m = pair->memory;
  abPose pose[2] = {pair->pose1, pair->pose2};
  abVec3 p[2], n[2], t[2];
  for (int k = 0; k < 2; k++) {
    p[k] = pose_apply(pose[k], m->center[k]);
    n[k] = quat_rotate(pose[k].q, m->normal[k]);
    t[k] = quat_rotate(pose[k].q, m->t1[k]);
  }
  Place place = {.point = {p[0], p[1]}, .center = carried_center(pair, p)};
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
static bool displaced(const abPatchMemory* m, const Place* place, double thin) {
  double way = 0;
  for (int k = 0; k < 3; k++) way = fmax(way, fabs(place->way[k] - m->h * m->V[k]));
  double turn = fabs(place->turn - m->h * m->V[5]);
  return !(way <= 0.1 * fmin(thin, 1e30) && turn <= 0.2);
}

// What the motion of a step adds to its velocities at the start, per h: of second order, and the
// same from step to step for whatever is carried round a corner. Along the normal material points
// tell nothing of what rolls, whose points come and go: there the change of the thickness tells the
// same, or nothing is added.
static void find_drift(const abPair* pair, const Place* place, abPatchContact* c) {
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
static void carry_field(const Place* place, const abPatchContact* c, abVec3 shift, double ratio,
                        const double from[3], double to[3]) {
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
static void recall_bristle(const abPatchSystem* system, const abPair* pair, const Place* place,
                           abPatchContact* c) {
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

// field: the pressure of the last step, of the first target.
static void recall(const abPatchSystem* system, const abPair* pair, const Place* place,
                   abPatchContact* c, double field[3]) {
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
  for (int i = 0; i < 2; i++) carry_field(place, c, shift, ratio, m->pressure[i], law->profile[i]);
  carry_field(place, c, shift, ratio, m->field, field);
  for (int i = 0; i < 3; i++) {
    c->impulse[i] = v3_dot(c->axis[i], w.force);
    c->impulse[3 + i] = v3_dot(c->axis[i], w.torque);
  }
  abVec3 slide = in_plane(place->axis, m->slide);
  c->X[0] = v3_dot(slide, c->axis[0]) - law->bristle[0];
  c->X[1] = v3_dot(slide, c->axis[1]) - law->bristle[1];
  c->X[5] = m->slide[2] - law->bristle[2];
  c->slipping = m->slipping;
  law->was_fine = m->fine;
}

// The normal velocity at which the law gives the pressure field of the last step.
static void recall_state(abPatchContact* c, const double field[3]) {
  const abPatchLaw* law = &c->law;
  double per = 1 / law->weight;
  c->X[2] = law->target[0][0] - per * field[0];
  c->X[3] = law->target[0][2] - per * field[2];
  c->X[4] = per * field[1] - law->target[0][1];
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
static void begin_drift(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  abVec3 drift = guess_drift(system, c);
  bool face = pair->patch.kind == AB_PATCH_SURFACE;
  for (int k = 0; k < (face ? 3 : 2); k++) c->drift[k] = v3_dot(c->axis[k], drift);
}

// The drift of the last step says nothing of this one where an impact has changed the motion or a
// body tumbles: none where one of the two turns by more than AB_PATCH_TUMBLES in the step, and none
// that is far beyond what the velocities of now explain. Along the normal it holds what is carried
// round, both bodies turning alike. Where one rocks on the other, the place at which they touch is
// another one in each step, and the drift of the last one would only add energy: it fades out with
// the share of the turning that is against each other, about axes in the patch.
#define EXPLAINED 4.0
#define ROCKS 0.1

static void check_drift(const abPatchSystem* system, abPatchContact* c, bool fresh) {
  double turn = ab_patch_turning(system, c), size = 0, V[6];
  for (int k = 0; k < 3; k++) size += c->drift[k] * c->drift[k];
  double most = EXPLAINED * v3_norm(guess_drift(system, c)) + system->gravity * system->h;
  bool explained = fresh || sqrt(size) <= most;
  if (turn * system->h > AB_PATCH_TUMBLES || !explained) memset(c->drift, 0, sizeof c->drift);
  ab_patch_relative_at(system->problem, c, false, V);
  double tilt = sqrt(V[3] * V[3] + V[4] * V[4]);
  c->drift[2] *= tilt < ROCKS * turn ? 1 - tilt / (ROCKS * turn) : 0;
}

// A new patch: the pressure that would stop it alone, evenly spread, bounds friction at first. What
// moves across it when it begins to touch slides.
static void begin_fresh(const abPatchSystem* system, abPatchContact* c, double field[3]) {
  abPatchLaw* law = &c->law;
  double V[6], p;
  ab_patch_relative_at(system->problem, c, true, V);
  p = c->push * fmax(0, fmin(law->target[0][0], law->target[1][0]) - V[2]);
  memset(law->bristle, 0, sizeof law->bristle);
  for (int i = 0; i < 2; i++) law->profile[i][0] = p, law->profile[i][1] = law->profile[i][2] = 0;
  memcpy(field, law->profile[0], sizeof law->profile[0]);
  memset(c->impulse, 0, sizeof c->impulse);
  memset(c->X, 0, sizeof c->X);
  law->was_fine = false;
}

// Where nothing presses yet, a patch whose points move faster than a step of free motion could have
// made them slides already.
bool ab_patch_slides(const abPatchContact* c, const double V[6]) {
  const double across[6] = {V[0], V[1], 0, 0, 0, V[5]};
  return ab_patch_speed(c, across) > 1e-3 * c->unit;
}

static void set_sides(const abPatchSystem* system, int index, abPatchContact* c) {
  const abContactProblem* problem = system->problem;
  const abPair* pair = &problem->pair[index];
  const abResponse* r = problem->response;
  int body[2] = {pair->body1, pair->body2};
  c->pair = index;
  for (int k = 0; k < 2; k++) {
    int mover = r->mover_of_body[body[k]];
    c->side[k] = (abPatchSide){.body = body[k],
                               .block = mover < 0 ? -1 : system->block[mover],
                               .n = mover < 0 ? 0 : r->mover[mover].ndof,
                               .r = v3_sub(pair->patch.center, problem->body[body[k]].com),
                               .branch = system->branch[body[k]]};
  }
}

// Stiffness follows the load: a patch that carries a hundred times its own bodies' weight is as
// much stiffer, so that neither depth nor tilt grow with the load, and none lies deeper at rest
// than AB_PATCH_DEPTH of the thinner body.
static double firmness(const abPatchSystem* system, const abPatchContact* c, double load) {
  const double* param = system->param;
  double mass = c->law.moments.m[AB_M_1] * c->push, h = system->h;
  double weight = mass * system->gravity * h, firm = 1;
  if (weight > 0) firm = fmax(firm, load / weight);
  double depth = load * h / (param[AB_PATCH_RECOVERY] * param[AB_PATCH_STIFFNESS] * mass);
  firm = fmax(firm, depth / (AB_PATCH_DEPTH * c->thin));
  return fmin(firm, FIRMEST);
}

static void set_stiffness(const abPatchSystem* system, abPatchContact* c, double load) {
  const double* param = system->param;
  double firm = firmness(system, c, load);
  c->law.weight = param[AB_PATCH_STIFFNESS] * c->push * firm;
  c->law.weight_t = param[AB_PATCH_FRICTION_STIFFNESS] * c->drag * firm;
}

// Effective masses along the normal and across it, and how thin the bodies are.
static void set_scales(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  double part[3], area = c->law.moments.m[AB_M_1];
  const abPatchMemory* m = pair->memory;
  c->thin = m->h > 0 ? m->thin
                     : fmin(extent_along(pair->shape1, pair->pose1, c->axis[2]),
                            extent_along(pair->shape2, pair->pose2, c->axis[2]));
  ab_patch_hold(system->problem, c, part);
  c->push = 1 / (part[2] * area), c->drag = 2 / ((part[0] + part[1]) * area);
}

// The speed that counts as one: what a step of gravity, of the loads in the free motion or of the
// last impulse changes. Nothing is measured by gravity alone.
static double unit_speed(const abPatchSystem* system, const abPatchContact* c, double load) {
  double before[6], after[6];
  ab_patch_relative_at(system->problem, c, false, before);
  ab_patch_relative_at(system->problem, c, true, after);
  double change = 0;
  for (int k = 0; k < 3; k++) change += (after[k] - before[k]) * (after[k] - before[k]);
  double mass = c->push * c->law.moments.m[AB_M_1];
  return fmax(fmax(system->gravity * system->h, sqrt(change)), load / mass) +
         1e-8 * system->problem->length / system->h;
}

// How fast the corner that strikes hardest would go on in.
static double closing_speed(const abPatchSystem* system, const abPatchContact* c) {
  const abPatchLaw* law = &c->law;
  const double(*t)[3] = law->target;
  double V[6], most = 0;
  ab_patch_relative_at(system->problem, c, true, V);
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    double a = t[0][0] + t[0][1] * x + t[0][2] * y, b = t[1][0] + t[1][1] * x + t[1][2] * y;
    most = larger(most, (a < b ? a : b) - (V[2] + V[3] * y - V[4] * x));
  }
  return most;
}

static void set_contact(const abPatchSystem* system, int index, abPatchContact* c, double* store) {
  const abContactProblem* problem = system->problem;
  const abPair* pair = &problem->pair[index];
  const abPatch* patch = &pair->patch;
  abPatchMemory* memory = pair->memory;
  Place place = {0};
  memset(c->drift, 0, sizeof c->drift);
  memset(c->given, 0, sizeof c->given);
  set_sides(system, index, c);
  c->axis[0] = patch->t1, c->axis[1] = patch->t2, c->axis[2] = patch->normal;
  ab_patch_set_area(pair, &c->law, store);
  set_scales(system, pair, c);
  bool fresh = pair->fresh || !(memory->h > 0);
  if (!fresh) place = find_place(pair, c), fresh = displaced(memory, &place, c->thin);
  if (fresh) memset(memory, 0, sizeof *memory);
  double area = c->law.moments.m[AB_M_1];
  double load = fresh ? 0 : memory->load * system->h / memory->h;
  c->load_before = fresh ? 0 : system->h / memory->h * fmax(0, memory->impulse[2]);
  c->unit = unit_speed(system, c, load);
  // a load at rest needs its share of the stiffness, whatever its size
  double borne = load / (c->push * area * firmness(system, c, load));
  set_targets(system, pair, c, fmax(unit_speed(system, c, 0), borne));
  c->part_room = store + ab_patch_store_size(pair) - 4 * (patch->nvert + 2);
  ab_patch_part_area(&c->law, c->part_room);
  double field[3];
  if (fresh) {
    begin_fresh(system, c, field);
    begin_drift(system, pair, c);
    load = fmax(0, c->law.profile[0][0] * area);
    double V[6];
    ab_patch_relative_at(problem, c, false, V);
    c->slipping = ab_patch_slides(c, V);
  } else {
    recall(system, pair, &place, c, field);
  }
  check_drift(system, c, fresh);
  if (c->rebounds) memset(c->drift, 0, sizeof c->drift);
  set_stiffness(system, c, fmax(load, c->push * area * fmax(c->unit, closing_speed(system, c))));
  bool friction = pair->surface.condim != 1 && !c->held;
  c->mu_static = friction ? pair->surface.mu_static : 0;
  c->mu_kinetic = friction ? pair->surface.mu_kinetic : 0;
  c->law.mu = c->slipping ? c->mu_kinetic : c->mu_static;
  if (!fresh) ab_patch_give_until_strike(system, pair, c);
  c->moves = c->slipping && c->law.mu > 0;
  c->face = patch->kind == AB_PATCH_SURFACE, c->line = patch->kind == AB_PATCH_LINE;
  recall_state(c, field);
  c->law.at[0] = c->law.at[1] = 0;
  c->known = c->pinned = false;
  ab_patch_profile_ready(&c->law);
  ab_patch_set_load(&c->law, fmax(load - c->given[2], 1e-9 * c->push * area * c->unit));
  double V[6];
  ab_patch_relative_at(problem, c, false, V);
  ab_patch_choose_rule(&c->law, V);
}

// --- the system
// ----------------------------------------------------------------------------------------

static bool takes_part(const abContactProblem* problem, const abPair* pair) {
  const int* mover = problem->response->mover_of_body;
  return pair->patch.kind != AB_PATCH_NONE && (mover[pair->body1] >= 0 || mover[pair->body2] >= 0);
}

// Most of a tree's velocities do not move a given body: only the columns that do are kept.
static abStatus find_branch(const abContactProblem* problem, int body, const abMover* mover,
                            double* dense, const abPatchBranch** out) {
  const abResponse* r = problem->response;
  int n = mover->ndof, used = 0;
  abPatchBranch* b = AB_TAKE(problem->scratch, abPatchBranch, 1);
  if (!b) return AB_ERROR_MEMORY;
  b->at = AB_TAKE(problem->scratch, int, n);
  b->J = ab_arena_take(problem->scratch, sizeof *b->J * (size_t)n);
  if (!b->at || !b->J) return AB_ERROR_MEMORY;
  ab_response_jacobian(r, body, dense);
  for (int j = 0; j < n; j++) {
    bool moves = false;
    for (int i = 0; i < 6; i++) {
      b->J[used][i] = dense[i * n + j];
      moves |= dense[i * n + j] != 0;
    }
    if (moves) b->at[used++] = j;
  }
  b->n = used;
  ab_response_block(r, body, body, &b->mobility);
  *out = b;
  return AB_OK;
}

static abStatus find_branches(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  system->branch = AB_TAKE(problem->scratch, const abPatchBranch*, problem->nbody);
  if (!system->branch) return AB_ERROR_MEMORY;
  for (int i = 0; i < problem->nbody; i++) system->branch[i] = NULL;
  int most = 0;
  for (int m = 0; m < r->nmover; m++)
    if (r->mover[m].jointed && r->mover[m].ndof > most) most = r->mover[m].ndof;
  double* dense = AB_TAKE(problem->scratch, double, 6 * most);
  if (!dense) return AB_ERROR_MEMORY;
  for (int p = 0; p < problem->npair && most > 0; p++) {
    int body[2] = {problem->pair[p].body1, problem->pair[p].body2};
    for (int k = 0; k < 2; k++) {
      int m = r->mover_of_body[body[k]];
      if (m < 0 || !r->mover[m].jointed || system->branch[body[k]]) continue;
      abStatus status =
          find_branch(problem, body[k], &r->mover[m], dense, &system->branch[body[k]]);
      if (status != AB_OK) return status;
    }
  }
  return AB_OK;
}

// Who touches whom, and the blocks of the islands' systems.
static abStatus join_islands(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  abIslands* islands = &system->islands;
  if (ab_patch_links(system) != AB_OK) return AB_ERROR_MEMORY;
  int nitem = system->ncontact + system->nlink;
  int(*mover)[2] = ab_arena_take(problem->scratch, sizeof(int[2]) * (size_t)nitem);
  system->block = AB_TAKE(problem->scratch, int, r->nmover);
  if (!mover || !system->block) return AB_ERROR_MEMORY;
  for (int i = 0; i < system->ncontact; i++) {
    const abPair* pair = &problem->pair[system->pair[i]];
    mover[i][0] = r->mover_of_body[pair->body1], mover[i][1] = r->mover_of_body[pair->body2];
  }
  for (int i = 0; i < system->nlink; i++)
    memcpy(mover[system->ncontact + i], system->link[i], sizeof(int[2]));
  abStatus status = ab_islands(r->nmover, nitem, (const int(*)[2])mover, problem->scratch, islands);
  if (status != AB_OK) return status;
  for (int i = 0; i < islands->n; i++)
    for (int b = islands->mover_start[i]; b < islands->mover_start[i + 1]; b++)
      system->block[islands->mover[b]] = b - islands->mover_start[i];
  return AB_OK;
}

typedef struct Setting {
  const abPatchSystem* system;
  double** store;
} Setting;

static void set_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Setting* s = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < s->system->ncontact; i++)
    set_contact(s->system, s->system->pair[i], s->system->contact[i], s->store[i]);
}

// Rows come sorted by their movers.
static abStatus sort_rows(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  int n = problem->response->nmover, *start = AB_TAKE(problem->scratch, int, n + 1);
  if (!start) return AB_ERROR_MEMORY;
  for (int m = 0, i = 0; m <= n; m++) {
    while (i < problem->nrow && problem->row[i].mover < m) i++;
    start[m] = i;
  }
  system->row_start = start;
  return AB_OK;
}

abStatus ab_patch_setup(const abContactProblem* problem, abPatchSystem* system) {
  *system = (abPatchSystem){.problem = problem,
                            .h = problem->h,
                            .gravity = v3_norm(problem->gravity),
                            .param = problem->param};
  if (find_branches(system) != AB_OK || sort_rows(system) != AB_OK) return AB_ERROR_MEMORY;
  system->pair = AB_TAKE(problem->scratch, int, problem->npair);
  system->contact = AB_TAKE(problem->scratch, abPatchContact*, problem->npair);
  double** store = AB_TAKE(problem->scratch, double*, problem->npair);
  if (!store || !system->pair || !system->contact) return AB_ERROR_MEMORY;
  for (int p = 0; p < problem->npair; p++)
    if (takes_part(problem, &problem->pair[p])) system->pair[system->ncontact++] = p;
  if (join_islands(system) != AB_OK) return AB_ERROR_MEMORY;
  abPatchContact* contact = AB_TAKE(problem->scratch, abPatchContact, system->ncontact);
  if (!contact) return AB_ERROR_MEMORY;
  for (int i = 0; i < system->ncontact; i++) {
    system->contact[i] = &contact[i];
    store[i] =
        AB_TAKE(problem->scratch, double, ab_patch_store_size(&problem->pair[system->pair[i]]));
    if (!store[i]) return AB_ERROR_MEMORY;
  }
  Setting setting = {system, store};
  ab_pool_run(problem->pool, ab_patch_chunks(system->ncontact), set_chunk, &setting);
  return AB_OK;
}

// --- islands
// --------------------------------------------------------------------------------------------

static abStatus add_tree(abPatchIsland* island, int b, abArena* arena) {
  const abPatchSystem* system = island->system;
  const abResponse* r = system->problem->response;
  int n = island->size[b];
  double* M = AB_TAKE(arena, double, n* n);
  double* L = AB_TAKE(arena, double, n* n);
  double* D = AB_TAKE(arena, double, n);
  if (!M || !L || !D) return AB_ERROR_MEMORY;
  ab_response_inertia(r, island->mover[b], M);
  memcpy(L, M, sizeof(double) * (size_t)(n * n));
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, D[i] = M[i * n + i]);
  int first = system->row_start[island->mover[b]], last = system->row_start[island->mover[b] + 1];
  for (int i = first; i < last; i++) {
    const abRow* row = &system->problem->row[i];
    for (int k = 0; k < row->n && row->assumed == AB_BRANCH_INSIDE; k++)
      D[row->dof + k] -= row->weight * row->s[k] * row->s[k];
  }
  // what is left of a difference of large numbers is at least the rounding of the large one
  for (int i = 0; i < n; i++) D[i] = fmax(D[i], 1e-9 * M[i * n + i]);
  island->nregularised += dense_cholesky_mirrored(n, L, NULL, DBL_EPSILON * DBL_EPSILON * most);
  island->inertia[b] = M;
  island->factor[b] = L;
  island->diagonal[b] = D;
  return AB_OK;
}

static abStatus add_rows(abPatchIsland* island, abArena* arena) {
  const abPatchSystem* system = island->system;
  for (int b = 0; b < island->nblock; b++)
    island->nrow += system->row_start[island->mover[b] + 1] - system->row_start[island->mover[b]];
  island->row = AB_TAKE(arena, abPatchRow, island->nrow);
  if (!island->row) return AB_ERROR_MEMORY;
  for (int b = 0, n = 0; b < island->nblock; b++)
    for (int i = system->row_start[island->mover[b]]; i < system->row_start[island->mover[b] + 1];
         i++) {
      const abRow* row = &system->problem->row[i];
      island->row[n++] = (abPatchRow){.row = row, .at = island->offset[b] + row->dof, .block = b};
    }
  return AB_OK;
}

static bool take_vectors(abPatchIsland* island, abArena* arena) {
  int n = island->ndof;
  island->v = AB_TAKE(arena, double, n);
  island->v_free = AB_TAKE(arena, double, n);
  island->shift = AB_TAKE(arena, double, n);
  island->gradient = AB_TAKE(arena, double, n);
  island->direction = AB_TAKE(arena, double, n);
  island->momentum = AB_TAKE(arena, double, n);
  island->scale = AB_TAKE(arena, double, island->nblock);
  island->mass = AB_TAKE(arena, double, island->nblock);
  if (!island->shift) return false;
  memset(island->shift, 0, sizeof(double) * (size_t)n);
  return island->v && island->v_free && island->gradient && island->direction && island->momentum &&
         island->scale && island->mass;
}

abStatus ab_patch_island(abPatchSystem* system, int index, abPatchIsland* island) {
  const abContactProblem* problem = system->problem;
  const abIslands* islands = &system->islands;
  const abResponse* r = problem->response;
  abArena* arena = problem->scratch;
  int first = islands->mover_start[index], nblock = islands->mover_start[index + 1] - first;
  int pair0 = islands->pair_start[index], nitem = islands->pair_start[index + 1] - pair0;
  int ncontact = 0;  // behind them the edges of laws
  while (ncontact < nitem && islands->pair[pair0 + ncontact] < system->ncontact) ncontact++;
  int* size = AB_TAKE(arena, int, nblock);
  int* offset = AB_TAKE(arena, int, nblock + 1);
  *island = (abPatchIsland){.system = system,
                            .ncontact = ncontact,
                            .nblock = nblock,
                            .mover = islands->mover + first,
                            .size = size,
                            .offset = offset};
  island->contact = AB_TAKE(arena, abPatchContact*, ncontact);
  island->inertia = AB_TAKE(arena, const double*, nblock);
  island->factor = AB_TAKE(arena, const double*, nblock);
  island->diagonal = AB_TAKE(arena, const double*, nblock);
  if (!size || !offset || !island->contact || !island->inertia || !island->factor ||
      !island->diagonal)
    return AB_ERROR_MEMORY;
  for (int i = 0; i < ncontact; i++) island->contact[i] = system->contact[islands->pair[pair0 + i]];
  offset[0] = 0;
  for (int b = 0; b < nblock; b++) {
    size[b] = r->mover[island->mover[b]].ndof;
    offset[b + 1] = offset[b] + size[b];
    island->inertia[b] = island->factor[b] = island->diagonal[b] = NULL;
  }
  island->ndof = offset[nblock];
  if (!take_vectors(island, arena) || add_rows(island, arena) != AB_OK ||
      ab_patch_joins(island, nitem - ncontact, islands->pair + pair0 + ncontact, arena) != AB_OK)
    return AB_ERROR_MEMORY;
  for (int b = 0; b < nblock; b++) {
    const abMover* m = &r->mover[island->mover[b]];
    memcpy(island->v_free + offset[b], problem->v_free + m->dof0, sizeof(double) * (size_t)m->ndof);
    island->mass[b] = 0;
    for (int i = 0; i < m->nbody; i++) island->mass[b] += r->mass[m->body0 + i];
    if (m->jointed && add_tree(island, b, arena) != AB_OK) return AB_ERROR_MEMORY;
  }
  return ab_patch_columns(island, arena);
}
