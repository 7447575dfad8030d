// The rows of equalities: what they ask for, and how firmly.
//
// An equality is kept as a position, as SHAKE does it: with the error g(q) at the start of a step,
// g(q+) = g + h s . v+ + h^2/2 b + O(h^3), b the bend (equality.c), should be zero, so the row's
// target is
//
//   v* = -c - (h/2) b,    c = g / h.
//
// The impulse acts along s of the start. A body on a circle then moves along chords, reflected at
// each corner: it neither loses energy nor drifts, where a row that asks for s . v = 0 would lose
// the share (h w)^2 of its energy in every step. What the third order leaves open is taken back
// after the coordinates have moved, along M^-1 s^T with the matrix s M^-1 s^T of the start, and
// the velocities are told (law_close.c).
//
// Joint trees: the impulse belongs to the kick, and the drift (tree_drift.c) is that of the tree
// alone, v+ = v_k + d, moving along v_k + d / 2. So it is s . (v+ - d / 2) that must be -c - (h/2)
// b. In contact the tree moves along v+; the h s . d / 2 which that leaves open is closed without
// telling the velocities: these are as they should be.
//
// Errors that come from outside (a bad start, a mocap body put somewhere else) are taken back with
// the acceleration a = PULL times gravity: c <= (speed so far) + a h, and c <= sqrt(2 a g), from
// which it stops at g = 0. Where the motion itself needs more, and the error is one that it can
// have left within a step, a is that; of a larger one it would be no bound, for what is drawn
// faster bends more. An error below a h^2 is thus gone in one step. While the error is larger, and
// for mocap bodies always, the force is limited to FORCE times the weight of everything that is
// held: a target inside a wall presses, but breaks nothing.
//
// The weight of a row is STIFF / (s M^-1 s^T), M without the joints' bounds: under a force that
// would give the acceleration a it lags by a h^2 / STIFF. Near a singular position of a linkage or
// arm the rows of a point can ask for a motion that only enormous joint speeds give; they get it as
// far as its mobility is more than 1 / STIFF of theirs. A mocap target is asked for most often
// there, hence its softness (as much as MuJoCo's solimp 0.95), which costs 5e-7 m of sag at 1 ms.
// Rows that cannot move anything (across a planar linkage) have next to no s; their weight is
// limited by the largest mobility of the same equality. Rows that say the same twice share the
// load, rows in conflict meet in between; both are positive semidefinite additions to the matrix
// of the step.
// Tests: test_law.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "internal.h"

static const double PULL = 4, FORCE = 50;
// Weights of rows times s M^-1 s^T: between bodies, to mocap bodies, between joints or tendons.
static const double STIFF_BODIES = 1e5, STIFF_MOCAP = 20, STIFF_JOINTS = AB_BOUND_STIFFNESS;
// Share of the largest mobility of an equality that a row's is at least.
static const double LEAST_MOBILITY = 1e-2;
// Rows whose mobility is below this share of it are weak, and may change velocities by this many
// times as much as a row of the largest mobility would for the same change of the error.
static const double WEAK = 1e-3, WEAK_CHANGE = 30;

typedef struct Scale {
  double length;
  double unit;  // acceleration
} Scale;

double ab_law_length(const abModel* model) { return model->extent > 0 ? model->extent : 1; }

static Scale find_scale(const abModel* model) {
  double length = ab_law_length(model);
  return (Scale){length, fmax(v3_norm(model->gravity), 10 * length)};
}

double ab_law_acceleration(const abModel* model, bool length) {
  Scale scale = find_scale(model);
  return PULL * scale.unit / (length ? 1 : scale.length);
}

double ab_equality_unit(const abModel* model, const abEquality* e, int axis, double length) {
  if (e->type == AB_EQUALITY_JOINT)
    return model->joint[e->joint1].type == AB_JOINT_SLIDE ? 1 : 1 / length;
  if (e->type == AB_EQUALITY_TENDON) return ab_tendon_unit(model, &model->tendon[e->tendon1]);
  return axis < 3 ? 1 : 1 / length;
}

static double norm(int n, const double* x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// Speed at which an error is taken back, when it already shrinks with the speed `approach`. Whoever
// follows a moving target needs no braking distance.
static double correction(double error, double approach, double a, double h) {
  double most = fmax(approach, 0) + a * h;
  return error / h <= most ? error / h : fmin(most, sqrt(2 * a * error));
}

static double held_mass(const abModel* model, const abEquality* e) {
  int mover[64], n = ab_equality_movers(model, e, 64, mover);
  double sum = 0;
  for (int k = 0; k < n; k++) {
    const abMover* m = &model->mover[mover[k]];
    for (int b = m->body0; b < m->body0 + m->nbody; b++) sum += model->body[b].mass;
  }
  return sum;
}

static bool holds_mocap(const abModel* model, const abEquality* e) {
  if (e->type != AB_EQUALITY_CONNECT && e->type != AB_EQUALITY_WELD) return false;
  // what is fixed to a mocap body moves with it
  int body[2] = {e->body1, e->body2};
  for (int k = 0; k < 2; k++)
    for (int b = body[k]; b > 0; b = model->body[b].parent)
      if (model->body[b].mocap >= 0) return true;
  return false;
}

// Targets and limits of rows [row0, laws->n) of one equality that belong to axes [first, first +
// n).
static void set_targets(const abModel* model, const abData* data, abLaws* laws, const abEquality* e,
                        int row0, int first, int n) {
  Scale scale = find_scale(model);
  double error[6] = {0}, bend[6] = {0}, most = 0, approach = 0;
  ab_equality_error(model, data, e, error);
  ab_equality_bend(model, data, e, bend);
  double size = norm(n, error + first), unit = ab_equality_unit(model, e, first, scale.length);
  double a = PULL * unit * scale.unit, needed = PULL * norm(n, bend + first), h = data->h;
  if (size <= needed * h * h) a = fmax(a, needed);
  for (int i = row0; i < laws->n; i++) {
    int axis = laws->owner[i].axis - first;
    if (axis < 0 || axis >= n) continue;
    most = fmax(most, laws->row[i].mobility);
    if (size > 0) approach -= ab_law_speed(&laws->row[i], data->v) * error[first + axis] / size;
  }
  double c = size > 0 ? correction(size, approach, a, h) / size : 0;
  double force = FORCE * scale.unit * held_mass(model, e) / unit;
  bool mocap = holds_mocap(model, e), limited = mocap || size > a * h * h;
  double stiffness = mocap ? STIFF_MOCAP : ab_equality_rows(e) > 1 ? STIFF_BODIES : STIFF_JOINTS;
  for (int i = row0; i < laws->n; i++) {
    int axis = laws->owner[i].axis;
    if (axis < first || axis >= first + n) continue;
    abLawRow* row = &laws->row[i];
    laws->weak[i] = row->mobility < WEAK * most ? sqrt(row->mobility * most) / WEAK_CHANGE : 0;
    row->mobility = fmax(row->mobility, LEAST_MOBILITY * most);
    row->weight = row->mobility > 0 ? stiffness / row->mobility : 0;
    row->target = -c * error[axis] - 0.5 * h * bend[axis];
    row->high = limited ? h * force : INFINITY;
    row->low = -row->high;
    laws->reach[i] = 2 * a * h * h;
  }
}

// A row is weak where the error hardly depends on the velocities: a linkage at its dead centre, an
// arm stretched out. What is linear there says little, and to ask for a change of the error would
// ask for enormous velocities.
void ab_equality_weak(abLaws* laws, const double* v_free) {
  for (int i = 0; i < laws->nequality; i++) {
    abLawRow* row = &laws->row[i];
    if (!(laws->weak[i] > 0)) continue;
    double most = fabs(row->target - ab_law_speed(row, v_free)) / laws->weak[i];
    row->high = fmin(row->high, most);
    row->low = -row->high;
  }
}

static bool equality_rows(const abModel* model, abData* data, abLaws* laws, int index) {
  const abEquality* e = &model->equality[index];
  int row0 = laws->n;
  data->equality_force[index] = wrench_zero();
  for (int axis = 0; axis < ab_equality_rows(e); axis++) {
    abLawRow* row;
    ab_equality_slope(model, data, e, axis, laws->dense);
    abLawOwner owner = {AB_LAW_EQUALITY, index, axis, 1};
    if (!ab_law_row(model, data, laws, owner, &row)) return false;
    if (!row) continue;
    double* x = AB_TAKE(data->internal->scratch, double, model->nv);
    if (!x) return false;
    memset(x, 0, sizeof(double) * (size_t)model->nv);
    row->mobility = ab_law_mobility(model, data, row, x);
    laws->response[laws->n - 1] = x;
  }
  set_targets(model, data, laws, e, row0, 0, ab_equality_rows(e) > 1 ? 3 : 1);
  if (e->type == AB_EQUALITY_WELD) set_targets(model, data, laws, e, row0, 3, 3);
  return true;
}

static int find(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

// The mover that stands for all that the equality is joined to; -1 if there is none, or if it
// sleeps.
static int root_of(const abModel* model, const abData* data, const abEquality* e, int* parent) {
  int mover[64], n = ab_equality_movers(model, e, 64, mover), root = -1;
  for (int k = 0; k < n; k++) {
    if (data->asleep[model->mover[mover[k]].body0]) return -1;
    int other = find(parent, mover[k]);
    if (root >= 0 && root != other)
      parent[root > other ? root : other] = root < other ? root : other;
    root = root < 0 || other < root ? other : root;
  }
  return root;
}

// The matrix s M^-1 s^T of a group's rows, factored. Rows that say the same twice make it singular:
// 1e-4 of the diagonal keeps it regular.
static bool factor_group(abData* data, abLaws* laws, abLawGroup* g) {
  int n = g->n;
  double* A = g->A = AB_TAKE(data->internal->scratch, double, n* n);
  if (!A) return false;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      A[i * n + j] = ab_law_speed(&laws->row[g->row0 + i], laws->response[g->row0 + j]);
    A[i * n + i] += 1e-4 * laws->row[g->row0 + i].mobility;
  }
  dense_cholesky(n, A, 0);
  return true;
}

static bool make_group(const abModel* model, abData* data, abLaws* laws, const int* root,
                       int first) {
  abLawGroup* g = &laws->group[laws->ngroup++];
  *g = (abLawGroup){.row0 = laws->n};
  for (int e = first; e < model->nequality; e++)
    if (root[e] == root[first]) {
      g->mocap = g->mocap || holds_mocap(model, &model->equality[e]);
      if (!equality_rows(model, data, laws, e)) return false;
    }
  g->n = laws->n - g->row0;
  return factor_group(data, laws, g);
}

bool ab_equality_laws(const abModel* model, abData* data, abLaws* laws) {
  if (model->nequality == 0) return true;
  int* root = AB_TAKE(data->internal->scratch, int, model->nequality);
  int* parent = AB_TAKE(data->internal->scratch, int, model->nmover);
  if (!root || !parent) return false;
  for (int m = 0; m < model->nmover; m++) parent[m] = m;
  for (int e = 0; e < model->nequality; e++)
    root[e] = model->equality[e].active ? root_of(model, data, &model->equality[e], parent) : -1;
  for (int e = 0; e < model->nequality; e++)
    if (root[e] >= 0) root[e] = find(parent, root[e]);
  for (int e = 0; e < model->nequality; e++) {
    bool done = root[e] < 0;
    for (int k = 0; k < e; k++) done = done || root[k] == root[e];
    if (!done && !make_group(model, data, laws, root, e)) return false;
  }
  laws->nequality = laws->n;
  return true;
}
