// The contact-model interface: what a model is given (abContactProblem), what it returns
// (abContactSolution), and the descriptor it registers with (abContactModel).
//
// Conventions, for every model: bodies 1 and 2 of a pair are A and B of the derivations. The normal
// points from body 2 to body 1, relative velocity is v1 - v2, a contact impulse acts ON body 1 and
// its opposite on body 2. 6-vectors are (linear, angular). Body 1 is the moving body where the
// other is fixed to the world, else the one with the smaller index.
#ifndef ABUT_CONTACT_H
#define ABUT_CONTACT_H

#include <abut/model.h>

#ifdef __cplusplus
extern "C" {
#endif

struct abArena;
struct abPool;

// --- geometry
// -----------------------------------------------------------------------------------------

typedef enum abGeometryKind {
  AB_GEOMETRY_PAIR,    // only which geoms are near each other
  AB_GEOMETRY_VOLUME,  // overlap volume and patch of each overlapping pair
  AB_GEOMETRY_TOUCH    // patch of each pair that touches now or may within the step; thickness is
                       // negative where there is a gap
} abGeometryKind;

// What a patch is, to rounding.
typedef enum abPatchKind {
  AB_PATCH_NONE,  // no patch
  AB_PATCH_POINT,
  AB_PATCH_LINE,
  AB_PATCH_SURFACE
} abPatchKind;
// What a contact did in a step.
typedef enum abContactMode {
  AB_CONTACT_STICK,      // friction within its bound
  AB_CONTACT_SLIP,       // friction at its bound
  AB_CONTACT_SEPARATING  // no force
} abContactMode;
// Overlap that is not taken back (contact/patch/hold.c): a contact of jointed bodies that began
// deep rests at its depth; one that the joints cannot open has no force at all.
typedef enum abHold {
  AB_HOLD_NONE,   // depth is taken back, as everywhere
  AB_HOLD_RESTS,  // it rests at the depth it began with
  AB_HOLD_CLOSED  // no force: nothing can open it
} abHold;

// The contact patch of one overlapping pair (collide/patch/patch.c). Plane coordinates (x, y) of a
// point p are (t1 . (p - center), t2 . (p - center)); t1 x t2 = normal.
typedef struct abPatch {
  abPatchKind kind;  // NONE: there is no patch, and the rest means nothing
  double volume;     // of the overlap [m3]; 0 where there is a gap
  abVec3 center;     // a point of the contact plane [m]: barycentre of the overlap or, of what may
                     // touch (AB_GEOMETRY_TOUCH), of the polygon
  abVec3 normal;     // of the contact plane, from body 2 to body 1
  abVec3 t1, t2;     // the plane's axes; they turn no more from step to step than they must
  int nvert;         // corners of the polygon
  const abVec2* polygon;  // nvert [m]: the overlap, or what may touch, projected on the plane,
                          // counter-clockwise about the normal
  double area;            // of the polygon [m2]
  double mx, my;         // moments of the polygon about `center`: integrals of x and y over it [m3]
  double mxx, mxy, myy;  // likewise of xx, xy, yy [m4]
  // least-squares affine thickness h(x, y) = h0 + hx x + hy y: same volume and first moments as the
  // overlap's thickness along the normal
  double h0;      // at `center` [m]; < 0: a gap
  double hx, hy;  // its slopes [1]
  double depth;   // largest thickness along the normal [m]
  bool rolls;     // it goes over a body as that turns; the next two say by how much
  // of what rolls: by how much the motion of the step adds to the thickness beyond first order, as
  // h0, hx and hy
  double closes[3];
  double slides[2];  // and to the way of body 1 against body 2 along t1 and t2 [m]
  // of bodies that meet late in the step: from `center` to where it lies from the start of body 1
  // (body 2) as it will lie from the body then [m]
  abVec3 meet[2];
  double meet_time;  // when they meet, from the step's beginning [s]
} abPatch;

// Friction and restitution of a pair, combined from its two geoms.
typedef struct abSurface {
  double mu_static;    // coefficient of friction of what sticks [1]
  double mu_kinetic;   // and of what slides [1]
  double e_t, e_o;     // axes of the friction ellipsoid along t1 and t2 [1]
  double e_r;          // its torsional length [m]; < 0: from the patch
  double restitution;  // velocity after an impact over that before [1]
  int condim;          // as in MJCF; 1: no friction
} abSurface;

// One pair of geoms in, or near, contact.
typedef struct abPair {
  int body1, body2;  // indices into the problem's body
  int geom1, geom2;  // indices into abModel.geom
  uint64_t key;  // of the two geoms; pairs are sorted by it, and it is the same from step to step
  void* memory;  // the model's bytes for this pair, as it left them in the last step; zero when new
  bool fresh;    // the pair was not in contact in the last step
  const void* tried;  // where a step is solved once more, with other pairs: the model's bytes as it
                      // left them the time before, a place to begin; else NULL
  bool held;          // equalities hold the two bodies so that nothing can open the contact
  abPatch patch;      // kind AB_PATCH_NONE where the model requires only pairs
  abSurface surface;  // friction and restitution
  const abShape* shape1;  // of geom1
  const abShape* shape2;  // of geom2
  abPose pose1, pose2;    // of the shapes, in the world, at the start of the step [m]
} abPair;

// --- response
// -----------------------------------------------------------------------------------------

// How impulses change motion (dynamics/response.c). Free bodies are answered at once from inv_mass
// and inv_inertia; joint trees through their factorised inertia, which includes the implicit joint
// terms.
typedef struct abResponse {
  int nbody, nmover, ndof;    // ndof: generalised velocities of all movers
  const int* mover_of_body;   // nbody; -1: fixed to the world
  const abMover* mover;       // nmover
  const double* mass;         // nbody [kg]
  const double* inv_mass;     // nbody [1/kg]; 0 if fixed
  const abMat3* inertia;      // nbody [kg m2], about the centre of mass, world axes
  const abMat3* inv_inertia;  // nbody [1/(kg m2)]; 0 if fixed
  const void* tree;           // the joint trees' own data
} abResponse;

// Twist of a body (at its centre of mass, world axes) when the generalised velocities are v (ndof,
// as abData.v).
AB_API abTwist ab_response_twist(const abResponse* r, const double* v, int body);
// v += what an impulse at the body's centre of mass adds to the generalised velocities of its
// mover.
AB_API void ab_response_apply(const abResponse* r, int body, abWrench impulse, double* v);
// The 6x6 block: change of body a's twist by an impulse on body b, both at their centres of mass.
// Zero if the two belong to different movers.
AB_API void ab_response_block(const abResponse* r, int a, int b, abMat6* block);
// Generalised inertia of a mover (ndof x ndof, row-major, symmetric), incl. armature and implicit
// terms.
AB_API void ab_response_inertia(const abResponse* r, int mover, double* M);
// Jacobian of a body's twist with respect to its mover's velocities (6 x ndof, row-major).
AB_API void ab_response_jacobian(const abResponse* r, int body, double* J);

// --- problem and solution
// -----------------------------------------------------------------------------

// A body as a contact model sees it; world axes.
typedef struct abContactBody {
  abVec3 com;          // centre of mass at the start of the step [m]
  abQuat q;            // orientation of the body frame at the start
  abVec3 com_local;    // centre of mass in the body frame [m]
  abTwist twist;       // at the start, at the centre of mass [m/s, rad/s]
  abTwist twist_free;  // at the end, without contact; likewise
  abVec3 gravity;      // acceleration by gravity [m/s2], zero where it does not act
  abTwist bias;        // acceleration that its velocities alone cause [m/s2, rad/s2]
  abWrench load;  // gravity and applied wrench at the centre of mass during the step (free bodies)
                  // [N, N m]
  const abShape* hull;  // convex hull of its geoms in the body frame, or NULL
} abContactBody;

// A scalar law beside the contacts: the impulse p = clamp(weight (target - s . v), low, high) along
// s, v the velocities of one mover at the end of the step. Joint limits, dry friction and servos
// with a limited force are all of this kind. The response and v_free are those of the branch that
// the free motion assumed; a model that takes rows adds the difference.
typedef enum abBranch {
  AB_BRANCH_LOW,     // p = low
  AB_BRANCH_INSIDE,  // between the two
  AB_BRANCH_HIGH     // p = high
} abBranch;
typedef struct abRow {
  int mover;         // index into abResponse.mover
  int n, dof;        // s acts on v[dof] .. v[dof + n - 1], counted from the mover's first
  double s[6];       // n numbers are used [1; of a ball joint the axis]
  double weight;     // impulse per velocity [N s/m = kg; N m s/rad], may be INFINITY
  double target;     // of s . v [m/s, rad/s]
  double low, high;  // bounds of the impulse [N s, N m s], may be infinite
  abBranch assumed;  // what the response and v_free assume
} abRow;

// The same along velocities of any movers: equalities, tendons, actuators on tendons and sites. The
// response and v_free know nothing of it.
typedef struct abLawRow {
  int n;             // velocities it acts on
  const int* dof;    // n, ascending, of all velocities
  const double* s;   // n
  double weight;     // as abRow
  double target;     // likewise
  double low, high;  // likewise
  double mobility;   // s M^-1 s^T [1/kg, 1/(kg m2)], or 0 where the law is no stiffer than the
                     // inertia
  double impulse;    // written by the model [N s, N m s]
} abLawRow;

typedef struct abContactProblem {
  double h;        // the step [s]
  abVec3 gravity;  // [m/s2]
  double length;   // the scene's length scale [m]
  int nbody;
  const abContactBody* body;  // nbody, the world first
  int npair;
  const abPair* pair;          // npair, ascending by key
  const abResponse* response;  // how impulses change motion
  const double* v;             // generalised velocities at the start, or NULL
  const double* v_free;        // and at the end without contact
  const double* param;         // the model's parameters in the order of its list
  size_t memory_bytes;         // per pair
  struct abArena* scratch;     // ab_problem_scratch takes from it
  struct abPool* pool;         // threads, or NULL
  int nrow;                    // laws of joints that contacts may push to another branch;
  abRow* row;                  // NULL for models without takes_rows
  int nlaw;                    // laws that join joints and bodies, likewise
  abLawRow* law;               // nlaw
} abContactProblem;

// Memory for a model while it solves: 64-byte aligned, not cleared, gone when `solve` returns. NULL
// where there is none: then the model answers AB_STEP_BROKEN.
AB_API void* ab_problem_scratch(const abContactProblem* problem, size_t bytes);

// What a model answers for one pair. All zero = no contact.
typedef struct abPairSolution {
  abVec3 point;          // where the impulses below are taken [m], usually patch.center
  abVec3 apart;          // on body 2 they act at point - apart: not zero where the two met late [m]
  abWrench impulse;      // total, on body 1 [N s, N m s]
  abWrench normal_part;  // of it, from normal pressure; the rest is friction
  abContactMode mode;
  abPatchKind kind;  // models of AB_GEOMETRY_PAIR fill this, and the next three
  double area;       // of the patch [m2]
  double depth;      // largest overlap [m]
  abVec3 normal;     // of the contact plane
  double slip[3];    // v_t, v_o [m/s], v_r [rad/s] at the equivalent contact point, in the frame
                     // (t1, t2, normal)
  int nfacet;        // active facets (implicit model)
  const double* pressure;  // [Pa] at the patch polygon's vertices, or NULL
  double watch;            // in the next step the pair is reported up to this gap [m]
  abHold hold;             // whether its depth is left as it is
} abPairSolution;

typedef enum abStepStatus {
  AB_STEP_OK,           // solved to the tolerance
  AB_STEP_UNCONVERGED,  // the best iterate was used; see residual
  AB_STEP_BROKEN        // not a number, out of memory: the state is that before the step
} abStepStatus;

typedef struct abContactSolution {
  abPairSolution* pair;  // npair entries, cleared before solve
  double* v;             // room for the generalised velocities at the end, for a model that has
  bool v_known;          // them already and says so; else they follow from the impulses
  double* shift;         // generalised velocities, cleared before solve: coordinates move along
                         // v + shift, which makes their motion second order (contact/patch/patch.c)
  abTwist* twist_end;    // nbody entries: only models with moves_bodies fill them
  abStepStatus status;   // of the solution; AB_STEP_BROKEN: there is none
  int iterations;        // as the model counts them
  double residual;       // scaled: comparable with the parameter `tolerance`
  int nregularised;      // pivots replaced, fallbacks taken: 0 in a clean step
  const char* note;      // what the user should know of this step: static text, or NULL
} abContactSolution;

typedef struct abParam {
  const char* name;  // as ab_set_param takes it
  double value;      // the default
  const char* unit;  // "1" if it has none
  const char* doc;   // one line
} abParam;

// A model of one's own is a constant of this type, chosen by ab_set_contact_model
// (examples/custom_model.c). While it solves it may
// - read all of the problem, and write the memory of its pairs (abPair.memory) and the solution;
// - call the functions ab_response_* with problem->response, ab_patch_Q, ab_problem_scratch and the
//   solvers of abut/solve.h; but for the workspaces of the latter nothing needs to be allocated;
// - not call ab_step or anything else that changes a simulation.
// It is called once per step, or a few times where joints reach their limits, from the thread that
// steps; simulations in several threads call it at once, so it must not write to globals. The same
// problem must get the same answer, to the bit, if runs are to be repeatable.
typedef struct abContactModel {
  const char* name;         // as ab_set_contact takes it
  const char* source;       // the paper
  const char* summary;      // one line
  abGeometryKind geometry;  // what it needs to see of pairs
  // The model answers with end-of-step twists of free bodies and expects the step to move them by
  // x += h v, R <- Cay(h w) R. Others answer with impulses only.
  bool moves_bodies;
  bool takes_rows;  // solves the laws of the joints together with the contacts
  int nparam;
  const abParam* param;  // nparam
  // bytes remembered per pair between steps; 0: none
  size_t (*memory_bytes)(const double* param);
  // fills the solution; what it may do stands above
  void (*solve)(const abContactProblem* problem, abContactSolution* solution);
} abContactModel;

// The registered models; the first is the default.
AB_API int ab_contact_model_count(void);
AB_API const abContactModel* ab_contact_model(int i);
AB_API const abContactModel* ab_find_contact_model(const char* name);  // NULL if there is none

// Q = integral over the polygon of K^T K, K(r) = [1, -[r x]], about patch.center in world axes.
AB_API void ab_patch_Q(const abPatch* patch, abMat6* Q);

// --- results
// ------------------------------------------------------------------------------------------

// A contact as it is reported: forces are impulse / h, on body 1, world axes, torques about
// `point`.
typedef struct abContact {
  int body1, body2;  // indices into abModel.body
  int geom1, geom2;  // and into abModel.geom
  abVec3 point;      // the equivalent contact point [m]: normal pressure has no moment in the plane
                     // about it
  abVec3 normal;     // of the contact plane, from body 2 to body 1
  abVec3 t1, t2;     // the plane's axes; t1 x t2 = normal
  abWrench wrench;   // total [N, N m]
  abWrench normal_wrench;    // of it, of the normal pressure
  abWrench friction_wrench;  // of it, of friction
  double free_moment;        // friction torque about the normal at `point` [N m]
  double area;               // of the polygon [m2]
  double depth;              // largest overlap [m]; 0 where they just touch
  abPatchKind kind;          // point, line or surface
  abContactMode mode;        // stick, slip, or no force
  double slip[3];  // velocity of body 1 over body 2 at `point` along t1 and t2 [m/s], and about the
                   // normal [rad/s]
  int nfacet;      // active facets (`ecp`)
  int nvert;       // corners of the patch
  const abVec3* polygon;   // nvert, in the world [m]; until the next step
  const double* pressure;  // nvert, at the corners [Pa], or NULL
  abHold hold;             // whether its depth is left as it is
} abContact;

#ifdef __cplusplus
}
#endif

#endif
