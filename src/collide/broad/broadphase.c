// Near pairs, kept from step to step.
//
// Every bounded geom has a roomy box: its tight box, grown on all sides. As long as the tight box
// stays inside, the roomy box does not move, and the list of pairs whose roomy boxes meet does not
// change; so a scene at rest costs one comparison per geom. A geom that leaves its roomy box gets a
// new one, grown more on the sides that have moved outwards since the last time, and its pairs are
// found anew in a tree of boxes (tree.c). Where many leave theirs at once all get new ones, and the
// tree's boxes, or the whole tree, and the list are made anew: those that were about to leave do
// not follow one by one. What is handed on are the pairs of the list whose TIGHT boxes meet: this
// depends on the present poses alone, never on how the list came about.
//
// Planes are tried against everything: they are few. Models that look ahead (all but
// AB_GEOMETRY_VOLUME) need the pairs that may come to touch during the step, so their tight boxes
// are grown by the distance the body can go, and by a small part of their size (AB_TOUCH_MARGIN).
#include "collide/broad/broadphase.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sort.h"
#include "collide/broad/filter.h"
#include "collide/broad/tree.h"
#include "collide/touch/touch.h"
#include "geometry/support.h"
#include "internal.h"
#include "math/spatial.h"
#include "pairs.h"

// Room on each side, relative to the tight box's size: more means fewer updates and more pairs to
// look at.
static const double ROOM = 0.05;
// How many steps of its present motion a roomy box foresees: these at least, and up to those as
// long as they are no more than this part of its size. What has moved by more than a larger part
// has jumped, and does not go on like that.
static const double FORESIGHT = 8, FAR_FORESIGHT = 24, NEAR_FORESIGHT = 0.2, JUMP = 0.3;
// A part of the geoms that leave their boxes makes a new tree cheaper than moving each of them, and
// those who would leave in the next steps.
static const double MANY_MOVED = 0.06;
// Pairs of roomy boxes per geom of a dense crowd.
static const size_t USUAL = 4;

// A list of keys that grows and never shrinks.
typedef struct Keys {
  uint64_t* key;
  size_t room;
} Keys;

static bool reserve(Keys* keys, size_t n) {
  if (n <= keys->room) return true;
  size_t room = n > 2 * keys->room ? n : 2 * keys->room;
  uint64_t* key = ab_realloc(keys->key, sizeof *key * room);
  if (!key) return false;
  *keys = (Keys){key, room};
  return true;
}

struct abBroadphase {
  int ngeom, nplane;
  int* plane;     // the unbounded geoms
  bool* in_tree;  // per geom
  abBox* tight;   // now, and as they were before they last changed
  abBox* was;
  const abFilter* filter;
  bool rules;   // the model has pairs that are asked for or excluded by name
  abTree tree;  // its leaves hold the roomy boxes
  bool* moved;  // got a new roomy box in this step
  int* mover_list;
  Keys list[2];  // keys of pairs with meeting roomy boxes, sorted; the two take turns
  int nkey;
  int now;
};

abStatus ab_broadphase_create(const abModel* model, struct abBroadphase** out) {
  size_t n = (size_t)model->ngeom + 1;
  size_t bytes = sizeof(struct abBroadphase) +
                 n * (2 * sizeof(int) + 2 * sizeof(bool) + 2 * sizeof(abBox) + sizeof(abFilter)) +
                 ab_tree_bytes(model->ngeom) + 64;
  struct abBroadphase* b = ab_alloc_zero(bytes);
  if (!b) return AB_ERROR_MEMORY;
  b->ngeom = model->ngeom;
  b->tight = (abBox*)(b + 1);
  b->was = b->tight + n;
  b->rules = model->npair_rule > 0 || model->nexclude > 0;
  void* nodes = b->was + n;
  ab_tree_init(&b->tree, model->ngeom, nodes);
  abFilter* filter = (abFilter*)(void*)((char*)nodes + ab_tree_bytes(model->ngeom));
  for (int i = 0; i < model->ngeom; i++) filter[i] = ab_filter(model, i);
  b->filter = filter;
  b->plane = (int*)(filter + n);
  b->mover_list = b->plane + n;
  b->in_tree = (bool*)(b->mover_list + n);
  b->moved = b->in_tree + n;
  for (int i = 0; i < model->ngeom; i++)
    if (model->geom[i].shape.type == AB_SHAPE_PLANE) b->plane[b->nplane++] = i;
  for (int i = 0; i < 2; i++) {
    if (!reserve(&b->list[i], USUAL * n)) {
      ab_broadphase_free(b);
      return AB_ERROR_MEMORY;
    }
    // touched now, so that no step has to wait for the pages of the usual number of pairs
    memset(b->list[i].key, 0, sizeof(uint64_t) * b->list[i].room);
  }
  *out = b;
  return AB_OK;
}

void ab_broadphase_free(struct abBroadphase* b) {
  if (!b) return;
  for (int i = 0; i < 2; i++) ab_free(b->list[i].key);
  ab_free(b);
}

static abBox grow(abBox box, abVec3 by) {
  return (abBox){v3_sub(box.low, by), v3_add(box.high, by)};
}

// How fast a body is, at the start and at the end of its free motion.
typedef struct Speeds {
  int body;
  double lin[2], ang[2];
} Speeds;

static Speeds speeds_of(const abData* data, int body) {
  abTwist a = data->twist[body], b = data->internal->twist_free[body];
  return (Speeds){body, {v3_norm(a.lin), v3_norm(b.lin)}, {v3_norm(a.ang), v3_norm(b.ang)}};
}

// How far any point of the geom can go in this step, at whichever of the two speeds is faster.
// Neighbouring geoms are of one body, whose speeds are kept.
static double reach(const abModel* model, const abData* data, int geom, Speeds* s) {
  int body = model->geom[geom].body;
  double radius = ab_shape_radius(&model->geom[geom].shape);
  double margin = AB_TOUCH_MARGIN * radius;
  if (model->body[body].mover < 0) return margin;
  if (s->body != body) *s = speeds_of(data, body);
  radius += v3_norm(v3_sub(data->geom_pose[geom].p, data->com[body]));
  return margin + data->h * fmax(s->lin[0] + radius * s->ang[0], s->lin[1] + radius * s->ang[1]);
}

// How far a side of a box of this size goes on, that has moved outwards by `step`.
static double ahead_of(double step, double size) {
  if (!(step > 0 && step < JUMP * size)) return 0;
  double least = FORESIGHT * step, most = FAR_FORESIGHT * step, near = NEAR_FORESIGHT * size;
  return most < near ? most : least > near ? least : near;
}

// `was` is the tight box of the last time, or for a geom that has none, of a step ago.
static abBox roomy_box(abBox now, abBox was) {
  abVec3 size = v3_sub(now.high, now.low), low = v3_sub(was.low, now.low),
         high = v3_sub(now.high, was.high);
  double longest = fmax(size.x, fmax(size.y, size.z)), room = ROOM * longest;
  abBox box = grow(now, v3(room, room, room));
  box.low = v3_sub(
      box.low, v3(ahead_of(low.x, longest), ahead_of(low.y, longest), ahead_of(low.z, longest)));
  box.high = v3_add(box.high, v3(ahead_of(high.x, longest), ahead_of(high.y, longest),
                                 ahead_of(high.z, longest)));
  return box;
}

// Pairs that the model wants to see again though they have come apart: how far each geom is grown
// for them.
static double* watched(const abData* data, int ngeom) {
  const abTable* last = &data->internal->memory->table[data->internal->memory->last];
  double* grow = AB_TAKE(data->internal->scratch, double, ngeom);
  if (!grow) return NULL;
  memset(grow, 0, sizeof *grow * (size_t)ngeom);
  for (int i = 0; i < last->n; i++) {
    double watch = ab_memory_last(data->internal->memory, i)->watch;
    int a = (int)(last->key[i] >> 32), b = (int)(last->key[i] & 0xffffffffu);
    grow[a] = fmax(grow[a], watch), grow[b] = fmax(grow[b], watch);
  }
  return grow;
}

// Brings the tight boxes up to date; returns how many geoms need a new roomy box (listed in
// mover_list).
static int update_boxes(const abModel* model, const abData* data, struct abBroadphase* b,
                        const double* watch) {
  bool ahead = data->contact->geometry != AB_GEOMETRY_VOLUME;
  int nmoved = 0;
  Speeds speeds = {.body = -1};
  for (int i = 0; i < b->ngeom; i++) {
    const abFilter* filter = &b->filter[i];
    b->moved[i] = false;
    if (filter->kind == AB_FILTER_PLANE || filter->kind == AB_FILTER_NEVER) continue;
    if (filter->kind == AB_FILTER_FIXED && b->in_tree[i]) continue;  // for good
    const abGeom* geom = &model->geom[i];
    abBox* t = &b->tight[i];
    b->was[i] = *t;
    ab_shape_reach(&geom->shape, &data->geom_pose[i], &t->low, &t->high);
    double r = geom->margin + (ahead ? reach(model, data, i, &speeds) + watch[i] : 0);
    if (r > 0) *t = grow(*t, v3(r, r, r));
    if (b->in_tree[i]) {
      if (box_holds(&b->tree.node[i].box, t)) continue;
    } else {
      abVec3 step = v3_scale(data->h, data->twist[geom->body].lin);
      b->was[i] = (abBox){v3_sub(t->low, step), v3_sub(t->high, step)};
    }
    b->moved[i] = true;
    b->mover_list[nmoved++] = i;
  }
  return nmoved;
}

// All that can move get new roomy boxes, and the tree is fitted to them or made anew.
static bool renew_tree(struct abBroadphase* b, abArena* scratch) {
  abArenaMark mark = ab_arena_mark(scratch);
  int *leaf = AB_TAKE(scratch, int, b->ngeom), n = 0;
  if (!leaf) return false;
  bool known = true;
  for (int i = 0; i < b->ngeom; i++) {
    if (b->filter[i].kind == AB_FILTER_PLANE || b->filter[i].kind == AB_FILTER_NEVER) continue;
    if (!b->in_tree[i] || b->filter[i].kind != AB_FILTER_FIXED)
      b->tree.node[i].box = roomy_box(b->tight[i], b->was[i]);
    known &= b->in_tree[i];
    b->in_tree[i] = true;
    leaf[n++] = i;
  }
  bool done = (known && ab_tree_refit(&b->tree)) || ab_tree_build(&b->tree, n, leaf, scratch);
  ab_arena_release(scratch, mark);
  return done;
}

// Gives the geoms of mover_list new roomy boxes. *anew: the tree was made anew.
static bool update_tree(struct abBroadphase* b, int nmoved, abArena* scratch, bool* anew) {
  *anew = nmoved > MANY_MOVED * b->ngeom;
  if (*anew) return renew_tree(b, scratch);
  for (int k = 0; k < nmoved; k++) {
    int i = b->mover_list[k];
    if (b->in_tree[i]) ab_tree_remove(&b->tree, i);
    ab_tree_insert(&b->tree, i, roomy_box(b->tight[i], b->was[i]));
    b->in_tree[i] = true;
  }
  return true;
}

static bool push(Keys* list, int* n, uint64_t key) {
  if (!reserve(list, (size_t)*n + 1)) return false;
  list->key[(*n)++] = key;
  return true;
}

static uint64_t pair_key(int a, int b) {
  return (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
}

typedef struct Search {
  const abModel* model;
  struct abBroadphase* b;
  Keys* list;
  int* n;
  int geom;
} Search;

static inline bool passes(const Search* s, int a, int b) {
  const abFilter* f = s->b->filter;
  return s->b->rules ? ab_may_collide(s->model, a, b) : ab_filters_pass(&f[a], &f[b]);
}

static bool found(void* context, int other) {
  const Search* s = context;
  if (other == s->geom) return true;
  // Two moved geoms find each other twice; the smaller one adds the pair.
  if (s->b->moved[other] && other < s->geom) return true;
  if (!passes(s, s->geom, other)) return true;
  return push(s->list, s->n, pair_key(s->geom, other));
}

static bool found_two(void* context, int a, int b) {
  const Search* s = context;
  return !passes(s, a, b) || push(s->list, s->n, pair_key(a, b));
}

// The moved geoms' pairs into the list in use next, sorted.
static bool find_moved(Search* s, int nmoved, abArena* scratch) {
  const struct abBroadphase* b = s->b;
  for (int i = 0; i < nmoved; i++) {
    s->geom = b->mover_list[i];
    if (!ab_tree_query(&b->tree, &b->tree.node[s->geom].box, found, s)) return false;
  }
  return ab_sort_keys(scratch, *s->n, s->list->key);
}

// Of the present list the pairs of which neither geom moved, and the nfresh new ones between them,
// into the scratch's room.
static int merge(const struct abBroadphase* b, int nfresh, const uint64_t* fresh, uint64_t* out) {
  const uint64_t* old = b->list[b->now].key;
  const bool* moved = b->moved;
  int n = 0, k = 0;
  for (int i = 0; i < b->nkey; i++) {
    uint64_t key = old[i];
    while (k < nfresh && fresh[k] < key) out[n++] = fresh[k++];
    out[n] = key;
    n += !(moved[key >> 32] | moved[key & 0xffffffffu]);
  }
  while (k < nfresh) out[n++] = fresh[k++];
  return n;
}

// Moves few: the list changes where they are.
static bool renew_moved(Search* s, int nmoved, abArena* scratch) {
  struct abBroadphase* b = s->b;
  if (!find_moved(s, nmoved, scratch)) return false;
  int nfresh = *s->n;
  abArenaMark mark = ab_arena_mark(scratch);
  uint64_t* fresh = AB_TAKE(scratch, uint64_t, nfresh);
  // room for one more, see merge
  if (!fresh || !reserve(s->list, (size_t)b->nkey + (size_t)nfresh + 1)) return false;
  memcpy(fresh, s->list->key, sizeof(uint64_t) * (size_t)nfresh);
  *s->n = merge(b, nfresh, fresh, s->list->key);
  ab_arena_release(scratch, mark);
  return true;
}

static bool update_list(const abModel* model, struct abBroadphase* b, int nmoved, bool anew,
                        abArena* scratch) {
  if (nmoved == 0) return true;
  Keys* next = &b->list[1 - b->now];
  if (!reserve(next, b->list[b->now].room)) return false;
  int n = 0;
  Search s = {.model = model, .b = b, .list = next, .n = &n};
  bool done = anew ? ab_tree_pairs(&b->tree, found_two, &s) && ab_sort_keys(scratch, n, next->key)
                   : renew_moved(&s, nmoved, scratch);
  b->now = 1 - b->now;
  b->nkey = n;
  return done;
}

static inline bool below(abVec3 n, abVec3 point, const abBox* box) {
  abVec3 deepest = v3(n.x > 0 ? box->low.x : box->high.x, n.y > 0 ? box->low.y : box->high.y,
                      n.z > 0 ? box->low.z : box->high.z);
  return v3_dot(n, v3_sub(deepest, point)) <= 0;
}

static bool reaches_plane(const abPose* plane, const abBox* box) {
  return below(quat_rotate(plane->q, v3(0, 0, 1)), plane->p, box);
}

// Keys of the pairs with a plane.
static int collect_planes(const abModel* model, const abData* data, const struct abBroadphase* b,
                          uint64_t* key) {
  int n = 0;
  for (int k = 0; k < b->nplane; k++) {
    abPose plane = data->geom_pose[b->plane[k]];
    abVec3 normal = quat_rotate(plane.q, v3(0, 0, 1));
    for (int i = 0; i < b->ngeom; i++)
      if (b->in_tree[i] && below(normal, plane.p, &b->tight[i]) &&
          ab_may_collide(model, i, b->plane[k]))
        key[n++] = pair_key(i, b->plane[k]);
  }
  return n;
}

static inline void put_pair(int pair[2], uint64_t key) {
  pair[0] = (int)(key >> 32);
  pair[1] = (int)(key & 0xffffffffu);
}

// The pairs of the list whose tight boxes meet, and between them those with a plane. About half of
// the list passes: a branch would guess in vain.
static int collect(const struct abBroadphase* b, int nplane, const uint64_t* plane,
                   int (*pair)[2]) {
  const uint64_t* list = b->list[b->now].key;
  const abBox* tight = b->tight;
  int n = 0, k = 0;
  for (int i = 0; i < b->nkey; i++) {
    uint64_t key = list[i];
    while (k < nplane && plane[k] < key) put_pair(pair[n++], plane[k++]);
    put_pair(pair[n], key);
    n += box_meets(&tight[key >> 32], &tight[key & 0xffffffffu]);
  }
  while (k < nplane) put_pair(pair[n++], plane[k++]);
  return n;
}

// After a failure half of the work is done: everything is found anew in the next step.
static abStatus forget(struct abBroadphase* b) {
  memset(b->in_tree, 0, sizeof *b->in_tree * (size_t)b->ngeom);
  ab_tree_init(&b->tree, b->ngeom, b->tree.node);
  b->nkey = 0;
  return AB_ERROR_MEMORY;
}

abStatus ab_broadphase(const abModel* model, abData* data) {
  struct abBroadphase* b = data->internal->broadphase;
  abArenaMark before = ab_arena_mark(data->internal->scratch);
  const double* watch = watched(data, b->ngeom);
  if (!watch) return AB_ERROR_MEMORY;
  int nmoved = update_boxes(model, data, b, watch);
  ab_arena_release(data->internal->scratch, before);
  bool anew;
  if (!update_tree(b, nmoved, data->internal->scratch, &anew) ||
      !update_list(model, b, nmoved, anew, data->internal->scratch))
    return forget(b);
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  size_t most = (size_t)b->nplane * (size_t)b->ngeom;
  uint64_t* plane = AB_TAKE(data->internal->scratch, uint64_t, most);
  if (!plane) return AB_ERROR_MEMORY;
  int nplane = collect_planes(model, data, b, plane);
  // those of one plane are in order
  if (b->nplane > 1 && !ab_sort_keys(data->internal->scratch, nplane, plane))
    return AB_ERROR_MEMORY;
  // room for one more, see collect
  size_t room = (size_t)b->nkey + (size_t)nplane + 1;
  abArenaMark start = ab_arena_mark(data->internal->step_arena);
  int(*pair)[2] = ab_arena_take(data->internal->step_arena, sizeof *pair * room);
  if (!pair) return AB_ERROR_MEMORY;
  int n = collect(b, nplane, plane, pair);
  ab_arena_release(data->internal->step_arena, start);
  ab_arena_take(data->internal->step_arena, sizeof *pair * (size_t)n);
  ab_arena_release(data->internal->scratch, mark);
  data->internal->ncandidate = n;
  data->internal->candidate = (const int(*)[2])pair;
  return AB_OK;
}

bool ab_broadphase_query(const struct abBroadphase* b, const abData* data, const abBox* box,
                         bool (*visit)(void*, int), void* context) {
  for (int k = 0; k < b->nplane; k++)
    if (reaches_plane(&data->geom_pose[b->plane[k]], box) && !visit(context, b->plane[k]))
      return false;
  return ab_tree_query(&b->tree, box, visit, context);
}
