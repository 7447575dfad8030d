// abData: the state of one simulation, its inputs, and the results of its last step.
#ifndef ABUT_DATA_H
#define ABUT_DATA_H

#include <abut/contact.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why a step is not AB_STEP_OK.
typedef enum abStepCause {
  AB_CAUSE_NONE,
  AB_CAUSE_CONVERGENCE,  // the contact model did not reach its tolerance; see residual
  AB_CAUSE_MEMORY,       // an allocation failed: the step may be done again
  AB_CAUSE_INPUT,  // an input was not finite, or beyond 1e60, when the step began; see bad_input,
                   // bad_index
  AB_CAUSE_NOT_FINITE,  // the step ended with coordinates that are not finite or speeds beyond 1e9
  AB_CAUSE_ENERGY,      // it ended with energy that comes from nowhere
  AB_CAUSE_CONTACT      // the contact model gave up, or cannot simulate this scene
} abStepCause;

// What the last step did, and how well.
typedef struct abStat {
  abStepStatus status;
  abStepCause cause;      // why it is not AB_STEP_OK
  const char* bad_input;  // AB_CAUSE_INPUT: "q", "v", "ctrl", "applied", "mocap_pos", "mocap_quat"
                          // or "h"; else NULL
  int bad_index;          // and the index into that array of abData; else -1
  int iterations;         // of the contact model, as it counts them
  double residual;        // of the contact model [1]: comparable with its parameter `tolerance`
  int nregularised;       // pivots replaced, fallbacks taken: 0 in a clean step
  const char* note;       // of the contact model on this step: static text, or NULL
  // Candidates and pairs are those looked at and solved: those among sleeping bodies are not.
  // Contacts are all there are.
  int ncandidate, npair, ncontact;
  int nasleep;             // bodies asleep after the step
  double max_penetration;  // largest abContact.depth [m]
  int nhold;  // contacts whose depth is left as it is (abContact.hold): a scene to look at
  // How far the worst equality is from being met, m or rad (joints and tendons: their own units).
  double equality_error;
  int bad_body;  // where a broken step first shows, or whose input it is, else -1
} abStat;

// When islands fall asleep (src/sleep.c says why like this). An island is what hangs together by
// contacts and joints. It falls asleep when each of its bodies has been at rest for rest * sqrt(r /
// |g|), r the body's radius (0.25 s for 0.1 m), and for `steps` steps at least: no speed above
// speed * |g| h, no point moved by more than drift * r in a third of that time, and not beginning
// to fall.
typedef struct abSleepRule {
  bool on;       // false, the default: nothing sleeps
  double rest;   // how long it has been at rest, in units of sqrt(r / |g|) [1]: 2.5
  double speed;  // what counts as rest, in units of |g| h [1]: 0.01
  double drift;  // how far a point may move, in units of r [1]: 1e-5
  int steps;     // fewest steps at rest: 50
} abSleepRule;

// Energies [J].
typedef struct abEnergy {
  double kinetic;  // of all moving bodies and of armatures
  double gravity;  // potential, zero at the world's origin
  double spring;   // of the springs of joints and tendons
} abEnergy;

struct abInternal;

// One simulation. ab_data_create makes it, ab_data_free ends it; its arrays live as long as it does
// and stay where they are. Units are SI. A simulation is used by one thread at a time; any number
// of simulations may share a model, each in a thread of its own.
typedef struct abData {
  // --- the state: equal states give equal futures (with what is remembered of contacts and who
  // sleeps: abut/state.h) ---
  double time;  // [s]
  double* q;    // nq coordinates [m, rad, 1], as in MJCF: free joint = position of the body frame,
                // quaternion
  // nv velocities [m/s, rad/s]. Hinge and slide: rate of the coordinate. Ball: angular velocity in
  // the body's axes. Free: velocity of the centre of mass, angular velocity, both in world axes.
  double* v;
  const bool* asleep;  // nbody: who sleeps (abSleepRule); ab_data_wake ends it

  // --- inputs: they stay as they are set until they are set again ---
  double* ctrl;        // nactuator: controls, in the unit of each actuator's law
  abWrench* applied;   // nbody: force at the centre of mass [N] and torque [N m], world axes
  abVec3* mocap_pos;   // nmocap: where the mocap bodies are [m]; what they do between two steps is
  abQuat* mocap_quat;  // nmocap: not followed, they are where they are put
  double h;            // length of a step [s]; starts as model->timestep
  abSleepRule sleep;   // when islands fall asleep; off at first

  // --- settings: read here, chosen by ab_set_contact, ab_set_contact_model and ab_set_threads ---
  const abContactModel* contact;  // NULL: contact off
  int nthread;                    // threads a step uses

  // --- results: where everything is. Of the present q and v after ab_step and ab_forward; nbody
  // entries each, the world first ---
  abPose* pose;       // body frames in the world [m]
  abMat3* R;          // the same orientations as matrices
  abVec3* com;        // centres of mass [m]
  abTwist* twist;     // velocities at the centres of mass [m/s, rad/s], world axes
  abMat3* inertia;    // about the centres of mass [kg m2], world axes
  abPose* geom_pose;  // ngeom: frames of the geoms in the world [m]

  // --- results: what acted during the last step ---
  double* v_free;          // nv: velocities at its end if nothing had touched anything
  double* actuator_force;  // nactuator [N, N m]
  // nequality [N, N m]: connect and weld: the force on body1 at frame1.p and, of a weld, the
  // torque, world axes; joint and tendon: force.x along joint1 or tendon1
  abWrench* equality_force;
  double* tendon_force;  // ntendon [N]: of spring, damping, armature, limit and friction, along L
  int ncontact;
  const abContact* contacts;  // ncontact: who touches whom and how; until the next step
  abStat stat;                // what the step did, and how well

  struct abInternal* internal;  // the library's own; NULL in a sample of a recording
} abData;

// What went wrong in the last step, as a sentence without a full stop, with names of the model;
// "" after a step that is AB_STEP_OK. Returns text.
AB_API const char* ab_step_text(const abModel* model, const abData* data, char* text, size_t size);

// Wakes the island of a body (body < 0: everybody). Not needed after a change of q, v, applied,
// ctrl, h or the contact model: that wakes the bodies concerned by itself.
AB_API void ab_data_wake(abData* data, int body);

#ifdef __cplusplus
}
#endif

#endif
