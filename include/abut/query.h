// Questions about a simulation: how points move, what a ray meets, how far geoms are apart, who
// touches a body and how hard.
//
// Everything is answered for the poses and velocities of the last ab_step or ab_forward, and for
// the contacts of the last ab_step. Points, directions and results are in world axes, in SI units.
// Questions change nothing (but ab_apply_force, which adds to an input): any number of threads may
// query the same simulation at once while no thread steps it.
#ifndef ABUT_QUERY_H
#define ABUT_QUERY_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Velocity [m/s] of the point of a body that lies at `point` now.
AB_API abVec3 ab_point_velocity(const abModel* model, const abData* data, int body, abVec3 point);
// The same by the generalised velocities: J (6 x nv, by rows) times data->v is the velocity of that
// point, in the first three rows [m/s], and the body's angular velocity [rad/s]. Its transpose
// turns a force at the point and a torque into generalised forces. AB_ERROR_ARGUMENT: there is no
// such body, or data belongs to another model.
AB_API abStatus ab_point_jacobian(const abModel* model, const abData* data, int body, abVec3 point,
                                  double* J);
// Adds a force [N] at a point of a body to data->applied, where it stays until applied is set
// again.
AB_API abStatus ab_apply_force(const abModel* model, abData* data, int body, abVec3 point,
                               abVec3 force);

// A ray, and what it is to meet. Geoms that do not collide are left out unless `all` is set; meshes
// are met at their convex hull, as contacts are.
typedef struct abRay {
  abVec3 origin;     // where it begins [m]
  abVec3 direction;  // of any length but zero
  double length;     // [m] how far to look; 0: without end
  int without;       // geoms of this body are left out; < 0: none
  bool all;          // geoms that collide with nothing, too
} abRay;

typedef struct abRayHit {
  int geom;         // -1: nothing was met, and the rest is zero
  double distance;  // [m] from the origin
  abVec3 point;     // where it enters [m]
  abVec3 normal;    // unit, out of the geom
} abRayHit;

// `without` < 0, everything else zero.
AB_API abRay ab_ray(abVec3 origin, abVec3 direction);
// The nearest geom that the ray enters. One that holds the origin is not entered. Time grows with
// the number of geoms.
AB_API abStatus ab_ray_cast(const abModel* model, const abData* data, const abRay* ray,
                            abRayHit* hit, abError* error);

typedef struct abGeomDistance {
  double distance;  // [m]; < 0: they overlap, and moving geom1 by -distance along the normal parts
                    // them
  abVec3 point1, point2;  // the nearest points of the two surfaces [m]; in an overlap, the point of
                          // geom1 farthest against the normal, and where that is after the move
  abVec3 normal;          // unit, from geom2 to geom1
  bool bound;  // an overlap of smooth shapes, or of meshes with many edges: a shorter way may exist
} abGeomDistance;

// Distance and closest points of two geoms of any shape, whether they may collide or not; margins
// do not count. At most one of them may be a plane.
AB_API abStatus ab_geom_distance(const abModel* model, const abData* data, int geom1, int geom2,
                                 abGeomDistance* out, abError* error);

// The first contact from index `from` on that touches `body` and, unless it is < 0, `other`, as an
// index into data->contacts; -1: there is none.
//   for (int i = ab_next_contact(d, cup, -1, 0); i >= 0; i = ab_next_contact(d, cup, -1, i + 1))
//   ...
AB_API int ab_next_contact(const abData* data, int body, int other, int from);
// Sum of the contact forces on a body [N], and their torque about `point` [N m]; `other` as above.
AB_API abWrench ab_contact_wrench(const abData* data, int body, int other, abVec3 point);

#ifdef __cplusplus
}
#endif

#endif
