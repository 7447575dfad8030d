// point-penalty: a spring and a damper at the deepest point, Hasegawa & Sato's baseline.
//
// The contact force acts where the overlap is thickest: at the polygon's vertex with the largest
// affine thickness. N = k d - b u, never a pull; friction by a spring that follows the sliding of
// the point up to mu N (Coulomb). A box that lies flat has four deepest points, and the force jumps
// between them: the vibration the paper shows is the method's, not the implementation's.
// Tests: test_volume_models.
#include "contact/coupling.h"

enum { DEEPEST_TOLERANCE, DEEPEST_K, DEEPEST_B, DEEPEST_K_RELATIVE, DEEPEST_B_RELATIVE };
static const abParam param[] = {
    {"tolerance", 1e-9, "1", "not used: the method has no iteration"},
    {"k", 0, "N/m", "spring coefficient; 0: k_relative m / h^2"},
    {"b", 0, "N s/m", "damper coefficient; 0: b_relative m / h"},
    {"k_relative", 0.05, "1", "k h^2 / m, m the reduced mass of the pair"},
    {"b_relative", 0.3, "1", "b h / m"},
};

typedef struct Memory {
  abVec3 stretch;         // of the friction spring
  unsigned char sliding;  // a flag; a byte, since a state may come from a file
} Memory;

static abVec3 deepest(const abPatch* patch) {
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < patch->nvert; i++) {
    double h = patch->h0 + patch->hx * patch->polygon[i].x + patch->hy * patch->polygon[i].y;
    if (h > most) most = h, best = i;
  }
  return patch->nvert > 0 ? ab_patch_point(patch, patch->polygon[best]) : patch->center;
}

// Spring friction with a Coulomb bound: static until mu_s N, then mu_k N with the spring dragged
// along.
static abVec3 friction(const abPair* pair, abVec3 slip, double k, double b, double N, double h,
                       Memory* m) {
  if (pair->fresh) *m = (Memory){{0, 0, 0}, false};
  abVec3 n = pair->patch.normal;
  m->stretch = v3_axpy(h, slip, v3_axpy(-v3_dot(n, m->stretch), n, m->stretch));
  abVec3 f = v3_neg(v3_add(v3_scale(k, m->stretch), v3_scale(b, slip)));
  double size = v3_norm(f);
  double limit = (m->sliding ? pair->surface.mu_kinetic : pair->surface.mu_static) * N;
  m->sliding = size > limit;
  if (m->sliding) {
    f = v3_scale(pair->surface.mu_kinetic * N / size, f);
    m->stretch = k > 0 ? v3_scale(-1 / k, v3_add(f, v3_scale(b, slip))) : v3_zero();
  }
  return f;
}

static void solve_pair(const abContactProblem* problem, const abPair* pair, abPairSolution* out) {
  const abPatch* patch = &pair->patch;
  double h = problem->h, m = ab_reduced_mass(problem, pair);
  const double* q = problem->param;
  double k = q[DEEPEST_K] > 0 ? q[DEEPEST_K] : q[DEEPEST_K_RELATIVE] * m / (h * h);
  double b = q[DEEPEST_B] > 0 ? q[DEEPEST_B] : q[DEEPEST_B_RELATIVE] * m / h;
  out->point = deepest(patch);
  abVec3 v = ab_pair_twist_now(problem, pair, out->point).lin;
  double u = v3_dot(patch->normal, v), N = k * patch->depth - b * u;
  Memory* memory = pair->memory;
  out->mode = AB_CONTACT_SEPARATING;
  if (!(N > 0)) {
    *memory = (Memory){{0, 0, 0}, false};
    return;
  }
  abVec3 slip = v3_axpy(-u, patch->normal, v), f = v3_zero();
  if (pair->surface.condim != 1) f = friction(pair, slip, k, b, N, h, memory);
  out->normal_part.force = v3_scale(h * N, patch->normal);
  out->impulse.force = v3_axpy(h, f, out->normal_part.force);
  out->mode = memory->sliding ? AB_CONTACT_SLIP : AB_CONTACT_STICK;
  out->slip[0] = v3_dot(patch->t1, v), out->slip[1] = v3_dot(patch->t2, v);
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  for (int i = 0; i < problem->npair; i++)
    solve_pair(problem, &problem->pair[i], &solution->pair[i]);
}

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(Memory);
}

const abContactModel ab_model_point_penalty = {
    .name = "point-penalty",
    .source = "Hasegawa & Sato 2004: the point-based baseline",
    .summary = "spring and damper at the deepest point (explicit)",
    .geometry = AB_GEOMETRY_VOLUME,
    .nparam = sizeof param / sizeof *param,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
