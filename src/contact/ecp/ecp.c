// The implicit model `ecp`: contact point, contact wrench and motion solved together.
//
// J. Xie and N. Chakraborty, "Rigid body dynamic simulation with line and surface contact", and
// "Rigid body motion prediction with planar non-convex contact patch" (ICRA 2019).
//
// A planar contact patch, whatever its pressure, acts on a body like one force at one point, its
// equivalent contact point (ECP), where normal pressure has no moment, and a friction moment about
// the normal. Geometry is taken at the END of the step: the bodies may touch there but not overlap.
// End twists, ECP, normal impulse p_n and friction impulses p_t, p_o, p_r satisfy together
//     momentum balance of each body                                          [their (7)]
//     friction of greatest dissipation within the ellipsoid
//         (p_t/e_t)^2 + (p_o/e_o)^2 + (p_r/e_r)^2 <= (mu p_n)^2              [(9)]
//     the ECP lies in both bodies, and a plane through it separates them     [(13)-(17)]
// A body of several geoms enters by its convex hull, which is exact against a plane: only extreme
// points can touch it (their second paper).
//
// The paper hands this to a general complementarity solver. Here the smallest features that touch
// (vertex, edge, face; line, rim, disc) are the modes: each is a smooth system of at most 12
// unknowns for one body on a fixed one, solved by Newton (newton.c) and accepted when all its
// inequalities hold (check.c); the search among modes is search.c, several bodies together
// are island.c and many.c, what those cannot solve path.c; many contacts at once are joint.c.
// Bodies that would not touch anything in free motion are settled first: their friction would be
// undefined (p_n = 0), and the paper's equations are vacuous there.
//
// What each strategy solves, of 1,014,269 islands of the model's tests, the papers' experiments,
// the drops of bench_ecp and bench_ecp_mcp, scenes/demo.xml and 690 throws
// (bench/ecp/strategies.sh):
//
//   islands (many.c)            tried    solved  why it stays
//   last step, 1 contact       844109    844033  most steps
//   last step, 2 to 8          158473    145348  the same
//   last step, more than 8       2949      2737  the same
//   sweeps                      21823     21762  finds modes from nothing
//   jointly, more than 8          328       257  the only one for heaps; the rest is demo.xml
//   path                           61        58  what sweeps miss
//   path, more than 8              69         1  heaps that joint.c misses; it is there already
//   out of an overlap               3         1  ten lines; the step after one that was not solved
//   jointly                         2         2  a line; what sweeps and path both miss
//
//   modes of one contact (search.c)
//   the last one              1024071   1016460  most steps
//   beside the last one          7602      6817  rolling and tipping
//   12 nearest                  44272     39455  impacts
//   beside the nearest           3357      2592  impacts of large faces
//   6 nearest, from sticking      914        89  branches between which Newton oscillates
//   all, 3 starts                2147        23  light contacts of sweeps
//   all azimuths                 2515         4  rims; nothing else finds these
//
// Left out after that count, for they solved none: a step followed from a shorter one (0 of 2), all
// combinations of modes (never reached), sweeps out of an overlap for more than 8 contacts (0 of
// 68); of modes, friction raised from none (0 of 1744), all of them from sticking (0 of 1744), and
// sliding in all directions (0 of 770). Without them 1,014,199 islands are solved as before.
//
// Why not ab_mcp, which solves such problems: a polyhedron on a plane fits it, by normal impulses
// at its vertices against their gaps, and it does well. Of 7275 steps of tumbling boxes
// (bench_ecp_mcp) it solves all, with 1.8 iterations a step (99.6 % by Newton's method alone), the
// modes all with 1.6. But those are iterations with 18 unknowns (10 + the number of vertices)
// against 12 at most, the vertices of the patch of two moving bodies are not known beforehand, and
// lines, rims and discs have none. Modes serve all of them alike; where modes cannot be guessed, in
// large islands, the complementarity problem is solved by its augmented Lagrangian, which leaves
// six unknowns a body however many contacts there are.
//
// Departures: (1) their multiplier l_k1 is always zero at contact, where it should single out a
// facet; the separating plane needs no such index. (2) sigma is not an unknown. (3) gyro = 1
// replaces their explicit gyroscopic term by exact balance of angular momentum, I+ w+ - I w = ...,
// and their arm at the end of the step by the mean arm of the step (lever.c, with the proofs);
// gyro = 0 is theirs in both. (4) e_r, if not given, is the mean distance of the patch from its
// centroid (patch.c). (5) Static friction may exceed kinetic. Restitution is 0, as theirs: the
// model is inelastic.
//
// What gyro = 1 keeps, beside linear momentum: angular momentum of bodies that touch each other, to
// rounding; energy of a body on fixed planes never grows without applied work, step by step;
// sticking matter does not move at all, and rolling costs nothing. Between moving bodies energy may
// grow by a term of second order in h, which no arm avoids (lever.c): in 2,050,000 steps of two
// and three bodies that fell some metres on each other and on a plane, at h = 2 to 10 ms, in one
// step by what lifts them 28 mm at most, where edges pass each other at 7 m/s. gyro = 0 lifts a
// pivoting body by the difference of arc and chord (up to 0.2 % of its energy over a drop at h = 19
// ms), and shifts the angular momentum of two bodies by h (v1 - v2) x P a step.
//
// A hull stands for its body exactly where the other body bears all corners of what touches with
// a plane or a face. Elsewhere the contact may be in a hole that the hull spans: the step then
// counts it in `nregularised` and says so in its note.
//
// Not modelled: contacts of joint trees (the step is reported as unconverged with residual 1, and
// the pairs are counted in `nregularised`).
// Tests: test_ecp_*.
#include <string.h>

#include "base/arena.h"
#include "contact/ecp/island.h"

enum { PARAM_TOLERANCE, PARAM_GYRO, PARAM_COUNT };

static const abParam param[PARAM_COUNT] = {
    {"tolerance", 1e-9, "1", "scaled residual at which a step counts as solved"},
    {"gyro", 1, "1",
     "rotation: 0 = the paper's (explicit gyroscopic term, arm at the end of the step), 1 = "
     "angular "
     "momentum exact, energy never grows on fixed planes (mean arm)"},
};

static size_t memory_bytes(const double* p) {
  (void)p;
  return sizeof(abEcpMemory);
}

static const abShape* whole_body(const abContactProblem* p, const abPair* pair, int side) {
  int b = side == 0 ? pair->body1 : pair->body2;
  const abShape* own = side == 0 ? pair->shape1 : pair->shape2;
  const abShape* hull = p->body[b].hull;
  if (p->response->mover_of_body[b] < 0 || !hull || !hull->poly || !own->poly) return NULL;
  // The hull of one geom is the geom; of several it is larger than each of them.
  return hull->poly->volume > own->poly->volume * (1 + 1e-9) ? hull : NULL;
}

// A pair is left to an earlier one if both speak of the same body as a whole and the same other.
static bool repeated(const abContactProblem* p, int i, bool hull1, bool hull2) {
  const abPair* a = &p->pair[i];
  if (!hull1 && !hull2) return false;
  for (int j = 0; j < i; j++) {
    const abPair* b = &p->pair[j];
    bool same1 = a->body1 == b->body1 && (hull1 || a->geom1 == b->geom1);
    bool same2 = a->body2 == b->body2 && (hull2 || a->geom2 == b->geom2);
    if (same1 && same2) return true;
  }
  return false;
}

static bool jointed(const abContactProblem* p, int body) {
  int m = p->response->mover_of_body[body];
  return m >= 0 && p->response->mover[m].jointed;
}

static int list_contacts(const abContactProblem* p, abEcpTouch* touch, int* refused) {
  int n = 0;
  for (int i = 0; i < p->npair; i++) {
    const abPair* pair = &p->pair[i];
    if (jointed(p, pair->body1) || jointed(p, pair->body2)) {
      ++*refused;
      continue;
    }
    const abShape* hull[2] = {whole_body(p, pair, 0), whole_body(p, pair, 1)};
    if (repeated(p, i, hull[0], hull[1])) continue;
    touch[n++] = (abEcpTouch){.pair = i, .hull = {hull[0], hull[1]}};
  }
  return n;
}

static const char text_jointed[] =
    "ecp does not model contacts of bodies with joints: they are left out";
static const char text_hull[] =
    "ecp takes a body of several geoms by its convex hull, which is valid for planar contact only: "
    "here it touches where the body may have a hole, and the contact is not to be relied on";

static void solve(const abContactProblem* p, abContactSolution* out) {
  abArenaMark mark = ab_arena_mark(p->scratch);
  for (int i = 0; i < p->nbody; i++) out->twist_end[i] = p->body[i].twist_free;
  abEcpTouch* touch = AB_TAKE(p->scratch, abEcpTouch, p->npair + 1);
  abEcpReport report = {.tolerance = p->param[PARAM_TOLERANCE],
                        .exact_momentum = p->param[PARAM_GYRO] != 0};
  int refused = 0;
  bool room = touch != NULL;
  if (room) {
    int n = list_contacts(p, touch, &refused);
    room = ab_ecp_islands(p, n, touch, out, &report);
  }
  out->iterations = report.iterations;
  out->residual = refused ? fmax(1, report.residual) : report.residual;
  out->nregularised = report.fallbacks + report.hulls + refused;
  out->note = refused ? text_jointed : report.hulls ? text_hull : NULL;
  out->status = !room                                           ? AB_STEP_BROKEN
                : refused || report.residual > report.tolerance ? AB_STEP_UNCONVERGED
                                                                : AB_STEP_OK;
  ab_arena_release(p->scratch, mark);
}

const abContactModel ab_model_ecp = {
    .name = "ecp",
    .source = "Xie & Chakraborty: line and surface contact; planar non-convex patches (2019)",
    .summary = "contact point, wrench and motion solved together, no penetration at step ends",
    .geometry = AB_GEOMETRY_PAIR,
    .moves_bodies = true,
    .nparam = PARAM_COUNT,
    .param = param,
    .memory_bytes = memory_bytes,
    .solve = solve,
};
