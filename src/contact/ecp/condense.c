// Newton steps of large islands, condensed to the bodies.
//
// The unknowns of a contact (p_n, s, parameters: y) meet only their own equations and those of two
// bodies (twists: x). With compliance between each constraint and the impulse that answers it
// (ab_ecp_hold_back) a contact's own block D of its equations C x + D y = F_y is regular, and
//     y = D^-1 (F_y - C x)
// leaves for the bodies A x + sum U y = F_x the system
//     (A - sum U D^-1 C) x = F_x - sum U D^-1 F_y,
// six unknowns a body, however many contacts there are: a tower of 19 bodies with 70 contacts has
// 114 instead of 530, and a step costs 0.2 ms instead of 30. It is not symmetric (friction that
// slides); Gaussian elimination with pivots uses its envelope.
//
// The compliance, 1e-6 of the bodies' own, makes a stiffness of 1e6 that costs as many digits. They
// come back by refinement: what the step leaves of the equations is solved for again.
// Tests: test_ecp_heap.
#include <string.h>

#include "contact/ecp/ecp.h"
#include "solve/dense.h"

enum { OWN = AB_ECP_OWN, WIDE = AB_ECP_BLOCK };

void ab_ecp_condensed_rows(abEcpSystem* s) {
  for (int i = 0; i < s->nbody; i++) {
    double* D = s->diagonal + 36 * i;
    memset(D, 0, 36 * sizeof(double));
    ab_ecp_body_rows(s, s->body[i], s->F + s->body[i]->slot, D, 6);
  }
  for (int i = 0; i < s->ncontact; i++) {
    abEcpContact* c = s->contact[i];
    abEcpBlock* b = &s->block[i];
    memset(b->F, 0, sizeof b->F);
    memset(b->J, 0, sizeof b->J);
    abEcpRows at = {WIDE, {0, 6}, OWN, b->F, b->J};
    ab_ecp_contact_rows(s, c, &at);
    memcpy(s->F + c->offset, b->F + OWN, sizeof(double) * (size_t)(4 + c->npar));
    for (int side = 0; side < 2; side++) {
      if (!c->body[side]->moving) continue;
      double* F = s->F + c->body[side]->slot;
      for (int j = 0; j < 6; j++) F[j] += b->F[6 * side + j];
    }
  }
}

// D becomes its inverse, by elimination with row pivots.
static void invert(int n, double D[6][6]) {
  double E[6][6] = {{0}};
  for (int i = 0; i < n; i++) E[i][i] = 1;
  for (int p = 0; p < n; p++) {
    int best = p;
    for (int i = p + 1; i < n; i++)
      if (fabs(D[i][p]) > fabs(D[best][p])) best = i;
    for (int j = 0; best != p && j < n; j++) {
      double d = D[p][j], e = E[p][j];
      D[p][j] = D[best][j], D[best][j] = d;
      E[p][j] = E[best][j], E[best][j] = e;
    }
    double inverse = D[p][p] != 0 ? 1 / D[p][p] : 0;
    for (int j = 0; j < n; j++) D[p][j] *= inverse, E[p][j] *= inverse;
    for (int i = 0; i < n; i++) {
      double m = D[i][p];
      for (int j = 0; i != p && m != 0 && j < n; j++)
        D[i][j] -= m * D[p][j], E[i][j] -= m * E[p][j];
    }
  }
  memcpy(D, E, sizeof E);
}

// D^-1 and D^-1 C, and what they take from the matrix of the bodies.
static void condense(abEcpSystem* s, const abEcpContact* c, abEcpBlock* b) {
  int n = 6 * s->nbody, k = 4 + c->npar;
  abEcpRows at = {WIDE, {0, 6}, OWN, b->F, b->J};
  ab_ecp_hold_back(s, c, &at);
  for (int i = 0; i < k; i++) memcpy(b->D[i], b->J + (OWN + i) * WIDE + OWN, 6 * sizeof(double));
  invert(k, b->D);
  memset(b->C, 0, sizeof b->C);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++)
      if (b->D[i][j] != 0) dense_axpy(b->D[i][j], b->J + (OWN + j) * WIDE, b->C[i], OWN);
  for (int side = 0; side < 2; side++) {
    if (!c->body[side]->moving) continue;
    for (int i = 0; i < 6; i++) {
      const double* U = b->J + (6 * side + i) * WIDE;
      double row[OWN], *A = s->J + (c->body[side]->slot + i) * n;
      memcpy(row, U, sizeof row);
      for (int e = 0; e < k; e++)
        if (U[OWN + e] != 0) dense_axpy(-U[OWN + e], b->C[e], row, OWN);
      for (int other = 0; other < 2; other++)
        if (c->body[other]->moving) dense_axpy(1, row + 6 * other, A + c->body[other]->slot, 6);
    }
  }
}

// What U y takes from the equations of a contact's bodies.
static void push(abEcpSystem* s, const abEcpContact* c, const abEcpBlock* b, const double* y) {
  int k = 4 + c->npar;
  for (int side = 0; side < 2; side++) {
    if (!c->body[side]->moving) continue;
    double* F = s->F + c->body[side]->slot;
    for (int i = 0; i < 6; i++) F[i] -= dense_dot(b->J + (6 * side + i) * WIDE + OWN, y, k);
  }
}

// Adds to the step what solves for F, which is left alone but for its rows of the bodies.
static void correct(abEcpSystem* s, bool first) {
  int n = 6 * s->nbody;
  double y[6];
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    for (int e = 0; e < 4 + c->npar; e++)
      y[e] = dense_dot(s->block[i].D[e], s->F + c->offset, 4 + c->npar);
    push(s, c, &s->block[i], y);
  }
  if (first)
    ab_ecp_eliminate(n, s->J, s->F, s->pivot, s->copy);
  else
    ab_ecp_substitute(n, s->J, s->F, s->pivot, s->copy);
  dense_axpy(1, s->copy, s->step, n);
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    for (int e = 0; e < 4 + c->npar; e++) {
      double x = dense_dot(s->block[i].D[e], s->F + c->offset, 4 + c->npar);
      for (int side = 0; side < 2; side++)
        if (c->body[side]->moving)
          x -= dense_dot(s->block[i].C[e] + 6 * side, s->copy + c->body[side]->slot, 6);
      s->step[c->offset + e] += x;
    }
  }
}

// F becomes what the step leaves of the equations. Returns its largest entry.
static double leave(abEcpSystem* s, const double* F) {
  memcpy(s->F, F, sizeof(double) * (size_t)s->n);
  for (int i = 0; i < s->nbody; i++) {
    int r = s->body[i]->slot;
    for (int j = 0; j < 6; j++)
      s->F[r + j] -= dense_dot(s->diagonal + 36 * i + 6 * j, s->step + r, 6);
  }
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    const abEcpBlock* b = &s->block[i];
    int k = 4 + c->npar;
    double x[WIDE] = {0};
    for (int side = 0; side < 2; side++)
      if (c->body[side]->moving)
        memcpy(x + 6 * side, s->step + c->body[side]->slot, 6 * sizeof(double));
    memcpy(x + OWN, s->step + c->offset, sizeof(double) * (size_t)k);
    for (int e = 0; e < k; e++)
      s->F[c->offset + e] -= dense_dot(b->J + (OWN + e) * WIDE, x, OWN + k);
    for (int side = 0; side < 2; side++)
      for (int j = 0; c->body[side]->moving && j < 6; j++)
        s->F[c->body[side]->slot + j] -= dense_dot(b->J + (6 * side + j) * WIDE, x, OWN + k);
  }
  return ab_dense_max(s->F, (size_t)s->n);
}

void ab_ecp_condensed_settle(abEcpSystem* s) {
  for (int i = 0; i < s->nbody; i++) {
    abEcpBody* b = s->body[i];
    const double* F = s->F + b->slot;
    b->v = v3_sub(b->v, v3(F[0], F[1], F[2]));
    ab_ecp_body_end(b, s->exact_momentum);
  }
}

// The step for the right side in s->trial, by elimination (first) or with its factors, and
// refined.
static void refine(abEcpSystem* s, bool first) {
  const double* F = s->trial;
  memcpy(s->F, F, sizeof(double) * (size_t)s->n);
  memset(s->step, 0, sizeof(double) * (size_t)s->n);
  double most = ab_dense_max(F, (size_t)s->n), left = INFINITY;
  correct(s, first);
  for (int i = 0; i < AB_ECP_REFINEMENTS; i++) {
    double now = leave(s, F);
    if (now <= 1e-12 * most || !(now < 0.5 * left)) break;
    left = now;
    correct(s, false);
  }
}

void ab_ecp_condensed_step(abEcpSystem* s) {
  int n = 6 * s->nbody;
  memset(s->J, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < s->nbody; i++)
    for (int j = 0; j < 6; j++)
      memcpy(s->J + (s->body[i]->slot + j) * n + s->body[i]->slot, s->diagonal + 36 * i + 6 * j,
             6 * sizeof(double));
  for (int i = 0; i < s->ncontact; i++) condense(s, s->contact[i], &s->block[i]);
  memcpy(s->trial, s->F, sizeof(double) * (size_t)s->n);  // not in use yet
  refine(s, true);
}

void ab_ecp_condensed_again(abEcpSystem* s, const double* F) {
  memcpy(s->trial, F, sizeof(double) * (size_t)s->n);
  refine(s, false);
}
