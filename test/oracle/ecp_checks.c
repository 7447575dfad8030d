#include "oracle/ecp_checks.h"

#include <stdio.h>

#include "support/check.h"

void ecpw_step_ok(EcpWorld* w) {
  ecpw_step(w);
  if (w->result.status != AB_STEP_OK)
    fprintf(stderr, "%s step %d: residual %g, %d iterations\n", w->name, w->steps,
            w->result.residual, w->result.iterations);
  assert_int_equal(w->result.status, AB_STEP_OK);
  check_below(w->result.residual, 1e-9);
  for (int i = 0; i < w->npair; i++) check_below(w->solution[i].depth, 1e-9);
}

double ecpw_weight(const EcpWorld* w) {
  double sum = 0;
  for (int b = 1; b < w->nbody; b++) sum += w->mass[b] * w->gravity;
  return sum;
}
