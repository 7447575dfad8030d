// Friction over an area: sliding, spinning, breaking away, stick-slip, and motion without contact.
#include <algorithm>

#include "cases.h"

namespace bench {
namespace {

const double step_sizes[] = {1e-3, 2e-3, 5e-3, 10e-3};

std::string at(const char* metric, double h) {
  char text[128];
  snprintf(text, sizeof text, "%s, h %g ms", metric, 1e3 * h);
  return text;
}

abQuat turn_z(double angle) { return {std::cos(angle / 2), 0, 0, std::sin(angle / 2)}; }

// --- A: a cube of 1 m, v = (4, 3) m/s, mu = 0.12: straight, v0 / (mu g) = 4.252 s, 10.629 m.

void cube_slide(const EngineKind& kind, const Sink& sink) {
  const double mu = 0.12, v0 = 5, path = v0 * v0 / (2 * mu * gravity);
  for (double h : step_sizes) {
    Scene scene;
    scene.h = h;
    scene.mu_static = scene.mu_kinetic = mu;
    scene.add_floor();
    int cube = scene.add_box({0.5, 0.5, 0.5}, 1, {{0, 0, 0.5}, unit_quat}, {{4, 3, 0}, {0, 0, 0}});
    Run run(kind, scene);
    double sideways = 0, yaw = 0, stop = NAN;
    while (run.time < 5 - h / 2 && run.step()) {
      abVec3 p = run.pose(cube).p;
      sideways = std::max(sideways, std::fabs(0.8 * p.y - 0.6 * p.x));
      yaw = std::max(yaw, std::fabs(run.yaw(cube)));
      abVec3 v = run.twist(cube).lin;
      if (std::isnan(stop) && std::hypot(v.x, v.y) < mu * gravity * h) stop = run.time;
    }
    abVec3 p = run.pose(cube).p;
    double went = 0.8 * p.x + 0.6 * p.y;
    sink.put(at("path [m]", h), run.valid(went), path);
    sink.put(at("stop time [s]", h), stop, v0 / (mu * gravity));
    sink.put(at("off the line [m]", h), run.valid(sideways));
    sink.put(at("yaw [rad]", h), run.valid(yaw));
    sink.work(h, run.valid(std::fabs(went / path - 1)), run.cost());
  }
}

// --- B: a plate slides and spins. Pressure over the face is affine in the plane, as a stiff
// elastic foundation has it; its moment carries the friction's, which acts below the centre of
// mass:
//   int p = m g,  int x p = -H Fx,  int y p = -H Fy,  F = -mu int p v/|v|,  T = -mu int p r x
//   v/|v|.

struct Plate {
  double a, height, mass, mu;
};
struct Flat {
  double x, y, yaw, vx, vy, w;
};

Flat plate_rate(const Plate& c, const Flat& s) {
  const int n = 32;
  double M[3][4] = {};  // pressure p0 + p1 x + p2 y from its three moments
  double d[3][3] = {};  // friction of each of the three pressures: force x, y, torque
  double cs = std::cos(s.yaw), sn = std::sin(s.yaw), cell = c.a / n, area = cell * cell;
  double moment[3][3] = {};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double bx = (i + 0.5) * cell - c.a / 2, by = (j + 0.5) * cell - c.a / 2;
      double x = cs * bx - sn * by, y = sn * bx + cs * by;
      double vx = s.vx - s.w * y, vy = s.vy + s.w * x, v = std::hypot(vx, vy) + 1e-12;
      double basis[3] = {1, x, y};
      for (int k = 0; k < 3; k++) {
        d[0][k] -= c.mu * basis[k] * vx / v * area;
        d[1][k] -= c.mu * basis[k] * vy / v * area;
        d[2][k] -= c.mu * basis[k] * (x * vy - y * vx) / v * area;
        for (int l = 0; l < 3; l++) moment[k][l] += basis[k] * basis[l] * area;
      }
    }
  double H = c.height / 2;
  for (int l = 0; l < 3; l++) {
    M[0][l] = moment[0][l];
    M[1][l] = moment[1][l] + H * d[0][l];
    M[2][l] = moment[2][l] + H * d[1][l];
  }
  M[0][3] = c.mass * gravity;
  for (int k = 0; k < 3; k++)  // diagonally dominant: no pivoting
    for (int r = 0; r < 3; r++) {
      if (r == k) continue;
      double f = M[r][k] / M[k][k];
      for (int l = k; l < 4; l++) M[r][l] -= f * M[k][l];
    }
  double p[3] = {M[0][3] / M[0][0], M[1][3] / M[1][1], M[2][3] / M[2][2]}, F[3] = {};
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) F[k] += d[k][l] * p[l];
  double I = c.mass * c.a * c.a / 6;
  return {s.vx, s.vy, s.w, F[0] / c.mass, F[1] / c.mass, F[2] / I};
}

Flat plate_end(const Plate& c, Flat s) {
  const double h = 2e-4;
  auto add = [](Flat a, double k, Flat b) {
    return Flat{a.x + k * b.x,   a.y + k * b.y,   a.yaw + k * b.yaw,
                a.vx + k * b.vx, a.vy + k * b.vy, a.w + k * b.w};
  };
  while (std::hypot(s.vx, s.vy) + c.a * std::fabs(s.w) > 4 * c.mu * gravity * h) {
    Flat k1 = plate_rate(c, s), k2 = plate_rate(c, add(s, h / 2, k1));
    s = add(s, h, k2);
  }
  // what is left stops within a few steps: along its own direction
  double v = std::hypot(s.vx, s.vy), left = v / (2 * c.mu * gravity);
  return {s.x + s.vx * left, s.y + s.vy * left, s.yaw + s.w * left, 0, 0, 0};
}

void slide_and_spin(const EngineKind& kind, const Sink& sink) {
  const Plate plate = {0.1, 0.02, 0.5, 0.3};
  const double yaws[] = {0, 15 * pi / 180, 30 * pi / 180, 45 * pi / 180};
  Flat end[4];
  for (int k = 0; k < 4; k++) end[k] = plate_end(plate, {0, 0, yaws[k], 0.5, 0, 10});
  for (double h : step_sizes) {
    double worst_x = 0, worst_turn = 0, worst = 0, seconds = 0, time = 0;
    Series place;
    for (int k = 0; k < 4; k++) {
      Scene scene;
      scene.h = h;
      scene.mu_static = scene.mu_kinetic = plate.mu;
      scene.add_floor();
      int b = scene.add_box({0.05, 0.05, 0.01}, plate.mass, {{0, 0, 0.01}, turn_z(yaws[k])},
                            {{0.5, 0, 0}, {0, 0, 10}});
      Run run(kind, scene);
      double yaw = yaws[k], last = yaws[k];
      while (run.time < 0.5 - h / 2 && run.step()) {
        double now = run.yaw(b), turned = now - last;
        yaw += turned - 2 * pi * std::round(turned / (2 * pi));
        last = now;
      }
      abVec3 p = run.pose(b).p;
      double miss = run.failed ? INFINITY : std::hypot(p.x - end[k].x, p.y - end[k].y) / end[k].x;
      worst_x = std::max(worst_x, miss);
      worst_turn = std::max(worst_turn, std::fabs((yaw - end[k].yaw) / (end[k].yaw - yaws[k])));
      place.add(p.x);
      if (k == 0 && h == 1e-3) {
        sink.put("x at yaw 0 [m], h 1 ms", p.x, end[k].x);
        sink.put("y at yaw 0 [m], h 1 ms", p.y, end[k].y);
        sink.put("turned at yaw 0 [rad], h 1 ms", yaw, end[k].yaw);
      }
      seconds += run.seconds(), time += run.time;
    }
    worst = std::max(worst_x, worst_turn);
    sink.put(at("worst place of 4 yaws (rel.)", h), worst_x);
    sink.put(at("worst turn of 4 yaws (rel.)", h), worst_turn);
    sink.work(h, worst, seconds / time);
  }
}

// --- C: a cube of 0.5 kg, 10 cm, mu = 0.5. Loads are applied in the plane of the floor, so that
// the pressure stays uniform: F0 = mu m g, T0 = mu m g a (sqrt 2 + asinh 1) / 6; combined, the
// limit surface is T(F) = min over c of mu N mean|p - c| - F c.

double mean_distance(double a, double c) {  // of the points of a square from (0, c)
  const int n = 400;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum += std::hypot((i + 0.5) * a / n - a / 2, (j + 0.5) * a / n - a / 2 - c);
  return sum / (n * n);
}

double limit_torque(double a, double N_mu, double F) {
  double low = 0, high = 10 * a;
  for (int k = 0; k < 60; k++) {  // convex in c
    double c1 = low + (high - low) / 3, c2 = high - (high - low) / 3;
    double t1 = N_mu * mean_distance(a, c1) - F * c1, t2 = N_mu * mean_distance(a, c2) - F * c2;
    (t1 < t2 ? high : low) = t1 < t2 ? c2 : c1;
    if (high - low < 1e-7 * a) break;
  }
  double c = (low + high) / 2;
  return N_mu * mean_distance(a, c) - F * c;
}

struct Loaded {
  double moved, speed, seconds, time;
};

// Settles for 0.1 s, then stands under the load; how far it went. Ends when it has gone `enough`.
Loaded load_cube(const EngineKind& kind, double h, double F, double T, double duration,
                 double enough = INFINITY) {
  Scene scene;
  scene.h = h;
  scene.add_floor();
  int cube = scene.add_box({0.05, 0.05, 0.05}, 0.5, {{0, 0, 0.05}, unit_quat});
  Run run(kind, scene);
  run.advance(0.1);
  abVec3 start = run.pose(cube).p;
  double yaw = run.yaw(cube);
  auto shift = [](abVec3 a, abVec3 b, double turn) {
    double d = std::hypot(a.x - b.x, a.y - b.y) + 0.05 * std::fabs(turn);
    return std::isfinite(d) ? d : 1e9;
  };
  run.engine->apply(cube, {{F, 0, 0}, {0, -0.05 * F, T}});
  double middle = run.time + duration / 2 - h / 2;
  while (run.time < middle && shift(run.pose(cube).p, start, run.yaw(cube) - yaw) < enough &&
         run.step())
    ;
  abVec3 half = run.pose(cube).p;
  double half_yaw = run.yaw(cube);
  double end = run.time + duration / 2 - h / 2;
  while (run.time < end && shift(run.pose(cube).p, start, run.yaw(cube) - yaw) < enough &&
         run.step())
    ;
  abVec3 p = run.pose(cube).p;
  return {shift(p, start, run.yaw(cube) - yaw),
          shift(p, half, run.yaw(cube) - half_yaw) / (duration / 2), run.seconds(), run.time};
}

// The multiple of the load at which it goes: an excess of 0.1 % moves the cube by 0.6 mm in 0.5 s.
// Most limits lie near 1, which is looked at first.
double breakaway(const EngineKind& kind, double h, double F, double T, Loaded& sum) {
  const double went = 0.6e-3;
  double low = 0, high = 3;
  auto look = [&](double s) {
    Loaded l = load_cube(kind, h, s * F, s * T, 0.5, went);
    sum.seconds += l.seconds, sum.time += l.time;
    (l.moved > went ? high : low) = s;
  };
  look(1.02);
  if (high < 3) look(0.98);
  while (high - low > 7e-4) look((low + high) / 2);
  return (low + high) / 2;
}

void breaking_away(const EngineKind& kind, const Sink& sink) {
  const double a = 0.1, N_mu = 2.45, T0 = N_mu * a * (std::sqrt(2) + std::asinh(1)) / 6;
  const double F1 = 1.47;
  static const double T1 = limit_torque(a, N_mu, F1);
  for (double h : step_sizes) {
    if (h == 2e-3) continue;
    Loaded sum = {};
    double force = breakaway(kind, h, N_mu, 0, sum), torque = breakaway(kind, h, 0, T0, sum);
    double both = breakaway(kind, h, F1, T1, sum);
    sink.put(at("breakaway force [N]", h), force * N_mu, N_mu);
    sink.put(at("breakaway torque [N m]", h), torque * T0, T0);
    sink.put(at("combined load / limit", h), both, 1);
    sink.put(at("creep at 0.8 of force [m/s]", h), load_cube(kind, h, 0.8 * N_mu, 0, 1).speed);
    sink.put(at("creep at 0.8 of torque [m/s at edge]", h),
             load_cube(kind, h, 0, 0.8 * T0, 1).speed);
    double error = std::max({std::fabs(force - 1), std::fabs(torque - 1), std::fabs(both - 1)});
    sink.work(h, error, sum.seconds / sum.time);
  }
}

// --- G: stick-slip: 2 kg on a spring of 400 N/m whose end moves with 0.0642 m/s, mu 0.265 / 0.160.
//   a = (mu0 - mu) m g / K, w = sqrt(K/m), t_slip = (2/w)(pi - atan(w a / V)), t_stick = 2 a / V
//   largest tension mu m g + sqrt((K a)^2 + K m V^2): the block starts at mu0 m g, the end moves on

void stick_slip(const EngineKind& kind, const Sink& sink) {
  const double m = 2, K = 400, V = 0.0642, mu0 = 0.265, mu = 0.160;
  const double a = (mu0 - mu) * m * gravity / K, w = std::sqrt(K / m);
  const double slip = 2 / w * (pi - std::atan(w * a / V)), stick = 2 * a / V;
  const double peak = mu * m * gravity + std::sqrt(K * K * a * a + K * m * V * V);
  for (double h : step_sizes) {
    Scene scene;
    scene.h = h;
    scene.mu_static = mu0, scene.mu_kinetic = mu;
    scene.add_floor();
    int b = scene.add_box({0.05, 0.05, 0.05}, m, {{0, 0, 0.05}, unit_quat});
    Run run(kind, scene);
    run.advance(0.1);
    double x0 = run.pose(b).p.x, t0 = run.time, high = 0, first = NAN, last = NAN;
    int cycles = 0;
    bool sliding = false;
    while (run.time < 5.1) {
      double F = K * (V * (run.time - t0) - (run.pose(b).p.x - x0));
      // at the height of the floor: the block is not tipped
      run.engine->apply(b, {{F, 0, 0}, {0, -0.05 * F, 0}});
      if (run.time > 1) high = std::max(high, F);
      if (!run.step()) break;
      double v = run.twist(b).lin.x;
      bool now = v > (sliding ? 0.05 : 0.5) * V;  // two thresholds: creep is not slip
      if (now && !sliding && run.time > 1) {
        if (std::isnan(first)) first = run.time;
        if (last != run.time) last = run.time, cycles++;
      }
      sliding = now;
    }
    double period = cycles > 1 ? (last - first) / (cycles - 1) : NAN;
    sink.put(at("period [s]", h), run.valid(period), slip + stick);
    sink.put(at("largest spring force [N]", h), run.valid(high), peak);
    double error = run.failed || std::isnan(period) ? NAN : std::fabs(period / (slip + stick) - 1);
    sink.work(h, error, run.cost());
  }
}

// --- H: torque-free tumbling about the middle axis: energy and angular momentum must stay.

void tumbling(const EngineKind& kind, const Sink& sink) {
  for (double h : step_sizes) {
    Scene scene;
    scene.h = h;
    scene.gravity = {0, 0, 0};
    int b = scene.add_box({0.1, 0.1, 0.1}, 1, {{0, 0, 0}, unit_quat}, {{0, 0, 0}, {0.01, 5, 0.01}});
    scene.body[(size_t)b].inertia = {1, 2, 3};
    Run run(kind, scene);
    double e0 = run.energy(), de = 0, dL = 0, L0[3] = {0.01, 10, 0.03};
    while (run.time < 20 - h / 2 && run.step()) {
      de = std::max(de, std::fabs(run.energy() / e0 - 1));
      abQuat q = run.pose(b).q;
      abVec3 w = run.twist(b).ang;
      // L = R I R^T w by the columns of R
      double R[3][3] = {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z),
                         2 * (q.x * q.z + q.w * q.y)},
                        {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z),
                         2 * (q.y * q.z - q.w * q.x)},
                        {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x),
                         1 - 2 * (q.x * q.x + q.y * q.y)}};
      double L[3] = {}, miss = 0;
      for (int c = 0; c < 3; c++) {
        double wc = (R[0][c] * w.x + R[1][c] * w.y + R[2][c] * w.z) * (c + 1);
        for (int r = 0; r < 3; r++) L[r] += R[r][c] * wc;
      }
      for (int r = 0; r < 3; r++) miss += (L[r] - L0[r]) * (L[r] - L0[r]);
      dL = std::max(dL, std::sqrt(miss) / 10);
    }
    sink.put(at("energy strays by (rel.)", h), run.valid(de));
    sink.put(at("angular momentum strays by (rel.)", h), run.valid(dL));
    sink.work(h, run.valid(std::max(de, dL)), run.cost());
  }
}

}  // namespace

const std::vector<Case> slide_cases = {
    {'A', "cube slide",
     "1 m cube, v = (4, 3) m/s, mu 0.12: straight on, 10.629 m in 4.252 s. A symplectic Euler step "
     "makes the path v0 h / 2 shorter, for every engine alike.",
     cube_slide, 10, false, 5},
    {'B', "slide with spin",
     "Plate 0.1 x 0.1 x 0.02 m, mu 0.3, 0.5 m/s and 10 rad/s at yaws 0, 15, 30, 45 degrees. "
     "Reference: the plane motion under an affine pressure over the whole face, integrated with a "
     "32 x 32 "
     "grid. Engines that put all load on the corners solve another problem; it is the one their "
     "user gets.",
     slide_and_spin, 15, false, 8},
    {'C', "breakaway and creep",
     "0.5 kg, 10 cm cube, mu 0.5; loads in the plane of the floor. Limits by bisection to 0.07 %, "
     "a load "
     "counts as "
     "held if the cube moves less than 0.6 mm in 0.5 s. Torque limit and limit curve: uniform "
     "pressure.",
     breaking_away, 20, false, 15},
    {'G', "stick-slip",
     "2 kg on a spring of 400 N/m pulled at 0.0642 m/s, mu 0.265 at rest, 0.160 sliding. Engines "
     "with one "
     "coefficient take the kinetic one and cannot stick-slip: what some show is the free "
     "oscillation, 0.444 s.",
     stick_slip, 12, false, 10},
    {'H', "torque-free tumbling", "Moments 1, 2, 3, w = (0.01, 5, 0.01), 20 s: largest deviations.",
     tumbling, 10, false, 5},
};

}  // namespace bench
