// Tests: test_record, test_recordings.py.
#include "io/h5.h"

#define ROW(...) \
  { __VA_ARGS__ }

abH5Shape ab_h5_shape(const abModel* model, abH5Column column) {
  hsize_t nbody = (hsize_t)model->nbody, nq = (hsize_t)model->nq, nv = (hsize_t)model->nv;
  const abH5Shape shape[AB_H5_NCOLUMN] = {
      [AB_H5_STATE_WORD] = {"/states/word", "saved states, as abut run --save writes them",
                            AB_H5_LONG, 0, ROW(0)},
      [AB_H5_STATE_OFFSET] = {"/states/offset", "state k has the words [k] to [k+1]", AB_H5_LONG, 0,
                              ROW(0)},
      [AB_H5_STATE_BYTES] = {"/states/bytes", "of the state; its last word may be padded",
                             AB_H5_LONG, 0, ROW(0)},
      [AB_H5_STATE_TIME] = {"/states/time", "of the states [s]", AB_H5_REAL, 0, ROW(0)},
      [AB_H5_POLYGON] = {"/contacts/polygon", "vertices of the contact patches, world [m]",
                         AB_H5_REAL, 1, ROW(3)},
      [AB_H5_PRESSURE] = {"/contacts/pressure",
                          "at the vertices [Pa]; NaN where the model has none", AB_H5_REAL, 0,
                          ROW(0)},
      [AB_H5_POLYGON_OFFSET] = {"/contacts/polygon_offset",
                                "contact j has the vertices [j] to [j+1]", AB_H5_LONG, 0, ROW(0)},
      [AB_H5_CONTACT_BODY] = {"/contacts/body", "indices of body 1 and body 2", AB_H5_INT, 1,
                              ROW(2)},
      [AB_H5_CONTACT_GEOM] = {"/contacts/geom", "indices of geom 1 and geom 2", AB_H5_INT, 1,
                              ROW(2)},
      [AB_H5_POINT] = {"/contacts/point", "equivalent contact point, world [m]", AB_H5_REAL, 1,
                       ROW(3)},
      [AB_H5_NORMAL] = {"/contacts/normal", "from body 2 to body 1", AB_H5_REAL, 1, ROW(3)},
      [AB_H5_T1] = {"/contacts/t1", "first tangent", AB_H5_REAL, 1, ROW(3)},
      [AB_H5_T2] = {"/contacts/t2", "second tangent", AB_H5_REAL, 1, ROW(3)},
      [AB_H5_WRENCH] = {"/contacts/wrench", "force [N] and torque about the point [N m] on body 1",
                        AB_H5_REAL, 1, ROW(6)},
      [AB_H5_NORMAL_WRENCH] = {"/contacts/normal_wrench", "part of the normal pressure", AB_H5_REAL,
                               1, ROW(6)},
      [AB_H5_FRICTION_WRENCH] = {"/contacts/friction_wrench", "part of friction", AB_H5_REAL, 1,
                                 ROW(6)},
      [AB_H5_FREE_MOMENT] = {"/contacts/free_moment", "friction torque about the normal [N m]",
                             AB_H5_REAL, 0, ROW(0)},
      [AB_H5_AREA] = {"/contacts/area", "of the patch [m2]", AB_H5_REAL, 0, ROW(0)},
      [AB_H5_DEPTH] = {"/contacts/depth", "largest penetration [m]", AB_H5_REAL, 0, ROW(0)},
      [AB_H5_KIND] = {"/contacts/kind", "0 none, 1 point, 2 line, 3 surface", AB_H5_INT, 0, ROW(0)},
      [AB_H5_MODE] = {"/contacts/mode", "0 stick, 1 slip, 2 separating", AB_H5_INT, 0, ROW(0)},
      [AB_H5_SLIP] = {"/contacts/slip",
                      "slip velocity along t1, t2 [m/s], about the normal [rad/s]", AB_H5_REAL, 1,
                      ROW(3)},
      [AB_H5_NFACET] = {"/contacts/nfacet", "active facets (implicit models)", AB_H5_INT, 0,
                        ROW(0)},
      [AB_H5_OFFSET] = {"/contacts/offset", "sample i has the contacts [i] to [i+1]", AB_H5_LONG, 0,
                        ROW(0)},
      [AB_H5_STATUS] = {"/stat/status", "0 solved, 1 not converged, 2 broken", AB_H5_INT, 0,
                        ROW(0)},
      [AB_H5_ITERATIONS] = {"/stat/iterations", "of the contact solver", AB_H5_INT, 0, ROW(0)},
      [AB_H5_RESIDUAL] = {"/stat/residual", "scaled residual of the step", AB_H5_REAL, 0, ROW(0)},
      [AB_H5_Q] = {"/q", "generalised coordinates", AB_H5_REAL, 1, ROW(nq)},
      [AB_H5_V] = {"/v", "generalised velocities", AB_H5_REAL, 1, ROW(nv)},
      [AB_H5_POSE] = {"/pose", "body frames: x y z, quaternion w x y z, world", AB_H5_REAL, 2,
                      ROW(nbody, 7)},
      [AB_H5_COM] = {"/com", "centres of mass, world [m]", AB_H5_REAL, 2, ROW(nbody, 3)},
      [AB_H5_TWIST] = {"/twist", "velocity of the centre of mass [m/s], angular velocity [rad/s]",
                       AB_H5_REAL, 2, ROW(nbody, 6)},
      [AB_H5_TIME] = {"/time", "of the samples [s]", AB_H5_REAL, 0, ROW(0)},
  };
  return shape[column];
}

hid_t ab_h5_type(abH5Number number) {
  return number == AB_H5_REAL  ? H5T_NATIVE_DOUBLE
         : number == AB_H5_INT ? H5T_NATIVE_INT32
                               : H5T_NATIVE_INT64;
}

size_t ab_h5_row_bytes(const abH5Shape* shape) {
  size_t n = shape->number == AB_H5_INT ? 4 : 8;
  for (int i = 0; i < shape->ndim; i++) n *= (size_t)shape->dim[i];
  return n;
}

hid_t ab_h5_access(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  // The newest format is the one that a reader may open while it grows.
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  // A reader's lock must not stop the run that it watches.
  H5Pset_file_locking(access, false, true);
  return access;
}
