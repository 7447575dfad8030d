#include "engine.h"

#include <cstdarg>
#include <cstdio>

namespace bench {

void append(std::string& out, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  out += text;
}

const char* shape_name(abShapeType type) {
  switch (type) {
    case AB_SHAPE_PLANE:
      return "plane";
    case AB_SHAPE_SPHERE:
      return "sphere";
    case AB_SHAPE_CAPSULE:
      return "capsule";
    case AB_SHAPE_CYLINDER:
      return "cylinder";
    default:
      return "box";
  }
}

abVec3 rotate(abQuat q, abVec3 v) {
  abVec3 u = {q.x, q.y, q.z};
  auto cross = [](abVec3 a, abVec3 b) {
    return abVec3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  };
  abVec3 t = cross(u, v);
  t = {2 * t.x, 2 * t.y, 2 * t.z};
  abVec3 c = cross(u, t);
  return {v.x + q.w * t.x + c.x, v.y + q.w * t.y + c.y, v.z + q.w * t.z + c.z};
}

double kinetic_energy(const Body& b, abQuat q, abTwist t) {
  abVec3 w = rotate({q.w, -q.x, -q.y, -q.z}, t.ang);
  return 0.5 * b.mass * (t.lin.x * t.lin.x + t.lin.y * t.lin.y + t.lin.z * t.lin.z) +
         0.5 * (b.inertia.x * w.x * w.x + b.inertia.y * w.y * w.y + b.inertia.z * w.z * w.z);
}

void Scene::add_floor() {
  Body floor;
  floor.fixed = true;
  Geom plane;
  plane.type = AB_SHAPE_PLANE;
  plane.size = {10, 10, 1};
  floor.geom.push_back(plane);
  body.push_back(floor);
}

static int add(Scene& scene, Geom geom, double mass, abVec3 inertia, abPose pose, abTwist twist) {
  Body b;
  b.geom.push_back(geom);
  b.mass = mass;
  b.inertia = inertia;
  b.pose = pose;
  b.twist = twist;
  scene.body.push_back(b);
  return (int)scene.body.size() - 1;
}

int Scene::add_box(abVec3 half, double mass, abPose pose, abTwist twist) {
  Geom g;
  g.type = AB_SHAPE_BOX;
  g.size = half;
  double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z, k = mass / 3;
  return add(*this, g, mass, {k * (y + z), k * (x + z), k * (x + y)}, pose, twist);
}

int Scene::add_cylinder(double radius, double half, double mass, abPose pose, abTwist twist) {
  Geom g;
  g.type = AB_SHAPE_CYLINDER;
  g.size = {radius, half, 0};
  double across = mass * (radius * radius / 4 + half * half / 3);
  return add(*this, g, mass, {across, across, mass * radius * radius / 2}, pose, twist);
}

int Scene::add_capsule(double radius, double half, double mass, abPose pose) {
  Geom g;
  g.type = AB_SHAPE_CAPSULE;
  g.size = {radius, half, 0};
  // a cylinder and a ball of one density; half the ball lies 3 r / 8 beyond each end
  double cylinder = 2 * half / (2 * half + 4 * radius / 3) * mass, ball = mass - cylinder;
  double r2 = radius * radius, h2 = half * half;
  double across = cylinder * (r2 / 4 + h2 / 3) + ball * (0.4 * r2 + h2 + 0.75 * half * radius);
  double along = cylinder * r2 / 2 + ball * 0.4 * r2;
  return add(*this, g, mass, {across, across, along}, pose, {{0, 0, 0}, {0, 0, 0}});
}

}  // namespace bench
