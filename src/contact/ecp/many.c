// Several contacts at once.
//
// Which contacts bear is found first with the motion free of contact: those that would overlap are
// active. One active contact is the plain search (search.c). Several are coupled through their
// bodies:
//   1 all with the modes and impulses of the last step, one Newton system for the island: at rest
//     this does all, a stack of ten costs one iteration a step;
// else, up to 8 contacts,
//   2 block Gauss-Seidel: each contact in turn is solved exactly with the impulses of the others
//     held fixed, which finds modes and good impulses but converges only linearly (a stack of N
//     needs some N^2 sweeps, and 1e-5 is as far as it gets in reasonable time);
//   3 after every few sweeps the Newton system of the whole island with the modes found, which
//     ends at rounding level: the residual reported is that of the full problem;
//   4 what is not solved so is followed along a path from a motion without contact (path.c);
// and where more contacts bear
//   5 all at once, modes included (joint.c); up to 36 contacts the path follows where that
//     fails.
// Small islands try 5 after 4. How often each is needed: the table in ecp.c.
// After each solution contacts left out are tested for overlap and taken in, and those that pull
// are let go. Where contacts share a load that statics does not divide, their impulses are one
// choice of many (near the last one); the motion is what is unique. The cost of a step that is not
// solved is bounded by a budget (AB_ECP_BUDGET_MOST); its best iterate is used and its residual
// reported.
// Tests: test_ecp_bodies, test_ecp_throw.
#include <string.h>

#include "contact/ecp/island.h"

void ab_ecp_new_budget(abEcpIsland* island, double share) {
  island->system.work = 0;
  double n = island->ncontact;  // sweeps needed grow with the island, too
  island->system.work_limit =
      share * fmin(AB_ECP_BUDGET_MOST, AB_ECP_BUDGET * (10 + n) * (1 + n / 20));
}

bool ab_ecp_exhausted(const abEcpIsland* island) {
  return island->system.work > island->system.work_limit;
}

void ab_ecp_all_bodies(abEcpIsland* island) {
  abEcpSystem* s = &island->system;
  s->nbody = island->nbody;
  for (int i = 0; i < island->nbody; i++) s->body[i] = &island->body[i];
}

// Active and with a mode: a contact just taken in has none until it is first solved.
bool ab_ecp_bears(const abEcpContact* c) { return c->active && c->mode.kind[0] != AB_ECP_NONE; }

static void active_contacts(abEcpIsland* island) {
  abEcpSystem* s = &island->system;
  s->ncontact = 0;
  for (int i = 0; i < island->ncontact; i++)
    if (ab_ecp_bears(&island->contact[i])) s->contact[s->ncontact++] = &island->contact[i];
}

static void clear_external(abEcpIsland* island) {
  for (int i = 0; i < island->nbody; i++)
    island->body[i].f_ext = island->body[i].tau_ext = v3_zero();
}

static int take_in_nearer(abEcpIsland* island, double gap) {
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (c->active || ab_ecp_gap(c) >= gap) continue;
    c->active = true;
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    c->mode = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
    n++;
  }
  return n;
}

int ab_ecp_take_in_overlapping(abEcpIsland* island) {
  return take_in_nearer(island, -AB_ECP_ROUNDING);
}

static bool solve_single(abEcpIsland* island, abEcpContact* c, const abEcpMode* last) {
  abEcpSystem* s = &island->system;
  s->nbody = 0;
  for (int i = 0; i < 2; i++)
    if (c->body[i]->moving) s->body[s->nbody++] = c->body[i];
  s->ncontact = 1;
  s->contact[0] = c;
  return ab_ecp_search(s, last);
}

static void external_loads(abEcpIsland* island, const abEcpContact* except) {
  clear_external(island);
  for (int i = 0; i < island->ncontact; i++) {
    const abEcpContact* c = &island->contact[i];
    if (!c->active || c == except || !(c->pn > 0)) continue;
    for (int side = 0; side < 2; side++) {
      abEcpBody* b = c->body[side];
      if (!b->moving) continue;
      double sign = side == 0 ? 1 : -1;
      b->f_ext = v3_axpy(sign, c->impulse, b->f_ext);
      b->tau_ext = v3_axpy(sign, c->moment[side], b->tau_ext);
    }
  }
}

static void keep_impulse(abEcpContact* c) {
  c->impulse = c->moment[0] = c->moment[1] = v3_zero();
  if (!ab_ecp_bears(c)) return;
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  abEcpLevers lever;
  ab_ecp_levers(c, &k, 0, NULL, &lever);
  c->impulse = ab_ecp_impulse(c, &k);
  for (int side = 0; side < 2; side++)
    c->moment[side] = v3_axpy(c->e[2] * c->s[2], k.n, v3_cross(lever.arm[side], c->impulse));
}

static void sweep(abEcpIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (!c->active) continue;
    external_loads(island, c);
    bool known = c->mode.kind[0] != AB_ECP_NONE && c->pn > 0;
    abEcpMode last = c->mode;
    for (int side = 0; side < 2; side++)
      ab_ecp_body_free(c->body[side], island->system.exact_momentum);
    if (ab_ecp_gap(c) >= 0) {
      c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
      c->impulse = c->moment[0] = c->moment[1] = v3_zero();
      continue;
    }
    solve_single(island, c, known ? &last : NULL);
    keep_impulse(c);
  }
}

static abEcpVerdict whole_verdict(abEcpIsland* island) {
  clear_external(island);
  ab_ecp_all_bodies(island);
  active_contacts(island);
  return ab_ecp_check(&island->system);
}

bool ab_ecp_holds(abEcpIsland* island) {
  abEcpVerdict v = whole_verdict(island);
  return v.residual <= AB_ECP_ENOUGH && v.violated <= AB_ECP_ENOUGH;
}

abEcpNewton ab_ecp_newton_island(abEcpIsland* island, bool damped) {
  clear_external(island);
  ab_ecp_all_bodies(island);
  active_contacts(island);
  abEcpSystem* s = &island->system;
  ab_ecp_layout(s);
  s->modes++;
  return ab_ecp_newton(s, damped ? 30 : 12, damped);
}

bool ab_ecp_together(abEcpIsland* island, bool damped) {
  if (ab_ecp_newton_island(island, damped) != AB_ECP_SOLVED) return false;
  const abEcpSystem* s = &island->system;
  for (int i = 0; i < s->ncontact; i++) {
    double worst;
    if (!ab_ecp_admissible(s, s->contact[i], &worst)) return false;
  }
  return s->nbody < 2 || ab_ecp_plausible(s);
}

void ab_ecp_free_motion(abEcpIsland* island) {
  clear_external(island);
  for (int i = 0; i < island->nbody; i++)
    ab_ecp_body_free(&island->body[i], island->system.exact_momentum);
}

// Where an active contact acts, last step's twist is the better guess; others keep the free one,
// which is their solution.
static void start_twists(abEcpIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    const abEcpContact* c = &island->contact[i];
    for (int side = 0; c->active && side < 2; side++) {
      abEcpBody* b = c->body[side];
      b->v = b->v0, b->w = b->w0;
    }
  }
}

void ab_ecp_save(abEcpIsland* island, int level) {
  int nb = island->nbody, nc = island->ncontact;
  memcpy(island->body + nb * (1 + level), island->body, sizeof(abEcpBody) * (size_t)nb);
  memcpy(island->contact + nc * (1 + level), island->contact, sizeof(abEcpContact) * (size_t)nc);
}

void ab_ecp_restore(abEcpIsland* island, int level) {
  int nb = island->nbody, nc = island->ncontact;
  memcpy(island->body, island->body + nb * (1 + level), sizeof(abEcpBody) * (size_t)nb);
  memcpy(island->contact, island->contact + nc * (1 + level), sizeof(abEcpContact) * (size_t)nc);
}

static bool solve_several(abEcpIsland* island) {
  for (int round = 0; round < AB_ECP_ROUNDS && !ab_ecp_exhausted(island); round++) {
    for (int i = 0; i < AB_ECP_SWEEPS; i++) sweep(island);
    for (int i = 0; i < island->ncontact; i++) {
      abEcpContact* c = &island->contact[i];
      if (c->active && !(c->pn > 0)) c->active = false;
    }
    ab_ecp_save(island, AB_ECP_SAVED);
    if (ab_ecp_together(island, false)) return true;
    ab_ecp_restore(island, AB_ECP_SAVED);
    if (round % 2 == 1) {  // farther from the solution than Newton alone reaches
      if (ab_ecp_together(island, true)) return true;
      ab_ecp_restore(island, AB_ECP_SAVED);
    }
    ab_ecp_take_in_overlapping(island);
  }
  return false;
}

static int count_active(const abEcpIsland* island) {
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) n += island->contact[i].active;
  return n;
}

static abEcpContact* only_active(abEcpIsland* island) {
  for (int i = 0; i < island->ncontact; i++)
    if (island->contact[i].active) return &island->contact[i];
  return NULL;
}

// Who bears in free motion. A pair that touched is first asked along its last normal: if that does
// not separate the bodies it is taken to overlap, which the solution then confirms or not.
static int find_active(abEcpIsland* island) {
  int n = 0;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (c->recalled && c->shape[1].shape->type != AB_SHAPE_PLANE) {
      abEcpKinematics k;
      ab_ecp_kinematics(c, &k);
      c->active = ab_ecp_separation(c, k.n) < -AB_ECP_ROUNDING;
    } else {
      c->active = ab_ecp_gap(c) < -AB_ECP_ROUNDING;
    }
    n += c->active;
  }
  return n;
}

// Modes and impulses of the last step, of the contacts that bore then and those that overlap now.
static bool solve_warm(abEcpIsland* island, bool large) {
  for (int i = 0; i < island->ncontact; i++) {
    abEcpContact* c = &island->contact[i];
    if (c->active && !c->recalled) return false;
    c->active = c->recalled;
  }
  start_twists(island);
  if (count_active(island) == 1) {
    abEcpContact* c = only_active(island);
    abEcpMode last = c->mode;
    bool solved = solve_single(island, c, &last) && ab_ecp_take_in_overlapping(island) == 0;
    return AB_ECP_COUNTED("island: last step, 1", solved);
  }
  if (large) return AB_ECP_COUNTED("island: last step, > 8", ab_ecp_correct_modes(island));
  bool solved = ab_ecp_together(island, false) && ab_ecp_take_in_overlapping(island) == 0;
  return AB_ECP_COUNTED("island: last step, 2 to 8", solved);
}

// Once the lower bodies of a stack are held, the upper ones press: pairs as near as a step's load
// moves a body.
static double reach_of_load(const abEcpIsland* island) {
  double fall = 0;
  for (int i = 0; i < island->nbody; i++)
    fall = fmax(fall, v3_norm(island->body[i].f) / island->body[i].m);
  return 2 * fall;
}

static void take_in_near(abEcpIsland* island) { take_in_nearer(island, reach_of_load(island)); }

// Contacts that may bear in this step.
static int count_near(abEcpIsland* island) {
  int n = 0;
  ab_ecp_free_motion(island);
  for (int i = 0; i < island->ncontact; i++) {
    const abEcpContact* c = &island->contact[i];
    n += c->recalled || ab_ecp_gap(c) < reach_of_load(island);
  }
  return n;
}

static bool solve_all_at_once(abEcpIsland* island) {
  for (int i = 0; i < island->nbody; i++) {
    abEcpBody* b = &island->body[i];
    b->v = b->v0, b->w = b->w0;
    ab_ecp_body_end(b, island->system.exact_momentum);
  }
  for (int round = 0; round < 4; round++) {
    if (ab_ecp_solve_jointly(island)) return true;
    if (ab_ecp_take_in_overlapping(island) == 0) return false;
  }
  return false;
}

void ab_ecp_start_poses(abEcpIsland* island) {
  for (int i = 0; i < island->nbody; i++) {
    island->body[i].v = island->body[i].w = v3_zero();
    ab_ecp_body_end(&island->body[i], island->system.exact_momentum);
  }
}

static bool from_last_step(abEcpIsland* island) {
  ab_ecp_start_poses(island);
  for (int i = 0; i < island->ncontact; i++) {
    abEcpMode mode;
    island->contact[i].active = ab_ecp_recall(island, &island->contact[i], &mode);
  }
  ab_ecp_free_motion(island);
  ab_ecp_take_in_overlapping(island);
  take_in_near(island);
  return solve_all_at_once(island);
}

static bool solve_cold(abEcpIsland* island) {
  for (int i = 0; i < island->ncontact; i++) island->contact[i].active = false;
  ab_ecp_free_motion(island);
  if (ab_ecp_take_in_overlapping(island) == 1) {
    bool solved = solve_single(island, only_active(island), NULL);
    if (ab_ecp_take_in_overlapping(island) == 0) return solved;
  }
  ab_ecp_free_motion(island);
  take_in_near(island);
  for (int round = 0; round < AB_ECP_ROUNDS; round++) {
    ab_ecp_free_motion(island);
    bool solved = solve_several(island);
    if (!solved || ab_ecp_take_in_overlapping(island) == 0) return solved;
  }
  return false;
}

// After a step that was not solved.
static bool overlapping_start(abEcpIsland* island) {
  ab_ecp_start_poses(island);
  for (int i = 0; i < island->ncontact; i++)
    if (ab_ecp_gap(&island->contact[i]) < -AB_ECP_BORDER)
      return true;  // what a solved step may leave
  return false;
}

// The iterate found before is kept if none of these succeeds. Overlap takes energy to undo, and the
// more the shorter the step.
static bool solve_overlapping(abEcpIsland* island) {
  ab_ecp_save(island, AB_ECP_BEST);
  ab_ecp_new_budget(island, 1);
  island->system.gain = INFINITY;
  if (overlapping_start(island) && solve_cold(island)) return true;
  island->system.gain = AB_ECP_GAIN;
  ab_ecp_restore(island, AB_ECP_BEST);
  return false;
}

static bool solve_by_path(abEcpIsland* island) {
  ab_ecp_save(island, AB_ECP_BEST);
  ab_ecp_new_budget(island, 1);
  // connected with a motion that has no contact at all, it does not wedge
  island->system.gain = overlapping_start(island) ? INFINITY : AB_ECP_PATH_GAIN;
  if (ab_ecp_follow_path(island)) return true;
  island->system.gain = AB_ECP_GAIN;
  ab_ecp_restore(island, AB_ECP_BEST);
  return false;
}

static bool solve_small(abEcpIsland* island) {
  ab_ecp_new_budget(island, AB_ECP_SWEEP_SHARE);
  if (AB_ECP_COUNTED("island: sweeps", solve_cold(island))) return true;
  if (AB_ECP_COUNTED("island: path", solve_by_path(island))) return true;
  if (AB_ECP_COUNTED("island: overlapping", solve_overlapping(island))) return true;
  ab_ecp_save(island, AB_ECP_BEST);
  ab_ecp_new_budget(island, 1);
  if (AB_ECP_COUNTED("island: jointly", from_last_step(island))) return true;
  ab_ecp_restore(island, AB_ECP_BEST);
  return false;
}

static bool solve_large(abEcpIsland* island, int size) {
  if (AB_ECP_COUNTED("island: jointly, > 8", from_last_step(island))) return true;
  if (size > AB_ECP_LARGEST) return false;
  return AB_ECP_COUNTED("island: path, > 8", solve_by_path(island));
}

// Whether a hull of several geoms may touch where its body has nothing. Its corners are real; what
// lies between them need not be. It is exact where all corners of the feature are borne by the
// other body's plane or face.
static bool beyond_hull(const abEcpContact* c, int side) {
  if (!ab_ecp_bears(c) || !c->shape[side].hull) return false;
  if (c->ref != 1 - side) return true;
  const abEcpFeature *f = &c->feature[side], *face = &c->feature[c->ref];
  const abPolyhedron* p = f->shape->shape->poly;
  const int* corner = f->kind == AB_ECP_FACE      ? p->loop + p->face_start[f->index]
                      : f->kind == AB_ECP_SEGMENT ? p->edge[f->index]
                                                  : &f->index;
  int n = f->kind == AB_ECP_FACE ? p->face_start[f->index + 1] - p->face_start[f->index]
                                 : (f->kind == AB_ECP_SEGMENT ? 2 : 1);
  const abEcpBody* b = c->body[side];
  for (int i = 0; i < n; i++) {
    abVec3 x = ab_ecp_feature(f->shape, AB_ECP_POINT, corner[i]).c;
    x = v3_add(b->x, m3_apply(&b->R, x));
    if (ab_ecp_face_outside(face, c->body[c->ref], x) > 0) return true;
  }
  return false;
}

bool ab_ecp_solve_island(abEcpIsland* island, abEcpReport* report) {
  island->system.gain = AB_ECP_GAIN;
  for (int i = 0; i < island->ncontact; i++) {
    abEcpMode mode;
    island->contact[i].recalled = ab_ecp_recall(island, &island->contact[i], &mode);
  }
  ab_ecp_free_motion(island);
  if (find_active(island) == 0) return true;
  int size = 0;
  for (int i = 0; i < island->ncontact; i++)
    size += island->contact[i].active || island->contact[i].recalled;
  ab_ecp_new_budget(island, 1);
  bool solved = solve_warm(island, size > AB_ECP_LARGE);
  if (!solved) {
    size = count_near(island);
    solved = size > AB_ECP_LARGE ? solve_large(island, size) : solve_small(island);
  }
  solved = AB_ECP_COUNTED("island: all", solved);
  abEcpVerdict verdict = whole_verdict(island);
  double residual = fmax(verdict.residual, verdict.violated);
  if (!isfinite(residual)) residual = 1;
  for (int i = 0; i < island->ncontact; i++)
    for (int side = 0; side < 2; side++) report->hulls += beyond_hull(&island->contact[i], side);
  for (int i = 0; i < island->ncontact; i++)
    if (!ab_ecp_bears(&island->contact[i])) island->contact[i].active = false;
  if (!solved) {
    residual = fmax(residual, 2 * report->tolerance);
    report->fallbacks++;
  }
  report->residual = fmax(report->residual, residual);
  return solved;
}
