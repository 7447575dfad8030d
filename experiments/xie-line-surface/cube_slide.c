// Scenario 1: the cube that slides. The scheme itself has a closed form: the speed falls by h mu g
// a step, so v_k = v0 - k h mu g and q_k = h (k v0 - h mu g k (k + 1) / 2); the equivalent contact
// point runs ahead of the centre by mu H. The paper's "agrees with the analytical solution" is
// exact against this one; against the continuous motion the step's own error h mu g t / 2 remains.
#include "xie-line-surface/xie.h"

enum { STEPS = 400 };
static const double h = 0.01, mu = 0.12, g = 9.8, v0 = 5;

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-cube-slide", "A cube slides",
                   "Xie & Chakraborty, line and surface contact, scenario 1, Fig. 6");
  Run r = run_begin("xie-line-surface/cube_slide.xml", "cube");
  static double t[STEPS], ax[STEPS], ay[STEPS], x[STEPS], y[STEPS], error[STEPS];
  double worst_q = 0, worst_v = 0, worst_ecp = 0, turn = 0;
  for (int i = 0; i < STEPS; i++) {
    run_step(&r, (abWrench){{0, 0, 0}, {0, 0, 0}});
    int k = i + 1;
    double v = v0 - k * h * mu * g, s = h * (k * v0 - h * mu * g * k * (k + 1) / 2);
    abVec3 q = run_position(&r);
    abTwist m = run_motion(&r);
    const abContact* c = run_contact(&r);
    worst_q = fmax(worst_q, hypot(q.x - 0.8 * s, q.y - 0.6 * s));
    worst_v = fmax(worst_v, hypot(m.lin.x - 0.8 * v, m.lin.y - 0.6 * v));
    turn = fmax(turn, fabs(m.ang.z));
    if (c) worst_ecp = fmax(worst_ecp, hypot(c->point.x - q.x - 0.048, c->point.y - q.y - 0.036));
    t[i] = k * h;
    x[i] = q.x, y[i] = q.y;
    ax[i] = c ? c->point.x : NAN, ay[i] = c ? c->point.y : NAN;
    double exact = v0 * t[i] - 0.5 * mu * g * t[i] * t[i];
    error[i] = 100 * fabs(q.x - 0.8 * exact) / (0.8 * exact);
  }
  experiment_claim(worst_v < 1e-10, "speed falls by exactly h mu g a step [m/s]", "0", "%.1e",
                   worst_v);
  experiment_claim(worst_q < 1e-10, "position error against the scheme's closed form [m]", "0",
                   "%.1e", worst_q);
  experiment_claim(worst_ecp < 1e-10, "contact point mu H = 0.06 m ahead of the centre [m]",
                   "statics", "%.1e off", worst_ecp);
  experiment_claim(turn < 1e-10, "the cube does not turn [rad/s]", "0", "%.1e", turn);
  experiment_number("q_x after 4 s", "8.4548 (scheme), 8.4736 (continuous)", 8.454784,
                    run_position(&r).x, 1e-10, "m");
  experiment_number("error against continuous motion after 4 s", "h mu g t / 2 over the path",
                    100 * h * mu * g * 4 / 2 / (v0 * 4 - 0.5 * mu * g * 16), error[STEPS - 1], 1e-6,
                    "%");
  claim_solved(&r);
  experiment_figure("Position of the contact point (Fig. 6b)", "time [s]", "[m]");
  experiment_series("a_x", "line", STEPS, t, ax);
  experiment_series("a_y", "line", STEPS, t, ay);
  experiment_figure("Path (Fig. 6c)", "q_x [m]", "q_y [m]");
  experiment_series("ecp", "line", STEPS, x, y);
  experiment_figure("Error of q_x against continuous motion (Fig. 6d)", "time [s]", "[%]");
  experiment_series("ecp", "line", STEPS, t, error);
  run_end(&r);
  return experiment_end();
}
