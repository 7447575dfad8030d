// abModel: everything about a scene that does not change while it is simulated. One allocation,
// made by ab_scene_compile (scene/compile/compile.c); plain arrays of plain structs, indexed in the
// order of the scene file. Parts name each other by index. Pointers inside the arrays lead to what
// a step does not read (names, the meshes that are drawn), and from an abShape to its polyhedron,
// so that a shape can be given to a function without its model; all lead into the one allocation.
//
// It lives until ab_model_free, must outlive the simulations made for it (abData), and needs
// neither the scene nor the file it was made from. Any number of threads may use it at once.
#ifndef ABUT_MODEL_H
#define ABUT_MODEL_H

#include <abut/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// --- shapes ---

typedef enum abShapeType {
  AB_SHAPE_PLANE,      // the half-space below z = 0 of its frame; size.x, size.y only for drawing
  AB_SHAPE_BOX,        // size = half lengths
  AB_SHAPE_SPHERE,     // size.x = radius
  AB_SHAPE_CAPSULE,    // size.x = radius, size.y = half length of the axis, along z
  AB_SHAPE_CYLINDER,   // size.x = radius, size.y = half length, along z
  AB_SHAPE_ELLIPSOID,  // size = radii
  AB_SHAPE_MESH        // the convex polyhedron poly; size is zero
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

// What collide/ and contact/ know of a geom. `poly` is exact for AB_SHAPE_BOX and AB_SHAPE_MESH,
// the tessellation for the smooth shapes (its relative volume error in poly_error) and NULL for
// AB_SHAPE_PLANE.
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
  // index into abModel.hull: convex hull, in the body frame, of the geoms that can collide; -1 if
  // there are none or one is a plane, and for a world of several geoms. A single geom whose frame
  // is the body's is its own hull, with its type; otherwise the type is AB_SHAPE_MESH, smooth geoms
  // by their tessellations.
  int hull;
  bool gravity;  // false: gravity does not act (gravcomp = 1)
  // index into abData.mocap_pos and mocap_quat, -1 if none. A mocap body hangs on the world, has no
  // joints, no mass counts and nothing moves it but those arrays: mover = -1, weld = itself.
  int mocap;
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
  // A pair touches with force where its distance is below the sum of the two margins, as if each
  // surface lay that far out; from there to the sum of margins and gaps it is only looked at.
  double margin, gap;
  float rgba[4];
  int mesh;  // index into mesh, -1 if none
  // false: contype and conaffinity are 0 and no abPairRule names it, so that it can be left out of
  // everything but pictures and masses
  bool collides;
} abGeom;

// A named frame on a body: what site actuators act at.
typedef struct abSite {
  const char* name;
  int body;
  abPose pose;  // in the body frame
} abSite;

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

// What an actuator pulls on; the length and velocity its law sees, and what its force does there.
//   AB_DRIVE_JOINT   gear * coordinate (ball: gear . rotation vector, free: 0); the joint feels
//                    gear * force
//   AB_DRIVE_TENDON  gear[0] * length of the tendon; the tendon's joints feel coef * gear[0] *
//                    force
//   AB_DRIVE_SITE    without refsite: length 0; velocity = gear . twist of the site in its own
//                    axes; the site feels force * gear, three forces and three torques in its axes.
//                    With refsite: length = gear . (position of site relative to refsite, in
//                    refsite's axes; rotation vector that turns refsite to site, in refsite's
//                    axes), where a half of gear that is zero is left out; the force acts on the
//                    site and, reversed, through refsite, in refsite's axes. Velocities of joints
//                    that move both sites do not count.
typedef enum abDrive { AB_DRIVE_JOINT, AB_DRIVE_TENDON, AB_DRIVE_SITE } abDrive;

// Force = gain * ctrl + bias, gain = gainprm . (1, length, velocity) and bias = biasprm . (1,
// length, velocity) (only the first gain parameter for AB_GAIN_FIXED, no bias for AB_BIAS_NONE).
// A position servo given by its damping ratio has its velocity gain here, computed at q0.
typedef struct abActuator {
  const char* name;
  abDrive drive;
  int joint;          // AB_DRIVE_JOINT, else -1
  int tendon;         // AB_DRIVE_TENDON, else -1
  int site, refsite;  // AB_DRIVE_SITE, else -1; refsite may be -1, too
  double gear[6];
  abGainType gain;
  abBiasType bias;
  double gainprm[3], biasprm[3];
  bool ctrl_limited, force_limited;
  double ctrl_range[2], force_range[2];
} abActuator;

// A fixed tendon: a length that is linear in the coordinates of hinges and slides,
//   L = sum coef q over joint[joint0] .. joint[joint0 + njoint - 1] of abModel.tendon_joint,
// with a force f along it; joint i feels coef f.
typedef struct abTendon {
  const char* name;
  int joint0, njoint;
  bool limited;
  double range[2], margin;  // the limit acts where L - range[0] or range[1] - L is below margin
  double stiffness;         // f = stiffness * (nearest end of springlength - L) outside of it
  double springlength[2];   // [0] <= [1]: between them the spring is slack
  double damping;           // f = -damping * dL/dt
  double frictionloss;      // |f| of dry friction
  double armature;          // inertia: kinetic energy 1/2 armature (dL/dt)^2
  bool force_limited;       // of the sum of its actuators' gear * force
  double force_range[2];
  double length0;  // L at q0
} abTendon;

typedef struct abTendonJoint {
  int joint;
  double coef;
} abTendonJoint;

typedef enum abEqualityType {
  // the points frame1.p of body1 and frame2.p of body2 are the same: 3 equations
  AB_EQUALITY_CONNECT,
  // the frames frame1 of body1 and frame2 of body2 are the same: 6 equations
  AB_EQUALITY_WELD,
  // y = p(x), y = coordinate of joint1 less its value in q0, x the same of joint2 (0 if joint2 is
  // -1), p(x) = polycoef . (1, x, x^2, x^3, x^4): 1 equation; hinges and slides only
  AB_EQUALITY_JOINT,
  // the same with the lengths of tendon1 and tendon2 less their length0
  AB_EQUALITY_TENDON
} abEqualityType;

typedef struct abEquality {
  const char* name;
  abEqualityType type;
  bool active;            // at the start
  int body1, body2;       // connect and weld, else -1; body 0 is the world
  abPose frame1, frame2;  // in body1 and body2
  double torquescale;     // weld: length that weighs rotation against translation where both
                          // cannot be met
  int joint1, joint2;     // joint, else -1
  int tendon1, tendon2;   // tendon, else -1
  double polycoef[5];
  int line;  // of the scene file, 0 if none
} abEquality;

// A keyframe. Its numbers are those of its turn in abModel.key_q, key_v, key_ctrl, key_mocap_pos
// and key_mocap_quat.
typedef struct abKey {
  const char* name;
  double time;
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

typedef enum abIntegrator { AB_INTEGRATOR_EULER, AB_INTEGRATOR_RK4 } abIntegrator;

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
  int nsite, ntendon, ntendon_joint, nequality, nmocap, nhull;
  const abBody* body;  // body[0] is the world
  const abJoint* joint;
  const abGeom* geom;
  const abMesh* mesh;
  const abActuator* actuator;
  const abKey* key;
  const double* key_q;          // of key k: key_q[k * nq] .. key_q[k * nq + nq - 1]; likewise
  const double* key_v;          // by nv, in abut's convention (see abData.v)
  const double* key_ctrl;       // by nactuator
  const abVec3* key_mocap_pos;  // by nmocap
  const abQuat* key_mocap_quat;
  const abExclude* exclude;
  const abPairRule* pair_rule;
  const abMover* mover;
  const abSite* site;
  const abTendon* tendon;
  const abTendonJoint* tendon_joint;
  const abEquality* equality;
  const abShape* hull;    // see abBody.hull
  const int* mocap_body;  // nmocap: the bodies that are moved from outside
  const double* q0;       // the initial coordinates
  const int* dof_joint;   // per velocity: its joint
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
