// What the files of the model `patch` share. The derivation stands in patch.c.
#ifndef ABUT_CONTACT_PATCH_H
#define ABUT_CONTACT_PATCH_H

#include <abut/contact.h>

#include "base/arena.h"
#include "contact/island.h"
#include "contact/quadrature.h"
#include "solve/block_cholesky.h"

// The parameters, in the order of the model's list.
enum {
  AB_PATCH_TOLERANCE,
  AB_PATCH_STIFFNESS,
  AB_PATCH_FRICTION_STIFFNESS,
  AB_PATCH_RECOVERY,
  AB_PATCH_SLOP,
  AB_PATCH_ITERATIONS,
  AB_PATCH_DIRECT_LIMIT,
  AB_PATCH_SWEEPS,
  AB_PATCH_SWEEP_TOLERANCE,
  AB_PATCH_NPARAM
};

// Changes of load, stiffness and profile by less than this share are left until they have added up
// to it: a tenth of the tolerance.
#define AB_PATCH_SAME 1e-6

// A patch slides when more than half of its load moves faster than this many times slip_speed: well
// above what the bristle's own motion reaches under a load that is slowly raised.
#define AB_PATCH_SLIDING 4.0
// The bristle of a patch that does not slide may grow to this many times the length of first
// saturation: the last per cent of the limit surface is reached so, all with zero velocity.
#define AB_PATCH_BRISTLE 20.0

// A pair this many steps old has arrived. Until then the body still falls on its rest depth, its
// load says nothing, and what it slides is judged by static friction: the normal impulse that stops
// the fall can stop the sliding that came with it.
#define AB_PATCH_NEW 24

// Islands with more contacts than this are large: see solve_one in patch.c and end_pass in
// patch_newton.c.
#define AB_PATCH_LARGE 64

// Calm: no patch has changed its motion by more than this times g h since the last step.
#define AB_PATCH_CALM 30

// Loops over contacts are shared by threads in pieces of this many.
#define AB_PATCH_CHUNK 32
static inline int ab_patch_chunks(int n) { return (n + AB_PATCH_CHUNK - 1) / AB_PATCH_CHUNK; }

// Contacts with at most this many corners are kept from step to step.
enum { AB_PATCH_CORNERS = 12 };

// Local 6-vectors are (t1, t2, normal) components: velocity at the patch's centre and angular
// velocity; likewise impulses and moments about the centre.

// Share of a patch's pressure that its border carries, as a line. So a body that tips turns about
// the border: with the area alone, pressure needs some width, and a cube tips too soon for
// test_patch with steps of 5 and 10 ms.
#define AB_PATCH_BORDER 0.1

// A part of the area in which one of the targets is the smaller, and its moments.
typedef struct abPatchPart {
  int target;
  abPatchArea area;
  double m[6];
  bool measured;  // m is known
} abPatchPart;

// The contact law of one patch: from a relative twist to an impulse.
typedef struct abPatchLaw {
  // the area: points of the rule; the first `ncorner` are its corners and always filled in, the
  // others when they are first needed
  int ncorner, npoint;
  double *x, *y, *w;
  bool filled;
  const abVec2* polygon;
  double* fine;  // room for the finer rule (x, y, w), NULL if there is none for this patch
  bool use_fine, fine_filled, was_fine;  // now; computed; in the step before
  bool fine_refused;                     // it is none for this profile
  bool about_pole;                       // fast: integrated about the pole instead
  double fine_scale;  // makes the finer rule's integral of the profile that of the other
  abPolygonMoments moments;
  // normal: pressure = max(0, min over i of (target[i] - normal velocity) * weight), target[i] =
  // affine in (1, x, y)
  double weight;
  double target[2][3];
  int npart;  // 0: the area is collapsed to a point or line, and summed over its points
  abPatchPart part[2];
  // friction
  double weight_t;    // slope [N s / m per m^2] while sticking
  double bristle[3];  // k (r_b, theta_b): velocity the bristle adds
  double mu;
  // The pressure's distribution, for friction: max(0, min of two affine fields), that of the last
  // step, so that friction while sticking depends on nothing but the twist. Within the step only
  // its size, `load`, follows the pressure, and the whole of it only where the patch slides.
  double profile[2][3];
  double stick[4];    // integrals of the profile times 1, x, y, x^2 + y^2
  double spread;      // radius of the area that a point of the rule stands for, see patch_law.c
  double load;        // normal impulse that bounds friction
  double gain;        // traction limit = gain * profile
  double slip_speed;  // friction is saturated from this speed on
  double trust;       // in the direction of slip, see patch_island.c: 1 Newton, 0 majorised
} abPatchLaw;

typedef struct abPatchSide {
  int body, block;  // block of the island's system, -1: fixed to the world
  int n;            // its size
  abVec3 r;         // patch centre - centre of mass
  const double* J;  // body's Jacobian (6 x n), NULL for a free body
} abPatchSide;

// The law's last answer, see patch_near.c.
typedef struct abPatchNear {
  double f[6], G[12];      // answer, minus its derivative
  double since[6];         // of a contact that is still: question = e + since + twist
  double reach2, radius2;  // how far it holds; of the patch; squared
  double same2;            // how far the pressure may be taken to be the same; likewise
  double e[6];             // question
  bool known;
} abPatchNear;

// Square of how far a question is from the one that is known, d their difference.
static inline double ab_patch_way2(const abPatchNear* near, const double d[6]) {
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] +
         near->radius2 * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]);
}

typedef struct abPatchContact {
  // first and side by side what the algebra of an island goes through again and again
  abPatchSide side[2];
  abVec3 axis[3];     // t1, t2, normal
  double impulse[6];  // such that velocities = free velocities + response to the impulses, always
  double V[6];        // relative twist
  double answer[6];   // the law's impulse at V
  int pair;
  int place;        // where it is kept, see patch_cache.c; 0: nowhere
  int newton_wait;  // see solve_one in patch.c
  int age;          // steps since the pair came near, up to AB_PATCH_NEW
  bool slipping;
  bool kept;      // from the last step, followed
  bool still;     // see patch_still.c
  bool woken;     // it was, when the step began
  bool rebounds;  // the targets are raised by restitution
  abPatchNear near;
  double state[6];  // the twist at which the law gave the impulse, at first that of the last step
  double slide[3];  // its tangential part with the bristle of then
  abPatchLaw law;
  double mu_static, mu_kinetic;
  double push, drag;   // effective mass along the normal and across it, per area
  double plain[2][3];  // the targets without restitution
  double* part_room;   // for ab_patch_part_area
  double step[6];      // change of V by a Newton step
  double G[12];        // minus the law's derivative: packed normal and tangential 3 x 3 blocks
  bool linear;         // the law is, about V: ab_patch_evaluate
} abPatchContact;

// What is remembered of a pair, in the axes of its patch.
typedef struct abPatchMemory {
  double h;  // of the step that wrote this; 0: nothing remembered
  abVec3 center, t1,
      normal;         // in the world, moved along with the two bodies to the end of the step
  double bristle[3];  // displacement at `center`, and about the normal
  double slide[3];    // velocity and bristle together, which gave the friction; likewise
  double impulse[6];
  double pressure[2][3];  // the profile for friction: most of the one before is in it
  double field[3];        // the pressure itself, of the first target
  double thickness;       // of the thinner body, across the contact
  double load;            // what bounds friction and sets the stiffness
  bool slipping, fine;
  int newton_wait;
  int age;
  int place;       // of its contact, see patch_cache.c
  uint64_t stamp;  // of the step that wrote the contact
} abPatchMemory;

typedef struct abPatchDebts abPatchDebts;

// The whole system of one step.
typedef struct abPatchSystem {
  const abContactProblem* problem;
  double h, gravity;
  const double* param;
  int ncontact;
  int* pair;                             // per contact, ascending
  abPatchContact** contact;              // likewise
  abIslands islands;                     // of contacts
  int* block;                            // per mover: of its island's system
  const double** jacobian;               // per body, of joint trees only
  double (*pressure)[AB_PATCH_CORNERS];  // per pair: room for what is told of those woken
  abPatchDebts* debts;                   // see patch_hold.c; NULL: none
} abPatchSystem;

typedef struct abPatchIsland {
  abPatchSystem* system;
  int ncontact, nblock, ndof;
  abPatchContact** contact;
  const int* index;        // per contact: in the system's
  const int* mover;        // per block
  const int* size;         // per block
  const int* offset;       // per block, into the vectors below
  const double** inertia;  // per block: NULL for a free body, else ndof x ndof
  const double** factor;   // likewise, its Cholesky factor
  double *v, *v_free, *gradient, *direction, *momentum;
  double* scale;  // per block: what the residual is measured by
  abArena* scratch;
  struct abPool* pool;  // threads for loops over its contacts, or NULL
  abArena* cache;       // of large islands, else NULL
  double departure;     // ab_patch_departure at the beginning
  bool pays;            // a part of what is owed, in this step: see patch_hold.c
  bool* idle;           // per block, while velocities are held, else NULL: likewise
  double* owed;         // while the velocities are held, else NULL: see patch_hold.c
  // what is left to do for each contact when it is remembered
  bool state_is_now;  // the law gave the impulses at V
  bool loads_follow;  // ab_patch_follow_load
  // result
  int newton_wait;
  int iterations, nregularised;
  double residual;
} abPatchIsland;

// --- patch_law.c
// G: tangential 3 x 3 block in (t1, t2, turn about n) packed as 00 01 11 02 12 22, then the normal
// block in (n, turn about t1, turn about t2), packed alike. G may be NULL. Returns whether all of
// the patch presses and sticks: between two such twists the law is linear.
bool ab_patch_evaluate(abPatchLaw* law, const double V[6], double impulse[6], double G[12]);
void ab_patch_profile_ready(abPatchLaw* law);  // after profile[][] was set
void ab_patch_set_load(abPatchLaw* law, double load);
void ab_patch_pressure_fields(const abPatchLaw* law, const double V[6], double field[2][3]);
// Chooses the finer rule for friction where the patch turns; never goes back within a
// step, so that the energy a pass minimises is one function.
void ab_patch_choose_rule(abPatchLaw* law, const double V[6]);
double ab_patch_pressure(const abPatchLaw* law, const double V[6], double x, double y);
void ab_patch_apply_G(const double G[12], const double x[6], double y[6]);  // y = G x
void ab_patch_expand_G(const double G[12], double full[36]);
// Share of the load whose slip speed exceeds `speed`.
double ab_patch_slipping_share(abPatchLaw* law, const double V[6], double speed);

// --- patch_near.c
bool ab_patch_near(abPatchContact* c);      // sets c->answer at c->V, if that is near
void ab_patch_ask_near(abPatchContact* c);  // asks the law itself, and remembers
// --- patch_still.c
// At the end of a step: the contact may be left alone from now on.
void ab_patch_rest(const abPatchIsland* island, abPatchContact* c);
// The end of a step of one that is still; false: no longer, it has been woken.
bool ab_patch_stay(const abPatchSystem* system, abPatchContact* c);
// The law is as if it had been followed all the time.
void ab_patch_wake(const abPatchSystem* system, abPatchContact* c);
void ab_patch_wake_all(abPatchIsland* island);  // and has a V
// What is remembered of it likewise, as of the end of the last step.
void ab_patch_resume(const abPatchSystem* system, abPatchContact* c, abPatchMemory* memory);
// --- patch_area.c
int ab_patch_store_size(const abPair* pair);  // numbers that ab_patch_set_area needs,
                                              // and behind them ab_patch_part_area
void ab_patch_set_area(const abPair* pair, abPatchLaw* law, double* store);
// After target[][] was set; room for 4 (ncorner + 2) numbers.
void ab_patch_part_area(abPatchLaw* law, double* room);
// --- patch_setup.c
abStatus ab_patch_setup(const abContactProblem* problem, abPatchSystem* system);
abStatus ab_patch_island(abPatchSystem* system, int index, abPatchIsland* island);
// What is needed while it is solved, in scratch that the next one may use again.
abStatus ab_patch_open(abPatchIsland* island, abArena* scratch);
// Of contacts that are still: the islands may be others than in the last step.
void ab_patch_find_blocks(abPatchIsland* island);
// Halves what restitution adds to the targets of every rebounding contact.
void ab_patch_lower_rebound(abPatchIsland* island);
// What the island's contacts add to the energy in the step, relative to their part of it.
double ab_patch_work(const abPatchIsland* island);
bool ab_patch_gains(abPatchIsland* island);  // energy, noticeably; makes every V from v
// --- patch_island.c: the algebra both solvers use
void ab_patch_twist(const abPatchIsland* island, const abPatchSide* side, const double* v,
                    abTwist* twist);
void ab_patch_relative(const abPatchIsland* island, const abPatchContact* c, const double* v,
                       double V[6]);
void ab_patch_scatter(const abPatchIsland* island, const abPatchContact* c, const double f[6],
                      double* g);
double ab_patch_mass(const abPatchIsland* island, int block);
void ab_patch_solve_inertia(const abPatchIsland* island, double* g);    // g <- M^-1 g
double ab_patch_kinetic(const abPatchIsland* island, const double* d);  // d^T M d
void ab_patch_momenta(abPatchIsland* island);     // v = v_free + M^-1 sum J^T impulse
void ab_patch_velocities(abPatchIsland* island);  // the same, and every V
double ab_patch_residual(abPatchIsland* island);  // from V, impulse, answer; leaves the gradient
// The same after asking the law; `moved`: V is made from v first.
double ab_patch_look(abPatchIsland* island, bool moved);
// Of the patch's fastest point in the relative motion V: one of its corners.
double ab_patch_speed(const abPatchContact* c, const double V[6]);
double ab_patch_unit_speed(const abPatchSystem* system);  // g h, or what stands for it
// Makes V from v, but not of contacts that are still. How far the motion has gone, in units of g h,
// from where the law gave the impulses.
double ab_patch_departure(const abPatchIsland* island);
// The normal impulse becomes the bound of friction, blended with the one before.
void ab_patch_update_load(abPatchContact* c, const double impulse[6], double blend);
void ab_patch_follow_load(abPatchContact* c);  // the same for the next step
// How far the law's derivative along the slip is trusted when the impulse carried is f.
double ab_patch_trust(const abPatchContact* c, const double f[6]);
// --- patch_newton.c
// Leaves the residual above the tolerance where it fails, or where the matrix is too large.
abStatus ab_patch_newton(abPatchIsland* island);
// --- patch_hold.c
void ab_patch_pay(abPatchIsland* island);      // what was owed, with v_free
void ab_patch_hold(abPatchIsland* island);     // if they can be
bool ab_patch_release(abPatchIsland* island);  // false: they were not held
void ab_patch_solved(abPatchIsland* island);   // the impulses are those of the velocities again
// A contact that is still, between bodies that are idle.
static inline bool ab_patch_idles(const abPatchIsland* island, const abPatchContact* c) {
  int a = c->side[0].block, b = c->side[1].block;
  return c->still && island->idle && (a < 0 || island->idle[a]) && (b < 0 || island->idle[b]);
}
void ab_patch_owe(const abPatchIsland* island);
// --- patch_cache.c
// Room for ab_patch_store_size: six corners need the most, the last number that has the finer rule.
enum { AB_PATCH_STORE = 3 * (28 + 72) + 2 * 6 + 4 * 8 };
typedef struct abPatchPlaces abPatchPlaces;
abPatchPlaces* ab_patch_places(const abContactProblem* problem);  // NULL: none
// The place of the contact that wrote the memory, if it is still there, else 0.
int ab_patch_place_find(abPatchPlaces* places, const abPatchMemory* memory);
int ab_patch_place_take(abPatchPlaces* places);  // a free one, after all others were found
void ab_patch_place_stay(abPatchPlaces* places, int place);  // that of a contact that is still
// The memory was written at the end of the last step.
void ab_patch_place_resume(abPatchPlaces* places, int place, abPatchMemory* memory);
abPatchContact* ab_patch_place(const abPatchPlaces* places, int place, double** store);
// The contact is now as the memory says.
void ab_patch_place_wrote(const abContactProblem* problem, int place, abPatchMemory* memory);

abPatchDebts* ab_patch_debts(const abContactProblem* problem);          // after ab_patch_places
bool ab_patch_debt(const abPatchDebts* debts, int mover, double r[6]);  // false: none
void ab_patch_set_debt(abPatchDebts* debts, int mover, const double r[6]);

typedef struct abPatchCache abPatchCache;
void ab_patch_cache_share(const abContactProblem* problem, int n, abPatchIsland* island);
abPatchCache* ab_patch_cache_find(const abPatchIsland* island);  // NULL: not for these contacts
abPatchCache* ab_patch_cache_make(const abPatchIsland* island);  // NULL: no room, or none for it
void ab_patch_cache_forget(const abPatchIsland* island);
abBlockSymbolic* ab_patch_cache_symbolic(abPatchCache* cache);
double* ab_patch_cache_value(const abPatchIsland* island, abPatchCache* cache);
// The values are factors, with the contacts' present G, or no longer.
void ab_patch_cache_factored(const abPatchIsland* island, abPatchCache* cache, bool done);
// One step with the old factors, from which V does not follow yet; false if there are none.
bool ab_patch_chord(abPatchIsland* island, const abPatchCache* cache);
// --- patch_sweep.c
abStatus ab_patch_sweep(abPatchIsland* island);
// For Newton's method: each contact by itself. Both leave answer and G as linearised there: where
// the impulse came from, or where the contact alone would go. ab_patch_relax returns how many
// contacts were far from there.
typedef struct abPatchAlone abPatchAlone;
abPatchAlone* ab_patch_alone(abPatchIsland* island);  // NULL: no memory
int ab_patch_relax(abPatchIsland* island, abPatchAlone* alone);
// --- patch_memory.c
void ab_patch_remember(const abPatchIsland* island, abPatchContact* c, abPairSolution* solution);

#endif
