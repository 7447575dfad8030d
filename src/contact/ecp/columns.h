// Writing first variations into columns (see abEcpKinematics).
#ifndef ABUT_CONTACT_ECP_COLUMNS_H
#define ABUT_CONTACT_ECP_COLUMNS_H

#include "contact/ecp/ecp.h"

// d += sign * (dtheta x r) at the three columns from `column`
static inline void add_turn(double J[3][AB_ECP_COLUMNS], int column, abVec3 r, double sign) {
  double x = sign * r.x, y = sign * r.y, z = sign * r.z;
  J[0][column + 1] += z, J[0][column + 2] -= y;
  J[1][column] -= z, J[1][column + 2] += x;
  J[2][column] += y, J[2][column + 1] -= x;
}

static inline void add_identity(double J[3][AB_ECP_COLUMNS], int column, double s) {
  for (int i = 0; i < 3; i++) J[i][column + i] += s;
}

static inline void set_row(double* row, int column, abVec3 a) {
  row[column] = a.x, row[column + 1] = a.y, row[column + 2] = a.z;
}

static inline void set_column(double J[3][AB_ECP_COLUMNS], int column, abVec3 a) {
  J[0][column] = a.x, J[1][column] = a.y, J[2][column] = a.z;
}

#endif
