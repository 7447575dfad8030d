// Which bodies could pass through each other in a step, by how far they go.
// Tests: test_holdback.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/sort.h"
#include "collide/broad/broadphase.h"
#include "collide/broad/filter.h"
#include "collide/collide.h"
#include "holdback_work.h"
#include "internal.h"
#include "math/spatial.h"

const abPair* ab_hold_known(const abHoldWork* w, int a, int b) {
  uint64_t key = ab_pair_key(a, b);
  const abPair* pair = w->data->internal->pair;
  int low = 0, high = w->data->internal->npair, n = high;
  while (low < high) {
    int middle = (low + high) / 2;
    if (pair[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && pair[low].key == key ? &pair[low] : NULL;
}

static bool unseen(const abHoldWork* w, int a, int b, double thin) {
  return w->kick[a] + w->kick[b] > w->unseen * thin && !ab_hold_known(w, a, b);
}

double ab_hold_deep(const abHoldWork* w, int a, int b) {
  double thin = fmin(w->thin[a], w->thin[b]);
  return thin * (unseen(w, a, b, thin) ? AB_HOLD_UNSEEN : AB_HOLD_DEEP);
}

static bool add_pair(abHoldWork* w, int a, int b) {
  double thin = fmin(w->thin[a], w->thin[b]);
  bool far = !w->only_unseen && w->way[a] + w->way[b] > AB_HOLD_DEEP * thin;
  if (!(far || unseen(w, a, b, thin)) || !ab_may_collide(w->model, a, b)) return true;
  enum { MORE = 64 };
  if (w->nkey % MORE == 0) {
    uint64_t* key = ab_arena_extend(w->data->internal->scratch, w->key,
                                    sizeof *key * (size_t)w->nkey, sizeof *key * MORE);
    if (!key) return false;
    w->key = key;
  }
  w->key[w->nkey++] = ab_pair_key(a, b);
  return true;
}

static bool found(void* context, int other) {
  abHoldWork* w = context;
  return w->rank[other] >= 0 || add_pair(w, w->geom, other);
}

// Its centre's way, and everything about it.
static abBox swept_box(const abHoldWork* w, int geom) {
  int body = w->model->geom[geom].body;
  double r = ab_hold_radius(w, geom);
  abVec3 a = w->data->com[body], b = v3_axpy(w->data->h, w->flight[ab_hold_mover(w, geom)].v, a);
  return (abBox){v3(fmin(a.x, b.x) - r, fmin(a.y, b.y) - r, fmin(a.z, b.z) - r),
                 v3(fmax(a.x, b.x) + r, fmax(a.y, b.y) + r, fmax(a.z, b.z) + r)};
}

static bool moves_freely(const abHoldWork* w, int geom) {
  return !ab_hold_stands(w, geom) && w->flight[ab_hold_mover(w, geom)].free;
}

static double way_of(const abHoldWork* w, int geom) {
  const abFlight* f = &w->flight[ab_hold_mover(w, geom)];
  abTwist t = f->free ? (abTwist){f->v, f->spin.w} : w->data->twist[w->model->geom[geom].body];
  return w->data->h * (v3_norm(t.lin) + (v3_norm(t.ang) + f->bend) * ab_hold_radius(w, geom));
}

static double kick_of(const abHoldWork* w, int geom) {
  const abTwist* t = &w->flight[ab_hold_mover(w, geom)].kick;
  return w->data->h * (v3_norm(t->lin) + v3_norm(t->ang) * ab_hold_radius(w, geom));
}

// Geoms of free bodies whose points go so far that they or what they meet could be too deep.
// Returns how far those go that are none.
static double find_fast(abHoldWork* w) {
  const abModel* model = w->model;
  double thinnest = INFINITY;
  for (int i = 0; i < model->ngeom; i++) {
    w->thin[i] = ab_thinness(&model->geom[i].shape);
    w->way[i] = w->kick[i] = 0, w->rank[i] = -1;
    thinnest = fmin(thinnest, w->thin[i]);
  }
  double slow = 0.5 * AB_HOLD_DEEP * thinnest, soft = 0.5 * w->unseen * thinnest;
  for (int i = 0; i < model->ngeom; i++) {
    if (!moves_freely(w, i)) continue;
    w->way[i] = way_of(w, i), w->kick[i] = kick_of(w, i);
    if (!((w->way[i] > slow && !w->only_unseen) || w->kick[i] > soft)) continue;
    w->rank[i] = w->nfast;
    w->fast[w->nfast++] = i;
  }
  for (int i = 0; i < model->ngeom && w->nfast > 0; i++)
    if (!ab_hold_stands(w, i) && !moves_freely(w, i)) w->way[i] = way_of(w, i);
  return slow;
}

// Doubles in ascending order as integers, by their upper half.
static uint64_t order_of(double x) {
  float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Fast ones among each other: a sweep along x.
static bool find_fast_pairs(abHoldWork* w, uint64_t* order) {
  for (int i = 0; i < w->nfast; i++)
    order[i] = order_of(w->box[i].low.x) << 32 | (uint64_t)(unsigned)i;
  if (!ab_sort_keys(w->data->internal->scratch, w->nfast, order)) return false;
  for (int i = 0; i < w->nfast; i++) {
    int a = (int)(order[i] & 0xffffffffu);
    uint64_t end = order_of(w->box[a].high.x);
    for (int j = i + 1; j < w->nfast && order[j] >> 32 <= end; j++) {
      int b = (int)(order[j] & 0xffffffffu);
      if (box_meets(&w->box[a], &w->box[b]) && !add_pair(w, w->fast[a], w->fast[b])) return false;
    }
  }
  return true;
}

bool ab_hold_near(abHoldWork* w) {
  double slow = find_fast(w);
  if (!w->nfast) return true;
  abArena* scratch = w->data->internal->scratch;
  uint64_t* order = AB_TAKE(scratch, uint64_t, w->nfast);
  w->box = AB_TAKE(scratch, abBox, w->nfast);
  w->key = NULL;
  if (!order || !w->box) return false;
  for (int i = 0; i < w->nfast; i++) w->box[i] = swept_box(w, w->fast[i]);
  if (!find_fast_pairs(w, order)) return false;
  for (int i = 0; i < w->nfast; i++) {
    abBox box = {v3_sub(w->box[i].low, v3(slow, slow, slow)),
                 v3_add(w->box[i].high, v3(slow, slow, slow))};
    w->geom = w->fast[i];
    if (!ab_broadphase_query(w->data->internal->broadphase, w->data, &box, found, w)) return false;
  }
  return ab_sort_keys(scratch, w->nkey, w->key);
}
