// Candidates -> pairs, with the geometry the contact model asked for (collide.c).
#ifndef ABUT_COLLIDE_COLLIDE_H
#define ABUT_COLLIDE_COLLIDE_H

#include <abut/data.h>

// Fills data->pair from data->candidate and data->geom_pose, and begins the next table of
// data->memory with the pairs' keys. Arrays live in data->step_arena.
abStatus ab_collide(const abModel* model, abData* data);

// Adds those of n pairs of geoms (sorted keys, none of them among data->pair) that the given motion
// of the bodies brings into each other by more than `share` of the thinner one, and begins the
// next table of data->memory anew. *any: whether there are any.
abStatus ab_collide_add(const abModel* model, abData* data, int n, const uint64_t* key,
                        const abTwist* motion, double share, bool* any);

// How thin a shape is: the smallest width of the simple ones, of a polyhedron twice the distance
// from its centroid to the nearest face.
double ab_thinness(const abShape* shape);

static inline uint64_t ab_pair_key(int geom1, int geom2) {
  uint64_t low = (uint64_t)(geom1 < geom2 ? geom1 : geom2);
  return low << 32 | (uint64_t)(geom1 < geom2 ? geom2 : geom1);
}

// A key may come from a file.
static inline bool ab_pair_key_fits(uint64_t key, int ngeom) {
  return key >> 32 < (key & 0xffffffffu) && (key & 0xffffffffu) < (uint64_t)ngeom;
}

#endif
