// From the pairs of a step to the contacts and islands of the model `patch`.
// Tests: test_patch, test_patch_stories.
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/simd.h"
#include "branch.h"
#include "contact/patch/patch.h"
#include "math/spatial.h"

// As fmax, but an instruction.
static inline double larger(double a, double b) { return a > b ? a : b; }

// --- one contact
// ---------------------------------------------------------------------------------------

// Extent of a convex shape along a direction of the world.
static double extent_along(const abShape* shape, abPose pose, abVec3 direction) {
  if (!shape || shape->type == AB_SHAPE_PLANE) return INFINITY;
  if (!shape->poly) return 2 * shape->size.x;
  abVec3 d = quat_rotate(quat_conj(pose.q), direction);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < shape->poly->nvert; i++) {
    double s = v3_dot(d, shape->poly->vert[i]);
    low = fmin(low, s), high = fmax(high, s);
  }
  return high - low;
}

// Relative twist at the patch, without the drift.
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

static void find_motion(const abContactProblem* problem, abPatchContact* c) {
  relative_at(problem, c, false, c->start);
  relative_at(problem, c, true, c->free);
}

double ab_patch_recovery_time(const abContactProblem* problem, double thin) {
  double g = v3_norm(problem->gravity);
  return g > 0 ? fmin(AB_PATCH_RECOVERY_TIME, sqrt(thin / g)) : AB_PATCH_WEIGHTLESS_TIME;
}

// How fast a depth that no load explains is taken back. What the bodies began with comes out as a
// film of their fall would, run backwards, and somewhat slower: none is thrown higher than it is
// deep. What motion brought comes out within the recovery time, or later.
static double parting_speed(const abPatchSystem* system, const abPatchContact* c, double depth) {
  double time = ab_patch_recovery_time(system->problem, c->thin);
  if (!c->sunk) return fmin(1, fmax(0, depth) / (AB_PATCH_SHALLOW * c->thin)) * depth / time;
  return fmax(AB_PATCH_RISES * sqrt(2 * system->gravity * fmax(0, depth)), depth / time);
}

// The speed at which depth is taken back is limited: to a small part of what the free motion or the
// load carried change in a step, so that nobody is thrown off and lifting adds next to no energy,
// and to that at which depth that nothing explains parts. Joints turn no faster by it than
// AB_PATCH_TURN.
static void limit_recovery(const abPatchSystem* system, abPatchContact* c, double depth,
                           double unit) {
  abPatchLaw* law = &c->law;
  double fastest = 0, *t = law->target[0];
  double out = parting_speed(system, c, depth), turn = AB_PATCH_TURN * c->reach;
  for (int i = 0; i < law->ncorner; i++)
    fastest = larger(fastest, t[0] + t[1] * law->x[i] + t[2] * law->y[i]);
  double scale = 1, most = fmin(fmax(AB_PATCH_LIFT * unit, out), turn),
         all = fmin(fmax(AB_PATCH_LIFT_ALL * unit, out), turn);
  if (fastest > most) scale = most / fastest;
  if (t[0] * scale > all) scale = all / t[0];
  for (int k = 0; k < 3 && scale < 1; k++) t[k] *= scale;
}

// Depth that a contact of free bodies begins with was not made by motion: more than the last step
// can have brought. (With joints it may not come out at all: hold.c.)
static bool is_sunk(const abPatchSystem* system, const abPair* pair, const abPatchContact* c,
                    bool found) {
  const abPatchMemory* m = pair->memory;
  double depth = pair->patch.depth;
  if (c->side[0].branch || c->side[1].branch) return false;
  if (!found) return m->sunk && depth > AB_PATCH_OUT * c->thin;
  double way = system->h * ab_patch_speed(c, c->start);
  return depth > fmax(2 * way, AB_PATCH_SUNK * c->thin);
}

static void set_targets(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                        double unit, bool alone) {
  const abPatch* p = &pair->patch;
  abPatchLaw* law = &c->law;
  double rate[2] = {system->param[AB_PATCH_RECOVERY] / system->h, 1 / system->h};
  double thickness[3] = {p->h0, p->hx, p->hy};
  for (int k = 0; k < 3 && c->rest > 0; k++) thickness[k] -= c->rests[k];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) law->target[i][k] = rate[i] * thickness[k];
  limit_recovery(system, c, p->depth - c->rest, unit);
  for (int k = 0; k < 3; k++) law->target[0][k] *= c->slowed;
  for (int i = 0; i < 2 && c->held; i++)  // nothing is asked of it, whatever the depth
    law->target[i][0] = AB_PATCH_NEVER_PRESSES, law->target[i][1] = law->target[i][2] = 0;
  ab_patch_set_aims(law);
  c->rebounds = ab_patch_add_restitution(system, pair, c, alone);
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
  double mass = c->mass, h = system->h;
  double weight = mass * system->gravity * h, firm = 1;
  if (weight > 0) firm = fmax(firm, load / weight);
  double depth = load * h / (param[AB_PATCH_RECOVERY] * param[AB_PATCH_STIFFNESS] * mass);
  firm = fmax(firm, depth / (AB_PATCH_DEPTH * c->thin));
  return fmin(firm, AB_PATCH_FIRMEST);
}

static void set_stiffness(const abPatchSystem* system, abPatchContact* c, double load) {
  const double* param = system->param;
  c->stiff_for = load;
  double firm = firmness(system, c, load);
  c->law.stiffness = param[AB_PATCH_STIFFNESS] * c->mass * firm;
  c->law.stiffness_t = param[AB_PATCH_FRICTION_STIFFNESS] * c->mass_t * firm;
}

// How fast the corner that presses hardest goes on in.
static double fastest_in(const abPatchContact* c, const double V[6]) {
  const abPatchLaw* law = &c->law;
  double most = 0;
  for (int i = 0; i < law->ncorner; i++)
    most = larger(most, law->aim[i] - (V[2] + V[3] * law->y[i] - V[4] * law->x[i]));
  return most;
}

static void change_stiffness(const abPatchSystem* system, abPatchContact* c, double load) {
  set_stiffness(system, c, load);
  ab_patch_set_load(&c->law, c->law.load);
  c->known = false;
}

// Stiffness follows the load of this step, too: of a contact that somebody strikes through its
// neighbour nobody knows when the step begins.
bool ab_patch_stiffen(abPatchIsland* island) {
  bool any = false;
  if (island->soft) return false;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (c->held || !(c->impulse[2] > AB_PATCH_UNFORESEEN * c->stiff_for)) continue;
    change_stiffness(island->system, c, c->impulse[2]);
    any = true;
  }
  return any;
}

// As stiff as foreseen, from now on.
void ab_patch_soften(abPatchIsland* island) {
  island->soft = true;
  for (int i = 0; i < island->ncontact; i++)
    change_stiffness(island->system, island->contact[i], island->contact[i]->foreseen);
}

// Effective masses along the normal and across it, and how thin the bodies are.
static void set_scales(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  double part[3];
  const abPatchMemory* m = pair->memory;
  c->thin = m->h > 0 ? m->thin
                     : fmin(extent_along(pair->shape1, pair->pose1, c->axis[2]),
                            extent_along(pair->shape2, pair->pose2, c->axis[2]));
  ab_patch_hold(system->problem, c, part);
  c->mass = 1 / part[2], c->mass_t = 2 / (part[0] + part[1]);
}

// The speed that counts as one: what a step of gravity, of the loads in the free motion or of the
// last impulse changes. Nothing is measured by gravity alone.
static double unit_speed(const abPatchSystem* system, const abPatchContact* c, double load) {
  double change = 0;
  for (int k = 0; k < 3; k++) change += (c->free[k] - c->start[k]) * (c->free[k] - c->start[k]);
  return larger(larger(system->gravity * system->h, sqrt(change)), load / c->mass) +
         1e-8 * system->problem->length / system->h;
}

// Who has carried nothing has no friction to go on with, and where the patch was tells nothing.
static bool has_past(const abPatchMemory* m) {
  return m->h > 0 && (m->impulse[2] > 0 || m->rest > 0 || m->held || m->sunk);
}

// Of what rolls the geometry tells how the step goes on beyond first order. Joints that are in each
// other may not be able to follow, and are asked for nothing more (hold.c).
static void take_closes(const abPatchSystem* system, const abPair* pair, abPatchContact* c) {
  const abPatch* p = &pair->patch;
  const abPatchMemory* m = pair->memory;
  bool jams = isfinite(c->reach) && p->depth > AB_PATCH_JAMS * c->thin;
  double per = jams ? 0 : 1 / system->h;
  c->drift[2] = -per * p->closes[0];
  c->drift[3] = -per * p->closes[2], c->drift[4] = per * p->closes[1];
  c->curves = p->closes[0] > 0;
  for (int k = 0; k < 2; k++) {
    abVec3 r = c->side[k].r, before = m->lever[k];
    double size = v3_norm(r) * v3_norm(before);
    if (c->side[k].block >= 0 && size > 0)
      c->sweep = fmax(c->sweep, v3_norm(v3_cross(r, before)) / size);
  }
}

// The levers of an impulse that is delayed are those of its moment.
static bool has_levers_of_impact(const abPatch* p, abPatchContact* c) {
  const abVec3* meet = p->meet;
  if (!c->delayed || v3_norm2(meet[0]) + v3_norm2(meet[1]) == 0) return false;
  for (int k = 0; k < 2; k++) c->side[k].r = v3_add(c->side[k].r, meet[k]);
  return true;
}

// Where the same step is solved once more, with other pairs beside: from where it has come to.
static void go_on_from(const abPatchMemory* tried, abPatchContact* c, const abPatchSystem* system) {
  for (int k = 0; k < 6; k++) c->impulse[k] = tried->impulse[k] - c->given[k];
  c->X[0] = tried->slide[0] - c->law.bristle[0];
  c->X[1] = tried->slide[1] - c->law.bristle[1];
  c->X[5] = tried->slide[2] - c->law.bristle[2];
  set_stiffness(system, c, tried->stiff_for);
  ab_patch_recall_state(c, tried->field);
  c->moves = tried->moves;
  c->law.about_pole = tried->about_pole;
  ab_patch_spread(&c->law, tried->spread[0], tried->spread[1]);
  ab_patch_set_load(&c->law, fmax(tried->load, ab_patch_least_load(c)));
}

// What the last step could not take back without gaining energy, this one hardly can.
static double again_faster(const abPatchMemory* m) {
  return fmin(1, fmax(AB_PATCH_SLOWEST, AB_PATCH_SPED_UP * m->slowed));
}

AB_SIMD AB_FLATTEN static void set_contact(const abPatchSystem* system, int i, double* store) {
  const abContactProblem* problem = system->problem;
  int index = system->pair[i];
  abPatchContact* c = system->contact[i];
  const abPair* pair = &problem->pair[index];
  const abPatch* patch = &pair->patch;
  abPatchMemory* memory = pair->memory;
  const abPatchMemory* tried = pair->tried;
  abPatchPlace place = {0};
  memset(c->drift, 0, sizeof c->drift);
  memset(c->given, 0, sizeof c->given);
  c->curves = false, c->sweep = 0;
  set_sides(system, index, c);
  c->axis[0] = patch->t1, c->axis[1] = patch->t2, c->axis[2] = patch->normal;
  find_motion(problem, c);
  ab_patch_set_area(pair, &c->law, store);
  set_scales(system, pair, c);
  bool found = pair->fresh || !(memory->h > 0);
  if (!found)
    place = ab_patch_find_place(pair, c), found = ab_patch_displaced(memory, &place, c->thin);
  c->sunk = is_sunk(system, pair, c, found);
  bool fresh = found || !has_past(memory);
  if (fresh) memset(memory, 0, sizeof *memory);
  ab_patch_recall_rest(pair, fresh ? NULL : &place, c);
  double load = fresh ? 0 : memory->load * system->h / memory->h;
  c->load_before = fresh ? 0 : system->h / memory->h * fmax(0, memory->impulse[2]);
  c->unit = unit_speed(system, c, load);
  // a load at rest needs its share of the stiffness, whatever its size
  double borne = load / (c->mass * firmness(system, c, load));
  double unit = fmax(unit_speed(system, c, 0), borne);
  c->slowed = fresh || c->sunk ? 1 : again_faster(memory);
  if (tried) c->slowed = tried->slowed;
  set_targets(system, pair, c, unit, system->alone[i]);
  if (has_levers_of_impact(patch, c)) {
    find_motion(problem, c);
    set_targets(system, pair, c, unit, system->alone[i]);
  }
  double field[3];
  if (fresh) {
    load = ab_patch_begin_fresh(c, field);
    ab_patch_begin_drift(system, pair, c);
    c->slipping = ab_patch_slides(c, c->start);
  } else {
    ab_patch_recall(system, pair, &place, c, field);
  }
  ab_patch_check_drift(system, c, fresh);
  if (patch->rolls) take_closes(system, pair, c);
  if (c->rebounds) memset(c->drift, 0, sizeof c->drift);
  c->foreseen = fmax(load, c->mass * fmax(c->unit, fastest_in(c, c->free)));
  set_stiffness(system, c, c->foreseen);
  bool friction = pair->surface.condim != 1 && !c->held;
  c->mu_static = friction ? pair->surface.mu_static : 0;
  c->mu_kinetic = friction ? pair->surface.mu_kinetic : 0;
  c->law.mu = c->slipping ? c->mu_kinetic : c->mu_static;
  if (!fresh) ab_patch_give_until_impact(system, pair, c);
  c->moves = c->slipping && c->law.mu > 0;
  c->face = patch->kind == AB_PATCH_SURFACE, c->line = patch->kind == AB_PATCH_LINE;
  ab_patch_recall_state(c, field);
  c->known = c->pinned = false;
  ab_patch_set_load(&c->law, fmax(load - c->given[2], 1e-9 * c->mass * c->unit));
  ab_patch_choose_rule(&c->law, c->start);
  if (tried) go_on_from(tried, c, system);
}

// --- the system
// ----------------------------------------------------------------------------------------

static bool takes_part(const abContactProblem* problem, const abPair* pair) {
  const int* mover = problem->response->mover_of_body;
  return pair->patch.kind != AB_PATCH_NONE && (mover[pair->body1] >= 0 || mover[pair->body2] >= 0);
}

// Most of a tree's velocities do not move a given body: only the columns that do are kept.
static abStatus find_branch(const abContactProblem* problem, int body, const abMover* mover,
                            abPatchBranch** out) {
  int n = mover->ndof;
  abPatchBranch* b = AB_TAKE(problem->scratch, abPatchBranch, 1);
  if (!b) return AB_ERROR_MEMORY;
  b->at = AB_TAKE(problem->scratch, int, n);
  b->J = ab_arena_take(problem->scratch, sizeof *b->J * (size_t)n);
  if (!b->at || !b->J) return AB_ERROR_MEMORY;
  b->n = ab_response_branch(problem->response, body, b->at, b->J);
  b->known = false;
  *out = b;
  return AB_OK;
}

static abStatus find_branches(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  system->branch = AB_TAKE(problem->scratch, abPatchBranch*, problem->nbody);
  if (!system->branch) return AB_ERROR_MEMORY;
  for (int i = 0; i < problem->nbody; i++) system->branch[i] = NULL;
  for (int p = 0; p < problem->npair; p++) {
    int body[2] = {problem->pair[p].body1, problem->pair[p].body2};
    for (int k = 0; k < 2; k++) {
      int m = r->mover_of_body[body[k]];
      if (m < 0 || !r->mover[m].jointed || system->branch[body[k]]) continue;
      abStatus status = find_branch(problem, body[k], &r->mover[m], &system->branch[body[k]]);
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
    set_contact(s->system, i, s->store[i]);
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

// The contacts that are all there is in their islands.
static abStatus find_alone(abPatchSystem* system) {
  const abIslands* islands = &system->islands;
  system->alone = AB_TAKE(system->problem->scratch, bool, system->ncontact);
  if (!system->alone) return AB_ERROR_MEMORY;
  memset(system->alone, 0, sizeof(bool) * (size_t)system->ncontact);
  for (int i = 0; i < islands->n; i++) {
    int first = islands->pair_start[i], item = islands->pair[first], nrow = 0;
    for (int m = islands->mover_start[i]; m < islands->mover_start[i + 1]; m++)
      nrow += system->row_start[islands->mover[m] + 1] - system->row_start[islands->mover[m]];
    bool one = islands->pair_start[i + 1] == first + 1 && nrow == 0;
    if (one && item < system->ncontact) system->alone[item] = true;
  }
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
  if (join_islands(system) != AB_OK || find_alone(system) != AB_OK) return AB_ERROR_MEMORY;
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
  double* D = AB_TAKE(arena, double, n);
  if (!M || !D) return AB_ERROR_MEMORY;
  ab_response_inertia(r, island->mover[b], M);
  for (int i = 0; i < n; i++) D[i] = M[i * n + i];
  int first = system->row_start[island->mover[b]], last = system->row_start[island->mover[b] + 1];
  for (int i = first; i < last; i++) {
    const abRow* row = &system->problem->row[i];
    for (int k = 0; k < row->n && row->assumed == AB_BRANCH_INSIDE; k++)
      D[row->dof + k] -= row->weight * row->s[k] * row->s[k];
  }
  // what is left of a difference of large numbers is at least the rounding of the large one
  for (int i = 0; i < n; i++) D[i] = 1 / fmax(D[i], 1e-9 * M[i * n + i]);
  island->inertia[b] = M;
  island->per[b] = D;
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
  island->per = AB_TAKE(arena, const double*, nblock);
  if (!size || !offset || !island->contact || !island->inertia || !island->factor || !island->per)
    return AB_ERROR_MEMORY;
  for (int i = 0; i < ncontact; i++) island->contact[i] = system->contact[islands->pair[pair0 + i]];
  offset[0] = 0;
  for (int b = 0; b < nblock; b++) {
    size[b] = r->mover[island->mover[b]].ndof;
    offset[b + 1] = offset[b] + size[b];
    island->inertia[b] = island->factor[b] = island->per[b] = NULL;
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
