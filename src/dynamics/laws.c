// The laws of a step as rows: their algebra, loads and forces.
// Tests: test_law.
#include "dynamics/laws.h"

#include <string.h>

#include "base/arena.h"
#include "dynamics/trees.h"
#include "internal.h"

// --- what there is

bool ab_tendon_acts(const abTendon* t) {
  return t->limited || t->stiffness != 0 || t->damping != 0 || t->frictionloss != 0 ||
         t->armature != 0;
}

static bool has_feedback(const abActuator* a) {
  if (a->gain == AB_GAIN_AFFINE && (a->gainprm[1] != 0 || a->gainprm[2] != 0)) return true;
  return a->bias == AB_BIAS_AFFINE && (a->biasprm[1] != 0 || a->biasprm[2] != 0);
}

bool ab_laws_rows(const abModel* model) {
  for (int i = 0; i < model->nequality; i++)
    if (model->equality[i].active) return true;
  for (int i = 0; i < model->ntendon; i++)
    if (ab_tendon_acts(&model->tendon[i])) return true;
  for (int i = 0; i < model->nactuator; i++)
    if (model->actuator[i].drive != AB_DRIVE_JOINT && has_feedback(&model->actuator[i]))
      return true;
  return false;
}

bool ab_laws_any(const abModel* model) {
  for (int i = 0; i < model->nactuator; i++)
    if (model->actuator[i].drive != AB_DRIVE_JOINT) return true;
  return ab_laws_rows(model);
}

// --- rows

void ab_law_lever(const abModel* model, const abData* data, int body, abVec3 point, abWrench w,
                  double* s) {
  const abTrees* t = data->internal->trees;
  int m = model->body[body].mover;
  if (m < 0) return;
  if (!model->mover[m].jointed) {
    double x[6];
    wrench_to_array(wrench_move(w, v3_sub(data->com[body], point)), x);
    for (int k = 0; k < 6; k++) s[model->mover[m].dof0 + k] += x[k];
    return;
  }
  abSix x;
  abWrench at_origin = wrench_move(w, v3_sub(t->origin[m], point));
  six_set(at_origin.force, at_origin.torque, &x);
  for (int j = t->link_of_body[body]; j >= 0; j = t->link[j].parent) {
    const abLink* link = &t->link[j];
    for (int k = 0; k < link->ndof; k++) s[link->dof + k] += six_dot(&t->S[link->dof + k], &x);
  }
}

int ab_law_mover(const abModel* model, int dof) {
  return model->body[model->joint[model->dof_joint[dof]].body].mover;
}

bool ab_law_row(const abModel* model, abData* data, abLaws* laws, abLawOwner owner,
                abLawRow** out) {
  int n = 0;
  *out = NULL;
  for (int i = 0; i < model->nv; i++) n += laws->dense[i] != 0;
  if (n == 0) return true;
  int* dof = AB_TAKE(data->internal->scratch, int, n);
  double* s = AB_TAKE(data->internal->scratch, double, n);
  if (!dof || !s || laws->n == laws->room) return false;
  n = 0;
  for (int i = 0; i < model->nv; i++) {
    if (laws->dense[i] == 0) continue;
    dof[n] = i, s[n++] = laws->dense[i];
    laws->joins[ab_law_mover(model, i)] = true;
    laws->dense[i] = 0;
  }
  laws->owner[laws->n] = owner;
  *out = &laws->row[laws->n++];
  **out = (abLawRow){.n = n, .dof = dof, .s = s};
  return true;
}

double ab_law_speed(const abLawRow* row, const double* v) {
  double sum = 0;
  for (int i = 0; i < row->n; i++) sum += row->s[i] * v[row->dof[i]];
  return sum;
}

static void free_response(const abData* data, const abMover* m, const double* s, double* x) {
  int b = m->body0;
  abVec3 w = m3_apply(&data->internal->inv_inertia[b], v3(s[3], s[4], s[5]));
  for (int k = 0; k < 3; k++) x[k] = data->internal->trees->inv_mass[b] * s[k];
  x[3] = w.x, x[4] = w.y, x[5] = w.z;
}

// Once per step, before the joints' bounds are there.
static void factor_without_bounds(const abModel* model, abTrees* t, int mover) {
  if (t->laws->factored[mover]) return;
  abTreeRange range = tree_range(model, &model->mover[mover]);
  for (int j = range.joint0; j < range.joint1; j++) t->link[j].bound = -1;
  t->bound1[mover] = t->bound0[mover];
  ab_tree_factor(t, mover);
  t->laws->factored[mover] = true;
}

double ab_law_mobility(const abModel* model, abData* data, const abLawRow* row, double* response) {
  abTrees* t = data->internal->trees;
  double* x = response ? response : t->change;
  for (int i = 0, last = -1; i < row->n; i++) {
    int mover = ab_law_mover(model, row->dof[i]);
    if (mover == last) continue;
    last = mover;
    const abMover* m = &model->mover[mover];
    memset(t->impulse + m->dof0, 0, sizeof(double) * (size_t)m->ndof);
    for (int k = i; k < row->n && row->dof[k] < m->dof0 + m->ndof; k++)
      t->impulse[row->dof[k]] = row->s[k];
    if (m->jointed) {
      factor_without_bounds(model, t, mover);
      ab_tree_solve(t, mover, t->impulse, x);
    } else {
      free_response(data, m, t->impulse + m->dof0, x + m->dof0);
    }
  }
  return ab_law_speed(row, x);
}

void ab_law_load(const abModel* model, abData* data, double* dense, double force) {
  abTrees* t = data->internal->trees;
  for (int i = 0; i < model->nv; i++) {
    if (dense[i] == 0) continue;
    t->tau[i] += force * dense[i];
    dense[i] = 0;
  }
}

bool ab_laws_join(const abLaws* laws, int mover) { return laws && laws->joins[mover]; }

// --- the whole

static int most_rows(const abModel* model) {
  int n = model->nactuator + 4 * model->ntendon;
  for (int i = 0; i < model->nequality; i++) n += ab_equality_rows(&model->equality[i]);
  return n;
}

static abLaws* take_laws(const abModel* model, const abData* data) {
  struct abArena* arena = data->internal->scratch;
  int n = most_rows(model);
  abLaws* laws = AB_TAKE(arena, abLaws, 1);
  if (!laws) return NULL;
  *laws = (abLaws){.room = n,
                   .row = AB_TAKE(arena, abLawRow, n),
                   .owner = AB_TAKE(arena, abLawOwner, n),
                   .response = AB_TAKE(arena, double*, n),
                   .reach = AB_TAKE(arena, double, n),
                   .weak = AB_TAKE(arena, double, n),
                   .group = AB_TAKE(arena, abLawGroup, model->nequality + 1),
                   .touched = AB_TAKE(arena, bool, model->nmover),
                   .joins = AB_TAKE(arena, bool, model->nmover),
                   .factored = AB_TAKE(arena, bool, model->nmover),
                   .dense = AB_TAKE(arena, double, model->nv),
                   .error = AB_TAKE(arena, double, 2 * n)};
  if (!laws->row || !laws->owner || !laws->response || !laws->reach || !laws->weak ||
      !laws->group || !laws->touched || !laws->joins || !laws->factored || !laws->dense ||
      !laws->error)
    return NULL;
  memset(laws->touched, 0, sizeof(bool) * (size_t)model->nmover);
  memset(laws->joins, 0, sizeof(bool) * (size_t)model->nmover);
  memset(laws->factored, 0, sizeof(bool) * (size_t)model->nmover);
  memset(laws->dense, 0, sizeof(double) * (size_t)model->nv);
  return laws;
}

bool ab_laws_begin(const abModel* model, abData* data, bool implicit) {
  abTrees* t = data->internal->trees;
  t->laws = take_laws(model, data);
  if (!t->laws) return false;
  return ab_equality_laws(model, data, t->laws) && ab_tendon_laws(model, data, t->laws, implicit) &&
         ab_drive_laws(model, data, t->laws, implicit);
}

void ab_laws_inertial(const abModel* model, abData* data) {
  abLaws* laws = data->internal->trees->laws;
  if (!laws) return;
  for (int i = 0; i < laws->nequality && model->integrator == AB_INTEGRATOR_EULER; i++) {
    abLawRow* row = &laws->row[i];
    for (int k = 0; k < row->n; k++)
      if (model->mover[ab_law_mover(model, row->dof[k])].jointed)
        row->target += 0.5 * row->s[k] * data->internal->trees->inertial[row->dof[k]];
  }
  ab_equality_weak(laws, data->v_free);
}

void ab_laws_loads(const abModel* model, abData* data) {
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  abLaws laws = {.dense = AB_TAKE(data->internal->scratch, double, model->nv)};
  if (laws.dense) {
    memset(laws.dense, 0, sizeof(double) * (size_t)model->nv);
    ab_tendon_loads(model, data, laws.dense);
    ab_drive_laws(model, data, &laws, false);
  }
  ab_arena_release(data->internal->scratch, mark);
}

// --- after the solve

static void report(abData* data, const abLawOwner* o, double force) {
  double x[6] = {0};
  if (o->kind == AB_LAW_TENDON) {
    data->tendon_force[o->index] += o->sign * force;
  } else if (o->kind == AB_LAW_ACTUATOR) {
    data->actuator_force[o->index] = force;
  } else {
    x[o->axis] = force;
    abWrench* w = &data->equality_force[o->index];
    *w = wrench_add(*w, wrench_from_array(x));
  }
}

void ab_laws_forces(abData* data) {
  const abLaws* laws = data->internal->trees->laws;
  if (!laws) return;
  for (int i = 0; i < laws->n; i++) report(data, &laws->owner[i], laws->row[i].impulse / data->h);
}
