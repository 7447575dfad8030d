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
  const abVec3* vert;     // nvert corners [m]
  const abPlane* plane;   // nface: outward normal and offset [m]
  const int* face_start;  // nface + 1: face f is loop[face_start[f]] .. loop[face_start[f+1]-1]
  const int* loop;        // nloop vertex indices, counter-clockwise seen from outside
  const int (*edge)[4];   // nedge: vertex, vertex, face with the edge in that direction, face with
                          // it reversed
  abVec3 centroid;        // of the volume [m]
  double volume;          // [m3]
  double radius;          // of the smallest ball about the shape frame's origin that holds it [m]
} abPolyhedron;

// What collide/ and contact/ know of a geom. `poly` is exact for AB_SHAPE_BOX and AB_SHAPE_MESH,
// the tessellation for the smooth shapes (its relative volume error in poly_error) and NULL for
// AB_SHAPE_PLANE.
typedef struct abShape {
  abShapeType type;
  abVec3 size;               // see abShapeType [m]
  const abPolyhedron* poly;  // in the model's own memory
  double poly_error;         // [1]; 0 where poly is exact
} abShape;

// --- the tree of bodies ---

typedef enum abJointType {
  AB_JOINT_FREE,   // 7 coordinates: position of the body frame, quaternion; 6 velocities: see
                   // abData.v
  AB_JOINT_BALL,   // 4 coordinates: quaternion; 3 velocities: angular velocity in the body's axes
  AB_JOINT_SLIDE,  // 1 and 1
  AB_JOINT_HINGE   // 1 and 1
} abJointType;

// In all parts: frames are in metres, a frame is given in that of what it is attached to.
typedef struct abBody {
  const char* name;
  int parent;  // index; the world is body 0 and its own parent
  int weld;    // the body this one is rigidly fixed to (itself if it has joints; 0: fixed to the
               // world)
  int mover;   // the free body or joint tree it belongs to, -1 if fixed to the world
  int joint0, njoint;  // its joints are consecutive
  int dof0, ndof;      // velocities of its own joints
  int geom0, ngeom;    // its geoms are consecutive
  abPose pose;         // body frame in the parent's frame, joints at their reference position
  double mass;         // [kg]
  abVec3 com;          // centre of mass in the body frame [m]
  abQuat inertia_q;    // principal axes in the body frame
  abVec3 inertia;      // principal moments about the centre of mass [kg m2]
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

// Units of a joint follow its coordinate: m, N for slides, rad, N m for hinges and balls.
typedef struct abJoint {
  const char* name;
  abJointType type;
  int body;             // it moves this body against its parent
  int q0, v0;           // first coordinate, first velocity
  abVec3 pos, axis;     // in the body frame [m]; axis is a unit vector
  bool limited;         // by range
  double range[2];      // of the coordinate [m, rad]; of a ball the larger is the largest angle
  double margin;        // the limit acts from so far before it [m, rad]
  double stiffness;     // of the spring [N/m, N m/rad]
  double damping;       // [N s/m, N m s/rad]
  double armature;      // inertia of its rotor [kg, kg m2]
  double frictionloss;  // largest force of dry friction [N, N m]
  double ref;           // coordinate at the reference pose [m, rad]
  double springref;     // coordinate at which the spring is relaxed [m, rad]
} abJoint;

typedef struct abGeom {
  const char* name;
  int body;                  // the body it is fixed to
  abShape shape;             // what it is
  abPose pose;               // in the body frame
  double mass;               // as compiled [kg], 0 where the body's inertia was given
  int contype, conaffinity;  // as in MJCF: who collides with whom
  int condim;                // 1: no friction
  int priority;              // of two geoms the one with the higher number decides their friction
  int group;                 // for pictures
  double friction[3];        // as in the file: sliding [1], torsional [m], rolling [m]
  double mu_static;          // [1]; < 0: the same as friction[0]
  double e_t, e_o;           // axes of the friction ellipsoid [1]
  double e_r;                // its torsional length [m]; < 0: from the patch
  double restitution;        // velocity after an impact over that before [1]
  // A pair touches with force where its distance is below the sum of the two margins [m], as if
  // each surface lay that far out; from there to the sum of margins and gaps it is only looked at.
  double margin, gap;
  float rgba[4];  // colour, 0 to 1
  int mesh;       // index into mesh, -1 if none
  // false: contype and conaffinity are 0 and no abPairRule names it, so that it can be left out of
  // everything but pictures and masses
  bool collides;
} abGeom;

// A named frame on a body: what site actuators act at.
typedef struct abSite {
  const char* name;
  int body;     // the body it is fixed to
  abPose pose;  // in the body frame
} abSite;

// A mesh asset as it is drawn; contact uses the hull, which is shape.poly of the geoms that name
// it. Vertices stay where the file has them, but for scale and reference frame: unlike in MuJoCo,
// they are not moved to the centre of mass, so a geom's pose is the one the scene gives it.
typedef struct abMesh {
  const char* name;
  const char* file;  // it was read from, NULL: the scene's own numbers
  int nvert, ntriangle;
  const abVec3* vert;        // nvert, in the frame of the geoms that use it [m]
  const int (*triangle)[3];  // ntriangle: vertices, counter-clockwise seen from outside
} abMesh;

// Which of gainprm and biasprm count: see abActuator.
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
  abDrive drive;      // what it pulls on
  int joint;          // AB_DRIVE_JOINT, else -1
  int tendon;         // AB_DRIVE_TENDON, else -1
  int site, refsite;  // AB_DRIVE_SITE, else -1; refsite may be -1, too
  double gear[6];     // see abDrive; of a hinge or slide only the first [1]
  abGainType gain;
  abBiasType bias;
  double gainprm[3];  // gain: of (1, length, velocity), per unit of control [N, N/m, N s/m; N m ..]
  double biasprm[3];  // bias: likewise, without the control
  bool ctrl_limited, force_limited;  // by the ranges that follow
  double ctrl_range[2];              // controls are brought into it, if ctrl_limited
  double force_range[2];             // and the force, before gear, if force_limited [N, N m]
} abActuator;

// A fixed tendon: a length that is linear in the coordinates of hinges and slides,
//   L = sum coef q over joint[joint0] .. joint[joint0 + njoint - 1] of abModel.tendon_joint,
// with a force f along it; joint i feels coef f.
// Units are those of a length in metres; where coef makes it an angle, rad and N m.
typedef struct abTendon {
  const char* name;
  int joint0, njoint;      // its entries in abModel.tendon_joint
  bool limited;            // by range
  double range[2];         // of L [m]
  double margin;           // the limit acts where L - range[0] or range[1] - L is below it [m]
  double stiffness;        // f = stiffness * (nearest end of springlength - L) outside of it [N/m]
  double springlength[2];  // [0] <= [1]: between them the spring is slack [m]
  double damping;          // f = -damping * dL/dt [N s/m]
  double frictionloss;     // |f| of dry friction [N]
  double armature;         // inertia: kinetic energy 1/2 armature (dL/dt)^2 [kg]
  bool force_limited;      // of the sum of its actuators' gear * force
  double force_range[2];   // [N]
  double length0;          // L at q0 [m]
} abTendon;

// A joint of a tendon.
typedef struct abTendonJoint {
  int joint;    // a hinge or slide
  double coef;  // length per coordinate [m/rad, 1]
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
  bool active;            // false: it holds nothing
  int body1, body2;       // connect and weld, else -1; body 0 is the world
  abPose frame1, frame2;  // in body1 and body2
  double torquescale;     // weld: length that weighs rotation against translation where both
                          // cannot be met [m]
  int joint1, joint2;     // joint, else -1
  int tendon1, tendon2;   // tendon, else -1
  double polycoef[5];     // of p(x), in powers of x
  int line;               // of the scene file, 0 if none
} abEquality;

// A keyframe. Its numbers are those of its turn in abModel.key_q, key_v, key_ctrl, key_mocap_pos
// and key_mocap_quat.
typedef struct abKey {
  const char* name;
  double time;  // [s]
} abKey;

// Two bodies whose geoms do not collide with each other.
typedef struct abExclude {
  int body1, body2;  // body1 < body2
} abExclude;

// Two geoms that collide whatever their bits say, with these numbers instead of the combined ones.
typedef struct abPairRule {
  int geom1, geom2;    // geom1 < geom2
  int condim;          // 1: no friction
  double friction[5];  // two tangential [1], torsional [m], two rolling [m]
  double margin, gap;  // of both geoms together, see abGeom [m]
} abPairRule;

// A free body, or all bodies that hang together by joints: what a contact impulse can move.
typedef struct abMover {
  int body0, nbody;  // consecutive bodies (some may be welded to their parents)
  int dof0, ndof;    // its velocities
  // false: a single free body (its joint without stiffness, damping, armature and friction loss),
  // dofs = velocity of the centre of mass, angular velocity
  bool jointed;
} abMover;

// A parameter of the contact model that the scene sets.
typedef struct abSetting {
  const char* name;  // as ab_set_param takes it
  double value;      // in the parameter's unit
} abSetting;

// How velocities become coordinates: semi-implicit Euler, or fourth order for what touches nothing.
typedef enum abIntegrator { AB_INTEGRATOR_EULER, AB_INTEGRATOR_RK4 } abIntegrator;

typedef struct abModel {
  const char* name;
  const char* file;  // it was made from, NULL: none

  // --- options ---
  abVec3 gravity;   // [m/s2]
  double timestep;  // what abData.h starts as [s]
  abIntegrator integrator;
  const char* contact;  // the contact model the scene names, NULL: the default
  int nsetting;
  const abSetting* setting;  // nsetting: the scene's parameters of that model

  // --- sizes of the state ---
  int nq;  // coordinates
  int nv;  // velocities

  // --- parts: n of each in the array of that name ---
  int nbody, njoint, ngeom, nmesh, nactuator, nkey, nexclude, npair_rule, nmover;
  int nsite, ntendon, ntendon_joint, nequality, nmocap, nhull;
  const abBody* body;  // body[0] is the world
  const abJoint* joint;
  const abGeom* geom;
  const abMesh* mesh;
  const abActuator* actuator;
  const abKey* key;
  const double* key_q;           // of key k: key_q[k * nq] .. key_q[k * nq + nq - 1]; likewise
  const double* key_v;           // by nv, in abut's convention (see abData.v)
  const double* key_ctrl;        // by nactuator
  const abVec3* key_mocap_pos;   // by nmocap [m]
  const abQuat* key_mocap_quat;  // likewise
  const abExclude* exclude;
  const abPairRule* pair_rule;
  const abMover* mover;
  const abSite* site;
  const abTendon* tendon;
  const abTendonJoint* tendon_joint;
  const abEquality* equality;
  const abShape* hull;         // see abBody.hull
  const int* mocap_body;       // nmocap: the bodies that are moved from outside
  const double* q0;            // nq: the initial coordinates, as abData.q
  const int* dof_joint;        // nv: the joint of each velocity
  const double* dof_damping;   // nv: abJoint.damping
  const double* dof_armature;  // nv: abJoint.armature
  double total_mass;           // of all bodies but the world [kg]
  double extent;  // radius of a ball that holds the scene at q0, planes left out: the scene's
                  // length scale [m]
  size_t bytes;   // of the one allocation
} abModel;

#ifdef __cplusplus
}
#endif

#endif
