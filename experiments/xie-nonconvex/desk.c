// The desk on four feet. Four descriptions of the same contact:
//   hull       the model `ecp`: the body's convex hull, one equivalent contact point, one ellipsoid
//   quadratic  the reduced model for flat sliding: with H the height of the centre of mass and
//              p_n = m g h, moments about x and y place the point at r = -(H/p_n) (p_t, p_o); left
//              are e_t^2 mu p_n (v_x - w r_y) + p_t s = 0 and likewise for o and r, with s the
//              sliding speed: here Newton on (v_x, v_y, w)
//   union      each foot bears its own normal load >= 0 (least norm), friction still acts at the
//              point all loads together are equivalent to: by construction the same as quadratic
//   per foot   each foot with a friction ellipsoid of its own. That is another friction law: the
//              difference is shown, not demanded to vanish. (With four feet the loads, and with
//              spin even the motion, are then not unique; the loads of least norm are used.)
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "xie-line-surface/xie.h"

enum { STEPS = 400 };
static const double h = 0.01, mu = 0.22, g = 9.8, m = 15, Iz = 0.625, H = 0.45, e_r = 0.1;
static const double foot_at = 0.22, e_leg = 0.1;

typedef struct State {
  double vx, vy, w, theta;
} State;

static double clock_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static abWrench push(int i) {
  double t = 6.283185307179586 * h * i;
  return (abWrench){{22.5 * sin(t) + 22.5, 22.5 * cos(t) + 22.5, 0}, {0, 0, 2.1 * cos(t)}};
}

// Friction impulses p_t, p_o, p_r at the end velocities, and where the normal load acts.
typedef void (*Law)(const State* s, const double p[3], double out[3]);

static void one_ellipsoid(const State* s, const double p[3], double out[3]) {
  double pn = m * g * h, rx = -H * p[0] / pn, ry = -H * p[1] / pn;
  double vt = s->vx - s->w * ry, vo = s->vy + s->w * rx;
  double sigma = sqrt(vt * vt + vo * vo + e_r * e_r * s->w * s->w);
  out[0] = -mu * pn * vt / sigma;
  out[1] = -mu * pn * vo / sigma;
  out[2] = -mu * pn * e_r * e_r * s->w / sigma;
}

// Loads of least norm on the feet at (+-c, +-c) turned by theta, with total pn and moment pn r.
static void foot_loads(const State* s, double rx, double ry, double load[4], double x[4],
                       double y[4]) {
  double pn = m * g * h, co = cos(s->theta), si = sin(s->theta);
  static const double sx[4] = {1, -1, -1, 1}, sy[4] = {1, 1, -1, -1};
  for (int i = 0; i < 4; i++) {
    x[i] = foot_at * (co * sx[i] - si * sy[i]), y[i] = foot_at * (si * sx[i] + co * sy[i]);
    // the feet are symmetric: sum x = sum y = sum x y = 0, sum x^2 = sum y^2 = 4 c^2
    load[i] = pn * (0.25 + (rx * x[i] + ry * y[i]) / (4 * foot_at * foot_at));
  }
}

static double least_load;

static void union_of_feet(const State* s, const double p[3], double out[3]) {
  double pn = m * g * h, load[4], x[4], y[4], rx = 0, ry = 0;
  foot_loads(s, -H * p[0] / pn, -H * p[1] / pn, load, x, y);
  for (int i = 0; i < 4; i++) {
    rx += load[i] * x[i] / pn, ry += load[i] * y[i] / pn;
    least_load = fmin(least_load, load[i] / pn);
  }
  double vt = s->vx - s->w * ry, vo = s->vy + s->w * rx;
  double sigma = sqrt(vt * vt + vo * vo + e_r * e_r * s->w * s->w);
  out[0] = -mu * pn * vt / sigma, out[1] = -mu * pn * vo / sigma;
  out[2] = -mu * pn * e_r * e_r * s->w / sigma;
}

// p_r is taken about the point all loads are equivalent to, as for the others.
static void per_foot(const State* s, const double p[3], double out[3]) {
  double pn = m * g * h, load[4], x[4], y[4], rx = -H * p[0] / pn, ry = -H * p[1] / pn;
  foot_loads(s, rx, ry, load, x, y);
  out[0] = out[1] = out[2] = 0;
  for (int i = 0; i < 4; i++) {
    double vt = s->vx - s->w * y[i], vo = s->vy + s->w * x[i], n = mu * load[i];
    double sigma = sqrt(vt * vt + vo * vo + e_leg * e_leg * s->w * s->w);
    double ft = -n * vt / sigma, fo = -n * vo / sigma;
    out[0] += ft, out[1] += fo;
    out[2] += (x[i] - rx) * fo - (y[i] - ry) * ft - n * e_leg * e_leg * s->w / sigma;
  }
}

static bool solve3(double A[3][4]) {
  for (int k = 0; k < 3; k++) {
    int p = k;
    for (int i = k + 1; i < 3; i++)
      if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
    if (A[p][k] == 0) return false;
    for (int j = 0; j < 4; j++) {
      double t = A[k][j];
      A[k][j] = A[p][j], A[p][j] = t;
    }
    for (int i = 0; i < 3; i++) {
      if (i == k) continue;
      double f = A[i][k] / A[k][k];
      for (int j = k; j < 4; j++) A[i][j] -= f * A[k][j];
    }
  }
  for (int k = 0; k < 3; k++) A[k][3] /= A[k][k];
  return true;
}

// End velocities: Newton on F(p) = p - law(v(p)) with differences for the Jacobian. About the point
// the moment of the tangential forces at the centre of mass is r x p, which r ~ p makes zero.
static void reduced_step(Law law, State* s, abWrench load, double p[3]) {
  State now = *s;
  for (int it = 0; it < 60; it++) {
    double F[4][3], A[3][4], d[3];
    for (int c = 0; c < 4; c++) {
      double q[3] = {p[0], p[1], p[2]}, out[3];
      if (c > 0) d[c - 1] = 1e-7 * m * g * h * mu, q[c - 1] += d[c - 1];
      now.vx = s->vx + (q[0] + h * load.force.x) / m;
      now.vy = s->vy + (q[1] + h * load.force.y) / m;
      now.w = s->w + (q[2] + h * load.torque.z) / Iz;
      now.theta = s->theta;
      law(&now, q, out);
      for (int i = 0; i < 3; i++) F[c][i] = q[i] - out[i];
    }
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) A[i][j] = (F[j + 1][i] - F[0][i]) / d[j];
      A[i][3] = -F[0][i];
    }
    double size = fabs(F[0][0]) + fabs(F[0][1]) + fabs(F[0][2]);
    if (size < 1e-16 * m || !solve3(A)) break;
    for (int i = 0; i < 3; i++) p[i] += A[i][3];
  }
  s->vx += (p[0] + h * load.force.x) / m;
  s->vy += (p[1] + h * load.force.y) / m;
  s->w += (p[2] + h * load.torque.z) / Iz;
  s->theta += 2 * atan(0.5 * h * s->w);
}

static double reduced_run(Law law, State out[STEPS]) {
  State s = {0.3, 0.2, 0.5, 0};
  double p[3] = {0, 0, 0}, start = clock_us();
  for (int i = 0; i < STEPS; i++) {
    reduced_step(law, &s, push(i), p);
    out[i] = s;
  }
  return (clock_us() - start) / STEPS;
}

static State hull[STEPS], quadratic[STEPS], joined[STEPS], feet[STEPS];
static double t[STEPS], ecp_x[STEPS], ecp_y[STEPS];

static double worst(const State* a, const State* b, int which) {
  double most = 0;
  for (int i = 0; i < STEPS; i++) {
    double d = which == 0 ? a[i].vx - b[i].vx : which == 1 ? a[i].vy - b[i].vy : a[i].w - b[i].w;
    most = fmax(most, fabs(d));
  }
  return most;
}

static void compare(const char* text, const State* a, const State* b) {
  double x = worst(a, b, 0), y = worst(a, b, 1), w = worst(a, b, 2);
  experiment_claim(x < 1e-10 && y < 1e-10 && w < 1e-10, text, "within 1e-8",
                   "v_x %.1e, v_y %.1e, w_z %.1e", x, y, w);
}

static void figures(void) {
  static double v[4][STEPS], d[3][STEPS];
  for (int i = 0; i < STEPS; i++) {
    v[0][i] = hull[i].vx, v[1][i] = hull[i].w, v[2][i] = feet[i].vx, v[3][i] = feet[i].w;
    d[0][i] = hull[i].vx - quadratic[i].vx, d[1][i] = hull[i].w - quadratic[i].w;
    d[2][i] = hull[i].w - joined[i].w;
  }
  experiment_figure("v_x (Fig. 3c, top left)", "time [s]", "[m/s]");
  experiment_series("hull, quadratic, union", "line", STEPS, t, v[0]);
  experiment_series("an ellipsoid per foot", "dash", STEPS, t, v[2]);
  experiment_figure("w_z (Fig. 3c, top right)", "time [s]", "[rad/s]");
  experiment_series("hull, quadratic, union", "line", STEPS, t, v[1]);
  experiment_series("an ellipsoid per foot", "dash", STEPS, t, v[3]);
  experiment_figure("Differences (Fig. 3c, bottom)", "time [s]", "[m/s], [rad/s]");
  experiment_series("v_x: hull - quadratic", "line", STEPS, t, d[0]);
  experiment_series("w_z: hull - quadratic", "line", STEPS, t, d[1]);
  experiment_series("w_z: hull - union", "line", STEPS, t, d[2]);
  experiment_figure("Path of the contact point (Fig. 3b)", "x [m]", "y [m]");
  experiment_series("contact point", "points", STEPS, ecp_x, ecp_y);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "xie-desk", "A desk on four feet is pushed",
                   "Xie & Chakraborty, planar non-convex patch, Fig. 3");
  Run r = run_begin("xie-nonconvex/desk.xml", "desk");
  double hull_us = 0;
  for (int i = 0; i < STEPS; i++) {
    double start = clock_us();
    run_step(&r, push(i));
    hull_us += (clock_us() - start) / STEPS;
    abTwist v = run_motion(&r);
    hull[i] = (State){v.lin.x, v.lin.y, v.ang.z, 0};
    const abContact* c = run_contact(&r);
    t[i] = (i + 1) * h;
    ecp_x[i] = c ? c->point.x : NAN, ecp_y[i] = c ? c->point.y : NAN;
  }
  least_load = 1;
  double quadratic_us = reduced_run(one_ellipsoid, quadratic);
  double union_us = reduced_run(union_of_feet, joined);
  double feet_us = reduced_run(per_foot, feet);
  compare("hull against quadratic", hull, quadratic);
  compare("hull against the union of four feet, friction at the overall point", hull, joined);
  experiment_claim(least_load >= 0, "the feet bear it without pulling: least load / weight", ">= 0",
                   "%.3f", least_load);
  static const double table[4][3] = {{.184709400684729, .402800123291774, .262233716230924},
                                     {.207703187921622, .456866021747758, .175289174832418},
                                     {.233044736974073, .494420769767183, .136674804169282},
                                     {.256029767073033, .523920938275912, .117031889482568}};
  double off = 0;
  for (int i = 0; i < 4; i++) {
    const State* s = &hull[100 * (i + 1) - 1];
    off = fmax(off, fabs(s->vx - table[i][0]));
    off = fmax(off, fmax(fabs(s->vy - table[i][1]), fabs(s->w - table[i][2])));
  }
  experiment_claim(off < 1e-10, "against an independent prototype at 1, 2, 3, 4 s", "-", "%.1e",
                   off);
  double dx = worst(hull, feet, 0), dy = worst(hull, feet, 1), dw = worst(hull, feet, 2);
  experiment_claim(dw > 1e-3, "an ellipsoid per foot is another friction law: it differs by",
                   "within 1e-8 (claimed)", "v_x %.3f, v_y %.3f m/s, w_z %.2f rad/s", dx, dy, dw);
  claim_solved(&r);
  experiment_note(
      "time per step: hull %.1f us (whole step of the simulator), quadratic %.1f us, union "
      "%.1f us, per foot %.1f us; the paper: 5300, 2200, 48700 us (MATLAB, PATH)",
      hull_us, quadratic_us, union_us, feet_us);
  figures();
  run_end(&r);
  return experiment_end();
}
