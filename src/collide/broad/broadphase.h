// Which pairs of geoms are near enough to look at.
#ifndef ABUT_COLLIDE_BROADPHASE_H
#define ABUT_COLLIDE_BROADPHASE_H

#include <abut/data.h>

#include "collide/broad/tree.h"

struct abBroadphase;

abStatus ab_broadphase_create(const abModel* model, struct abBroadphase** broadphase);
void ab_broadphase_free(struct abBroadphase* broadphase);
// Fills data->candidate (in data->step_arena): pairs of geoms, the smaller index first, sorted.
abStatus ab_broadphase(const abModel* model, abData* data);
// Calls visit(context, geom) for every geom that the box may meet by where the last call found them
// and what they could reach, until it returns false.
bool ab_broadphase_query(const struct abBroadphase* broadphase, const abData* data,
                         const abBox* box, bool (*visit)(void*, int), void* context);

#endif
