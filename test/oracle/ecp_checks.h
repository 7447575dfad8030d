// What every step of the implicit model must keep.
#ifndef ABUT_TEST_ECP_CHECKS_H
#define ABUT_TEST_ECP_CHECKS_H

#include "oracle/ecp_world.h"

// One step: solved, by the status and by the residual, and nothing sunk in.
void ecpw_step_ok(EcpWorld* w);
double ecpw_weight(const EcpWorld* w);  // of all bodies

#endif
