// 6-vectors and 6 x 6 matrices for vector registers: twists (lin, 0, ang, 0) and wrenches (force,
// 0, torque, 0). The empty lanes are always zero. Handed over by address, since such vectors are
// not to be handed over by value; inside of AB_SIMD functions all of this is a few instructions.
#ifndef ABUT_MATH_SIX_H
#define ABUT_MATH_SIX_H

#include "math/quad.h"
#include "math/spatial.h"

typedef struct abSix {
  abFour lin, ang;
} abSix;

// Rows of a symmetric matrix.
typedef struct abSix6 {
  abSix row[6];
} abSix6;

static inline void six_set(abVec3 lin, abVec3 ang, abSix* a) {
  a->lin = (abFour){lin.x, lin.y, lin.z, 0};
  a->ang = (abFour){ang.x, ang.y, ang.z, 0};
}
static inline abVec3 six_lin(const abSix* a) { return v3(a->lin[0], a->lin[1], a->lin[2]); }
static inline abVec3 six_ang(const abSix* a) { return v3(a->ang[0], a->ang[1], a->ang[2]); }
static inline abTwist six_twist(const abSix* a) { return (abTwist){six_lin(a), six_ang(a)}; }
static inline double six_get(const abSix* a, int i) { return i < 3 ? a->lin[i] : a->ang[i - 3]; }

static inline void six_clear(abSix* a) { a->lin = a->ang = (abFour){0, 0, 0, 0}; }
static inline void six_add(const abSix* b, abSix* a) { a->lin += b->lin, a->ang += b->ang; }
// a += s b
static inline void six_axpy(double s, const abSix* b, abSix* a) {
  a->lin += s * b->lin, a->ang += s * b->ang;
}
static inline double six_dot(const abSix* a, const abSix* b) {
  abFour p = a->lin * b->lin + a->ang * b->ang;
  return p[0] + p[1] + p[2];
}
// y = A x
static inline void six_times(const abSix6* A, const abSix* x, abSix* y) {
  const abSix* r = A->row;
  y->lin = (r[0].lin * x->lin[0] + r[1].lin * x->lin[1] + r[2].lin * x->lin[2]) +
           (r[3].lin * x->ang[0] + r[4].lin * x->ang[1] + r[5].lin * x->ang[2]);
  y->ang = (r[0].ang * x->lin[0] + r[1].ang * x->lin[1] + r[2].ang * x->lin[2]) +
           (r[3].ang * x->ang[0] + r[4].ang * x->ang[1] + r[5].ang * x->ang[2]);
}
// a += V x b: the rate at which b goes along with V.
static inline void six_cross_add(const abSix* V, const abSix* b, abSix* a) {
  abFour w = AB_FOUR_TURN(V->ang), v = AB_FOUR_TURN(V->lin);
  abFour lin = AB_FOUR_TURN(b->lin), ang = AB_FOUR_TURN(b->ang);
  a->lin += AB_FOUR_TURN((V->ang * lin - w * b->lin) + (V->lin * ang - v * b->ang));
  a->ang += AB_FOUR_TURN(V->ang * ang - w * b->ang);
}
// a += V x* p: the rate of a wrench that goes along with V.
static inline void six_cross_wrench_add(const abSix* V, const abSix* p, abSix* a) {
  abFour w = AB_FOUR_TURN(V->ang), v = AB_FOUR_TURN(V->lin);
  abFour lin = AB_FOUR_TURN(p->lin), ang = AB_FOUR_TURN(p->ang);
  a->lin += AB_FOUR_TURN(V->ang * lin - w * p->lin);
  a->ang += AB_FOUR_TURN((V->ang * ang - w * p->ang) + (V->lin * lin - v * p->lin));
}

// A rigid inertia about a point: mass times the centre of mass and the mass, and the columns of the
// second moments.
typedef struct abRigid {
  abFour c;
  abFour I[3];
} abRigid;

// The momentum of a rigid inertia.
static inline void rigid_apply(const abRigid* R, const abSix* V, abSix* p) {
  abFour c = AB_FOUR_TURN(R->c), v = AB_FOUR_TURN(V->lin), w = AB_FOUR_TURN(V->ang);
  p->lin = R->c[3] * V->lin + AB_FOUR_TURN(V->ang * c - w * R->c);
  p->ang = (R->I[0] * V->ang[0] + R->I[1] * V->ang[1] + R->I[2] * V->ang[2]) +
           AB_FOUR_TURN(R->c * v - c * V->lin);
}
static inline void rigid_add(const abRigid* b, abRigid* a) {
  a->c += b->c;
  for (int i = 0; i < 3; i++) a->I[i] += b->I[i];
}
// A body of mass m with the inertia I about its centre of mass, which is at d.
static inline void rigid_set(double m, abVec3 d, const abMat3* I, abRigid* R) {
  abVec3 c = v3_scale(m, d);
  double xx = c.x * d.x, yy = c.y * d.y, zz = c.z * d.z;
  double xy = I->m[0][1] - c.x * d.y, xz = I->m[0][2] - c.x * d.z, yz = I->m[1][2] - c.y * d.z;
  R->c = (abFour){c.x, c.y, c.z, m};
  R->I[0] = (abFour){I->m[0][0] + (yy + zz), xy, xz, 0};
  R->I[1] = (abFour){xy, I->m[1][1] + (xx + zz), yz, 0};
  R->I[2] = (abFour){xz, yz, I->m[2][2] + (xx + yy), 0};
}
// The same as a matrix.
static inline void rigid_expand(const abRigid* R, abSix6* A) {
  abFour c = R->c, none = {0, 0, 0, 0};
  double m = c[3];
  A->row[0] = (abSix){{m, 0, 0, 0}, {0, c[2], -c[1], 0}};
  A->row[1] = (abSix){{0, m, 0, 0}, {-c[2], 0, c[0], 0}};
  A->row[2] = (abSix){{0, 0, m, 0}, {c[1], -c[0], 0, 0}};
  A->row[3] = (abSix){{0, -c[2], c[1], 0}, none};
  A->row[4] = (abSix){{c[2], 0, -c[0], 0}, none};
  A->row[5] = (abSix){{-c[1], c[0], 0, 0}, none};
  for (int i = 0; i < 3; i++) A->row[3 + i].ang = R->I[i];
}

// Inverse of a symmetric positive definite n x n matrix, n <= 6, row-major: A = L L^T, then L^-1,
// then L^-T L^-1. Of any other matrix it is not a number. n is a constant where this is used.
static inline void small_inverse(int n, const double* A, double* inverse) {
  double L[36], per[6];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double s = A[i * n + j];
      for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = s * per[j];
    }
    double s = A[i * n + i];
    for (int k = 0; k < i; k++) s -= L[i * n + k] * L[i * n + k];
    per[i] = 1 / sqrt(s);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      double s = L[i * n + j] * per[j];
      for (int k = j + 1; k < i; k++) s += L[i * n + k] * L[k * n + j];
      L[i * n + j] = -per[i] * s;
    }
    L[i * n + i] = per[i];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = 0;
      for (int k = i; k < n; k++) s += L[k * n + i] * L[k * n + j];
      inverse[i * n + j] = inverse[j * n + i] = s;
    }
}

#endif
