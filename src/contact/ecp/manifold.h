// A contact as points that press: what the joint solver of large islands works with.
#ifndef ABUT_CONTACT_ECP_MANIFOLD_H
#define ABUT_CONTACT_ECP_MANIFOLD_H

#include "contact/ecp/ecp.h"

enum { AB_ECP_POINTS = 16 };

typedef struct abEcpPoint {
  abVec3 at[2];        // in the coordinates of each body, about its centre of mass
  double gap, lambda;  // at the present poses
  double held;         // multiplier
  double change;       // of it, the last one
  int side, edge;      // the edge of the patch from here to the next point: whose, and which
} abEcpPoint;

typedef struct abEcpManifold {
  abEcpContact* c;
  int n, ref;       // points; the body that the frame turns with
  int face[2];      // of a patch of two faces, else -1
  abVec3 frame[3];  // n, t, o in coordinates of that body
  double mass, held[3], change[3], limit;
  double pn, s[3];  // at the present poses
  abVec3 a, P;      // the point of action and the friction impulse
  bool stick;
  abEcpPoint point[AB_ECP_POINTS];
} abEcpManifold;

// The points of a contact that has a mode, at the present end poses. False: the mode's faces do not
// meet there.
bool ab_ecp_manifold(abEcpContact* c, abEcpManifold* m);
// Shares the impulse pn at m->a between the points.
void ab_ecp_manifold_recall(abEcpManifold* m, double pn, const double s[3]);
// Takes over the impulses of another patch of the same contact, whose friction the contact has.
void ab_ecp_manifold_inherit(abEcpManifold* m, const abEcpManifold* old);
// Which mode the points that touch (to within `touching`) make, given to the contact with point and
// impulse; the contact is left out if nothing presses.
bool ab_ecp_manifold_mode(const abEcpManifold* m, double touching);

// An island of such contacts.
typedef struct abEcpJoint {
  struct abEcpIsland* island;
  abEcpSystem* s;
  int n;
  abEcpManifold* m;
  double stiffness;  // k, in units of the reduced mass
  bool coupled;      // the limit of friction follows p_n
  bool extrapolate;  // the last two changes of the multipliers are comparable
} abEcpJoint;

// --- press.c
// The motion for the present multipliers, to 1e-9 of the speed `unit`; whether it was found.
bool ab_ecp_balance(const abEcpJoint* q, double unit);
// The multipliers become what they gave. Returns by how much the contact laws did not hold, as a
// length.
double ab_ecp_renew(abEcpJoint* q);

// Another mode for a contact whose present solution lies beyond its border or overlaps.
bool ab_ecp_next_mode(abEcpContact* c);

#endif
