// Sweep and prune: boxes sorted along one axis by their lower ends; the order is kept between
// steps, so that sorting costs little when bodies move little. Planes and other unbounded geoms are
// tried against everything.
//
// Models that solve for the motion within the step (AB_GEOMETRY_PAIR) need the pairs that may come
// to touch during it, so their boxes are grown by the distance the body can go.
#include "collide/broadphase.h"

#include <math.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sort.h"
#include "collide/filter.h"
#include "geometry/support.h"
#include "math/spatial.h"

typedef struct Box {
  abVec3 low, high;
} Box;

struct abBroadphase {
  int norder;
  int* order;  // bounded geoms by the lower end of their boxes
  int nplane;
  int* plane;  // the unbounded ones
};

abStatus ab_broadphase_create(const abModel* model, struct abBroadphase** out) {
  struct abBroadphase* b = ab_alloc_zero(sizeof *b + 2 * sizeof(int) * (size_t)(model->ngeom + 1));
  if (!b) return AB_ERROR_MEMORY;
  b->order = (int*)(b + 1);
  b->plane = b->order + model->ngeom;
  for (int i = 0; i < model->ngeom; i++)
    if (model->geom[i].shape.type == AB_PLANE)
      b->plane[b->nplane++] = i;
    else
      b->order[b->norder++] = i;
  *out = b;
  return AB_OK;
}

void ab_broadphase_free(struct abBroadphase* broadphase) { ab_free(broadphase); }

// How far any point of the body can go in this step, by its present velocity and gravity.
static double reach(const abModel* model, const abData* data, int geom) {
  int body = model->geom[geom].body;
  if (model->body[body].mover < 0) return 0;
  abTwist t = data->twist[body];
  double radius = ab_shape_radius(&model->geom[geom].shape) +
                  v3_norm(v3_sub(data->geom_pose[geom].p, data->com[body]));
  double g = v3_norm(model->gravity), h = data->h;
  return h * (v3_norm(t.lin) + radius * v3_norm(t.ang) + 2 * h * g);
}

static void find_boxes(const abModel* model, const abData* data, Box* box) {
  bool grow = data->contact->geometry == AB_GEOMETRY_PAIR;
  for (int i = 0; i < model->ngeom; i++) {
    if (model->geom[i].shape.type == AB_PLANE) continue;
    ab_shape_aabb(&model->geom[i].shape, &data->geom_pose[i], &box[i].low, &box[i].high);
    double r = model->geom[i].margin + (grow ? reach(model, data, i) : 0);
    box[i].low = v3_sub(box[i].low, v3(r, r, r));
    box[i].high = v3_add(box[i].high, v3(r, r, r));
  }
}

static bool boxes_meet(const Box* a, const Box* b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
         b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool below_plane(const abPose* plane, const Box* box) {
  abVec3 n = quat_rotate(plane->q, v3(0, 0, 1));
  abVec3 deepest = v3(n.x > 0 ? box->low.x : box->high.x, n.y > 0 ? box->low.y : box->high.y,
                      n.z > 0 ? box->low.z : box->high.z);
  return v3_dot(n, v3_sub(deepest, plane->p)) <= 0;
}

// Keys of the pairs found so far; they grow at the end of the step's arena, a cache line at a time.
typedef struct Found {
  uint64_t* key;
  int n;
} Found;

static bool add(const abModel* model, abArena* arena, Found* found, int a, int b) {
  if (!ab_may_collide(model, a, b)) return true;
  if (found->n % 8 == 0) {
    void* line = ab_arena_take(arena, 64);
    if (!line) return false;
    if (found->n == 0) found->key = line;
  }
  uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  found->key[found->n++] = low << 32 | high;
  return true;
}

static bool sweep(const abModel* model, abData* data, const Box* box, Found* found) {
  const struct abBroadphase* b = data->broadphase;
  for (int i = 0; i < b->norder; i++) {
    int g = b->order[i];
    for (int j = i + 1; j < b->norder && box[b->order[j]].low.x <= box[g].high.x; j++)
      if (boxes_meet(&box[g], &box[b->order[j]]) &&
          !add(model, data->step_arena, found, g, b->order[j]))
        return false;
    for (int j = 0; j < b->nplane; j++)
      if (below_plane(&data->geom_pose[b->plane[j]], &box[g]) &&
          !add(model, data->step_arena, found, g, b->plane[j]))
        return false;
  }
  return true;
}

abStatus ab_broadphase(const abModel* model, abData* data) {
  struct abBroadphase* b = data->broadphase;
  Box* box = AB_TAKE(data->scratch, Box, model->ngeom);
  if (!box) return AB_ERROR_MEMORY;
  find_boxes(model, data, box);
  for (int i = 1; i < b->norder; i++) {
    int g = b->order[i], j = i;
    for (; j > 0 && box[b->order[j - 1]].low.x > box[g].low.x; j--) b->order[j] = b->order[j - 1];
    b->order[j] = g;
  }
  Found found = {0};
  if (!sweep(model, data, box, &found) || !ab_sort_keys(data->scratch, found.n, found.key))
    return AB_ERROR_MEMORY;
  int(*pair)[2] = ab_arena_take(data->step_arena, sizeof *pair * (size_t)found.n);
  if (!pair) return AB_ERROR_MEMORY;
  for (int i = 0; i < found.n; i++) {
    pair[i][0] = (int)(found.key[i] >> 32);
    pair[i][1] = (int)(found.key[i] & 0xffffffffu);
  }
  data->ncandidate = found.n;
  data->candidate = (const int(*)[2])pair;
  return AB_OK;
}
