// volume-qp: 6-axis forces of contact volumes, all contacts at once.
//
// Wakisaka & Sugihara 2017, "Loosely-constrained volumetric contact force computation for rigid
// body simulation". The law of a sticking contact, f_i = G_i (v*_i - v_i) (contact/volume.h), is
// linear. With u the generalised velocities, M their inertia and J_i the map to the relative twist
// of contact i, all sticking contacts together give
//
//     W u = M u_free + sum_i J_i^T G_i v*_i,     W = M + sum_i J_i^T G_i J_i:
//
// one symmetric positive definite system whatever the shapes of the patches; the paper's problem
// (25) in f has the same solution with its regularisation measured as in contact/volume.h. It is
// solved directly, island by island, so the cost grows as the cube of the bodies that touch.
//
// A contact whose force leaves the static friction cone holds or slides: it drops out of W, but for
// the friction of one that holds, and its vertices carry unilateral forces eps >= 0 along n or n +
// mu_k e_l. All these vertices together form one complementarity problem,
//
//     0 <= eps _|_ N (u_W + W^-1 A eps) - v* + slack eps >= 0,
//
// solved by Lemke's method. Contacts are tested again with the new motion, and sliding ones look
// where they slide, until nothing changes.
//
// `variant` 1 is the paper as printed (impulse units): regularised least squares (21) with lambda
// f^T f, pyramid test (37), friction by the linear program (42), (43); where that has no solution,
// the sticking normal force with friction scaled down.
#include <abut/solve.h>
#include <string.h>

#include "base/arena.h"
#include "contact/volume.h"
#include "contact/volume_accelerate.h"
#include "solve/dense.h"

enum { P_TOLERANCE, P_RATE, P_R_NORMAL, P_R_TANGENT, P_PYRAMID, P_VARIANT, P_LAMBDA, P_K };
static const abParam param[] = {
    {"tolerance", 1e-8, "1",
     "residual of the complementarity problem at which a step counts as solved"},
    {"rate", 0.05, "1", "part of the overlap that is to vanish in one step (k h)"},
    {"r_normal", 0.02, "1", "regularisation along the normal: rest depth is r_normal g h^2 / rate"},
    {"r_tangent", 1e-4, "1", "regularisation of sticking: creep is r_tangent F h / m"},
    {"pyramid", 8, "1", "edges of the friction pyramid"},
    {"variant", 0, "0|1", "0 repaired, 1 as printed"},
    {"lambda", 1e-4, "m^2/kg^2", "variant 1: the paper's regularisation factor"},
    {"k", 1000, "1/s", "variant 1: the paper's compensation coefficient (each side counted)"},
};

// Most rounds in which only directions of sliding change.
enum { MAX_TURN = 100 };

// One island, its contacts and velocities numbered anew.
typedef struct Direct {
  const abContactProblem* problem;
  int n, ndof, nmover;
  const int* pair;
  const int* mover;
  int* dof0;  // per mover of the scene: its first velocity here
  abVolumeContact* contact;
  double (*now)[6];  // relative twists at the start of the step
  double* J;         // per contact 6 x ndof, scaled patch frame
  double* M;         // ndof x ndof
  double* W;         // its factor with the sticking contacts
  double *X, *C;     // see couple()
  double* v_free;    // generalised velocities without contact,
  double* u_stick;   // with the contacts that are not solved by their vertices,
  double* u;         // and with all
  const abVolumeOption* option;
  int nregularised;
} Direct;

static double* jacobian(const Direct* d, int i) { return d->J + (ptrdiff_t)i * 6 * d->ndof; }

// --- building
// -----------------------------------------------------------------------------------------------------

static bool add_jacobian(Direct* d, int i, int body, double sign) {
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

static bool build_inertia(Direct* d) {
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
static int columns_of(const Direct* d, int i, int range[4]) {
  const abResponse* r = d->problem->response;
  const abPair* pair = d->contact[i].pair;
  int m1 = r->mover_of_body[pair->body1], m2 = r->mover_of_body[pair->body2], n = 0;
  if (m1 >= 0) range[2 * n] = d->dof0[m1], range[2 * n + 1] = r->mover[m1].ndof, n++;
  if (m2 >= 0 && m2 != m1) range[2 * n] = d->dof0[m2], range[2 * n + 1] = r->mover[m2].ndof, n++;
  return n;
}

// What opposes the velocity linearly.
static const double* damper(const abVolumeContact* c) {
  return c->mode == AB_VOLUME_STICK ? c->G[0] : c->Gt[0];
}

// W += J^T G J and rhs += J^T G v* of one sticking contact; of others, their dampers.
static void add_sticking(Direct* d, int i, double* rhs) {
  const abVolumeContact* c = &d->contact[i];
  const double* G = damper(c);
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

static void twist_of(const Direct* d, int i, const double* u, double v[6]) {
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

static void solve_sticking(Direct* d) {
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
}

// What forces at the contacts that hold or slide do to each other, through all that stick: X_i =
// W^-1 J_i^T by columns and C_ij = J_i X_j by rows. They stay while only directions change.
static void couple(Direct* d) {
  for (int j = 0; j < d->n; j++) {
    if (!d->contact[j].active || d->contact[j].mode == AB_VOLUME_STICK) continue;
    for (int b = 0; b < 6; b++) {
      double* column = d->X + (ptrdiff_t)(6 * j + b) * d->ndof;
      memcpy(column, jacobian(d, j) + (ptrdiff_t)b * d->ndof, sizeof(double) * (size_t)d->ndof);
      dense_cholesky_solve(d->ndof, d->W, column);
      for (int i = 0; i < d->n; i++) {
        if (!d->contact[i].active || d->contact[i].mode == AB_VOLUME_STICK) continue;
        double v[6];
        twist_of(d, i, column, v);
        for (int a = 0; a < 6; a++) d->C[36 * ((ptrdiff_t)i * d->n + j) + 6 * a + b] = v[a];
      }
    }
  }
}

static int count_vertices(const Direct* d) {
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

static bool collect_sliding(Direct* d, double mu_scale, Sliding* s) {
  abArena* scratch = d->problem->scratch;
  s->n = count_vertices(d);
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
static void build_lcp(Direct* d, Sliding* s) {
  for (int i = 0, count; i < s->n; i += count) {  // the rows of one contact at a time
    int at = s->contact[i];
    const abVolumeContact* c = &d->contact[at];
    count = c->nvert;
    double v[6];
    twist_of(d, at, d->u_stick, v);
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

// Solves it and adds its effect to u and to the sliding contacts' forces. False if Lemke's method
// failed.
static bool solve_sliding(Direct* d, double mu_scale, double tolerance, double* residual) {
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

// The next mode of a contact whose force is outside the cone.
static void leave_mode(abVolumeContact* c) {
  bool tips = c->mode == AB_VOLUME_STICK && ab_volume_tips(c, c->f) && ab_volume_start_hold(c);
  c->mode = tips ? AB_VOLUME_HOLD : AB_VOLUME_SLIDE;
}

// Completes the forces under the present motion; contacts whose mode does not allow them go on to
// the next one, and sliding ones look where they slide. Returns what has changed: 2 a mode, else
// the largest change of a direction.
static double test_modes(Direct* d) {
  double change = 0, turn;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active) continue;
    double v[6], own[6];
    twist_of(d, i, d->u, v);
    if (c->mode != AB_VOLUME_SLIDE) {
      if (c->mode == AB_VOLUME_STICK) memcpy(c->f, c->Gv, sizeof c->f);  // else from the vertices
      ab_volume_multiply(damper(c), v, own);
      for (int a = 0; a < 6; a++) c->f[a] -= own[a];
      if (ab_volume_in_cone(c, c->f)) continue;
      leave_mode(c);
      change = 2;
    }
    if (c->mode != AB_VOLUME_SLIDE) continue;
    if (ab_volume_start_slide(c, v, c->f, &turn))
      change = fmax(change, turn);
    else
      c->active = false;  // the arena is full
  }
  return change;
}

// The directions of all sliding vertices; returns how many numbers they are.
static int copy_directions(const Direct* d, double* e, bool back) {
  int n = 0;
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active || c->mode != AB_VOLUME_SLIDE) continue;
    size_t bytes = sizeof(abVec2) * (size_t)c->nvert;
    memcpy(back ? (double*)c->slide->e : e + n, back ? e + n : (double*)c->slide->e, bytes);
    if (back) ab_volume_set_directions(c);
    n += 2 * c->nvert;
  }
  return n;
}

static bool solve_modes(Direct* d, double tolerance, double* residual) {
  bool solved = true;
  memcpy(d->u, d->u_stick, sizeof(double) * (size_t)d->ndof);
  if (count_vertices(d) == 0) return true;
  solved = solve_sliding(d, 1, tolerance, residual);
  if (!solved) {  // friction so large that no solution was found: say so, and go on without it
    double ignored;
    d->nregularised++;
    solve_sliding(d, 0, tolerance, &ignored);
  }
  return solved;
}

// Modes change at most twice for each contact; then the directions settle, by the part friction
// takes of the sliding each time, accelerated.
static void solve_repaired(Direct* d, abContactSolution* solution) {
  double tolerance = d->problem->param[P_TOLERANCE], change = 2, residual = 0;
  abArena* scratch = d->problem->scratch;
  int most = 2 * AB_VOLUME_MAX_VERTEX * d->n, rounds = 0;
  double* e = AB_TAKE(scratch, double, most);
  double* r = AB_TAKE(scratch, double, most);
  double last = INFINITY;
  abAccelerate accelerate = {0};
  bool solved = e && r;
  for (int nturn = 0; e && r && change > tolerance && nturn < MAX_TURN;) {
    if (change >= 2) solve_sticking(d), couple(d);
    solved = solve_modes(d, tolerance, &residual);
    rounds++;
    copy_directions(d, r, false);
    change = test_modes(d);
    int n = copy_directions(d, e, false);
    if (change >= 2) {
      if (!ab_accelerate_begin(&accelerate, n, n, scratch)) break;
    } else if (change > tolerance) {
      double size = 0;
      for (int i = 0; i < n; i++) r[i] = e[i] - r[i], size += r[i] * r[i];
      if (size > last) ab_accelerate_forget(&accelerate);  // it did harm: plainly on from here
      last = size;
      ab_accelerate_step(&accelerate, r, e);
      copy_directions(d, e, true);
      nturn++;
    }
  }
  if (rounds > solution->iterations) solution->iterations = rounds;
  solution->residual = fmax(solution->residual, fmax(residual, change));
  if (!solved || change > tolerance) solution->status = AB_STEP_UNCONVERGED;
}

// --- as printed
// ---------------------------------------------------------------------------------------------------------

// (25): A f = -l with A = A_s Q A_s + lambda 1, l = A_s (Q l_s - k C^T n), all contacts stacked;
// unscaled world 6-vectors.
static bool printed_candidate(Direct* d, double* f) {
  const abContactProblem* problem = d->problem;
  abArena* scratch = problem->scratch;
  int N = 6 * d->n;
  double* As = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  double* A = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  double* r = AB_TAKE(scratch, double, N);
  double* dv = AB_TAKE(scratch, double, d->ndof);
  int* pivot = AB_TAKE(scratch, int, N);
  if (!As || !A || !r || !dv || !pivot) return false;
  for (int j = 0; j < N; j++) {
    double unit[6] = {0}, column[6];
    unit[j % 6] = 1;
    memset(dv, 0, sizeof(double) * (size_t)d->ndof);
    const abPair* pj = &problem->pair[j / 6];
    ab_pair_apply(problem, pj, pj->patch.center, wrench_from_array(unit), dv);
    for (int i = 0; i < d->n; i++) {
      const abPair* pi = &problem->pair[i];
      twist_to_array(ab_pair_twist(problem, pi, pi->patch.center, dv), column);
      for (int a = 0; a < 6; a++) As[(ptrdiff_t)(6 * i + a) * N + j] = column[a];
    }
  }
  double* QAs = AB_TAKE(scratch, double, (ptrdiff_t)N* N);
  if (!QAs) return false;
  for (int i = 0; i < d->n; i++) {
    const abPair* pair = &problem->pair[i];
    abMat6 Q;
    ab_patch_Q(&pair->patch, &Q);
    double ls[6], target[6];
    twist_to_array(ab_pair_twist(problem, pair, pair->patch.center, problem->v_free), ls);
    abVec3 kVn = v3_scale(0.5 * problem->param[P_K] * pair->patch.volume, pair->patch.normal);
    wrench_to_array((abWrench){kVn, v3_zero()}, target);
    for (int a = 0; a < 6; a++) {
      r[6 * i + a] = target[a];
      for (int b = 0; b < 6; b++) r[6 * i + a] -= Q.m[a][b] * ls[b];
      for (int j = 0; j < N; j++) {
        double s = 0;
        for (int b = 0; b < 6; b++) s += Q.m[a][b] * As[(ptrdiff_t)(6 * i + b) * N + j];
        QAs[(ptrdiff_t)(6 * i + a) * N + j] = s;
      }
    }
  }
  for (int i = 0; i < N; i++) {
    f[i] = 0;
    for (int j = 0; j < N; j++) {
      f[i] += As[(ptrdiff_t)j * N + i] * r[j];
      double s = (i == j) * problem->param[P_LAMBDA];
      for (int k = 0; k < N; k++) s += As[(ptrdiff_t)k * N + i] * QAs[(ptrdiff_t)k * N + j];
      A[(ptrdiff_t)i * N + j] = s;
    }
  }
  return dense_lu_solve(N, A, f, pivot);
}

// (42), (43): the largest kinetic friction beside the sticking normal force and tilting moments, as
// weights of the vertices. Returns false if no weights give that normal part.
static bool printed_kinetic(const Direct* d, int i, double f[6]) {
  const abVolumeContact* c = &d->contact[i];
  int n = c->nvert;
  double A[3 * AB_VOLUME_MAX_VERTEX], g[6 * AB_VOLUME_MAX_VERTEX], cost[AB_VOLUME_MAX_VERTEX];
  double eps[AB_VOLUME_MAX_VERTEX];
  const double b[3] = {f[2], f[3], f[4]};
  double v[6];
  twist_of(d, i, d->v_free, v);
  for (int l = 0; l < n; l++) {
    // A vertex that does not move yet takes the direction it would without contact.
    abVec2 u = ab_volume_sliding_velocity(d->now[i], c->vert[l]);
    if (v2_norm(u) == 0) u = ab_volume_sliding_velocity(v, c->vert[l]);
    double speed = v2_norm(u);
    abVec2 e = speed > 0 ? v2_scale(-1 / speed, u) : v2(0, 0);
    ab_volume_generator(c->vert[l], c->mu_kinetic, e, g + 6 * l);
  }
  double small = 1e-6 * f[2];
  for (int l = 0; l < n; l++) {
    const int friction[3] = {0, 1, 5};
    cost[l] = 0;
    for (int a = 0; a < 3; a++) {
      A[3 * l + a] = g[6 * l + 2 + a];
      double x = f[friction[a]];
      cost[l] -= g[6 * l + friction[a]] * x / (x * x + small * small);
    }
  }
  abArenaMark mark = ab_arena_mark(d->problem->scratch);
  void* workspace = ab_arena_take(d->problem->scratch, ab_lp_workspace(3, n));
  abLpDef def = {.nrow = 3, .ncol = n, .a = A, .b = b, .c = cost};
  bool solved = workspace && ab_lp(&def, eps, NULL, workspace).status == AB_SOLVE_OK;
  ab_arena_release(d->problem->scratch, mark);
  if (!solved) return false;
  memset(f, 0, 6 * sizeof(double));
  for (int l = 0; l < n; l++)
    for (int a = 0; a < 6; a++) f[a] += g[6 * l + a] * eps[l];
  return true;
}

static void solve_printed(Direct* d, abContactSolution* solution) {
  double* f = AB_TAKE(d->problem->scratch, double, 6 * d->n);
  if (!f || !printed_candidate(d, f)) {
    solution->status = AB_STEP_UNCONVERGED;
    return;
  }
  for (int i = 0; i < d->n; i++) {
    abVolumeContact* c = &d->contact[i];
    if (!c->active) continue;
    ab_volume_wrench_in(c, wrench_from_array(f + 6 * (ptrdiff_t)i), c->f);
    if (ab_volume_in_cone(c, c->f)) continue;
    c->mode = AB_VOLUME_SLIDE;
    if (printed_kinetic(d, i, c->f)) continue;
    d->nregularised++;
    double t = sqrt(c->f[0] * c->f[0] + c->f[1] * c->f[1] + c->f[5] * c->f[5]);
    double limit = c->pair->surface.mu_kinetic * fmax(0, c->f[2]);
    double s = t > limit ? limit / t : 1;
    c->f[0] *= s, c->f[1] *= s, c->f[5] *= s;
  }
  solution->iterations = 1;
  memcpy(d->u, d->v_free, sizeof(double) * (size_t)d->ndof);
  for (int i = 0; i < d->n; i++)
    if (d->contact[i].active)
      ab_pair_apply(d->problem, d->contact[i].pair, d->contact[i].pair->patch.center,
                    ab_volume_wrench_out(&d->contact[i], d->contact[i].f), d->u);
}

// --- the step
// -------------------------------------------------------------------------------------------------

static bool prepare(Direct* d) {
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

// The whole scene as one island, for the paper's problem; pairs that carry no force included.
static bool one_island(const abContactProblem* problem, abIslands* islands) {
  int nmover = problem->response->nmover, npair = problem->npair;
  int* number = AB_TAKE(problem->scratch, int, npair + nmover + 4);
  if (!number) return false;
  int *pair = number + 4, *mover = pair + npair;
  for (int i = 0; i < npair; i++) pair[i] = i;
  for (int i = 0; i < nmover; i++) mover[i] = i;
  number[0] = number[2] = 0, number[1] = npair, number[3] = nmover;
  *islands = (abIslands){npair > 0, number, pair, number + 2, mover};
  return true;
}

// False if the arena is full. v: where the velocities of all go.
static bool solve_island(Direct* d, const abIslands* islands, int island, double* v,
                         abContactSolution* solution) {
  const abResponse* response = d->problem->response;
  d->n = islands->pair_start[island + 1] - islands->pair_start[island];
  d->pair = islands->pair + islands->pair_start[island];
  d->nmover = islands->mover_start[island + 1] - islands->mover_start[island];
  d->mover = islands->mover + islands->mover_start[island];
  if (!prepare(d)) return false;
  if (d->problem->param[P_VARIANT] == 1)
    solve_printed(d, solution);
  else
    solve_repaired(d, solution);
  for (int k = 0; k < d->nmover; k++) {
    const abMover* m = &response->mover[d->mover[k]];
    memcpy(v + m->dof0, d->u + d->dof0[d->mover[k]], sizeof(double) * (size_t)m->ndof);
  }
  for (int i = 0; i < d->n; i++)
    ab_volume_report(d->problem, &d->contact[i], v, &solution->pair[d->pair[i]]);
  return true;
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  const double* p = problem->param;
  abArena* scratch = problem->scratch;
  abVolumeOption option = {.k = p[P_RATE] / problem->h,
                           .r_normal = p[P_R_NORMAL],
                           .r_tangent = p[P_R_TANGENT],
                           .npyramid = (int)p[P_PYRAMID]};
  Direct d = {.problem = problem,
              .option = &option,
              .dof0 = AB_TAKE(scratch, int, problem->response->nmover)};
  double* v = AB_TAKE(scratch, double, problem->response->ndof);
  abIslands islands;
  bool enough =
      d.dof0 && v && ab_volume_begin(problem, &option) &&
      (p[P_VARIANT] == 1 ? one_island(problem, &islands) : ab_volume_islands(problem, &islands));
  for (int i = 0; i < problem->npair; i++) {
    solution->pair[i].point = problem->pair[i].patch.center;
    solution->pair[i].mode = AB_SEPARATING;
  }
  for (int i = 0; enough && i < islands.n; i++) {
    abArenaMark mark = ab_arena_mark(scratch);
    enough = solve_island(&d, &islands, i, v, solution);
    ab_arena_release(scratch, mark);
  }
  if (!enough) solution->status = AB_STEP_BROKEN;
  solution->nregularised = d.nregularised;
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return 0;
}

const abContactModel ab_model_volume_qp = {
    .name = "volume-qp",
    .source = "Wakisaka & Sugihara 2017: loosely-constrained volumetric contact",
    .summary = "6-axis forces of contact volumes, all contacts at once (direct)",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
