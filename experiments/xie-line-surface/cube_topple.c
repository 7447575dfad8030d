// Scenario 3: a cube goes from its corner over an edge to a face; impulses at 1 s and at 1.8 s. The
// paper's units of the initial velocity (m and rad/s) are taken as m/s and rad/s, with which the
// corner starts exactly at rest; mass 1 kg and e_r = 1 m are assumed.
#include "xie-line-surface/xie.h"

enum { STEPS = 400 };

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-cube-topple", "A cube topples: point, line, surface",
                   "Xie & Chakraborty, line and surface contact, scenario 3, Fig. 8");
  Run r = run_begin("xie-line-surface/cube_topple.xml", "cube");
  double v = sqrt(6) / 4, s = sqrt(0.5), h = 0.01;
  run_twist(&r, (abVec3){-v, -v, 0}, (abVec3){s, -s, 0});
  static double t[STEPS], slip[3][STEPS], N[STEPS], ax[STEPS], ay[STEPS];
  int edge = 0, face = 0, parted = 0;
  for (int i = 0; i < STEPS; i++) {
    abWrench a = {{0, 0, 0}, {0, 0, 0}};
    if (i == 100) a = (abWrench){{s / h, -s / h, 0}, {0.5 / h, 0.5 / h, 0}};
    if (i == 180) a.force = (abVec3){10 / h, -10 / h, 0};
    run_step(&r, a);
    const abContact* c = run_contact(&r);
    abPatchKind kind = c ? c->kind : AB_PATCH_NONE;
    if (kind == AB_PATCH_LINE && !edge) edge = i + 1;
    if (kind == AB_PATCH_SURFACE && !face) face = i + 1;
    if (kind == AB_PATCH_NONE && !parted) parted = i + 1;
    t[i] = (i + 1) * h;
    for (int j = 0; j < 3; j++) slip[j][i] = c ? c->slip[j] : NAN;
    N[i] = c ? c->nfacet : 0;
    ax[i] = c ? c->point.x : NAN, ay[i] = c ? c->point.y : NAN;
  }
  experiment_claim(edge == 44, "point to line contact at [s]", "before the impulse at 1 s", "%.2f",
                   edge * h);
  experiment_claim(parted == 102, "the first impulse lifts it off at [s]", "-", "%.2f", parted * h);
  experiment_claim(face == 126, "line to surface contact at [s]", "before the impulse at 1.8 s",
                   "%.2f", face * h);
  experiment_number("q_x at 4 s (independent prototype)", "-", 18.3566252215, run_position(&r).x,
                    1e-9, "m");
  experiment_number("v_x at 4 s (independent prototype)", "-", 6.95095555952, run_motion(&r).lin.x,
                    1e-9, "m/s");
  claim_solved(&r);
  experiment_figure("Sliding velocity at the contact point (Fig. 8a)", "time [s]",
                    "[m/s], [rad/s]");
  experiment_series("v_t", "line", STEPS, t, slip[0]);
  experiment_series("v_o", "line", STEPS, t, slip[1]);
  experiment_series("v_r", "line", STEPS, t, slip[2]);
  experiment_series("N (active facets)", "dash", STEPS, t, N);
  experiment_figure("Contact point (Fig. 8b, 8c)", "time [s]", "[m]");
  experiment_series("a_x", "line", STEPS, t, ax);
  experiment_series("a_y", "line", STEPS, t, ay);
  run_end(&r);
  return experiment_end();
}
