// The layout of an HDF5 recording, shared by writer and reader (doc/recording.md tells it to
// users).
//
// A recording is a set of columns that only grow. Sample columns have one row per sample, contact
// columns one row per contact, vertex columns one row per vertex of a contact polygon. States that
// a run can go on from are kept now and then, as 64-bit words: state k has the words
// state_offset[k]
// .. state_offset[k+1]-1. The contacts
// of sample i are the rows offset[i] .. offset[i+1]-1, the vertices of contact j the rows
// polygon_offset[j] .. polygon_offset[j+1]-1.
#ifndef ABUT_IO_H5_H
#define ABUT_IO_H5_H

#include <abut/model.h>
#include <hdf5.h>

// In the order of writing: what others point into comes first, and time last, so that a reader who
// sees a sample's time finds all the rest.
typedef enum abH5Column {
  AB_H5_STATE_WORD,
  AB_H5_STATE_OFFSET,
  AB_H5_STATE_BYTES,
  AB_H5_STATE_TIME,
  AB_H5_POLYGON,
  AB_H5_PRESSURE,
  AB_H5_POLYGON_OFFSET,
  AB_H5_CONTACT_BODY,
  AB_H5_CONTACT_GEOM,
  AB_H5_POINT,
  AB_H5_NORMAL,
  AB_H5_T1,
  AB_H5_T2,
  AB_H5_WRENCH,
  AB_H5_NORMAL_WRENCH,
  AB_H5_FRICTION_WRENCH,
  AB_H5_FREE_MOMENT,
  AB_H5_AREA,
  AB_H5_DEPTH,
  AB_H5_KIND,
  AB_H5_MODE,
  AB_H5_SLIP,
  AB_H5_NFACET,
  AB_H5_OFFSET,
  AB_H5_STATUS,
  AB_H5_ITERATIONS,
  AB_H5_RESIDUAL,
  AB_H5_Q,
  AB_H5_V,
  AB_H5_POSE,
  AB_H5_COM,
  AB_H5_TWIST,
  AB_H5_TIME,
  AB_H5_NCOLUMN
} abH5Column;

typedef enum abH5Number { AB_H5_REAL, AB_H5_INT, AB_H5_LONG } abH5Number;

typedef struct abH5Shape {
  const char* path;
  const char* doc;  // stored as the data set's attribute `about`
  abH5Number number;
  int ndim;        // of a row: 0, 1 or 2
  hsize_t dim[2];  // of a row
} abH5Shape;

abH5Shape ab_h5_shape(const abModel* model, abH5Column column);
hid_t ab_h5_type(abH5Number number);
size_t ab_h5_row_bytes(const abH5Shape* shape);
// Access properties every recording is opened with; the caller closes them.
hid_t ab_h5_access(void);

#endif
