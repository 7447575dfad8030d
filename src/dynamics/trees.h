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
  int ndof, dof;      // its velocities are v[dof] .. v[dof + ndof - 1]
  int block;          // its ndof x ndof matrices start here in abTrees.extra and Dinv
  int bound;          // first of its bounds, -1 if it has none
  abVec3 point;       // reference point in the world
  abVec3 r;           // from the parent's point to this one
  abVec3 axis;        // hinge and slide, in the world
  abMat3 R;           // ball: orientation of the link
  abTwist twist;      // at `point`
  abTwist product;    // acceleration at `point` that the velocities alone cause, of this joint
  abTwist bias;       // and of all up to the root together, at the start of the step
  abWrench inertial;  // what the rigid link needs for it
  abWrench load;      // gravity and applied wrenches; the actuators' on a free body
  abInertia6 rigid, articulated;
} abLink;

// A piecewise linear law of one joint, P = clamp(weight (target - s . v), low, high): P is the
// impulse along s of the step, v the joint's velocities at its end. Joint limits, dry friction and
// actuators with a force range are all of this kind (dynamics/bound.c).
#define AB_BOUND_STIFFNESS 1e6  // weight of a stiff bound per inertia of its joint
typedef enum abBoundState { AB_BOUND_LOW, AB_BOUND_INSIDE, AB_BOUND_HIGH } abBoundState;
typedef struct abBound {
  int joint;
  int next;      // of the same joint, -1: the last
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
  double (*S)[6];        // twist of the link by a unit velocity
  double (*U)[6];        // articulated inertia times S
  double* tau;           // joint forces taken at the start of the step
  double* inertial;      // what the inertial wrenches added to v_free
  double* reaction;      // joint impulses of the bounds at the velocities of a solve
  double* reaction_new;  // scratch, like those below
  double* move;          // velocities along which the coordinates move
  double* impulse;       // scratch
  double* change;        // scratch
  // per block
  double* extra;  // armature and the implicit joint terms
  double* Dinv;
  // those of mover m are bound[bound0[m]] .. bound[bound1[m] - 1]
  abBound* bound;
  int *bound0, *bound1;
  // scratch of a solve, per link: one solve per mover at a time
  abWrench* push;
  abTwist* pull;
  double* u;
  abInertia6* composite;
  const abVec3* com;  // data->com, for the response
  // The state that ab_kinematics last did all its work for; valid while nothing else wrote there.
  double *q_seen, *v_seen;
  bool seen;
  // RK4: the state at the end of the step without contact and bounds
  double *q_smooth, *v_smooth;
  size_t bytes;
} abTrees;

typedef struct abTreeRange {
  int joint0, joint1;  // joints [joint0, joint1) of a mover
} abTreeRange;
static inline abTreeRange tree_range(const abModel* model, const abMover* mover) {
  const abBody* last = &model->body[mover->body0 + mover->nbody - 1];
  return (abTreeRange){model->body[mover->body0].joint0, last->joint0 + last->njoint};
}

// --- tree_state.c
// The links' places, rigid inertias and loads, and ab_tree_velocity at data->v. Needs
// ab_kinematics.
void ab_tree_state(const abModel* model, const abData* data, int mover);
// The links' twists, velocity products and inertial wrenches at v.
void ab_tree_velocity(const abModel* model, const abData* data, int mover, const double* v);

// --- tree_solve.c
// Articulated inertias and Dinv, with `extra` and the bounds that are INSIDE on the diagonal.
// Fills in the weights of the stiff bounds.
void ab_tree_factor(abTrees* trees, int mover);
typedef enum abLoad {
  AB_LOAD_NONE,      // joint impulses only
  AB_LOAD_INERTIAL,  // and the inertial wrenches
  AB_LOAD_ALL        // and gravity and applied wrenches
} abLoad;
// dv (all velocities of the model; those of the mover are written) by the load over the time h and
// by joint impulses (NULL: none). One call per mover at a time.
void ab_tree_solve(const abTrees* trees, int mover, abLoad load, double h, const double* impulse,
                   double* dv);
// v += what an impulse on one link does; at the link's point.
void ab_tree_push(const abTrees* trees, int mover, int joint, abWrench impulse, double* v);
// omega of every link of the mover.
void ab_tree_omega(abTrees* trees, int mover);
// B <- B N X: the twist of a link by that of its parent when the joint is free to give way.
void ab_tree_pass(const abTrees* trees, int joint, abMat6* B);

void ab_inertia6_add(abInertia6* a, const abInertia6* b);
// The same inertia taken about the point from which its own lies r away.
abInertia6 ab_inertia6_shift(const abInertia6* I, abVec3 r);
static inline abWrench inertia6_apply(const abInertia6* I, abTwist t) {
  return (abWrench){v3_add(m3_apply(&I->A, t.lin), m3_apply(&I->B, t.ang)),
                    v3_add(m3_apply_t(&I->B, t.lin), m3_apply(&I->C, t.ang))};
}

// --- tree_drift.c
// Kinetic energy and momentum of a mover; the angular momentum is about its centre of mass.
typedef struct abTreeMotion {
  double energy, mass;
  abVec3 com;
  abWrench momentum;
} abTreeMotion;
// At velocities v in the configuration of the last ab_tree_state.
abTreeMotion ab_tree_motion(const abModel* model, const abData* data, int mover, const double* v);
// Gives the velocities data->v at the new coordinates data->q the energy of `before`, and the
// momentum too if the tree floats; its centre of mass then goes straight, unless it is touched.
void ab_tree_drift(const abModel* model, abData* data, int mover, abTreeMotion before,
                   bool touched);

// --- joint_force.c
// Axis times angle (at most pi) of a unit quaternion.
abVec3 ab_rotation_vector(abQuat q);
// Springs, dampers and armature of a mover's joints -> tau, extra. implicit: what they do at the
// end of the step goes to extra; else only armature.
void ab_joint_forces(const abModel* model, abData* data, int mover, bool implicit);
// All actuators: forces on joints (tau), feedback to be taken at the end of the step (bounds, if
// implicit), wrenches on free bodies (link.load).
void ab_actuators(const abModel* model, abData* data, bool implicit);

// --- bound.c
// A new bound of a joint, all zero but for joint, actuator = -1 and its place in the lists.
abBound* ab_bound_add(abTrees* trees, int joint);
// Limits and friction of a mover's joints at the start of a step.
void ab_bounds_begin(const abModel* model, abData* data, int mover);
// v = base + dv by the bounds' impulses and, if smooth, by tau, loads and inertial wrenches over h.
// Leaves the mover factored for the response.
void ab_bounds_solve(abData* data, int mover, bool smooth, const double* base, double* v);
// The branches of the bounds at v, the velocities with contact. Where they differ from the present
// ones, changes to them: v_free and the factorised tree are those of the new branches. False if
// they are the same.
bool ab_bounds_follow(abData* data, int mover, const double* v, double* v_free);
// After contact: takes back what a bound gave beyond its range, and the speed with which limits
// return; move: the velocities with that speed, along which the coordinates are to move.
void ab_bounds_finish(abData* data, int mover, double* v, double* move);

#endif
