// The equations of motion from d'Alembert's principle,
//
//   sum over bodies of J^T (m a - f, I w' + w x I w - t) = tau,
//
// with J, the accelerations at constant generalised velocities, and nothing else, taken from
// numerical derivatives of the bodies' poses along q moved by v. Slow (O(n^3)) and good to about
// 1e-8; shares no code with the library but the vector algebra.
#include "oracle/dynamics_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/spatial.h"

typedef struct Place {
  abMat3 R;
  abVec3 com;
} Place;

static abMat3 rodrigues(abVec3 axis, double angle) {
  double c = cos(angle), s = sin(angle), a[3] = {axis.x, axis.y, axis.z};
  abMat3 R = m3_skew(axis);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R.m[i][j] = s * R.m[i][j] + (1 - c) * a[i] * a[j] + (i == j ? c : 0);
  return R;
}

static abMat3 turn_by(abVec3 r) {
  double n = v3_norm(r);
  return n > 0 ? rodrigues(v3_scale(1 / n, r), n) : m3_identity();
}

static void places(const abModel* m, const double* q, Place* place) {
  abMat3* R = malloc(sizeof(abMat3) * (size_t)m->nbody);
  abVec3* p = malloc(sizeof(abVec3) * (size_t)m->nbody);
  R[0] = m3_identity();
  p[0] = v3_zero();
  for (int b = 0; b < m->nbody; b++) {
    const abBody* body = &m->body[b];
    if (b > 0) {
      abMat3 own = quat_matrix(body->pose.q);
      p[b] = v3_add(p[body->parent], m3_apply(&R[body->parent], body->pose.p));
      R[b] = m3_mul(&R[body->parent], &own);
    }
    for (int j = body->joint0; j < body->joint0 + body->njoint; j++) {
      const abJoint* joint = &m->joint[j];
      const double* x = q + joint->q0;
      if (joint->type == AB_JOINT_FREE) {
        p[b] = v3(x[0], x[1], x[2]);
        R[b] = quat_matrix(quat_unit((abQuat){x[3], x[4], x[5], x[6]}));
      } else if (joint->type == AB_JOINT_SLIDE) {
        p[b] = v3_axpy(x[0] - joint->ref, m3_apply(&R[b], joint->axis), p[b]);
      } else {
        abMat3 T = joint->type == AB_JOINT_BALL
                       ? quat_matrix(quat_unit((abQuat){x[0], x[1], x[2], x[3]}))
                       : rodrigues(joint->axis, x[0] - joint->ref);
        // the anchor stays where it is: p + R pos = p' + R T pos
        abVec3 moved = v3_sub(joint->pos, m3_apply(&T, joint->pos));
        p[b] = v3_add(p[b], m3_apply(&R[b], moved));
        R[b] = m3_mul(&R[b], &T);
      }
    }
    place[b] = (Place){R[b], v3_add(p[b], m3_apply(&R[b], body->com))};
  }
  free(R);
  free(p);
}

void oracle_move(const abModel* m, const double* q, const double* v, double t, double* out) {
  memcpy(out, q, sizeof(double) * (size_t)m->nq);
  for (int j = 0; j < m->njoint; j++) {
    const abJoint* joint = &m->joint[j];
    double* x = out + joint->q0;
    const double* u = v + joint->v0;
    if (joint->type == AB_JOINT_FREE) {
      abMat3 R = quat_matrix((abQuat){x[3], x[4], x[5], x[6]});
      abMat3 T = turn_by(v3(t * u[3], t * u[4], t * u[5])), Rn = m3_mul(&T, &R);
      abVec3 c = m->body[joint->body].com;
      abVec3 d = v3_sub(m3_apply(&R, c), m3_apply(&Rn, c));
      x[0] += t * u[0] + d.x, x[1] += t * u[1] + d.y, x[2] += t * u[2] + d.z;
      abQuat n = quat_from_matrix(&Rn);
      x[3] = n.w, x[4] = n.x, x[5] = n.y, x[6] = n.z;
    } else if (joint->type == AB_JOINT_BALL) {
      abMat3 R = quat_matrix((abQuat){x[0], x[1], x[2], x[3]});
      abMat3 T = turn_by(v3(t * u[0], t * u[1], t * u[2])), Rn = m3_mul(&R, &T);
      abQuat n = quat_from_matrix(&Rn);
      x[0] = n.w, x[1] = n.x, x[2] = n.y, x[3] = n.z;
    } else {
      x[0] += t * u[0];
    }
  }
}

// Rotation vector from one orientation to another, both world.
static abVec3 turn_between(const abMat3* from, const abMat3* to) {
  abMat3 inverse = m3_transpose(from), T = m3_mul(to, &inverse);
  abVec3 s = v3(0.5 * (T.m[2][1] - T.m[1][2]), 0.5 * (T.m[0][2] - T.m[2][0]),
                0.5 * (T.m[1][0] - T.m[0][1]));
  double n = v3_norm(s);
  return n > 0 ? v3_scale(asin(n < 1 ? n : 1) / n, s) : s;
}

// First and second time derivatives of every body's place along v, five-point formulas. The second
// derivative of the rotation vector from the present orientation is the angular acceleration there.
static void derivatives(const abModel* m, const double* q, const double* v, abTwist* first,
                        abTwist* second) {
  double speed = 0;
  for (int i = 0; i < m->nv; i++) speed = fmax(speed, fabs(v[i]));
  double e = 2e-3 / (speed > 0 ? speed : 1);
  double* x = malloc(sizeof(double) * (size_t)m->nq);
  Place* at[5];
  for (int k = 0; k < 5; k++) {
    at[k] = malloc(sizeof(Place) * (size_t)m->nbody);
    oracle_move(m, q, v, (k - 2) * e, x);
    places(m, x, at[k]);
  }
  static const double w1[5] = {1, -8, 0, 8, -1}, w2[5] = {-1, 16, -30, 16, -1};
  for (int b = 0; b < m->nbody; b++) {
    first[b] = second[b] = twist_zero();
    for (int k = 0; k < 5; k++) {
      abTwist d = {v3_sub(at[k][b].com, at[2][b].com), turn_between(&at[2][b].R, &at[k][b].R)};
      first[b] = twist_add(first[b], twist_scale(w1[k] / (12 * e), d));
      second[b] = twist_add(second[b], twist_scale(w2[k] / (12 * e * e), d));
    }
  }
  for (int k = 0; k < 5; k++) free(at[k]);
  free(x);
}

void oracle_jacobian(const abModel* m, const double* q, double* J) {
  int nv = m->nv;
  double* v = calloc((size_t)nv, sizeof(double));
  abTwist* first = malloc(sizeof(abTwist) * (size_t)m->nbody);
  abTwist* second = malloc(sizeof(abTwist) * (size_t)m->nbody);
  for (int k = 0; k < nv; k++) {
    v[k] = 1;
    derivatives(m, q, v, first, second);
    v[k] = 0;
    for (int b = 0; b < m->nbody; b++) {
      double x[6];
      twist_to_array(first[b], x);
      for (int i = 0; i < 6; i++) J[(6 * b + i) * nv + k] = x[i];
    }
  }
  free(v);
  free(first);
  free(second);
}

static abMat3 world_inertia(const abBody* body, const Place* place) {
  abMat3 axes = quat_matrix(body->inertia_q), R = m3_mul(&place->R, &axes);
  return m3_congruent_diag(&R, body->inertia);
}

static double column_dot(const double* J, int nv, int k, const double x[6]) {
  double s = 0;
  for (int i = 0; i < 6; i++) s += J[i * nv + k] * x[i];
  return s;
}

static abWrench inertia_times(const abBody* body, const abMat3* I, abTwist a) {
  return (abWrench){v3_scale(body->mass, a.lin), m3_apply(I, a.ang)};
}

void oracle_inertia(const abModel* m, const double* q, double* M) {
  int nv = m->nv;
  double* J = malloc(sizeof(double) * (size_t)(6 * m->nbody * nv));
  Place* place = malloc(sizeof(Place) * (size_t)m->nbody);
  places(m, q, place);
  oracle_jacobian(m, q, J);
  memset(M, 0, sizeof(double) * (size_t)(nv * nv));
  for (int b = 1; b < m->nbody; b++) {
    abMat3 I = world_inertia(&m->body[b], &place[b]);
    const double* Jb = J + (ptrdiff_t)6 * b * nv;
    for (int l = 0; l < nv; l++) {
      double c[6], x[6];
      for (int i = 0; i < 6; i++) c[i] = Jb[i * nv + l];
      wrench_to_array(inertia_times(&m->body[b], &I, twist_from_array(c)), x);
      for (int k = 0; k < nv; k++) M[k * nv + l] += column_dot(Jb, nv, k, x);
    }
  }
  free(J);
  free(place);
}

void oracle_acceleration(const abModel* m, const double* q, const double* v,
                         const abWrench* applied, const double* tau, double* acceleration) {
  int nv = m->nv;
  double* M = malloc(sizeof(double) * (size_t)(nv * nv));
  double* J = malloc(sizeof(double) * (size_t)(6 * m->nbody * nv));
  Place* place = malloc(sizeof(Place) * (size_t)m->nbody);
  abTwist* first = malloc(sizeof(abTwist) * (size_t)m->nbody);
  abTwist* second = malloc(sizeof(abTwist) * (size_t)m->nbody);
  places(m, q, place);
  oracle_inertia(m, q, M);
  oracle_jacobian(m, q, J);
  derivatives(m, q, v, first, second);
  for (int k = 0; k < nv; k++) {
    M[k * nv + k] += m->dof_armature[k];
    acceleration[k] = tau ? tau[k] : 0;
  }
  for (int b = 1; b < m->nbody; b++) {
    const abBody* body = &m->body[b];
    abMat3 I = world_inertia(body, &place[b]);
    abWrench need = inertia_times(body, &I, second[b]);
    need.torque = v3_add(need.torque, v3_cross(first[b].ang, m3_apply(&I, first[b].ang)));
    if (body->gravity) need.force = v3_axpy(-body->mass, m->gravity, need.force);
    if (applied) need = wrench_sub(need, applied[b]);
    double x[6];
    wrench_to_array(need, x);
    for (int k = 0; k < nv; k++) acceleration[k] -= column_dot(J + (ptrdiff_t)6 * b * nv, nv, k, x);
  }
  dense_cholesky(nv, M, 0);
  dense_cholesky_solve(nv, M, acceleration);
  free(M);
  free(J);
  free(place);
  free(first);
  free(second);
}
