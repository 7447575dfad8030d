// A step of a few contacts by following a path to its solution.
//
// Modes of contacts and branches of their friction laws (stick, slip) cut the space of states into
// pieces, on each of which the equations are smooth; neighbouring pieces agree where they meet. To
// the loads of each body an impulse (1 - t) u is added, such that for t = 0 the bodies part and
// move freely: a solution without contact, known beforehand. The solutions (x, t) of
//     F(x; t) = 0 with all inequalities
// form a curve from there; where it comes to t = 1 the step is solved. It is followed by its
// length, not by t, for it may turn back: tangent and Newton's method across it, on the equations
// with the row `last` (that of the tangent) and the column of t added. Where an inequality ends to
// hold, the state on the border lies in the neighbouring piece too, and the curve goes on in that
// one, in the direction in which its inequalities hold. The pieces are not looked up: of all that
// are near, those count whose equations the state solves as it is. This is Lemke's method for
// equations that are only piecewise smooth, its covering vector the impulses u.
//
// u follows from the motion at t = 0 (part.c). Where a curve is lost another such motion gives
// another curve.
//
// Sweeps (many.c) guess modes contact by contact; here no mode is guessed. Measured on the
// steps that the last step's modes do not solve: of 8,000 of two and three thrown bodies
// (test_ecp_throw) one is not found, and one takes some 300 Newton iterations; of 50 of heaps of
// ten hulls, islands of 9 to 24 contacts that joint.c does not solve, all are found, with some
// 1,100. So it comes after what mostly needs fewer. Where many contacts bear whose friction statics
// does not divide (balls, ellipsoids and cans packed in a box, 20 contacts and more) a quarter of
// the curves is lost: more than two pieces end at once.
// Tests: test_ecp_throw, test_ecp_heap.
#include <string.h>

#include "contact/ecp/island.h"

enum { NONE_LEAVES = -1, NOT_FOUND = -2 };
enum { N = AB_ECP_PATH_UNKNOWNS, DENSE = AB_ECP_DENSE + 1 };

typedef struct Path {
  abEcpIsland* island;
  abEcpSystem* s;
  double unit;  // of velocity
  int npushed;
  abEcpPushed pushed[AB_ECP_PUSHED];
  double t, beyond;
  double scale[N];  // of the unknowns
  double row[DENSE];
  double tangent[N];  // scaled
  double A[DENSE * DENSE], b[DENSE];
  double x[N];
  int work[4 * DENSE + 1];
} Path;

static void set_time(Path* p, double t) {
  p->t = t;
  for (int i = 0; i < p->npushed; i++) {
    abEcpBody* b = p->pushed[i].body;
    const double* u = p->pushed[i].by;
    b->f_ext = v3_scale((1 - t) * b->m, v3(u[0], u[1], u[2]));
    b->tau_ext = v3_scale((1 - t) * b->inertia_scale, v3(u[3], u[4], u[5]));
  }
}

static void set_scales(Path* p) {
  const abEcpSystem* s = p->s;
  for (int i = 0; i < s->nbody; i++)
    for (int j = 0; j < 6; j++) p->scale[s->body[i]->slot + j] = p->unit;
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    double m = ab_ecp_reduced_mass(c) * p->unit;
    for (int j = 0; j < 4 + c->npar; j++) p->scale[c->offset + j] = j < 4 ? m : 1;
  }
  p->scale[s->n] = 1;
  if (s->condensed) return;
  for (int i = 0; i < s->n; i++) p->row[i] = 1 / p->unit;
  for (int i = 0; i < s->ncontact; i++) {
    const abEcpContact* c = s->contact[i];
    for (int j = 0; j < 3; j++) p->row[c->offset + c->neq + j] /= ab_ecp_reduced_mass(c);
  }
}

// The system of the present modes.
static bool load(Path* p) {
  abEcpSystem* s = p->s;
  s->nbody = p->npushed;
  for (int i = 0; i < s->nbody; i++) s->body[i] = p->pushed[i].body;
  s->ncontact = 0;
  for (int i = 0; i < p->island->ncontact; i++)
    if (ab_ecp_bears(&p->island->contact[i])) s->contact[s->ncontact++] = &p->island->contact[i];
  ab_ecp_layout(s);
  if (s->n >= N) return false;
  s->proximal = s->condensed ? AB_ECP_PROXIMAL : 0;
  set_scales(p);
  return true;
}

// Solves, for scaled unknowns, the derivative of the equations and the row `last`,
//     J x + F_t x_t = F,  last.(x, x_t) = r,
// as one matrix, or where the system is condensed by J a = F and J b = F_t: x = a - x_t b.
static void solve_dense(Path* p, bool tangent, const double* last, double r) {
  const abEcpSystem* s = p->s;
  int n = s->n, m = n + 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) p->A[i * m + j] = p->row[i] * p->scale[j] * s->J[i * n + j];
    p->A[i * m + n] = 0;
    p->b[i] = tangent ? 0 : p->row[i] * s->F[i];
  }
  for (int i = 0; i < p->npushed; i++) {
    int k = p->pushed[i].body->slot;
    for (int j = 0; j < 6; j++) p->A[(k + j) * m + n] = p->row[k + j] * p->pushed[i].by[j];
  }
  memcpy(p->A + n * m, last, sizeof(double) * (size_t)m);
  p->b[n] = r;
  ab_ecp_eliminate(m, p->A, p->b, p->work, p->x);
}

static void solve_condensed(Path* p, bool tangent, const double* last, double r) {
  abEcpSystem* s = p->s;
  int n = s->n;
  double Ft[N] = {0}, a[N], along_a = 0, along_b = 0;
  for (int i = 0; i < p->npushed; i++)
    memcpy(Ft + p->pushed[i].body->slot, p->pushed[i].by, sizeof p->pushed[i].by);
  if (tangent) memset(s->F, 0, sizeof(double) * (size_t)n);
  ab_ecp_condensed_step(s);
  memcpy(a, s->step, sizeof(double) * (size_t)n);
  ab_ecp_condensed_again(s, Ft);
  for (int i = 0; i < n; i++) {
    along_a += last[i] * a[i] / p->scale[i];
    along_b += last[i] * s->step[i] / p->scale[i];
  }
  double dt = (r - along_a) / (last[n] - along_b);
  for (int i = 0; i < n; i++) p->x[i] = (a[i] - dt * s->step[i]) / p->scale[i];
  p->x[n] = dt;
}

static void solve(Path* p, bool tangent, const double* last, double r) {
  abEcpSystem* s = p->s;
  double size = 6 * s->nbody / (double)AB_ECP_DENSE;
  s->iterations++;
  s->work += s->condensed ? 1 + size * size * size + 0.6 * s->ncontact : 1;
  if (s->condensed)
    solve_condensed(p, tangent, last, r);
  else
    solve_dense(p, tangent, last, r);
}

static void read_state(Path* p, double* z) {
  ab_ecp_read_unknowns(p->s, z);
  for (int i = 0; i < p->s->n; i++) z[i] /= p->scale[i];
  z[p->s->n] = p->t;
}

static void write_state(Path* p, const double* z) {
  static const double none[N] = {0};
  double y[N];
  for (int i = 0; i < p->s->n; i++) y[i] = p->scale[i] * z[i];
  ab_ecp_write_unknowns(p->s, y, none, 0);
  set_time(p, z[p->s->n]);
}

// Newton's method on to the path, in the plane last.(z - goal) = 0.
static bool correct(Path* p, const double* last, const double* goal) {
  int n = p->s->n;
  double z[N], before = INFINITY, enough = p->s->condensed ? 1e-11 : 1e-12;
  memcpy(z, goal, sizeof(double) * (size_t)(n + 1));
  for (int it = 0; it < 10; it++) {
    write_state(p, z);
    double residual = ab_ecp_assemble(p->s);
    if (residual <= enough || (residual <= AB_ECP_ENOUGH && residual > 0.1 * before)) return true;
    if (!(residual < 1e3) || (it > 4 && residual > 0.5 * before)) return false;
    before = residual;
    double r = 0;
    for (int i = 0; i <= n; i++) r += last[i] * (z[i] - goal[i]);
    solve(p, false, last, r);
    for (int i = 0; i <= n; i++) z[i] -= p->x[i];
  }
  return false;
}

// The direction of the path with last.tangent > 0.
static bool find_tangent(Path* p, const double* last, double* tangent) {
  int n = p->s->n;
  ab_ecp_assemble(p->s);
  solve(p, true, last, 1);
  double norm = 0;
  for (int i = 0; i <= n; i++) norm += p->x[i] * p->x[i];
  norm = sqrt(norm);
  if (!(norm > 0) || !isfinite(norm)) return false;
  for (int i = 0; i <= n; i++) tangent[i] = p->x[i] / norm;
  return true;
}

// By how much friction would rather stick (< 0) or slide (> 0).
static double friction_excess(const abEcpContact* c) {
  abEcpKinematics k;
  ab_ecp_kinematics(c, &k);
  abEcpLevers lever;
  ab_ecp_levers(c, &k, 0, NULL, &lever);
  abVec3 u = ab_ecp_slip(c, &lever);
  double w[3] = {v3_dot(k.t, u), v3_dot(k.o, u), v3_dot(k.n, v3_sub(c->body[0]->w, c->body[1]->w))};
  double sum = 0, rho = ab_ecp_reduced_mass(c);
  for (int j = 0; j < 3; j++) {
    double y = c->e[j] > 0 && c->mu > 0 ? c->s[j] - rho * c->e[j] * w[j] : 0;
    sum += y * y;
  }
  return sqrt(sum) - c->mu * fmax(0, c->pn);
}

// The contact that leaves its piece at the present state, and by how much.
static int leaving(Path* p) {
  int at = NONE_LEAVES;
  double most = 0;
  for (int i = 0; i < p->island->ncontact; i++) {
    const abEcpContact* c = &p->island->contact[i];
    double worst, beyond = 0;
    if (!ab_ecp_bears(c)) {
      beyond = -ab_ecp_gap(c);
      if (beyond <= AB_ECP_OVERLAP) continue;
    } else {
      bool good = ab_ecp_admissible(p->s, c, &worst);
      double excess = friction_excess(c) / (ab_ecp_reduced_mass(c) * p->unit);
      if (c->branch == AB_ECP_STICKS && excess > AB_ECP_BORDER) beyond = excess;
      if (c->branch == AB_ECP_SLIPS && excess < -AB_ECP_BORDER) beyond = -excess;
      if (!(c->mu > 0)) beyond = 0;
      if (!good) beyond = fmax(beyond, worst);
    }
    if (beyond > most) most = beyond, at = i;
  }
  p->beyond = most;
  return at;
}

// Between states, by motion, time and places. Impulses do not count: statics may not divide a load.
static double distance(const Path* p, const double* y, const double* z) {
  double sum = (y[p->s->n] - z[p->s->n]) * (y[p->s->n] - z[p->s->n]);
  for (int i = 0; i < p->s->nbody; i++)
    for (int j = p->s->body[i]->slot, end = j + 6; j < end; j++)
      sum += (y[j] - z[j]) * (y[j] - z[j]);
  for (int i = 0; i < p->s->ncontact; i++) {
    const abEcpContact* c = p->s->contact[i];
    for (int j = c->offset + 4, end = j + c->npar; j < end; j++)
      sum += (y[j] - z[j]) * (y[j] - z[j]);
  }
  return sqrt(sum);
}

// One step of the length ds along the tangent. Returns the contact that leaves its piece.
static int advance(Path* p, const double* start, double ds) {
  double goal[N];
  for (int i = 0; i <= p->s->n; i++) goal[i] = start[i] + ds * p->tangent[i];
  if (!correct(p, p->tangent, goal)) return NOT_FOUND;
  double y[N];
  read_state(p, y);
  if (distance(p, y, goal) > 0.5 * ds + 1e-6) return NOT_FOUND;  // may be another part of the curve
  return leaving(p);
}

// A contact in another mode, or on another branch of its friction law.
typedef struct Piece {
  int contact;
  abEcpMode mode;
  int branch;
} Piece;

// At the border of its piece a contact goes over to another; where several pieces end at once
// (bodies wedged between others, whose friction statics does not divide), two contacts do.
typedef struct Crossing {
  int n;
  Piece piece[2];
  bool begins;  // the first of them begins to bear
  double t;
  double near;     // how far the state may move on to the other piece, which has it in common
  double length;   // of the first step into it
  int blocked[2];  // contacts that leave their pieces in that step, in the two directions
} Crossing;

static double moved(const Path* p, const double* y, const double* z) {
  double most = 0;
  for (int i = 0; i < p->s->nbody; i++)
    for (int j = p->s->body[i]->slot, end = j + 6; j < end; j++)
      most = fmax(most, fabs(y[j] - z[j]));
  return most;
}

// Contact i in another mode, its point and impulse kept as far as that means anything.
static bool change_mode(abEcpIsland* island, int i, abEcpMode mode) {
  abEcpContact* c = &island->contact[i];
  if (mode.kind[0] == AB_ECP_NONE) {
    c->active = false;
    c->pn = c->s[0] = c->s[1] = c->s[2] = 0;
    return true;
  }
  abEcpKinematics k;
  abVec3 P = v3_zero(), a;
  bool bore = ab_ecp_bears(c);
  if (bore) {
    ab_ecp_kinematics(c, &k);
    P = ab_ecp_impulse(c, &k), a = k.a;
  } else {
    a = ab_ecp_witness(c);
  }
  c->active = true;
  if (!ab_ecp_set_mode(c, mode) || !ab_ecp_place(c, a)) return false;
  if (bore && c->cornered) ab_ecp_corner_turn(c, k.n);
  ab_ecp_kinematics(c, &k);
  c->pn = fmax(0, v3_dot(P, k.n));
  c->s[0] = c->e[0] > 0 ? v3_dot(P, k.t) / c->e[0] : 0;
  c->s[1] = c->e[1] > 0 ? v3_dot(P, k.o) / c->e[1] : 0;
  return true;
}

static bool set_pieces(Path* p, const Crossing* q) {
  ab_ecp_restore(p->island, AB_ECP_STAGE);
  set_time(p, q->t);
  for (int i = 0; i < q->n; i++) {
    const Piece* piece = &q->piece[i];
    abEcpContact* c = &p->island->contact[piece->contact];
    bool same = ab_ecp_bears(c) && ab_ecp_mode_equal(c->mode, piece->mode);
    if (!same && !change_mode(p->island, piece->contact, piece->mode)) return false;
    c->branch = piece->branch;
  }
  return load(p);
}

// From the state of level STAGE into other pieces. Where a contact begins to bear its place in a
// face or on an edge is not defined with no impulse; there the state is the one with a little of
// it, and the direction that of more.
static bool enter(Path* p, Crossing* q) {
  q->blocked[0] = q->blocked[1] = NOT_FOUND;
  if (!set_pieces(p, q)) return false;
  double y[N], z[N], last[N] = {0}, tangent[N];
  int at = q->begins ? p->island->contact[q->piece[0].contact].offset : p->s->n;
  read_state(p, z);
  if (q->begins) z[at] = q->length;
  last[at] = 1;
  if (!correct(p, last, z)) return false;
  read_state(p, y);
  if (moved(p, y, z) > (q->begins ? 100 * q->length : q->near)) return false;
  if (!find_tangent(p, last, tangent)) return false;
  if (q->begins) {
    memcpy(p->tangent, tangent, sizeof tangent);
    q->blocked[0] = leaving(p);
    return q->blocked[0] == NONE_LEAVES;
  }
  for (int way = 0; way < 2; way++) {
    for (int j = 0; j <= p->s->n; j++) p->tangent[j] = way == 0 ? tangent[j] : -tangent[j];
    q->blocked[way] = advance(p, y, q->length);
    if (q->blocked[way] == NONE_LEAVES) return true;
  }
  return false;
}

// The pieces that may have the present state in common with that of contact i.
static int list_pieces(const abEcpIsland* island, int i, Piece* piece) {
  const abEcpContact* c = &island->contact[i];
  abEcpMode mode[AB_ECP_PATH_MODES + AB_ECP_PATH_CORNERS],
      none = ab_ecp_mode(AB_ECP_NONE, 0, AB_ECP_NONE, 0);
  bool bore = ab_ecp_bears(c);
  int n = 0, m = ab_ecp_candidates(c, AB_ECP_PATH_MODES, mode);
  m += ab_ecp_corners(c, AB_ECP_PATH_CORNERS, mode + m);
  if (bore) {
    int other = c->branch == AB_ECP_STICKS ? AB_ECP_SLIPS : AB_ECP_STICKS;
    piece[n++] = (Piece){i, c->mode, other};
    piece[n++] = (Piece){i, none, AB_ECP_AS_IT_IS};
  }
  for (int j = 0; j < m; j++) {
    if (bore && ab_ecp_mode_equal(mode[j], c->mode)) continue;
    piece[n++] = (Piece){i, mode[j], bore ? c->branch : AB_ECP_SLIPS};
    if (!bore) piece[n++] = (Piece){i, mode[j], AB_ECP_STICKS};
  }
  return n;
}

enum { PIECES = 2 * (AB_ECP_PATH_MODES + AB_ECP_PATH_CORNERS) + 2 };

// Together with a contact that leaves its piece as soon as the first has gone over.
static bool cross_with(Path* p, Crossing* q, int other) {
  if (other < 0 || other == q->piece[0].contact) return false;
  Piece piece[PIECES];
  ab_ecp_restore(p->island, AB_ECP_STAGE);
  if (!ab_ecp_bears(&p->island->contact[other])) return false;
  int n = list_pieces(p->island, other, piece);
  q->n = 2;
  for (int j = 0; j < n && !ab_ecp_exhausted(p->island); j++) {
    q->piece[1] = piece[j];
    if (enter(p, q)) return true;
  }
  q->n = 1;
  return false;
}

static bool cross(Path* p, int contact) {
  // Pieces meet exactly; what is as near as this but does not meet is for gaps of round edges,
  // which are known to be positive only.
  static const double length[] = {1e-4, 1e-6, 1e-4, 1e-6, 1e-2};
  static const double near[] = {1e-7, 1e-7, 1e-4, 1e-4, 1e-3};
  Piece piece[PIECES];
  int n = list_pieces(p->island, contact, piece);
  Crossing q = {.n = 1, .t = p->t, .begins = !ab_ecp_bears(&p->island->contact[contact])};
  ab_ecp_save(p->island, AB_ECP_STAGE);
  for (int k = 0; k < 5; k++) {
    q.near = near[k], q.length = length[k];
    for (int j = 0; j < n && !ab_ecp_exhausted(p->island); j++) {
      q.piece[0] = piece[j];
      if (enter(p, &q)) return true;
      int other[2] = {q.blocked[0], q.blocked[1]};
      for (int way = 0; way < 2 && k == 1; way++)
        if (cross_with(p, &q, other[way])) return true;
    }
  }
  return false;
}

// The end, between two states z and y of one piece, or near y.
static bool arrive(Path* p, const double* z, const double* y) {
  double last[N] = {0}, goal[N];
  int n = p->s->n;
  last[n] = 1;
  double r = z ? (1 - z[n]) / (y[n] - z[n]) : 0;
  for (int i = 0; i <= n; i++) goal[i] = z ? z[i] + r * (y[i] - z[i]) : y[i];
  goal[n] = 1;
  if (!correct(p, last, goal)) return false;
  for (int i = 0; i < p->island->ncontact; i++) p->island->contact[i].branch = AB_ECP_AS_IT_IS;
  return ab_ecp_together(p->island, true) && ab_ecp_take_in_overlapping(p->island) == 0;
}

// The length of the next attempt where one of the length ds left the piece: by the secant through
// the last two.
typedef struct Attempt {
  int who;
  double ds, beyond;
} Attempt;

static double shorter(const Attempt* last, const Attempt* now) {
  if (now->who < 0 || now->who != last->who || !(last->beyond > now->beyond)) return 0.5 * now->ds;
  double slope = (last->ds - now->ds) / (last->beyond - now->beyond);
  return fmin(0.9 * now->ds, fmax(now->ds - slope * now->beyond, 0.05 * now->ds));
}

static bool begin(Path* p) {
  double last[N] = {0};
  set_time(p, 0);
  if (!load(p)) return false;
  last[p->s->n] = 1;
  return find_tangent(p, last, p->tangent);
}

static void go_back(Path* p, int level, double t) {
  ab_ecp_restore(p->island, level);
  set_time(p, t);
  load(p);
}

// Between z (if known) and the present state the path passes t = 1. True if the step is solved
// there, else the state is left as it was.
static bool ends(Path* p, const double* z) {
  double y[N];
  read_state(p, y);
  ab_ecp_save(p->island, AB_ECP_STAGE);
  if (arrive(p, z, y)) return true;
  go_back(p, AB_ECP_STAGE, y[p->s->n]);
  return false;
}

static bool turn_tangent(Path* p) {
  double old[N];
  memcpy(old, p->tangent, sizeof old);
  return find_tangent(p, old, p->tangent);
}

static bool follow(Path* p) {
  const double longest = AB_ECP_PATH_LONGEST, shortest = AB_ECP_PATH_SHORTEST, close = 1e-4;
  double z[N], ds = 0.05;
  Attempt last = {.who = NOT_FOUND};
  if (!begin(p)) return false;
  while (!ab_ecp_exhausted(p->island)) {
    double t = p->t;
    // back where it began, or so far that it does not come back
    if (t < -1 || t > 3 || (t < 0 && p->s->ncontact == 0)) return false;
    read_state(p, z);
    ab_ecp_save(p->island, AB_ECP_SAVED);
    Attempt now = {.who = advance(p, z, ds), .ds = ds, .beyond = p->beyond};
    bool passed = now.who == NONE_LEAVES && (p->t - 1) * (t - 1) <= 0;
    if (passed && ends(p, z)) return true;
    if (passed && ds > close) {  // a shorter step meets the end more closely
      go_back(p, AB_ECP_SAVED, t);
      ds *= 0.3;
      continue;
    }
    if (now.who == NONE_LEAVES) {
      if (!turn_tangent(p)) return false;
      ds = fmin(longest, 2 * ds);
      last.who = NOT_FOUND;
      continue;
    }
    go_back(p, AB_ECP_SAVED, t);
    ds = shorter(&last, &now);
    last = now;
    if (ds > shortest) continue;
    if (now.who == NOT_FOUND || !cross(p, now.who)) return false;
    if ((p->t - 1) * (t - 1) <= 0 && ends(p, NULL)) return true;
    ds = 1e-2;
    last.who = NOT_FOUND;
  }
  return false;
}

bool ab_ecp_follow_path(abEcpIsland* island) {
  Path p = {.island = island, .s = &island->system};
  for (int i = 0; i < island->nbody; i++) {
    const abEcpBody* b = &island->body[i];
    p.unit = fmax(p.unit, v3_norm(b->v0) + v3_norm(b->w0) + v3_norm(b->f) / b->m);
  }
  static const double apart[] = {0.3, 1, 0.1};
  bool found = false;
  for (int i = 0; i < 3 && !found; i++) {
    p.npushed = ab_ecp_part(island, 2 * p.unit, apart[i] * p.unit, p.pushed);
    found = p.npushed > 0 && follow(&p);
  }
  for (int i = 0; i < island->ncontact; i++) island->contact[i].branch = AB_ECP_AS_IT_IS;
  for (int i = 0; i < island->nbody; i++)
    island->body[i].f_ext = island->body[i].tau_ext = v3_zero();
  return found;
}
