// Why the implicit model does not hand its steps to a general complementarity solver.
//
// A box falls on a plane as ecp moves it (gyro = 0, the paper's equations). Each step with contact
// is also written as one mixed complementarity problem for ab_mcp (18 unknowns): end twist, normal
// impulses lambda_i >= 0 at the eight vertices against their gaps, friction p_t, p_o, p_r at the
// equivalent contact point and sigma >= 0 against the friction ellipsoid (Xie & Chakraborty's (9)),
// started from its last solution. Printed: how many of them are solved to 1e-9, by Newton's method
// alone and with all fallbacks, with how many iterations; beside them the model's own. Derivatives
// are differences, so only iterations compare, not times.
#include <abut/abut.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 18, DROPS = 30 };
static const double HALF[3] = {0.2, 0.15, 0.1}, MU = 0.3, G = 9.81;

typedef struct Step {
  double h, m, er, I[3][3], R[3][3], x[3], v[3], w[3];
} Step;

static void cross(const double a[3], const double b[3], double c[3]) {
  double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0], c[0] = x, c[1] = y;
}

static void apply(const double A[3][3], const double x[3], double y[3]) {
  for (int i = 0; i < 3; i++) y[i] = A[i][0] * x[0] + A[i][1] * x[1] + A[i][2] * x[2];
}

// Vertex i from the centre of mass at the end of the step: Cay(h w) R corner.
static void arm(const Step* s, const double w[3], int i, double r[3]) {
  double corner[3] = {i & 1 ? HALF[0] : -HALF[0], i & 2 ? HALF[1] : -HALF[1],
                      i & 4 ? HALF[2] : -HALF[2]};
  double a[3] = {0.5 * s->h * w[0], 0.5 * s->h * w[1], 0.5 * s->h * w[2]}, r0[3], c1[3], c2[3];
  double k = 2 / (1 + a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  apply(s->R, corner, r0);
  cross(a, r0, c1);
  cross(a, c1, c2);
  for (int j = 0; j < 3; j++) r[j] = r0[j] + k * (c1[j] + c2[j]);
}

static void residual(const Step* s, const double* x, double* f) {
  const double *v = x, *w = x + 3, *l = x + 6, *p = x + 14;
  double pn = 0, a[3] = {0, 0, 0}, r[3], t[3], u[3], Iw[3], dw[3], gyro[3], L[3];
  for (int i = 0; i < 3; i++) dw[i] = w[i] - s->w[i];
  apply(s->I, dw, L);
  apply(s->I, s->w, Iw);
  cross(s->w, Iw, gyro);
  for (int i = 0; i < 3; i++) {
    f[i] = s->m * (v[i] - s->v[i]);
    f[3 + i] = L[i] + s->h * gyro[i];
  }
  f[2] += s->h * s->m * G;
  for (int i = 0; i < 8; i++) {
    double n[3] = {0, 0, l[i]};
    arm(s, w, i, r);
    f[6 + i] = s->x[2] + s->h * v[2] + r[2];
    cross(r, n, t);
    for (int j = 0; j < 3; j++) f[j] -= n[j], f[3 + j] -= t[j], a[j] += l[i] * r[j];
    pn += l[i];
  }
  for (int j = 0; j < 3; j++) a[j] = fabs(pn) > 1e-12 ? a[j] / pn : 0;
  double q[3] = {p[0], p[1], 0};
  cross(a, q, t);
  cross(w, a, u);
  for (int j = 0; j < 3; j++) f[j] -= q[j], f[3 + j] -= t[j] + (j == 2) * p[2];
  double slide[3] = {v[0] + u[0], v[1] + u[1], w[2]}, e2[3] = {1, 1, s->er * s->er};
  f[17] = MU * MU * pn * pn;
  for (int j = 0; j < 3; j++) {
    f[14 + j] = e2[j] * MU * pn * slide[j] + p[j] * x[17];
    f[17] -= p[j] * p[j] / e2[j];
  }
}

static bool evaluate(void* context, const double* x, double* f, double* J) {
  const Step* s = context;
  residual(s, x, f);
  for (int j = 0; J && j < N; j++) {
    double y[N], f0[N], f1[N], d = 1e-6 * (fabs(x[j]) + (j < 6 ? 1 : s->m * s->h * G));
    memcpy(y, x, sizeof y);
    y[j] = x[j] - d, residual(s, y, f0);
    y[j] = x[j] + d, residual(s, y, f1);
    for (int i = 0; i < N; i++) J[i * N + j] = (f1[i] - f0[i]) / (2 * d);
  }
  return true;
}

typedef struct Tally {
  long steps, solved[2], iterations[2], own_solved, own;
} Tally;

static void solve(const Step* s, double* last, void* work, Tally* t) {
  double P = s->m * s->h * G, V = s->h * G, lower[N], xs[N], fs[N];
  for (int i = 0; i < N; i++) {
    lower[i] = (i >= 6 && i < 14) || i == 17 ? 0 : -INFINITY;
    xs[i] = i < 3 ? V : i < 6 ? V / 0.2 : i < 16 ? P : i == 16 ? 0.2 * P : V;
    fs[i] = i < 3 ? P : i < 6 ? 0.2 * P : i < 14 ? V * s->h : i < 16 ? P * V : P * P;
  }
  fs[16] = s->er * P * V;
  abMcpDef def = {.n = N, .evaluate = evaluate, .context = (void*)s, .lower = lower};
  def.x_scale = xs, def.f_scale = fs, def.tolerance = 1e-9;
  for (int full = 0; full < 2; full++) {
    double x[N];
    memcpy(x, last, sizeof x);
    for (int i = 0; i < 3; i++) x[i] = s->v[i], x[3 + i] = s->w[i];
    def.direct = !full;
    abSolveResult r = ab_mcp(&def, x, work);
    t->solved[full] += r.status == AB_SOLVE_OK;
    t->iterations[full] += r.iterations;
    if (full && r.status == AB_SOLVE_OK) memcpy(last, x, sizeof x);
  }
}

static double uniform(double low, double high) {
  return low + (high - low) * (double)rand() / (double)RAND_MAX;
}

static void drop(const abModel* m, abData* d, void* work, Tally* t) {
  ab_data_reset(m, d, -1);
  double q[4], norm = 0, last[N];
  for (int i = 0; i < 4; i++) q[i] = uniform(-1, 1), norm += q[i] * q[i];
  for (int i = 0; i < 4; i++) d->q[3 + i] = q[i] / sqrt(norm);
  for (int i = 0; i < 6; i++) d->v[i] = uniform(-1, 1) * (i < 3 ? 1 : 5);
  d->q[2] = 0.6;
  Step s = {.h = d->h, .m = 8000 * HALF[0] * HALF[1] * HALF[2], .er = 0.1};  // of water
  for (int i = 0; i < N; i++) last[i] = (i >= 6 && i < 14) * s.m * s.h * G / 8;
  for (int k = 0; k < 300; k++) {
    memcpy(s.I, d->inertia[1].m, sizeof s.I);
    memcpy(s.R, d->R[1].m, sizeof s.R);
    memcpy(s.x, &d->com[1], sizeof s.x);
    memcpy(s.v, &d->twist[1].lin, sizeof s.v);
    memcpy(s.w, &d->twist[1].ang, sizeof s.w);
    ab_step(m, d);
    if (d->ncontact == 0) continue;
    t->steps++;
    t->own_solved += d->stat.status == AB_STEP_OK;
    t->own += d->stat.iterations;
    solve(&s, last, work, t);
  }
}

static abModel* scene_of_box(void) {
  abScene* scene = ab_scene_create();
  ab_scene_option(scene)->timestep = 0.005;
  ab_scene_option(scene)->gravity = (abVec3){0, 0, -G};
  abGeomDef floor = ab_geom_def(), box = ab_geom_def();
  floor.type = AB_SHAPE_PLANE, floor.size = (abVec3){5, 5, 1}, floor.friction[0] = MU;
  ab_scene_add_geom(scene, &floor, NULL);
  abBodyDef body = ab_body_def();
  abJointDef joint = ab_joint_def();
  joint.body = box.body = ab_scene_add_body(scene, &body, NULL), joint.type = AB_JOINT_FREE;
  ab_scene_add_joint(scene, &joint, NULL);
  box.type = AB_SHAPE_BOX, box.friction[0] = MU;
  box.size = (abVec3){HALF[0], HALF[1], HALF[2]};
  ab_scene_add_geom(scene, &box, NULL);
  abModel* model = ab_scene_compile(scene, NULL);
  ab_scene_free(scene);
  return model;
}

int main(void) {
  abModel* m = scene_of_box();
  abData* d = m ? ab_data_create(m, NULL) : NULL;
  void* work = malloc(ab_mcp_workspace(N));
  if (!d || !work) return 1;
  if (ab_set_contact(m, d, "ecp", NULL) != AB_OK || ab_set_param(d, "gyro", 0, NULL) != AB_OK)
    return 1;
  Tally t = {0};
  srand(1);
  for (int i = 0; i < DROPS; i++) drop(m, d, work, &t);
  double n = (double)t.steps;
  printf("%ld steps of a box on a plane\n", t.steps);
  printf("ecp, modes of at most 12 unknowns     solved %8.4f %%, %6.1f iterations a step\n",
         100 * (double)t.own_solved / n, (double)t.own / n);
  printf("ab_mcp, 18 unknowns, Newton alone     solved %8.4f %%, %6.1f iterations a step\n",
         100 * (double)t.solved[0] / n, (double)t.iterations[0] / n);
  printf("ab_mcp, 18 unknowns, with fallbacks   solved %8.4f %%, %6.1f iterations a step\n",
         100 * (double)t.solved[1] / n, (double)t.iterations[1] / n);
  free(work);
  ab_data_free(d);
  ab_model_free(m);
  return 0;
}
