// Scenario 1 of Xie & Chakraborty with other simulators beside: the cube that slides, in `ecp`,
// ODE, Bullet and MuJoCo, each as a user would set it up, at the same h (the paper's Fig. 6c, 6d).
#include "slide.h"
#include "xie-line-surface/xie.h"

static const double h = 0.01, mu = 0.12, g = 9.8;

static void slide_ecp(Slide* out) {
  Run r = run_begin("xie-line-surface/cube_slide.xml", "cube");
  for (int i = 0; i < SLIDE_STEPS; i++) {
    run_step(&r, (abWrench){{0, 0, 0}, {0, 0, 0}});
    abQuat q = r.data->pose[r.body].q;
    out->x[i] = run_position(&r).x, out->y[i] = run_position(&r).y;
    out->yaw[i] = atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
  }
  run_end(&r);
}

typedef struct Error {
  double path[SLIDE_STEPS];  // of the distance along the path, in % of continuous motion
  double heading, yaw;       // largest: distance beside the path [m], turn [rad]
} Error;

static void measure(const Slide* s, Error* e) {
  e->heading = e->yaw = 0;
  for (int i = 0; i < SLIDE_STEPS; i++) {
    double t = (i + 1) * h, exact = 5 * t - 0.5 * mu * g * t * t;
    double along = 0.8 * s->x[i] + 0.6 * s->y[i];
    e->path[i] = 100 * fabs(along - exact) / exact;
    e->heading = fmax(e->heading, fabs(0.8 * s->y[i] - 0.6 * s->x[i]));
    e->yaw = fmax(e->yaw, fabs(s->yaw[i]));
  }
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-cube-slide-peers", "A cube slides: other simulators beside",
                   "Xie & Chakraborty, line and surface contact, scenario 1, Fig. 6c, 6d");
  static Slide s[4];
  static Error e[4];
  static double t[SLIDE_STEPS];
  static const char* name[4] = {"ecp", "ODE", "Bullet", "MuJoCo"};
  slide_ecp(&s[0]);
  slide_ode(h, &s[1]);
  slide_bullet(h, &s[2]);
  slide_mujoco(h, &s[3]);
  for (int i = 0; i < 4; i++) measure(&s[i], &e[i]);
  for (int i = 0; i < SLIDE_STEPS; i++) t[i] = (i + 1) * h;
  experiment_claim(e[0].heading < 1e-10 && e[0].yaw < 1e-10,
                   "ecp keeps its heading: off the line [m], turn [rad]", "as analytical",
                   "%.1e, %.1e", e[0].heading, e[0].yaw);
  experiment_claim(e[1].heading > 1e-2, "ODE changes its direction: off the line [m], turn [rad]",
                   "large error, direction changes", "%.3g, %.3g", e[1].heading, e[1].yaw);
  for (int i = 2; i < 4; i++)
    experiment_note("%s: off the line %.3g m, turn %.3g rad, path error after 4 s %.3g %%", name[i],
                    e[i].heading, e[i].yaw, e[i].path[SLIDE_STEPS - 1]);
  double most = 0;
  for (int i = 0; i < SLIDE_STEPS; i++) most = fmax(most, e[0].path[i]);
  experiment_claim(most < 0.3, "ecp: largest error of the path against continuous motion [%]",
                   "agrees well", "%.3f (h mu g t / 2 of the scheme)", most);
  experiment_claim(e[2].path[SLIDE_STEPS - 1] > e[2].path[SLIDE_STEPS / 4],
                   "Bullet's error grows with time: after 1 s, 4 s [%]", "increases", "%.3f, %.3f",
                   e[2].path[SLIDE_STEPS / 4], e[2].path[SLIDE_STEPS - 1]);
  experiment_figure("Path (Fig. 6c)", "q_x [m]", "q_y [m]");
  for (int i = 0; i < 4; i++) experiment_series(name[i], "line", SLIDE_STEPS, s[i].x, s[i].y);
  experiment_figure("Error of the path against continuous motion (Fig. 6d)", "time [s]", "[%]");
  for (int i = 0; i < 4; i++) experiment_series(name[i], "line", SLIDE_STEPS, t, e[i].path);
  return experiment_end();
}
