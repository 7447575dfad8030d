// Slow references for the dynamics of joint trees: nothing but positions and finite differences.
#ifndef ABUT_TEST_ORACLE_DYNAMICS_TREE_H
#define ABUT_TEST_ORACLE_DYNAMICS_TREE_H

#include <abut/abut.h>

// q moved along constant velocities v for the time t.
void oracle_move(const abModel* model, const double* q, const double* v, double t, double* out);
// Jacobian of every body's twist at its centre of mass: J[(6 b + i) nv + k].
void oracle_jacobian(const abModel* model, const double* q, double* J);
// Generalised inertia (nv x nv) of the bodies alone.
void oracle_inertia(const abModel* model, const double* q, double* M);
// Accelerations under gravity, applied wrenches and the joint forces tau (may be NULL), by
// d'Alembert's principle; armature counts.
void oracle_acceleration(const abModel* model, const double* q, const double* v,
                         const abWrench* applied, const double* tau, double* acceleration);

#endif
