// Patches of pairs that hardly move are kept from step to step: see collide_kept.c.
#ifndef ABUT_COLLIDE_KEPT_H
#define ABUT_COLLIDE_KEPT_H

#include "base/memory.h"

// The patch of the trace, moved along with the shapes, if they are still near enough to where they
// were when it was measured with this margin; its polygon is the trace's. slack: how much further
// both together may go.
bool ab_kept_patch(const abTrace* trace, double margin, abPair* pair, double* slack);
// How far both together may go from where they were measured; negative: nowhere.
double ab_kept_slack(double margin);
// Writes the pair's patch, just measured, to its trace.
void ab_keep_patch(const abPair* pair, double margin, abTrace* trace);

#endif
