// The table itself. Fields stand in the order of the structs of abut/model.h.
// Tests: test_model_file.
#include "scene/model/table.h"

#include <stdalign.h>
#include <string.h>

#define AT(T, f) .name = #f, .offset = offsetof(T, f)
#define WORDS(T, f, type) ((int)(sizeof(((T*)0)->f) / sizeof(type)))
#define IN_MODEL(c) .count = {false, offsetof(abModel, c), #c}
#define IN_SELF(T, c) .count = {true, offsetof(T, c), #c}

#define NUMBERS(T, f) \
  { AT(T, f), .kind = AB_FIELD_DOUBLE, .n = WORDS(T, f, double) }
#define FLOATS(T, f) \
  { AT(T, f), .kind = AB_FIELD_FLOAT, .n = WORDS(T, f, float) }
#define FLAG(T, f) \
  { AT(T, f), .kind = AB_FIELD_FLAG, .n = 1 }
#define TEXT(T, f) \
  { AT(T, f), .kind = AB_FIELD_TEXT, .n = 1 }
#define WHOLE(T, f) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = WORDS(T, f, int) }
#define COUNT(T, f) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = 1, .bounded = true, .limit = 1 << 28 }
#define ENUM(T, f, last) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = 1, .bounded = true, .closed = true, .limit = (last) }
// An index of what the model has `c` of; the first of several, which may be none; an index or -1.
#define INDEX(T, f, c) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = WORDS(T, f, int), .bounded = true, IN_MODEL(c) }
#define FIRST(T, f, c) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = 1, .bounded = true, .closed = true, IN_MODEL(c) }
#define MAYBE(T, f, c) \
  { AT(T, f), .kind = AB_FIELD_INT, .n = 1, .bounded = true, .low = -1, IN_MODEL(c) }
#define INSIDE(T, f, s) \
  { AT(T, f), .kind = AB_FIELD_INSIDE, .n = 1, .inner = &(s) }
#define POLY(T, f) \
  { AT(T, f), .kind = AB_FIELD_POLY, .n = 1 }
#define ARRAY(T, f, s, c) \
  { AT(T, f), .kind = AB_FIELD_ARRAY, .n = 1, .inner = &(s), IN_MODEL(c) }
// `each` of them for every one of c.
#define ARRAY_EACH(T, f, s, c, each)                                                 \
  {                                                                                  \
    AT(T, f), .kind = AB_FIELD_ARRAY, .n = 1, .inner = &(s), IN_MODEL(c), .times = { \
      .offset = offsetof(abModel, each),                                             \
      .name = #each                                                                  \
    }                                                                                \
  }
#define OWN_ARRAY(T, f, s, c) \
  { AT(T, f), .kind = AB_FIELD_ARRAY, .n = 1, .inner = &(s), IN_SELF(T, c) }

#define STRUCT(T, fields) \
  { #T, sizeof(T), alignof(T), (int)(sizeof(fields) / sizeof((fields)[0])), fields }

// Arrays of plain numbers are arrays of structs with one field.
typedef struct Number {
  double x;
} Number;
typedef struct Triangle {
  int corner[3];
} Triangle;
typedef struct DofJoint {
  int joint;
} DofJoint;
typedef struct MocapBody {
  int body;
} MocapBody;

static const abField NUMBER_FIELD[] = {NUMBERS(Number, x)};
static const abStruct NUMBER = STRUCT(Number, NUMBER_FIELD);
static const abField POINT_FIELD[] = {NUMBERS(abVec3, x), NUMBERS(abVec3, y), NUMBERS(abVec3, z)};
static const abStruct POINT = STRUCT(abVec3, POINT_FIELD);
static const abField TRIANGLE_FIELD[] = {WHOLE(Triangle, corner)};
static const abStruct TRIANGLE = STRUCT(Triangle, TRIANGLE_FIELD);
static const abField DOF_JOINT_FIELD[] = {INDEX(DofJoint, joint, njoint)};
static const abStruct DOF_JOINT = STRUCT(DofJoint, DOF_JOINT_FIELD);

static const abField QUAT_FIELD[] = {NUMBERS(abQuat, w), NUMBERS(abQuat, x), NUMBERS(abQuat, y),
                                     NUMBERS(abQuat, z)};
static const abStruct QUAT = STRUCT(abQuat, QUAT_FIELD);
static const abField MOCAP_BODY_FIELD[] = {INDEX(MocapBody, body, nbody)};
static const abStruct MOCAP_BODY = STRUCT(MocapBody, MOCAP_BODY_FIELD);

static const abField SHAPE_FIELD[] = {ENUM(abShape, type, AB_SHAPE_MESH), NUMBERS(abShape, size),
                                      POLY(abShape, poly), NUMBERS(abShape, poly_error)};
static const abStruct SHAPE = STRUCT(abShape, SHAPE_FIELD);

static const abField BODY_FIELD[] = {
    TEXT(abBody, name),           INDEX(abBody, parent, nbody),  INDEX(abBody, weld, nbody),
    MAYBE(abBody, mover, nmover), FIRST(abBody, joint0, njoint), COUNT(abBody, njoint),
    FIRST(abBody, dof0, nv),      COUNT(abBody, ndof),           FIRST(abBody, geom0, ngeom),
    COUNT(abBody, ngeom),         NUMBERS(abBody, pose),         NUMBERS(abBody, mass),
    NUMBERS(abBody, com),         NUMBERS(abBody, inertia_q),    NUMBERS(abBody, inertia),
    MAYBE(abBody, hull, nhull),   FLAG(abBody, gravity),         MAYBE(abBody, mocap, nmocap)};
static const abStruct BODY = STRUCT(abBody, BODY_FIELD);

static const abField JOINT_FIELD[] = {
    TEXT(abJoint, name),         ENUM(abJoint, type, AB_JOINT_HINGE),
    INDEX(abJoint, body, nbody), INDEX(abJoint, q0, nq),
    INDEX(abJoint, v0, nv),      NUMBERS(abJoint, pos),
    NUMBERS(abJoint, axis),      FLAG(abJoint, limited),
    NUMBERS(abJoint, range),     NUMBERS(abJoint, margin),
    NUMBERS(abJoint, stiffness), NUMBERS(abJoint, damping),
    NUMBERS(abJoint, armature),  NUMBERS(abJoint, frictionloss),
    NUMBERS(abJoint, ref),       NUMBERS(abJoint, springref)};
static const abStruct JOINT = STRUCT(abJoint, JOINT_FIELD);

static const abField GEOM_FIELD[] = {
    TEXT(abGeom, name),           INDEX(abGeom, body, nbody), INSIDE(abGeom, shape, SHAPE),
    NUMBERS(abGeom, pose),        NUMBERS(abGeom, mass),      WHOLE(abGeom, contype),
    WHOLE(abGeom, conaffinity),   WHOLE(abGeom, condim),      WHOLE(abGeom, priority),
    WHOLE(abGeom, group),         NUMBERS(abGeom, friction),  NUMBERS(abGeom, mu_static),
    NUMBERS(abGeom, e_t),         NUMBERS(abGeom, e_o),       NUMBERS(abGeom, e_r),
    NUMBERS(abGeom, restitution), NUMBERS(abGeom, margin),    NUMBERS(abGeom, gap),
    FLOATS(abGeom, rgba),         MAYBE(abGeom, mesh, nmesh), FLAG(abGeom, collides)};
static const abStruct GEOM = STRUCT(abGeom, GEOM_FIELD);

static const abField MESH_FIELD[] = {TEXT(abMesh, name),
                                     TEXT(abMesh, file),
                                     COUNT(abMesh, nvert),
                                     COUNT(abMesh, ntriangle),
                                     OWN_ARRAY(abMesh, vert, POINT, nvert),
                                     OWN_ARRAY(abMesh, triangle, TRIANGLE, ntriangle)};
static const abStruct MESH = STRUCT(abMesh, MESH_FIELD);

static const abField ACTUATOR_FIELD[] = {TEXT(abActuator, name),
                                         ENUM(abActuator, drive, AB_DRIVE_SITE),
                                         MAYBE(abActuator, joint, njoint),
                                         MAYBE(abActuator, tendon, ntendon),
                                         MAYBE(abActuator, site, nsite),
                                         MAYBE(abActuator, refsite, nsite),
                                         NUMBERS(abActuator, gear),
                                         ENUM(abActuator, gain, AB_GAIN_AFFINE),
                                         ENUM(abActuator, bias, AB_BIAS_AFFINE),
                                         NUMBERS(abActuator, gainprm),
                                         NUMBERS(abActuator, biasprm),
                                         FLAG(abActuator, ctrl_limited),
                                         FLAG(abActuator, force_limited),
                                         NUMBERS(abActuator, ctrl_range),
                                         NUMBERS(abActuator, force_range)};
static const abStruct ACTUATOR = STRUCT(abActuator, ACTUATOR_FIELD);

static const abField SITE_FIELD[] = {TEXT(abSite, name), INDEX(abSite, body, nbody),
                                     NUMBERS(abSite, pose)};
static const abStruct SITE = STRUCT(abSite, SITE_FIELD);

static const abField TENDON_FIELD[] = {
    TEXT(abTendon, name),           FIRST(abTendon, joint0, ntendon_joint),
    COUNT(abTendon, njoint),        FLAG(abTendon, limited),
    NUMBERS(abTendon, range),       NUMBERS(abTendon, margin),
    NUMBERS(abTendon, stiffness),   NUMBERS(abTendon, springlength),
    NUMBERS(abTendon, damping),     NUMBERS(abTendon, frictionloss),
    NUMBERS(abTendon, armature),    FLAG(abTendon, force_limited),
    NUMBERS(abTendon, force_range), NUMBERS(abTendon, length0)};
static const abStruct TENDON = STRUCT(abTendon, TENDON_FIELD);

static const abField TENDON_JOINT_FIELD[] = {INDEX(abTendonJoint, joint, njoint),
                                             NUMBERS(abTendonJoint, coef)};
static const abStruct TENDON_JOINT = STRUCT(abTendonJoint, TENDON_JOINT_FIELD);

static const abField EQUALITY_FIELD[] = {TEXT(abEquality, name),
                                         ENUM(abEquality, type, AB_EQUALITY_TENDON),
                                         FLAG(abEquality, active),
                                         MAYBE(abEquality, body1, nbody),
                                         MAYBE(abEquality, body2, nbody),
                                         NUMBERS(abEquality, frame1),
                                         NUMBERS(abEquality, frame2),
                                         NUMBERS(abEquality, torquescale),
                                         MAYBE(abEquality, joint1, njoint),
                                         MAYBE(abEquality, joint2, njoint),
                                         MAYBE(abEquality, tendon1, ntendon),
                                         MAYBE(abEquality, tendon2, ntendon),
                                         NUMBERS(abEquality, polycoef),
                                         WHOLE(abEquality, line)};
static const abStruct EQUALITY = STRUCT(abEquality, EQUALITY_FIELD);

static const abField KEY_FIELD[] = {TEXT(abKey, name), NUMBERS(abKey, time)};
static const abStruct KEY = STRUCT(abKey, KEY_FIELD);

static const abField EXCLUDE_FIELD[] = {INDEX(abExclude, body1, nbody),
                                        INDEX(abExclude, body2, nbody)};
static const abStruct EXCLUDE = STRUCT(abExclude, EXCLUDE_FIELD);

static const abField PAIR_RULE_FIELD[] = {
    INDEX(abPairRule, geom1, ngeom), INDEX(abPairRule, geom2, ngeom), WHOLE(abPairRule, condim),
    NUMBERS(abPairRule, friction),   NUMBERS(abPairRule, margin),     NUMBERS(abPairRule, gap)};
static const abStruct PAIR_RULE = STRUCT(abPairRule, PAIR_RULE_FIELD);

static const abField MOVER_FIELD[] = {INDEX(abMover, body0, nbody), COUNT(abMover, nbody),
                                      FIRST(abMover, dof0, nv), COUNT(abMover, ndof),
                                      FLAG(abMover, jointed)};
static const abStruct MOVER = STRUCT(abMover, MOVER_FIELD);

static const abField SETTING_FIELD[] = {TEXT(abSetting, name), NUMBERS(abSetting, value)};
static const abStruct SETTING = STRUCT(abSetting, SETTING_FIELD);

// `bytes` is not in a file: the reader knows how much it has taken.
static const abField MODEL_FIELD[] = {TEXT(abModel, name),
                                      TEXT(abModel, file),
                                      NUMBERS(abModel, gravity),
                                      NUMBERS(abModel, timestep),
                                      ENUM(abModel, integrator, AB_INTEGRATOR_RK4),
                                      TEXT(abModel, contact),
                                      COUNT(abModel, nsetting),
                                      ARRAY(abModel, setting, SETTING, nsetting),
                                      COUNT(abModel, nq),
                                      COUNT(abModel, nv),
                                      COUNT(abModel, nbody),
                                      COUNT(abModel, njoint),
                                      COUNT(abModel, ngeom),
                                      COUNT(abModel, nmesh),
                                      COUNT(abModel, nactuator),
                                      COUNT(abModel, nkey),
                                      COUNT(abModel, nexclude),
                                      COUNT(abModel, npair_rule),
                                      COUNT(abModel, nmover),
                                      COUNT(abModel, nsite),
                                      COUNT(abModel, ntendon),
                                      COUNT(abModel, ntendon_joint),
                                      COUNT(abModel, nequality),
                                      COUNT(abModel, nmocap),
                                      COUNT(abModel, nhull),
                                      ARRAY(abModel, body, BODY, nbody),
                                      ARRAY(abModel, joint, JOINT, njoint),
                                      ARRAY(abModel, geom, GEOM, ngeom),
                                      ARRAY(abModel, mesh, MESH, nmesh),
                                      ARRAY(abModel, actuator, ACTUATOR, nactuator),
                                      ARRAY(abModel, key, KEY, nkey),
                                      ARRAY_EACH(abModel, key_q, NUMBER, nkey, nq),
                                      ARRAY_EACH(abModel, key_v, NUMBER, nkey, nv),
                                      ARRAY_EACH(abModel, key_ctrl, NUMBER, nkey, nactuator),
                                      ARRAY_EACH(abModel, key_mocap_pos, POINT, nkey, nmocap),
                                      ARRAY_EACH(abModel, key_mocap_quat, QUAT, nkey, nmocap),
                                      ARRAY(abModel, exclude, EXCLUDE, nexclude),
                                      ARRAY(abModel, pair_rule, PAIR_RULE, npair_rule),
                                      ARRAY(abModel, mover, MOVER, nmover),
                                      ARRAY(abModel, site, SITE, nsite),
                                      ARRAY(abModel, tendon, TENDON, ntendon),
                                      ARRAY(abModel, tendon_joint, TENDON_JOINT, ntendon_joint),
                                      ARRAY(abModel, equality, EQUALITY, nequality),
                                      ARRAY(abModel, hull, SHAPE, nhull),
                                      ARRAY(abModel, mocap_body, MOCAP_BODY, nmocap),
                                      ARRAY(abModel, q0, NUMBER, nq),
                                      ARRAY(abModel, dof_joint, DOF_JOINT, nv),
                                      ARRAY(abModel, dof_damping, NUMBER, nv),
                                      ARRAY(abModel, dof_armature, NUMBER, nv),
                                      NUMBERS(abModel, total_mass),
                                      NUMBERS(abModel, extent)};
const abStruct ab_model_struct = STRUCT(abModel, MODEL_FIELD);

_Static_assert(sizeof(abModel) <= AB_STRUCT_MOST && sizeof(abGeom) <= AB_STRUCT_MOST &&
                   sizeof(abBody) <= AB_STRUCT_MOST,
               "structs fit the reader's scratch");
_Static_assert(sizeof(abShapeType) == sizeof(int) && sizeof(abJointType) == sizeof(int) &&
                   sizeof(abIntegrator) == sizeof(int) && sizeof(abDrive) == sizeof(int) &&
                   sizeof(abEqualityType) == sizeof(int),
               "enums are read as integers");

// --- the stamp ---

// What a file holds beyond the table; raised when its meaning changes.
enum { LAYOUT = 1 };

static uint64_t mix_bytes(uint64_t hash, const void* bytes, size_t n) {
  const unsigned char* p = bytes;
  for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t mix_int(uint64_t hash, int x) {
  unsigned char byte[4];
  for (int i = 0; i < 4; i++) byte[i] = (unsigned char)((unsigned)x >> 8 * i);
  return mix_bytes(hash, byte, 4);
}

static uint64_t mix_text(uint64_t hash, const char* text) {
  return text ? mix_bytes(hash, text, strlen(text) + 1) : mix_int(hash, -1);
}

static uint64_t mix_struct(uint64_t hash, const abStruct* s) {
  hash = mix_text(hash, s->name);
  for (int i = 0; i < s->nfield; i++) {
    const abField* f = &s->field[i];
    hash = mix_text(mix_int(mix_text(hash, f->name), (int)f->kind), f->count.name);
    if (f->times.name) hash = mix_text(hash, f->times.name);
    hash = mix_int(mix_int(mix_int(hash, f->n), f->low), f->limit);
    if (f->inner) hash = mix_struct(hash, f->inner);
  }
  return hash;
}

uint64_t ab_model_stamp(void) {
  return mix_struct(mix_int(0xcbf29ce484222325u, LAYOUT), &ab_model_struct);
}

size_t ab_struct_least(const abStruct* s) {
  static const size_t bytes[] = {
      [AB_FIELD_INT] = 4,  [AB_FIELD_FLAG] = 1,   [AB_FIELD_FLOAT] = 4, [AB_FIELD_DOUBLE] = 8,
      [AB_FIELD_TEXT] = 4, [AB_FIELD_INSIDE] = 0, [AB_FIELD_POLY] = 4,  [AB_FIELD_ARRAY] = 0};
  size_t sum = 0;
  for (int i = 0; i < s->nfield; i++) {
    sum += bytes[s->field[i].kind] * (size_t)s->field[i].n;
    if (s->field[i].kind == AB_FIELD_INSIDE) sum += ab_struct_least(s->field[i].inner);
  }
  return sum;
}
