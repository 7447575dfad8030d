// Near pairs, kept from step to step.
//
// Every bounded geom has a roomy box: its tight box, grown on all sides. As long as the tight box
// stays inside, the roomy box does not move, and the list of pairs whose roomy boxes meet does not
// change; so a scene at rest costs one comparison per geom. A geom that leaves its roomy box gets a
// new one, grown more on the side it moves to, and its pairs are found anew in a tree of boxes
// (tree.c). Where many leave theirs at once the whole tree and list are made anew. What is handed
// on are the pairs of the list whose TIGHT boxes meet: this depends on the present poses alone,
// never on how the list came about.
//
// Planes are tried against everything: they are few. Models that solve for the motion within the
// step (AB_GEOMETRY_PAIR) need the pairs that may come to touch during it, so their tight boxes are
// grown by the distance the body can go.
#include "collide/broadphase.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sort.h"
#include "collide/filter.h"
#include "collide/tree.h"
#include "geometry/support.h"
#include "math/spatial.h"

// Room on each side, relative to the tight box's size: more means fewer updates and more pairs to
// look at.
static const double ROOM = 0.08;
// How many steps of its present motion a roomy box foresees.
static const double FORESIGHT = 4;
// A part of the geoms that leave their boxes makes a new tree cheaper than moving each of them.
static const double MANY = 0.125;
// Address space for the pair list.
static const size_t LIST_RESERVE = (size_t)8 << 30;

struct abBroadphase {
  int ngeom, nplane;
  int* plane;     // the unbounded geoms
  bool* in_tree;  // per geom
  abBox* tight;
  abTree tree;  // its leaves hold the roomy boxes
  bool* moved;  // got a new roomy box in this step
  int* mover_list;
  abArena list[2];  // keys of pairs with meeting roomy boxes, sorted; the two take turns
  int nkey;
  int now;
};

abStatus ab_broadphase_create(const abModel* model, struct abBroadphase** out) {
  size_t n = (size_t)model->ngeom + 1;
  size_t bytes = sizeof(struct abBroadphase) +
                 n * (2 * sizeof(int) + 2 * sizeof(bool) + sizeof(abBox)) +
                 ab_tree_bytes(model->ngeom) + 64;
  struct abBroadphase* b = ab_alloc_zero(bytes);
  if (!b) return AB_ERROR_MEMORY;
  b->ngeom = model->ngeom;
  b->tight = (abBox*)(b + 1);
  void* nodes = b->tight + n;
  ab_tree_init(&b->tree, model->ngeom, nodes);
  b->plane = (int*)((char*)nodes + ab_tree_bytes(model->ngeom));
  b->mover_list = b->plane + n;
  b->in_tree = (bool*)(b->mover_list + n);
  b->moved = b->in_tree + n;
  for (int i = 0; i < model->ngeom; i++)
    if (model->geom[i].shape.type == AB_PLANE) b->plane[b->nplane++] = i;
  for (int i = 0; i < 2; i++)
    if (ab_arena_init(&b->list[i], LIST_RESERVE) != AB_OK) {
      ab_broadphase_free(b);
      return AB_ERROR_MEMORY;
    }
  *out = b;
  return AB_OK;
}

void ab_broadphase_free(struct abBroadphase* b) {
  if (!b) return;
  for (int i = 0; i < 2; i++) ab_arena_free(&b->list[i]);
  ab_free(b);
}

static abBox grow(abBox box, abVec3 by) {
  return (abBox){v3_sub(box.low, by), v3_add(box.high, by)};
}

// How far any point of the geom can go in this step, by its present velocity and gravity.
static double reach(const abModel* model, const abData* data, int geom) {
  int body = model->geom[geom].body;
  if (model->body[body].mover < 0) return 0;
  abTwist t = data->twist[body];
  double radius = ab_shape_radius(&model->geom[geom].shape) +
                  v3_norm(v3_sub(data->geom_pose[geom].p, data->com[body]));
  double h = data->h;
  return h * (v3_norm(t.lin) + radius * v3_norm(t.ang) + 2 * h * v3_norm(model->gravity));
}

// How near non-overlapping pairs must be for the model to want them.
static double contact_margin(const abModel* model, const abData* data) {
  return data->contact->margin * v3_norm(model->gravity) * data->h * data->h;
}

static abBox roomy_box(const abModel* model, const abData* data, int geom, abBox tight) {
  abVec3 size = v3_sub(tight.high, tight.low);
  double room = ROOM * fmax(size.x, fmax(size.y, size.z));
  abBox box = grow(tight, v3(room, room, room));
  abVec3 ahead = v3_scale(FORESIGHT * data->h, data->twist[model->geom[geom].body].lin);
  box.low = v3_add(box.low, v3(fmin(ahead.x, 0), fmin(ahead.y, 0), fmin(ahead.z, 0)));
  box.high = v3_add(box.high, v3(fmax(ahead.x, 0), fmax(ahead.y, 0), fmax(ahead.z, 0)));
  return box;
}

// Brings the tight boxes up to date; returns how many geoms need a new roomy box (listed in
// mover_list).
static int update_boxes(const abModel* model, const abData* data, struct abBroadphase* b) {
  bool ahead = data->contact->geometry == AB_GEOMETRY_PAIR;
  double margin = contact_margin(model, data);
  int nmoved = 0;
  for (int i = 0; i < b->ngeom; i++) {
    b->moved[i] = false;
    if (model->geom[i].shape.type == AB_PLANE) continue;
    if (b->in_tree[i] && model->body[model->geom[i].body].mover < 0) continue;  // fixed for good
    abBox* t = &b->tight[i];
    ab_shape_aabb(&model->geom[i].shape, &data->geom_pose[i], &t->low, &t->high);
    double r = model->geom[i].margin + (ahead ? reach(model, data, i) : 0.5 * margin);
    if (r > 0) *t = grow(*t, v3(r, r, r));
    if (b->in_tree[i] && box_holds(&b->tree.node[i].box, t)) continue;
    b->moved[i] = true;
    b->mover_list[nmoved++] = i;
  }
  return nmoved;
}

// Gives the geoms of mover_list new roomy boxes. *anew: the tree was made anew.
static bool update_tree(const abModel* model, const abData* data, struct abBroadphase* b,
                        int nmoved, bool* anew) {
  *anew = nmoved > MANY * b->ngeom;
  for (int k = 0; k < nmoved; k++) {
    int i = b->mover_list[k];
    abBox box = roomy_box(model, data, i, b->tight[i]);
    if (*anew) {
      b->tree.node[i].box = box;
    } else {
      if (b->in_tree[i]) ab_tree_remove(&b->tree, i);
      ab_tree_insert(&b->tree, i, box);
    }
    b->in_tree[i] = true;
  }
  if (!*anew) return true;
  abArenaMark mark = ab_arena_mark(data->scratch);
  int *leaf = AB_TAKE(data->scratch, int, b->ngeom), n = 0;
  if (!leaf) return false;
  for (int i = 0; i < b->ngeom; i++)
    if (b->in_tree[i]) leaf[n++] = i;
  bool done = ab_tree_build(&b->tree, n, leaf, data->scratch);
  ab_arena_release(data->scratch, mark);
  return done;
}

static bool push(abArena* arena, int* n, uint64_t key) {
  if (*n % 8 == 0 && !ab_arena_take(arena, 64)) return false;
  ((uint64_t*)(void*)arena->base)[(*n)++] = key;
  return true;
}

static uint64_t pair_key(int a, int b) {
  return (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
}

typedef struct Search {
  const abModel* model;
  struct abBroadphase* b;
  abArena* list;
  int* n;
  int geom;
} Search;

static bool found(void* context, int other) {
  const Search* s = context;
  if (other == s->geom) return true;
  // Two moved geoms find each other twice; the smaller one adds the pair.
  if (s->b->moved[other] && other < s->geom) return true;
  if (!ab_may_collide(s->model, s->geom, other)) return true;
  return push(s->list, s->n, pair_key(s->geom, other));
}

static bool found_two(void* context, int a, int b) {
  const Search* s = context;
  return !ab_may_collide(s->model, a, b) || push(s->list, s->n, pair_key(a, b));
}

// The old pairs of which neither geom moved, and the moved geoms' pairs.
static bool renew_moved(Search* s, const uint64_t* old, int nold, int nmoved) {
  const struct abBroadphase* b = s->b;
  for (int i = 0; i < nold; i++)
    if (!b->moved[old[i] >> 32] && !b->moved[old[i] & 0xffffffffu] && !push(s->list, s->n, old[i]))
      return false;
  for (int i = 0; i < nmoved; i++) {
    s->geom = b->mover_list[i];
    if (!ab_tree_query(&b->tree, &b->tree.node[s->geom].box, found, s)) return false;
  }
  return true;
}

static bool update_list(const abModel* model, struct abBroadphase* b, int nmoved, bool anew,
                        abArena* scratch) {
  if (nmoved == 0) return true;
  const uint64_t* old = (const uint64_t*)(void*)b->list[b->now].base;
  abArena* next = &b->list[1 - b->now];
  ab_arena_release(next, 0);
  int n = 0;
  Search s = {.model = model, .b = b, .list = next, .n = &n};
  bool done = anew ? ab_tree_pairs(&b->tree, found_two, &s) : renew_moved(&s, old, b->nkey, nmoved);
  if (!done) return false;
  b->now = 1 - b->now;
  b->nkey = n;
  return ab_sort_keys(scratch, n, (uint64_t*)(void*)next->base);
}

static bool reaches_plane(const abPose* plane, const abBox* box, double margin) {
  abVec3 n = quat_rotate(plane->q, v3(0, 0, 1));
  abVec3 deepest = v3(n.x > 0 ? box->low.x : box->high.x, n.y > 0 ? box->low.y : box->high.y,
                      n.z > 0 ? box->low.z : box->high.z);
  return v3_dot(n, v3_sub(deepest, plane->p)) <= margin;
}

// Keys of all candidates, unsorted where planes are concerned.
static int collect(const abModel* model, const abData* data, const struct abBroadphase* b,
                   uint64_t* key) {
  const uint64_t* list = (const uint64_t*)(void*)b->list[b->now].base;
  double margin = contact_margin(model, data);
  int n = 0;
  for (int i = 0; i < b->nkey; i++)
    if (box_meets(&b->tight[list[i] >> 32], &b->tight[list[i] & 0xffffffffu])) key[n++] = list[i];
  for (int k = 0; k < b->nplane; k++)
    for (int i = 0; i < b->ngeom; i++)
      if (b->in_tree[i] && reaches_plane(&data->geom_pose[b->plane[k]], &b->tight[i], margin) &&
          ab_may_collide(model, i, b->plane[k]))
        key[n++] = pair_key(i, b->plane[k]);
  return n;
}

abStatus ab_broadphase(const abModel* model, abData* data) {
  struct abBroadphase* b = data->broadphase;
  int nmoved = update_boxes(model, data, b);
  bool anew;
  if (!update_tree(model, data, b, nmoved, &anew) ||
      !update_list(model, b, nmoved, anew, data->scratch))
    return AB_ERROR_MEMORY;
  size_t most = (size_t)b->nkey + (size_t)b->nplane * (size_t)b->ngeom;
  abArenaMark mark = ab_arena_mark(data->scratch);
  uint64_t* key = AB_TAKE(data->scratch, uint64_t, most);
  if (!key) return AB_ERROR_MEMORY;
  int n = collect(model, data, b, key);
  int(*pair)[2] = ab_arena_take(data->step_arena, sizeof *pair * (size_t)n);
  if (!pair || (b->nplane > 0 && !ab_sort_keys(data->scratch, n, key))) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    pair[i][0] = (int)(key[i] >> 32);
    pair[i][1] = (int)(key[i] & 0xffffffffu);
  }
  ab_arena_release(data->scratch, mark);
  data->ncandidate = n;
  data->candidate = (const int(*)[2])pair;
  return AB_OK;
}
