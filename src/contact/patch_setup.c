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

// e^T Phi e: the change of velocity at the patch's centre along e by a unit impulse along e.
static double mobility(const abContactProblem* problem, const abPatchSide* side, abVec3 e) {
  if (side->block < 0) return 0;
  const abResponse* r = problem->response;
  abVec3 torque = v3_cross(side->r, e);
  if (!side->J)
    return r->inv_mass[side->body] + v3_dot(torque, m3_apply(&r->inv_inertia[side->body], torque));
  abMat6 block;
  ab_response_block(r, side->body, side->body, &block);
  abWrench w = {e, torque};
  return twist_power(m6_apply_wrench(&block, w), w);
}

static void relative_at(const abContactProblem* problem, const abPatchContact* c, bool free_motion,
                        double V[6]) {
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

// Rebound: a target of e times the approach velocity, lowered so that kinetic energy plus the work
// against the free acceleration a during the step does not exceed e^2 times that of the approach:
// v^2 / 2 - a h v <= e^2 u^2 / 2.
static bool add_restitution(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                            double slop) {
  double e = pair->surface.restitution;
  if (!(e > 0)) return false;
  abPatchLaw* law = &c->law;
  double before[6], after[6], A = law->moments.m[AB_M_1];
  relative_at(system->problem, c, false, before);
  relative_at(system->problem, c, true, after);
  double cx = law->moments.m[AB_M_X] / A, cy = law->moments.m[AB_M_Y] / A;
  double approach = -(before[2] + before[3] * cy - before[4] * cx);
  double gain = after[2] - before[2];  // a h
  // Slower than what the free motion gains in two steps, or what crosses the slop in one, is rest.
  if (!(approach > 2 * fabs(gain) && approach > 0.1 * slop / system->h)) return false;
  double lowered = gain < 0 ? gain + sqrt(gain * gain + e * e * approach * approach) : e * approach;
  double ratio = lowered / approach;
  double target[3] = {-ratio * before[2], ratio * before[4], -ratio * before[3]};
  double old = fmin(law->target[0][0] + law->target[0][1] * cx + law->target[0][2] * cy,
                    law->target[1][0] + law->target[1][1] * cx + law->target[1][2] * cy);
  if (target[0] + target[1] * cx + target[2] * cy <= old) return false;
  for (int i = 0; i < 2; i++) memcpy(law->target[i], target, sizeof target);
  return true;
}

// Depth beyond the slop is an accident (a fast impact, a bad start): it is taken back no faster
// than a step of free fall, or a four hundredth of the thinner body per step, so that recovery
// neither throws a body off nor adds more energy in a step than lifting it by that much.
static void limit_recovery(abPatchLaw* law, double most) {
  double speed = 0, *t = law->target[0];
  for (int i = 0; i < law->ncorner; i++)
    speed = larger(speed, t[0] + t[1] * law->x[i] + t[2] * law->y[i]);
  if (speed > most)
    for (int k = 0; k < 3; k++) t[k] *= most / speed;
}

static void set_targets(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                        double thickness) {
  const abPatch* p = &pair->patch;
  abPatchLaw* law = &c->law;
  double h = system->h;
  // The slop is what free fall covers in two steps, so that a resting patch stays whole; but at
  // most a hundredth of the thinner body, and not so thin that coordinates' rounding shows.
  double fall = system->gravity * h * h, slop = system->param[AB_PATCH_SLOP] * fall;
  if (isfinite(thickness)) {
    slop = fmin(fmax(slop, 1e-5 * thickness), 1e-2 * thickness);
    fall = fmin(fmax(fall, 2.5e-6 * thickness), 2.5e-3 * thickness);
  }
  double rate[2] = {system->param[AB_PATCH_RECOVERY] / h, 1 / h};
  for (int i = 0; i < 2; i++) {
    law->target[i][0] = rate[i] * (p->h0 - slop);
    law->target[i][1] = rate[i] * p->hx;
    law->target[i][2] = rate[i] * p->hy;
  }
  limit_recovery(law, fall / h);
  memcpy(c->plain, law->target, sizeof c->plain);
  c->rebounds = add_restitution(system, pair, c, slop);
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
    relative_at(problem, c, false, before);
    relative_at(problem, c, true, free);
    for (int k = 0; k < 6; k++) {
      sum += c->impulse[k] * (before[k] + 0.5 * (c->V[k] - free[k]));
      size += fabs(c->impulse[k] * before[k]);
    }
  }
  double fall = island->system->gravity * island->system->h;
  for (int b = 0; b < island->nblock; b++) sum -= 0.5 * ab_patch_mass(island, b) * fall * fall;
  return size > 0 ? sum / size : 0;
}

// Some work is fair: what lies deeper than it should is lifted a little in every step.
bool ab_patch_gains(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->v, island->contact[i]->V);
  return ab_patch_work(island) > 1e-3;
}

// An affine field in the coordinates remembered, in those of now.
static void carry_field(const abPatchMemory* m, const abPatchContact* c, abVec3 shift, double ratio,
                        const double from[3], double to[3]) {
  abVec3 t2 = v3_cross(m->normal, m->t1);
  abVec3 slope = v3_add(v3_scale(from[1], m->t1), v3_scale(from[2], t2));
  to[0] = ratio * (from[0] + v3_dot(slope, shift));
  to[1] = ratio * v3_dot(slope, c->axis[0]);
  to[2] = ratio * v3_dot(slope, c->axis[1]);
}

static abVec3 in_plane(const abVec3 axis[3], const double x[2]) {
  return v3_add(v3_scale(x[0], axis[0]), v3_scale(x[1], axis[1]));
}

// field: the pressure of the last step, of the first target.
static void recall(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                   double field[3]) {
  const abPatchMemory* m = pair->memory;
  abPatchLaw* law = &c->law;
  double k = system->param[AB_PATCH_RECOVERY] / system->h;
  abVec3 shift = v3_sub(pair->patch.center, m->center);
  abVec3 axis[3] = {m->t1, v3_cross(m->normal, m->t1), m->normal};
  abVec3 turned = v3_scale(m->bristle[2], m->normal);
  abVec3 bristle = v3_add(in_plane(axis, m->bristle), v3_cross(turned, shift));
  law->bristle[0] = k * v3_dot(bristle, c->axis[0]);
  law->bristle[1] = k * v3_dot(bristle, c->axis[1]);
  law->bristle[2] = k * m->bristle[2];
  double ratio = system->h / m->h;
  abWrench w = wrench_zero();
  for (int i = 0; i < 3; i++) {
    w.force = v3_axpy(ratio * m->impulse[i], axis[i], w.force);
    w.torque = v3_axpy(ratio * m->impulse[3 + i], axis[i], w.torque);
  }
  w = wrench_move(w, shift);
  for (int i = 0; i < 2; i++) carry_field(m, c, shift, ratio, m->pressure[i], law->profile[i]);
  carry_field(m, c, shift, ratio, m->field, field);
  for (int i = 0; i < 3; i++) {
    c->impulse[i] = v3_dot(c->axis[i], w.force);
    c->impulse[3 + i] = v3_dot(c->axis[i], w.torque);
  }
  abVec3 slide = in_plane(axis, m->slide);
  c->state[0] = v3_dot(slide, c->axis[0]) - law->bristle[0];
  c->state[1] = v3_dot(slide, c->axis[1]) - law->bristle[1];
  c->state[5] = m->slide[2] - law->bristle[2];
  c->slipping = m->slipping;
  law->was_fine = m->fine;
  c->newton_wait = m->newton_wait;
  c->age = m->age;
}

// The normal velocity at which the law gives the pressure field of the last step.
static void recall_state(abPatchContact* c, const double field[3]) {
  const abPatchLaw* law = &c->law;
  double per = 1 / law->weight;
  c->state[2] = law->target[0][0] - per * field[0];
  c->state[3] = law->target[0][2] - per * field[2];
  c->state[4] = per * field[1] - law->target[0][1];
}

// A new patch: the pressure that would stop it alone, evenly spread, bounds friction at first.
static void begin_fresh(const abPatchSystem* system, abPatchContact* c, double push,
                        double field[3]) {
  abPatchLaw* law = &c->law;
  double V[6];
  relative_at(system->problem, c, true, V);
  double target = fmin(law->target[0][0], law->target[1][0]);
  double p = push * fmax(0, target - V[2]);
  memset(law->bristle, 0, sizeof law->bristle);
  for (int i = 0; i < 2; i++) law->profile[i][0] = p, law->profile[i][1] = law->profile[i][2] = 0;
  memcpy(field, law->profile[0], sizeof law->profile[0]);
  memset(c->impulse, 0, sizeof c->impulse);
  memset(c->state, 0, sizeof c->state);
  c->slipping = law->was_fine = false;
  c->newton_wait = 0;
  c->age = 0;
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
                               .J = system->jacobian[body[k]]};
  }
}

// Stiffness follows the load: a patch that carries a hundred times its own bodies' weight is as
// much stiffer, so that neither depth nor tilt grow with the load.
static void set_stiffness(const abPatchSystem* system, abPatchContact* c, double load) {
  double weight = c->law.moments.m[AB_M_1] * c->push * system->gravity * system->h;
  double firm = weight > 0 ? fmax(1, load / weight) : 1;
  c->law.weight = system->param[AB_PATCH_STIFFNESS] * c->push * firm;
  c->law.weight_t = system->param[AB_PATCH_FRICTION_STIFFNESS] * c->drag * firm;
}

static void set_contact(const abPatchSystem* system, int index, abPatchContact* c, double* store) {
  const abContactProblem* problem = system->problem;
  const abPair* pair = &problem->pair[index];
  const abPatch* patch = &pair->patch;
  abPatchMemory* memory = pair->memory;
  c->kept = c->near.known = c->still = c->woken = false;
  set_sides(system, index, c);
  c->axis[0] = patch->t1, c->axis[1] = patch->t2, c->axis[2] = patch->normal;
  ab_patch_set_area(pair, &c->law, store);
  double part[3] = {0};
  for (int k = 0; k < 2; k++)
    for (int e = 0; e < 3; e++) part[e] += mobility(problem, &c->side[k], c->axis[e]);
  double area = c->law.moments.m[AB_M_1];
  c->push = 1 / (part[2] * area), c->drag = 2 / ((part[0] + part[1]) * area);
  bool fresh = pair->fresh || !(memory->h > 0);
  if (fresh) {
    memset(memory, 0, sizeof *memory);
    memory->thickness = fmin(extent_along(pair->shape1, pair->pose1, patch->normal),
                             extent_along(pair->shape2, pair->pose2, patch->normal));
  }
  set_targets(system, pair, c, memory->thickness);
  c->part_room = store + ab_patch_store_size(pair) - 4 * (patch->nvert + 2);
  ab_patch_part_area(&c->law, c->part_room);
  double field[3];
  if (fresh)
    begin_fresh(system, c, c->push, field);
  else
    recall(system, pair, c, field);
  double load = fresh ? fmax(0, c->law.profile[0][0] * area) : memory->load * system->h / memory->h;
  set_stiffness(system, c, load);
  bool friction = pair->surface.condim != 1;
  c->mu_static = friction ? pair->surface.mu_static : 0;
  c->mu_kinetic = friction ? pair->surface.mu_kinetic : 0;
  c->law.mu = c->slipping ? c->mu_kinetic : c->mu_static;
  recall_state(c, field);
  ab_patch_profile_ready(&c->law);
  ab_patch_set_load(&c->law, load);
  double V[6];
  relative_at(problem, c, false, V);
  ab_patch_choose_rule(&c->law, V);
}

// --- a contact that is kept
// ---------------------------------------------------------------------------------------------

static bool same_profile(const abPatchLaw* law, const double now[2][3]) {
  const double* m = law->moments.m;
  double r2 = (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1], most = 0, change = 0;
  for (int k = 0; k < 2; k++) {
    const double* p = law->profile[k];
    double d[3] = {now[k][0] - p[0], now[k][1] - p[1], now[k][2] - p[2]};
    most += p[0] * p[0] + r2 * (p[1] * p[1] + p[2] * p[2]);
    change += d[0] * d[0] + r2 * (d[1] * d[1] + d[2] * d[2]);
  }
  return change <= AB_PATCH_SAME * AB_PATCH_SAME * most;
}

// The contact of the last step, of a pair whose patch has since only followed its bodies: axes,
// area and its parts are the same; the line between the parts, on which both targets are zero, has
// moved as little as the bodies. All else goes on as in set_contact.
static void follow_contact(const abPatchSystem* system, int index, abPatchContact* c) {
  const abPair* pair = &system->problem->pair[index];
  const abPatchMemory* memory = pair->memory;
  abPatchLaw* law = &c->law;
  double load = law->mu > 0 ? law->load : memory->load;
  double weight = law->weight, mu = law->mu;
  c->kept = true;
  c->still = c->woken = false;
  set_sides(system, index, c);
  set_targets(system, pair, c, memory->thickness);
  set_stiffness(system, c, load);
  law->mu = c->slipping ? c->mu_kinetic : c->mu_static;
  c->age = memory->age;
  c->state[0] = c->slide[0] - law->bristle[0];
  c->state[1] = c->slide[1] - law->bristle[1];
  c->state[5] = c->slide[2] - law->bristle[2];
  recall_state(c, memory->field);
  if (!same_profile(law, (const double(*)[3])memory->pressure)) {
    memcpy(law->profile, memory->pressure, sizeof law->profile);
    law->was_fine = law->use_fine;
    law->use_fine = false;
    ab_patch_profile_ready(law);
    c->near.known = false;
  }
  ab_patch_set_load(law, load);
  bool fine = law->use_fine;
  ab_patch_choose_rule(law, c->V);
  if (law->use_fine != fine || law->weight != weight || law->mu != mu || c->rebounds)
    c->near.known = false;
}

// --- the system
// ----------------------------------------------------------------------------------------

static bool takes_part(const abContactProblem* problem, const abPair* pair) {
  const int* mover = problem->response->mover_of_body;
  return pair->patch.kind != AB_PATCH_NONE && (mover[pair->body1] >= 0 || mover[pair->body2] >= 0);
}

static abStatus find_jacobians(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  system->jacobian = AB_TAKE(problem->scratch, const double*, problem->nbody);
  if (!system->jacobian) return AB_ERROR_MEMORY;
  for (int i = 0; i < problem->nbody; i++) system->jacobian[i] = NULL;
  bool jointed = false;
  for (int m = 0; m < r->nmover; m++) jointed |= r->mover[m].jointed;
  for (int p = 0; p < problem->npair && jointed; p++) {
    int body[2] = {problem->pair[p].body1, problem->pair[p].body2};
    for (int k = 0; k < 2; k++) {
      int mover = r->mover_of_body[body[k]];
      if (mover < 0 || !r->mover[mover].jointed || system->jacobian[body[k]]) continue;
      double* J = AB_TAKE(problem->scratch, double, 6 * r->mover[mover].ndof);
      if (!J) return AB_ERROR_MEMORY;
      ab_response_jacobian(r, body[k], J);
      system->jacobian[body[k]] = J;
    }
  }
  return AB_OK;
}

// Who touches whom, and the blocks of the islands' systems.
static abStatus join_islands(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  abIslands* islands = &system->islands;
  int(*mover)[2] = ab_arena_take(problem->scratch, sizeof(int[2]) * (size_t)system->ncontact);
  system->block = AB_TAKE(problem->scratch, int, r->nmover);
  if (!mover || !system->block) return AB_ERROR_MEMORY;
  for (int i = 0; i < system->ncontact; i++) {
    const abPair* pair = &problem->pair[system->pair[i]];
    mover[i][0] = r->mover_of_body[pair->body1], mover[i][1] = r->mover_of_body[pair->body2];
  }
  abStatus status =
      ab_islands(r->nmover, system->ncontact, (const int(*)[2])mover, problem->scratch, islands);
  if (status != AB_OK) return status;
  for (int i = 0; i < islands->n; i++)
    for (int b = islands->mover_start[i]; b < islands->mover_start[i + 1]; b++)
      system->block[islands->mover[b]] = b - islands->mover_start[i];
  return AB_OK;
}

typedef struct Place {
  bool kept, still;
  double* store;
} Place;

typedef struct Setting {
  const abPatchSystem* system;
  const Place* place;
} Setting;

static void set_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Setting* s = context;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < s->system->ncontact; i++) {
    const Place* p = &s->place[i];
    if (p->still) continue;  // ab_patch_find_blocks
    if (p->kept)
      follow_contact(s->system, s->system->pair[i], s->system->contact[i]);
    else
      set_contact(s->system, s->system->pair[i], s->system->contact[i], p->store);
  }
}

// The place of a contact that is still, else 0; what is remembered of one that was is made new.
static int still_place(const abPatchSystem* system, abPatchPlaces* places, int index) {
  const abContactProblem* problem = system->problem;
  int at = problem->still ? problem->still[index] : 0;
  if (at == 0) return 0;
  abPatchMemory* memory = problem->pair[index].memory;
  if (at > 0) {
    ab_patch_place_stay(places, at);
    return at;
  }
  double* store;
  at = -at;
  abPatchContact* c = ab_patch_place(places, at, &store);
  c->pair = index;
  ab_patch_resume(system, c, memory);
  ab_patch_place_resume(places, at, memory);
  return 0;
}

// Contacts that are kept are where they are; the others get room.
static abStatus place_contacts(abPatchSystem* system, Place* place) {
  const abContactProblem* problem = system->problem;
  abPatchPlaces* places = ab_patch_places(problem);
  for (int i = 0; i < system->ncontact; i++) {
    int at = still_place(system, places, system->pair[i]);
    place[i].still = at > 0;
    place[i].kept = at > 0;
    if (at > 0) system->contact[i] = ab_patch_place(places, at, &place[i].store);
    if (at > 0) continue;
    const abPair* pair = &problem->pair[system->pair[i]];
    const abPatchMemory* memory = pair->memory;
    if (places && pair->kept && memory->h == system->h) at = ab_patch_place_find(places, memory);
    place[i].kept = at > 0;
    system->contact[i] = at > 0 ? ab_patch_place(places, at, &place[i].store) : NULL;
  }
  for (int i = 0; i < system->ncontact; i++) {
    if (place[i].kept) continue;
    const abPair* pair = &problem->pair[system->pair[i]];
    int at = 0;
    if (places && pair->patch.nvert <= AB_PATCH_CORNERS) at = ab_patch_place_take(places);
    abPatchContact* c = at > 0 ? ab_patch_place(places, at, &place[i].store)
                               : AB_TAKE(problem->scratch, abPatchContact, 1);
    if (at == 0) place[i].store = AB_TAKE(problem->scratch, double, ab_patch_store_size(pair));
    if (!c || !place[i].store) return AB_ERROR_MEMORY;
    system->contact[i] = c;
    c->place = at;
  }
  return AB_OK;
}

abStatus ab_patch_setup(const abContactProblem* problem, abPatchSystem* system) {
  *system = (abPatchSystem){.problem = problem,
                            .h = problem->h,
                            .gravity = v3_norm(problem->gravity),
                            .param = problem->param};
  if (find_jacobians(system) != AB_OK) return AB_ERROR_MEMORY;
  Place* place = AB_TAKE(problem->scratch, Place, problem->npair);
  system->pair = AB_TAKE(problem->scratch, int, problem->npair);
  system->contact = AB_TAKE(problem->scratch, abPatchContact*, problem->npair);
  system->pressure =
      ab_arena_take(problem->scratch, sizeof *system->pressure * (size_t)problem->npair);
  if (!place || !system->pair || !system->contact || !system->pressure) return AB_ERROR_MEMORY;
  for (int p = 0; p < problem->npair; p++)
    if (takes_part(problem, &problem->pair[p])) system->pair[system->ncontact++] = p;
  if (join_islands(system) != AB_OK || place_contacts(system, place) != AB_OK)
    return AB_ERROR_MEMORY;
  system->debts = ab_patch_debts(problem);
  Setting setting = {system, place};
  ab_pool_run(problem->pool, ab_patch_chunks(system->ncontact), set_chunk, &setting);
  return AB_OK;
}

void ab_patch_find_blocks(abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  const abResponse* r = system->problem->response;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (!c->still) continue;
    int pair = system->pair[island->index[i]];
    if (c->pair != pair) c->pair = pair;  // mostly it is, and the memory is left as it was
    for (int k = 0; k < 2; k++) {
      int mover = r->mover_of_body[c->side[k].body], block = mover < 0 ? -1 : system->block[mover];
      if (c->side[k].block != block) c->side[k].block = block;
    }
  }
}

// --- islands
// --------------------------------------------------------------------------------------------

static abStatus add_tree(abPatchIsland* island, int b, abArena* arena) {
  const abResponse* r = island->system->problem->response;
  int n = island->size[b];
  double* M = AB_TAKE(arena, double, n* n);
  double* L = AB_TAKE(arena, double, n* n);
  if (!M || !L) return AB_ERROR_MEMORY;
  ab_response_inertia(r, island->mover[b], M);
  memcpy(L, M, sizeof(double) * (size_t)(n * n));
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, M[i * n + i]);
  island->nregularised += dense_cholesky(n, L, DBL_EPSILON * DBL_EPSILON * most);
  island->inertia[b] = M;
  island->factor[b] = L;
  return AB_OK;
}

abStatus ab_patch_island(abPatchSystem* system, int index, abPatchIsland* island) {
  const abContactProblem* problem = system->problem;
  const abIslands* islands = &system->islands;
  const abResponse* r = problem->response;
  abArena* arena = problem->scratch;
  int first = islands->mover_start[index], nblock = islands->mover_start[index + 1] - first;
  int pair0 = islands->pair_start[index], ncontact = islands->pair_start[index + 1] - pair0;
  int* size = AB_TAKE(arena, int, nblock);
  int* offset = AB_TAKE(arena, int, nblock + 1);
  *island = (abPatchIsland){.system = system,
                            .ncontact = ncontact,
                            .nblock = nblock,
                            .index = islands->pair + pair0,
                            .mover = islands->mover + first,
                            .size = size,
                            .offset = offset};
  island->contact = AB_TAKE(arena, abPatchContact*, ncontact);
  island->inertia = AB_TAKE(arena, const double*, nblock);
  island->factor = AB_TAKE(arena, const double*, nblock);
  if (!size || !offset || !island->contact || !island->inertia || !island->factor)
    return AB_ERROR_MEMORY;
  for (int i = 0; i < ncontact; i++) island->contact[i] = system->contact[island->index[i]];
  offset[0] = 0;
  for (int b = 0; b < nblock; b++) {
    size[b] = r->mover[island->mover[b]].ndof;
    offset[b + 1] = offset[b] + size[b];
    island->inertia[b] = island->factor[b] = NULL;
  }
  int n = island->ndof = offset[nblock];
  island->v = AB_TAKE(arena, double, n);
  island->v_free = AB_TAKE(arena, double, n);
  if (!island->v || !island->v_free) return AB_ERROR_MEMORY;
  for (int b = 0; b < nblock; b++) {
    const abMover* m = &r->mover[island->mover[b]];
    memcpy(island->v_free + offset[b], problem->v_free + m->dof0, sizeof(double) * (size_t)m->ndof);
    if (m->jointed && add_tree(island, b, arena) != AB_OK) return AB_ERROR_MEMORY;
  }
  ab_patch_pay(island);
  return AB_OK;
}

abStatus ab_patch_open(abPatchIsland* island, abArena* scratch) {
  island->scratch = scratch;
  island->scale = AB_TAKE(scratch, double, island->nblock);
  island->gradient = AB_TAKE(scratch, double, island->ndof);
  island->direction = AB_TAKE(scratch, double, island->ndof);
  island->momentum = AB_TAKE(scratch, double, island->ndof);
  bool enough = island->scale && island->gradient && island->direction && island->momentum;
  return enough ? AB_OK : AB_ERROR_MEMORY;
}
