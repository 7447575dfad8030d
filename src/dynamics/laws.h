// Laws that join joints and bodies: equalities, fixed tendons, actuators on tendons and sites.
//
// Each is a row p = clamp(W (v* - s . v), low, high), v the velocities at the end of the step, as
// the bounds of a joint are (bound.c), but s may reach into any tree and body. The contact model
// solves them together with the contacts; what cannot reach another branch is a load.
#ifndef ABUT_DYNAMICS_LAWS_H
#define ABUT_DYNAMICS_LAWS_H

#include <abut/data.h>

typedef enum abLawKind { AB_LAW_EQUALITY, AB_LAW_TENDON, AB_LAW_ACTUATOR } abLawKind;

// What a row belongs to.
typedef struct abLawOwner {
  abLawKind kind;
  int index;  // of the equality, tendon or actuator
  int axis;   // equality: 0 .. 2 force, 3 .. 5 torque; else 0
  double sign;
} abLawOwner;

// Rows of equalities that share movers: M^-1 s^T of each, and the Cholesky factor of s M^-1 s^T.
typedef struct abLawGroup {
  int row0, n;
  bool mocap;  // one of them follows a mocap body
  double* A;
} abLawGroup;

// The rows of one step, in data->scratch. The first nequality of them are those of the equalities,
// group by group.
typedef struct abLaws {
  int n, room, nequality, ngroup;
  abLawRow* row;
  abLawOwner* owner;
  double** response;  // M^-1 s^T over all velocities, of the rows of equalities
  double* reach;      // of the rows of equalities: the error that one step takes back
  double* weak;       // of the rows of equalities: > 0 where weak, see equality_law.c
  abLawGroup* group;
  bool* touched;   // per mover: a tree in contact
  bool* joins;     // per mover: rows reach into it
  bool* factored;  // per mover: a tree factored without bounds
  double* dense;   // nv zeros
  double* error;   // of the rows of equalities, also scratch
} abLaws;

// Whether the model has any of these laws, and whether one of them is a row (not only a load).
bool ab_laws_any(const abModel* model);
bool ab_laws_rows(const abModel* model);
bool ab_tendon_acts(const abTendon* t);  // it does more than have a length
// Makes data->trees->laws and adds the loads to tau. Needs the trees' states, and
// leaves some of them factored without bounds. False: no memory.
bool ab_laws_begin(const abModel* model, abData* data, bool implicit);
// The loads alone, all forces as they are at the start.
void ab_laws_loads(const abModel* model, abData* data);
// The targets and limits of equalities, when the free motion is known.
void ab_laws_inertial(const abModel* model, abData* data);
// After the solve: the rows' impulses are reported as forces.
void ab_laws_forces(abData* data);

// --- equality.c
int ab_equality_rows(const abEquality* e);  // 1, 3 or 6
// Errors of the rows, to be taken back: a linear and an angular part of three each, or one number.
void ab_equality_error(const abModel* model, const abData* data, const abEquality* e,
                       double error[6]);
// Derivative of one row's error: dense[dof] += ...
void ab_equality_slope(const abModel* model, const abData* data, const abEquality* e, int axis,
                       double* dense);
// Second derivative of the errors in time by the velocities alone.
void ab_equality_bend(const abModel* model, const abData* data, const abEquality* e,
                      double bend[6]);
// The movers it joins, each once. At most room of them; the number is returned.
int ab_equality_movers(const abModel* model, const abEquality* e, int room, int* mover);

// --- equality_law.c
// The rows of all equalities, first of all, and their groups.
bool ab_equality_laws(const abModel* model, abData* data, abLaws* laws);
// Limits the impulses of weak rows, when the free velocities are known.
void ab_equality_weak(abLaws* laws, const double* v_free);
double ab_law_length(const abModel* model);  // the scene's
// What a length counts as in the units of a row: 1 where these are metres.
double ab_equality_unit(const abModel* model, const abEquality* e, int axis, double length);
// Acceleration with which errors are taken back, of lengths or of angles.
double ab_law_acceleration(const abModel* model, bool length);

// --- law_hold.c
// Sets abPair.held: whether equalities, other than those to mocap bodies, keep the two bodies from
// moving apart along the normal. False: no memory.
bool ab_laws_hold(const abModel* model, abData* data);

// --- law_close.c
// After the coordinates moved: takes back what the equalities' curvature left open.
void ab_laws_close(const abModel* model, abData* data);

// --- tendon.c
double ab_tendon_length(const abModel* model, const abData* data, const abTendon* t);
double ab_tendon_speed(const abModel* model, const abData* data, const abTendon* t);
// What a length of the scene counts as in its units: 1 where these are metres.
double ab_tendon_unit(const abModel* model, const abTendon* t);
// dense[dof] += scale coef
void ab_tendon_slope(const abModel* model, const abTendon* t, double scale, double* dense);
// Spring force at the length L.
double ab_tendon_spring(const abTendon* t, double L);
double ab_tendon_spring_energy(const abTendon* t, double L);
// A tendon's rows and loads; those of actuators on tendons and sites.
bool ab_tendon_laws(const abModel* model, abData* data, abLaws* laws, bool implicit);
// The force of spring and damping alone, as loads.
void ab_tendon_loads(const abModel* model, abData* data, double* dense);
bool ab_drive_laws(const abModel* model, abData* data, abLaws* laws, bool implicit);

// --- laws.c
// s += J^T w, w a wrench at a point of the body.
void ab_law_lever(const abModel* model, const abData* data, int body, abVec3 point, abWrench w,
                  double* s);
// Makes a row of `dense` and clears that. False: no memory. Rows without any entry are left out:
// *row is NULL.
bool ab_law_row(const abModel* model, abData* data, abLaws* laws, abLawOwner owner, abLawRow** row);
// s M^-1 s^T of a row, with M^-1 s^T in response (nv numbers) if that is not NULL.
double ab_law_mobility(const abModel* model, abData* data, const abLawRow* row, double* response);
// Adds force * dense to the loads and clears dense.
void ab_law_load(const abModel* model, abData* data, double* dense, double force);
// Whether a row reaches into the mover.
bool ab_laws_join(const abLaws* laws, int mover);
int ab_law_mover(const abModel* model, int dof);
double ab_law_speed(const abLawRow* row, const double* v);

#endif
