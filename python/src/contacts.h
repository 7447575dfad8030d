// Contacts as plain records, and sums of their wrenches.
#pragma once

#include <abut/abut.h>

// As abut/_contacts.py reads it.
struct ContactRecord {
  int32_t body1, body2, geom1, geom2, kind, mode, nfacet, nvert;
  double point[3], normal[3], t1[3], t2[3];
  double force[3], torque[3], normal_force[3], normal_torque[3], friction_force[3],
      friction_torque[3];
  double free_moment, area, depth, slip[3];
};

inline void put(const abVec3& v, double* to) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

inline ContactRecord contact_record(const abContact& c) {
  ContactRecord r{};
  r.body1 = c.body1, r.body2 = c.body2, r.geom1 = c.geom1, r.geom2 = c.geom2;
  r.kind = c.kind, r.mode = c.mode, r.nfacet = c.nfacet, r.nvert = c.nvert;
  put(c.point, r.point), put(c.normal, r.normal), put(c.t1, r.t1), put(c.t2, r.t2);
  put(c.wrench.force, r.force), put(c.wrench.torque, r.torque);
  put(c.normal_wrench.force, r.normal_force), put(c.normal_wrench.torque, r.normal_torque);
  put(c.friction_wrench.force, r.friction_force), put(c.friction_wrench.torque, r.friction_torque);
  r.free_moment = c.free_moment, r.area = c.area, r.depth = c.depth;
  for (int i = 0; i < 3; i++) r.slip[i] = c.slip[i];
  return r;
}

// Adds to w the contact wrench on body 1 by body 2 (by all, if body2 < 0), about body 1's centre
// of mass, world axes.
inline void sum_wrench(const abData* d, int body1, int body2, double w[6]) {
  for (int i = 0; i < d->ncontact; i++) {
    const abContact& c = d->contacts[i];
    bool first = c.body1 == body1 && (body2 < 0 || c.body2 == body2);
    bool second = c.body2 == body1 && (body2 < 0 || c.body1 == body2);
    if (!first && !second) continue;
    double sign = first ? 1 : -1;
    const abVec3 f = c.wrench.force, t = c.wrench.torque, com = d->com[body1];
    double x = c.point.x - com.x, y = c.point.y - com.y, z = c.point.z - com.z;
    w[0] += sign * f.x, w[1] += sign * f.y, w[2] += sign * f.z;
    w[3] += sign * (t.x + y * f.z - z * f.y);
    w[4] += sign * (t.y + z * f.x - x * f.z);
    w[5] += sign * (t.z + x * f.y - y * f.x);
  }
}
