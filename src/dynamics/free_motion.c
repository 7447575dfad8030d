// The velocity at the end of the step without contact.
//
// Free bodies: v + h f / m and w + h I^-1 tau with gravity, applied wrenches and actuators, all
// taken at the start. No gyroscopic term: the turning of the angular velocity by the body's own
// spin happens in ab_integrate, which keeps the angular momentum.
//
// Joint trees: the articulated-body algorithm (tree_solve.c) with the joints' forces
// (joint_force.c) and their limits, friction and force ranges (bound.c). With RK4 the smooth motion
// comes from rk4.c, and limits and friction act on its result.
// Tests: test_free_body, test_joint.
#include "dynamics/free_motion.h"

#include <string.h>

#include "base/arena.h"
#include "dynamics/laws.h"
#include "dynamics/rk4.h"
#include "dynamics/trees.h"
#include "internal.h"

static void free_body(const abModel* model, abData* data, int m) {
  const abMover* mover = &model->mover[m];
  int b = mover->body0;
  if (model->integrator == AB_INTEGRATOR_RK4 && ab_rk4_driven(model, m)) {
    memcpy(data->v_free + mover->dof0, data->internal->trees->v_smooth + mover->dof0,
           6 * sizeof(double));
    return;
  }
  const abBody* body = &model->body[b];
  abWrench load = data->applied[b];
  if (model->nactuator > 0)
    load = wrench_add(load, wrench_from_array(data->internal->trees->tau + mover->dof0));
  if (body->gravity) load.force = v3_axpy(body->mass, model->gravity, load.force);
  if (model->integrator == AB_INTEGRATOR_RK4) {
    ab_rk4_free_body(model, data, mover, load);
    return;
  }
  abTwist t = data->twist[b];
  t.lin = v3_axpy(data->h * data->internal->trees->inv_mass[b], load.force, t.lin);
  t.ang = v3_axpy(data->h, m3_apply(&data->internal->inv_inertia[b], load.torque), t.ang);
  twist_to_array(t, data->v_free + mover->dof0);
}

static bool has_stages(const abModel* model) {
  for (int m = 0; m < model->nmover; m++)
    if (model->mover[m].jointed || ab_rk4_driven(model, m)) return true;
  return false;
}

// Without memory the step ends in values that are not numbers, and is reported as broken.
static void begin_laws(const abModel* model, abData* data, bool implicit) {
  data->internal->trees->laws = NULL;
  if (!ab_laws_any(model) || ab_laws_begin(model, data, implicit)) return;
  for (int i = 0; i < model->nv; i++)
    data->internal->trees->tau[i] = data->internal->trees->v_smooth[i] = NAN;
}

void ab_free_motion(const abModel* model, abData* data) {
  bool rk4 = model->integrator == AB_INTEGRATOR_RK4;
  if (rk4 && has_stages(model)) {
    // without memory the step ends in values that are not numbers, and is reported as broken
    if (!ab_rk4_stages(model, data))
      for (int i = 0; i < model->nv; i++) data->internal->trees->v_smooth[i] = NAN;
  }
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (data->asleep[mover->body0]) continue;
    if (mover->jointed && !rk4) ab_tree_forces(model, data, m, true);
    if (!mover->jointed && model->nactuator > 0)
      memset(data->internal->trees->tau + mover->dof0, 0, 6 * sizeof(double));
  }
  begin_laws(model, data, !rk4);
  for (int m = 0; m < model->nmover; m++)
    if (model->mover[m].jointed && !data->asleep[model->mover[m].body0])
      ab_bounds_begin(model, data, m);
  ab_actuators(model, data, !rk4);
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (data->asleep[mover->body0]) continue;
    if (!mover->jointed)
      free_body(model, data, m);
    else
      ab_bounds_solve(data, m, !rk4, rk4 ? data->internal->trees->v_smooth : data->v, data->v_free);
  }
  ab_laws_inertial(model, data);
}

bool ab_free_motion_follow(const abModel* model, abData* data, const double* v) {
  bool changed = false;
  for (int m = 0; m < model->nmover; m++)
    if (model->mover[m].jointed && !data->asleep[model->mover[m].body0] &&
        ab_bounds_follow(data, m, v, data->v_free))
      changed = true;
  return changed;
}

static void set_row(const abBound* b, const abMover* mover, int m, abRow* row) {
  row->mover = m, row->n = b->n, row->dof = b->dof - mover->dof0;
  row->weight = b->weight, row->target = b->target, row->low = b->low, row->high = b->high;
  row->assumed = b->state == AB_BOUND_LOW    ? AB_BRANCH_LOW
                 : b->state == AB_BOUND_HIGH ? AB_BRANCH_HIGH
                                             : AB_BRANCH_INSIDE;
  memcpy(row->s, b->s, sizeof row->s);
}

bool ab_free_motion_rows(const abModel* model, const abData* data, int* nrow, abRow** out) {
  const abTrees* t = data->internal->trees;
  int most = 0, n = 0;
  for (int m = 0; m < model->nmover; m++)
    if (model->mover[m].jointed) most += t->bound1[m] - t->bound0[m];
  abRow* row = AB_TAKE(data->internal->scratch, abRow, most);
  if (!row) return false;
  for (int m = 0; m < model->nmover; m++) {
    if (!model->mover[m].jointed || data->asleep[model->mover[m].body0]) continue;
    for (int i = t->bound0[m]; i < t->bound1[m]; i++)
      set_row(&t->bound[i], &model->mover[m], m, &row[n++]);
  }
  *nrow = n, *out = row;
  return true;
}
