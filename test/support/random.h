// A small generator of its own, so that the same seed gives the same cases on every machine.
#ifndef ABUT_TEST_RANDOM_H
#define ABUT_TEST_RANDOM_H

#include "math/rotation.h"

typedef struct Random {
  uint64_t state;
} Random;

static inline uint64_t random_bits(Random* r) {
  uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline double random_uniform(Random* r, double low, double high) {
  return low + (high - low) * (double)(random_bits(r) >> 11) * 0x1p-53;
}
static inline double random_normal(Random* r) {
  double u = 1 - random_uniform(r, 0, 1), v = random_uniform(r, 0, 1);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
static inline int random_below(Random* r, int n) { return (int)(random_bits(r) % (uint64_t)n); }
static inline abVec3 random_vec(Random* r, double scale) {
  double x = random_uniform(r, -scale, scale), y = random_uniform(r, -scale, scale);
  return v3(x, y, random_uniform(r, -scale, scale));
}
// Three numbers, drawn in this order: two draws in the arguments of one call have the order that
// the compiler chooses.
static inline abVec3 random_size(Random* r, double low, double high) {
  double z = random_uniform(r, low, high), y = random_uniform(r, low, high);
  return v3(random_uniform(r, low, high), y, z);
}
static inline abVec3 random_direction(Random* r) {
  double x = random_normal(r), y = random_normal(r);
  return v3_unit(v3(x, y, random_normal(r)));
}
static inline abQuat random_rotation(Random* r) {
  double w = random_normal(r), x = random_normal(r), y = random_normal(r);
  return quat_unit((abQuat){w, x, y, random_normal(r)});
}

#endif
