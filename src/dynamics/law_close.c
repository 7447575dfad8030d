// Closing equalities where the bodies are at the end of a step.
//
// The rows (equality_law.c) leave an error of third order in h. It is taken back by one to three
// steps of Newton's method with the matrices of the start, q -= M^-1 s^T (s M^-1 s^T)^-1 g, and the
// velocities are told: a step is then one of SHAKE, whose impulses are equal and opposite.
// Tests: test_law.
#include <math.h>
#include <string.h>

#include "dynamics/integrate.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "dynamics/rotate.h"
#include "dynamics/trees.h"
#include "internal.h"

// Errors below this share of the scene's size are left to the rows.
static const double CLOSED = 1e-9;
enum { MAX_CLOSING = 3 };

// A row that carries the impulse p leaves the error -h p / W open.
static double lag(const abLawRow* row, double h) {
  return row->weight > 0 ? h * row->impulse / row->weight : 0;
}

// Errors of all rows beyond what they leave open -> laws->error; the largest in units of the
// scene's length is returned.
static double find_errors(const abModel* model, abData* data, abLaws* laws) {
  double worst = 0, length = ab_law_length(model), error[6] = {0};
  data->stat.equality_error = 0;
  for (int i = 0; i < laws->nequality; i++) {
    const abLawOwner* o = &laws->owner[i];
    const abEquality* e = &model->equality[o->index];
    if (i == 0 || laws->owner[i - 1].index != o->index) ab_equality_error(model, data, e, error);
    double g = error[o->axis];
    data->stat.equality_error = fmax(data->stat.equality_error, fabs(g));
    const abLawRow* row = &laws->row[i];
    g += lag(row, data->h);
    bool near = fabs(g) <= laws->reach[i] && fabs(row->impulse) < row->high;
    laws->error[i] = near ? g : 0;
    if (near) worst = fmax(worst, fabs(g) / (ab_equality_unit(model, e, o->axis, length) * length));
  }
  return worst;
}

// A free body's angular momentum changes by its angular impulse, and stays what it is while the
// body is turned to q: the spin follows.
static void tell_spin(const abModel* model, abData* data, int b, const double* impulse) {
  const abBody* body = &model->body[b];
  double *v = data->v + body->dof0 + 3, h = data->h;
  const double* q = data->q + model->joint[body->joint0].q0 + 3;
  abVec3 L = m3_apply(&data->inertia[b], v3(v[0], v[1], v[2]));
  L = v3_axpy(1 / h, v3(impulse[3], impulse[4], impulse[5]), L);
  abQuat axes = quat_mul(quat_unit((abQuat){q[0], q[1], q[2], q[3]}), body->inertia_q);
  abVec3 w = ab_spin_velocity(axes, body->inertia, L);
  v[0] = w.x, v[1] = w.y, v[2] = w.z;
}

// The velocities that move the coordinates by dq in a step.
static void tell_velocities(const abModel* model, abData* data, const double* dq,
                            const double* impulse) {
  for (int m = 0; m < model->nmover; m++) {
    const abMover* mover = &model->mover[m];
    int d = mover->dof0, n = mover->jointed ? mover->ndof : 3;
    if (data->internal->trees->laws->touched[m]) continue;
    for (int i = d; i < d + n; i++) data->v[i] += dq[i] / data->h;
    bool turned = false;
    for (int i = d + 3; i < d + 6 && !mover->jointed; i++) turned = turned || impulse[i] != 0;
    if (turned) tell_spin(model, data, mover->body0, impulse + d);
  }
}

static void close_once(const abModel* model, abData* data, abLaws* laws, double* dq,
                       double* impulse) {
  memset(dq, 0, sizeof(double) * (size_t)model->nv);
  memset(impulse, 0, sizeof(double) * (size_t)model->nv);
  for (int k = 0; k < laws->ngroup; k++) {
    const abLawGroup* g = &laws->group[k];
    double* x = laws->error + g->row0;
    dense_cholesky_solve(g->n, g->A, x);
    for (int i = 0; i < g->n; i++) {
      const abLawRow* row = &laws->row[g->row0 + i];
      for (int l = 0; l < model->nv; l++) dq[l] -= x[i] * laws->response[g->row0 + i][l];
      for (int l = 0; l < row->n; l++) impulse[row->dof[l]] -= x[i] * row->s[l];
    }
  }
  ab_move_coordinates(model, data->q, dq);
  tell_velocities(model, data, dq, impulse);
}

void ab_laws_close(const abModel* model, abData* data) {
  abLaws* laws = data->internal->trees->laws;
  if (!laws || laws->nequality == 0) return;
  double *dq = data->internal->trees->change, *impulse = data->internal->trees->impulse;
  for (int k = 0;; k++) {
    ab_kinematics_bodies(model, data);
    double worst = find_errors(model, data, laws);
    if (!(worst > CLOSED) || k == MAX_CLOSING) return;
    close_once(model, data, laws, dq, impulse);
  }
}
