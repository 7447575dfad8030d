// abModel: everything about a scene that does not change while it is simulated. One allocation,
// made by ab_scene_compile (scene/compile.c); plain arrays of plain structs, indexed in the order
// of the scene file.
#ifndef ABUT_MODEL_H
#define ABUT_MODEL_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// --- shapes ---

typedef enum abShapeType {
  AB_PLANE,      // the half-space below z = 0 of its frame; size.x, size.y only for drawing
  AB_BOX,        // size = half lengths
  AB_SPHERE,     // size.x = radius
  AB_CAPSULE,    // size.x = radius, size.y = half length of the axis, along z
  AB_CYLINDER,   // size.x = radius, size.y = half length, along z
  AB_ELLIPSOID,  // size = radii
  AB_MESH        // the convex polyhedron poly; size is zero
} abShapeType;

// A convex polyhedron with polygonal faces; no two faces that share an edge are coplanar.
// Coordinates are those of the shape's own frame.
typedef struct abPolyhedron {
  int nvert, nface, nedge, nloop;
  const abVec3* vert;
  const abPlane* plane;  // per face: outward normal and offset
  const int*
      face_start;   // nface + 1 entries: face f is loop[face_start[f]] .. loop[face_start[f+1]-1]
  const int* loop;  // vertex indices, counter-clockwise seen from outside
  const int (
      *edge)[4];    // vertex, vertex, face with the edge in that direction, face with it reversed
  abVec3 centroid;  // of the volume
  double volume;
  double radius;  // of the smallest ball about the shape frame's origin that holds it
} abPolyhedron;

// What collide/ and contact/ know of a geom. `poly` is exact for AB_BOX and AB_MESH, the
// tessellation for the smooth shapes (its relative volume error in poly_error) and NULL for
// AB_PLANE.
typedef struct abShape {
  abShapeType type;
  abVec3 size;
  const abPolyhedron* poly;
  double poly_error;
} abShape;

// --- the tree of bodies ---

typedef enum abJointType {
  AB_JOINT_FREE,   // 7 coordinates: position of the body frame, quaternion; 6 velocities: see
                   // abData.v
  AB_JOINT_BALL,   // 4 coordinates: quaternion; 3 velocities: angular velocity in the body's axes
  AB_JOINT_SLIDE,  // 1 and 1
  AB_JOINT_HINGE   // 1 and 1
} abJointType;

typedef struct abBody {
  const char* name;
  int parent;  // index; the world is body 0 and its own parent
  int weld;    // the body this one is rigidly fixed to (itself if it has joints; 0: fixed to the
               // world)
  int mover;   // the free body or joint tree it belongs to, -1 if fixed to the world
  int joint0, njoint;
  int dof0, ndof;    // velocities of its own joints
  int geom0, ngeom;  // its geoms are consecutive
  abPose pose;       // body frame in the parent's frame, joints at their reference position
  double mass;
  abVec3 com;        // centre of mass in the body frame
  abQuat inertia_q;  // principal axes in the body frame
  abVec3 inertia;    // principal moments about the centre of mass
  // Convex hull, in the body frame, of the geoms that can collide; NULL if there are none or one is
  // a plane, and for a world of several geoms. A single geom whose frame is the body's is its own
  // hull, with its type; otherwise the type is AB_MESH, smooth geoms by their tessellations.
  const abShape* hull;
  bool gravity;  // false: gravity does not act (gravcomp = 1)
} abBody;

typedef struct abJoint {
  const char* name;
  abJointType type;
  int body;
  int q0, v0;        // first coordinate, first velocity
  abVec3 pos, axis;  // in the body frame; axis is a unit vector
  bool limited;
  double range[2];  // m or rad
  double margin;
  double stiffness, damping, armature, frictionloss;
  double ref;        // coordinate at the reference pose
  double springref;  // coordinate at which the spring is relaxed
} abJoint;

typedef struct abGeom {
  const char* name;
  int body;
  abShape shape;
  abPose pose;  // in the body frame
  double mass;  // as compiled, 0 where the body's inertia was given
  int contype, conaffinity, condim, priority, group;
  double friction[3];  // as in the file: sliding, torsional, rolling
  double mu_static;    // < 0: the same as friction[0]
  double e_t, e_o;     // axes of the friction ellipsoid
  double e_r;          // < 0: from the patch
  double restitution;
  double margin, gap;
  float rgba[4];
  int mesh;  // index into mesh, -1 if none
} abGeom;

// A mesh asset as it is drawn; contact uses the hull, which is shape.poly of the geoms that name
// it. Vertices stay where the file has them, but for scale and reference frame: unlike in MuJoCo,
// they are not moved to the centre of mass, so a geom's pose is the one the scene gives it.
typedef struct abMesh {
  const char* name;
  const char* file;
  int nvert, ntriangle;
  const abVec3* vert;  // in the frame of the geoms that use it
  const int (*triangle)[3];
} abMesh;

typedef enum abGainType { AB_GAIN_FIXED, AB_GAIN_AFFINE } abGainType;
typedef enum abBiasType { AB_BIAS_NONE, AB_BIAS_AFFINE } abBiasType;

// Force = gain * ctrl + bias, gain = gainprm . (1, length, velocity) and bias = biasprm . (1,
// length, velocity) (only the first gain parameter for AB_GAIN_FIXED, no bias for AB_BIAS_NONE);
// the joint feels gear * force.
typedef struct abActuator {
  const char* name;
  int joint;
  double gear[6];
  abGainType gain;
  abBiasType bias;
  double gainprm[3], biasprm[3];
  bool ctrl_limited, force_limited;
  double ctrl_range[2], force_range[2];
} abActuator;

typedef struct abKey {
  const char* name;
  double time;
  const double *q, *v, *ctrl;  // nq, nv, nactuator values; v in abut's convention (see abData.v)
} abKey;

typedef struct abExclude {
  int body1, body2;  // body1 < body2
} abExclude;

// Two geoms that collide whatever their bits say, with these numbers instead of the combined ones.
typedef struct abPairRule {
  int geom1, geom2;  // geom1 < geom2
  int condim;
  double friction[5];  // two tangential, torsional, two rolling
  double margin, gap;
} abPairRule;

// A free body, or all bodies that hang together by joints: what a contact impulse can move.
typedef struct abMover {
  int body0, nbody;  // consecutive bodies (some may be welded to their parents)
  int dof0, ndof;
  // false: a single free body (its joint without stiffness, damping, armature and friction loss),
  // dofs = velocity of the centre of mass, angular velocity
  bool jointed;
} abMover;

typedef struct abSetting {
  const char* name;
  double value;
} abSetting;

typedef enum abIntegrator { AB_EULER, AB_RK4 } abIntegrator;

typedef struct abModel {
  const char* name;
  const char* file;

  // options
  abVec3 gravity;
  double timestep;
  abIntegrator integrator;
  const char* contact;  // the contact model the scene names, NULL: the default
  int nsetting;
  const abSetting* setting;  // the scene's parameters of that model

  // sizes of the state
  int nq, nv;

  int nbody, njoint, ngeom, nmesh, nactuator, nkey, nexclude, npair_rule, nmover;
  const abBody* body;  // body[0] is the world
  const abJoint* joint;
  const abGeom* geom;
  const abMesh* mesh;
  const abActuator* actuator;
  const abKey* key;
  const abExclude* exclude;
  const abPairRule* pair_rule;
  const abMover* mover;
  const double* q0;      // the initial coordinates
  const int* dof_joint;  // per velocity: its joint
  const double* dof_damping;
  const double* dof_armature;
  double total_mass;
  double extent;  // radius of a ball that holds the scene at q0, planes left out: the scene's
                  // length scale
  size_t bytes;   // of the one allocation
} abModel;

#ifdef __cplusplus
}
#endif

#endif
