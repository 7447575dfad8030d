// Mass, centre of mass and inertia of shapes and meshes.
#ifndef ABUT_GEOMETRY_MASS_H
#define ABUT_GEOMETRY_MASS_H

#include <abut/scene.h>

typedef struct abMassProps {
  double mass;
  abVec3 com;
  abMat3 inertia;  // about com, in the axes of the frame com is given in
} abMassProps;

// A solid of this density [kg/m3], or a shell of this density [kg/m2]. Zero for planes; meshes have
// their own functions.
abMassProps ab_mass_of_shape(abShapeType type, abVec3 size, bool shell, double density);
abMassProps ab_mass_of_polyhedron(const abPolyhedron* poly, double density);
// A surface of triangles by one of MuJoCo's rules (mass.c says what they are).
// AB_MESH_INERTIA_CONVEX is the caller's: it takes the hull.
abMassProps ab_mass_of_triangles(const abVec3* vert, int ntriangle, const int (*triangle)[3],
                                 abMeshInertia rule, double density);
// The same matter s times as dense.
abMassProps ab_mass_scaled(abMassProps a, double s);
// Seen from the frame in which a's frame lies at `pose`.
abMassProps ab_mass_moved(abMassProps a, abPose pose);
// Both together; zero masses count as nothing.
abMassProps ab_mass_added(abMassProps a, abMassProps b);

#endif
