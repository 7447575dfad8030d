// Xie & Chakraborty's equations for one body on a fixed plane, written as they print them (with
// their misprints mended), and evaluated at what a step returned. Knows nothing of modes. With
// gyro = 1 the arm of the impulse is the mean one of the step instead of that at its end.
#ifndef ABUT_TEST_ECP_PAPER_H
#define ABUT_TEST_ECP_PAPER_H

#include "oracle/ecp_world.h"

typedef struct PaperResidual {
  double momentum;  // (7) over the larger of load and contact impulse (and times the body's radius)
  double friction;  // (9), rows over e_j mu p_n (sigma + g h), cone over (mu p_n)^2
  double
      geometry;  // (13)-(17): f_i(a) <= 0, multipliers l >= 0 with sum l grad f = -n; over radius
  int nfacet;    // multipliers that are not zero
} PaperResidual;

// Of body 1 against the fixed plane number 0, after ecpw_step.
PaperResidual paper_residual(const EcpWorld* w);

#endif
