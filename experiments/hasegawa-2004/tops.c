// Hasegawa & Sato 2004, section 5.9: a spinning top and a tippe top.
//
// The paper shows pictures; here each has a number to meet. The top spins on a round tip: its axis
// precesses at the rate of the heavy symmetric top. The tippe top is a ball whose centre of mass
// lies below its centre: friction turns it upside down when, with e the excentricity over the
// radius, A the transverse and C the axial moment of inertia, 1 - e < A/C < 1 + e.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/experiment.h"
#include "support/world.h"

static const double g = 9.8;

typedef struct Top {
  double mass, axial, transverse;
  double radius;  // of the round tip or ball
  double height;  // of the centre of mass above the ball's centre, along the axis
} Top;

// A body with a ball as its only surface and its inertia given.
static World make_top(const Top* top, double h, double tilt, double mu, const char* contact,
                      int* body) {
  World w = world_begin(h, true);
  abError error;
  abBodyDef def = ab_body_def();
  def.pose = (abPose){{0, 0, top->radius}, {cos(tilt / 2), sin(tilt / 2), 0, 0}};
  def.has_inertial = true;
  def.mass = top->mass;
  def.inertial.p.z = top->height;
  def.inertia[0] = def.inertia[1] = top->transverse, def.inertia[2] = top->axial;
  *body = ab_scene_add_body(w.scene, &def, &error);
  abGeomDef geom = ab_geom_def();
  geom.body = *body;
  geom.type = AB_SHAPE_SPHERE;
  geom.size.x = top->radius;
  geom.friction[0] = geom.mu_static = mu;
  abJointDef joint = ab_joint_def();
  joint.body = *body;
  joint.type = AB_JOINT_FREE;
  if (*body < 0 || ab_scene_add_geom(w.scene, &geom, &error) < 0 ||
      ab_scene_add_joint(w.scene, &joint, &error) < 0) {
    fprintf(stderr, "%s\n", error.message);
    exit(2);
  }
  world_start(&w, contact);
  return w;
}

static abVec3 axis_of(const World* w, int body) {
  const abMat3* R = &w->data->R[body];
  return (abVec3){R->m[0][2], R->m[1][2], R->m[2][2]};
}

static void spin(World* w, int body, double rate, double precession) {
  abVec3 n = axis_of(w, body);
  world_set_twist(w, body, (abTwist){{0, 0, 0}, {rate * n.x, rate * n.y, rate * n.z + precession}});
}

static void spinning_top(void) {
  // A disc of 5 cm and 0.2 kg on a needle with a tip of 0.5 mm, 3 cm high. The tip hardly moves, so
  // the point of support stands still.
  Top top = {.mass = 0.2, .axial = 2.5e-4, .transverse = 1.3e-4, .radius = 5e-4, .height = 0.03};
  double tilt = 0.3, rate = 200, h = experiment_is_short() ? 1e-4 : 5e-5, time = 1;
  int body;
  World w = make_top(&top, h, tilt, 0.0, "ecp", &body);
  // On a smooth floor the centre of mass stays above one place and the top turns about it: moment m
  // g l sin(tilt), inertia A about the centre of mass, so steady precession solves A cos(tilt) p^2
  // - C s p + m g l = 0 with the spin s about the axis.
  double a = top.transverse * cos(tilt) - 0, b = top.axial * rate, c = top.mass * g * top.height;
  double precession =
      (b - sqrt(b * b - 4 * (a - top.axial * cos(tilt)) * c)) / (2 * (a - top.axial * cos(tilt)));
  spin(&w, body, rate, precession);
  enum { MAX = 4000 };
  static double x[MAX], y[MAX];
  int n = 0, nstep = (int)(time / h);
  double turned = 0, last = atan2(axis_of(&w, body).y, axis_of(&w, body).x), lean_low = 10,
         lean_high = 0;
  for (int i = 0; i < nstep; i++) {
    ab_step(w.model, w.data);
    abVec3 u = axis_of(&w, body);
    double angle = atan2(u.y, u.x), d = angle - last;
    turned += d > 3 ? d - 6.283185307179586 : d < -3 ? d + 6.283185307179586 : d;
    last = angle;
    double lean = acos(u.z);
    lean_low = fmin(lean_low, lean), lean_high = fmax(lean_high, lean);
    if (i % (nstep / 2000) == 0 && n < MAX) x[n] = u.x, y[n++] = u.y;
  }
  experiment_figure("Axis of the spinning top, seen from above", "x", "y");
  experiment_series("axis", "line", n, x, y);
  experiment_number("the top precesses at the rate of the heavy symmetric top",
                    "steady precession on a smooth floor", precession, turned / time, 0.02,
                    "rad/s");
  experiment_claim(lean_high - lean_low < 0.05, "and neither falls nor nods", "steady",
                   "tilt between %.4f and %.4f rad", lean_low, lean_high);
  world_free(&w);
}

static void tippe_top(void) {
  double R = 0.02, e = 0.3;
  Top top = {.mass = 0.015, .axial = 2.4e-6, .transverse = 2.2e-6, .radius = R, .height = -e * R};
  double h = 2e-5, time = 10;
  int body;
  World w = make_top(&top, h, 0.5, 0.03, "ecp", &body);
  spin(&w, body, 100, 0);
  enum { MAX = 4000 };
  static double t[MAX], z[MAX];
  int n = 0, nstep = (int)(time / h), every = nstep / 2000;
  double lowest = 1, inverted = -1;
  for (int i = 0; i < nstep; i++) {
    ab_step(w.model, w.data);
    double up = axis_of(&w, body).z;
    if (up < lowest) lowest = up;
    if (inverted < 0 && up < -0.8) inverted = w.data->time;
    if (i % every == 0 && n < MAX) t[n] = w.data->time, z[n++] = up;
  }
  experiment_figure("Axis of the tippe top", "time [s]", "cosine of its tilt");
  experiment_series("tippe top", "line", n, t, z);
  experiment_claim(inverted > 0, "the tippe top turns upside down",
                   "it does (Fig. 17); 1 - e < A/C = 0.917 < 1 + e",
                   "cosine of the tilt down to %.3f, upside down after %.2f s", lowest, inverted);
  experiment_note(
      "Friction must let it slide: with a coefficient of 0.3 the ball soon rolls, and rolling "
      "keeps it upright.");
  world_free(&w);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-top", "Spinning top and tippe top",
                   "Hasegawa & Sato 2004, section 5.9, Fig. 17");
  spinning_top();
  tippe_top();
  return experiment_end();
}
