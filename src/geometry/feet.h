// The feet of a polyhedron (feet.c): for polyhedron.c, which makes it.
#ifndef ABUT_GEOMETRY_FEET_H
#define ABUT_GEOMETRY_FEET_H

#include "geometry/polyhedron.h"

// From vertices, planes, centroid, size and half-edges: the faces across the edges, and the feet.
void ab_polyhedron_fill_feet(abPolyhedron* poly);

#endif
