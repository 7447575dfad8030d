// Scenario 2: a cylinder rolls and spins with line contact; whenever its spin about the vertical
// has stopped, an impulse of 3 N m s starts it again. The paper prints a zero quaternion as the
// initial orientation; its formulas for L and D mean the axis along x. e_r is not given: 1 m.
#include "xie-line-surface/xie.h"

enum { STEPS = 1000, SHOWN = 200 };

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-cylinder-roll", "A cylinder rolls and spins",
                   "Xie & Chakraborty, line and surface contact, scenario 2, Fig. 7");
  Run r = run_begin("xie-line-surface/cylinder_roll.xml", "cylinder");
  static double t[STEPS], L[STEPS], D[STEPS], spin[STEPS];
  double most_L = 0, most_D = 0, stop[STEPS], worst_period = 0;
  int nstop = 0, nline = 0;
  for (int i = 0; i < STEPS; i++) {
    bool stopped = fabs(run_motion(&r).ang.z) < 1e-9;
    if (stopped) stop[nstop++] = i * 0.01;
    run_step(&r, (abWrench){{0, 0, 0}, {0, 0, stopped ? 3 / 0.01 : 0}});
    const abContact* c = run_contact(&r);
    if (!c) continue;
    nline += c->kind == AB_PATCH_LINE;
    abVec3 q = run_position(&r);
    abQuat o = r.data->pose[r.body].q;
    // the axis is the body's x axis
    double ux = 1 - 2 * (o.y * o.y + o.z * o.z), uy = 2 * (o.x * o.y + o.w * o.z);
    t[i] = (i + 1) * 0.01;
    L[i] = ux * (c->point.x - q.x) + uy * (c->point.y - q.y);
    D[i] = uy * (c->point.x - q.x) - ux * (c->point.y - q.y);
    spin[i] = run_motion(&r).ang.z;
    most_L = fmax(most_L, fabs(L[i]));
    most_D = fmax(most_D, fabs(D[i]));
  }
  for (int i = 1; i < nstop; i++)
    worst_period = fmax(worst_period, fabs(stop[i] - stop[i - 1] - 0.11));
  experiment_claim(nline == STEPS, "line contact in every step", "throughout", "%d of %d", nline,
                   STEPS);
  experiment_claim(most_D < 1e-10, "the contact point is on the contact line: |D| [m]", "0", "%.1e",
                   most_D);
  experiment_claim(most_L <= 2.5, "and within it: |L| <= l/2 = 2.5 m", "smaller than l/2", "%.4f",
                   most_L);
  experiment_claim(nstop > 5 && worst_period < 1e-9, "periodic after about 0.5 s: period [s]",
                   "the same pattern", "0.11 (+- %.0e), %d times", worst_period, nstop);
  claim_solved(&r);
  experiment_figure("Contact point along the line (Fig. 7b)", "time [s]", "L [m]");
  experiment_series("L", "line", SHOWN, t, L);
  experiment_figure("Contact point beside the line (Fig. 7c)", "time [s]", "D [m]");
  experiment_series("D", "line", SHOWN, t, D);
  experiment_figure("Spin about the vertical", "time [s]", "w_z [rad/s]");
  experiment_series("w_z", "line", SHOWN, t, spin);
  run_end(&r);
  return experiment_end();
}
