// Making a model: from a file (ab_load), or in code (abScene and its definition structs).
//
// Every definition struct has a function that returns it filled with the defaults of MJCF; fill in
// what differs and add it. Names are copied. Functions that add return the new index, or -1 with
// the error filled in.
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
  const char* file;
  int line;
} abSource;

typedef struct abBodyDef {
  const char* name;  // NULL: given a name when compiled
  int parent;        // 0 = the world
  abPose pose;
  bool has_inertial;  // false: mass and inertia from the geoms
  double mass;
  abPose inertial;    // centre of mass and orientation of the inertia's frame
  double inertia[6];  // xx yy zz xy xz yz in that frame
  bool gravity;
  bool mocap;  // moved from outside: below the world, without joints
  abSource source;
} abBodyDef;

typedef struct abJointDef {
  const char* name;
  int body;
  abJointType type;
  abVec3 pos, axis;
  bool limited;
  double range[2], margin;
  double stiffness, damping, armature, frictionloss, ref, springref;  // rad
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
  int body;
  abShapeType type;
  abVec3 size;
  abPose pose;
  int mesh;              // for AB_SHAPE_MESH
  double mass, density;  // mass < 0: from the density
  bool shell;            // mass on the surface
  int contype, conaffinity, condim, priority, group;
  double friction[3], mu_static, e_t, e_o, e_r, restitution, margin, gap;
  float rgba[4];
  abSource source;
} abGeomDef;

typedef struct abSiteDef {
  const char* name;
  int body;
  abPose pose;
  abSource source;
} abSiteDef;

typedef struct abMeshDef {
  const char* name;
  const char* file;  // OBJ or STL; NULL: the vertices below
  int nvert;
  const abVec3* vert;  // a point cloud whose hull is the mesh, unless triangles are given
  int ntriangle;
  const int (*triangle)[3];
  int nmass;  // the first so many triangles make the mass, as in MuJoCo the first object of an OBJ
              // file does; 0: all
  abVec3 scale;
  abPose ref;  // MJCF refpos/refquat: the frame the vertices are given relative to
  abMeshInertia inertia;
  abSource source;
} abMeshDef;

typedef struct abActuatorDef {
  const char* name;
  abDrive drive;
  int joint, tendon, site, refsite;  // -1 where drive does not use it
  double gear[6];
  abGainType gain;
  abBiasType bias;
  // A servo (bias affine, biasprm[1] = -gainprm[0]) with biasprm[2] > 0 has that damping ratio at
  // the initial pose; compiling puts the velocity gain in its place.
  double gainprm[3], biasprm[3];
  bool ctrl_limited, force_limited;
  double ctrl_range[2], force_range[2];
  abSource source;
} abActuatorDef;

typedef struct abTendonDef {
  const char* name;
  int njoint;
  const abTendonJoint* joint;
  bool limited;
  double range[2], margin, stiffness, damping, frictionloss, armature;
  double springlength[2];  // both -1: the length at the joints' springref; [1] = -1: same as [0]
  bool force_limited;
  double force_range[2];
  abSource source;
} abTendonDef;

typedef struct abEqualityDef {
  const char* name;
  abEqualityType type;
  bool active;
  int body1, body2;  // connect and weld, by bodies; body2 may be the world, 0
  int site1, site2;  // or by sites, whose frames are then to agree; else -1
  abVec3 anchor;     // connect: in body1; weld: in body2
  // weld: where body2's anchor and axes are to be in body1's frame; without it as they are in the
  // initial pose
  bool has_relpose;
  abPose relpose;
  double torquescale;
  int joint1, joint2;    // joint2 may be -1
  int tendon1, tendon2;  // tendon2 may be -1
  double polycoef[5];
  abSource source;
} abEqualityDef;

typedef struct abKeyDef {
  const char* name;
  double time;
  int nq, nv, nctrl;           // what is left out, all or the end, is initial
  const double *q, *v, *ctrl;  // v as MJCF means it: free joint = velocity of the frame's origin,
                               // body-axes angular velocity
  int nmpos, nmquat;           // 3 and 4 numbers a mocap body; 0: as in the scene
  const double *mpos, *mquat;
  abSource source;
} abKeyDef;

typedef struct abPairDef {
  int geom1, geom2, condim;
  double friction[5], margin, gap;
  abSource source;
} abPairDef;

typedef struct abSceneOption {
  const char* name;
  abVec3 gravity;
  double timestep;
  abIntegrator integrator;
  const char* contact;  // NULL: the default model
  double tessellation;  // bound on the relative volume error of tessellated smooth shapes (0.02)
  double boundmass, boundinertia, settotalmass;
  bool balanceinertia;
  const char* file;  // where the scene came from, NULL: the file its last part came from, if any
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
  const char* prefix;
  int body;    // of the part: this one and what hangs on it is taken; 0: everything
  int parent;  // a body of the whole
  abPose pose;
  bool floating;
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
  abError* note;
  int nproblem;
  abError* problem;
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
