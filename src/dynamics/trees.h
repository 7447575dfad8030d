// What the dynamics layer keeps of the joint trees. One allocation, made with the data; nothing
// here is state: it is all computed anew in each step.
//
// The links of a tree are its joints: joint j carries the (possibly massless) link that moves with
// it, and joints of one body are links in a row. Bodies without joints belong to the link of the
// body they are welded to.
//
// All twists, wrenches and inertias of a tree are taken at one point, its origin, in world axes:
// the centre of mass of a free root, else where the first body's frame is before its joints move
// it. So they add up from link to link as they are, and none of them knows where in the world the
// tree is. Accelerations are those of 6-vectors at a point that does not go along (Featherstone's
// spatial ones): the rate of the velocity found at the origin, whichever material is there.
#ifndef ABUT_DYNAMICS_TREES_H
#define ABUT_DYNAMICS_TREES_H

#include <abut/data.h>

#include "math/six.h"

typedef struct abLink {
  int parent;  // joint of the parent link, -1: the link hangs on the world
  int body;
  int ndof, dof;  // its velocities are v[dof] .. v[dof + ndof - 1]
  int block;      // its ndof x ndof matrices start here in abTrees.extra and Dinv
  int bound;      // first of its bounds, -1 if it has none
} abLink;

// A piecewise linear law of one joint, P = clamp(weight (target - s . v), low, high): P is the
// impulse along s of the step, v the joint's velocities at its end. Joint limits, dry friction and
// actuators with a force range are all of this kind (dynamics/bound.c).
#define AB_BOUND_STIFFNESS 1e6  // weight of a stiff bound per inertia of its joint
#define AB_BOUND_RETURN 0.2     // share of what lies beyond a limit that is taken back in a step
typedef enum abBoundState { AB_BOUND_LOW, AB_BOUND_INSIDE, AB_BOUND_HIGH } abBoundState;
typedef struct abBound {
  int joint, n, dof;  // s acts on v[dof] .. v[dof + n - 1]
  int next;           // of the same joint, -1: the last
  int actuator;       // -1 if none
  bool stiff;         // weight follows from the joint's articulated inertia
  bool dry;           // friction: INSIDE means sticking
  bool far;           // a limit that its joint is far beyond
  double s[6];
  double weight, target, low, high;
  abBoundState state;
  double begin, step;  // s . v at the beginning of a way, and its change along it
  bool bends;          // it goes over to another branch there
} abBound;

typedef struct abTrees {
  const abModel* model;
  // per body
  int* mover_of_body;
  int* link_of_body;  // joint whose link the body belongs to, -1 if fixed to the world
  double *mass, *inv_mass;
  abMat3* inertia;      // in the body's axes, about its centre of mass
  abVec3 *place, *arm;  // of trees, from the origin: the body's frame, its centre of mass
  // per mover, of trees
  abVec3* origin;
  // per joint
  abLink* link;
  abRigid* rigid;       // the link's inertia
  abSix* twist;         // seen from a frame that goes along with the centre of mass of a free root
  abSix* bias;          // acceleration that the velocities cause, at the start of the step
  abSix6* articulated;  // what the link is to an acceleration when all joints behind it give way
  abSix6* omega;        // change of a link's twist by an impulse on it
  bool* wanted;         // omega is needed
  // per velocity
  abSix* S;                // twist of the link by a unit velocity
  abSix* G;                // articulated inertia times S, times Dinv
  double* tau;             // joint forces taken at the start of the step, loads among them
  double* inertial_force;  // what the joints need for the bias, at the start of the step
  double* inertial;        // what that added to v_free
  double* reaction;        // joint impulses of the bounds at the velocities of a solve
  double* reaction_new;    // scratch, like those below
  double* move;            // velocities along which the coordinates move
  double* impulse;         // scratch
  double* change;          // scratch
  // per block
  double* extra;  // armature and the implicit joint terms
  double* Dinv;
  // those of mover m are bound[bound0[m]] .. bound[bound1[m] - 1]
  abBound* bound;
  int *bound0, *bound1;
  // scratch of a pass, per link: one pass per mover at a time
  abSix *push, *pull, *pull_rate;
  double* u;
  abRigid* composite;
  // The state that ab_kinematics last did all its work for; valid while nothing else wrote there.
  double *q_seen, *v_seen;
  bool seen;
  double kinetic;  // energy of that state, where a step has ended in it; else negative
  // Per mover: a tree whose bodies were placed for the coordinates it has, within a step.
  bool* placed;
  // RK4: the state at the end of the step without contact and bounds
  double *q_smooth, *v_smooth;
  struct abTrees* stage;  // and the same as all of this at a stage
  struct abLaws* laws;    // laws that join joints and bodies, of this step, or NULL
} abTrees;

typedef struct abTreeRange {
  int joint0, joint1;  // joints [joint0, joint1) of a mover
} abTreeRange;
static inline abTreeRange tree_range(const abModel* model, const abMover* mover) {
  const abBody* last = &model->body[mover->body0 + mover->nbody - 1];
  return (abTreeRange){model->body[mover->body0].joint0, last->joint0 + last->njoint};
}

static inline bool tree_floats(const abModel* model, const abMover* mover) {
  return model->joint[model->body[mover->body0].joint0].type == AB_JOINT_FREE;
}

// --- tree_place.c
// Everything that coordinates alone decide but the position of the origin: orientations, place and
// arm, S, inertias.
void ab_tree_place(const abModel* model, abData* data, int mover);
// Where the origin is.
abVec3 ab_tree_origin(const abModel* model, const abData* data, int mover);
// That, and with it poses and centres of mass in the world.
void ab_tree_shift(const abModel* model, abData* data, int mover);
// Twists of the links and bodies, and the kinetic energy, at data->v.
void ab_tree_move(const abModel* model, abData* data, int mover);

// --- tree_motion.c
// The links' twists at v, seen as abTrees.twist is.
void ab_tree_twists(const abTrees* trees, int mover, const double* v, abSix* twist);
// Twist of a body's centre of mass, when its link's is given.
static inline abTwist tree_body_twist(const abTrees* t, int body, const abSix* link,
                                      abVec3 carriage) {
  abVec3 lin = v3_add(six_lin(link), v3_cross(six_ang(link), t->arm[body]));
  return (abTwist){v3_add(carriage, lin), six_ang(link)};
}
// The velocity of the frame that twists are seen from.
static inline abVec3 tree_carriage(const abModel* model, const abMover* mover, const double* v) {
  const double* u = v + mover->dof0;
  return tree_floats(model, mover) ? v3(u[0], u[1], u[2]) : v3_zero();
}
// Joint forces that the inertia needs at v without any acceleration of the joints; the links'
// twists and accelerations then.
void ab_tree_inertial(const abTrees* trees, int mover, const double* v, abSix* twist, abSix* rate,
                      double* force);
// tau += what gravity and applied wrenches are at the joints.
void ab_tree_loads(const abModel* model, const abData* data, int mover);
// Kinetic energy at v.
double ab_tree_energy(const abTrees* trees, int mover, const double* v);

// --- tree_solve.c
// Articulated inertias, G and Dinv, with `extra` and the bounds that are INSIDE on the diagonal.
// Fills in the weights of the stiff bounds.
void ab_tree_factor(abTrees* trees, int mover);
// dv (all velocities of the model; those of the mover are written) by joint impulses. One call per
// mover at a time.
void ab_tree_solve(const abTrees* trees, int mover, const double* impulse, double* dv);
// v += what an impulse on one link does.
void ab_tree_push(const abTrees* trees, int mover, int joint, abWrench impulse, double* v);
// omega of the links of the mover that are wanted; whoever is wanted, its parent is, too.
void ab_tree_omega(abTrees* trees, int mover);
// B <- B N, B by rows: the twist of a link by that of its parent when the joint is free to give
// way.
static inline void tree_pass(const abTrees* t, int joint, abSix6* B) {
  const abLink* link = &t->link[joint];
  for (int i = 0; i < 6; i++) {
    abSix row = B->row[i];
    for (int k = link->dof; k < link->dof + link->ndof; k++)
      six_axpy(-six_dot(&B->row[i], &t->S[k]), &t->G[k], &row);
    B->row[i] = row;
  }
}

// --- tree_drift.c
// Kinetic energy and momentum of a mover; the angular momentum is about its centre of mass.
typedef struct abTreeMotion {
  double energy, mass;
  abVec3 com;
  abWrench momentum;
} abTreeMotion;
// At velocities v, where the tree is placed, with its origin.
abTreeMotion ab_tree_motion(const abModel* model, const abData* data, int mover, const double* v);
// Gives the velocities data->v at the new coordinates data->q the energy of `before`, and the
// momentum too if the tree floats; its centre of mass then goes straight, unless it is touched.
void ab_tree_drift(const abModel* model, abData* data, int mover, abTreeMotion before,
                   bool touched);

// --- joint_force.c
// Axis times angle (at most pi) of a unit quaternion.
abVec3 ab_rotation_vector(abQuat q);
// All but actuators at the start of a step: springs, dampers, gravity and applied wrenches -> tau,
// armature -> extra, inertial_force and bias. implicit: what springs and dampers do at the end of
// the step goes to extra, too.
void ab_tree_forces(const abModel* model, abData* data, int mover, bool implicit);
// Force of an actuator, not yet cut to [low, high], and its feedback -dF/dlength, -dF/dspeed where
// positive.
typedef struct abDriveForce {
  double speed, force, kp, kd, low, high;
} abDriveForce;
abDriveForce ab_drive_force(const abActuator* a, double ctrl, double length, double speed);
// All actuators on joints: forces on joints (tau), feedback to be taken at the end of the step
// (bounds, if implicit).
void ab_actuators(const abModel* model, abData* data, bool implicit);

// --- bound.c
// A new bound of a joint, all zero but for joint, actuator = -1 and its place in the lists.
abBound* ab_bound_add(abTrees* trees, int joint);
// Speed at which what lies `excess` beyond its limit returns, if it may brake with a.
double ab_bound_return_speed(double excess, double a, double h);
// Limits and friction of a mover's joints at the start of a step.
void ab_bounds_begin(const abModel* model, abData* data, int mover);
// v = base + dv by the bounds' impulses and, if smooth, by tau and inertial forces over h.
// Leaves the mover factored for the response.
void ab_bounds_solve(abData* data, int mover, bool smooth, const double* base, double* v);
// The branches of the bounds at v, the velocities with contact. Where they differ from the present
// ones, changes to them: v_free and the factorised tree are those of the new branches. False if
// they are the same.
bool ab_bounds_follow(abData* data, int mover, const double* v, double* v_free);
// The part of the free motion that takes joints back from far beyond their limits, NULL if there is
// none (it lies in t->change); and the free motion without it.
const double* ab_bounds_return(const abData* data, int mover);
void ab_bounds_stay(abData* data, int mover, const double* back);
// After contact: takes back what a bound gave beyond its range, and the speed with which limits
// return; move: the velocities with that speed, along which the coordinates are to move.
void ab_bounds_finish(abData* data, int mover, double* v, double* move);

#endif
