// Quantities of a simulation by name: body.cube.x, contact.cube.floor.slip, energy, ...
//
// A table has them all: the kind of thing they belong to, the word, and the function that gives the
// value now. Some add up over the steps (slip, time in contact): their function gives what the last
// step adds.
#include <math.h>

#include "quantity.h"

// --- vectors ---

static abVec3 minus(abVec3 a, abVec3 b) { return (abVec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static double dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static double length(abVec3 a) { return sqrt(dot(a, a)); }
static abVec3 cross(abVec3 a, abVec3 b) {
  return (abVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static double member(const void* p, int i) { return ((const double*)p)[i]; }

// --- bodies ---

#define VECTOR(word, source, i)                                                      \
  static double body_##word(const Quantity* q, const Watch* w, const abData* data) { \
    (void)w;                                                                         \
    return member(&data->source, i);                                                 \
  }
VECTOR(x, com[q->body], 0)
VECTOR(y, com[q->body], 1)
VECTOR(z, com[q->body], 2)
VECTOR(vx, twist[q->body].lin, 0)
VECTOR(vy, twist[q->body].lin, 1)
VECTOR(vz, twist[q->body].lin, 2)
VECTOR(wx, twist[q->body].ang, 0)
VECTOR(wy, twist[q->body].ang, 1)
VECTOR(wz, twist[q->body].ang, 2)
VECTOR(qw, pose[q->body].q, 0)
VECTOR(qx, pose[q->body].q, 1)
VECTOR(qy, pose[q->body].q, 2)
VECTOR(qz, pose[q->body].q, 3)

static double body_speed(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  return length(data->twist[q->body].lin);
}

static double body_spin(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  return length(data->twist[q->body].ang);
}

static double body_distance(const Quantity* q, const Watch* w, const abData* data) {
  return length(minus(data->com[q->body], w->com0[q->body]));
}

static double body_path(const Quantity* q, const Watch* w, const abData* data) {
  (void)data;
  return w->path[q->body];
}

// Angle of the rotation from the first orientation a to the present one b: the scalar part of a* b
// is cos(angle / 2); its vector part keeps small angles accurate.
static double body_angle(const Quantity* q, const Watch* w, const abData* data) {
  abQuat a = w->pose0[q->body].q, b = data->pose[q->body].q;
  abVec3 u = {a.x, a.y, a.z}, v = {b.x, b.y, b.z}, c = cross(u, v);
  double scalar = a.w * b.w + dot(u, v);
  abVec3 vector = {a.w * v.x - b.w * u.x - c.x, a.w * v.y - b.w * u.y - c.y,
                   a.w * v.z - b.w * u.z - c.z};
  return 2 * atan2(length(vector), fabs(scalar));
}

// Between the body's z axis and the vertical.
static double body_tilt(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  const abMat3* R = &data->R[q->body];
  return atan2(hypot(R->m[0][2], R->m[1][2]), R->m[2][2]);
}

// Turn about the vertical of the body's x axis.
static double body_yaw(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  const abMat3* R = &data->R[q->body];
  return atan2(R->m[1][0], R->m[0][0]);
}

static const abShape* hull_of(const abModel* model, int body) {
  int hull = model->body[body].hull;
  return hull < 0 ? NULL : &model->hull[hull];
}

// Which side is up: of a mesh the face of its hull, counted from 1; else the axis that points up
// most, 1 2 3 for x y z, negative where it is the other end.
static double body_up_face(const Quantity* q, const Watch* w, const abData* data) {
  const abMat3* R = &data->R[q->body];
  const abVec3 up = {R->m[2][0], R->m[2][1], R->m[2][2]};
  const abShape* hull = hull_of(w->model, q->body);
  int best = 0;
  double most = -INFINITY;
  if (hull && hull->type == AB_SHAPE_MESH) {
    for (int i = 0; i < hull->poly->nface; i++) {
      double c = dot(up, hull->poly->plane[i].n);
      if (c > most) best = i + 1, most = c;
    }
    return best;
  }
  for (int i = 0; i < 3; i++) {
    double c = member(&up, i);
    if (fabs(c) > most) best = c < 0 ? -(i + 1) : i + 1, most = fabs(c);
  }
  return best;
}

// The face it lies on.
static double body_down_face(const Quantity* q, const Watch* w, const abData* data) {
  const abMat3* R = &data->R[q->body];
  const abVec3 down = {-R->m[2][0], -R->m[2][1], -R->m[2][2]};
  const abShape* hull = hull_of(w->model, q->body);
  if (!hull || hull->type != AB_SHAPE_MESH) return -body_up_face(q, w, data);
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < hull->poly->nface; i++) {
    double c = dot(down, hull->poly->plane[i].n);
    if (c > most) best = i + 1, most = c;
  }
  return best;
}

// --- joints and actuators ---

static double joint_q(const Quantity* q, const Watch* w, const abData* data) {
  return data->q[w->model->joint[q->body].q0];
}

static double joint_v(const Quantity* q, const Watch* w, const abData* data) {
  return data->v[w->model->joint[q->body].v0];
}

static double actuator_force(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  return data->actuator_force[q->body];
}

// --- contacts: sums over the contacts between the two sides ---

static bool is_side(const Quantity* q, int k, int body, int geom) {
  return q->side[k] < 0 || q->side[k] == (q->side_geom[k] ? geom : body);
}

static bool between(const Quantity* q, const abContact* c) {
  return (is_side(q, 0, c->body1, c->geom1) && is_side(q, 1, c->body2, c->geom2)) ||
         (is_side(q, 0, c->body2, c->geom2) && is_side(q, 1, c->body1, c->geom1));
}

// The force on the first side.
static abVec3 total_force(const Quantity* q, const abData* data) {
  abVec3 sum = {0, 0, 0};
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    if (!between(q, c)) continue;
    double sign = is_side(q, 0, c->body1, c->geom1) ? 1 : -1;
    sum.x += sign * c->wrench.force.x;
    sum.y += sign * c->wrench.force.y;
    sum.z += sign * c->wrench.force.z;
  }
  return sum;
}

static double contact_force(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  return length(total_force(q, data));
}

#define CONTACT_SUM(word, term)                                                         \
  static double contact_##word(const Quantity* q, const Watch* w, const abData* data) { \
    double sum = 0;                                                                     \
    (void)w;                                                                            \
    for (int i = 0; i < data->ncontact; i++) {                                          \
      const abContact* c = &data->contacts[i];                                          \
      if (between(q, c)) sum += (term);                                                 \
    }                                                                                   \
    return sum;                                                                         \
  }
CONTACT_SUM(normal, dot(c->wrench.force, c->normal))
CONTACT_SUM(friction, length(c->friction_wrench.force))
CONTACT_SUM(area, c->area)
CONTACT_SUM(count, 1)

static double contact_depth(const Quantity* q, const Watch* w, const abData* data) {
  double most = 0;
  (void)w;
  for (int i = 0; i < data->ncontact; i++)
    if (between(q, &data->contacts[i])) most = fmax(most, data->contacts[i].depth);
  return most;
}

static abVec3 velocity_at(const abData* data, int body, abVec3 p) {
  abVec3 turn = cross(data->twist[body].ang, minus(p, data->com[body]));
  abVec3 v = data->twist[body].lin;
  return (abVec3){v.x + turn.x, v.y + turn.y, v.z + turn.z};
}

// How far the two sides slid over each other in the last step, at the contact point; of several
// contacts the one that slid most. Those that carry nothing do not count.
static double contact_slip(const Quantity* q, const Watch* w, const abData* data) {
  double most = 0;
  (void)w;
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    if (!between(q, c) || !(dot(c->wrench.force, c->normal) > 0)) continue;
    abVec3 u = minus(velocity_at(data, c->body1, c->point), velocity_at(data, c->body2, c->point));
    double along = dot(u, c->normal);
    abVec3 t = {u.x - along * c->normal.x, u.y - along * c->normal.y, u.z - along * c->normal.z};
    most = fmax(most, length(t));
  }
  return most * data->h;
}

static double contact_time(const Quantity* q, const Watch* w, const abData* data) {
  (void)w;
  for (int i = 0; i < data->ncontact; i++)
    if (between(q, &data->contacts[i])) return data->h;
  return 0;
}

// --- the scene ---

static double scene_energy(const Quantity* q, const Watch* w, const abData* data) {
  (void)q;
  abEnergy e = ab_energy(w->model, data);
  return e.kinetic + e.gravity + e.spring;
}

static double scene_kinetic(const Quantity* q, const Watch* w, const abData* data) {
  (void)q;
  return ab_energy(w->model, data).kinetic;
}

static double scene_energy_lost(const Quantity* q, const Watch* w, const abData* data) {
  return w->energy0 - scene_energy(q, w, data);
}

static double scene_time(const Quantity* q, const Watch* w, const abData* data) {
  (void)q;
  return data->time - w->time0;
}

#define OF_WATCH(word, value)                                                         \
  static double scene_##word(const Quantity* q, const Watch* w, const abData* data) { \
    (void)q, (void)w, (void)data;                                                     \
    return value;                                                                     \
  }
// What has not lasted is not rest.
OF_WATCH(time_to_rest, data->time - w->resting_since >= w->sweep->stop.hold * (1 - 1e-9)
                           ? w->resting_since - w->time0
                           : NAN)
OF_WATCH(steps, w->nstep)
OF_WATCH(unconverged, w->nunconverged)
OF_WATCH(residual, w->max_residual)
OF_WATCH(penetration, w->max_penetration)
OF_WATCH(stopped, w->stopped)
OF_WATCH(contacts, data->ncontact)

const Entry quantity_table[] = {
    {SCENE, "energy", scene_energy, false},
    {SCENE, "kinetic", scene_kinetic, false},
    {SCENE, "energy_lost", scene_energy_lost, false},
    {SCENE, "time_to_rest", scene_time_to_rest, false},
    {SCENE, "time", scene_time, false},
    {SCENE, "steps", scene_steps, false},
    {SCENE, "unconverged", scene_unconverged, false},
    {SCENE, "residual", scene_residual, false},
    {SCENE, "penetration", scene_penetration, false},
    {SCENE, "contacts", scene_contacts, false},
    {SCENE, "stopped", scene_stopped, false},
    {BODY, "x", body_x, false},
    {BODY, "y", body_y, false},
    {BODY, "z", body_z, false},
    {BODY, "vx", body_vx, false},
    {BODY, "vy", body_vy, false},
    {BODY, "vz", body_vz, false},
    {BODY, "wx", body_wx, false},
    {BODY, "wy", body_wy, false},
    {BODY, "wz", body_wz, false},
    {BODY, "qw", body_qw, false},
    {BODY, "qx", body_qx, false},
    {BODY, "qy", body_qy, false},
    {BODY, "qz", body_qz, false},
    {BODY, "speed", body_speed, false},
    {BODY, "spin", body_spin, false},
    {BODY, "distance", body_distance, false},
    {BODY, "path", body_path, false},
    {BODY, "angle", body_angle, false},
    {BODY, "tilt", body_tilt, false},
    {BODY, "yaw", body_yaw, false},
    {BODY, "up_face", body_up_face, false},
    {BODY, "down_face", body_down_face, false},
    {JOINT, "q", joint_q, false},
    {JOINT, "v", joint_v, false},
    {ACTUATOR, "force", actuator_force, false},
    {CONTACT, "force", contact_force, false},
    {CONTACT, "normal", contact_normal, false},
    {CONTACT, "friction", contact_friction, false},
    {CONTACT, "area", contact_area, false},
    {CONTACT, "depth", contact_depth, false},
    {CONTACT, "count", contact_count, false},
    {CONTACT, "slip", contact_slip, true},
    {CONTACT, "time", contact_time, true},
};
const int quantity_count = sizeof quantity_table / sizeof quantity_table[0];

double quantity_value(const Quantity* q, const Watch* w, const abData* data) {
  return quantity_table[q->kind].value(q, w, data);
}

bool quantity_adds_up(const Quantity* q) { return quantity_table[q->kind].adds_up; }
bool quantity_is_path(const Quantity* q) { return quantity_table[q->kind].value == body_path; }
