// The two models of contact at points: point-pgs (pgs.c) and point-penalty (penalty.c). Thresholds
// of both; all else they have are parameters (abut models).
#ifndef ABUT_CONTACT_POINT_H
#define ABUT_CONTACT_POINT_H

// Points of a contact polygon that bear: of more corners every second, third ... one. Fewer than
// four: a box tips over a missing corner; more: time only, four being enough for all six axes.
enum { AB_POINT_MOST = 8 };

#endif
