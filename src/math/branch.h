// Symmetric positive definite systems of joint trees, row-major n x n, dense. Their rows come from
// the root to the leaves, and entries between different branches are zero. A = L^T L, found from
// the last row to the first, then has no other entries than A has (Featherstone 2005); zeros are
// left out wherever they are. Of A the lower half is used; L takes its place, with 1 / L_kk on the
// diagonal. What stands above the diagonal is lost.
#ifndef ABUT_MATH_BRANCH_H
#define ABUT_MATH_BRANCH_H

// A pivot that is not above `floor`, times its entry of `before` if that is not NULL, is replaced,
// by that entry or floor; the number of replaced pivots is returned, so that a caller can report
// it.
int branch_factor(int n, double* A, const double* before, double floor);
// b <- L^-T b, and b <- L^-1 b
void branch_upper(int n, const double* L, double* b);
void branch_lower(int n, const double* L, double* b);
// b <- A^-1 b
static inline void branch_solve(int n, const double* L, double* b) {
  branch_upper(n, L, b);
  branch_lower(n, L, b);
}

#endif
