// The algebra of one island: velocities, relative twists, impulses, residual.
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "contact/patch.h"
#include "math/spatial.h"

static int body_of_free(const abPatchIsland* island, int block) {
  return island->system->problem->response->mover[island->mover[block]].body0;
}

void ab_patch_twist(const abPatchIsland* island, const abPatchSide* side, const double* v,
                    abTwist* twist) {
  const double* x = v + island->offset[side->block];
  if (!side->J) {
    *twist = twist_from_array(x);
    return;
  }
  double t[6];
  for (int i = 0; i < 6; i++) {
    t[i] = 0;
    for (int k = 0; k < side->n; k++) t[i] += side->J[i * side->n + k] * x[k];
  }
  *twist = twist_from_array(t);
}

void ab_patch_relative(const abPatchIsland* island, const abPatchContact* c, const double* v,
                       double V[6]) {
  abTwist d = twist_zero();
  for (int k = 0; k < 2; k++) {
    const abPatchSide* side = &c->side[k];
    if (side->block < 0) continue;
    abTwist t;
    ab_patch_twist(island, side, v, &t);
    t = twist_move(t, side->r);
    d = k == 0 ? t : twist_sub(d, t);
  }
  for (int k = 0; k < 3; k++) {
    V[k] = v3_dot(c->axis[k], d.lin);
    V[3 + k] = v3_dot(c->axis[k], d.ang);
  }
}

void ab_patch_scatter(const abPatchIsland* island, const abPatchContact* c, const double f[6],
                      double* g) {
  abVec3 force = v3_zero(), torque = v3_zero();
  for (int k = 0; k < 3; k++) {
    force = v3_axpy(f[k], c->axis[k], force);
    torque = v3_axpy(f[3 + k], c->axis[k], torque);
  }
  for (int k = 0; k < 2; k++) {
    const abPatchSide* side = &c->side[k];
    if (side->block < 0) continue;
    double sign = k == 0 ? 1 : -1;
    double* out = g + island->offset[side->block];
    double w[6];
    wrench_to_array((abWrench){force, v3_add(torque, v3_cross(side->r, force))}, w);
    if (!side->J)
      for (int i = 0; i < 6; i++) out[i] += sign * w[i];
    else
      for (int j = 0; j < side->n; j++)
        for (int i = 0; i < 6; i++) out[j] += sign * side->J[i * side->n + j] * w[i];
  }
}

static void solve_block(const abPatchIsland* island, int b, double* x) {
  if (island->factor[b]) {
    dense_cholesky_solve(island->size[b], island->factor[b], x);
    return;
  }
  const abResponse* r = island->system->problem->response;
  int body = body_of_free(island, b);
  abVec3 w = m3_apply(&r->inv_inertia[body], v3(x[3], x[4], x[5]));
  for (int i = 0; i < 3; i++) x[i] *= r->inv_mass[body];
  x[3] = w.x, x[4] = w.y, x[5] = w.z;
}

void ab_patch_solve_inertia(const abPatchIsland* island, double* g) {
  for (int b = 0; b < island->nblock; b++) solve_block(island, b, g + island->offset[b]);
}

// y = M x for one block
static void apply_inertia(const abPatchIsland* island, int b, const double* x, double* y) {
  int n = island->size[b];
  if (island->inertia[b]) {
    for (int i = 0; i < n; i++) {
      y[i] = 0;
      for (int j = 0; j < n; j++) y[i] += island->inertia[b][i * n + j] * x[j];
    }
    return;
  }
  const abResponse* r = island->system->problem->response;
  int body = body_of_free(island, b);
  abVec3 L = m3_apply(&r->inertia[body], v3(x[3], x[4], x[5]));
  for (int i = 0; i < 3; i++) y[i] = r->mass[body] * x[i];
  y[3] = L.x, y[4] = L.y, y[5] = L.z;
}

double ab_patch_kinetic(const abPatchIsland* island, const double* d) {
  double sum = 0;
  for (int b = 0; b < island->nblock; b++) {
    const double* x = d + island->offset[b];
    double own[6], *y = island->inertia[b] ? island->momentum + island->offset[b] : own;
    apply_inertia(island, b, x, y);
    for (int i = 0; i < island->size[b]; i++) sum += x[i] * y[i];
  }
  return sum;
}

// What the contacts must have given: momentum = M (v - v_free).
static void find_momentum(abPatchIsland* island) {
  for (int i = 0; i < island->ndof; i++) island->gradient[i] = island->v[i] - island->v_free[i];
  for (int b = 0; b < island->nblock; b++)
    apply_inertia(island, b, island->gradient + island->offset[b],
                  island->momentum + island->offset[b]);
}

void ab_patch_momenta(abPatchIsland* island) {
  memset(island->v, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_scatter(island, island->contact[i], island->contact[i]->impulse, island->v);
  ab_patch_solve_inertia(island, island->v);
  for (int i = 0; i < island->ndof; i++) island->v[i] += island->v_free[i];
}

void ab_patch_velocities(abPatchIsland* island) {
  ab_patch_momenta(island);
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_relative(island, island->contact[i], island->v, island->contact[i]->V);
}

// Mass that a block's impulses are compared with.
double ab_patch_mass(const abPatchIsland* island, int b) {
  const abResponse* r = island->system->problem->response;
  const abMover* m = &r->mover[island->mover[b]];
  double mass = 0;
  for (int i = 0; i < m->nbody; i++) mass += r->mass[m->body0 + i];
  return mass;
}

// Speed of the patch's fastest point in the relative motion V: one of its corners.
double ab_patch_speed(const abPatchContact* c, const double V[6]) {
  const abPatchLaw* law = &c->law;
  double most = 0;
  for (int i = 0; i < law->ncorner; i++) {
    double x = law->x[i], y = law->y[i];
    double a = V[0] - V[5] * y, b = V[1] + V[5] * x, u = V[2] + V[3] * y - V[4] * x;
    double square = a * a + b * b + u * u;
    most = square > most ? square : most;
  }
  return sqrt(most);
}

// Without gravity the slop per step stands for the velocity that matters.
double ab_patch_unit_speed(const abPatchSystem* system) {
  return system->gravity * system->h + 1e-8 * system->problem->length / system->h;
}

double ab_patch_departure(const abPatchIsland* island) {
  double most = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (c->still) continue;  // calm
    ab_patch_relative(island, c, island->v, c->V);
    if (!(c->impulse[2] > 0)) continue;
    double d[6];
    for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->state[k];
    most = fmax(most, ab_patch_speed(c, d));
  }
  return most / ab_patch_unit_speed(island->system);
}

// The gradient of the energy, M (v - v_free) - sum J^T answer = sum J^T (impulse - answer), in the
// kinetic metric |g|^2 = g^T M^-1 g, block by block relative to the impulses that act on the block
// and to its weight during the step.
static void begin_residual(abPatchIsland* island) {
  find_momentum(island);
  memcpy(island->gradient, island->momentum, sizeof(double) * (size_t)island->ndof);
  memset(island->scale, 0, sizeof(double) * (size_t)island->nblock);
}

static void add_to_residual(abPatchIsland* island, const abPatchContact* c) {
  double d[6], size = 0, other = 0;
  for (int k = 0; k < 6; k++) d[k] = -c->answer[k];
  ab_patch_scatter(island, c, d, island->gradient);
  for (int k = 0; k < 3; k++) {
    size += c->impulse[k] * c->impulse[k];
    other += c->answer[k] * c->answer[k];
  }
  size = sqrt(size > other ? size : other);
  for (int k = 0; k < 2; k++)
    if (c->side[k].block >= 0) island->scale[c->side[k].block] += size;
}

static double end_residual(abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  double worst = 0;
  double speed = ab_patch_unit_speed(system);
  for (int b = 0; b < island->nblock; b++) {
    double x[6], *y = x, mass = ab_patch_mass(island, b);
    const double* g = island->gradient + island->offset[b];
    if (island->factor[b]) y = island->direction + island->offset[b];
    memcpy(y, g, sizeof(double) * (size_t)island->size[b]);
    solve_block(island, b, y);
    double norm = 0;
    for (int i = 0; i < island->size[b]; i++) norm += y[i] * g[i];
    island->scale[b] = island->scale[b] / sqrt(mass) + sqrt(mass) * speed;
    double relative = sqrt(fmax(0, norm)) / island->scale[b];
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

double ab_patch_residual(abPatchIsland* island) {
  begin_residual(island);
  for (int i = 0; i < island->ncontact; i++) add_to_residual(island, island->contact[i]);
  return end_residual(island);
}

typedef struct Look {
  abPatchIsland* island;
  bool moved;
} Look;

static void look_at_chunk(void* context, int chunk, int worker) {
  (void)worker;
  const Look* look = context;
  const abPatchIsland* island = look->island;
  bool large = island->ncontact > AB_PATCH_LARGE;
  int first = chunk * AB_PATCH_CHUNK, last = first + AB_PATCH_CHUNK;
  for (int i = first; i < last && i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    if (ab_patch_idles(island, c)) continue;
    if (look->moved || c->still) ab_patch_relative(island, c, island->v, c->V);
    if (!large || !c->kept) {
      ab_patch_evaluate(&c->law, c->V, c->answer, NULL);
    } else if (!ab_patch_near(c)) {
      if (c->still) ab_patch_wake(island->system, c);
      ab_patch_ask_near(c);
    }
  }
}

// A large island does not fit the cache: what is done with a contact is done in one visit.
double ab_patch_look(abPatchIsland* island, bool moved) {
  Look look = {island, moved};
  int n = ab_patch_chunks(island->ncontact);
  begin_residual(island);
  if (island->pool) ab_pool_run(island->pool, n, look_at_chunk, &look);
  for (int k = 0; k < n; k++) {
    if (!island->pool) look_at_chunk(&look, k, 0);
    for (int i = k * AB_PATCH_CHUNK; i < (k + 1) * AB_PATCH_CHUNK && i < island->ncontact; i++)
      add_to_residual(island, island->contact[i]);
  }
  return end_residual(island);
}

// Where a patch slips, friction has no stiffness along the slip, and Newton's step may jump across
// the narrow zone of sticking, back and forth, ever shortened by the line search. As in the
// primal-dual method of Chan, Golub & Mulet (1999) for total variation, the derivative is trusted
// only as far as the impulse carried along agrees with the law's answer; with trust 0 it is that of
// the parabola that touches the energy from above, whose minimiser always descends.
double ab_patch_trust(const abPatchContact* c, const double f[6]) {
  const double *a = c->answer, *m = c->law.moments.m;
  double r2 = (m[AB_M_XX] + m[AB_M_YY]) / m[AB_M_1];  // torques count by the patch's radius
  double dot = r2 * (f[0] * a[0] + f[1] * a[1]) + f[5] * a[5];
  double norm = r2 * (a[0] * a[0] + a[1] * a[1]) + a[5] * a[5];
  return norm > 0 ? fmin(1, fmax(0, dot / norm)) : 1;
}

// Friction of a sliding patch acts where the pressure is now: else a body that slides straight on
// would turn.
static void follow_pressure(abPatchLaw* law, const double V[6], double blend) {
  double now[2][3];
  ab_patch_pressure_fields(law, V, now);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) law->profile[i][k] += blend * (now[i][k] - law->profile[i][k]);
  ab_patch_profile_ready(law);
}

// A patch that has begun to slide as a whole goes over to the kinetic coefficient (it comes back to
// the static one only between steps).
void ab_patch_update_load(abPatchContact* c, const double f[6], double blend) {
  abPatchLaw* law = &c->law;
  if (!(law->mu > 0)) return;
  double load = fmax(0, law->load + blend * (f[2] - law->load));
  c->near.known = false;
  ab_patch_set_load(law, load);
  ab_patch_choose_rule(law, c->V);
  bool moves =
      c->slipping || ab_patch_slipping_share(law, c->V, AB_PATCH_SLIDING * law->slip_speed) > 0.5;
  if (!moves) return;
  follow_pressure(law, c->V, blend);
  ab_patch_set_load(law, load);
  if (c->slipping || c->age < AB_PATCH_NEW) return;
  c->slipping = true;
  law->mu = c->mu_kinetic;
  ab_patch_set_load(law, law->load);
}

// Perhaps so fast that it slides; where patch_near.c knows the patch's size. What carries nothing
// cannot.
static bool moves_far(const abPatchContact* c) {
  const double* V = c->V;
  double s = c->law.slip_speed;
  if (!(c->law.load > 0)) return c->slipping;
  return c->slipping || V[0] * V[0] + V[1] * V[1] + c->near.radius2 * V[5] * V[5] > s * s;
}

// In a large island the bound is that of the step before, and friction and pressure may push each
// other to and fro from step to step. Where the load hardly changes, three quarters of the old one
// stay; where it changes by a third or more, nothing.
void ab_patch_follow_load(abPatchContact* c) {
  double now = c->impulse[2], change = fabs(now - c->law.load);
  double blend = 3 * change < now ? 0.25 + 2.25 * change / now : 1;
  if (c->near.known && change <= AB_PATCH_SAME * now && !moves_far(c)) return;
  ab_patch_update_load(c, c->impulse, blend);
}
