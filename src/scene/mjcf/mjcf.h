// What the files of the MJCF reader share: the state of one reading, default classes, typed access
// to attributes, notes and refusals. A scene file is read in passes over its sections: settings,
// defaults, custom, assets, bodies, and last what refers to bodies (contact, tendons, equalities,
// actuators, keyframes).
//
// Functions return false (or an index < 0) after filling in m->error. The loops over elements then
// call ab_go_on, which puts the error on the list of problems, so that all of a file's errors are
// reported at once; what fails only because something it refers to has failed is left out.
#ifndef ABUT_SCENE_MJCF_H
#define ABUT_SCENE_MJCF_H

#include <abut/scene.h>

#include "scene/mjcf/labels.h"
#include "scene/xml.h"

// --- loading -------------------------------------------------------------------------------------

// A scene file that was read already.
abScene* ab_scene_load_text(const char* path, const char* bytes, size_t n, abNotes* notes,
                            abError* error);
// A file that another one holds, `depth` levels down.
abScene* ab_scene_load_part(const char* path, int depth, abNotes* notes, abError* error);
struct abReading;
bool ab_mjcf_read(struct abReading* m, const abXml* root);
bool ab_urdf_read(struct abReading* m, const abXml* root);

// --- notes ---------------------------------------------------------------------------------------

// Kinds of things that are read but not honoured; each is reported once per file.
typedef enum abNoteKind {
  AB_NOTE_SOFT,
  AB_NOTE_SOLVER,
  AB_NOTE_INTEGRATOR,
  AB_NOTE_COMPILER,
  AB_NOTE_FUSE,
  AB_NOTE_MEMORY,
  AB_NOTE_VISUAL,
  AB_NOTE_STATISTIC,
  AB_NOTE_TEXTURE,
  AB_NOTE_MATERIAL,
  AB_NOTE_SKIN,
  AB_NOTE_CAMERA,
  AB_NOTE_LIGHT,
  AB_NOTE_SENSOR,
  AB_NOTE_USER,
  AB_NOTE_GROUP,
  AB_NOTE_FLUID,
  AB_NOTE_CUSTOM,
  AB_NOTE_SLEEP,
  AB_NOTE_EQUALITY,
  AB_NOTE_LOOSE,
  AB_NOTE_TENDON,
  AB_NOTE_HULL,
  AB_NOTE_LENGTH,
  AB_NOTE_URDF,
  AB_NOTE_EFFORT,
  AB_NOTE_SPHERE,
  AB_NOTE_RANGE,
  AB_NOTE_FLAT,
  AB_NOTE_INERTIA,
  AB_NOTE_MASSLESS,
  AB_NOTE_NUMBERS,
  AB_NOTE_VISUAL_MESH,
  AB_NOTE_OBJECTS,
  AB_NOTE_ATTACH,
  AB_NOTE_MARGIN,
  AB_NOTE_COUNT
} abNoteKind;

void ab_note(struct abReading* m, abNoteKind kind, const abXml* e, const abXmlAttr* attr);

// --- default classes -----------------------------------------------------------------------------

typedef enum abDefaultKind {
  AB_DEFAULT_NONE,
  AB_DEFAULT_GEOM,
  AB_DEFAULT_JOINT,
  AB_DEFAULT_MESH,
  AB_DEFAULT_MATERIAL,
  AB_DEFAULT_PAIR,
  AB_DEFAULT_TENDON,
  AB_DEFAULT_SITE,
  AB_DEFAULT_EQUALITY,
  AB_DEFAULT_ACTUATOR,
  AB_DEFAULT_COUNT
} abDefaultKind;

typedef struct abLayer {
  const abXml* e;
  const struct abLayer* older;
} abLayer;

// A class starts with the layers its parent has where the class is opened; what a later <default>
// adds to the parent does not reach it.
typedef struct abClass {
  const char* name;
  const struct abClass* parent;
  struct abClass* next;
  const abLayer* layer[AB_DEFAULT_COUNT];  // newest first
} abClass;

// An element together with the defaults that fill its gaps.
typedef struct abView {
  const abXml* e;
  const abClass* class_;
  abDefaultKind kind;
} abView;

// --- the state of a reading ----------------------------------------------------------------------

typedef enum abTri { AB_FALSE, AB_TRUE, AB_AUTO } abTri;

typedef struct abCompilerElement {
  bool degree, autolimits, strippath, discardvisual, fusestatic, exactmeshinertia;
  char eulerseq[4];
  const char* meshdir;
  abTri inertiafromgeom;
  int group_low, group_high;  // geoms whose mass counts
} abCompilerElement;

// Numbers a file gives per geom in <custom>.
enum {
  AB_GEOM_MU_STATIC,
  AB_GEOM_E_R,
  AB_GEOM_E_T,
  AB_GEOM_E_O,
  AB_GEOM_RESTITUTION,
  AB_GEOM_NUMBER
};

typedef struct abGeomNumber {
  int which;
  double value;
  const abXml* e;
  bool used;
} abGeomNumber;

typedef struct abAttaching abAttaching;

typedef struct abReading {
  abXmlDoc* doc;
  abScene* scene;
  abNotes* notes;
  abError* error;
  bool files;  // false: other files cannot be read
  bool noted[AB_NOTE_COUNT];

  abCompilerElement compiler;
  // option/flag
  bool no_limit, no_frictionloss, no_spring, no_damper, no_clampctrl, no_gravity, no_equality;
  abClass* class_;  // all; main is the last of the list
  abClass* main_class;

  abLabels body, joint, geom, mesh, material, actuator, key, site, tendon, equality;
  abLabels spatial;  // tendons that are left out

  // Problems reported so far. failed: names of what could not be read. follow_up: the error comes
  // from one of these. reported: it is on the list already.
  int nproblem;
  abError* problem;
  long nfailure;  // with those that were left out
  abLabels failed;
  bool follow_up, reported;

  int njoint;
  abJointDef* joint_def;
  struct {
    bool limited;
    double range[2];
    int driven;     // by how many actuators
  } * joint_force;  // actuatorfrcrange, per joint

  double (*tendon_range)[2];
  int ntendon;
  float (*material_rgba)[4];
  int nmaterial;
  long replicas;  // of the innermost <replicate>, those around it multiplied

  int nattaching;
  abAttaching* attaching;
  int nmodel, depth;
  abScene** model;  // assets to be attached
  abLabels model_name;

  int ngeom_number;
  abGeomNumber* geom_number;
  abLabels number_name[AB_GEOM_NUMBER];
  double global_number[AB_GEOM_NUMBER];
  bool global_given[AB_GEOM_NUMBER];
} abReading;

// --- failing -------------------------------------------------------------------------------------

bool ab_bad(abReading* m, abStatus code, const abXml* e, const abXmlAttr* attr, const char* format,
            ...) __attribute__((format(printf, 5, 6)));
bool ab_no_memory(abReading* m);
// After a builder function failed: fills in the place where the builder knew none.
bool ab_place(abReading* m, const abXml* e);
// After the reading of e has failed: reports it. False: there is no use in going on.
bool ab_go_on(abReading* m, const abXml* e);
// Ends a reading: true if there were no problems, else the first of them is the error.
bool ab_no_problems(abReading* m);

// --- the schema (schema.c) ------------------------------------------------------------------

// Checks the attributes of an element against what is known of it; notes and refuses.
bool ab_check_attributes(abReading* m, const abXml* e);
// An element that has no business in its parent: unknown, noted, or refused by name.
bool ab_other_element(abReading* m, const abXml* e, const char* known);

// --- attributes (attr.c) --------------------------------------------------------------------

bool ab_add_class(abReading* m, const char* name, const abClass* parent, abClass** out);
bool ab_add_layer(abReading* m, abClass* class_, abDefaultKind kind, const abXml* e);
// The class an element names, else the inherited one.
bool ab_find_class(abReading* m, const abXml* e, const char* attr, const abClass** class_);
const abXmlAttr* ab_view_attr(const abView* v, const char* name, const abXml** owner);
// Numbers: defaults first, then the element over them; a shorter list leaves the rest as it is.
// *n (may be NULL) is the longest list seen, 0 if the attribute is absent.
bool ab_get_numbers(abReading* m, const abView* v, const char* name, int max, double* out, int* n);
// The same, but if present there must be exactly n.
bool ab_get_exactly(abReading* m, const abView* v, const char* name, int n, double* out,
                    bool* present);
bool ab_get_number(abReading* m, const abView* v, const char* name, double* out);
bool ab_get_int(abReading* m, const abView* v, const char* name, int* out);
// The index of the value in a space-separated list.
bool ab_get_word(abReading* m, const abView* v, const char* name, const char* list, int* out);
bool ab_get_bool(abReading* m, const abView* v, const char* name, bool* out);
bool ab_get_tri(abReading* m, const abView* v, const char* name, abTri* out);
const char* ab_get_text(const abView* v, const char* name);  // NULL if absent
bool ab_get_pose(abReading* m, const abView* v, abPose* pose, bool* oriented);
// "limited" style switches with autolimits: true, false, or whether a range is given.
bool ab_get_limited(abReading* m, const abView* v, const char* name, bool has_range, bool* out);
static inline abView ab_plain(const abXml* e) { return (abView){e, NULL, AB_DEFAULT_NONE}; }

// An array grown to hold index n; NULL when there is no memory.
void* ab_grow(void* array, int n, size_t item);

// Looks a name up for `attr` of `e`; -1 with the error filled in (and a near name suggested).
int ab_refer(abReading* m, const abXml* e, const char* attr, const abLabels* names,
             const char* what);
// Enters a name, refusing one that is taken. name NULL: nothing.
bool ab_enter(abReading* m, const abXml* e, abLabels* names, const char* name, int index);

// --- the sections --------------------------------------------------------------------------------

bool ab_read_compiler(abReading* m, const abXml* e);
bool ab_read_option(abReading* m, const abXml* e);
void ab_apply_flags(abReading* m);  // when everything is there
bool ab_read_default(abReading* m, const abXml* e);
bool ab_read_custom(abReading* m, const abXml* e);
bool ab_check_custom_used(abReading* m);
bool ab_read_asset(abReading* m, const abXml* e);
bool ab_read_model(abReading* m, const abXml* e);
void ab_models_free(abReading* m);
// One number, further ones zero: what newer files may give as a polynomial.
bool ab_get_linear(abReading* m, const abView* v, const char* name, double* out);
bool ab_add_mesh_file(abReading* m, const abXml* e, abMeshDef* def, const char* path);
bool ab_read_worldbody(abReading* m, const abXml* e);
bool ab_read_contact(abReading* m, const abXml* e);
bool ab_read_tendons(abReading* m, const abXml* e);
bool ab_read_equalities(abReading* m, const abXml* e);
bool ab_read_actuators(abReading* m, const abXml* e);
bool ab_read_keyframe(abReading* m, const abXml* e);

// What a body's children need to know of where they stand.
typedef struct abPlace {
  int body;
  abPose frame;  // of enclosing <frame>s, in the body
  const abClass* class_;
  const char* suffix;  // of names, from <replicate>
  bool again;          // in a replica that is not the first
} abPlace;

bool ab_read_geom(abReading* m, const abXml* e, const abPlace* at);
bool ab_read_site(abReading* m, const abXml* e, const abPlace* at);
bool ab_read_attach(abReading* m, const abXml* e, const abPlace* at);
// After the file's own sections of a pass: what attached models have of these.
bool ab_attach_rest(abReading* m, int pass);
// A segment by its ends: centre, z axis pointing to the first end; *half its half length.
bool ab_get_fromto(abReading* m, const abView* v, abPose* pose, double* half, bool* present);
bool ab_read_joint(abReading* m, const abXml* e, const abPlace* at);
const char* ab_suffixed(abReading* m, const char* name, const char* suffix);
int ab_put_geom(abReading* m, const abXml* e, abGeomDef* def);
int ab_put_joint(abReading* m, const abXml* e, abJointDef* def);
// Remembers what the actuators will want to know of the next joint or tendon of the scene.
bool ab_note_joint(abReading* m, const abJointDef* def);
bool ab_note_tendon(abReading* m, const abTendonDef* def);

#endif
