// Wakisaka & Sugihara 2017, simulation 2: which force along x and torque about z a resting cube
// holds by static friction.
//
// The cube (10 cm, 0.5 kg, mu_s 0.5) rests on a floor; force and torque act at the middle of its
// bottom face. For P = 4, 8, 16, 32 edges of the friction pyramid the largest torque it holds is
// found by bisection on the simulation itself: settle, load, look whether the contact sticks. It is
// compared with the exact limit of the polyhedral cone (a linear program over forces at the four
// corners) and with the circular cone, for which
//     T(F) = min_c mu N/2 (sqrt(b^2 + (b-c)^2) + sqrt(b^2 + (b+c)^2)) - F c,   b = a/2.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/experiment.h"
#include "support/world.h"

static const double a = 0.1, m = 0.5, mu = 0.5, g = 9.8;
enum { NF = 11 };

// --- the exact limits
// -----------------------------------------------------------------------------------------------

static double cone_objective(double F, double c) {
  double b = a / 2, N = m * g;
  return mu * N / 2 * (hypot(b, b - c) + hypot(b, b + c)) - F * c;
}

// Minimum over c of a convex function, by golden section.
static double circular_limit(double F) {
  double low = -50 * a, high = 50 * a, r = (sqrt(5) - 1) / 2;
  for (int i = 0; i < 200; i++) {
    double c1 = high - r * (high - low), c2 = low + r * (high - low);
    if (cone_objective(F, c1) < cone_objective(F, c2))
      high = c2;
    else
      low = c1;
  }
  return cone_objective(F, low);
}

// Largest torque with forces at the corners inside pyramids of P edges, the first along x + `turn`:
// maximise t subject to sum eps_lp K_l^T phi_p = (F, 0, N, 0, 0, t), eps >= 0. Lengths in units of
// a, forces of N.
static double pyramid_limit(double F, int P, double turn) {
  int n = 4 * P + 1;
  double *A = calloc((size_t)(6 * n), sizeof *A), *c = calloc((size_t)n, sizeof *c),
         *x = calloc((size_t)n, sizeof *x);
  void* workspace = malloc(ab_lp_workspace(6, n));
  for (int l = 0; l < 4; l++)
    for (int p = 0; p < P; p++) {
      double rx = l & 1 ? 0.5 : -0.5, ry = l & 2 ? 0.5 : -0.5,
             angle = 2 * 3.141592653589793 * p / P + turn;
      double fx = mu * cos(angle), fy = mu * sin(angle);
      const double column[6] = {fx, fy, 1, ry, -rx, rx * fy - ry * fx};
      for (int i = 0; i < 6; i++) A[6 * (l * P + p) + i] = column[i];
    }
  A[6 * (n - 1) + 5] = -1;
  c[n - 1] = -1;
  const double b[6] = {F / (m * g), 0, 1, 0, 0, 0};
  abLpDef def = {.nrow = 6, .ncol = n, .a = A, .b = b, .c = c};
  double limit = ab_lp(&def, x, NULL, workspace).status == AB_SOLVE_OK ? x[n - 1] * m * g * a : 0;
  free(workspace), free(x), free(c), free(A);
  return limit;
}

// --- the simulation
// ---------------------------------------------------------------------------------------------------

typedef struct Cube {
  World w;
  int body;
} Cube;

static Cube resting_cube(int P) {
  Cube c = {.w = world_begin(1e-3, true)};
  c.w.mu_static = mu, c.w.mu_kinetic = 0.3;
  c.body =
      world_add_box(&c.w, (abVec3){a / 2, a / 2, a / 2}, m, (abPose){{0, 0, a / 2}, {1, 0, 0, 0}});
  world_start(&c.w, "volume-qp");
  world_set_param(&c.w, "pyramid", P);
  world_run(&c.w, 1);
  return c;
}

// Loads the resting cube at the contact's own point, so that the load has no tilting moment there,
// and says whether it sticks. The force points `angle` away from x.
static bool holds(Cube* c, double F, double T, double angle) {
  abData* d = c->w.data;
  ab_data_reset(c->w.model, d, -1);
  world_run(&c->w, 0.8);
  double arm = d->com[c->body].z - d->contacts[0].point.z, fx = F * cos(angle), fy = F * sin(angle);
  d->applied[c->body] = (abWrench){{fx, fy, 0}, {fy * arm, -fx * arm, T}};
  world_run(&c->w, 0.005);
  return d->ncontact == 1 && d->contacts[0].mode == AB_CONTACT_STICK;
}

// The largest torque held beside the force F.
static double largest_torque(Cube* c, double F) {
  double low = 0, high = 1.5 * mu * m * g * a;
  for (int i = 0; i < 26; i++) {
    double middle = 0.5 * (low + high);
    *(holds(c, F, middle, 0) ? &low : &high) = middle;
  }
  return low;
}

static double largest_force(Cube* c, double angle) {
  double low = 0, high = 2 * mu * m * g;
  for (int i = 0; i < 26; i++) {
    double middle = 0.5 * (low + high);
    *(holds(c, middle, 0, angle) ? &low : &high) = middle;
  }
  return low;
}

static void region(int P, const double* F, double* worst) {
  Cube c = resting_cube(P);
  double T[NF], exact[NF];
  int n = experiment_is_short() ? 3 : NF;
  *worst = 0;
  for (int i = 0; i < n; i++) {
    const double load = i == 0 ? 0 : F[i];
    exact[i] = pyramid_limit(load, P, 0);
    T[i] = largest_torque(&c, load);
    *worst = fmax(*worst, fabs(T[i] - exact[i]) / (mu * m * g * a));
  }
  char name[64];
  snprintf(name, sizeof name, "P = %d, simulated", P);
  experiment_series(name, "points", n, F, T);
  snprintf(name, sizeof name, "P = %d, exact", P);
  experiment_series(name, "line", n, F, exact);
  world_free(&c.w);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "wakisaka-2", "Force and torque a resting cube holds",
                   "Wakisaka & Sugihara 2017, simulation 2, Fig. 10");
  double F[NF], T[NF];
  for (int i = 0; i < NF; i++) F[i] = 2.449 * i / (NF - 1), T[i] = circular_limit(F[i]);
  experiment_figure("Static friction region", "force along x [N]", "torque about z [N m]");
  experiment_series("circular cone, exact", "dash", NF, F, T);
  const int P[] = {4, 8, 16, 32};
  for (int i = 0; i < 4; i++) {
    double worst;
    region(P[i], F, &worst);
    char text[128];
    snprintf(text, sizeof text,
             "the region held in simulation is that of the pyramid with %d edges", P[i]);
    // In units of mu N a; the cone test's own tolerance is 1e-7.
    experiment_claim(worst <= 1e-6, text, "the same curve (exact: linear program)",
                     "largest difference %.1e of mu N a", worst);
  }
  Cube c = resting_cube(8);
  double along_edge = largest_force(&c, 0), along_face = largest_force(&c, 3.141592653589793 / 8);
  world_free(&c.w);
  experiment_number("largest force without torque, P = 8, an edge of the pyramid along it",
                    "2.45 N exact; the paper found 2.2 N", 2.45, along_edge, 1e-5, "N");
  experiment_number("the same with a face of the pyramid along it",
                    "mu N cos(pi/8) = 2.2635 N: the paper's 2.2 N",
                    mu * m * g * cos(3.141592653589793 / 8), along_face, 1e-5, "N");
  experiment_note(
      "The cone over the corners holds more torque than uniform pressure can (0.0937 N m): any "
      "pressure distribution is "
      "admissible to it. The default model patch uses the pressure it computes.");
  return experiment_end();
}
