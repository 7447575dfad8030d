// What the dynamics layer keeps of the joint trees. One allocation, made with the data; nothing
// here is state: it is all computed anew in each step.
//
// The links of a tree are its joints: joint j carries the (possibly massless) link that moves with
// it, and joints of one body are links in a row. Bodies without joints belong to the link of the
// body they are welded to.
//
// All twists, wrenches and inertias of a tree are taken at one point, its origin: where the centre
// of mass of its first body is when the step begins, in world axes. So they add up from link to
// link as they are. Accelerations are those of 6-vectors at a point that does not go along
// (Feather- stone's spatial ones): the rate of the velocity found at the origin, whichever material
// is there.
#ifndef ABUT_DYNAMICS_TREES_H
#define ABUT_DYNAMICS_TREES_H

#include <abut/data.h>

#include "math/spatial.h"

// A rigid inertia about the origin: mass, mass times the centre of mass, second moments xx, yy, zz,
// xy, xz, yz.
typedef struct abRigid {
  double m;
  abVec3 c;
  double I[6];
} abRigid;

typedef struct abLink {
  int parent;  // joint of the parent link, -1: the link hangs on the world
  int body;
  int ndof, dof;      // its velocities are v[dof] .. v[dof + ndof - 1]
  int block;          // its ndof x ndof matrices start here in abTrees.extra and Dinv
  int bound;          // first of its bounds, -1 if it has none
  abVec3 point;       // the joint's anchor in the world
  abVec3 axis;        // hinge and slide, in the world
  abMat3 R;           // ball: orientation of the link
  abTwist twist;      // seen from a frame that goes along with the centre of mass of a free root
  abTwist product;    // acceleration that the velocities alone cause, of this joint
  abTwist bias;       // and of all up to the root together, at the start of the step,
  abTwist start;      // and the twist then
  abWrench inertial;  // what the rigid link needs for it
  abWrench load;      // gravity and applied wrenches; the actuators' on a free body
  abRigid rigid;
  abMat6 articulated;
} abLink;

// A piecewise linear law of one joint, P = clamp(weight (target - s . v), low, high): P is the
// impulse along s of the step, v the joint's velocities at its end. Joint limits, dry friction and
// actuators with a force range are all of this kind (dynamics/bound.c).
#define AB_BOUND_STIFFNESS 1e6  // weight of a stiff bound per inertia of its joint
#define AB_BOUND_RETURN 0.2     // share of what lies beyond a limit that is taken back in a step
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
  double begin, step;  // s . v at the beginning of a way, and its change along it
  bool bends;          // it goes over to another branch there
} abBound;

typedef struct abTrees {
  const abModel* model;
  // per body
  int* mover_of_body;
  int* link_of_body;  // joint whose link the body belongs to, -1 if fixed to the world
  double *mass, *inv_mass;
  abTwist* twist;  // scratch
  // per mover, of trees
  abVec3* origin;
  // per joint
  abLink* link;
  abMat6* omega;  // change of a link's twist by an impulse on it
  bool* wanted;   // omega is needed
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
  abRigid* composite;
  const abVec3* com;  // data->com, for the response
  // The state that ab_kinematics last did all its work for; valid while nothing else wrote there.
  double *q_seen, *v_seen;
  bool seen;
  // Per mover: a tree whose bodies were placed for the coordinates it has, within a step.
  bool* placed;
  // RK4: the state at the end of the step without contact and bounds
  double *q_smooth, *v_smooth;
  struct abLaws* laws;  // laws that join joints and bodies, of this step, or NULL
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
// The links' twists at v, in trees->pull.
void ab_tree_twists(const abTrees* trees, int mover, const double* v);

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
// v += what an impulse on one link does.
void ab_tree_push(const abTrees* trees, int mover, int joint, abWrench impulse, double* v);
// omega of the links of the mover that are wanted; whoever is wanted, its parent is, too.
void ab_tree_omega(abTrees* trees, int mover);
// B <- B N: the twist of a link by that of its parent when the joint is free to give way.
void ab_tree_pass(const abTrees* trees, int joint, abMat6* B);

static inline double dot6(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}
// The momentum of a rigid inertia.
static inline abWrench rigid_apply(const abRigid* R, abTwist V) {
  const double* I = R->I;
  abVec3 w = V.ang;
  abVec3 spin = v3(I[0] * w.x + I[3] * w.y + I[4] * w.z, I[3] * w.x + I[1] * w.y + I[5] * w.z,
                   I[4] * w.x + I[5] * w.y + I[2] * w.z);
  return (abWrench){v3_add(v3_scale(R->m, V.lin), v3_cross(w, R->c)),
                    v3_add(spin, v3_cross(R->c, V.lin))};
}
static inline void rigid_add(abRigid* a, const abRigid* b) {
  a->m += b->m;
  a->c = v3_add(a->c, b->c);
  for (int i = 0; i < 6; i++) a->I[i] += b->I[i];
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
double ab_tree_energy(const abModel* model, const abData* data, int mover, const double* v);
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
// Force of an actuator, not yet cut to [low, high], and its feedback -dF/dlength, -dF/dspeed where
// positive.
typedef struct abDriveForce {
  double speed, force, kp, kd, low, high;
} abDriveForce;
abDriveForce ab_drive_force(const abActuator* a, double ctrl, double length, double speed);
// All actuators on joints: forces on joints (tau), feedback to be taken at the end of the step
// (bounds, if implicit), wrenches on free bodies (link.load).
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
