// Which pairs of geoms are near enough to look at.
#ifndef ABUT_COLLIDE_BROADPHASE_H
#define ABUT_COLLIDE_BROADPHASE_H

#include <abut/data.h>

abStatus ab_broadphase_create(const abModel* model, struct abBroadphase** broadphase);
void ab_broadphase_free(struct abBroadphase* broadphase);
// Fills data->candidate (in data->step_arena): pairs of geoms, the smaller index first, sorted.
abStatus ab_broadphase(const abModel* model, abData* data);

#endif
