// Small dense solvers: linear programs, linear complementarity, non-negative least squares, convex
// quadratic programs, mixed complementarity. They know nothing of bodies and can be used alone.
//
// Every solver is used the same way: fill a definition (set it to zero first: a zero tolerance or
// iteration limit means the default), get the size of the workspace, hand over that much memory
// aligned for double, read the result. Nothing is allocated, no state is held between calls, the
// definition's arrays are only read, and the outputs must not overlap them.
//
//   abNnlsDef def = {.nrow = 6, .ncol = 64, .a = a, .b = b};
//   void* workspace = malloc(ab_nnls_workspace(def.nrow, def.ncol));
//   abSolveResult result = ab_nnls(&def, x, workspace);
//
// All tolerances are relative: the solvers balance rows and columns by powers of two and divide the
// right-hand side by its size before any comparison, so units do not matter.
#ifndef ABUT_SOLVE_H
#define ABUT_SOLVE_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum abSolveStatus {
  AB_SOLVE_OK = 0,      // solved to the tolerance
  AB_SOLVE_INFEASIBLE,  // no point satisfies the constraints; the output is the best found
  AB_SOLVE_UNBOUNDED,   // the objective falls without end
  AB_SOLVE_RAY,         // lcp: ended on a ray; if M is positive semidefinite, no solution exists
  AB_SOLVE_ITERATIONS,  // iteration limit; the output is the best iterate
  AB_SOLVE_STALLED,     // no further progress is possible; the output is the best iterate
  AB_SOLVE_NUMERIC,     // arithmetic broke down (singular basis); the output is the best iterate
  AB_SOLVE_INPUT        // NaN or infinity in the input, or a size below zero; the output is zero
} abSolveStatus;

typedef struct abSolveResult {
  abSolveStatus status;
  int iterations;   // pivots or Newton steps
  double residual;  // violation of the conditions of a solution; dimensionless, see each solver
  double value;     // the objective, in the caller's units; see each solver
} abSolveResult;

// A short name of a status for messages.
AB_API const char* ab_solve_status_name(abSolveStatus status);

// ---- Linear program (lp.c)
//
// Minimise c . x subject to A x = b, x >= 0.
// residual: the largest |A x - b| of a balanced row, relative to the largest |b| of a balanced row.
// value: c . x; from ab_lp_feasible the sum of |A x - b| over the balanced rows, relative likewise.
typedef struct abLpDef {
  int nrow, ncol;
  const double* a;    // by columns: a[column * nrow + row]
  const double* b;    // nrow
  const double* c;    // ncol; not read by ab_lp_feasible
  double tolerance;   // largest residual that counts as feasible, default 1e-9
  int max_iteration;  // 0: the default
} abLpDef;

AB_API size_t ab_lp_workspace(int nrow, int ncol);
// dual (nrow, or NULL): at an optimum A^T dual <= c and b . dual = c . x; where infeasible, a
// proof: A^T dual <= 0 and b . dual > 0.
AB_API abSolveResult ab_lp(const abLpDef* def, double* x, double* dual, void* workspace);
// Phase one only: is there an x >= 0 with A x = b? x is one, or minimises the sum of balanced
// errors.
AB_API abSolveResult ab_lp_feasible(const abLpDef* def, double* x, double* dual, void* workspace);

// ---- Non-negative least squares (nnls.c)
//
// Minimise |A x - b| subject to x >= 0. The norm is Euclidean: for another metric multiply A and b
// by its root.
// residual: the largest violation of the optimality conditions, a_j . (b - A x) / (|a_j| |b|).
// value: |A x - b|.
typedef struct abNnlsDef {
  int nrow, ncol;
  const double* a;    // by columns: a[column * nrow + row]
  const double* b;    // nrow
  bool warm;          // x holds a guess: its positive entries are the first passive set
  double tolerance;   // of the optimality conditions, default 10 nrow times the rounding unit
  int max_iteration;  // 0: the default
} abNnlsDef;

AB_API size_t ab_nnls_workspace(int nrow, int ncol);
AB_API abSolveResult ab_nnls(const abNnlsDef* def, double* x, void* workspace);

// ---- Linear complementarity (lcp.c)
//
// Find z with w = M z + q, w >= 0, z >= 0, w . z = 0.
// residual: the largest |min(z_i, w_i)|, both balanced, relative to the larger of balanced q and z.
// value: z . w.
typedef struct abLcpDef {
  int n;
  const double* m;        // by rows: m[row * n + column]
  const double* q;        // n
  double regularisation;  // added to the diagonal, relative to trace(M)/n; default none
  double tolerance;       // largest residual that counts as solved, default 1e-9
  int max_iteration;      // 0: the default
} abLcpDef;

AB_API size_t ab_lcp_workspace(int n);
// w: n values or NULL. With regularisation, w belongs to the regularised matrix.
AB_API abSolveResult ab_lcp(const abLcpDef* def, double* z, double* w, void* workspace);

// ---- Convex quadratic program (qp.c)
//
// Minimise x . H x / 2 + g . x subject to a_k . x = b_k for the first nequal rows of A and
// a_k . x >= b_k for the others. H must be symmetric and positive semidefinite.
// residual: the largest violation of the optimality conditions (stationarity, feasibility, sign of
// multipliers, complementarity) of the balanced problem, relative to the larger of 1, x and the
// multipliers.
// value: the objective.
typedef struct abQpDef {
  int nvar, nrow, nequal;
  const double* h;        // nvar x nvar
  const double* g;        // nvar
  const double* a;        // by rows: a[row * nvar + variable]
  const double* b;        // nrow
  double regularisation;  // where H is singular, relative to its balanced diagonal; default 1e-8
  double tolerance;       // largest residual that counts as solved, default 1e-9
  int max_iteration;      // 0: the default
} abQpDef;

AB_API size_t ab_qp_workspace(int nvar, int nrow);
// multiplier (nrow, or NULL): H x + g = A^T multiplier, >= 0 for the inequalities.
AB_API abSolveResult ab_qp(const abQpDef* def, double* x, double* multiplier, void* workspace);

// ---- Mixed complementarity problem (mcp.c)
//
// Find x with lower <= x <= upper such that for every i one of these holds:
//     x_i = lower_i and F_i >= 0,
//     lower_i < x_i < upper_i and F_i = 0,
//     x_i = upper_i and F_i <= 0.
// residual: the natural residual, the largest |x_i - clamp(x_i - F_i)| in balanced units (below).
// value: the merit function, half the squared Fischer-Burmeister residual.
//
// F_i and x_i are measured in units f_scale[i] and x_scale[i], which the caller knows best; without
// them the solver takes units that balance the Jacobian at the start.
typedef bool (*abMcpFunction)(void* context, const double* x, double* f, double* jacobian);

typedef struct abMcpDef {
  int n;
  // Writes F(x) and, where `jacobian` is not NULL, dF_i/dx_j to jacobian[i * n + j]. Returns false
  // where F is not defined; the solver then tries a shorter step.
  abMcpFunction evaluate;
  void* context;          // handed to evaluate
  const double* lower;    // n, may be -INFINITY; NULL: all -INFINITY
  const double* upper;    // n, may be INFINITY; NULL: all INFINITY
  const double* x_scale;  // n, > 0, or NULL
  const double* f_scale;  // n, > 0, or NULL
  double tolerance;       // largest residual that counts as solved, default 1e-10
  int max_iteration;      // Newton steps in all, default 400
  bool direct;            // Newton from the start only, none of the fallbacks
} abMcpDef;

AB_API size_t ab_mcp_workspace(int n);
// x holds the start and receives the solution; it is left as it is where the input is refused.
AB_API abSolveResult ab_mcp(const abMcpDef* def, double* x, void* workspace);
// Compares the Jacobian at x with central differences. Returns the largest difference of an entry,
// relative to the largest entry of its row in balanced units; about 1e-9 for a right Jacobian of a
// smooth F, of order 1 for a wrong one. INFINITY where F cannot be evaluated.
AB_API double ab_mcp_check_jacobian(const abMcpDef* def, const double* x, void* workspace);

#ifdef __cplusplus
}
#endif

#endif
