// The parts of the implicit model `ecp` share these types. See ecp.c for the model itself.
//
// Everything in here is in step units: lengths in L (the radius of the first body), time in h,
// masses in m0 (the mass of the first body), positions relative to that body's start. All
// coefficients of the Newton systems are then of order one whatever the size and weight of the
// bodies, and velocity, displacement and rotation per step are the same numbers.
#ifndef ABUT_CONTACT_ECP_H
#define ABUT_CONTACT_ECP_H

#include <abut/contact.h>

#include "math/spatial.h"

// Marks a strategy: what it returns is counted by name in the build that bench/ecp/strategies.sh
// makes, and nothing else is done anywhere.
#ifdef ABUT_ECP_COUNT
bool ab_ecp_counted(const char* name, bool solved);
#define AB_ECP_COUNTED(name, solved) ab_ecp_counted(name, solved)
#else
#define AB_ECP_COUNTED(name, solved) (solved)
#endif

// Thresholds. Lengths are in units of the first body's radius, impulses in those of the step's
// loads (see above); each with what goes wrong when it is changed. Factors inside one formula
// (halve a step, a tenth of the last residual) stand there.

// --- when an equation or inequality holds
// Scaled residual of a system that is solved, and of one of several bodies, each of which is
// checked by its own load. Above: steps count as unsolved against the parameter `tolerance`; below:
// rounding keeps good steps from ending.
static const double AB_ECP_ENOUGH = 1e-9, AB_ECP_ENOUGH_EACH = 5e-11;
// Newton converges quadratically: one iteration before this it was at 1e-7, and only rounding is
// left. Below: iterations wasted.
static const double AB_ECP_EXACT = 1e-13;
// A feature's border, the bound of friction, and touching: far above rounding (1e-15 times a
// condition number of some thousands), far below what can be seen. Smaller: a point on the border
// belongs to neither mode; larger: to both, and forces act beside a body.
static const double AB_ECP_BORDER = 1e-9;
// Overlap that a solved step may leave. Larger: it adds up over steps; smaller: long edges fail by
// their rounding.
static const double AB_ECP_OVERLAP = 1e-10;
// Overlap of a contact left out: the rounding of a length 1. Larger: contacts come a step late, and
// then overlap.
static const double AB_ECP_ROUNDING = 1e-12;
// Energy that contacts of moving bodies may add, as a share of what there is: edges that pass each
// other add some (ecp.c). Smaller: such steps are refused; larger: modes that wedge are taken. A
// path comes from a motion without contact and does not wedge.
static const double AB_ECP_GAIN = 0.05, AB_ECP_PATH_GAIN = 0.25;

// --- geometry
// Squared sine below which two edges have a normal of their own (curve.c) instead of their cross
// product, and below which they have none. Smaller: the normal of nearly parallel edges turns
// faster than Newton can follow.
static const double AB_ECP_ALONGSIDE = 1e-3, AB_ECP_PARALLEL = 1e-8;
// A disc that lies as flat as this: the direction of its lowest point is rounding.
static const double AB_ECP_FLAT = 1e-12;
// Corners of a patch nearer than this are one. Smaller: two points share a load in a way that is
// rounding.
static const double AB_ECP_SAME_CORNER = 1e-7;

// --- Newton's method
// Pivots of elimination below this are zero (rows are of order one): contacts in excess are
// regularised by the share of the bodies' own compliance 1/m. Larger: impulses are wrong before the
// residual shows it; smaller: excess impulses without bound.
static const double AB_ECP_PIVOT = 1e-12, AB_ECP_PROXIMAL = 1e-6;
// Residual from which on modes are taken for right, or nearly so: from here they are corrected one
// by one (joint.c).
static const double AB_ECP_NEAR = 1e-5;
enum {
  AB_ECP_RAYS =
      4,  // moves along a direction that the equations leave free; fewer: heaps stay unsolved
  AB_ECP_REFINEMENTS = 4,  // of a condensed step
  AB_ECP_DENSE = 60,       // unknowns up to which elimination costs less than condensing: time only
};

// --- searching modes of one contact
enum {
  AB_ECP_MODES =
      768,  // nearest modes looked at: more than a hull of 32 vertices on another has near
  AB_ECP_VISITS = 24,  // modes remembered on a walk along neighbours; fewer: it may walk in circles
  AB_ECP_AZIMUTHS = 12,  // starts around a rim; fewer: upright discs on rims are missed
  AB_ECP_SEARCH_BUDGET =
      3000  // Newton iterations: a usual mode takes 5, all of a box some hundred; more is time only
};

// --- several contacts
enum {
  AB_ECP_LARGE = 8,  // contacts from which on an island is solved at once (joint.c): sweeps take
                     // ever longer above
  AB_ECP_LARGEST =
      36,  // up to which a path is followed; above, curves are lost and the time with them
  AB_ECP_SWEEPS = 6,     // sweeps between two attempts by Newton's method
  AB_ECP_ROUNDS = 40,    // of these
  AB_ECP_BUDGET = 1000,  // small Newton iterations a contact, or what costs as much, for an
                         // attempt: some milliseconds
  AB_ECP_BUDGET_MOST =
      30000,           // and in all, some 0.2 s: a bound on the time of a step that is not solved
  AB_ECP_STAGES = 60,  // of the augmented Lagrangian (joint.c)
  AB_ECP_CORRECTIONS = 10,    // rounds in which modes are corrected near a solution
  AB_ECP_NEAR_MODES = 8,      // candidates for a contact just taken in
  AB_ECP_PRESS_STEPS = 25,    // Newton iterations of a stage, with the bound of friction held,
  AB_ECP_COUPLED_STEPS = 15,  // and with the bound that follows the pressure
};
// Sweeps that have not found the modes after this share of the budget do not: more is time only.
static const double AB_ECP_SWEEP_SHARE = 0.03;
// Stiffness of the augmented Lagrangian in reduced masses: at first, for ordinary convergence, and
// where laws contradict each other. Stiffer at first: Newton's method does not come down; softer at
// last: the drift does not.
static const double AB_ECP_SOFT = 10, AB_ECP_STIFF = 1e3, AB_ECP_STIFFEST = 1e5;

// --- following a path (path.c)
enum {
  AB_ECP_PATH_UNKNOWNS = 640,  // room on the stack: 36 contacts of 6 unknowns and their bodies
  AB_ECP_PATH_MODES = 40,      // pieces near a border that are tried
  AB_ECP_PATH_CORNERS = 8,     // and of these a vertex on an edge
  AB_ECP_CORNERS_NEAR = 8,     // at most (corner.c)
  AB_ECP_PART_CONTACTS = 96,   // contacts that are parted at the beginning (part.c)
  AB_ECP_PART_SWEEPS = 100,
};
// Length of a piece of the curve, scaled. Longer: it is lost at bends; shorter: borders that do not
// lie apart by so much are one.
static const double AB_ECP_PATH_LONGEST = 0.3, AB_ECP_PATH_SHORTEST = 1e-9;

// Smallest parts of a surface that can be the contact set against a plane.
typedef enum abEcpKind {
  AB_ECP_NONE,
  AB_ECP_POINT,    // a vertex; with a radius: a sphere, the end of a capsule
  AB_ECP_SEGMENT,  // an edge; with a radius: the side of a capsule or a cylinder
  AB_ECP_FACE,     // a face, the disc of a cylinder, a plane
  AB_ECP_RIM,      // the circle that bounds a disc
  AB_ECP_ROUND     // the surface of an ellipsoid
} abEcpKind;

// A shape as it sits in its body: x_body = off + turn x_shape / L, body coordinates about the
// centre of mass.
typedef struct abEcpShape {
  const abShape* shape;
  abVec3 off;
  abMat3 turn;
  double scale;   // 1 / L
  double radius;  // bound on |x_body - off|, INFINITY for planes
  bool hull;      // of several geoms
} abEcpShape;

// A feature in body coordinates about the centre of mass.
typedef struct abEcpFeature {
  abEcpKind kind;
  int index;
  const abEcpShape* shape;
  abVec3 c;     // point, centre of the segment, of the face, of the rim, of the ellipsoid
  abVec3 u, v;  // segment: unit direction u; face and rim: orthonormal u, v with u x v = n
  abVec3 n;     // outward normal of a face, or of the disc a rim belongs to
  double half;  // half length of a segment
  double rad;   // rounding of a point or segment; radius of a rim or a disc
} abEcpFeature;

typedef struct abEcpBody {
  bool moving;
  int index;  // in the problem
  int slot;   // among the unknowns of a system
  double m;
  abMat3 I;           // about the centre of mass, world axes, at the start
  abVec3 x0, v0, w0;  // at the start
  abMat3 R0;
  abVec3 f, tau;          // impulses of the load
  abVec3 f_ext, tau_ext;  // impulses of contacts that are held fixed
  double inertia_scale;   // mean principal moment
  // the present iterate, at the end of the step
  abVec3 v, w, x, L;   // L: angular momentum I_end w
  abMat3 R, T, I_end;  // T = d(turn)/d(w)
} abEcpBody;

typedef struct abEcpMode {
  int kind[2], index[2];  // feature of each body
} abEcpMode;

// Branch of the friction law: what the law says, or held whether that is so or not.
typedef enum abEcpBranch { AB_ECP_AS_IT_IS, AB_ECP_STICKS, AB_ECP_SLIPS } abEcpBranch;

// A pair that may touch, and its present iterate.
typedef struct abEcpContact {
  int pair;
  abEcpBody* body[2];
  abEcpShape shape[2];
  double mu_static, mu_kinetic;
  double e_t, e_o, e_r;  // e_r < 0: from the patch
  bool mean_lever;       // the impulse acts at the mean arm of the step (lever.c)
  bool active;
  bool recalled;  // touched in the last step; its mode and impulses are the start

  abEcpMode mode;
  abEcpFeature feature[2];
  int ref;       // the body whose plane gives the normal; -1: the normal comes from both
  bool rounded;  // an ellipsoid and no plane (round.c), with its chart of the normal:
  bool charted;  // the chart below is in use
  abVec3 chart[3], round_n;
  double chart_angle;
  bool alongside;  // nearly parallel segments, or a rim and a rounded segment (curve.c):
  bool cornered;   // a vertex on an edge, with two directions across it (corner.c)
  abVec3 across[2];
  int line;         // the side without a parameter; of a corner: that of the edge
  double sign;      // of n along the cross product of two edges
  abVec3 t_ref;     // t in coordinates of the body `ref`, or a world direction if ref is -1
  int npar, neq;    // neq = npar + 1
  int offset;       // first unknown in a system
  double mu, e[3];  // in force for this mode
  bool stick;       // branch of the friction law at the last evaluation
  int branch;       // abEcpBranch

  double pn, s[3];  // normal impulse; friction impulses divided by e
  double par[2];
  abVec3 impulse, moment[2];  // what acts on body 1, and its moments about the two centres of mass
} abEcpContact;

// Contact geometry at the end pose and its first variation. Columns: displacement and turn of body
// 1, of body 2, parameters. psi: turn of the frame (t, o, n).
enum { AB_ECP_COLUMNS = 14, AB_ECP_PAR = 12 };
typedef struct abEcpKinematics {
  abVec3 a, n, t, o;
  double g[3];
  double Jg[3][AB_ECP_COLUMNS], Ja[3][AB_ECP_COLUMNS], psi[3][AB_ECP_COLUMNS];
} abEcpKinematics;

// Arms about the two centres of mass, and their variations by column.
typedef struct abEcpLevers {
  abVec3 arm[2];    // of the impulse
  abVec3 slide[2];  // of the velocity that friction opposes
  abVec3 Jarm[2][AB_ECP_COLUMNS], Jslide[2][AB_ECP_COLUMNS];
} abEcpLevers;

// Bodies and contacts solved together. The arrays hold pointers, so that subsets are cheap.
typedef struct abEcpSystem {
  int nbody, ncontact, n;
  abEcpBody** body;
  abEcpContact** contact;
  bool exact_momentum;                  // variant D
  bool condensed;                       // see condense.c
  double *F, *J, *step, *trial, *copy;  // n, n*n or of the bodies alone, n, n
  struct abEcpBlock* block;             // of large systems, else unused
  double* diagonal;                     // the same: 36 a body
  int* pivot;                           // 4 n
  double proximal;                      // see hold_back in newton.c
  double gain;                          // of energy that is plausible, as a share of it
  double residual;                      // of the last assembly
  double speed;                         // change of velocity that the residual is compared with
  int iterations;                       // Newton iterations so far, over all modes tried
  double work, work_limit;  // the same since the last attempt began, large systems as many
  int modes;                // modes tried so far
} abEcpSystem;

// --- body.c
void ab_ecp_body_end(abEcpBody* b, bool exact_momentum);   // v, w -> end pose
void ab_ecp_body_free(abEcpBody* b, bool exact_momentum);  // end twist from load and f_ext alone

// --- feature.c
int ab_ecp_feature_count(const abEcpShape* s, abEcpKind kind);
abEcpFeature ab_ecp_feature(const abEcpShape* s, abEcpKind kind, int index);
// Extreme point of a body in a world direction, at its end pose.
abVec3 ab_ecp_support(const abEcpShape* s, const abEcpBody* b, abVec3 direction);
// How far a point given by the parameters lies outside the feature; <= 0: inside.
double ab_ecp_feature_outside(const abEcpFeature* f, const double par[2]);
// The same for a world point on the plane of a face, at the end pose.
double ab_ecp_face_outside(const abEcpFeature* f, const abEcpBody* b, abVec3 a);
bool ab_ecp_is_polyhedron(const abShape* s);

// --- mode.c
// Makes the mode current; false if such a contact is not modelled.
bool ab_ecp_set_mode(abEcpContact* c, abEcpMode mode);
// The same for modes without a plane (curve.c).
bool ab_ecp_set_curved(abEcpContact* c);
void ab_ecp_curved_kinematics(const abEcpContact* c, abEcpKinematics* k);
// The same for a vertex on an edge (corner.c), and such modes that are near, nearest first.
bool ab_ecp_set_corner(abEcpContact* c);
void ab_ecp_corner_kinematics(const abEcpContact* c, abEcpKinematics* k);
int ab_ecp_corners(const abEcpContact* c, int max, abEcpMode* out);
void ab_ecp_corner_turn(abEcpContact* c, abVec3 n);  // the normal as near to n as may be
bool ab_ecp_corner_next(const abEcpContact* c, const abEcpKinematics* k, abEcpMode* next);
// The same for ellipsoids without a plane (round.c); place: parameters where the ellipsoid is
// nearest to the other feature, starting near the world point a; memory: the normal, in the
// coordinates of the body that is not (or the second) the ellipsoid; normal: of the greatest
// separation, from a first guess.
bool ab_ecp_set_round(abEcpContact* c);
bool ab_ecp_round_orient(abEcpContact* c);
bool ab_ecp_round_place(abEcpContact* c, abVec3 a);
abVec3 ab_ecp_round_memory(const abEcpContact* c);
bool ab_ecp_round_normal(const abEcpContact* c, const abEcpFeature f[2], abVec3* N);
void ab_ecp_round_kinematics(const abEcpContact* c, abEcpKinematics* k,
                             double dn[3][AB_ECP_COLUMNS]);
// For modes without a plane: fixes t and the sign of n by the present poses and parameters; false
// if they leave n undefined. Call after set_mode, once the parameters have their first values.
bool ab_ecp_orient(abEcpContact* c);
void ab_ecp_kinematics(const abEcpContact* c, abEcpKinematics* k);
// Depth by which the plane (a, n) fails to separate the two bodies at their end poses.
double ab_ecp_overlap(const abEcpContact* c, const abEcpKinematics* k);
abPatchKind ab_ecp_patch_kind(const abEcpContact* c);
int ab_ecp_facet_count(const abEcpContact* c);
abEcpMode ab_ecp_mode(abEcpKind kind1, int index1, abEcpKind kind2, int index2);
bool ab_ecp_mode_equal(abEcpMode a, abEcpMode b);

// --- patch.c
// Radius of gyration of friction (mean distance from the centroid) and area of the patch of the
// current mode at the present poses.
void ab_ecp_patch(const abEcpContact* c, double* mean_distance, double* area);

// --- lever.c
// Variations for the columns from[0..n), which k holds by twist (velocity and spin), not by pose.
void ab_ecp_levers(const abEcpContact* c, const abEcpKinematics* k, int n, const int* from,
                   abEcpLevers* out);
// The equivalent contact point: where the line of action of the impulse meets the contact plane.
abVec3 ab_ecp_point(const abEcpContact* c, const abEcpKinematics* k);

// --- rows.c
// Where a contact's equations go: into J (n columns, by rows) and F, at these first rows and
// columns of its two bodies and of its own unknowns.
typedef struct abEcpRows {
  int n, body[2], own;
  double *F, *J;
} abEcpRows;
void ab_ecp_body_rows(const abEcpSystem* s, const abEcpBody* b, double* F, double* J, int n);
void ab_ecp_contact_rows(const abEcpSystem* s, abEcpContact* c, const abEcpRows* at);
void ab_ecp_hold_back(const abEcpSystem* s, const abEcpContact* c, const abEcpRows* at);
double ab_ecp_reduced_mass(const abEcpContact* c);
abVec3 ab_ecp_impulse(const abEcpContact* c, const abEcpKinematics* k);
// Velocity of body 1's matter past body 2's that friction opposes.
abVec3 ab_ecp_slip(const abEcpContact* c, const abEcpLevers* lever);

// --- condense.c
// The same step for large systems, condensed to the bodies. Blocks hold the equations of one
// contact: rows and columns of its two bodies, then its own.
enum { AB_ECP_OWN = 12, AB_ECP_BLOCK = 18 };
typedef struct abEcpBlock {
  double F[AB_ECP_BLOCK], J[AB_ECP_BLOCK * AB_ECP_BLOCK];
  double D[6][6], C[6][AB_ECP_OWN];  // inverse of its own part; that times the part of the bodies
} abEcpBlock;
void ab_ecp_condensed_rows(abEcpSystem* s);  // fills F, J (of the bodies) and the blocks
// The last digits of momentum: velocities become what the impulses make of them. (Turns do not:
// towers would rock on their rounding errors.)
void ab_ecp_condensed_settle(abEcpSystem* s);
void ab_ecp_condensed_step(abEcpSystem* s);  // solves for the step, destroying them
void ab_ecp_condensed_again(abEcpSystem* s, const double* F);  // the same for another F

// --- newton.c
typedef enum abEcpNewton { AB_ECP_SOLVED, AB_ECP_STALLED, AB_ECP_SINGULAR } abEcpNewton;
void ab_ecp_layout(abEcpSystem* s);      // slots and offsets
double ab_ecp_assemble(abEcpSystem* s);  // fills F and J; returns the scaled residual
void ab_ecp_read_unknowns(const abEcpSystem* s, double* x);
void ab_ecp_write_unknowns(const abEcpSystem* s, const double* x, const double* dx,
                           double alpha);  // x - alpha dx
abEcpNewton ab_ecp_newton(abEcpSystem* s, int max_iterations, bool damped);
// A x = b by Gaussian elimination, both destroyed; work: 4 n + 1 integers. Returns the rank.
int ab_ecp_eliminate(int n, double* A, double* b, int* work, double* x);
// The same for another b, with the A and work that ab_ecp_eliminate left.
void ab_ecp_substitute(int n, const double* A, double* b, const int* work, double* x);

// --- check.c
typedef struct abEcpVerdict {
  double residual;  // scaled, of the paper's equations
  double violated;  // scaled, of the inequalities
} abEcpVerdict;
// Of one body's momentum balance, with every active contact of the system counted.
abEcpVerdict ab_ecp_check(const abEcpSystem* s);
// Whether the present iterate of a contact meets all inequalities of its mode; *worst: by how much
// it fails (in units of length, or of impulse over mass).
bool ab_ecp_admissible(const abEcpSystem* s, const abEcpContact* c, double* worst);

// Whether the contacts add no energy worth mentioning.
bool ab_ecp_plausible(const abEcpSystem* s);

// --- neighbour.c
// The mode that a violated inequality of the present solution points to; false if none does.
bool ab_ecp_neighbour(const abEcpContact* c, abEcpMode* next);
// The edge of a polyhedron's face that a point in its plane lies farthest outside of.
int ab_ecp_border_edge(const abEcpFeature* f, const double par[2]);
// The mode that takes in the vertex which sinks deepest into a plane or face.
bool ab_ecp_grow(const abEcpContact* c, abEcpMode* next);

// --- candidate.c
double ab_ecp_separation(const abEcpContact* c, abVec3 n);
// Modes worth trying at the present end poses (those of the free motion), best guess first.
int ab_ecp_candidates(const abEcpContact* c, int max, abEcpMode* out);
// Whether the bodies are apart at their present end poses: a length >= 0 if so (not the distance),
// else how deep they overlap.
double ab_ecp_gap(const abEcpContact* c);
// A point between the bodies where they are nearest, at their present end poses.
abVec3 ab_ecp_witness(const abEcpContact* c);

// --- search.c
// Parameters of the present mode nearest to a world point; false if that leaves no normal.
bool ab_ecp_place(abEcpContact* c, abVec3 a);
// The mode and the impulses of the only contact of a system; true if all holds.
bool ab_ecp_search(abEcpSystem* s, const abEcpMode* last);

#endif
