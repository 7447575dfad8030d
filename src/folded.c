// Joint trees that begin folded: deep inside something or themselves, and with joints far beyond
// their limits.
//
// A limit takes its joint back whatever that costs, and a contact that begins deep rests as it is
// whatever that costs (contact/patch/hold.c). Where the way back leads deeper in, the joints that
// are left have to give way: a robot in the floor stands up, but an arm whose levers are short
// would do so at hundreds of rad/s. With the closing speed c of the return, and the mobility w that
// the tree has at the contact while its limits return, that takes the energy c^2 / (2 w). Where it
// is more than UNBEARABLE times that of the return, the limits wait: they keep their joints from
// going farther out, and take them back when they can.
// Tests: test_hold.
#include "folded.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dynamics/response.h"
#include "dynamics/trees.h"
#include "geometry/support.h"
#include "internal.h"
#include "math/spatial.h"

// Share of the thinner shape, that counts as deep, as BEGINS_DEEP in contact/patch/hold.c.
#define FOLDED_DEEP 0.1

static double extent(const abShape* shape, abPose pose, abVec3 direction) {
  if (!shape || shape->type == AB_SHAPE_PLANE) return INFINITY;
  abVec3 d = quat_rotate(quat_conj(pose.q), direction);
  return v3_dot(d, v3_sub(ab_support(shape, d), ab_support(shape, v3_neg(d))));
}

static bool is_deep(const abPair* pair) {
  const abPatch* patch = &pair->patch;
  if (patch->kind == AB_PATCH_NONE || !(patch->depth > 0)) return false;
  return patch->depth > FOLDED_DEEP * fmin(extent(pair->shape1, pair->pose1, patch->normal),
                                           extent(pair->shape2, pair->pose2, patch->normal));
}

#define UNBEARABLE 10.0

static double opening(const abData* data, const abPair* pair, const double* v) {
  double u[2];
  for (int k = 0; k < 2; k++) {
    int body = k == 0 ? pair->body1 : pair->body2;
    abTwist t = ab_response_twist(&data->internal->response, v, body);
    u[k] = v3_dot(pair->patch.normal, twist_at(t, v3_sub(pair->patch.center, data->com[body])));
  }
  return u[0] - u[1];
}

// v: scratch
static double mobility(const abData* data, const abPair* pair, int nv, double* v) {
  memset(v, 0, sizeof(double) * (size_t)nv);
  for (int k = 0; k < 2; k++) {
    int body = k == 0 ? pair->body1 : pair->body2;
    abVec3 n = v3_scale(k == 0 ? 1 : -1, pair->patch.normal);
    abWrench w = wrench_of_force(v3_sub(pair->patch.center, data->com[body]), n);
    ab_response_apply(&data->internal->response, body, w, v);
  }
  return opening(data, pair, v);
}

// back: velocities of the return; x: scratch
static bool is_folded(const abModel* model, const abData* data, int mover, const double* back,
                      double* x) {
  double energy = ab_tree_energy(data->internal->trees, mover, back);
  for (int i = 0; i < data->internal->npair; i++) {
    const abPair* pair = &data->internal->pair[i];
    bool own = model->body[pair->body1].mover == mover || model->body[pair->body2].mover == mover;
    double closing = own && is_deep(pair) ? -opening(data, pair, back) : 0;
    if (!(closing > 0)) continue;
    double w = mobility(data, pair, model->nv, x);
    if (0.5 * closing * closing > UNBEARABLE * energy * w) return true;
  }
  return false;
}

// Velocities of nobody but the tree, with room for as many behind them.
static double* alone(const abModel* model, abData* data, int mover, const double* v) {
  const abMover* m = &model->mover[mover];
  double* x = AB_TAKE(data->internal->scratch, double, 2 * model->nv);
  if (!x) return NULL;
  memset(x, 0, sizeof(double) * (size_t)model->nv);
  memcpy(x + m->dof0, v + m->dof0, sizeof(double) * (size_t)m->ndof);
  return x;
}

abStatus ab_folded_stay(const abModel* model, abData* data) {
  bool changed = false;
  for (int m = 0; m < model->nmover; m++) {
    if (!model->mover[m].jointed || data->asleep[model->mover[m].body0]) continue;
    const double* back = ab_bounds_return(data, m);
    if (!back) continue;
    abArenaMark mark = ab_arena_mark(data->internal->scratch);
    double* v = alone(model, data, m, back);
    if (!v) return AB_ERROR_MEMORY;
    bool folded = is_folded(model, data, m, v, v + model->nv);
    if (folded) ab_bounds_stay(data, m, v);
    ab_arena_release(data->internal->scratch, mark);
    changed |= folded;
  }
  if (changed) ab_response_begin(model, data);
  return AB_OK;
}
