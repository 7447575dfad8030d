// Slow, independent references for the overlap of two convex polyhedra.
#ifndef ABUT_TEST_ORACLE_OVERLAP_H
#define ABUT_TEST_ORACLE_OVERLAP_H

#include <abut/model.h>

#include "collide/clip/intersect.h"

typedef struct OracleOverlap {
  bool contact;
  double volume;
  abVec3 centroid;                 // world
  double area_a, area_b, area_ab;  // surface by owner; exact version only
  abVec3 sum_b;                    // area vectors of B's faces, shared ones half; exact only
  double inradius;                 // of the overlap; dual version only
} OracleOverlap;

// Muller & Preparata: an interior point by a linear program, the planes' dual points about it,
// their convex hull, its facets' duals as vertices, whose hull has the volume. False if qhull gives
// up. A or B may be NULL: a half-space.
bool oracle_overlap_dual(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B, abPose pose_b,
                         OracleOverlap* out);

// All triples of planes in rational arithmetic, the poses taken as the exact rational rotations
// their quaternions stand for and the faces as the planes through three of their vertices: exact
// where the faces of both bodies are exactly flat. False without GMP.
bool oracle_overlap_exact(const abPolyhedron* A, abPose pose_a, const abPolyhedron* B,
                          abPose pose_b, OracleOverlap* out);

// Longest chord of an overlap along n, over all vertices and crossings of upper with lower edges.
double oracle_overlap_thickness(const abOverlap* overlap, abVec3 n, abArena* scratch);
// The same by linear programming; -1 without GLPK, or where it finds no solution.
double oracle_overlap_chord(const abOverlap* overlap, abVec3 n);

#endif
