// A contact model of one's own: an elastic foundation. Each patch presses with kappa times the
// volume of the overlap, damped, without friction.
#include <abut/abut.h>
#include <stdio.h>

enum { KAPPA, DAMPING };
static const abParam param[] = {{"kappa", 1e7, "N/m3", "pressure per depth"},
                                {"damping", 2e4, "N s/m3", "pressure per speed"}};

static double dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Velocity of a body's point p at the start of the step, along n.
static double speed(const abContactBody* b, abVec3 p, abVec3 n) {
  abVec3 r = {p.x - b->com.x, p.y - b->com.y, p.z - b->com.z}, w = b->twist.ang;
  abVec3 turn = {w.y * r.z - w.z * r.y, w.z * r.x - w.x * r.z, w.x * r.y - w.y * r.x};
  return dot(b->twist.lin, n) + dot(turn, n);
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  for (int i = 0; i < problem->npair; i++) {
    const abPair* pair = &problem->pair[i];
    const abPatch* patch = &pair->patch;
    abVec3 n = patch->normal;  // from body 2 to body 1
    double u = speed(&problem->body[pair->body1], patch->center, n) -
               speed(&problem->body[pair->body2], patch->center, n);
    double f = problem->param[KAPPA] * patch->volume - problem->param[DAMPING] * patch->area * u;
    abPairSolution* out = &solution->pair[i];  // all zero: no contact
    out->point = patch->center;
    out->mode = f > 0 ? AB_CONTACT_SLIP : AB_CONTACT_SEPARATING;
    if (!(f > 0)) continue;
    f *= problem->h;  // impulses, on body 1
    out->impulse.force = out->normal_part.force = (abVec3){f * n.x, f * n.y, f * n.z};
  }
}

static size_t no_memory(const double* p) {
  (void)p;
  return 0;
}

static const abContactModel foundation = {.name = "foundation",
                                          .source = "an example",
                                          .summary = "elastic foundation without friction",
                                          .geometry = AB_GEOMETRY_VOLUME,
                                          .nparam = 2,
                                          .param = param,
                                          .memory_bytes = no_memory,
                                          .solve = solve};

int main(int argc, char** argv) {
  abError error;
  abModel* model = ab_load(argc > 1 ? argv[1] : "scenes/box_on_plane.xml", NULL, &error);
  abData* data = model ? ab_data_create(model, &error) : NULL;
  if (!data) {
    fprintf(stderr, "%s:%d: %s\n", error.file, error.line, error.message);
    return 1;
  }
  if (ab_set_contact_model(model, data, &foundation, &error) != AB_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  while (data->time < 3)
    if (ab_step(model, data) == AB_STEP_BROKEN) return 1;
  const abContact* c = data->contacts;
  double kappa = 0;
  ab_get_param(data, "kappa", &kappa, &error);
  if (data->ncontact == 1)
    printf("depth %.6f mm, by hand m g / (kappa A) = %.6f mm\n", 1e3 * c->depth,
           -1e3 * model->total_mass * model->gravity.z / (kappa * c->area));
  ab_data_free(data);
  ab_model_free(model);
  return 0;
}
