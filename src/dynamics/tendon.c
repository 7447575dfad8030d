// Fixed tendons, and actuators on tendons and sites.
//
// A tendon of length L = sum coef q is to its force what a joint is to its own, with s = coef:
//
//   spring, damping, armature   implicit as joint_force.c does it, P = h F - W (L'+ - L'), W =
//                               armature + h damping + h^2 stiffness / 2
//   limit                       as the limit of a joint (bound.c): one-sided, stiff
//   friction                    likewise: sticks, or slides against h frictionloss
//   actuator                    force F of L and L' with feedback kp, kd: W = h kd + h^2 kp / 2
//
// Actuators on sites push with force * gear at the site; see abDrive in abut/model.h. Without
// feedback a force is a load. RK4 takes all of these as they are at each stage but for armature,
// limits and friction, which act on its result.
// Tests: test_law.
#include <math.h>

#include "dynamics/laws.h"
#include "dynamics/trees.h"
#include "internal.h"

double ab_tendon_length(const abModel* model, const abData* data, const abTendon* t) {
  double sum = 0;
  for (int i = t->joint0; i < t->joint0 + t->njoint; i++)
    sum += model->tendon_joint[i].coef * data->q[model->joint[model->tendon_joint[i].joint].q0];
  return sum;
}

void ab_tendon_slope(const abModel* model, const abTendon* t, double scale, double* dense) {
  for (int i = t->joint0; i < t->joint0 + t->njoint; i++)
    dense[model->joint[model->tendon_joint[i].joint].v0] += scale * model->tendon_joint[i].coef;
}

double ab_tendon_unit(const abModel* model, const abTendon* t) {
  double sum = 0, length = ab_law_length(model);
  for (int i = t->joint0; i < t->joint0 + t->njoint; i++) {
    const abTendonJoint* j = &model->tendon_joint[i];
    sum += fabs(j->coef) * (model->joint[j->joint].type == AB_JOINT_SLIDE ? 1 : 1 / length);
  }
  return sum > 0 ? sum : 1;
}

// By how much the spring is longer or shorter than where it is slack.
static double stretch(const abTendon* t, double L) {
  return L > t->springlength[1] ? L - t->springlength[1] : fmin(L - t->springlength[0], 0);
}

double ab_tendon_spring(const abTendon* t, double L) { return -t->stiffness * stretch(t, L); }

double ab_tendon_spring_energy(const abTendon* t, double L) {
  return 0.5 * t->stiffness * stretch(t, L) * stretch(t, L);
}

static bool asleep(const abModel* model, const abData* data, const abTendon* t) {
  for (int i = t->joint0; i < t->joint0 + t->njoint; i++)
    if (data->asleep[model->joint[model->tendon_joint[i].joint].body]) return true;
  return t->njoint == 0;
}

double ab_tendon_speed(const abModel* model, const abData* data, const abTendon* t) {
  double sum = 0;
  for (int i = t->joint0; i < t->joint0 + t->njoint; i++)
    sum += model->tendon_joint[i].coef * data->v[model->joint[model->tendon_joint[i].joint].v0];
  return sum;
}

// A stiff row along the tendon, or against it.
static bool stiff_row(const abModel* model, abData* data, abLaws* laws, int tendon, double sign,
                      abLawRow** row) {
  ab_tendon_slope(model, &model->tendon[tendon], sign, laws->dense);
  abLawOwner owner = {AB_LAW_TENDON, tendon, 0, sign};
  if (!ab_law_row(model, data, laws, owner, row)) return false;
  if (!*row) return true;
  (*row)->mobility = ab_law_mobility(model, data, *row, NULL);
  (*row)->weight = AB_BOUND_STIFFNESS / (*row)->mobility;
  return true;
}

static bool limit_row(const abModel* model, abData* data, abLaws* laws, int tendon, double sign,
                      double gap) {
  abLawRow* row;
  if (!stiff_row(model, data, laws, tendon, sign, &row)) return false;
  if (!row) return true;
  row->target = -gap / data->h;
  if (!(gap > 0)) {
    double a = ab_tendon_unit(model, &model->tendon[tendon]) * ab_law_acceleration(model, true);
    row->target = ab_bound_return_speed(-gap, a, data->h);
  }
  row->high = INFINITY;
  return true;
}

static bool friction_row(const abModel* model, abData* data, abLaws* laws, int tendon,
                         double force) {
  abLawRow* row;
  if (!stiff_row(model, data, laws, tendon, 1, &row)) return false;
  if (row) row->low = -data->h * force, row->high = data->h * force;
  return true;
}

// A row P = h F - weight (s . v+ - speed), between low and high.
static bool soft_row(const abModel* model, abData* data, abLaws* laws, abLawOwner owner,
                     abLawRow value) {
  abLawRow* row;
  if (!ab_law_row(model, data, laws, owner, &row)) return false;
  if (!row) return true;
  row->weight = value.weight, row->target = value.target;
  row->low = value.low, row->high = value.high;
  return true;
}

static bool passive(const abModel* model, abData* data, abLaws* laws, int i, bool implicit) {
  const abTendon* t = &model->tendon[i];
  double L = ab_tendon_length(model, data, t), speed = ab_tendon_speed(model, data, t), h = data->h;
  double force = ab_tendon_spring(t, L) - t->damping * speed, weight = t->armature;
  if (implicit) weight += h * t->damping + (stretch(t, L) != 0 ? 0.5 * h * h * t->stiffness : 0);
  if (!implicit) data->tendon_force[i] += force;  // which RK4's stages have spent already
  double left = implicit ? force : 0;
  if (weight > 0) {
    abLawRow row = {
        .weight = weight, .target = speed + h * left / weight, .low = -INFINITY, .high = INFINITY};
    ab_tendon_slope(model, t, 1, laws->dense);
    return soft_row(model, data, laws, (abLawOwner){AB_LAW_TENDON, i, 0, 1}, row);
  }
  data->tendon_force[i] += left;
  if (left == 0) return true;
  ab_tendon_slope(model, t, 1, laws->dense);
  ab_law_load(model, data, laws->dense, left);
  return true;
}

bool ab_tendon_laws(const abModel* model, abData* data, abLaws* laws, bool implicit) {
  for (int i = 0; i < model->ntendon; i++) {
    const abTendon* t = &model->tendon[i];
    if (asleep(model, data, t)) continue;
    data->tendon_force[i] = 0;
    double L = ab_tendon_length(model, data, t);
    bool room = passive(model, data, laws, i, implicit);
    if (t->limited)
      room = room && limit_row(model, data, laws, i, 1, L - t->range[0] - t->margin) &&
             limit_row(model, data, laws, i, -1, t->range[1] - t->margin - L);
    if (t->frictionloss > 0) room = room && friction_row(model, data, laws, i, t->frictionloss);
    if (!room) return false;
  }
  return true;
}

void ab_tendon_loads(const abModel* model, abData* data, double* dense) {
  for (int i = 0; i < model->ntendon; i++) {
    const abTendon* t = &model->tendon[i];
    if (asleep(model, data, t)) continue;
    double force = ab_tendon_spring(t, ab_tendon_length(model, data, t)) -
                   t->damping * ab_tendon_speed(model, data, t);
    ab_tendon_slope(model, t, 1, dense);
    ab_law_load(model, data, dense, force);
  }
}

// --- actuators

static abPose site_pose(const abModel* model, const abData* data, int site) {
  return pose_mul(data->pose[model->site[site].body], model->site[site].pose);
}

static abWrench turned(abQuat q, const double gear[6]) {
  return (abWrench){quat_rotate(q, v3(gear[0], gear[1], gear[2])),
                    quat_rotate(q, v3(gear[3], gear[4], gear[5]))};
}

// Clears the velocities that move both bodies.
static void clear_shared(const abModel* model, const abData* data, int a, int b, double* dense) {
  const abTrees* t = data->internal->trees;
  int m = model->body[a].mover;
  if (m < 0 || m != model->body[b].mover) return;
  int ja = t->link_of_body[a], jb = t->link_of_body[b];
  while (ja != jb) {  // parents have smaller numbers
    if (ja > jb)
      ja = t->link[ja].parent;
    else
      jb = t->link[jb].parent;
  }
  for (; ja >= 0; ja = t->link[ja].parent)
    for (int k = 0; k < t->link[ja].ndof; k++) dense[t->link[ja].dof + k] = 0;
}

static double relative_length(abPose site, abPose ref, const double gear[6]) {
  abVec3 p = pose_apply_inverse(ref, site.p);
  abVec3 r = ab_rotation_vector(quat_unit(quat_mul(quat_conj(ref.q), site.q)));
  return gear[0] * p.x + gear[1] * p.y + gear[2] * p.z + gear[3] * r.x + gear[4] * r.y +
         gear[5] * r.z;
}

// Moment arms -> dense; returns the length.
static double drive_geometry(const abModel* model, const abData* data, const abActuator* a,
                             double* dense) {
  if (a->drive == AB_DRIVE_TENDON) {
    const abTendon* t = &model->tendon[a->tendon];
    ab_tendon_slope(model, t, a->gear[0], dense);
    return a->gear[0] * ab_tendon_length(model, data, t);
  }
  int body = model->site[a->site].body;
  abPose site = site_pose(model, data, a->site);
  if (a->refsite < 0) {
    ab_law_lever(model, data, body, site.p, turned(site.q, a->gear), dense);
    return 0;
  }
  int other = model->site[a->refsite].body;
  abPose ref = site_pose(model, data, a->refsite);
  abWrench w = turned(ref.q, a->gear);
  ab_law_lever(model, data, body, site.p, w, dense);
  ab_law_lever(model, data, other, ref.p, wrench_neg(w), dense);
  clear_shared(model, data, body, other, dense);
  return relative_length(site, ref, a->gear);
}

static bool drive_asleep(const abModel* model, const abData* data, const abActuator* a) {
  if (a->drive == AB_DRIVE_TENDON) return asleep(model, data, &model->tendon[a->tendon]);
  bool moves = !data->asleep[model->site[a->site].body];
  return !moves && (a->refsite < 0 || data->asleep[model->site[a->refsite].body]);
}

static abDriveForce drive_at(const abModel* model, const abData* data, int i, double* dense) {
  const abActuator* a = &model->actuator[i];
  double length = drive_geometry(model, data, a, dense), speed = 0;
  for (int k = 0; k < model->nv; k++) speed += dense[k] * data->v[k];
  return ab_drive_force(a, data->ctrl[i], length, speed);
}

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// A tendon whose actuators together pull beyond its range: the share of their forces that is left.
static double tendon_share(const abModel* model, const abData* data, int tendon, double* dense) {
  const abTendon* t = &model->tendon[tendon];
  if (!t->force_limited) return 1;
  double sum = 0;
  for (int i = 0; i < model->nactuator; i++) {
    const abActuator* a = &model->actuator[i];
    if (a->drive != AB_DRIVE_TENDON || a->tendon != tendon) continue;
    abDriveForce d = drive_at(model, data, i, dense);
    for (int k = 0; k < model->nv; k++) dense[k] = 0;
    sum += a->gear[0] * clamp(d.force, d.low, d.high);
  }
  double within = clamp(sum, t->force_range[0], t->force_range[1]);
  return sum == within || sum == 0 ? 1 : within / sum;
}

static bool drive(const abModel* model, abData* data, abLaws* laws, int i, bool implicit) {
  const abActuator* a = &model->actuator[i];
  double* dense = laws->dense;
  double share = a->drive == AB_DRIVE_TENDON ? tendon_share(model, data, a->tendon, dense) : 1;
  abDriveForce d = drive_at(model, data, i, dense);
  double force = share * clamp(d.force, d.low, d.high), h = data->h;
  double weight = implicit && share == 1 ? h * (d.kd + 0.5 * h * d.kp) : 0;
  data->actuator_force[i] = force;
  if (weight > 0) {
    abLawRow row = {.weight = weight,
                    .target = d.speed + h * d.force / weight,
                    .low = h * d.low,
                    .high = h * d.high};
    return soft_row(model, data, laws, (abLawOwner){AB_LAW_ACTUATOR, i, 0, 1}, row);
  }
  ab_law_load(model, data, dense, force);
  return true;
}

bool ab_drive_laws(const abModel* model, abData* data, abLaws* laws, bool implicit) {
  for (int i = 0; i < model->nactuator; i++) {
    const abActuator* a = &model->actuator[i];
    if (a->drive == AB_DRIVE_JOINT || drive_asleep(model, data, a)) continue;
    if (!drive(model, data, laws, i, implicit)) return false;
  }
  return true;
}
