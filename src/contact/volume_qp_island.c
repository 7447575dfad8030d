// The systems of one island of volume-qp (volume_qp.c has the derivation): the Jacobians J of its
// contacts, the inertia M, the matrix W = M + sum J^T G J of the contacts that stick, and the
// complementarity problem of the vertices of all others with the sticking contacts eliminated,
//
//     0 <= eps _|_ N (u_W + W^-1 A eps) - v* + slack eps >= 0.
#include <abut/solve.h>
#include <string.h>

#include "base/arena.h"
#include "contact/volume_qp.h"
#include "solve/dense.h"

static double* jacobian(const abDirect* d, int i) { return d->J + (ptrdiff_t)i * 6 * d->ndof; }

// --- building
// -----------------------------------------------------------------------------------------------------

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

const double* ab_direct_damper(const abVolumeContact* c) {
  return c->mode == AB_VOLUME_STICK ? c->G[0] : c->Gt[0];
}

// W += J^T G J and rhs += J^T G v* of one sticking contact; of others, their dampers.
static void add_sticking(abDirect* d, int i, double* rhs) {
  const abVolumeContact* c = &d->contact[i];
  const double* G = ab_direct_damper(c);
  const double* J = jacobian(d, i);
  int range[4], nrange = columns_of(d, i, range);
  for (int ra = 0; ra < nrange; ra++)
    for (int a = range[2 * ra]; a < range[2 * ra] + range[2 * ra + 1]; a++) {
      double GJ[6];
      for (int k = 0; k < 6; k++) {
        GJ[k] = 0;
        for (int l = 0; l < 6; l++) GJ[k] += G[6 * k + l] * J[l * d->ndof + a];
      }
      for (int k = 0; k < 6 && c->mode == AB_VOLUME_STICK; k++)
        rhs[a] += J[k * d->ndof + a] * c->Gv[k];
      for (int rb = 0; rb < nrange; rb++)
        for (int b = range[2 * rb]; b < range[2 * rb] + range[2 * rb + 1] && b <= a; b++) {
          double s = 0;
          for (int k = 0; k < 6; k++) s += J[k * d->ndof + b] * GJ[k];
          d->W[(ptrdiff_t)a * d->ndof + b] += s;
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

// --- sticking contacts, then sliding ones
// -----------------------------------------------------------------------------

// What forces at the contacts that hold or slide do to each other, through all that stick: X_i =
// W^-1 J_i^T by columns and C_ij = J_i X_j by rows. They stay while only directions change.
static void couple(abDirect* d) {
  for (int j = 0; j < d->n; j++) {
    if (!d->contact[j].active || d->contact[j].mode == AB_VOLUME_STICK) continue;
    for (int b = 0; b < 6; b++) {
      double* column = d->X + (ptrdiff_t)(6 * j + b) * d->ndof;
      memcpy(column, jacobian(d, j) + (ptrdiff_t)b * d->ndof, sizeof(double) * (size_t)d->ndof);
      dense_cholesky_solve(d->ndof, d->W, column);
      for (int i = 0; i < d->n; i++) {
        if (!d->contact[i].active || d->contact[i].mode == AB_VOLUME_STICK) continue;
        double v[6];
        ab_direct_twist(d, i, column, v);
        for (int a = 0; a < 6; a++) d->C[36 * ((ptrdiff_t)i * d->n + j) + 6 * a + b] = v[a];
      }
    }
  }
}

void ab_direct_solve_sticking(abDirect* d) {
  memcpy(d->W, d->M, sizeof(double) * (size_t)d->ndof * (size_t)d->ndof);
  for (int a = 0; a < d->ndof; a++) {
    d->u_stick[a] = 0;
    for (int b = 0; b < d->ndof; b++)
      d->u_stick[a] += d->M[(ptrdiff_t)a * d->ndof + b] * d->v_free[b];
  }
  double trace = 0;
  for (int i = 0; i < d->n; i++)
    if (d->contact[i].active && d->contact[i].mode != AB_VOLUME_SLIDE)
      add_sticking(d, i, d->u_stick);
  for (int a = 0; a < d->ndof; a++) trace += d->W[(ptrdiff_t)a * d->ndof + a];
  // A pivot this far below the mean diagonal is rounding: W is at least M, which is positive
  // definite.
  d->nregularised += dense_cholesky(d->ndof, d->W, 1e-15 * trace / d->ndof);
  dense_cholesky_solve(d->ndof, d->W, d->u_stick);
  couple(d);
}

int ab_direct_count_vertices(const abDirect* d) {
  int n = 0;
  for (int i = 0; i < d->n; i++)
    if (d->contact[i].active && d->contact[i].mode != AB_VOLUME_STICK) n += d->contact[i].nvert;
  return n;
}

typedef struct Sliding {
  int n;
  double* g;  // 6 x n: the vertex force as a 6-vector of its contact
  double* M;
  double* q;
  double* eps;
  int* contact;
  int* vertex;
} Sliding;

static bool collect_sliding(abDirect* d, double mu_scale, Sliding* s) {
  abArena* scratch = d->problem->scratch;
  s->n = ab_direct_count_vertices(d);
  s->g = AB_TAKE(scratch, double, 6 * s->n);
  s->M = AB_TAKE(scratch, double, (ptrdiff_t)s->n * s->n);
  s->q = AB_TAKE(scratch, double, s->n);
  s->eps = AB_TAKE(scratch, double, s->n);
  s->contact = AB_TAKE(scratch, int, s->n);
  s->vertex = AB_TAKE(scratch, int, s->n);
  if (!s->g || !s->M || !s->q || !s->eps || !s->contact || !s->vertex) return false;
  int k = 0;
  for (int i = 0; i < d->n; i++) {
    const abVolumeContact* c = &d->contact[i];
    if (!c->active || c->mode == AB_VOLUME_STICK) continue;
    const abVolumeVertices* vertices = c->mode == AB_VOLUME_HOLD ? c->hold : c->slide;
    for (int l = 0; l < c->nvert; l++, k++) {
      double* g = s->g + 6 * k;
      memcpy(g, vertices->A + 6 * l, 6 * sizeof(double));
      g[0] *= mu_scale, g[1] *= mu_scale, g[5] *= mu_scale;
      s->contact[k] = i, s->vertex[k] = l;
    }
  }
  return true;
}

// The complementarity problem of all sliding vertices, with the sticking contacts eliminated.
static void build_lcp(abDirect* d, Sliding* s) {
  for (int i = 0, count; i < s->n; i += count) {  // the rows of one contact at a time
    int at = s->contact[i];
    const abVolumeContact* c = &d->contact[at];
    count = c->nvert;
    double v[6];
    ab_direct_twist(d, at, d->u_stick, v);
    for (int l = 0; l < count; l++)
      s->q[i + l] = ab_volume_normal_velocity(v, c->vert[l]) - c->target[l];
    for (int k = 0; k < s->n; k++) {
      const double* C = d->C + 36 * ((ptrdiff_t)at * d->n + s->contact[k]);
      for (int a = 0; a < 6; a++) v[a] = dense_dot(C + 6 * a, s->g + 6 * k, 6);
      for (int l = 0; l < count; l++)
        s->M[(ptrdiff_t)(i + l) * s->n + k] =
            ab_volume_normal_velocity(v, c->vert[l]) + (i + l == k) * c->slack;
    }
  }
}

bool ab_direct_solve_sliding(abDirect* d, double mu_scale, double tolerance, double* residual) {
  abArena* scratch = d->problem->scratch;
  abArenaMark mark = ab_arena_mark(scratch);
  Sliding s;
  bool solved = collect_sliding(d, mu_scale, &s);
  void* workspace = solved ? ab_arena_take(scratch, ab_lcp_workspace(s.n)) : NULL;
  solved = solved && workspace;
  if (solved) {
    build_lcp(d, &s);
    abLcpDef def = {.n = s.n, .m = s.M, .q = s.q, .tolerance = tolerance};
    abSolveResult result = ab_lcp(&def, s.eps, NULL, workspace);
    *residual = result.residual;
    solved = result.status == AB_SOLVE_OK;
  }
  memcpy(d->u, d->u_stick, sizeof(double) * (size_t)d->ndof);
  for (int i = 0; i < d->n; i++)
    if (d->contact[i].mode != AB_VOLUME_STICK) memset(d->contact[i].f, 0, sizeof d->contact[i].f);
  for (int k = 0; solved && k < s.n; k++)
    for (int i = 0; i < 6; i++) d->contact[s.contact[k]].f[i] += s.g[6 * k + i] * s.eps[k];
  for (int i = 0; solved && i < d->n; i++)
    if (d->contact[i].active && d->contact[i].mode != AB_VOLUME_STICK)
      for (int a = 0; a < 6; a++)
        dense_axpy(d->contact[i].f[a], d->X + (ptrdiff_t)(6 * i + a) * d->ndof, d->u, d->ndof);
  ab_arena_release(scratch, mark);
  return solved;
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
  d->J = AB_TAKE(scratch, double, nJ);
  d->M = AB_TAKE(scratch, double, nn);
  d->W = AB_TAKE(scratch, double, nn);
  d->X = AB_TAKE(scratch, double, nJ);
  d->C = AB_TAKE(scratch, double, 36 * (size_t)d->n * (size_t)d->n);
  d->v_free = AB_TAKE(scratch, double, d->ndof);
  d->u_stick = AB_TAKE(scratch, double, d->ndof);
  d->u = AB_TAKE(scratch, double, d->ndof);
  if (!d->contact || !d->now || !d->J || !d->M || !d->W || !d->X || !d->C || !d->v_free ||
      !d->u_stick || !d->u || !build_inertia(d))
    return false;
  memset(d->J, 0, nJ * sizeof(double));
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
