// The support faces of a polyhedron (support_face.c): for polyhedron.c, which makes it.
#ifndef ABUT_GEOMETRY_SUPPORT_FACE_H
#define ABUT_GEOMETRY_SUPPORT_FACE_H

#include "geometry/polyhedron.h"

// From vertices, planes, centroid, size and half-edges: the faces across the edges, and the support
// faces.
void ab_polyhedron_fill_support_faces(abPolyhedron* poly);

#endif
