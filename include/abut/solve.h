// The solvers that know no bodies; each usable on its own.
#ifndef ABUT_SOLVE_H
#define ABUT_SOLVE_H

#include <abut/types.h>

#endif
