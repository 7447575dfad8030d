// How stiff a wall can be made to feel: the Z-width of the loop.
//
// A hand holds a plate that presses on the floor. Between hand and plate is the coupling, K and D;
// the hand is a light one (0.3 kg, 2 N s/m, 30 N/m: hardly any damping of its own) that feels the
// force one step late. The loop is stable where the hand comes to rest: where its speed a second
// later is less than half, or below 1 mm/s. For each D the K is sought up to which it is stable.
// What is felt there is not K alone: a contact that gives way is a spring in series. So the hand
// presses twice, and the stiffness is told by the difference of the forces over that of the hand's
// places.
//
// A spring and damper that are sampled are passive where b > K h / 2 + D (Colgate & Schenkel 1997),
// b the damping of the hand itself: drawn for comparison.
#define _POSIX_C_SOURCE 200809L
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/experiment.h"
#include "support/world.h"

enum { MOST = 9 };  // values of the damping

static const double hand_damping = 2;

typedef struct Setting {
  const char* contact;
  double h, stiffness, damping;
} Setting;

typedef struct Rest {
  double early, late;  // largest speed of the hand after 0.7 s and after 1.7 s
  double force, z;     // of the hand, mean after 1.7 s
} Rest;

// Presses, aiming at this height.
static Rest press(const Setting* s, double aim) {
  World w = world_begin(s->h, true);
  w.mu_static = w.mu_kinetic = 0.5;
  int plate =
      world_add_box(&w, (abVec3){0.05, 0.05, 0.02}, 0.3, (abPose){{0, 0, 0.021}, {1, 0, 0, 0}});
  world_start(&w, s->contact);
  char path[64], arguments[256];
  snprintf(path, sizeof path, "/tmp/abut-touch-%ld.csv", (long)getpid());
  FILE* f = fopen(path, "w");
  if (!f) exit(2);
  fprintf(f, "time,x,y,z\n0,0,0,0.021\n0.1,0,0,0.021\n0.4,0,0,%g\n", aim);
  fclose(f);
  snprintf(arguments, sizeof arguments, "%s,mass=0.3,stiffness=30,damping=%g,delay=%g,tremor=0",
           path, hand_damping, s->h);
  abError error = {0};
  abPointerDef def = {.body = plate,
                      .type = ab_find_device_type("virtual"),
                      .arguments = arguments,
                      .stiffness = s->stiffness,
                      .damping = s->damping,
                      .raw = true};
  abPointer* p = ab_pointer_open(w.model, w.data, &def, &error);
  if (!p) exit((fprintf(stderr, "%s\n", error.message), 2));
  Rest rest = {0};
  for (int i = 0; i < (int)(2 / s->h) && rest.early < 10 && rest.late < 10; i++) {
    memset(w.data->applied, 0, sizeof(abWrench) * (size_t)w.model->nbody);
    ab_pointer_drive(p, w.model, w.data, i * s->h);
    if (ab_step(w.model, w.data) == AB_STEP_BROKEN) rest.late = INFINITY;
    abVec3 v = ab_pointer_stat(p)->hand.twist.lin;
    double time = i * s->h, speed = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    if (time > 0.7 && time < 1) rest.early = fmax(rest.early, speed);
    if (time <= 1.7) continue;
    rest.late = fmax(rest.late, speed);
    rest.force += ab_pointer_stat(p)->felt.force.z * s->h / 0.3;
    rest.z += ab_pointer_stat(p)->hand.pose.p.z * s->h / 0.3;
  }
  // A hand that is thrown about is frozen, which is no rest.
  if (ab_pointer_stat(p)->nfreeze > 0) rest.late = INFINITY;
  ab_pointer_close(p);
  world_free(&w);
  remove(path);
  return rest;
}

static bool is_stable(const Setting* s) {
  Rest r = press(s, 0);
  return r.late < 1e-3 || (r.late < 0.5 * r.early && r.late < 0.05);
}

// What is felt at the largest stiffness up to which the loop is stable, found to 10 %. It is sought
// from below: above it there are islands of stiffness at which a hand happens to come to rest, and
// no device should rely on them.
static double felt_stiffness(Setting s) {
  double low = 0, high = 100;
  for (; high < 1e8; low = high, high *= 2) {
    s.stiffness = high;
    if (!is_stable(&s)) break;
  }
  while (low > 0 && high / low > 1.1) {
    s.stiffness = sqrt(low * high);
    *(is_stable(&s) ? &low : &high) = s.stiffness;
  }
  if (low == 0) return 0;
  s.stiffness = low;
  Rest a = press(&s, 0), b = press(&s, -0.05);
  return (b.force - a.force) / (a.z - b.z);
}

// A damping at which no stiffness is stable has no place on the axis of logarithms.
static void draw(const char* name, const char* style, int n, const double* damping,
                 const double* stiffness) {
  double x[MOST], y[MOST];
  int m = 0;
  for (int i = 0; i < n; i++)
    if (stiffness[i] > 0) x[m] = damping[i], y[m++] = stiffness[i];
  if (m > 0) experiment_series(name, style, m, x, y);
}

int main(int argc, char** argv) {
  experiment_begin(argc, argv, "hasegawa-touch", "How stiff a wall can be made to feel",
                   "Hasegawa & Sato 2004, section 5.8; Colgate & Schenkel 1997");
  const char* const contact[3] = {"patch", "volume-penalty", "point-penalty"};
  const double rate[2] = {1000, 5000};
  int n = experiment_is_short() ? 3 : MOST;
  double damping[MOST], best[2][3] = {{0}};
  for (int i = 0; i < n; i++) damping[i] = pow(10, -1 + 3.0 * i / (n - 1));
  for (int r = 0; r < 2; r++) {
    char title[96];
    snprintf(title, sizeof title, "Stiffest wall at %g kHz", rate[r] / 1000);
    experiment_figure(title, "damping of the coupling [N s/m]", "stiffness [N/m]");
    experiment_log_axes(true, true);
    for (int m = 0; m < 3; m++) {
      double k[MOST];
      for (int i = 0; i < n; i++) {
        k[i] = felt_stiffness((Setting){contact[m], 1 / rate[r], 0, damping[i]});
        best[r][m] = fmax(best[r][m], k[i]);
      }
      draw(contact[m], "line", n, damping, k);
    }
    double bound[MOST];
    for (int i = 0; i < n; i++) bound[i] = 2 * (hand_damping - damping[i]) * rate[r];
    draw("passive by Colgate & Schenkel", "dash", n, damping, bound);
  }
  for (int r = 0; r < 2; r++) {
    char text[96];
    snprintf(text, sizeof text, "renderable stiffness at %g kHz, best damping", rate[r] / 1000);
    experiment_claim(best[r][0] >= 0.9 * best[r][1] && best[r][0] >= 0.9 * best[r][2], text,
                     "patch is no softer than the paper's penalty and the point model (ours)",
                     "patch %.0f N/m, volume-penalty %.0f N/m, point-penalty %.0f N/m", best[r][0],
                     best[r][1], best[r][2]);
  }
  experiment_claim(best[1][0] > 5 * best[0][0], "a loop five times as fast renders a stiffer wall",
                   "5 times at a given damping (Colgate & Schenkel), 25 times where masses decide",
                   "patch: %.0f to %.0f N/m, %.1f times", best[0][0], best[1][0],
                   best[1][0] / best[0][0]);
  return experiment_end();
}
