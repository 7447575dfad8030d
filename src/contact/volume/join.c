// Tests: test_volume_join.
#include "contact/volume/join.h"

#include <string.h>

#include "solve/dense.h"

// --- building
// -------------------------------------------------------------------------------------------------

static int mover_of(const abVolumeJoin* j, int body) {
  return j->problem->response->mover_of_body[body];
}

// Adds J_a^T A J_b, A a body's block by rows, to the block of the movers of bodies a and b.
static bool add_to_movers(abVolumeJoin* j, int a, int b, const double A[36]) {
  const abResponse* r = j->problem->response;
  int ma = r->mover_of_body[a], mb = r->mover_of_body[b];
  if (!r->mover[ma].jointed && !r->mover[mb].jointed) {
    ab_block_lu_add(&j->matrix, j->block[ma], j->block[mb], A);
    return true;
  }
  int na = r->mover[ma].ndof, nb = r->mover[mb].ndof;
  abArenaMark mark = ab_arena_mark(j->problem->scratch);
  double* J = AB_TAKE(j->problem->scratch, double, 6 * na + 12 * nb + na * nb);
  if (!J) return false;
  double *Jb = J + 6 * na, *AJ = Jb + 6 * nb, *JAJ = AJ + 6 * nb;
  memset(AJ, 0, (size_t)(6 * nb + na * nb) * sizeof(double));
  ab_response_jacobian(r, a, J);
  ab_response_jacobian(r, b, Jb);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) dense_axpy(A[6 * i + k], Jb + k * nb, AJ + i * nb, nb);
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < na; i++) dense_axpy(J[k * na + i], AJ + k * nb, JAJ + i * nb, nb);
  ab_block_lu_add(&j->matrix, j->block[ma], j->block[mb], JAJ);
  ab_arena_release(j->problem->scratch, mark);
  return true;
}

// -T^T D T in world axes at the patch centre, T of ab_volume_twist_in.
static void to_world(const abVolumeContact* c, const double D[36], double A[36]) {
  const abPatch* p = &c->pair->patch;
  const double R[3][3] = {{p->t1.x, p->t2.x, p->normal.x},
                          {p->t1.y, p->t2.y, p->normal.y},
                          {p->t1.z, p->t2.z, p->normal.z}};
  for (int bi = 0; bi < 2; bi++)
    for (int bj = 0; bj < 2; bj++) {
      double scale = -(bi ? c->size : 1) * (bj ? c->size : 1), RD[3][3];
      const double* block = D + 18 * bi + 3 * bj;
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
          RD[i][k] =
              scale * (R[i][0] * block[k] + R[i][1] * block[6 + k] + R[i][2] * block[12 + k]);
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
          A[18 * bi + 6 * i + 3 * bj + k] =
              RD[i][0] * R[k][0] + RD[i][1] * R[k][1] + RD[i][2] * R[k][2];
    }
}

// B = sign A X(r), X(r) = [1, -[r x]; 0, 1]: a row (p, q) becomes (p, q + r x p).
static void move_columns(const double A[36], abVec3 r, double sign, double B[36]) {
  for (int i = 0; i < 6; i++) {
    const double* p = A + 6 * i;
    double* q = B + 6 * i;
    q[0] = sign * p[0], q[1] = sign * p[1], q[2] = sign * p[2];
    q[3] = sign * p[3] + (r.y * q[2] - r.z * q[1]);
    q[4] = sign * p[4] + (r.z * q[0] - r.x * q[2]);
    q[5] = sign * p[5] + (r.x * q[1] - r.y * q[0]);
  }
}

// B = sign X(r)^T A, likewise for columns.
static void move_rows(const double A[36], abVec3 r, double sign, double B[36]) {
  for (int k = 0; k < 18; k++) B[k] = sign * A[k];
  for (int k = 0; k < 6; k++) {
    B[18 + k] = sign * A[18 + k] + (r.y * B[12 + k] - r.z * B[6 + k]);
    B[24 + k] = sign * A[24 + k] + (r.z * B[k] - r.x * B[12 + k]);
    B[30 + k] = sign * A[30 + k] + (r.x * B[6 + k] - r.y * B[k]);
  }
}

static bool add_contact(abVolumeJoin* j, int i, const double D[36]) {
  const abVolumeContact* c = &j->contact[i];
  const int body[2] = {c->pair->body1, c->pair->body2};
  double A[36], AX[36], XAX[36];
  to_world(c, D, A);
  for (int b = 0; b < 2; b++) {
    if (mover_of(j, body[b]) < 0) continue;
    move_columns(A, j->lever[i].arm[b], b == 0 ? 1 : -1, AX);
    for (int a = 0; a < 2; a++) {
      if (mover_of(j, body[a]) < 0) continue;
      move_rows(AX, j->lever[i].arm[a], a == 0 ? 1 : -1, XAX);
      if (!add_to_movers(j, body[a], body[b], XAX)) return false;
    }
  }
  return true;
}

static bool add_inertia(abVolumeJoin* j) {
  abArena* scratch = j->problem->scratch;
  int n = j->symbolic.largest;
  abArenaMark mark = ab_arena_mark(scratch);
  double* M = AB_TAKE(scratch, double, n* n);
  if (!M) return false;
  for (int k = 0; k < j->nmover; k++) {
    ab_response_inertia(j->problem->response, j->mover[k], M);
    ab_block_lu_add(&j->matrix, k, k, M);
  }
  ab_arena_release(scratch, mark);
  return true;
}

abStatus ab_volume_join_begin(abVolumeJoin* j, double most_sweeps) {
  abArena* scratch = j->problem->scratch;
  const abMover* mover = j->problem->response->mover;
  int* size = AB_TAKE(scratch, int, j->nmover);
  int(*edge)[2] = ab_arena_take(scratch, sizeof(int[2]) * (size_t)j->npair);
  j->line = AB_TAKE(scratch, abVolumeLine, j->npair);
  if (!size || !edge || !j->line) return AB_ERROR_MEMORY;
  memset(j->line, 0, sizeof *j->line * (size_t)j->npair);
  int nedge = 0;
  for (int k = 0; k < j->nmover; k++) {
    size[k] = mover[j->mover[k]].ndof;
    j->block[j->mover[k]] = k;
  }
  for (int k = 0; k < j->npair; k++) {
    const abPair* pair = j->contact[j->pair[k]].pair;
    int a = mover_of(j, pair->body1), b = mover_of(j, pair->body2);
    if (a < 0 || b < 0 || a == b) continue;
    edge[nedge][0] = j->block[a], edge[nedge][1] = j->block[b];
    nedge++;
  }
  abStatus status = ab_block_symbolic(j->nmover, size, nedge, (const int(*)[2])edge,
                                      most_sweeps * AB_VOLUME_SWEEP_FLOPS * j->npair, scratch,
                                      scratch, &j->symbolic);
  if (status != AB_OK) return status;
  j->du = AB_TAKE(scratch, double, j->symbolic.offset[j->nmover]);
  bool enough = j->du && ab_block_lu_begin(&j->matrix, &j->symbolic, scratch) &&
                ab_block_lu_begin(&j->factor, &j->symbolic, scratch);
  if (!enough) return AB_ERROR_MEMORY;
  ab_block_lu_clear(&j->matrix);
  return add_inertia(j) ? AB_OK : AB_ERROR_MEMORY;
}

// --- a step
// -------------------------------------------------------------------------------------------------

// du += J^T f of contact i, f in its own frame.
static bool add_force(abVolumeJoin* j, int i, const double f[6]) {
  const abVolumeContact* c = &j->contact[i];
  const abResponse* r = j->problem->response;
  const int body[2] = {c->pair->body1, c->pair->body2};
  abWrench w = ab_volume_wrench_out(c, f);
  for (int k = 0; k < 2; k++, w = wrench_neg(w)) {
    int mover = r->mover_of_body[body[k]];
    if (mover < 0) continue;
    double at_com[6], *to = j->du + j->symbolic.offset[j->block[mover]];
    wrench_to_array(wrench_move(w, v3_neg(j->lever[i].arm[k])), at_com);
    int n = r->mover[mover].ndof;
    if (!r->mover[mover].jointed) {
      for (int a = 0; a < 6; a++) to[a] += at_com[a];
      continue;
    }
    abArenaMark mark = ab_arena_mark(j->problem->scratch);
    double* J = AB_TAKE(j->problem->scratch, double, 6 * n);
    if (!J) return false;
    ab_response_jacobian(r, body[k], J);
    for (int a = 0; a < 6; a++) dense_axpy(at_com[a], J + a * n, to, n);
    ab_arena_release(j->problem->scratch, mark);
  }
  return true;
}

// The line of contact k of the island at its answer, and what it adds to the matrix.
static bool renew_line(abVolumeJoin* j, int k) {
  abVolumeContact* c = &j->contact[j->pair[k]];
  abVolumeLine* line = &j->line[k];
  double D[36], largest = 0;
  memcpy(D, line->D, sizeof D);
  memcpy(line->v, c->v, sizeof line->v);
  ab_volume_linearise(c, line->v, line->f, line->D);
  for (int a = 0; a < 36; a++) D[a] = line->D[a] - D[a], largest = larger(largest, fabs(D[a]));
  c->answered = false;
  return largest == 0 || add_contact(j, j->pair[k], D);
}

// The right-hand side of contact k: its line at the present motion against its present force.
static bool add_residual(abVolumeJoin* j, int k, const double* v) {
  int i = j->pair[k];
  const abVolumeContact* c = &j->contact[i];
  abVolumeLine* line = &j->line[k];
  double r[6];
  ab_volume_twist_in(c, ab_lever_twist(&j->lever[i], v), line->dv);
  for (int a = 0; a < 6; a++) line->dv[a] -= line->v[a];
  for (int a = 0; a < 6; a++) r[a] = line->f[a] + dense_dot(line->D + 6 * a, line->dv, 6) - c->f[a];
  return add_force(j, i, r);
}

// Forces by the lines, and what their changes do to the velocities: not du, which has the rounding
// of a stiff system.
static void advance(abVolumeJoin* j, int k, double* v) {
  int i = j->pair[k];
  abVolumeContact* c = &j->contact[i];
  abVolumeLine* line = &j->line[k];
  double dv[6], df[6];
  ab_volume_twist_in(c, ab_lever_twist(&j->lever[i], j->dv), dv);
  for (int a = 0; a < 6; a++) dv[a] += line->dv[a], line->v[a] += dv[a];
  ab_volume_advance(c, dv, line->D, line->f);
  for (int a = 0; a < 6; a++) df[a] = line->f[a] - c->f[a];
  memcpy(c->f, line->f, sizeof c->f);
  ab_lever_apply(&j->lever[i], ab_volume_wrench_out(c, df), v);
}

bool ab_volume_join_step(abVolumeJoin* j, double* v) {
  const abMover* mover = j->problem->response->mover;
  size_t ndof = (size_t)j->symbolic.offset[j->nmover];
  memset(j->du, 0, ndof * sizeof(double));
  for (int k = 0; k < j->npair; k++) {
    const abVolumeContact* c = &j->contact[j->pair[k]];
    if (c->answered && !renew_line(j, k)) return false;
    if (c->active && !add_residual(j, k, v)) return false;
  }
  ab_block_lu_copy(&j->matrix, &j->factor);
  if (!ab_block_lu_factor(&j->factor)) return false;
  ab_block_lu_solve(&j->factor, j->du);
  if (!ab_dense_finite(j->du, ndof)) return false;
  for (int k = 0; k < j->nmover; k++)
    memcpy(j->dv + mover[j->mover[k]].dof0, j->du + j->symbolic.offset[k],
           (size_t)j->symbolic.size[k] * sizeof(double));
  for (int k = 0; k < j->npair; k++)
    if (j->contact[j->pair[k]].active) advance(j, k, v);
  return true;
}
