// What the dynamics layer keeps of the joint trees. One allocation, made with the data; nothing
// here is state: it is all computed anew in each step.
//
// The links of a tree are its joints: joint j carries the (possibly massless) link that moves with
// it, and joints of one body are links in a row. Bodies without joints belong to the link of the
// body they are welded to. Every link has a reference point, its joint's anchor (the centre of mass
// of the body for a free joint); twists and wrenches of a link are taken there, in world axes.
#ifndef ABUT_DYNAMICS_TREES_H
#define ABUT_DYNAMICS_TREES_H

#include <abut/data.h>

#include "math/spatial.h"

// A 6x6 inertia [A B; B^T C] (linear, angular) about a link's point; A and C symmetric.
typedef struct abInertia6 {
  abMat3 A, B, C;
} abInertia6;

typedef struct abLink {
  int parent;  // joint of the parent link, -1: the link hangs on the world
  int body;
  int ndof, dof;    // its velocities are v[dof] .. v[dof + ndof - 1]
  int block;        // its ndof x ndof matrices start here in abTrees.D etc.
  abVec3 point;     // reference point in the world
  abVec3 r;         // from the parent's point to this one
  abVec3 axis;      // hinge and slide, in the world
  abMat3 R;         // ball: orientation of the link
  abTwist twist;    // at `point`
  abTwist product;  // acceleration at `point` that the velocities alone cause
  abWrench bias;    // what the rigid link needs for it, less gravity and applied wrenches
  abInertia6 rigid, articulated;
} abLink;

// A piecewise linear law of one joint, P = clamp(weight (target - s . v), low, high): P is the
// impulse along s of the step, v the joint's velocities at its end. Joint limits, dry friction and
// actuators with a force range are all of this kind (dynamics/bound.c).
typedef enum abBoundState { AB_BOUND_LOW, AB_BOUND_INSIDE, AB_BOUND_HIGH } abBoundState;
typedef struct abBound {
  int joint;
  int actuator;  // -1 if none
  bool stiff;    // weight follows from the joint's articulated inertia
  bool dry;      // friction: INSIDE means sticking
  double s[6];   // in the joint's velocities
  double weight, target, low, high;
  abBoundState state;
} abBound;

typedef struct abTrees {
  const abModel* model;
  // per body
  int* mover_of_body;
  int* link_of_body;  // joint whose link the body belongs to, -1 if fixed to the world
  double *mass, *inv_mass;
  // per joint
  abLink* link;
  abMat6* omega;  // change of a link's twist by an impulse on it
  // per velocity
  double (*S)[6];    // twist of the link by a unit velocity
  double (*U)[6];    // articulated inertia times S
  double* tau;       // joint forces taken at the start of the step
  double* velocity;  // scratch: the velocities a solve works towards
  // per block
  double* extra;  // armature and the implicit joint terms
  double* Dinv;
  // bounds of all movers; those of mover m are bound[bound0[m]] .. bound[bound0[m + 1] - 1]
  abBound* bound;
  int* bound0;
  // scratch of a solve, per link: one solve per mover at a time
  abWrench* push;
  abTwist* pull;
  double* u;
  abInertia6* composite;
  // RK4: coordinates at the end of the step without contact
  double* q_smooth;
  size_t bytes;
} abTrees;

// --- tree_state.c
// The links' places, velocities and rigid inertias from data's bodies. Needs ab_kinematics.
void ab_tree_state(const abModel* model, const abData* data, const abMover* mover);

// --- tree_solve.c
typedef struct abTreeRange {
  int joint0, joint1;  // joints [joint0, joint1) of a mover
} abTreeRange;
abTreeRange ab_tree_range(const abModel* model, const abMover* mover);
// Articulated inertias and Dinv, with `extra` and the bounds that are INSIDE on the diagonal.
// Fills in the weights of the stiff bounds.
void ab_tree_factor(abTrees* trees, int mover);
// dv: the accelerations under bias, tau and the links' wrenches (factored before).
void ab_tree_accelerate(abTrees* trees, int mover, double* dv);
// dv: change of the velocities by joint impulses (per velocity, may be NULL) alone.
void ab_tree_impulse(const abTrees* trees, int mover, const double* impulse, double* dv);
// omega of every link of the mover.
void ab_tree_omega(abTrees* trees, int mover);

static inline abInertia6 inertia6_zero(void) { return (abInertia6){{{{0}}}, {{{0}}}, {{{0}}}}; }
void ab_inertia6_add(abInertia6* a, const abInertia6* b);
// The same inertia taken about a point r before its own: X^T I X with X = [1 -[r]x; 0 1].
abInertia6 ab_inertia6_shift(const abInertia6* I, abVec3 r);
static inline abWrench inertia6_apply(const abInertia6* I, abTwist t) {
  return (abWrench){v3_add(m3_apply(&I->A, t.lin), m3_apply(&I->B, t.ang)),
                    v3_add(m3_apply_t(&I->B, t.lin), m3_apply(&I->C, t.ang))};
}

// --- joint_force.c
// tau and extra of a mover's joints, actuator forces, and (implicit steps) which feedback is taken
// at the end of the step. implicit = false: everything as it is at the start.
void ab_joint_forces(const abModel* model, abData* data, int mover, bool implicit);
// The wrench of the actuators on a free body, at its centre of mass.
abWrench ab_free_actuators(const abModel* model, abData* data, int body);

// --- bound.c
// The bounds of a mover at the start of a step, with a first guess of their states.
void ab_bounds_begin(const abModel* model, abData* data, int mover);
// Velocities at the end of the step from base velocities: v = base + dv, with the bounds' impulses
// and, if smooth, the accelerations of ab_tree_accelerate over h. Leaves the mover factored.
void ab_bounds_solve(const abModel* model, abData* data, int mover, bool smooth, double* v);
// After contact: takes back what a bound would have pulled beyond its range.
void ab_bounds_release(const abModel* model, abData* data, int mover, double* v);

#endif
