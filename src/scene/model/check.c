// Whether the parts of a model fit together. The compiler makes only models that do; a file may
// hold anything. Indices are in range already (scene/model/table.c says of what).
// Tests: test_model_file.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/vec.h"
#include "scene/compile/compile.h"
#include "scene/model/file.h"

#define REQUIRE(condition, ...)                                                               \
  do {                                                                                        \
    if (!(condition))                                                                         \
      return ab_fail(error, AB_ERROR_PARSE, NULL, 0, "not a sound model file: " __VA_ARGS__); \
  } while (0)

// The compiler makes quaternions and axes of length 1 to rounding, and steps rely on that: the axes
// of a patch are products of them.
static const double unit_tolerance = 1e-12;

static bool is_unit(abQuat q) {
  return fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1) < unit_tolerance;
}

// --- the tree ---

static abStatus check_body(const abModel* m, int i, abError* error) {
  const abBody* b = &m->body[i];
  REQUIRE(b->name, "body %d has no name", i);
  REQUIRE(i == 0 ? b->parent == 0 : b->parent < i, "body %d comes before its parent", i);
  REQUIRE(is_unit(b->pose.q) && is_unit(b->inertia_q), "body %d: a quaternion is not of length 1",
          i);
  REQUIRE(b->mass >= 0 && b->inertia.x >= 0 && b->inertia.y >= 0 && b->inertia.z >= 0,
          "body %d has a negative mass or inertia", i);
  REQUIRE(b->mocap < 0 || (i > 0 && b->parent == 0 && b->njoint == 0),
          "body %d is moved from outside, but has joints or a parent", i);
  int weld = b->njoint > 0 || b->mocap >= 0 ? i : i == 0 ? 0 : m->body[b->parent].weld;
  REQUIRE(b->weld == weld && (i > 0 || b->njoint == 0), "body %d is fixed to a wrong body", i);
  bool moves = weld != 0 && m->body[weld].mocap < 0;
  REQUIRE((b->mover >= 0) == moves, "body %d: its mover is wrong", i);
  int joint = i ? m->body[i - 1].joint0 + m->body[i - 1].njoint : 0;
  int dof = i ? m->body[i - 1].dof0 + m->body[i - 1].ndof : 0;
  int geom = i ? m->body[i - 1].geom0 + m->body[i - 1].ngeom : 0;
  REQUIRE(b->joint0 == joint && b->njoint <= m->njoint - joint, "body %d: its joints are wrong", i);
  REQUIRE(b->dof0 == dof && b->ndof <= m->nv - dof && b->ndof <= 6,
          "body %d: its velocities are wrong", i);
  REQUIRE(b->geom0 == geom && b->ngeom <= m->ngeom - geom, "body %d: its geoms are wrong", i);
  for (int k = geom; k < geom + b->ngeom; k++)
    REQUIRE(m->geom[k].body == i, "geom %d belongs to another body", k);
  int ndof = 0;
  for (int k = joint; k < joint + b->njoint; k++) {
    const abJoint* j = &m->joint[k];
    REQUIRE(j->body == i, "joint %d belongs to another body", k);
    REQUIRE(j->type != AB_JOINT_FREE || (b->njoint == 1 && b->parent == 0),
            "the free joint %d is not the only one of a body below the world", k);
    ndof += ab_velocities_of(j->type);
  }
  REQUIRE(ndof == b->ndof, "body %d: its velocities are wrong", i);
  return AB_OK;
}

static abStatus check_joints(const abModel* m, abError* error) {
  int nq = 0, nv = 0;
  for (int i = 0; i < m->njoint; i++) {
    const abJoint* j = &m->joint[i];
    REQUIRE(j->name, "joint %d has no name", i);
    REQUIRE(j->q0 == nq && j->v0 == nv, "joint %d: its coordinates are wrong", i);
    REQUIRE(fabs(v3_norm(j->axis) - 1) < unit_tolerance || j->type == AB_JOINT_FREE ||
                j->type == AB_JOINT_BALL,
            "joint %d: its axis is no unit vector", i);
    // a ball joint with the range 0 0 is held where it is
    bool held = j->type == AB_JOINT_BALL && j->range[0] == 0 && j->range[1] == 0;
    REQUIRE(!j->limited || held || j->range[0] < j->range[1], "joint %d: its range is empty", i);
    REQUIRE(j->stiffness >= 0 && j->damping >= 0 && j->armature >= 0 && j->frictionloss >= 0,
            "joint %d: a spring, damper, armature or friction is negative", i);
    nq += ab_coordinates_of(j->type), nv += ab_velocities_of(j->type);
    REQUIRE(nv <= m->nv && nq <= m->nq, "joint %d: its coordinates are wrong", i);
    for (int k = j->v0; k < nv; k++)
      REQUIRE(m->dof_joint[k] == i && m->dof_damping[k] == j->damping &&
                  m->dof_armature[k] == j->armature,
              "velocity %d: its joint is wrong", k);
  }
  REQUIRE(nq == m->nq && nv == m->nv, "coordinates and joints do not fit");
  return AB_OK;
}

static abStatus check_mover(const abModel* m, int i, abError* error) {
  const abMover* r = &m->mover[i];
  REQUIRE(r->nbody > 0 && r->nbody <= m->nbody - r->body0, "mover %d: its bodies are wrong", i);
  int ndof = 0;
  double mass = 0;
  for (int k = r->body0; k < r->body0 + r->nbody; k++) {
    const abBody* b = &m->body[k];
    REQUIRE(b->mover == i && (k == r->body0 ? m->body[b->parent].mover < 0 : b->parent >= r->body0),
            "mover %d: its bodies are wrong", i);
    ndof += b->ndof, mass += b->mass;
  }
  const abBody* first = &m->body[r->body0];
  REQUIRE(first->njoint > 0 && r->dof0 == first->dof0 && r->ndof == ndof,
          "mover %d: its velocities are wrong", i);
  REQUIRE(mass > 0, "mover %d has no mass", i);
  if (r->jointed) return AB_OK;
  const abVec3 I = first->inertia;
  double least = fmin(I.x, fmin(I.y, I.z)), most = fmax(I.x, fmax(I.y, I.z));
  REQUIRE(r->nbody == 1 && m->joint[first->joint0].type == AB_JOINT_FREE && first->mass > 0,
          "mover %d is no free body", i);
  REQUIRE(least > AB_SINGULAR_INERTIA * most, "body %d has no inertia about an axis", r->body0);
  return AB_OK;
}

static abStatus check_tree(const abModel* m, abError* error) {
  REQUIRE(m->nbody > 0, "there is no world");
  int nmover = 0;
  for (int i = 0; i < m->nbody; i++) {
    abStatus status = check_body(m, i, error);
    if (status) return status;
  }
  const abBody* last = &m->body[m->nbody - 1];
  REQUIRE(last->joint0 + last->njoint == m->njoint && last->geom0 + last->ngeom == m->ngeom &&
              last->dof0 + last->ndof == m->nv,
          "joints or geoms belong to no body");
  abStatus status = check_joints(m, error);
  for (int i = 0; i < m->nmover && !status; i++) status = check_mover(m, i, error);
  if (status) return status;
  for (int i = 0; i < m->nbody; i++) {
    int mover = m->body[i].mover;
    REQUIRE(mover <= nmover, "movers are not in the order of their bodies");
    nmover += mover == nmover;
  }
  REQUIRE(nmover == m->nmover, "a mover has no body");
  return AB_OK;
}

// --- shapes ---

static bool is_box_of(const abPolyhedron* p, abVec3 size) {
  if (p->nvert != 8 || p->nface != 6) return false;
  for (int i = 0; i < 8; i++)
    if (fabs(p->vert[i].x) != size.x || fabs(p->vert[i].y) != size.y ||
        fabs(p->vert[i].z) != size.z)
      return false;
  return true;
}

static bool is_shape(const abShape* s) {
  abVec3 a = s->size;
  if (!(a.x >= 0 && a.y >= 0 && a.z >= 0 && s->poly_error >= 0)) return false;
  if (s->type == AB_SHAPE_PLANE) return !s->poly;
  if (!s->poly) return false;
  switch (s->type) {
    case AB_SHAPE_BOX:
      return a.x > 0 && a.y > 0 && a.z > 0 && is_box_of(s->poly, a);
    case AB_SHAPE_SPHERE:
      return a.x > 0;
    case AB_SHAPE_CAPSULE:
    case AB_SHAPE_CYLINDER:
      return a.x > 0 && a.y > 0;
    case AB_SHAPE_ELLIPSOID:
      return a.x > 0 && a.y > 0 && a.z > 0;
    default:
      return true;
  }
}

static abStatus check_shapes(const abModel* m, abError* error) {
  for (int i = 0; i < m->ngeom; i++) {
    const abGeom* g = &m->geom[i];
    REQUIRE(g->name, "geom %d has no name", i);
    REQUIRE(is_unit(g->pose.q), "geom %d: its quaternion is not of length 1", i);
    REQUIRE(is_shape(&g->shape), "geom %d: its shape is wrong", i);
    REQUIRE(g->shape.type != AB_SHAPE_PLANE || m->body[g->body].weld == 0, "geom %d: a plane moves",
            i);
    REQUIRE(g->friction[0] >= 0 && g->friction[1] >= 0 && g->friction[2] >= 0 &&
                g->restitution >= 0 && g->restitution <= 1 && g->e_t > 0 && g->e_o > 0,
            "geom %d: a friction is negative, or restitution, e_t or e_o is out of range", i);
  }
  for (int i = 0; i < m->nhull; i++)
    REQUIRE(m->hull[i].type != AB_SHAPE_PLANE && is_shape(&m->hull[i]), "hull %d is wrong", i);
  for (int i = 0; i < m->nmesh; i++) {
    REQUIRE(m->mesh[i].name, "mesh %d has no name", i);
    for (int k = 0; k < m->mesh[i].ntriangle; k++)
      for (int c = 0; c < 3; c++)
        REQUIRE(m->mesh[i].triangle[k][c] >= 0 && m->mesh[i].triangle[k][c] < m->mesh[i].nvert,
                "mesh %d: a triangle names a vertex there is not", i);
  }
  return AB_OK;
}

// --- laws ---

static bool is_scalar(const abModel* m, int joint) {
  return joint >= 0 &&
         (m->joint[joint].type == AB_JOINT_HINGE || m->joint[joint].type == AB_JOINT_SLIDE);
}

static abStatus check_tendons(const abModel* m, abError* error) {
  int at = 0;
  for (int i = 0; i < m->ntendon; i++) {
    const abTendon* t = &m->tendon[i];
    REQUIRE(t->name, "tendon %d has no name", i);
    REQUIRE(t->joint0 == at && t->njoint > 0 && t->njoint <= m->ntendon_joint - at,
            "tendon %d: its joints are wrong", i);
    at += t->njoint;
    REQUIRE(!t->limited || t->range[0] < t->range[1], "tendon %d: its range is empty", i);
    REQUIRE(!t->force_limited || t->force_range[0] <= t->force_range[1],
            "tendon %d: its range of forces is empty", i);
    REQUIRE(t->springlength[0] <= t->springlength[1] && t->stiffness >= 0 && t->damping >= 0 &&
                t->frictionloss >= 0 && t->armature >= 0,
            "tendon %d: a spring, damper, armature or friction is wrong", i);
  }
  REQUIRE(at == m->ntendon_joint, "joints belong to no tendon");
  for (int i = 0; i < at; i++)
    REQUIRE(is_scalar(m, m->tendon_joint[i].joint), "a tendon runs over a ball or free joint");
  return AB_OK;
}

static bool are_ends(const abModel* m, const abEquality* e) {
  switch (e->type) {
    case AB_EQUALITY_JOINT:
      return is_scalar(m, e->joint1) && (e->joint2 < 0 || is_scalar(m, e->joint2)) &&
             e->joint1 != e->joint2;
    case AB_EQUALITY_TENDON:
      return e->tendon1 >= 0 && e->tendon1 != e->tendon2;
    default:
      return e->body1 >= 0 && e->body2 >= 0 && e->body1 != e->body2;
  }
}

static abStatus check_laws(const abModel* m, abError* error) {
  for (int i = 0; i < m->nsite; i++)
    REQUIRE(m->site[i].name && is_unit(m->site[i].pose.q), "site %d is wrong", i);
  abStatus status = check_tendons(m, error);
  if (status) return status;
  for (int i = 0; i < m->nequality; i++) {
    const abEquality* e = &m->equality[i];
    REQUIRE(e->name, "equality %d has no name", i);
    REQUIRE(are_ends(m, e), "equality %d: what it ties is wrong", i);
    REQUIRE(is_unit(e->frame1.q) && is_unit(e->frame2.q),
            "equality %d: a quaternion is not of length 1", i);
  }
  for (int i = 0; i < m->nactuator; i++) {
    const abActuator* a = &m->actuator[i];
    REQUIRE(a->name, "actuator %d has no name", i);
    int driven = a->drive == AB_DRIVE_JOINT    ? a->joint
                 : a->drive == AB_DRIVE_TENDON ? a->tendon
                                               : a->site;
    REQUIRE(driven >= 0, "actuator %d drives nothing", i);
  }
  return AB_OK;
}

// --- the rest ---

static abStatus check_mocap(const abModel* m, abError* error) {
  int n = 0;
  for (int i = 0; i < m->nbody; i++) n += m->body[i].mocap >= 0;
  REQUIRE(n == m->nmocap, "bodies that are moved from outside are missing or too many");
  for (int i = 0; i < m->nmocap; i++) {
    REQUIRE(m->body[m->mocap_body[i]].mocap == i, "body %d is not moved from outside",
            m->mocap_body[i]);
    for (int k = 0; k < m->nkey; k++)
      REQUIRE(is_unit(m->key_mocap_quat[k * m->nmocap + i]),
              "keyframe %d: a quaternion is not of length 1", k);
  }
  return AB_OK;
}

static bool are_coordinates(const abModel* m, const double* q) {
  for (int i = 0; i < m->njoint; i++) {
    const abJoint* j = &m->joint[i];
    if (j->type != AB_JOINT_FREE && j->type != AB_JOINT_BALL) continue;
    const double* u = q + j->q0 + (j->type == AB_JOINT_FREE ? 3 : 0);
    if (!is_unit((abQuat){u[0], u[1], u[2], u[3]})) return false;
  }
  return true;
}

static abStatus check_rest(const abModel* m, abError* error) {
  REQUIRE(m->timestep > 0 && m->extent > 0, "the step or the size of the scene is not positive");
  REQUIRE(are_coordinates(m, m->q0), "the initial pose has a quaternion not of length 1");
  for (int i = 0; i < m->nkey; i++)
    REQUIRE(m->key[i].name && are_coordinates(m, m->key_q + (size_t)i * (size_t)m->nq),
            "keyframe %d is wrong", i);
  for (int i = 0; i < m->nsetting; i++) REQUIRE(m->setting[i].name, "a setting has no name");
  for (int i = 0; i < m->nexclude; i++)
    REQUIRE(m->exclude[i].body1 <= m->exclude[i].body2, "exclusion %d is not in order", i);
  for (int i = 0; i < m->npair_rule; i++)
    REQUIRE(m->pair_rule[i].geom1 < m->pair_rule[i].geom2, "pair %d is not in order", i);
  return AB_OK;
}

abStatus ab_model_check(const abModel* m, abError* error) {
  abStatus status = check_tree(m, error);
  if (!status) status = check_shapes(m, error);
  if (!status) status = check_laws(m, error);
  if (!status) status = check_mocap(m, error);
  return status ? status : check_rest(m, error);
}
