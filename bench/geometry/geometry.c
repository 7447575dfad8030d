// Microseconds per pair: overlap and patch of abut next to the contact generation of its peers, on
// the same pairs. What is compared is not the same thing: abut returns the exact overlap volume,
// the normal, the polygon and its moments; MPR and GJK one point (or only yes or no); Bullet and
// MuJoCo up to four or eight points. Two ratios, below 1 where abut is faster: of its time over the
// fastest peer that returns any contact (libccd's yes-or-no left out), and over the fastest that
// returns what the contact is like, three points or more where it is a surface.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "collide/boxes/box_box.h"
#include "collide/boxes/box_plane.h"
#include "collide/clip/overlap.h"
#include "collide/patch/patch.h"
#include "pairs.h"

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Own {
  const BenchPair* pair;
  bool surface;  // the last patch was one
  abArena arena;
  abVec2 polygon[1024];
  double sum;  // so that nothing is optimised away
} Own;

static Own own;

static bool last_was_surface(void) { return own.surface; }

static void* own_prepare(const BenchPair* pair) {
  if (own.arena.capacity == 0) ab_arena_init(&own.arena, (size_t)1 << 24);
  own.pair = pair;
  return &own;
}

static int own_overlap(void* state, int i) {
  Own* self = state;
  const BenchPair* p = self->pair;
  abOverlap o;
  ab_arena_release(&self->arena, 0);
  ab_overlap(p->a.poly, p->pose_a[i], p->b.poly, p->pose_b[i], &self->arena, &o);
  self->sum += o.volume;
  return o.contact;
}

// What ab_collide does for a pair.
static int own_patch(void* state, int i) {
  Own* self = state;
  const BenchPair* p = self->pair;
  abPatchHint hint = {
      .A = p->a.poly, .B = p->b.poly, .pose_a = p->pose_a[i], .pose_b = p->pose_b[i]};
  abPatch patch;
  if (p->a.type == AB_SHAPE_BOX && !p->b.poly &&
      ab_box_plane_patch(&p->a, &hint, self->polygon, &patch)) {
    self->sum += patch.area;
    self->surface = patch.kind == AB_PATCH_SURFACE;
    return patch.nvert;
  }
  abOverlap o;
  abOverlapWork work;
  ab_arena_release(&self->arena, 0);
  ab_overlap_begin(&work, p->a.poly, p->pose_a[i], p->b.poly, p->pose_b[i]);
  if (ab_overlap_sat(&work)) return 0;
  if (ab_box_box_patch(&work, &hint, self->polygon, &patch)) {
    self->sum += patch.area;
    self->surface = patch.kind == AB_PATCH_SURFACE;
    return patch.nvert;
  }
  ab_overlap_finish(&work, &self->arena, &o);
  if (!o.contact) return 0;
  ab_patch_make(&o, &hint, &self->arena, 1024, self->polygon, &patch);
  self->sum += patch.area;
  self->surface = patch.kind == AB_PATCH_SURFACE;
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

static int list_peers(const BenchPeer* peer[]) {
  int n = 0;
  peer[n++] = &peer_overlap;
  peer[n++] = &peer_patch;
#ifdef ABUT_HAVE_CCD
  peer[n++] = &bench_ccd_gjk;
  peer[n++] = &bench_ccd_mpr;
#endif
#ifdef ABUT_HAVE_BULLET
  peer[n++] = &bench_bullet;
  peer[n++] = &bench_bullet_faces;
#endif
#ifdef ABUT_HAVE_MUJOCO
  peer[n++] = &bench_mujoco;
  peer[n++] = &bench_mujoco_multi;
#endif
  return n;
}

static bool generates(const BenchPeer* peer) {
#ifdef ABUT_HAVE_CCD
  if (peer == &bench_ccd_gjk) return false;
#endif
  return peer != &peer_overlap && peer != &peer_patch;
}

static void least(double* best, double us) {
  if (*best == 0 || us < *best) *best = us;
}

static void print_ratio(double own, double fastest) {
  if (fastest > 0)
    printf(" %8.2f", own / fastest);
  else
    printf(" %8s", "-");
}

static void print_row(const BenchPair* pair, int npeer, const BenchPeer* const peer[]) {
  double own = 0, any = 0, alike = 0;
  bool surface = false;
  printf("%-21s", pair->name);
  for (int k = 0; k < npeer; k++) {
    int contacts;
    double us = microseconds(peer[k], pair, &contacts);
    if (us < 0) {
      printf(" %16s", "-");
      continue;
    }
    printf(" %11.3f (%2d)", us, contacts);
    if (peer[k] == &peer_patch) own = us, surface = contacts > 0 && last_was_surface();
    if (!generates(peer[k])) continue;
    least(&any, us);
    if (!surface || contacts >= 3) least(&alike, us);
  }
  print_ratio(own, any);
  print_ratio(own, alike);
  printf("\n");
}

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : "";
  const BenchPeer* peer[16];
  int npeer = list_peers(peer);
  printf("microseconds per pair (number of contact points or polygon corners)\n%-21s", "pair");
  for (int k = 0; k < npeer; k++) printf(" %16s", peer[k]->name);
  printf(" %8s %8s\n", "any", "alike");
  BenchPair* pair;
  int n = bench_pairs(&pair);
  for (int i = 0; i < n; i++)
    if (strstr(pair[i].name, only)) print_row(&pair[i], npeer, peer);
  return 0;
}
