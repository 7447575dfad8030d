// Microseconds per pair: overlap and patch of abut next to the contact generation of its peers, on
// the same pairs. What is compared is not the same thing: abut returns the exact overlap volume,
// the normal, the polygon and its moments; MPR and GJK one point (or only yes or no); Bullet and
// MuJoCo up to four or eight points. The last column is abut's time over the fastest peer that
// generates contacts (libccd's yes-or-no left out): below 1, abut is faster.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "collide/patch.h"
#include "pairs.h"

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Own {
  const BenchPair* pair;
  abArena arena;
  abVec2 polygon[1024];
  double sum;  // so that nothing is optimised away
} Own;

static void* own_prepare(const BenchPair* pair) {
  static Own own;
  if (!own.arena.base && ab_arena_init(&own.arena, (size_t)1 << 24) != AB_OK) return NULL;
  own.pair = pair;
  return &own;
}

static int own_overlap(void* state, int i) {
  Own* own = state;
  const BenchPair* p = own->pair;
  abOverlap o;
  ab_arena_release(&own->arena, 0);
  ab_overlap(p->a.poly, p->pose_a[i], p->b.poly, p->pose_b[i], &own->arena, &o);
  own->sum += o.volume;
  return o.contact;
}

static int own_patch(void* state, int i) {
  Own* own = state;
  const BenchPair* p = own->pair;
  abOverlap o;
  ab_arena_release(&own->arena, 0);
  ab_overlap(p->a.poly, p->pose_a[i], p->b.poly, p->pose_b[i], &own->arena, &o);
  if (!o.contact) return 0;
  abPatchHint hint = {
      .A = p->a.poly, .B = p->b.poly, .pose_a = p->pose_a[i], .pose_b = p->pose_b[i]};
  abPatch patch;
  ab_patch_make(&o, &hint, &own->arena, 1024, own->polygon, &patch);
  own->sum += patch.area;
  return patch.nvert;
}

static void own_release(void* state) { (void)state; }

static const BenchPeer peer_overlap = {"overlap", own_prepare, own_overlap, own_release};
static const BenchPeer peer_patch = {"with patch", own_prepare, own_patch, own_release};

// Best of many short rounds: the rest is the machine's noise.
static double microseconds(const BenchPeer* peer, const BenchPair* pair, int* contacts) {
  void* state = peer->prepare(pair);
  *contacts = state ? peer->collide(state, 0) : -1;
  double best = -1;
  int repeat = 1;
  for (int round = 0; round < 60 && *contacts >= 0; round++) {
    double start = now();
    for (int k = 0; k < repeat; k++)
      for (int i = 0; i < BENCH_POSES; i++) peer->collide(state, i);
    double seconds = now() - start;
    if (seconds < 3e-4) {
      repeat *= 2, round--;
      continue;
    }
    double us = 1e6 * seconds / (repeat * BENCH_POSES);
    if (best < 0 || us < best) best = us;
  }
  if (state) peer->release(state);
  return best;
}

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : "";
  const BenchPeer* peer[8];
  int npeer = 0;
  peer[npeer++] = &peer_overlap;
  peer[npeer++] = &peer_patch;
#ifdef ABUT_HAVE_CCD
  peer[npeer++] = &bench_ccd_gjk;
  peer[npeer++] = &bench_ccd_mpr;
#endif
#ifdef ABUT_HAVE_BULLET
  peer[npeer++] = &bench_bullet;
#endif
#ifdef ABUT_HAVE_MUJOCO
  peer[npeer++] = &bench_mujoco;
#endif
  printf("microseconds per pair (number of contact points or polygon corners)\n%-21s", "pair");
  for (int k = 0; k < npeer; k++) printf(" %16s", peer[k]->name);
  printf(" %8s\n", "ratio");
  BenchPair* pair;
  int n = bench_pairs(&pair);
  for (int i = 0; i < n; i++) {
    if (!strstr(pair[i].name, only)) continue;
    printf("%-21s", pair[i].name);
    double own = 0, fastest = 0;
    for (int k = 0; k < npeer; k++) {
      int contacts;
      double us = microseconds(peer[k], &pair[i], &contacts);
      if (us < 0) {
        printf(" %16s", "-");
        continue;
      }
      printf(" %11.3f (%2d)", us, contacts);
      if (peer[k] == &peer_patch) own = us;
      bool generates = peer[k] != &peer_overlap && peer[k] != &peer_patch;
#ifdef ABUT_HAVE_CCD
      generates = generates && peer[k] != &bench_ccd_gjk;
#endif
      if (generates && (fastest == 0 || us < fastest)) fastest = us;
    }
    if (fastest > 0)
      printf(" %8.2f\n", own / fastest);
    else
      printf(" %8s\n", "-");
  }
  return 0;
}
