// The velocity at the end of the step without contact.
//
// Free bodies: v + h f / m and w + h I^-1 tau with gravity, applied wrenches and actuators, all
// taken at the start. No gyroscopic term: the turning of the angular velocity by the body's own
// spin happens in ab_integrate, which keeps the angular momentum.
//
// Joint trees: the articulated-body algorithm (tree_solve.c) with the joints' forces
// (joint_force.c) and their limits, friction and force ranges (bound.c).
#include "dynamics/free_motion.h"

#include "dynamics/rk4.h"
#include "dynamics/trees.h"

static void free_body(const abModel* model, abData* data, const abMover* mover) {
  int b = mover->body0;
  const abBody* body = &model->body[b];
  abWrench load = data->applied[b];
  if (body->gravity) load.force = v3_axpy(body->mass, model->gravity, load.force);
  if (model->integrator == AB_RK4) {
    ab_rk4_free_body(model, data, mover, load);
    return;
  }
  abTwist t = data->twist[b];
  t.lin = v3_axpy(data->h * data->trees->inv_mass[b], load.force, t.lin);
  t.ang = v3_axpy(data->h, m3_apply(&data->inv_inertia[b], load.torque), t.ang);
  twist_to_array(t, data->v_free + mover->dof0);
}

void ab_free_motion(const abModel* model, abData* data) {
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    if (!mover->jointed)
      free_body(model, data, mover);
    else
      for (int i = mover->dof0; i < mover->dof0 + mover->ndof; i++) data->v_free[i] = data->v[i];
  }
}
