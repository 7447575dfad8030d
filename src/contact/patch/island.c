// The algebra of one island: velocities, relative twists, impulses, residual.
// Tests: test_patch_newton, test_patch.
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "branch.h"
#include "contact/patch/patch.h"
#include "math/branch.h"
#include "math/quad.h"
#include "math/spatial.h"

static int body_of_free(const abPatchIsland* island, int block) {
  return island->system->problem->response->mover[island->mover[block]].body0;
}

AB_SIMD AB_FLATTEN void ab_patch_relative(const abPatchIsland* island, const abPatchContact* c,
                                          const double* v, double V[6]) {
  abTwist d = twist_zero();
  for (int k = 0; k < 2; k++) {
    const abPatchSide* side = &c->side[k];
    if (side->block < 0 || side->branch) continue;
    abTwist t = twist_move(twist_from_array(v + island->offset[side->block]), side->r);
    d = k == 0 ? t : twist_sub(d, t);
  }
  for (int k = 0; k < 3; k++) {
    V[k] = v3_dot(c->axis[k], d.lin);
    V[3 + k] = v3_dot(c->axis[k], d.ang);
  }
  for (int k = 0; k < 2; k++)
    if (c->tree[k].n > 0)
      ab_patch_columns_relative(&c->tree[k], v + island->offset[c->side[k].block], V);
}

// g += J^T f of the sides that are free bodies
static void scatter_free(const abPatchIsland* island, const abPatchContact* c, const double f[6],
                         double* g) {
  abVec3 force = v3_zero(), torque = v3_zero();
  for (int k = 0; k < 3; k++) {
    force = v3_axpy(f[k], c->axis[k], force);
    torque = v3_axpy(f[3 + k], c->axis[k], torque);
  }
  for (int k = 0; k < 2; k++) {
    const abPatchSide* side = &c->side[k];
    if (side->block < 0 || side->branch) continue;
    double sign = k == 0 ? 1 : -1;
    double* out = g + island->offset[side->block];
    double w[6];
    wrench_to_array((abWrench){force, v3_add(torque, v3_cross(side->r, force))}, w);
    for (int i = 0; i < 6; i++) out[i] += sign * w[i];
  }
}

static bool is_free(const abPatchSide* side) { return side->block >= 0 && !side->branch; }

AB_SIMD AB_FLATTEN void ab_patch_scatter(const abPatchIsland* island, const abPatchContact* c,
                                         const double f[6], double* g) {
  if (is_free(&c->side[0]) || is_free(&c->side[1])) scatter_free(island, c, f, g);
  for (int k = 0; k < 2; k++)
    if (c->tree[k].n > 0)
      ab_patch_columns_scatter(&c->tree[k], f, g + island->offset[c->side[k].block]);
}

static void solve_block(const abPatchIsland* island, int b, double* x) {
  if (island->factor[b]) {
    branch_solve(island->size[b], island->factor[b], x);
    return;
  }
  const abResponse* r = island->system->problem->response;
  if (island->inertia[b]) {
    ab_response_solve(r, island->mover[b], x);
    return;
  }
  int body = body_of_free(island, b);
  abVec3 w = m3_apply(&r->inv_inertia[body], v3(x[3], x[4], x[5]));
  for (int i = 0; i < 3; i++) x[i] *= r->inv_mass[body];
  x[3] = w.x, x[4] = w.y, x[5] = w.z;
}

void ab_patch_solve_inertia(const abPatchIsland* island, double* g) {
  for (int b = 0; b < island->nblock; b++) solve_block(island, b, g + island->offset[b]);
}

typedef abFour Four __attribute__((aligned(8), may_alias));

// y = M x, M symmetric
AB_SIMD static void apply_symmetric(int n, const double* M, const double* x, double* y) {
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    Four a = {0}, b = {0};
    for (int j = 0; j < n; j++) {
      const double* row = M + j * n + i;
      a += *(const Four*)row * x[j], b += *(const Four*)(row + 4) * x[j];
    }
    *(Four*)(y + i) = a, *(Four*)(y + i + 4) = b;
  }
  for (; i + 4 <= n; i += 4) {
    Four a = {0};
    for (int j = 0; j < n; j++) a += *(const Four*)(M + j * n + i) * x[j];
    *(Four*)(y + i) = a;
  }
  for (; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += M[j * n + i] * x[j];
  }
}

// y = M x for one block
static void apply_inertia(const abPatchIsland* island, int b, const double* x, double* y) {
  if (island->inertia[b]) {
    apply_symmetric(island->size[b], island->inertia[b], x, y);
    return;
  }
  const abResponse* r = island->system->problem->response;
  int body = body_of_free(island, b);
  abVec3 L = m3_apply(&r->inertia[body], v3(x[3], x[4], x[5]));
  for (int i = 0; i < 3; i++) y[i] = r->mass[body] * x[i];
  y[3] = L.x, y[4] = L.y, y[5] = L.z;
}

void ab_patch_apply_inertia(const abPatchIsland* island, const double* x, double* y) {
  for (int b = 0; b < island->nblock; b++)
    apply_inertia(island, b, x + island->offset[b], y + island->offset[b]);
}

void ab_patch_give(abPatchIsland* island) {
  double* change = island->direction;
  bool any = false;
  memset(change, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (!(c->given[2] > 0)) continue;
    ab_patch_scatter(island, c, c->given, change);
    any = true;
  }
  if (!any) return;
  ab_patch_solve_inertia(island, change);
  for (int i = 0; i < island->ndof; i++) island->v_free[i] += change[i];
}

void ab_patch_momenta(abPatchIsland* island) {
  memset(island->v, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_scatter(island, island->contact[i], island->contact[i]->impulse, island->v);
  ab_patch_solve_inertia(island, island->v);
  for (int i = 0; i < island->ndof; i++) island->v[i] += island->v_free[i];
}

void ab_patch_set_twists(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abPatchContact* c = island->contact[i];
    ab_patch_relative(island, c, island->v, c->V);
    for (int k = 0; k < 6; k++) c->V[k] += c->drift[k];
  }
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

double ab_patch_departure(const abPatchIsland* island) {
  double most = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (!(c->impulse[2] > 0)) continue;
    double d[6];
    for (int k = 0; k < 6; k++) d[k] = c->V[k] - c->X[k];
    most = fmax(most, ab_patch_speed(c, d) / c->unit);
  }
  return most;
}

// --- rows

static double branch_impulse(const abRow* row, double sv) {
  if (row->assumed == AB_BRANCH_LOW) return row->low;
  if (row->assumed == AB_BRANCH_HIGH) return row->high;
  return row->weight * (row->target - sv);
}

double ab_patch_row_excess(const abRow* row, double sv, bool* inside) {
  double p = row->weight * (row->target - sv);
  *inside = ab_patch_row_branch(row, sv) == AB_BRANCH_INSIDE;
  // on its own branch the difference is zero, not the rounding of a difference of large numbers
  if (*inside && row->assumed == AB_BRANCH_INSIDE) return 0;
  p = p < row->low ? row->low : p > row->high ? row->high : p;
  return p - branch_impulse(row, sv);
}

// --- residual

// The gradient of the energy, M (v - v_free) - sum J^T answer - sum s excess, in the kinetic metric
// |g|^2 = g^T M^-1 g, block by block relative to the impulses that act on the block and to its
// weight during the step. The inertia of a tree contains the stiffness of the rows that the free
// motion found inside; in that metric an error of such a row would look a thousand times too
// small, so trees are measured by the diagonal of their inertia without it.
static void begin_residual(abPatchIsland* island) {
  for (int i = 0; i < island->ndof; i++) island->direction[i] = island->v[i] - island->v_free[i];
  ab_patch_apply_inertia(island, island->direction, island->momentum);
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

static double block_norm2(const abPatchIsland* island, int b) {
  const double* g = island->gradient + island->offset[b];
  double norm = 0;
  if (island->per[b]) {
    for (int i = 0; i < island->size[b]; i++) norm += g[i] * g[i] * island->per[b][i];
    return norm;
  }
  double y[6];
  memcpy(y, g, sizeof y);
  solve_block(island, b, y);
  for (int i = 0; i < 6; i++) norm += y[i] * g[i];
  return norm;
}

// Without gravity and loads, a hundred millionth of the scene's size in a step counts as speed.
static double unit_speed(const abPatchSystem* system) {
  return system->gravity * system->h + 1e-8 * system->problem->length / system->h;
}

AB_SIMD AB_FLATTEN double ab_patch_residual(abPatchIsland* island) {
  begin_residual(island);
  for (int i = 0; i < island->ncontact; i++) add_to_residual(island, island->contact[i]);
  for (int i = 0; i < island->nrow; i++) {
    abPatchRow* r = &island->row[i];
    double sv = ab_patch_row_speed(r, island->v);
    abBranch now = ab_patch_row_branch(r->row, sv);
    r->inside = now == AB_BRANCH_INSIDE;
    if (now == r->row->assumed) continue;
    double p = ab_patch_row_excess(r->row, sv, &r->inside);
    for (int k = 0; k < r->row->n; k++) island->gradient[r->at + k] -= p * r->row->s[k];
  }
  ab_patch_join_residual(island, island->scale);
  double worst = 0, speed = unit_speed(island->system);
  for (int b = 0; b < island->nblock; b++) {
    double mass = island->mass[b];
    double scale = island->scale[b] / sqrt(mass) + sqrt(mass) * speed;
    double relative = sqrt(fmax(0, block_norm2(island, b))) / scale;
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

AB_SIMD AB_FLATTEN double ab_patch_gap(const abPatchIsland* island) {
  double worst = 0;
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (!(c->law.mu > 0)) continue;
    double N = fmax(0, c->impulse[2]), least = 1e-3 * c->mass * c->unit;
    double size = fmax(fmax(N, c->law.load), least), d[2];
    double excess = v2_norm(v2(c->impulse[0], c->impulse[1])) / c->law.mu - N;
    worst = fmax(worst, fmax(fabs(N - c->law.load), excess) / size);
    if (ab_patch_offset(c, c->impulse, d))
      worst = fmax(worst, v2_norm(v2(d[0], d[1])) / c->law.radius * N / size);
  }
  return worst;
}

double ab_patch_wanted_gap(const abPatchIsland* island) {
  double most = fmin(AB_PATCH_GAP, 100 * island->system->param[AB_PATCH_TOLERANCE]);  // as reported
  if (!ab_patch_only(island)) return most;
  if (island->departure > 1 || !(island->contact[0]->load_before > 0))
    return fmin(most, AB_PATCH_OFFSET_IMPACT);
  return fmin(most, island->contact[0]->moves ? AB_PATCH_OFFSET : AB_PATCH_GAP);
}

// --- the law's derivative and the bound of friction

// Where a patch slips, friction has no stiffness along the slip, and Newton's step may jump across
// the narrow zone of sticking, back and forth, ever shortened by the line search. As in the
// primal-dual method of Chan, Golub & Mulet (1999) for total variation, the derivative is trusted
// only as far as the impulse carried along agrees with the law's answer; with trust 0 it is that of
// the parabola that touches the energy from above, whose minimiser always descends.
double ab_patch_trust(const abPatchContact* c, const double a[6], const double f[6]) {
  double r2 = c->law.radius * c->law.radius;  // torques count by the patch's radius
  double dot = r2 * (f[0] * a[0] + f[1] * a[1]) + f[5] * a[5];
  double norm = r2 * (a[0] * a[0] + a[1] * a[1]) + a[5] * a[5];
  return norm > 0 ? fmin(1, fmax(0, dot / norm)) : 1;
}

void ab_patch_mix_slack(abPatchSlope* G, double trust) {
  if (trust < 1)
    for (int k = 0; k < 6; k++) G->t[k] += (1 - trust) * G->slack[k];
}

static double within(double low, double x, double high) {
  return x < low ? low : x > high ? high : x;
}

// Along a line only.
bool ab_patch_offset(const abPatchContact* c, const double f[6], double d[2]) {
  const abPatchLaw* law = &c->law;
  d[0] = d[1] = 0;
  if (!c->moves || !(c->face || c->line) || c->pinned || !(f[2] > 0)) return false;
  double per = 1 / f[2];
  d[0] = within(law->low[0], -per * f[4], law->high[0]) - law->centre.x - law->at[0];
  d[1] = within(law->low[1], per * f[3], law->high[1]) - law->centre.y - law->at[1];
  abVec2 u = law->axis;
  if (u.x == 0 && u.y == 0) return true;
  double along = u.x * d[0] + u.y * d[1];
  d[0] = along * u.x, d[1] = along * u.y;
  return true;
}

// Friction of a sliding patch acts where the pressure is now: else a body that slides straight on
// would turn.
void ab_patch_follow_pressure(abPatchContact* c, const double V[6], const double f[6]) {
  abPatchLaw* law = &c->law;
  if (!(law->mu > 0)) return;
  ab_patch_choose_rule(law, V);
  if (!c->moves || !(f[2] > 0)) return;
  ab_patch_spread(law, -f[4] / f[2], f[3] / f[2]);
  ab_patch_set_load(law, law->load);
}
