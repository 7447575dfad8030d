// The T-shaped bar: surface contact, tilted on to two points, on to another two, back to its face,
// and turned there. Two points of a non-convex body are an edge of its hull. The paper gives
// torques and forces as a figure; these are our reading of it, by the step (from 1).
#include "xie-line-surface/xie.h"

enum { STEPS = 500 };
static const double h = 0.01;

static abWrench schedule(int i) {
  abWrench a = {{0, 0, 0}, {0, 0, 0}};
  if (i >= 1 && i <= 15) a.torque.x = 4.4;
  if (i >= 16 && i <= 20) a.torque.y = 1;
  if (i >= 151 && i <= 165) a.torque.x = -4.4;
  if (i >= 166 && i <= 170) a.torque.y = 1;
  if (i < 300) return a;
  double t = 6.283185307179586 * h * (i - 1);
  return (abWrench){{5.25 * sin(t), 5.25 * cos(t), 0}, {0, 0, 0.5}};
}

// The body's own y coordinate of a contact point: which side of the bar it is on.
static double side_of(const Run* r, abVec3 a) {
  abQuat q = r->data->pose[r->body].q;
  abVec3 c = run_position(r), d = {a.x - c.x, a.y - c.y, a.z - c.z};
  return 2 * (q.x * q.y - q.w * q.z) * d.x + (1 - 2 * (q.x * q.x + q.z * q.z)) * d.y +
         2 * (q.y * q.z + q.w * q.x) * d.z;
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-t-bar", "A T-shaped bar changes its points of contact",
                   "Xie & Chakraborty, planar non-convex patch, Fig. 4");
  Run r = run_begin("xie-nonconvex/t_bar.xml", "bar");
  static double t[STEPS], a[3][STEPS], kind[STEPS], tau[3][STEPS], force[2][STEPS];
  double worst_z = 0, turned = 0, side1 = 0, side2 = 0;
  int pair1 = 0, pair2 = 0, face1 = 0, face2 = 0;
  for (int i = 1; i <= STEPS; i++) {
    abWrench w = schedule(i);
    run_step(&r, w);
    const abContact* c = run_contact(&r);
    abPatchKind k = c ? c->kind : AB_PATCH_NONE;
    if (c) worst_z = fmax(worst_z, fabs(c->point.z));
    if (k == AB_PATCH_LINE && !pair1) pair1 = i, side1 = side_of(&r, c->point);
    if (k == AB_PATCH_SURFACE && i > 20 && !face1) face1 = i;
    if (k == AB_PATCH_LINE && i > 151 && !pair2) pair2 = i, side2 = side_of(&r, c->point);
    if (k == AB_PATCH_SURFACE && pair2 && !face2) face2 = i;
    if (i > 300) turned += h * run_motion(&r).ang.z;
    t[i - 1] = i * h, kind[i - 1] = k;
    a[0][i - 1] = c ? c->point.x : NAN, a[1][i - 1] = c ? c->point.y : NAN;
    a[2][i - 1] = c ? c->point.z : NAN;
    tau[0][i - 1] = w.torque.x, tau[1][i - 1] = w.torque.y, tau[2][i - 1] = w.torque.z;
    force[0][i - 1] = w.force.x, force[1][i - 1] = w.force.y;
  }
  experiment_claim(pair1 > 0 && pair2 > face1 && face1 > pair1 && side1 < -0.02 && side2 > 0.02,
                   "two-point contact, later on two points of the other side, from [s]",
                   "snapshots at 0.51 and 1.76 s", "%.2f (y = %.3f m) and %.2f (y = %.3f m)",
                   pair1 * h, side1, pair2 * h, side2);
  experiment_claim(face1 > 0 && face2 > 0, "surface contact again at [s]", "before 3.01 s",
                   "%.2f and %.2f", face1 * h, face2 * h);
  experiment_claim(fabs(turned) > 0.5, "then turns on its face [rad]", "snapshot 3.26 s", "%.2f",
                   turned);
  experiment_claim(worst_z < 1e-12, "a_z stays zero [m]", "1e-12", "%.1e", worst_z);
  claim_solved(&r);
  experiment_figure("Torques (Fig. 4a left)", "time [s]", "[N m]");
  experiment_series("tau_x", "line", STEPS, t, tau[0]);
  experiment_series("tau_y", "line", STEPS, t, tau[1]);
  experiment_series("tau_z", "line", STEPS, t, tau[2]);
  experiment_figure("Forces (Fig. 4a right)", "time [s]", "[N]");
  experiment_series("F_x", "line", STEPS, t, force[0]);
  experiment_series("F_y", "line", STEPS, t, force[1]);
  experiment_figure("Contact point (Fig. 4b)", "time [s]", "[m]");
  experiment_series("a_x", "line", STEPS, t, a[0]);
  experiment_series("a_y", "line", STEPS, t, a[1]);
  experiment_series("a_z", "line", STEPS, t, a[2]);
  experiment_figure("Kind of contact: 0 none, 1 point, 2 line, 3 surface", "time [s]", "");
  experiment_series("kind", "line", STEPS, t, kind);
  run_end(&r);
  return experiment_end();
}
