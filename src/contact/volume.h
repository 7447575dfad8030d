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
// phi_p (ab_volume_in_cone). If the sticking f is not, the contact slides: forces at the vertices
// along n + mu_k e_l, e_l against the sliding velocity there, as large as the unilateral damper
// makes them: the complementarity problem
//
//     0 <= eps_l  _|_  n . K_l v - v*_l + r_n L / m eps_l >= 0,   v = v_without + Phi sum_l eps_l
//     K_l^T (n + mu_k e_l).
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

enum {
  AB_VOLUME_MAX_VERTEX = 12
};  // polygons with more are thinned: friction needs the outline, not every corner

// Everything of one contact that does not change while the forces are sought. 6-vectors are in the
// patch frame (t1, t2, n), scaled: angular parts are divided by `size` for wrenches and multiplied
// for twists, so that all six numbers have one unit.
typedef struct abVolumeContact {
  const abPair* pair;
  bool active;  // has an area and a normal
  double size;  // length that scales angular parts: sqrt(area)
  double mass;  // effective, along the normal
  double phi[6][6];
  double G[6][6];  // force law, f = Gv - G v
  double Gv[6];    // G v*
  int nvert;
  abVec2 vert[AB_VOLUME_MAX_VERTEX];    // in units of `size`
  double target[AB_VOLUME_MAX_VERTEX];  // v*_l at the vertices
  double slack;                         // r_n L / m
  double f[6];
  bool sliding;
} abVolumeContact;

typedef struct abVolumeOption {
  double k;          // 1/s
  double max_speed;  // of recovery, m/s
  double r_normal, r_tangent;
  int npyramid;
} abVolumeOption;

// Largest speed at which an overlap is resolved: a tenth of that of a fall through the scene's
// length.
double ab_volume_max_speed(const abContactProblem* problem);
void ab_volume_prepare(const abContactProblem* problem, const abPair* pair,
                       const abVolumeOption* option, abVolumeContact* c);
// Scaled patch-frame coordinates of world 6-vectors at the patch centre, and back.
void ab_volume_twist_in(const abVolumeContact* c, abTwist twist, double v[6]);
abWrench ab_volume_wrench_out(const abVolumeContact* c, const double f[6]);
void ab_volume_wrench_in(const abVolumeContact* c, abWrench wrench, double f[6]);

// Is f a sum of forces inside the vertices' friction pyramids? `scale`: the impulse below which a
// violation does not count.
bool ab_volume_in_cone(const abVolumeContact* c, const double f[6], double mu, int npyramid,
                       double scale, abArena* scratch);
// Directions of sliding friction at the vertices, from the relative twist v (scaled); vertices that
// do not move take the direction of `fallback`.
void ab_volume_slip_directions(const abVolumeContact* c, const double v[6],
                               const double fallback[6], abVec2* e);
// 6 x nvert generators K_l^T (n + mu e_l), by columns.
void ab_volume_generators(const abVolumeContact* c, double mu, const abVec2* e, double* A);
// The sticking answer when the relative twist without this contact's force is v0: (1 + G Phi) f = G
// (v* - v0).
bool ab_volume_stick(const abVolumeContact* c, const double v0[6], double f[6]);
// The sliding answer; false if the complementarity problem was not solved (then without friction,
// else zero).
bool ab_volume_slide(const abVolumeContact* c, const double v0[6], const double v_now[6],
                     abArena* scratch, double f[6]);
// Fills the pair's part of the solution from c->f.
void ab_volume_report(const abContactProblem* problem, const abVolumeContact* c, const double* v,
                      abPairSolution* out);

#endif
