// Triangles to samples: for every sample of an image what is nearest there.
#ifndef ABUT_IO_RASTER_H
#define ABUT_IO_RASTER_H

#include <abut/types.h>

// A corner of a triangle on the image: x to the right and y down in samples, and how near it is.
// Nearness must be affine on the image: 1 / distance for a perspective view, minus the distance for
// a parallel one.
typedef struct abCorner {
  double x, y, near;
  abVec3 normal;
} abCorner;

typedef struct abRaster {
  int width, height;
  float* near;    // per sample; -INFINITY: nothing
  int* geom;      // per sample, or NULL where only nearness is wanted
  float* normal;  // three per sample, or NULL likewise
} abRaster;

bool ab_raster_create(abRaster* r, int width, int height, bool surfaces);
void ab_raster_free(abRaster* r);
// `perspective`: nearness is 1 / distance, which weights what is interpolated.
void ab_raster_triangle(abRaster* r, const abCorner corner[3], bool perspective, int geom);

#endif
