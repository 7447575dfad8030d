// Contacts that equalities keep from opening.
//
// With s = n^T (J1 - J2) the opening speed of a contact is s . v. Where s is a sum of multiples of
// the rows of equalities, s = z s_rows, it cannot change while they are kept: welded bodies that
// overlap. Such a contact is held, and asks for nothing.
//
// So are two bodies of one tree that the rows leave almost no mobility against each other: links
// that a mechanism couples, and that overlap by the way they are drawn. The forces that it would
// take to part them have no reason. Against other bodies little mobility means nothing: a light
// foot that rods hold to a heavy robot has the share of their masses left, and stands on it. The
// mobility is that without the joints' bounds, as the rows' are: a stop that is reached, or
// friction that sticks, holds nothing.
// Tests: test_law.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "internal.h"
#include "math/spatial.h"

// Rounds of refinement, and the share of the terms in each velocity, and of the largest term of
// all, that counts as nothing left.
enum { REFINE = 3 };
static const double NOTHING = 1e-4, HOLD_ROUNDING = 1e-9;
// Either of them after one round, which is enough to tell almost all that are not held.
static const double LITTLE_SLIP = 1e-2;
// Within a tree: share of the mobility.
static const double LEFT = 1e-2;

// Which multiples z of a group's rows come nearest to s: A z = s M^-1 s_rows^T. The factor at hand
// is that of A + D, D 1e-4 of A's diagonal (equality_law.c), so z is refined,
//   z += (A + D)^-1 (s M^-1 s_rows^T - A z);
// each round leaves 1e-4 of the error but in directions that say the same twice, which s has
// nothing of. y is scratch for nv numbers; s is laws->dense, z laws->error.
static const double* nearest_rows(const abLaws* laws, const abLawGroup* g, int rounds, int nv,
                                  double* y) {
  const double* s = laws->dense;
  double *z = laws->error, *r = laws->error + g->n;
  memset(z, 0, sizeof(double) * (size_t)g->n);
  for (int round = 0; round < rounds; round++) {
    memset(y, 0, sizeof(double) * (size_t)nv);
    for (int i = 0; i < g->n; i++)
      for (int k = 0; k < nv; k++) y[k] += z[i] * laws->response[g->row0 + i][k];
    for (int i = 0; i < g->n; i++) {
      r[i] = -ab_law_speed(&laws->row[g->row0 + i], y);
      for (int k = 0; k < nv; k++) r[i] += s[k] * laws->response[g->row0 + i][k];
    }
    dense_cholesky_solve(g->n, g->A, r);
    for (int i = 0; i < g->n; i++) z[i] += r[i];
  }
  return z;
}

// left = s - sum of z s_rows over all groups, size = the sum of the sizes of these terms. Whether
// next to nothing is left.
static bool is_sum_of_rows(const abLaws* laws, abTrees* t, int rounds, double share, double all) {
  const double* s = laws->dense;
  double *left = t->reaction_new, *size = t->impulse, most = 0;
  int nv = t->model->nv;
  for (int k = 0; k < nv; k++) left[k] = s[k], size[k] = fabs(s[k]);
  for (int k = 0; k < laws->ngroup; k++) {
    const abLawGroup* g = &laws->group[k];
    if (g->mocap) continue;
    const double* z = nearest_rows(laws, g, rounds, nv, t->change);
    for (int i = 0; i < g->n; i++) {
      const abLawRow* row = &laws->row[g->row0 + i];
      for (int j = 0; j < row->n; j++) {
        double x = z[i] * row->s[j];
        left[row->dof[j]] -= x, size[row->dof[j]] += fabs(x);
      }
    }
  }
  for (int k = 0; k < nv; k++) most = fmax(most, size[k]);
  for (int k = 0; k < nv; k++)
    if (fabs(left[k]) > share * size[k] + all * most) return false;
  return true;
}

// laws->dense += s
static void add_lever(const abModel* model, const abData* data, const abPair* pair) {
  abWrench n = {pair->patch.normal, v3_zero()};
  double* s = data->internal->trees->laws->dense;
  ab_law_lever(model, data, pair->body1, pair->patch.center, n, s);
  ab_law_lever(model, data, pair->body2, pair->patch.center, wrench_neg(n), s);
}

static void clear_lever(const abModel* model, const abData* data) {
  memset(data->internal->trees->laws->dense, 0, sizeof(double) * (size_t)model->nv);
}

// How much of s M^-1 s^T the rows leave; the tree is factored without bounds.
static bool is_almost_held(const abModel* model, const abData* data, int mover) {
  abTrees* t = data->internal->trees;
  const abLaws* laws = t->laws;
  const abMover* m = &model->mover[mover];
  double *v = t->reaction_new, free = 0, held = 0;
  memset(v, 0, sizeof(double) * (size_t)model->nv);
  memcpy(t->impulse + m->dof0, laws->dense + m->dof0, sizeof(double) * (size_t)m->ndof);
  ab_tree_solve(t, mover, t->impulse, v);
  for (int i = m->dof0; i < m->dof0 + m->ndof; i++) free += laws->dense[i] * v[i];
  for (int k = 0; k < laws->ngroup; k++) {
    const abLawGroup* g = &laws->group[k];
    if (g->mocap) continue;
    const double* z = nearest_rows(laws, g, 1, model->nv, t->change);
    for (int i = 0; i < g->n; i++) held += z[i] * ab_law_speed(&laws->row[g->row0 + i], v);
  }
  return held > (1 - LEFT) * free;
}

// Switches the bounds of a tree off, with their states kept in `state`, or on again.
static void switch_bounds(abTrees* t, int mover, bool on, abBoundState* state) {
  for (int i = t->bound0[mover]; i < t->bound1[mover]; i++) {
    abBoundState* s = &t->bound[i].state;
    if (!on) state[i - t->bound0[mover]] = *s;
    *s = on ? state[i - t->bound0[mover]] : AB_BOUND_LOW;
  }
  ab_tree_factor(t, mover);
}

static bool joined(const abModel* model, const abLaws* laws, const abPair* pair) {
  int m1 = model->body[pair->body1].mover, m2 = model->body[pair->body2].mover;
  return (m1 < 0 || laws->joins[m1]) && (m2 < 0 || laws->joins[m2]) &&
         pair->patch.kind != AB_PATCH_NONE;
}

// The pair's tree, if both bodies belong to it and nobody has found them held; else -1.
static int tree_of(const abModel* model, const abLaws* laws, const abPair* pair) {
  int m = model->body[pair->body1].mover;
  bool one = m >= 0 && m == model->body[pair->body2].mover && model->mover[m].jointed;
  return one && !pair->held && joined(model, laws, pair) ? m : -1;
}

static bool hold_in_tree(const abModel* model, abData* data, int mover) {
  abTrees* t = data->internal->trees;
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  abBoundState* state =
      AB_TAKE(data->internal->scratch, abBoundState, t->bound1[mover] - t->bound0[mover] + 1);
  if (!state) return false;
  switch_bounds(t, mover, false, state);
  for (int i = 0; i < data->internal->npair; i++) {
    abPair* pair = &data->internal->pair[i];
    if (tree_of(model, t->laws, pair) != mover) continue;
    add_lever(model, data, pair);
    pair->held = is_almost_held(model, data, mover);
    clear_lever(model, data);
  }
  switch_bounds(t, mover, true, state);
  ab_arena_release(data->internal->scratch, mark);
  return true;
}

bool ab_laws_hold(const abModel* model, abData* data) {
  abTrees* t = data->internal->trees;
  for (int i = 0; i < data->internal->npair; i++) data->internal->pair[i].held = false;
  if (!t->laws || t->laws->ngroup == 0) return true;
  for (int i = 0; i < data->internal->npair; i++) {
    abPair* pair = &data->internal->pair[i];
    if (!joined(model, t->laws, pair)) continue;
    add_lever(model, data, pair);
    pair->held = is_sum_of_rows(t->laws, t, 1, LITTLE_SLIP, LITTLE_SLIP) &&
                 is_sum_of_rows(t->laws, t, REFINE, NOTHING, HOLD_ROUNDING);
    clear_lever(model, data);
  }
  for (int m = 0; m < model->nmover; m++) {
    bool any = false;
    for (int i = 0; i < data->internal->npair && !any; i++)
      any = tree_of(model, t->laws, &data->internal->pair[i]) == m;
    if (any && !hold_in_tree(model, data, m)) return false;
  }
  return true;
}
