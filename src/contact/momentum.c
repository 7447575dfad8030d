// Momentum: what velocities v say that has acted, and what impulses say.
//
//   M (v - v_free) = sum over contacts J^T f + sum over laws s p + sum over rows s (p - p')
//
// M is the generalised inertia of a mover, J the Jacobian of a body's twist at its centre of mass,
// f the contact's impulse there, s p the impulse of a law that joins bodies. A row is a law of one
// joint (abRow), M and v_free assume a branch of it: p is its impulse at v, and p' what that branch
// gives there. M and J are those of dynamics/response.c, in full: the contact model works with
// factors and columns of its own, so each checks the other.
//
// Both sides are compared velocity by velocity. They may differ by
//
//   AB_MOMENTUM size + residual size + 64 epsilon noise,
//   size_k = sqrt(M_kk) max_j sum_j / sqrt(M_jj)
//
// with sum_j what was added up on both sides, each number by its magnitude: impulses on both sides
// of a body that is held may be far larger than what is left of them. The maximum is over a mover,
// whose velocities share their rounding in proportion to 1 / sqrt(M_jj). The second part is for
// velocities that a law or a row acts on: their impulses follow from the velocities found, so what
// the solver has left open is open there. The third: p = W (v* - s . v) is a difference of
// velocities, `noise`, times a stiffness that may be a million times the inertia.
//
// Measured over the tests of trees, laws, grips, stacks and steps, as shares of size: joint trees
// without rows 1.4e-13, free bodies 1.3e-10, rows 2.2e-11, laws 5e-7 (0.8 of the residual).
// Tests: test_momentum, and all others in a build with assertions.
#include "contact/momentum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "math/spatial.h"

// A hundred times what rounding leaves. An impulse that is applied and not reported, or the other
// way round, is wrong by itself: anything up to 1e-3 would notice.
static const double AB_MOMENTUM = 1e-8;

typedef struct Balance {
  const abContactProblem* problem;
  const abContactSolution* solution;
  double *lack, *sum, *noise;  // per velocity
  bool* open;                  // likewise: a row or a law acts on it
  double *M, *J;               // of one mover, of one body
} Balance;

static bool take(Balance* b) {
  const abResponse* r = b->problem->response;
  abArena* scratch = b->problem->scratch;
  size_t n = (size_t)r->ndof;
  int most = 0;
  for (int m = 0; m < r->nmover; m++) most = r->mover[m].ndof > most ? r->mover[m].ndof : most;
  b->lack = AB_TAKE(scratch, double, 3 * n);
  b->open = AB_TAKE(scratch, bool, n);
  b->M = AB_TAKE(scratch, double, most* most);
  b->J = AB_TAKE(scratch, double, 6 * most);
  if (!b->lack || !b->open || !b->M || !b->J) return false;
  b->sum = b->lack + n, b->noise = b->sum + n;
  memset(b->lack, 0, sizeof(double) * 3 * n);
  memset(b->open, 0, sizeof(bool) * n);
  return true;
}

// A generalised impulse p on the velocity k.
static void add(Balance* b, int k, double p) {
  b->lack[k] -= p;
  b->sum[k] += fabs(p);
}

// M (v - v_free)
static void add_inertia(Balance* b, int m) {
  const abResponse* r = b->problem->response;
  const abMover* mover = &r->mover[m];
  const double *v = b->solution->v + mover->dof0, *free = b->problem->v_free + mover->dof0;
  int n = mover->ndof;
  ab_response_inertia(r, m, b->M);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      b->lack[mover->dof0 + i] += b->M[i * n + j] * (v[j] - free[j]);
      b->sum[mover->dof0 + i] += fabs(b->M[i * n + j]) * (fabs(v[j]) + fabs(free[j]));
    }
}

// J^T f, f at the centre of mass
static void add_contact(Balance* b, int body, abWrench impulse) {
  const abResponse* r = b->problem->response;
  int m = r->mover_of_body[body];
  if (m < 0) return;
  double w[6];
  wrench_to_array(impulse, w);
  int n = r->mover[m].ndof, first = r->mover[m].dof0;
  memset(b->J, 0, sizeof(double) * 6 * (size_t)n);
  ab_response_jacobian(r, body, b->J);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < n; k++) add(b, first + k, b->J[i * n + k] * w[i]);
}

static double clamp(double low, double p, double high) {
  return p < low ? low : p > high ? high : p;
}

static void add_row(Balance* b, const abRow* row) {
  int first = b->problem->response->mover[row->mover].dof0 + row->dof;
  double sv = 0, speed = fabs(row->target);
  for (int k = 0; k < row->n; k++) {
    double one = row->s[k] * b->solution->v[first + k];
    sv += one, speed += fabs(one);
  }
  double inside = row->weight * (row->target - sv), p = clamp(row->low, inside, row->high);
  bool same = p == inside && row->assumed == AB_BRANCH_INSIDE;
  p -= row->assumed == AB_BRANCH_LOW    ? row->low
       : row->assumed == AB_BRANCH_HIGH ? row->high
                                        : inside;
  for (int k = 0; k < row->n; k++) {
    b->open[first + k] |= row->s[k] != 0;
    if (same) continue;
    add(b, first + k, row->s[k] * p);
    b->noise[first + k] += fabs(row->s[k]) * row->weight * speed;
  }
}

static void add_law(Balance* b, const abLawRow* law) {
  double speed = fabs(law->target);
  for (int i = 0; i < law->n; i++) speed += fabs(law->s[i] * b->solution->v[law->dof[i]]);
  for (int i = 0; i < law->n; i++) {
    int k = law->dof[i];
    b->open[k] = true;
    add(b, k, law->s[i] * law->impulse);
    b->noise[k] += fabs(law->s[i]) * law->weight * speed;
  }
}

// Of one mover. What is not a number is none of this check's: such a step breaks (fault.c).
static double error_of(Balance* b, int m) {
  const abMover* mover = &b->problem->response->mover[m];
  int n = mover->ndof;
  double most = 0, worst = 0;
  ab_response_inertia(b->problem->response, m, b->M);
  for (int i = 0; i < n; i++) most = fmax(most, b->sum[mover->dof0 + i] / sqrt(b->M[i * n + i]));
  for (int i = 0; i < n; i++) {
    int k = mover->dof0 + i;
    double size = sqrt(b->M[i * n + i]) * most;
    double share = AB_MOMENTUM + (b->open[k] ? b->solution->residual : 0);
    double allowed = share * size + 64 * DBL_EPSILON * b->noise[k];
    if (fabs(b->lack[k]) > worst * allowed) worst = fabs(b->lack[k]) / allowed;
  }
  return worst;
}

double ab_momentum_error(const abContactProblem* problem, const abContactSolution* solution) {
  const abResponse* r = problem->response;
  Balance b = {.problem = problem, .solution = solution};
  abArenaMark mark = ab_arena_mark(problem->scratch);
  if (!take(&b)) return -1;
  for (int m = 0; m < r->nmover; m++) add_inertia(&b, m);
  for (int i = 0; i < problem->npair; i++) {
    const abPair* pair = &problem->pair[i];
    const abPairSolution* s = &solution->pair[i];
    abVec3 com1 = problem->body[pair->body1].com, com2 = problem->body[pair->body2].com;
    add_contact(&b, pair->body1, wrench_move(s->impulse, v3_sub(com1, s->point)));
    abVec3 other = v3_sub(s->point, s->apart);
    add_contact(&b, pair->body2, wrench_neg(wrench_move(s->impulse, v3_sub(com2, other))));
  }
  for (int i = 0; i < problem->nrow; i++) add_row(&b, &problem->row[i]);
  for (int i = 0; i < problem->nlaw; i++) add_law(&b, &problem->law[i]);
  double worst = 0;
  for (int m = 0; m < r->nmover; m++) {
    double error = error_of(&b, m);
    if (error > worst) worst = error;
  }
  ab_arena_release(problem->scratch, mark);
  return worst;
}
