#include "dynamics/response.h"

#include "dynamics/trees.h"

void ab_response_update(const abModel* model, abData* data) {
  const abTrees* t = data->trees;
  data->response = (abResponse){.nbody = model->nbody,
                                .nmover = model->nmover,
                                .ndof = model->nv,
                                .mover_of_body = t->mover_of_body,
                                .mover = model->mover,
                                .mass = t->mass,
                                .inv_mass = t->inv_mass,
                                .inertia = data->inertia,
                                .inv_inertia = data->inv_inertia,
                                .tree = t};
}

static const abMover* free_mover(const abResponse* r, int body) {
  int m = r->mover_of_body[body];
  return m >= 0 && !r->mover[m].jointed ? &r->mover[m] : NULL;
}

abTwist ab_response_twist(const abResponse* r, const double* v, int body) {
  const abMover* mover = free_mover(r, body);
  if (mover) return twist_from_array(v + mover->dof0);
  return twist_zero();
}

void ab_response_apply(const abResponse* r, int body, abWrench impulse, double* v) {
  const abMover* mover = free_mover(r, body);
  if (!mover) return;
  abVec3 lin = v3_scale(r->inv_mass[body], impulse.force);
  abVec3 ang = m3_apply(&r->inv_inertia[body], impulse.torque);
  double* u = v + mover->dof0;
  u[0] += lin.x, u[1] += lin.y, u[2] += lin.z;
  u[3] += ang.x, u[4] += ang.y, u[5] += ang.z;
}

void ab_response_block(const abResponse* r, int a, int b, abMat6* block) {
  *block = m6_zero();
  if (a != b || !free_mover(r, a)) return;
  for (int i = 0; i < 3; i++) {
    block->m[i][i] = r->inv_mass[a];
    for (int j = 0; j < 3; j++) block->m[3 + i][3 + j] = r->inv_inertia[a].m[i][j];
  }
}

void ab_response_inertia(const abResponse* r, int m, double* M) {
  const abMover* mover = &r->mover[m];
  int n = mover->ndof, b = mover->body0;
  for (int i = 0; i < n * n; i++) M[i] = 0;
  if (mover->jointed) return;
  for (int i = 0; i < 3; i++) {
    M[i * 7] = r->mass[b];
    for (int j = 0; j < 3; j++) M[(3 + i) * 6 + 3 + j] = r->inertia[b].m[i][j];
  }
}

void ab_response_jacobian(const abResponse* r, int body, double* J) {
  const abMover* mover = free_mover(r, body);
  if (!mover) return;
  for (int i = 0; i < 36; i++) J[i] = i % 7 == 0 ? 1 : 0;
}
