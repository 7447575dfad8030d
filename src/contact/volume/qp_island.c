// The system of one island of volume-qp (qp.c has the derivation): the Jacobians J of its
// contacts, the inertia M, and one Newton step,
//
//     (M - sum J^T D J) du = M (u_free - u) + sum J^T f.
// Tests: test_volume_models, test_volume_scales.
#include <string.h>

#include "base/arena.h"
#include "contact/volume/qp.h"
#include "solve/dense.h"

static double* jacobian(const abDirect* d, int i) { return d->J + (ptrdiff_t)i * 6 * d->ndof; }

// --- building
// -------------------------------------------------------------------------------------------------

static bool add_jacobian(abDirect* d, int i, int body, double sign) {
  const abResponse* r = d->problem->response;
  int mover = r->mover_of_body[body];
  if (mover < 0) return true;
  int ndof = r->mover[mover].ndof, dof0 = d->dof0[mover];
  abArenaMark mark = ab_arena_mark(d->problem->scratch);
  double* Jb = AB_TAKE(d->problem->scratch, double, 6 * ndof);
  if (!Jb) return false;
  ab_response_jacobian(r, body, Jb);
  const abVolumeContact* c = &d->contact[i];
  abVec3 arm = v3_sub(c->pair->patch.center, d->problem->body[body].com);
  double* J = jacobian(d, i);
  for (int k = 0; k < ndof; k++) {
    double column[6], moved[6];
    for (int a = 0; a < 6; a++) column[a] = Jb[a * ndof + k];
    ab_volume_twist_in(c, twist_move(twist_from_array(column), arm), moved);
    for (int a = 0; a < 6; a++) J[a * d->ndof + dof0 + k] += sign * moved[a];
  }
  ab_arena_release(d->problem->scratch, mark);
  return true;
}

static bool build_inertia(abDirect* d) {
  const abResponse* r = d->problem->response;
  memset(d->M, 0, sizeof(double) * (size_t)d->ndof * (size_t)d->ndof);
  for (int k = 0; k < d->nmover; k++) {
    int m = d->mover[k], n = r->mover[m].ndof, k0 = d->dof0[m];
    abArenaMark mark = ab_arena_mark(d->problem->scratch);
    double* block = AB_TAKE(d->problem->scratch, double, n* n);
    if (!block) return false;
    ab_response_inertia(r, m, block);
    for (int i = 0; i < n; i++)
      memcpy(d->M + (ptrdiff_t)(k0 + i) * d->ndof + k0, block + (ptrdiff_t)i * n,
             sizeof(double) * (size_t)n);
    ab_arena_release(d->problem->scratch, mark);
  }
  return true;
}

// The columns a contact touches: those of its two movers.
static int columns_of(const abDirect* d, int i, int range[4]) {
  const abResponse* r = d->problem->response;
  const abPair* pair = d->contact[i].pair;
  int m1 = r->mover_of_body[pair->body1], m2 = r->mover_of_body[pair->body2], n = 0;
  if (m1 >= 0) range[2 * n] = d->dof0[m1], range[2 * n + 1] = r->mover[m1].ndof, n++;
  if (m2 >= 0 && m2 != m1) range[2 * n] = d->dof0[m2], range[2 * n + 1] = r->mover[m2].ndof, n++;
  return n;
}

// W -= J^T D J and rhs += J^T f of one contact.
static void add_contact(abDirect* d, int i, const double* f, const double* D) {
  const double* J = jacobian(d, i);
  int range[4], nrange = columns_of(d, i, range);
  for (int rb = 0; rb < nrange; rb++)
    for (int b = range[2 * rb]; b < range[2 * rb] + range[2 * rb + 1]; b++) {
      double column[6], DJ[6];
      for (int k = 0; k < 6; k++) column[k] = J[k * d->ndof + b];
      for (int k = 0; k < 6; k++) DJ[k] = dense_dot(D + 6 * k, column, 6);
      d->du[b] += dense_dot(column, f, 6);
      for (int ra = 0; ra < nrange; ra++)
        for (int a = range[2 * ra]; a < range[2 * ra] + range[2 * ra + 1]; a++) {
          double s = 0;
          for (int k = 0; k < 6; k++) s += J[k * d->ndof + a] * DJ[k];
          d->W[(ptrdiff_t)a * d->ndof + b] -= s;
        }
    }
}

void ab_direct_twist(const abDirect* d, int i, const double* u, double v[6]) {
  const double* J = jacobian(d, i);
  int range[4], nrange = columns_of(d, i, range);
  for (int k = 0; k < 6; k++) {
    v[k] = 0;
    for (int r = 0; r < nrange; r++)
      for (int a = range[2 * r]; a < range[2 * r] + range[2 * r + 1]; a++)
        v[k] += J[k * d->ndof + a] * u[a];
  }
}

// --- a step
// -------------------------------------------------------------------------------------------------

// The line of a sliding contact where it finds itself right in the motion the others leave it, at
// the present motion v; false if it does not.
static bool line_at_own_answer(abDirect* d, int i, const double v[6]) {
  abVolumeContact* c = &d->contact[i];
  double v0[6], own[6], f[6];
  ab_volume_without_force(c, v, v0);
  if (!ab_volume_slide(c, v0, f)) return false;
  ab_volume_with_force(c, v0, f, own);
  ab_volume_linearise(c, own, d->law[i].f, d->law[i].D);
  for (int a = 0; a < 6; a++) own[a] = v[a] - own[a];
  ab_volume_advance(c, own, d->law[i].D, d->law[i].f);
  return true;
}

bool ab_direct_step(abDirect* d, bool own_answers, double* change) {
  size_t n = (size_t)d->ndof;
  memcpy(d->W, d->M, sizeof(double) * n * n);
  for (int a = 0; a < d->ndof; a++) {
    d->du[a] = 0;
    for (int b = 0; b < d->ndof; b++)
      d->du[a] += d->M[(ptrdiff_t)a * d->ndof + b] * (d->v_free[b] - d->u[b]);
  }
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active) continue;
    double v[6];
    ab_direct_twist(d, i, d->u, v);
    if (!own_answers || c->mode != AB_VOLUME_SLIDE || !line_at_own_answer(d, i, v))
      ab_volume_linearise(c, v, d->law[i].f, d->law[i].D);
    add_contact(d, i, d->law[i].f, d->law[i].D);
  }
  *change = INFINITY;
  if (!ab_dense_lu(d->ndof, d->W, d->pivot, 0)) return false;
  ab_dense_lu_solve(d->ndof, d->W, d->pivot, d->du);
  for (int a = 0; a < d->ndof; a++) d->u[a] += d->du[a];
  double largest = 0, size = d->option->scale;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active) continue;
    double dv[6];
    ab_direct_twist(d, i, d->du, dv);
    ab_volume_advance(c, dv, d->law[i].D, d->law[i].f);
    for (int a = 0; a < 6; a++) {
      largest = larger(largest, fabs(d->law[i].f[a] - c->f[a]));
      c->f[a] = d->law[i].f[a];
      size = larger(size, fabs(c->f[a]));
    }
  }
  *change = size > 0 ? largest / size : 0;
  return isfinite(size);
}

// --- memory
// -------------------------------------------------------------------------------------------------

bool ab_direct_prepare(abDirect* d) {
  const abContactProblem* problem = d->problem;
  const abResponse* response = problem->response;
  abArena* scratch = problem->scratch;
  d->ndof = 0;
  for (int k = 0; k < d->nmover; k++) {
    d->dof0[d->mover[k]] = d->ndof;
    d->ndof += response->mover[d->mover[k]].ndof;
  }
  size_t nn = (size_t)d->ndof * (size_t)d->ndof, nJ = 6 * (size_t)d->n * (size_t)d->ndof;
  d->contact = AB_TAKE(scratch, abVolumeContact, d->n);
  d->now = ab_arena_take(scratch, sizeof(double[6]) * (size_t)d->n);
  d->law = ab_arena_take(scratch, sizeof *d->law * (size_t)d->n);
  d->released = AB_TAKE(scratch, bool, d->n);
  d->pivot = AB_TAKE(scratch, int, d->ndof);
  d->J = AB_TAKE(scratch, double, nJ);
  d->M = AB_TAKE(scratch, double, nn);
  d->W = AB_TAKE(scratch, double, nn);
  d->v_free = AB_TAKE(scratch, double, d->ndof);
  d->du = AB_TAKE(scratch, double, d->ndof);
  d->u = AB_TAKE(scratch, double, d->ndof);
  if (!d->contact || !d->now || !d->law || !d->released || !d->pivot || !d->J || !d->M || !d->W ||
      !d->v_free || !d->du || !d->u || !build_inertia(d))
    return false;
  memset(d->J, 0, nJ * sizeof(double));
  memset(d->released, 0, (size_t)d->n * sizeof *d->released);
  for (int k = 0; k < d->nmover; k++) {
    const abMover* m = &response->mover[d->mover[k]];
    memcpy(d->v_free + d->dof0[d->mover[k]], problem->v_free + m->dof0,
           sizeof(double) * (size_t)m->ndof);
  }
  for (int i = 0; i < d->n; i++) {
    const abPair* pair = &problem->pair[d->pair[i]];
    ab_volume_prepare(problem, pair, d->option, &d->contact[i]);
    if (!d->contact[i].active) continue;
    if (!add_jacobian(d, i, pair->body1, 1) || !add_jacobian(d, i, pair->body2, -1)) return false;
    ab_volume_twist_in(&d->contact[i], ab_pair_twist_now(problem, pair, pair->patch.center),
                       d->now[i]);
  }
  return true;
}
