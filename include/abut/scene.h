// Making a model: from a file (ab_load), or in code (abScene and its definition structs).
//
// Every definition struct has a function that returns it filled with the defaults of MJCF; fill in
// what differs and add it. Names and arrays are copied. Functions that add return the new index, or
// -1 with the error filled in. Units are SI, angles in rad; what a field means that is named as one
// of abModel's parts, abut/model.h says at length.
//
// A scene lives until ab_scene_free and is used by one thread at a time; models do not need it once
// they are compiled.
#ifndef ABUT_SCENE_H
#define ABUT_SCENE_H

#include <abut/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abScene abScene;

// Where something stands in a file, for messages. Zero for scenes made in code.
typedef struct abSource {
  const char* file;  // its name
  int line;          // from 1
} abSource;

typedef struct abBodyDef {
  const char* name;   // NULL: given a name when compiled
  int parent;         // 0 = the world
  abPose pose;        // in the parent's frame [m]
  bool has_inertial;  // false: mass and inertia from the geoms
  double mass;        // [kg]
  abPose inertial;    // centre of mass and orientation of the inertia's frame [m]
  double inertia[6];  // xx yy zz xy xz yz in that frame [kg m2]
  bool gravity;       // whether it acts
  bool mocap;         // moved from outside: below the world, without joints
  abSource source;    // where it stands in a file; likewise below
} abBodyDef;

typedef struct abJointDef {
  const char* name;     // NULL: given a name when compiled; likewise below
  int body;             // it moves this body against its parent
  abJointType type;     // of motion
  abVec3 pos, axis;     // in the body frame [m]; axis of any length but zero
  bool limited;         // by range
  double range[2];      // of the coordinate [m, rad]
  double margin;        // the limit acts from so far before it [m, rad]
  double stiffness;     // of the spring [N/m, N m/rad]
  double damping;       // [N s/m, N m s/rad]
  double armature;      // inertia of its rotor [kg, kg m2]
  double frictionloss;  // largest force of dry friction [N, N m]
  double ref;           // coordinate at the reference pose [m, rad]
  double springref;     // coordinate at which the spring is relaxed [m, rad]
  abSource source;
} abJointDef;

typedef enum abMeshInertia {
  AB_MESH_INERTIA_LEGACY,  // as MuJoCo: triangles against the centroid, absolute volumes
  AB_MESH_INERTIA_CONVEX,  // of the hull
  AB_MESH_INERTIA_EXACT,   // of the closed surface
  AB_MESH_INERTIA_SHELL    // of the surface alone
} abMeshInertia;

typedef struct abGeomDef {
  const char* name;
  int body;                  // the body it is fixed to
  abShapeType type;          // of shape
  abVec3 size;               // see abShapeType [m]
  abPose pose;               // in the body frame [m]
  int mesh;                  // for AB_SHAPE_MESH
  double mass;               // [kg]; < 0: from the density
  double density;            // [kg/m3], of a shell [kg/m2]
  bool shell;                // mass on the surface
  int contype, conaffinity;  // who collides with whom: two geoms of which one's contype has a bit
                             // of the other's conaffinity
  int condim;                // 1: no friction
  int priority;              // of two geoms the one with the higher number decides their friction
  int group;                 // for pictures
  double friction[3];        // sliding [1], torsional [m], rolling [m]
  double mu_static;          // [1]; < 0: the same as friction[0]
  double e_t, e_o;           // axes of the friction ellipsoid [1]
  double e_r;                // its torsional length [m]; < 0: from the patch
  double restitution;        // velocity after an impact over that before [1]
  double margin, gap;        // see abGeom [m]
  float rgba[4];             // colour, 0 to 1
  abSource source;
} abGeomDef;

typedef struct abSiteDef {
  const char* name;
  int body;     // the body it is fixed to
  abPose pose;  // in the body frame [m]
  abSource source;
} abSiteDef;

typedef struct abMeshDef {
  const char* name;
  const char* file;          // OBJ, STL or MSH; NULL: the vertices below
  int nvert;                 // of the vertices below
  const abVec3* vert;        // a point cloud whose hull is the mesh, unless triangles are given
  int ntriangle;             // 0: the hull
  const int (*triangle)[3];  // vertices, counter-clockwise seen from outside
  int nmass;  // the first so many triangles make the mass, as in MuJoCo the first object of an OBJ
              // file does; 0: all
  abVec3 scale;           // metres per unit of the numbers, along x, y, z
  abPose ref;             // MJCF refpos/refquat: the frame the vertices are given relative to
  abMeshInertia inertia;  // what of it has mass
  abSource source;
} abMeshDef;

typedef struct abActuatorDef {
  const char* name;
  abDrive drive;                     // what it pulls on
  int joint, tendon, site, refsite;  // -1 where drive does not use it
  double gear[6];                    // see abDrive
  abGainType gain;
  abBiasType bias;
  // As in abActuator. A servo (bias affine, biasprm[1] = -gainprm[0]) with biasprm[2] > 0 has that
  // damping ratio at the initial pose; compiling puts the velocity gain in its place.
  double gainprm[3], biasprm[3];
  bool ctrl_limited, force_limited;  // by the ranges that follow
  double ctrl_range[2];              // of the control
  double force_range[2];             // of the force before gear [N, N m]
  abSource source;
} abActuatorDef;

typedef struct abTendonDef {
  const char* name;
  int njoint;
  const abTendonJoint* joint;  // njoint
  bool limited;                // by range
  double range[2];             // of the length [m]
  double margin;               // the limit acts from so far before it [m]
  double stiffness;            // of the spring [N/m]
  double damping;              // [N s/m]
  double frictionloss;         // largest force of dry friction [N]
  double armature;             // inertia [kg]
  double springlength[2];      // [m]; both -1: the length at the joints' springref; [1] = -1: same
                               // as [0]
  bool force_limited;          // by force_range
  double force_range[2];       // of the sum of its actuators' gear * force [N]
  abSource source;
} abTendonDef;

typedef struct abEqualityDef {
  const char* name;
  abEqualityType type;
  bool active;       // false: it holds nothing
  int body1, body2;  // connect and weld, by bodies; body2 may be the world, 0
  int site1, site2;  // or by sites, whose frames are then to agree; else -1
  abVec3 anchor;     // connect: in body1; weld: in body2 [m]
  // weld: where body2's anchor and axes are to be in body1's frame [m]; without it as they are in
  // the initial pose
  bool has_relpose;
  abPose relpose;        // if has_relpose
  double torquescale;    // weld: length that weighs rotation against translation [m]
  int joint1, joint2;    // joint2 may be -1
  int tendon1, tendon2;  // tendon2 may be -1
  double polycoef[5];    // see AB_EQUALITY_JOINT
  abSource source;
} abEqualityDef;

typedef struct abKeyDef {
  const char* name;
  double time;        // [s]
  int nq, nv, nctrl;  // what is left out, all or the end, is initial
  const double* q;    // nq, as abData.q
  const double* v;  // nv, as MJCF means it: free joint = velocity of the frame's origin, body-axes
                    // angular velocity
  const double* ctrl;   // nctrl
  int nmpos, nmquat;    // 3 and 4 numbers a mocap body; 0: as in the scene
  const double* mpos;   // positions [m]
  const double* mquat;  // orientations
  abSource source;
} abKeyDef;

// Two geoms that collide whatever their bits say, with these numbers instead of the combined ones.
typedef struct abPairDef {
  int geom1, geom2;    // which
  int condim;          // 1: no friction
  double friction[5];  // two tangential [1], torsional [m], two rolling [m]
  double margin, gap;  // of both geoms together, see abGeom [m]
  abSource source;
} abPairDef;

typedef struct abSceneOption {
  const char* name;         // of the model
  abVec3 gravity;           // [m/s2]
  double timestep;          // [s]
  abIntegrator integrator;  // see there
  const char* contact;      // the contact model by name, NULL: the default
  double tessellation;  // bound on the relative volume error of tessellated smooth shapes (0.02)
  double boundmass;     // least mass of a body [kg]; 0: none
  double boundinertia;  // least principal moment of a body [kg m2]; 0: none
  double settotalmass;  // masses are scaled to this sum [kg]; not above 0: they are not
  bool balanceinertia;  // inertias that no body can have become spheres; false: they are refused
  const char* file;     // where the scene came from, NULL: the file its last part came from, if any
} abSceneOption;

AB_API abScene* ab_scene_create(void);
AB_API void ab_scene_free(abScene* scene);
AB_API abSceneOption* ab_scene_option(abScene* scene);  // to be changed in place
// A copy of the text that lives as long as the scene: for the strings of abSceneOption.
AB_API const char* ab_scene_string(abScene* scene, const char* text);
AB_API abBodyDef ab_body_def(void);
AB_API abJointDef ab_joint_def(void);
AB_API abGeomDef ab_geom_def(void);
AB_API abMeshDef ab_mesh_def(void);
AB_API abSiteDef ab_site_def(void);
AB_API abTendonDef ab_tendon_def(void);
AB_API abEqualityDef ab_equality_def(void);
AB_API abActuatorDef ab_actuator_def(void);
AB_API abKeyDef ab_key_def(void);
AB_API abPairDef ab_pair_def(void);
AB_API int ab_scene_add_body(abScene* scene, const abBodyDef* def, abError* error);
AB_API int ab_scene_add_joint(abScene* scene, const abJointDef* def, abError* error);
AB_API int ab_scene_add_geom(abScene* scene, const abGeomDef* def, abError* error);
AB_API int ab_scene_add_mesh(abScene* scene, const abMeshDef* def, abError* error);
AB_API int ab_scene_add_site(abScene* scene, const abSiteDef* def, abError* error);
AB_API int ab_scene_add_tendon(abScene* scene, const abTendonDef* def, abError* error);
AB_API int ab_scene_add_equality(abScene* scene, const abEqualityDef* def, abError* error);
AB_API int ab_scene_add_actuator(abScene* scene, const abActuatorDef* def, abError* error);
AB_API int ab_scene_add_key(abScene* scene, const abKeyDef* def, abError* error);
AB_API int ab_scene_add_pair(abScene* scene, const abPairDef* def, abError* error);
AB_API int ab_scene_add_exclude(abScene* scene, int body1, int body2, abError* error);

// One scene put into another, as often as you like: names get the prefix, what hangs on the part's
// world hangs on `parent` at `pose`; floating: its bodies that are fixed to the world get free
// joints (parent is then the world). The part's options and keyframes are not taken over.
typedef struct abAttachDef {
  const char* prefix;  // of names; NULL: none
  int body;            // of the part: this one and what hangs on it is taken; 0: everything
  int parent;          // a body of the whole
  abPose pose;         // of the part's world in the parent's frame [m]
  bool floating;       // see above
} abAttachDef;
AB_API abAttachDef ab_attach_def(void);
AB_API abStatus ab_scene_attach(abScene* scene, const abScene* part, const abAttachDef* how,
                                abError* error);
// Gives a free joint to every body that is fixed to the world: the root link of a URDF is.
AB_API abStatus ab_scene_float(abScene* scene, abError* error);

AB_API abStatus ab_scene_set(abScene* scene, const char* name, double value,
                             abError* error);  // a contact parameter

// Indices of what was added so far, -1 if the name is unknown.
AB_API int ab_scene_find_body(const abScene* scene, const char* name);
AB_API int ab_scene_find_joint(const abScene* scene, const char* name);
AB_API int ab_scene_find_geom(const abScene* scene, const char* name);
AB_API int ab_scene_find_mesh(const abScene* scene, const char* name);
AB_API int ab_scene_find_site(const abScene* scene, const char* name);
AB_API int ab_scene_find_tendon(const abScene* scene, const char* name);

// What there is to say about a file beside the scene. Notes: things it requires that are not
// honoured but do not change the motion, each named once, with its line. Problems: where the file
// was refused, everything that stands against it, the first of them in the error, too. To be freed
// after a failure as well.
typedef struct abNotes {
  int n;
  abError* note;  // n
  int nproblem;
  abError* problem;  // nproblem
} abNotes;
AB_API void ab_notes_free(abNotes* notes);

// The compiled model, or NULL with the error filled in. Free with ab_model_free. Bodies are put in
// depth-first order (children in the order they were added), joints and geoms in the order of their
// bodies; a scene added in that order has the same indices. Keyframes are given in the compiled
// order.
AB_API abModel* ab_scene_compile(const abScene* scene, abError* error);
// Compiles into the memory of a model that was compiled from the same scene with other numbers: it
// stays where it is, and simulations of it go on after ab_data_refresh and ab_data_reset, unless
// shapes, fixed poses or joints have changed (abNumber.reshapes): those need a new abData. On
// failure the model is as before.
AB_API abStatus ab_scene_recompile(const abScene* scene, abModel* model, abError* error);
// A scene from an MJCF or URDF file (recognised by the root element); notes may be NULL.
AB_API abScene* ab_scene_load(const char* path, abNotes* notes, abError* error);
// A scene from text that may refer to no other files. `name` stands for the file in messages.
AB_API abScene* ab_scene_load_memory(const char* name, const char* bytes, size_t n, abNotes* notes,
                                     abError* error);
// The model of an MJCF, URDF or model file (recognised by their content); notes may be NULL.
AB_API abModel* ab_load(const char* path, abNotes* notes, abError* error);
typedef struct abLoadOption {
  bool floating;  // see ab_scene_float
} abLoadOption;
AB_API abModel* ab_load_with(const char* path, const abLoadOption* option, abNotes* notes,
                             abError* error);
// The same of bytes in memory, which may refer to no other files and are needed no longer
// afterwards. `name` stands for the file in messages.
AB_API abModel* ab_load_memory(const char* name, const void* bytes, size_t n, abNotes* notes,
                               abError* error);
AB_API void ab_model_free(abModel* model);

// A compiled model as a file (.abm): the same bytes on every machine, read without XML and without
// computing hulls. Files are tied to the version that wrote them.
AB_API abStatus ab_model_save(const abModel* model, const char* path, abError* error);
// The same in memory; `name` stands in messages. Free the bytes with ab_bytes_free.
AB_API void* ab_model_bytes(const abModel* model, size_t* n, abError* error);
AB_API void ab_bytes_free(void* bytes);
AB_API abModel* ab_model_load_memory(const char* name, const void* bytes, size_t n, abError* error);
// Writes the scene as MJCF that MuJoCo loads, too.
AB_API abStatus ab_scene_save(const abScene* scene, const char* path, abError* error);

AB_API int ab_find_body(const abModel* model,
                        const char* name);  // -1 if there is none; likewise below
AB_API int ab_find_joint(const abModel* model, const char* name);
AB_API int ab_find_geom(const abModel* model, const char* name);
AB_API int ab_find_actuator(const abModel* model, const char* name);
AB_API int ab_find_site(const abModel* model, const char* name);
AB_API int ab_find_tendon(const abModel* model, const char* name);
AB_API int ab_find_equality(const abModel* model, const char* name);
AB_API int ab_find_key(const abModel* model, const char* name);

#ifdef __cplusplus
}
#endif

#endif
