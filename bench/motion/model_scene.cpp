#include "model_scene.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

abQuat conjugate(abQuat q) { return {q.w, -q.x, -q.y, -q.z}; }

abQuat product(abQuat a, abQuat b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

abVec3 sum(abVec3 a, abVec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
abVec3 difference(abVec3 a, abVec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

abPose compose(abPose a, abPose b) { return {sum(a.p, rotate(a.q, b.p)), product(a.q, b.q)}; }

// b as seen from a
abPose relative(abPose a, abPose b) {
  abQuat back = conjugate(a.q);
  return {rotate(back, difference(b.p, a.p)), product(back, b.q)};
}

// Moments about the axes of q, where principal moments are about those of p; false if these are no
// principal axes, too.
bool moments_along(abQuat p, abVec3 principal, abQuat q, abVec3* out) {
  const double moment[] = {principal.x, principal.y, principal.z};
  abQuat turn = product(conjugate(q), p);
  abVec3 e[] = {rotate(turn, {1, 0, 0}), rotate(turn, {0, 1, 0}), rotate(turn, {0, 0, 1})};
  double xy = 0, xz = 0, yz = 0;
  *out = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    out->x += moment[k] * e[k].x * e[k].x;
    out->y += moment[k] * e[k].y * e[k].y;
    out->z += moment[k] * e[k].z * e[k].z;
    xy += moment[k] * e[k].x * e[k].y;
    xz += moment[k] * e[k].x * e[k].z;
    yz += moment[k] * e[k].y * e[k].z;
  }
  double off = std::max({std::fabs(xy), std::fabs(xz), std::fabs(yz)});
  return off < 1e-9 * (out->x + out->y + out->z);
}

Geom geom_of(const abGeom& g) {
  Geom out;
  out.type = g.shape.type;
  out.size = g.shape.size;
  out.poly = g.shape.poly;
  out.friction = g.friction[0];
  return out;
}

// A body fixed to the world: one of its geoms.
Body fixed_body(const abGeom& g, abPose pose) {
  Body b;
  b.fixed = true;
  b.pose = pose;
  b.geom.push_back(geom_of(g));
  return b;
}

// In the frame of its only geom where that is a principal frame (a displaced shape costs Bullet a
// detour), otherwise in that of the principal axes.
Body moving_body(const abModel* m, const abData* d, int index) {
  const abBody& from = m->body[index];
  Body b;
  b.mass = from.mass;
  b.twist = d->twist[index];
  b.gravity = from.gravity;
  abPose frame = {from.com, from.inertia_q};
  b.inertia = from.inertia;
  const abGeom* only = nullptr;
  int count = 0;
  for (int k = from.geom0; k < from.geom0 + from.ngeom; k++)
    if (m->geom[k].collides) only = &m->geom[k], count++;
  abVec3 moment;
  bool own = count == 1 && moments_along(frame.q, from.inertia, only->pose.q, &moment);
  if (own) {
    abVec3 off = difference(only->pose.p, from.com);
    double far = std::sqrt(off.x * off.x + off.y * off.y + off.z * off.z);
    own = far < 1e-9 * std::sqrt((moment.x + moment.y + moment.z) / from.mass);
  }
  if (own) frame = only->pose, b.inertia = moment;
  b.pose = compose(d->pose[index], frame);
  for (int k = from.geom0; k < from.geom0 + from.ngeom; k++) {
    if (!m->geom[k].collides) continue;
    b.geom.push_back(geom_of(m->geom[k]));
    if (!own) b.geom.back().pose = relative(frame, m->geom[k].pose);
  }
  return b;
}

// What none of the engines behind this interface is told.
std::string missing(const abModel* m) {
  bool law = false, limit = false, several = false, welded = false, ellipsoid = false;
  bool bits = false, special = false;
  for (int i = 0; i < m->njoint; i++) {
    const abJoint& j = m->joint[i];
    law |= j.stiffness != 0 || j.damping != 0 || j.armature != 0 || j.frictionloss != 0;
    limit |= j.limited;
  }
  for (int i = 1; i < m->nbody; i++) {
    several |= m->body[i].njoint > 1;
    welded |= m->body[i].weld != i && m->body[i].weld != 0;
  }
  for (int i = 0; i < m->ngeom; i++) {
    const abGeom& g = m->geom[i];
    if (!g.collides) continue;
    ellipsoid |= g.shape.type == AB_SHAPE_ELLIPSOID;
    bits |= g.contype != 1 || g.conaffinity != 1;
    special |= g.priority != 0 || g.restitution != 0 || g.margin != 0;
  }
  const std::pair<bool, const char*> list[] = {
      {m->nactuator > 0, "actuators"},
      {m->nequality > 0, "equalities"},
      {m->ntendon > 0, "tendons"},
      {m->nmocap > 0, "mocap bodies"},
      {m->npair_rule > 0 || m->nexclude > 0 || bits, "rules of who collides"},
      {several, "several joints of a body"},
      {law, "springs, damping, armature or friction of joints"},
      {limit, "limits of joints"},
      {welded, "bodies welded to others"},
      {ellipsoid, "ellipsoids"},
      {special, "priority, restitution or margin of geoms"}};
  std::string out;
  for (const auto& item : list)
    if (item.first) out += (out.empty() ? "" : ", ") + std::string(item.second);
  return out;
}

}  // namespace

Scene scene_of_model(const abModel* m, const abData* d, std::string& lacks) {
  Scene s;
  s.h = m->timestep;
  s.gravity = m->gravity;
  lacks = missing(m);
  std::vector<int> index((size_t)m->nbody, -1);
  for (int i = 0; i < m->nbody; i++) {
    if (m->body[i].mover >= 0) {
      index[(size_t)i] = (int)s.body.size();
      s.body.push_back(moving_body(m, d, i));
      continue;
    }
    for (int k = m->body[i].geom0; k < m->body[i].geom0 + m->body[i].ngeom; k++)
      if (m->geom[k].collides) s.body.push_back(fixed_body(m->geom[k], d->geom_pose[k]));
  }
  for (int i = 0; i < m->njoint; i++) {
    const abJoint& j = m->joint[i];
    if (j.type == AB_JOINT_FREE) continue;
    const abPose& at = d->pose[j.body];
    s.joint.push_back({j.type, index[(size_t)m->body[j.body].parent], index[(size_t)j.body],
                       sum(at.p, rotate(at.q, j.pos)), rotate(at.q, j.axis)});
  }
  return s;
}

}  // namespace bench
