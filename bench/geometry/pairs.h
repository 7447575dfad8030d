// The pairs of the geometry benchmark, and what a peer must answer about one.
#ifndef ABUT_BENCH_PAIRS_H
#define ABUT_BENCH_PAIRS_H

#include <abut/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_POSES = 64 };

// Shape A over shape B in BENCH_POSES slightly different poses, so that nobody answers from memory.
typedef struct BenchPair {
  const char* name;
  abShape a, b;
  abPose pose_a[BENCH_POSES], pose_b[BENCH_POSES];
  bool touching;  // whether they overlap
} BenchPair;

int bench_pairs(BenchPair** out);  // made once, never freed

// A peer is prepared for a pair, then asked for contacts in pose i; it returns their number, or -1
// where it has no answer to this pair.
typedef struct BenchPeer {
  const char* name;
  void* (*prepare)(const BenchPair* pair);
  int (*collide)(void* state, int i);
  void (*release)(void* state);
} BenchPeer;

extern const BenchPeer bench_ccd_gjk, bench_ccd_mpr, bench_bullet, bench_bullet_faces, bench_mujoco,
    bench_mujoco_multi;

#ifdef __cplusplus
}
#endif

#endif
