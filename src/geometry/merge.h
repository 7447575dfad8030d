// What hull.c and merge.c share: points and faces on the way to a hull.
#ifndef ABUT_GEOMETRY_MERGE_H
#define ABUT_GEOMETRY_MERGE_H

#include <abut/types.h>

typedef struct abCloud {
  int n;
  abVec3* point;   // sorted, different
  double* scaled;  // 3 n coordinates of size 1
  double size;     // longest side of the bounding box
} abCloud;

// Faces as loops of vertex indices.
typedef struct abFaces {
  int n, nloop;
  int* start;  // n + 1
  int* loop;
} abFaces;

abVec3 ab_scaled_point(const abCloud* c, int i);
// Newell's normal with the length of twice the area, and (if not NULL) the mean of the vertices.
abVec3 ab_loop_normal(const abCloud* c, const int* loop, int n, abVec3* mean);

// Facets that lie in one plane, up to `flat` in scaled coordinates, become one face; vertices that
// are no corners are left out. AB_ERROR_NUMERIC if that does not give faces each bounded by one
// loop, AB_ERROR_MEMORY without memory; *out must be freed in any case.
abStatus ab_merge_facets(const abCloud* c, const abFaces* facet, double flat, abFaces* out);

#endif
