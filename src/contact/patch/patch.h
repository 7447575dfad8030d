// What the files of the model `patch` share. The derivation stands in patch.c.
#ifndef ABUT_CONTACT_PATCH_H
#define ABUT_CONTACT_PATCH_H

#include <abut/contact.h>
#include <math.h>

#include "base/arena.h"
#include "contact/island.h"
#include "contact/patch/thresholds.h"
#include "contact/quadrature.h"
#include "solve/block_cholesky.h"

// The parameters, in the order of the model's list.
enum {
  AB_PATCH_TOLERANCE,
  AB_PATCH_STIFFNESS,
  AB_PATCH_FRICTION_STIFFNESS,
  AB_PATCH_RECOVERY,
  AB_PATCH_ITERATIONS,
  AB_PATCH_DIRECT_LIMIT,
  AB_PATCH_NPARAM
};

// Loops over contacts are shared by threads in pieces of this many.
#define AB_PATCH_CHUNK 32
static inline int ab_patch_chunks(int n) { return (n + AB_PATCH_CHUNK - 1) / AB_PATCH_CHUNK; }

// Local 6-vectors are (t1, t2, normal) components: velocity at the patch's centre and angular
// velocity; likewise impulses and moments about the centre.

// The contact law of one patch: from a relative twist to an impulse. See law.c.
typedef struct abPatchLaw {
  // pressure: at the corners of the patch, filled up to a multiple of AB_LANES by copies without a
  // share
  int ncorner, nlane;
  double *x, *y;
  double* share;        // of the stiffness, 1 in all
  double* aim;          // normal velocity that is wanted there
  double* calm;         // the same without restitution, of a contact that rebounds
  double target[2][3];  // two affine fields (1, x, y), the smaller of which that is
  double stiffness;
  // friction: the affine pressure `field` over the region of the patch where it is positive
  abVec2 centroid, axis;   // of the patch; of a narrow one the direction along it, else zero
  double radius;           // of gyration of the patch
  double low[2], high[2];  // what its corners span
  abPolygonMoments whole;  // moments of the patch
  double field[3];
  int nregion;  // corners of the region
  abVec2* region;
  double sum;            // integral of the field
  abVec2 centre;         // where it acts
  double spread2;        // squared radius of gyration about it
  double at[2];          // by how much field and region are moved, so that friction acts where
                         // the pressure does
  int npoint;            // 0: the points of the rule are not filled in
  double *px, *py, *pw;  // with the field in their weights
  bool slender;          // the region is
  abRing ring;           // its corners once more, filled in when n > 0
  bool about_pole;       // integrated about the pole instead
  double stiffness_t;    // while sticking
  double bristle[3];     // k (r_b, theta_b): velocity the bristle adds
  double mu;
  double load;        // normal impulse that bounds friction
  double gain;        // traction limit = gain * field
  double slip_speed;  // friction is saturated from this speed on
} abPatchLaw;

// Minus the law's derivative. Packed symmetric blocks, as 00 01 11 02 12 22: tangential in (t1, t2,
// turn about n), normal in (n, turn about t1, turn about t2). slack: what the tangential block
// lacks to the parabola that touches the energy from above.
typedef struct abPatchSlope {
  double t[6], n[6], slack[6];
} abPatchSlope;

// A body of a joint tree: the n velocities of its mover that move it at all, ascending, and its
// twist at the centre of mass by each; its response to an impulse there, where that was asked for.
typedef struct abPatchBranch {
  int n;
  int* at;
  double (*J)[6];
  bool known;  // the mobility is
  abMat6 mobility;
} abPatchBranch;

typedef struct abPatchSide {
  int body, block;        // block of the island's system, -1: fixed to the world
  int n;                  // its size
  abVec3 r;               // patch centre - centre of mass
  abPatchBranch* branch;  // NULL for a free body
} abPatchSide;

// From a tree's velocities to the local twist, with the side's sign: by the velocity at[k] of the
// side's block it is T[i * room + k], i = 0 .. 5. See columns.c.
typedef struct abPatchFour {
  int at;    // the first of four successive velocities
  int real;  // bits: those that have a column here, the others are zero
} abPatchFour;
typedef struct abPatchColumns {
  int n, room;
  int* at;
  double* T;
  abPatchFour* four;  // of the columns 4 i .. 4 i + 3; NULL: they are anywhere
} abPatchColumns;

typedef struct abPatchContact {
  // first and side by side what the algebra of an island goes through again and again
  abPatchSide side[2];
  abVec3 axis[3];     // t1, t2, normal
  double impulse[6];  // such that velocities = free velocities + response to the impulses, always
  double V[6];        // relative twist, J v + drift
  double answer[6];   // the law's impulse at V, or its linearisation there
  double step[6];     // change of V by a Newton step
  abPatchSlope G;     // derivative that belongs to `answer`
  int stored[3];      // its blocks in the matrix: of either side, and of both together,
  bool transposed;    // which is that of the second with the first
  abPatchColumns tree[2];  // empty for free bodies; of two bodies of one tree all in the first
  double drift[6];  // what the motion of the step adds to J v beyond first order, see patch.c
  double
      start[6];  // relative twist when the step begins, and of the free motion at its end; without
  double free[6];    // the drift
  double X[6];       // the twist at which the law gave the impulse, at first that of the last step
  double given[6];   // impulse before a strike within the step, not the law's: see patch.c
  double last[6];    // X when the solver began, V where nothing pressed
  double before[3];  // load and place of friction before the present step
  double *R, *P;     // 6 x 6, see alone.c
  bool moved;        // the contact alone would go elsewhere than to V
  int pair;
  bool slipping;        // when the step began
  bool moves;           // and now: friction follows the pressure
  bool pinned;          // no longer in this step
  bool face, line;      // what its patch is; neither: a point
  bool sunk;            // it began with its depth, which comes out whatever the energy
  bool held;            // joints hold its bodies: nothing opens it, see hold.c
  bool rebounds;        // the aims are raised by restitution
  bool linear;          // the law is, about V: ab_patch_evaluate
  bool curves;          // it rolls, and its drift closes it
  double sweep;         // how far its lever has turned in the last step [rad], of the body more
  bool delayed;         // and the coordinates moved for the time of the impact
  double impulse_time;  // of a rebound, from the step's beginning: rebound.c
  bool known;           // the law at X is in X_f, X_G, X_linear, and has not changed
  abPatchLaw law;
  double X_f[6];
  double X_load;  // that bounded its friction
  abPatchSlope X_G;
  bool X_linear;
  double mu_static, mu_kinetic;
  double load_before;          // normal impulse of the last step
  double mass, mass_t;         // effective, along the normal and across it
  double unit;                 // speed that counts as one, see setup.c
  double thin;                 // of the two bodies, across the contact
  double stiff_for, foreseen;  // the load that its stiffness belongs to, and did at first
  double slowed;               // share by which depth is taken back more slowly (gain.c)
  double rest;                 // the depth it began with and rests at, or 0
  double rests[3];             // the thickness at which it rests: h0, hx, hy
  double reach;                // how far joints open it when none turns by more than 1 rad [m]
} abPatchContact;

// What is remembered of a pair.
typedef struct abPatchMemory {
  double h;  // of the step that wrote this; 0: nothing remembered
  // the patch's centre and axes at the start of that step, in the frames of the two shapes
  abVec3 center[2], normal[2], t1[2];
  abVec3 lever[2];  // from the bodies' centres of mass to the patch's, in the world
  abQuat q[2];      // how the shapes were turned
  double thick;     // thickness at the centre then
  double area;
  double V[6];        // J v of that step, in the axes
  double went[3];     // tangential displacement that the bristle has been told of
  double bristle[3];  // displacement at `center`, and about the normal
  double slide[3];    // velocity and bristle together, which gave the friction; likewise
  double impulse[6];
  double acts[2];   // where friction acts: most of the step before is in it
  double field[3];  // target less normal velocity, times the stiffness
  double thin;      // of the thinner body, across the contact
  double load;      // what bounds friction and sets the stiffness
  double lasting;   // the lesser of the last two normal impulses
  double rest;      // depth at which it was found and rests, or 0
  double rests[3];  // and the thickness
  double slowed;    // by what share depth was taken back more slowly, for the sake of the energy
  // where a step that is solved once more begins
  double spread[2];  // where friction acted
  double stiff_for;  // the load that its stiffness belonged to
  // flags; bytes, since a state may come from a file
  unsigned char slipping, about_pole, held, sunk, moves;
} abPatchMemory;

// Where the last step's patch is now, as each of its two bodies carries it, and what lies between
// the two: the displacement of the step.
typedef struct abPatchPlace {
  abVec3 point[2];  // its centre as body 1 and body 2 carry it
  abVec3 center;    // where its pressure is taken to be now
  abVec3 axis[3];
  double way[3];  // of body 1 against body 2, in the axes
  double turn;    // likewise about the normal
} abPatchPlace;

// The whole system of one step.
typedef struct abPatchSystem {
  const abContactProblem* problem;
  double h, gravity;
  const double* param;
  int ncontact;
  int* pair;                 // per contact, ascending
  abPatchContact** contact;  // likewise
  abIslands islands;         // of contacts
  bool* alone;               // per contact: its island is nothing else
  int* block;                // per mover: of its island's system
  int nlink;                 // law rows as edges of islands: their movers two by two, -1: none
  int* link_law;             // per edge: its row, -1 where another edge stands for it
  int (*link)[2];
  int* row_start;          // per mover: its rows are row[row_start[m]] .. row_start[m + 1] - 1
  abPatchBranch** branch;  // per body, of joint trees only
} abPatchSystem;

typedef struct abPatchRow {
  const abRow* row;
  int at, block;  // of its first velocity in the island's vectors
  double step;    // change of s . v by a Newton step
  bool inside;    // its branch at v
} abPatchRow;

// A row of a law that joins movers: its velocities, block by block.
typedef struct abPatchJoin {
  abLawRow* row;
  int npart;
  int* block;  // per part
  int* first;  // npart + 1: its entries in at and row->s
  int* at;     // places in the island's vectors
  double step;
  bool inside;
} abPatchJoin;

typedef struct abPatchIsland {
  abPatchSystem* system;
  int ncontact, nblock, ndof, nrow, njoin;
  abPatchContact** contact;
  abPatchRow* row;
  abPatchJoin* join;
  const int* mover;        // per block
  const int* size;         // per block
  const int* offset;       // per block, into the vectors below
  const double** inertia;  // per block: NULL for a free body, else ndof x ndof
  const double** factor;   // likewise, its Cholesky factor; NULL also where the tree's own holds
  const double** per;      // likewise, 1 / the inertia's diagonal without the rows' stiffness
  double *v, *v_free, *shift, *gradient, *direction, *momentum;
  double* mass;   // per block
  double* scale;  // likewise: what the residual is measured by
  abArena* scratch;
  struct abPool* pool;  // threads for loops over its contacts, or NULL
  double departure;     // ab_patch_departure at the beginning
  bool soft;            // contacts stay as stiff as foreseen
  bool shifted;         // shift is not zero
  bool turned;          // its rows have branches of their own, and inertia and v_free with them
  // result
  int iterations, nregularised;
  double residual;
} abPatchIsland;

// The target that counts at the patch's centre: of a gap it is that which may close it. Against it
// the pressure is remembered, since from step to step a body at rest may lie a little above or
// below zero.
static inline const double* ab_patch_aim(const abPatchLaw* law) {
  return law->target[law->target[1][0] < law->target[0][0]];
}
// A load never falls below this share of the contact's unit, so that friction has a direction.
static inline double ab_patch_least_load(const abPatchContact* c) {
  return 1e-9 * c->mass * c->unit;
}
// Nothing but one contact: the contact alone is the whole problem.
static inline bool ab_patch_only(const abPatchIsland* island) {
  return island->ncontact == 1 && island->nrow == 0 && island->njoin == 0;
}

// --- law.c
// G may be NULL. Returns whether all of the patch presses and sticks: between two such twists the
// law is linear.
bool ab_patch_evaluate(abPatchLaw* law, const double V[6], double impulse[6], abPatchSlope* G);
// Its two parts: pressure, which is the same for any load, and friction. Whether all corners press,
// whether all of it sticks.
bool ab_patch_press(const abPatchLaw* law, const double V[6], double impulse[6], abPatchSlope* G);
bool ab_patch_rub(abPatchLaw* law, const double V[6], double impulse[6], abPatchSlope* G);
void ab_patch_set_load(abPatchLaw* law, double load);
// Decides whether friction is integrated about the pole in this step.
void ab_patch_choose_rule(abPatchLaw* law, const double V[6]);
void ab_patch_apply_G(const abPatchSlope* G, const double x[6], double y[6]);  // y = G x
// Share of the load whose slip speed exceeds `speed`.
double ab_patch_slipping_share(abPatchLaw* law, const double V[6], double speed);

// --- area.c
int ab_patch_store_size(const abPair* pair);  // numbers that ab_patch_set_area needs
void ab_patch_set_area(const abPair* pair, abPatchLaw* law, double* store);
void ab_patch_set_aims(abPatchLaw* law);  // after target[][] was set
// Friction acts at (x, y).
void ab_patch_spread(abPatchLaw* law, double x, double y);
void ab_patch_fill_points(abPatchLaw* law);
// --- hold.c
// part: mobility along the axes, at least what keeps forces finite. Sets `held`, `rest` and
// `reach`.
void ab_patch_hold(const abContactProblem* problem, abPatchContact* c, double part[3]);
// e^T Phi e along the three axes of one side: the change of its velocity at the patch's centre by
// a unit impulse there. Zero where it is fixed.
void ab_patch_mobility(const abResponse* r, const abPatchContact* c, int side, double part[3]);
// --- setup.c
abStatus ab_patch_setup(const abContactProblem* problem, abPatchSystem* system);
abStatus ab_patch_island(abPatchSystem* system, int index, abPatchIsland* island);
// In which depth that nothing explains is taken back; thin: of the bodies.
double ab_patch_recovery_time(const abContactProblem* problem, double thin);
// Makes contacts stiffer that carry more than was foreseen; whether there are any. And as they
// were, for the rest of the step.
bool ab_patch_stiffen(abPatchIsland* island);
void ab_patch_soften(abPatchIsland* island);
bool ab_patch_slides(const abPatchContact* c, const double V[6]);
// --- rebound.c
// Raises the aims of a contact that rebounds; returns whether it does. alone: its impulse may be
// moved to the moment of the impact if it does not.
bool ab_patch_add_restitution(const abPatchSystem* system, const abPair* pair, abPatchContact* c,
                              bool alone);
// No impulse of a rebound is delayed any more; false if none was.
bool ab_patch_act_at_once(abPatchIsland* island);
// --- gain.c
// What the island's contacts add to the energy in the step; size: what their impulses would do at
// the velocities of its beginning.
double ab_patch_gain(const abPatchIsland* island, double* size);
// Slows down the recovery of depth and lowers rebounds (or only these) where they add energy; false
// if they do not, or nothing that they ask for is its cause.
bool ab_patch_ask_for_less(abPatchIsland* island, bool only_rebounds);
bool ab_patch_gains(const abPatchIsland* island);  // more than is allowed
// --- recall.c
abPatchPlace ab_patch_find_place(const abPair* pair, const abPatchContact* c);
// Whether the patch is another one than that of the last step.
bool ab_patch_displaced(const abPatchMemory* m, const abPatchPlace* place, double thin);
// field: the pressure of the last step, now.
void ab_patch_recall(const abPatchSystem* system, const abPair* pair, const abPatchPlace* place,
                     abPatchContact* c, double field[3]);
// The thickness at which it rests: what it was in the last step, where the bodies have carried it,
// or that of now.
void ab_patch_recall_rest(const abPair* pair, const abPatchPlace* place, abPatchContact* c);
void ab_patch_recall_state(abPatchContact* c, const double field[3]);  // X, after the targets
double ab_patch_begin_fresh(abPatchContact* c, double field[3]);       // returns its load
void ab_patch_begin_drift(const abPatchSystem* system, const abPair* pair, abPatchContact* c);
void ab_patch_check_drift(const abPatchSystem* system, abPatchContact* c, bool fresh);
// --- impact.c
double ab_patch_turning(const abPatchSystem* system, const abPatchContact* c);  // the faster of two
void ab_patch_give_until_impact(const abPatchSystem* system, const abPair* pair, abPatchContact* c);
// --- island.c: the algebra
// The impulses given become part of the free motion.
void ab_patch_give(abPatchIsland* island);
// J x: without the drift.
void ab_patch_relative(const abPatchIsland* island, const abPatchContact* c, const double* x,
                       double V[6]);
void ab_patch_scatter(const abPatchIsland* island, const abPatchContact* c, const double f[6],
                      double* g);
void ab_patch_solve_inertia(const abPatchIsland* island, double* g);  // g <- M^-1 g
void ab_patch_apply_inertia(const abPatchIsland* island, const double* x, double* y);  // y = M x
void ab_patch_momenta(abPatchIsland* island);     // v = v_free + M^-1 sum J^T impulse
void ab_patch_set_twists(abPatchIsland* island);  // every V from v
double ab_patch_residual(abPatchIsland* island);  // from v, answer; leaves the gradient
// Largest share by which a load that bounds friction differs from the normal impulse, or by which
// it acts beside it.
double ab_patch_gap(const abPatchIsland* island);
double ab_patch_wanted_gap(const abPatchIsland* island);  // that is small enough
// Impulse of a row beyond that of the branch which the response assumes, at s . v.
double ab_patch_row_excess(const abRow* row, double sv, bool* inside);
static inline abBranch ab_patch_row_branch(const abRow* row, double sv) {
  double p = row->weight * (row->target - sv);
  return p <= row->low ? AB_BRANCH_LOW : p >= row->high ? AB_BRANCH_HIGH : AB_BRANCH_INSIDE;
}
static inline double ab_patch_row_speed(const abPatchRow* r, const double* v) {
  const double *s = r->row->s, *x = v + r->at;
  double sum = s[0] * x[0];
  for (int k = 1; k < r->row->n; k++) sum += s[k] * x[k];
  return sum;
}
// --- join.c: laws that join movers
// Edges of the islands -> system->link.
abStatus ab_patch_links(abPatchSystem* system);
// The island's rows among the edges item[0] .. item[n - 1], counted behind the contacts.
abStatus ab_patch_joins(abPatchIsland* island, int n, const int* item, abArena* arena);
// Where there are contacts, too: v from the impulses they begin with and the laws.
void ab_patch_join_start(abPatchIsland* island);
double ab_patch_join_speed(const abPatchJoin* j, const double* v);
double ab_patch_join_impulse(const abPatchJoin* j, double sv, bool* inside);
// gradient -= s p, scale of the residual += size of p
void ab_patch_join_residual(abPatchIsland* island, double* scale);
double ab_patch_join_rounding(const abPatchIsland* island, double speed);
// Sets every row's impulse from v and, where all blocks are free bodies, v from the impulses: what
// one body gets is then to rounding what the other gives.
void ab_patch_join_finish(abPatchIsland* island);
// Of the patch's fastest point in the relative motion V: one of its corners.
double ab_patch_speed(const abPatchContact* c, const double V[6]);
// How far the motion has gone, in units of each contact's own, from where the law gave the
// impulses.
double ab_patch_departure(const abPatchIsland* island);
// How far the law's derivative along the slip is trusted when the impulse carried is f.
double ab_patch_trust(const abPatchContact* c, const double answer[6], const double f[6]);
void ab_patch_mix_slack(abPatchSlope* G, double trust);
// The pressure at V, with the normal impulse f, becomes the profile of friction where the patch
// moves.
void ab_patch_follow_pressure(abPatchContact* c, const double V[6], const double f[6]);
// How far the friction of a sliding face acts from where the normal impulse f does: x, y. False if
// that does not matter.
bool ab_patch_offset(const abPatchContact* c, const double f[6], double d[2]);
// --- rows.c
// After ab_patch_momenta: the rows go over to the branches they are on with the impulses that the
// contacts begin with; inertia, factor, v_free and v become those of these branches.
abStatus ab_patch_turn_rows(abPatchIsland* island);
// --- matrix.c: M + sum J^T G J
typedef struct abPatchMatrix {
  abBlockSymbolic symbolic;
  double* value;
  bool factored;
} abPatchMatrix;
void ab_patch_add_joins(const abPatchIsland* island, const abPatchMatrix* matrix);
// AB_ERROR_UNSUPPORTED: the factorisation would cost too much.
abStatus ab_patch_matrix(abPatchIsland* island, abPatchMatrix* matrix);
// The columns of the contacts with joint trees; once per step.
abStatus ab_patch_columns(abPatchIsland* island, abArena* arena);
// V += T v, g += T^T f of one side's block, and B (n columns) += A^T G C; where A is C, the upper
// half of B holds nothing.
void ab_patch_columns_relative(const abPatchColumns* c, const double* v, double V[6]);
void ab_patch_columns_scatter(const abPatchColumns* c, const double f[6], double* g);
void ab_patch_columns_add(const abPatchSlope* G, const abPatchColumns* A, const abPatchColumns* C,
                          int n, double* B);
void ab_patch_factor(abPatchIsland* island, abPatchMatrix* matrix);
// x <- H^-1 x
void ab_patch_back(const abPatchMatrix* matrix, double* x);
// --- alone.c
abStatus ab_patch_alone(abPatchIsland* island);  // takes room
// Each contact alone; answer and G become the law's linearised there. Returns how far all would go
// from V, as an energy. first: the law at V has just been evaluated.
double ab_patch_relax(abPatchIsland* island, bool first);
// answer and G from the law at X, in X_f and X_G.
void ab_patch_linearise(abPatchContact* c);
// --- shift.c
void ab_patch_find_shift(abPatchIsland* island, abPatchMatrix* matrix);  // after the solve
// --- loads.c
// Change of friction at X where its load changes by dl and acts (x, y) farther on: there the slip
// is another. df[2..4] are 0.
void ab_patch_friction_change(const abPatchContact* c, double dl, double x, double y, double df[6]);
// --- solve.c, with newton.h, line_search.c and passes.c
abStatus ab_patch_solve(abPatchIsland* island);
void ab_patch_begin_anew(abPatchIsland* island);  // without impulses
// --- memory.c
void ab_patch_remember(const abPatchIsland* island, abPatchContact* c, abPairSolution* solution);

#endif
