// Energy and momentum of the state that ab_kinematics was last called for. Armature counts as
// kinetic energy of the joint's rotor; a rotor carries no momentum of the world.
// Tests: test_motion.
#include <abut/abut.h>

#include "base/simd.h"
#include "dynamics/kinematics.h"
#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "fits.h"

// Squared distance of a joint from where its spring is relaxed.
static double spring_stretch2(const abModel* model, const abData* data, const abJoint* joint) {
  const double *q = data->q + joint->q0, *q0 = model->q0 + joint->q0;
  double sum = 0;
  if (joint->type == AB_JOINT_HINGE || joint->type == AB_JOINT_SLIDE) {
    sum = (q[0] - joint->springref) * (q[0] - joint->springref);
  } else {
    if (joint->type == AB_JOINT_FREE) {
      for (int i = 0; i < 3; i++) sum += (q[i] - q0[i]) * (q[i] - q0[i]);
      q += 3, q0 += 3;
    }
    abQuat now = quat_unit((abQuat){q[0], q[1], q[2], q[3]});
    abQuat rest = joint->type == AB_JOINT_FREE ? quat_unit((abQuat){q0[0], q0[1], q0[2], q0[3]})
                                               : quat_identity();
    sum += v3_norm2(ab_rotation_vector(quat_mul(quat_conj(rest), now)));
  }
  return sum;
}

// Twice the kinetic energy of a joint's rotor per armature; a free joint's is at the frame's
// origin.
static double rotor_speed2(const abData* data, const abJoint* joint) {
  const double* v = data->v + joint->v0;
  if (joint->type != AB_JOINT_FREE)
    return joint->type == AB_JOINT_BALL ? v3_norm2(v3(v[0], v[1], v[2])) : v[0] * v[0];
  abTwist t = twist_from_array(v);
  abVec3 to_origin = v3_sub(data->pose[joint->body].p, data->com[joint->body]);
  return v3_norm2(twist_at(t, to_origin)) + v3_norm2(t.ang);
}

AB_SIMD AB_FLATTEN double ab_kinetic_energy(const abModel* model, const abData* data) {
  double sum = 0;
  for (int b = 1; b < model->nbody; b++) {
    const abBody* body = &model->body[b];
    if (body->mover < 0) continue;
    abTwist t = data->twist[b];
    abVec3 L = m3_apply(&data->inertia[b], t.ang);
    sum += 0.5 * (body->mass * v3_norm2(t.lin) + v3_dot(t.ang, L));
  }
  for (int j = 0; j < model->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    if (joint->armature > 0) sum += 0.5 * joint->armature * rotor_speed2(data, joint);
  }
  for (int i = 0; i < model->ntendon; i++) {
    const abTendon* t = &model->tendon[i];
    if (!(t->armature > 0)) continue;
    double speed = ab_tendon_speed(model, data, t);
    sum += 0.5 * t->armature * speed * speed;
  }
  return sum;
}

abEnergy ab_energy(const abModel* model, const abData* data) {
  if (!ab_data_fits(model, data)) return (abEnergy){0};
  abEnergy e = {ab_kinetic_energy(model, data), 0, 0};
  for (int b = 1; b < model->nbody; b++) {
    const abBody* body = &model->body[b];
    if (body->mover < 0 || !body->gravity) continue;
    e.gravity -= body->mass * v3_dot(model->gravity, data->com[b]);
  }
  for (int j = 0; j < model->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    if (joint->stiffness > 0)
      e.spring += 0.5 * joint->stiffness * spring_stretch2(model, data, joint);
  }
  for (int i = 0; i < model->ntendon; i++) {
    const abTendon* t = &model->tendon[i];
    if (t->stiffness > 0) e.spring += ab_tendon_spring_energy(t, ab_tendon_length(model, data, t));
  }
  return e;
}

abWrench ab_momentum(const abModel* model, const abData* data) {
  if (!ab_data_fits(model, data)) return (abWrench){0};
  abWrench sum = wrench_zero();
  for (int b = 1; b < model->nbody; b++) {
    if (model->body[b].mover < 0) continue;
    abVec3 p = v3_scale(model->body[b].mass, data->twist[b].lin);
    abVec3 spin = m3_apply(&data->inertia[b], data->twist[b].ang);
    sum.force = v3_add(sum.force, p);
    sum.torque = v3_add(sum.torque, v3_add(spin, v3_cross(data->com[b], p)));
  }
  return sum;
}
