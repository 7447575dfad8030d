// Finding the mode of one contact.
//
// Each mode is a smooth square system (newton.c) whose solution counts only if every inequality
// of the mode holds. The order of attempts, from usual to rare:
//   1 the mode of the last step, started from the last step's impulses;
//   2 what the violated inequality points to: a contact point beyond a face's border belongs to the
//     border's edge, beyond an edge's end to its vertex, a vertex that sinks in spans an edge or a
//     face with those already down;
//   3 the largest feature whose vertices would all sink in freely, and step 2 from there;
//   4 the nearest modes from one start each, and from sticking; then all modes, nearest first, each
//     from three starts, and rims from all azimuths.
// A step has no fallback of halving h: a pair of half steps has no single end twist that moves the
// bodies to where they end. A step that defeats all of these goes to many.c, or is reported, with
// its best iterate. How often each of them is needed: the table in ecp.c.
//
// Where several modes hold (a rod that slides with its tip ahead has up to five), separation was
// taken before anything else, and then the first found in the order above counts: it depends on the
// bodies and their history only, not on the frame.
// Tests: test_ecp_drop, test_ecp_roll.
#include "contact/ecp/ecp.h"

typedef struct Search {
  abEcpSystem* s;
  abEcpContact* c;
  int end;  // of the budget, in iterations of the system
  int nvisit;
  abEcpMode visit[AB_ECP_VISITS];
  double best;  // by how much the least bad solution fails its inequalities
  abEcpContact best_contact;
  abTwist best_twist[2];
} Search;

static abVec3 to_body(const abEcpBody* b, abVec3 x) { return m3_apply_t(&b->R, v3_sub(x, b->x)); }

static double clamp(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

bool ab_ecp_place(abEcpContact* c, abVec3 a) {
  if (c->rounded) return ab_ecp_round_place(c, a);
  if (c->cornered) {
    c->par[0] = 0;  // between the edge's faces
    return true;
  }
  int next = 0;
  for (int i = 0; i < 2; i++) {
    if (i == c->ref) continue;
    const abEcpFeature* f = &c->feature[i];
    abVec3 r = v3_sub(to_body(c->body[i], a), f->c);
    if (c->alongside && i == c->line) continue;  // only the other one has a parameter
    if (f->kind == AB_ECP_SEGMENT) c->par[next++] = clamp(v3_dot(f->u, r), f->half);
    if (f->kind == AB_ECP_FACE) c->par[0] = v3_dot(f->u, r), c->par[1] = v3_dot(f->v, r);
    if (f->kind == AB_ECP_RIM) c->par[next++] = atan2(v3_dot(f->v, r), v3_dot(f->u, r));
  }
  return ab_ecp_orient(c);
}

// Azimuth of a rim's lowest point over the plane at the present poses.
static double lowest_azimuth(const abEcpContact* c) {
  const abEcpFeature* f = &c->feature[1 - c->ref];
  const abEcpBody *bf = c->body[1 - c->ref], *br = c->body[c->ref];
  abVec3 N = m3_apply_t(&bf->R, m3_apply(&br->R, c->feature[c->ref].n));
  return atan2(-v3_dot(N, f->v), -v3_dot(N, f->u));
}

static bool solve_mode(Search* q, int max_iterations, bool damped) {
  abEcpSystem* s = q->s;
  abEcpContact* c = q->c;
  s->modes++;
  bool two = c->mu_static > c->mu_kinetic;
  c->mu = two ? c->mu_static : c->mu_kinetic;
  if (ab_ecp_newton(s, max_iterations, damped) != AB_ECP_SOLVED) return false;
  if (!two || c->stick) return true;
  c->mu = c->mu_kinetic;
  return ab_ecp_newton(s, max_iterations, damped) == AB_ECP_SOLVED;
}

// A guess of the impulses from the free motion: stop the approach, and friction against sliding.
static void guess_impulses(abEcpContact* c, double fraction) {
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  const abEcpBody *b0 = c->body[0], *b1 = c->body[1];
  double m = ab_ecp_reduced_mass(c), depth = 0;
  for (int i = 0; i < 2; i++) {
    if (c->ref == i) continue;
    abVec3 inward = i == 0 ? v3_neg(k.n) : k.n;
    abVec3 p = ab_ecp_support(&c->shape[i], c->body[i], inward);
    depth = fmax(depth, v3_dot(inward, v3_sub(p, k.a)));
  }
  depth = fmax(depth, -k.g[0] * (c->ref >= 0));
  c->pn = fraction * m * depth;
  abVec3 u = v3_sub(v3_add(b0->v, v3_cross(b0->w, v3_sub(k.a, b0->x))),
                    v3_add(b1->v, v3_cross(b1->w, v3_sub(k.a, b1->x))));
  double w[3] = {c->e[0] * v3_dot(k.t, u), c->e[1] * v3_dot(k.o, u),
                 c->e[2] * v3_dot(k.n, v3_sub(b0->w, b1->w))};
  double norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double size = norm > 0 ? fmin(m, c->mu * c->pn / norm) : 0;
  for (int j = 0; j < 3; j++) c->s[j] = -size * w[j];
}

static void free_start(Search* q) {
  for (int i = 0; i < q->s->nbody; i++) ab_ecp_body_free(q->s->body[i], q->s->exact_momentum);
}

static bool begin(Search* q, abEcpMode mode) {
  if (!ab_ecp_set_mode(q->c, mode)) return false;
  ab_ecp_layout(q->s);
  return true;
}

// From the free motion: parameters below the centre of mass, impulses guessed.
static bool begin_cold(Search* q, abEcpMode mode, double fraction) {
  free_start(q);
  if (!begin(q, mode)) return false;
  abEcpContact* c = q->c;
  abVec3 center = c->ref < 0 ? ab_ecp_witness(c) : c->body[1 - c->ref]->x;
  if (!ab_ecp_place(c, center)) return false;
  if (c->ref >= 0) {
    const abEcpFeature* f = &c->feature[1 - c->ref];
    if (f->kind == AB_ECP_RIM) c->par[0] = lowest_azimuth(c);
  }
  guess_impulses(c, fraction);
  return true;
}

static bool accepted(Search* q) {
  double worst;
  bool plausible = q->s->nbody < 2 || ab_ecp_plausible(q->s);
  if (!plausible) return false;
  if (ab_ecp_admissible(q->s, q->c, &worst)) return true;
  if (q->c->pn > 0 && worst < q->best) {
    q->best = worst;
    q->best_contact = *q->c;
    for (int i = 0; i < q->s->nbody; i++)
      q->best_twist[i] = (abTwist){q->s->body[i]->v, q->s->body[i]->w};
  }
  return false;
}

// Nothing held: leave the solution that fails least, or else the free motion without contact.
static bool give_up(Search* q) {
  free_start(q);
  if (!isfinite(q->best)) {
    q->c->pn = q->c->s[0] = q->c->s[1] = q->c->s[2] = 0;
    q->c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    return false;
  }
  *q->c = q->best_contact;
  for (int i = 0; i < q->s->nbody; i++) {
    q->s->body[i]->v = q->best_twist[i].lin, q->s->body[i]->w = q->best_twist[i].ang;
    ab_ecp_body_end(q->s->body[i], q->s->exact_momentum);
  }
  return false;
}

static bool exhausted(const Search* q) { return q->s->iterations > q->end; }

static bool visited(Search* q, abEcpMode mode) {
  for (int i = 0; i < q->nvisit; i++)
    if (ab_ecp_mode_equal(q->visit[i], mode)) return true;
  if (q->nvisit < AB_ECP_VISITS) q->visit[q->nvisit++] = mode;
  return false;
}

// Follows the violated inequalities from the present solution.
static bool follow(Search* q, int limit) {
  for (int i = 0; i < limit; i++) {
    abEcpMode next;
    if (!ab_ecp_neighbour(q->c, &next) || visited(q, next)) return false;
    abEcpKinematics k;
    ab_ecp_kinematics(q->c, &k);
    if (!begin(q, next) || !ab_ecp_place(q->c, k.a)) return false;
    if (!(q->c->pn > 0)) guess_impulses(q->c, 1);
    // A mode that is right is found in a few iterations; one that is not may never be.
    if (!solve_mode(q, 9, true) && !(begin_cold(q, next, 1) && solve_mode(q, 9, true)))
      return false;
    if (accepted(q)) return true;
  }
  return false;
}

// From above: sticking first, whatever it takes, then friction along the direction found.
static bool from_stick(Search* q, abEcpMode mode) {
  abEcpContact* c = q->c;
  if (!begin_cold(q, mode, 1)) return false;
  if (c->mu_kinetic <= 0) return false;
  c->mu = 1e9;
  for (int j = 0; j < 3; j++) c->s[j] = 0;
  if (ab_ecp_newton(q->s, 30, true) != AB_ECP_SOLVED || !(c->pn > 0)) return false;
  double size = sqrt(c->s[0] * c->s[0] + c->s[1] * c->s[1] + c->s[2] * c->s[2]);
  double ratio = size > c->mu_kinetic * c->pn ? c->mu_kinetic * c->pn / size : 1;
  for (int j = 0; j < 3; j++) c->s[j] *= ratio;
  return solve_mode(q, 40, true);
}

// A rim may be met anywhere: near upright its lowest point turns with any tilt, and it crosses
// another curve more than once.
static bool all_azimuths(Search* q, abEcpMode mode) {
  abEcpContact* c = q->c;
  bool rim[2] = {mode.kind[0] == AB_ECP_RIM, mode.kind[1] == AB_ECP_RIM};
  if ((!rim[0] && !rim[1]) || c->rounded) return false;
  int second = rim[0] && rim[1] ? AB_ECP_AZIMUTHS : 1;
  for (int i = 0; i < 2 * AB_ECP_AZIMUTHS * second && !exhausted(q); i++) {
    if (!begin_cold(q, mode, 1)) return false;
    int own = c->npar == 2 && !rim[0];  // which parameter is the rim's
    c->par[own] = 6.283185307179586 * (i % AB_ECP_AZIMUTHS) / AB_ECP_AZIMUTHS;
    if (second > 1)
      c->par[1] = 6.283185307179586 * (i / AB_ECP_AZIMUTHS % AB_ECP_AZIMUTHS) / AB_ECP_AZIMUTHS;
    if (!ab_ecp_orient(c)) continue;
    if (i >= AB_ECP_AZIMUTHS * second) {  // the bodies' centres may mistake the sign of n
      if (c->ref >= 0) return false;
      c->sign = -c->sign;
    }
    if (solve_mode(q, 15, true) && accepted(q)) return true;
  }
  return false;
}

static bool try_starts(Search* q, abEcpMode mode) {
  static const double fraction[] = {1, 0.1, 3};
  for (int i = 0; i < 3; i++)
    if (begin_cold(q, mode, fraction[i]) && solve_mode(q, 30, true)) {
      if (AB_ECP_COUNTED("mode: any, 3 starts", accepted(q))) return true;
      break;
    }
  return AB_ECP_COUNTED("mode: any, azimuths", all_azimuths(q, mode));
}

bool ab_ecp_search(abEcpSystem* s, const abEcpMode* last) {
  Search q = {
      .s = s, .c = s->contact[0], .end = s->iterations + AB_ECP_SEARCH_BUDGET, .best = INFINITY};
  if (last && begin(&q, *last) && ab_ecp_orient(q.c)) {
    visited(&q, *last);
    // From the last impulses; where Newton runs in circles between sticking and sliding, from
    // others.
    bool solved = solve_mode(&q, 12, false) ||
                  (begin_cold(&q, *last, 1) && solve_mode(&q, 12, true)) || from_stick(&q, *last);
    if (AB_ECP_COUNTED("mode: last", solved && accepted(&q))) return true;
    if (solved && AB_ECP_COUNTED("mode: beside the last", follow(&q, 6))) return true;
  }
  free_start(&q);
  abEcpMode candidate[AB_ECP_MODES];
  int n = ab_ecp_candidates(q.c, AB_ECP_MODES, candidate);
  for (int i = 0; i < n && i < 12; i++) {
    if (visited(&q, candidate[i])) continue;
    if (!begin_cold(&q, candidate[i], 1) || !solve_mode(&q, 12, true)) continue;
    if (AB_ECP_COUNTED("mode: nearest 12", accepted(&q))) return true;
    if (i == 0 && AB_ECP_COUNTED("mode: beside the nearest", follow(&q, 12))) return true;
  }
  for (int i = 0; i < n && i < 6; i++)
    if (AB_ECP_COUNTED("mode: nearest 6 from sticking",
                       from_stick(&q, candidate[i]) && accepted(&q)))
      return true;
  for (int i = 0; i < n && !exhausted(&q); i++)
    if (try_starts(&q, candidate[i])) return true;
  return AB_ECP_COUNTED("mode: none", give_up(&q));
}
