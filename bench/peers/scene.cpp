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
    case AB_PLANE:
      return "plane";
    case AB_SPHERE:
      return "sphere";
    case AB_CAPSULE:
      return "capsule";
    case AB_CYLINDER:
      return "cylinder";
    default:
      return "box";
  }
}

void Scene::add_floor() {
  Body floor;
  floor.fixed = true;
  Geom plane;
  plane.type = AB_PLANE;
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
  g.type = AB_BOX;
  g.size = half;
  double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z, k = mass / 3;
  return add(*this, g, mass, {k * (y + z), k * (x + z), k * (x + y)}, pose, twist);
}

int Scene::add_cylinder(double radius, double half, double mass, abPose pose, abTwist twist) {
  Geom g;
  g.type = AB_CYLINDER;
  g.size = {radius, half, 0};
  double across = mass * (radius * radius / 4 + half * half / 3);
  return add(*this, g, mass, {across, across, mass * radius * radius / 2}, pose, twist);
}

int Scene::add_capsule(double radius, double half, double mass, abPose pose) {
  Geom g;
  g.type = AB_CAPSULE;
  g.size = {radius, half, 0};
  // a cylinder and a ball of one density; half the ball lies 3 r / 8 beyond each end
  double cylinder = 2 * half / (2 * half + 4 * radius / 3) * mass, ball = mass - cylinder;
  double r2 = radius * radius, h2 = half * half;
  double across = cylinder * (r2 / 4 + h2 / 3) + ball * (0.4 * r2 + h2 + 0.75 * half * radius);
  double along = cylinder * r2 / 2 + ball * 0.4 * r2;
  return add(*this, g, mass, {across, across, along}, pose, {{0, 0, 0}, {0, 0, 0}});
}

}  // namespace bench
