// What the two models on 6-axis forces of contact volumes share: Wakisaka & Sugihara 2017
// (volume-qp, all contacts at once) and Zhang, Wakisaka & Sugihara (volume-pgs, contact by
// contact).
//
// Idea. Over the patch the relative velocity should become v(r) = k h(r) n, h the thickness of the
// overlap: so the overlap decays at the rate k. A rigid pair cannot do so at every point, so the
// squared error is made small:
//
//     E(v) = 1/2 int |K v - k h n|^2 dS = 1/2 v^T Q v - k (V n, 0)^T v + const,    K(r) = [1, -[r
//     x]],
//
// v the relative twist at the patch centre, Q = int K^T K dS; int h K^T n dS = (V n, 0) exactly,
// since the centre is the overlap's barycentre. The papers add lambda/2 f^T f so that f is unique.
// lambda has units, and with them a given value fits one mass and one area only. Here the
// regularisation is measured by the contact itself: minimising
//
//     E-part + 1/2 f^T Phi f    gives    f = G (v* - v),   G = m / Sc (Qn / r_n + Qt / r_t),
//
// where Q = Qn + Qt splits into normal and tangential velocity, m is the effective mass along the
// normal, Sc the patch's area, r_n and r_t are pure numbers, and G v* = m / (Sc r_n) k (V n, 0). It
// is a distributed damper that drives to v*: its wrench stays small where the patch is small, in
// all six axes, so edges and corners need no special care. At rest under the load m g h: depth =
// r_n g h / k; creep under a tangential force F: r_t F h / m.
//
// Friction. f is admissible if it is a sum of forces at the polygon's vertices, each within the
// pyramid of P edges phi_p = n + mu (cos t1 + sin t2): non-negative weights of 6-vectors K_l^T
// phi_p (ab_volume_in_cone). A contact is in one of three modes:
//
//   stick  f = G (v* - v), if that is admissible;
//   hold   else, if the contact tips or parts (its centre of pressure would lie outside): the
//          vertices push but do not pull, friction sticks as before,
//              f = sum_l eps_l K_l^T n - Gt v,    0 <= eps_l  _|_  w_l >= 0,
//          if that is admissible;
//   slide  else: forces at the vertices along n + mu_k e_l, e_l against the sliding there,
//              f = sum_l eps_l K_l^T (n + mu_k e_l),    0 <= eps_l  _|_  w_l >= 0 (law.c).
//
// w_l = n . K_l v - v*_l + slack_l eps_l: the unilateral damper at a vertex, slack_l = r_n / m over
// its share of the patch. Without `hold` a box
// that rocks or leans on an edge would have kinetic friction only.
//
// Friction opposes the velocity at the end of the step: at that of the start it would reverse, in
// every step, a motion slower than what friction changes in one, and nothing would ever rest. It
// must do so at each vertex by itself: from the friction of the patch as a whole, in equal shares,
// a box that leans on one end of an edge is pushed where it slides, and jumps between the ends for
// ever.
//
// This is where we depart from the papers: Wakisaka & Sugihara keep the normal force and moments of
// the sticking solution and choose the friction by a linear program, which has no solution when a
// body slides fast or tips (its centre of pressure lies outside); Zhang et al. clip negative
// weights of a pseudo-inverse, which is no projection and creates energy. Both can be chosen for
// comparison.
#ifndef ABUT_CONTACT_VOLUME_H
#define ABUT_CONTACT_VOLUME_H

#include "base/arena.h"
#include "contact/coupling.h"
#include "contact/island.h"

// Thresholds of all volume models, each with what goes wrong when it is changed.
enum {
  AB_VOLUME_MAX_VERTEX = 12,  // polygons with more are thinned: friction needs the outline, not
                              // every corner; fewer: discs feel their corners, more: time only
  AB_VOLUME_LAW_STEPS = 41,   // Newton steps of one contact; from AB_VOLUME_LAW_SHORT on only every
                              // fifth is a whole one, which
  AB_VOLUME_LAW_SHORT = 10,  // ends the rare cycles. Later: these cycle until the steps are used up
  AB_VOLUME_QP_STEPS = 75,   // Newton steps of volume-qp between two changes of modes; few problems
                             // need more than AB_VOLUME_QP_OWN,
  AB_VOLUME_QP_OWN = 6,  // and those oscillate between directions of sliding: from there on laws
                         // are taken about the contacts' own answers, which do not
  AB_VOLUME_RELEASES =
      1,  // how often a contact may go back towards sticking in one step; more: modes may cycle
  AB_VOLUME_JOINS = 24,    // steps of all contacts together (volume-pgs): most groups need one or
                           // two, large ones more, since contacts change their modes one after the
                           // other; what still moves after two dozen oscillates
  AB_VOLUME_HISTORY = 12,  // sweeps that are accelerated by (accelerate.c); fewer: slower, more:
                           // rounding of nearly parallel ones
};
// A contact's force is sought until it changes by this part of the first step: the sweep that wants
// it comes back. Smaller: time only; larger: more sweeps.
static const double AB_VOLUME_LAW_GAIN = 0.01, AB_VOLUME_SHORT_STEP = 0.3;
// The cost of a step of all contacts, in sweeps, up to which it is worth it, and the floating-point
// operations of one contact in a sweep (measured), with which that is computed: time only.
static const double AB_VOLUME_JOIN_COST = 10, AB_VOLUME_SWEEP_FLOPS = 2000;
// A contact whose answer is this part of the tolerance from its line is left there. Larger: the
// residual is not that of the result.
static const double AB_VOLUME_UNCHANGED = 0.1;
// Residual of the test whether a force lies in the cone, relative to it: an order above the simplex
// method's own. Smaller: forces on the border are in and out by rounding, and modes flicker.
static const double AB_VOLUME_CONE_TOLERANCE = 1e-8;
// A sign counts as right if violated by less, relative to the largest speed or force: the tolerance
// Lemke's method has, too; the two must agree.
static const double AB_VOLUME_SIGN_TOLERANCE = 1e-9;
// Change of a force that is rounding, relative to its size; added to the diagonal where the
// vertices do not span six axes (a line).
static const double AB_VOLUME_ROUNDING = 1e-12, AB_VOLUME_RANK = 1e-12;
// The smallest share of a patch that a vertex stands for, times the number of vertices. Smaller: a
// vertex nearly on a side is stiff.
static const double AB_VOLUME_LEAST_SHARE = 1e-3;

// What all contacts of a step share.
typedef struct abVolumeOption {
  double k;          // 1/s
  double max_speed;  // of recovery, m/s
  double r_normal, r_tangent;
  double scale;  // of impulses
  double small;  // change of friction that does not matter, given relative to `scale`
  int npyramid;
  double inner;             // radius of the pyramid's inscribed cone, relative to mu
  const abVec2* direction;  // of the pyramid's edges
  abArena* scratch;
} abVolumeOption;

// What the cone test remembers from one force to the next, so that most questions are answered by
// a product with a vector: six generators whose non-negative weights carried the last inside force,
// and a plane that had the cone on one side and the last outside force on the other.
typedef struct abVolumeCone {
  double moment[3][3];  // weights a + b . r at the vertices from normal force and moments
  bool has_moment;
  double* generator;  // 6 x (nvert npyramid), by columns; NULL before the first linear program
  bool has_basis, has_plane;
  double basis[36];          // inverse, by rows
  double plane[6];           // plane . generator <= 0 for all of them
  const double* last_plane;  // the last step's, until it is asked for; NULL if there is none
} abVolumeCone;

typedef enum abVolumeMode { AB_VOLUME_STICK, AB_VOLUME_HOLD, AB_VOLUME_SLIDE } abVolumeMode;

// One vertex of a sliding contact near a motion: its load, its friction t and how that changes,
// dt = along deps - slope (1 - d d^T) du (law.c).
typedef struct abVolumeVertex {
  double eps, slope;
  abVec2 t, along, d;
} abVolumeVertex;

// The law of a sliding contact near the motion v: f, D by rows and (1 - Phi D)^-1.
typedef struct abVolumeTangent {
  bool known;
  double v[6], f[6], D[36], inverse[36];
} abVolumeTangent;

// The vertices of a mode other than sticking. The complementarity problem of holding, and of
// sliding in given directions; `inverse` belongs to the vertices in `loaded`, the answer to the
// last question and the first guess for the next.
typedef struct abVolumeVertices {
  abVolumeVertex vertex[AB_VOLUME_MAX_VERTEX];  // slide
  double mobility[AB_VOLUME_MAX_VERTEX];        // slide: of a vertex against friction, plus slack
  double load;                                  // slide: of all of them, at the last motion
  abVolumeTangent tangent;                      // slide
  double A[6 * AB_VOLUME_MAX_VERTEX];           // generators, by columns
  double M[AB_VOLUME_MAX_VERTEX * AB_VOLUME_MAX_VERTEX];
  double inverse[AB_VOLUME_MAX_VERTEX * AB_VOLUME_MAX_VERTEX];
  int index[AB_VOLUME_MAX_VERTEX];  // the loaded ones
  int nloaded;
  unsigned loaded;  // bit l: vertex l
  bool has_inverse;
  double H[9];  // hold: friction is -H v in its three axes
} abVolumeVertices;

// Everything of one contact that does not change while the forces are sought. 6-vectors are in the
// patch frame (t1, t2, n), scaled: angular parts are divided by `size` for wrenches and multiplied
// for twists, so that all six numbers have one unit.
typedef struct abVolumeContact {
  const abPair* pair;
  const abVolumeOption* option;
  bool active;  // has an area and a normal
  double size;  // length that scales angular parts: the patch's extent
  double mass;  // effective, along the normal
  double mu_static, mu_kinetic;
  double phi[6][6];
  double G[6][6];   // force law, f = Gv - G v
  double Gt[6][6];  // its part from friction
  double Gv[6];     // G v*
  double S[6][6];   // sticking answer, f = s - S v0 (ab_volume_prepare_stick)
  double s[6];
  int nvert;
  abVec2 vert[AB_VOLUME_MAX_VERTEX];    // in units of `size`
  double target[AB_VOLUME_MAX_VERTEX];  // v*_l at the vertices
  double slack[AB_VOLUME_MAX_VERTEX];   // r_n / (m share): the inverse of their dampers
  double damper[AB_VOLUME_MAX_VERTEX];
  abVolumeCone cone;
  abVolumeVertices *hold, *slide;  // NULL before they are first needed
  double f[6];
  abVolumeMode mode;
  double v[6];    // volume-pgs: the motion with the last answer to a sweep
  bool answered;  // since the last joint step (contact/volume/join.h)
  bool slid;      // in the last step
} abVolumeContact;

// Fills the rest of an option whose coefficients and npyramid are set; false if the arena is full.
bool ab_volume_begin(const abContactProblem* problem, abVolumeOption* option);
void ab_volume_prepare(const abContactProblem* problem, const abPair* pair,
                       const abVolumeOption* option, abVolumeContact* c);
// Scaled patch-frame coordinates of world 6-vectors at the patch centre, and back.
void ab_volume_twist_in(const abVolumeContact* c, abTwist twist, double v[6]);
abWrench ab_volume_wrench_out(const abVolumeContact* c, const double f[6]);
void ab_volume_wrench_in(const abVolumeContact* c, abWrench wrench, double f[6]);
// Fills the pair's part of the solution from c->f.
void ab_volume_report(const abContactProblem* problem, const abVolumeContact* c, const double* v,
                      abPairSolution* out);

// The sticking answer when the relative twist without this contact's force is v0: (1 + G Phi) f = G
// (v* - v0). False (and S = 0: no force) where the system is singular.
bool ab_volume_prepare_stick(abVolumeContact* c);
void ab_volume_stick(const abVolumeContact* c, const double v0[6], double f[6]);

// Is f a sum of forces inside the vertices' static friction pyramids? (cone.c)
bool ab_volume_in_cone(abVolumeContact* c, const double f[6]);
// Of a force outside the cone: does its normal part alone leave it (pulls, or has its centre of
// pressure outside the polygon)?
bool ab_volume_tips(const abVolumeContact* c, const double f[6]);

// K_l^T (n + mu e): force (mu e, 1) at (x, y, 0).
static inline void ab_volume_generator(abVec2 r, double mu, abVec2 e, double a[6]) {
  a[0] = mu * e.x, a[1] = mu * e.y, a[2] = 1;
  a[3] = r.y, a[4] = -r.x, a[5] = mu * (r.x * e.y - r.y * e.x);
}
static inline abVec2 ab_volume_sliding_velocity(const double v[6], abVec2 r) {
  return v2(v[0] - v[5] * r.y, v[1] + v[5] * r.x);
}
// n . K_l v
static inline double ab_volume_normal_velocity(const double v[6], abVec2 r) {
  return v[2] + v[3] * r.y - v[4] * r.x;
}
// y = m x for a symmetric m
static inline void ab_volume_multiply(const double* m, const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) y[i] = m[i] * x[0];
  for (int k = 1; k < 6; k++)
    for (int i = 0; i < 6; i++) y[i] += m[6 * k + i] * x[k];
}

// The motion with the force f in the motion v0 without it, and back from the contact's own force.
static inline void ab_volume_with_force(const abVolumeContact* c, const double v0[6],
                                        const double f[6], double v[6]) {
  ab_volume_multiply(c->phi[0], f, v);
  for (int i = 0; i < 6; i++) v[i] += v0[i];
}
static inline void ab_volume_without_force(const abVolumeContact* c, const double v[6],
                                           double v0[6]) {
  ab_volume_multiply(c->phi[0], c->f, v0);
  for (int i = 0; i < 6; i++) v0[i] = v[i] - v0[i];
}

// ab = a b, 6 x 6 by rows
void ab_volume_product(const double* restrict a, const double* restrict b, double* restrict ab);

// f(v) of the contact's mode and its derivative D, by rows, unless NULL (law.c); and the
// step to v + dv: f becomes f + D dv.
void ab_volume_linearise(abVolumeContact* c, const double v[6], double f[6], double D[36]);
void ab_volume_advance(abVolumeContact* c, const double dv[6], const double D[36], double f[6]);
// The first guess of the friction at the vertices, from the force f.
void ab_volume_share_friction(abVolumeContact* c, const double f[6]);

// Take the memory of a mode (slide.c); false if the arena is full.
bool ab_volume_start_hold(abVolumeContact* c);
bool ab_volume_start_slide(abVolumeContact* c, const double f[6]);
// The answers to the motion v0 without this contact's force; false if they were not found.
bool ab_volume_hold(abVolumeContact* c, const double v0[6], double f[6]);
bool ab_volume_slide(abVolumeContact* c, const double v0[6], double f[6]);
// Does it stick or, if the sticking force tips, hold? Tries no mode below `least`; if so, c->mode
// and f are its answer.
bool ab_volume_stands(abVolumeContact* c, const double v0[6], abVolumeMode least, double f[6]);
// Sliding with friction in the directions it had last; without it if that fails, too.
void ab_volume_slide_on(abVolumeContact* c, const double v0[6], double f[6]);

// The local problem as Zhang et al. print it (clip.c): the full step to v*, clipped, or the
// admissible force nearest to it.
bool ab_volume_printed(const abVolumeContact* c, bool clipped, const double v0[6], double f[6]);

// Islands of the pairs whose patch can carry a force; false if the arena is full.
bool ab_volume_islands(const abContactProblem* problem, abIslands* islands);

// What is remembered of a pair.
typedef struct abVolumeMemory {
  double f[6];         // of the last step, world axes, at the patch centre
  double plane[6];     // of the cone test, scaled patch frame; zero if there is none
  unsigned char slid;  // a flag; a byte, since a state may come from a file
} abVolumeMemory;
void ab_volume_recall(abVolumeContact* c);
void ab_volume_remember(const abVolumeContact* c);

#endif
