// The parts of the small algebra that are too long to inline.
// Tests: test_elementary.
#include <float.h>

#include "math/spatial.h"

// Shepperd's rule: take the largest of the four squared components first, so that no division is by
// a small number.
abQuat quat_from_matrix(const abMat3* R) {
  double t = R->m[0][0] + R->m[1][1] + R->m[2][2];
  abQuat q;
  if (t > R->m[0][0] && t > R->m[1][1] && t > R->m[2][2]) {
    double s = 2 * sqrt(1 + t);
    q = (abQuat){s / 4, (R->m[2][1] - R->m[1][2]) / s, (R->m[0][2] - R->m[2][0]) / s,
                 (R->m[1][0] - R->m[0][1]) / s};
  } else if (R->m[0][0] >= R->m[1][1] && R->m[0][0] >= R->m[2][2]) {
    double s = 2 * sqrt(1 + R->m[0][0] - R->m[1][1] - R->m[2][2]);
    q = (abQuat){(R->m[2][1] - R->m[1][2]) / s, s / 4, (R->m[0][1] + R->m[1][0]) / s,
                 (R->m[0][2] + R->m[2][0]) / s};
  } else if (R->m[1][1] >= R->m[2][2]) {
    double s = 2 * sqrt(1 - R->m[0][0] + R->m[1][1] - R->m[2][2]);
    q = (abQuat){(R->m[0][2] - R->m[2][0]) / s, (R->m[0][1] + R->m[1][0]) / s, s / 4,
                 (R->m[1][2] + R->m[2][1]) / s};
  } else {
    double s = 2 * sqrt(1 - R->m[0][0] - R->m[1][1] + R->m[2][2]);
    q = (abQuat){(R->m[1][0] - R->m[0][1]) / s, (R->m[0][2] + R->m[2][0]) / s,
                 (R->m[1][2] + R->m[2][1]) / s, s / 4};
  }
  return quat_unit(q);
}

// Turns rows and columns p, q of A so that A[p][q] vanishes (one Jacobi rotation), and collects the
// turn in R.
static void jacobi_rotate(abMat3* A, abMat3* R, int p, int q) {
  double apq = A->m[p][q];
  if (apq == 0) return;
  double theta = (A->m[q][q] - A->m[p][p]) / (2 * apq);
  double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < 3; k++) {
    double akp = A->m[k][p], akq = A->m[k][q];
    A->m[k][p] = c * akp - s * akq;
    A->m[k][q] = s * akp + c * akq;
  }
  for (int k = 0; k < 3; k++) {
    double apk = A->m[p][k], aqk = A->m[q][k];
    A->m[p][k] = c * apk - s * aqk;
    A->m[q][k] = s * apk + c * aqk;
    double rkp = R->m[k][p], rkq = R->m[k][q];
    R->m[k][p] = c * rkp - s * rkq;
    R->m[k][q] = s * rkp + c * rkq;
  }
}

void m3_eigen(const abMat3* A_in, abMat3* R, abVec3* d) {
  abMat3 A = *A_in;
  *R = m3_identity();
  for (int sweep = 0; sweep < 32; sweep++) {
    double off = fabs(A.m[0][1]) + fabs(A.m[0][2]) + fabs(A.m[1][2]);
    double diag = fabs(A.m[0][0]) + fabs(A.m[1][1]) + fabs(A.m[2][2]);
    if (off <= DBL_EPSILON * 1e-3 * diag) break;
    jacobi_rotate(&A, R, 0, 1);
    jacobi_rotate(&A, R, 0, 2);
    jacobi_rotate(&A, R, 1, 2);
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (A.m[order[j]][order[j]] < A.m[order[j + 1]][order[j + 1]]) {
        int t = order[j];
        order[j] = order[j + 1];
        order[j + 1] = t;
      }
  abVec3 c0 = m3_col(R, order[0]), c1 = m3_col(R, order[1]);
  *d = v3(A.m[order[0]][order[0]], A.m[order[1]][order[1]], A.m[order[2]][order[2]]);
  *R = m3_cols(c0, c1, v3_cross(c0, c1));
}

int dense_cholesky(int n, double* A, double floor) {
  int nreplaced = 0;
  for (int j = 0; j < n; j++) {
    double* Aj = A + (ptrdiff_t)j * n;
    double d = Aj[j];
    for (int k = 0; k < j; k++) d -= Aj[k] * Aj[k];
    if (!(d > floor)) {
      d = floor > 0 ? floor : DBL_MIN;
      nreplaced++;
    }
    Aj[j] = sqrt(d);
    for (int i = j + 1; i < n; i++) {
      double* Ai = A + (ptrdiff_t)i * n;
      double s = Ai[j];
      for (int k = 0; k < j; k++) s -= Ai[k] * Aj[k];
      Ai[j] = s / Aj[j];
    }
  }
  return nreplaced;
}

void dense_cholesky_solve(int n, const double* L, double* b) {
  for (int i = 0; i < n; i++) {
    const double* Li = L + (ptrdiff_t)i * n;
    double s = b[i];
    for (int k = 0; k < i; k++) s -= Li[k] * b[k];
    b[i] = s / Li[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    double s = b[i];
    for (int k = i + 1; k < n; k++) s -= L[(ptrdiff_t)k * n + i] * b[k];
    b[i] = s / L[(ptrdiff_t)i * n + i];
  }
}

bool dense_lu_solve(int n, double* A, double* b, int* pivot) {
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[(ptrdiff_t)i * n + k]) > fabs(A[(ptrdiff_t)p * n + k])) p = i;
    pivot[k] = p;
    double* Ak = A + (ptrdiff_t)k * n;
    double* Ap = A + (ptrdiff_t)p * n;
    if (!(fabs(Ap[k]) > 0)) return false;
    if (p != k) {
      for (int j = 0; j < n; j++) {
        double t = Ak[j];
        Ak[j] = Ap[j];
        Ap[j] = t;
      }
      double t = b[k];
      b[k] = b[p];
      b[p] = t;
    }
    for (int i = k + 1; i < n; i++) {
      double* Ai = A + (ptrdiff_t)i * n;
      double f = Ai[k] / Ak[k];
      if (f == 0) continue;
      for (int j = k + 1; j < n; j++) Ai[j] -= f * Ak[j];
      b[i] -= f * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    double s = b[i];
    for (int j = i + 1; j < n; j++) s -= A[(ptrdiff_t)i * n + j] * b[j];
    b[i] = s / A[(ptrdiff_t)i * n + i];
  }
  return true;
}
