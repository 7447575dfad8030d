// Candidates -> pairs.
//
// Each candidate is worked on by itself, in parallel, and writes only its own record: the overlap
// is found in the worker's scratch, the patch's polygon goes to the candidate's own room in the
// step's arena (its largest possible size; untouched room costs no memory). Then the records that
// are pairs are gathered in the order of the candidates, which is that of the keys, so nothing
// depends on the number of threads.
#include "collide/collide.h"

#include <float.h>
#include <string.h>

#include "base/pool.h"
#include "collide/boxes/box_box.h"
#include "collide/boxes/box_plane.h"
#include "collide/broad/filter.h"
#include "collide/clip/overlap.h"
#include "collide/patch/patch.h"
#include "collide/patch/round.h"
#include "collide/surface.h"
#include "collide/touch/touch.h"
#include "geometry/polyhedron.h"
#include "internal.h"
#include "math/rotation.h"
#include "math/spatial.h"
#include "pairs.h"

// Overlap up to this part of the thinner body still counts as touching from outside.
static const double TOLERANCE = 5e-3;

typedef struct Record {
  abStatus status;
  bool keep;
  int room;  // of polygon, in points
  abVec2* polygon;
  abPair pair;  // only where it is kept: most candidates are not, and leave the memory alone
} Record;

typedef struct Job {
  const abModel* model;
  const abData* data;
  const abTwist* motion;  // of each body, NULL: without contact
  Record* record;         // per candidate
  abArena* serial;        // scratch when there is no pool
} Job;

static bool fixed(const abModel* model, int body) { return model->body[body].mover < 0; }

// The most corners the polygon of a pair can have.
static int polygon_room(const abData* data, const abShape* a, const abShape* b) {
  if (data->contact->geometry == AB_GEOMETRY_TOUCH) return ab_touch_room(a, b);
  int nface = (a->poly ? a->poly->nface : 1) + (b->poly ? b->poly->nface : 1);
  return 2 * nface;
}

// All but the patch and the surface.
static void name_pair(const abModel* model, const abData* data, const int candidate[2],
                      abPair* pair) {
  int g1 = candidate[0], g2 = candidate[1];
  int b1 = model->geom[g1].body, b2 = model->geom[g2].body;
  bool swap = fixed(model, b1) != fixed(model, b2) ? fixed(model, b1) : b1 > b2;
  if (swap) {
    g1 = candidate[1], g2 = candidate[0];
    int b = b1;
    b1 = b2, b2 = b;
  }
  // field by field: a patch full of zeros for every candidate would cost more than its test
  pair->body1 = b1, pair->body2 = b2;
  pair->geom1 = g1, pair->geom2 = g2;
  pair->key = ab_pair_key(g1, g2);
  pair->tried = NULL;
  pair->shape1 = &model->geom[g1].shape, pair->shape2 = &model->geom[g2].shape;
  pair->pose1 = data->geom_pose[g1], pair->pose2 = data->geom_pose[g2];
  pair->memory = NULL;
  pair->fresh = false;
}

// Bounding balls about the frames settle many candidates that do not touch.
static bool balls_apart(const abPair* p) {
  const abPolyhedron *a = p->shape1->poly, *b = p->shape2->poly;
  if (a && b) {
    double reach = a->radius + b->radius;
    return v3_norm2(v3_sub(p->pose1.p, p->pose2.p)) >= reach * reach;
  }
  abPose plane = a ? p->pose2 : p->pose1, other = a ? p->pose1 : p->pose2;
  abVec3 up = quat_rotate(plane.q, v3(0, 0, 1));
  return v3_dot(up, v3_sub(other.p, plane.p)) >= (a ? a : b)->radius;
}

double ab_thinness(const abShape* s) {
  switch (s->type) {
    case AB_SHAPE_PLANE:
      return DBL_MAX;
    case AB_SHAPE_BOX:
    case AB_SHAPE_ELLIPSOID:
      return 2 * fmin(s->size.x, fmin(s->size.y, s->size.z));
    case AB_SHAPE_SPHERE:
    case AB_SHAPE_CAPSULE:
      return 2 * s->size.x;
    case AB_SHAPE_CYLINDER:
      return 2 * fmin(s->size.x, s->size.y);
    default:
      break;
  }
  return ab_polyhedron_skin(s->poly)->thin;
}

static double thinner(const abPair* p) {
  return fmin(ab_thinness(p->shape1), ab_thinness(p->shape2));
}

// The patch of what touches, or may within the step: by the free motion, or that of the job.
static bool touch_patch(const Job* job, Record* r, const abTrace* trace, abPair* p,
                        abArena* scratch) {
  const abData* data = job->data;
  const abTwist* motion = job->motion ? job->motion : data->internal->twist_free;
  double thin = thinner(p);
  double coat = job->model->geom[p->geom1].margin + job->model->geom[p->geom2].margin;
  const abPairRule* rule =
      job->model->npair_rule ? ab_find_pair_rule(job->model, p->geom1, p->geom2) : NULL;
  if (rule) coat = rule->margin;
  abTouch touch = {.shape1 = p->shape1,
                   .shape2 = p->shape2,
                   .pose1 = p->pose1,
                   .pose2 = p->pose2,
                   .com1 = data->com[p->body1],
                   .com2 = data->com[p->body2],
                   .twist1 = motion[p->body1],
                   .twist2 = motion[p->body2],
                   .h = data->h,
                   .margin = AB_TOUCH_MARGIN * thin + coat,
                   .watch = fmax(AB_TOUCH_MARGIN * thin, trace ? trace->watch : 0) + coat,
                   .tolerance = TOLERANCE * thin,
                   .normal = trace ? &trace->normal : NULL,
                   .pressed = trace && trace->watch > 0,
                   .t1 = trace ? &trace->t1 : NULL,
                   .before1 = job->motion ? NULL : &data->twist[p->body1],
                   .before2 = job->motion ? NULL : &data->twist[p->body2],
                   .bias1 = &data->internal->bias[p->body1],
                   .bias2 = &data->internal->bias[p->body2]};
  if (!ab_touch_patch(&touch, scratch, r->polygon, &p->patch)) return false;
  // margins are coats on the surfaces
  p->patch.h0 += coat, p->patch.depth += coat;
  return true;
}

// The patch of the overlap.
static abStatus overlap_patch(Record* r, const abTrace* trace, abPair* p, abArena* scratch) {
  const abPolyhedron *A = p->shape1->poly, *B = p->shape2->poly;
  if ((!A && !B) || balls_apart(p)) return AB_OK;
  bool round = ab_round_sides(p->shape1, p->shape2);
  abPatchHint hint = {.A = A, .B = B, .pose_a = p->pose1, .pose_b = p->pose2};
  if (trace) hint.normal = &trace->normal, hint.t1 = &trace->t1;
  if (round && ab_round_patch(p, &hint, r->polygon, &p->patch)) {
    r->keep = p->patch.kind != AB_PATCH_NONE;
    return AB_OK;
  }
  if (p->shape1->type == AB_SHAPE_BOX && !B) {
    r->keep = ab_box_plane_patch(p->shape1, &hint, r->polygon, &p->patch);
    if (r->keep) return AB_OK;
  }
  abOverlapWork work;
  abStatus status = ab_overlap_begin(&work, A, p->pose1, B, p->pose2);
  if (status != AB_OK || ab_overlap_sat(&work)) return status;
  r->keep = ab_box_box_patch(&work, &hint, r->polygon, &p->patch);
  if (r->keep) return AB_OK;
  abOverlap overlap;
  status = ab_overlap_finish(&work, scratch, &overlap);
  if (status != AB_OK || !overlap.contact) return status;
  r->keep = true;
  return ab_patch_make(&overlap, &hint, scratch, r->room, r->polygon, &p->patch);
}

static void collide_one(void* context, int index, int worker) {
  Job* job = context;
  Record* r = &job->record[index];
  const abData* data = job->data;
  abPair pair;
  name_pair(job->model, data, data->internal->candidate[index], &pair);
  if (data->contact->geometry == AB_GEOMETRY_PAIR) {
    pair.patch = (abPatch){.kind = AB_PATCH_NONE};
    r->keep = true;
  } else {
    abArena* scratch =
        data->internal->pool ? ab_pool_scratch(data->internal->pool, worker) : job->serial;
    abArenaMark mark = ab_arena_mark(scratch);
    const abTrace* trace =
        data->internal->memory ? ab_memory_find(data->internal->memory, pair.key) : NULL;
    if (data->contact->geometry == AB_GEOMETRY_TOUCH)
      r->keep = touch_patch(job, r, trace, &pair, scratch);
    else
      r->status = overlap_patch(r, trace, &pair, scratch);
    ab_arena_release(scratch, mark);
  }
  if (!r->keep) return;
  pair.surface = ab_surface(job->model, pair.geom1, pair.geom2);
  r->pair = pair;
}

// Records with room for their polygons.
static Record* make_records(const abModel* model, abData* data) {
  bool patches = data->contact->geometry != AB_GEOMETRY_PAIR;
  Record* record = AB_TAKE(data->internal->scratch, Record, data->internal->ncandidate);
  if (!record) return NULL;
  size_t total = 0;
  for (int i = 0; i < data->internal->ncandidate; i++) {
    const int* c = data->internal->candidate[i];
    record[i].status = AB_OK;
    record[i].keep = false;
    record[i].room = polygon_room(data, &model->geom[c[0]].shape, &model->geom[c[1]].shape);
    total += (size_t)record[i].room;
  }
  abVec2* polygon = patches ? AB_TAKE(data->internal->step_arena, abVec2, total) : NULL;
  if (patches && !polygon && total) return NULL;
  for (int i = 0; i < data->internal->ncandidate; i++) {
    record[i].polygon = polygon;
    if (polygon) polygon += record[i].room;
  }
  return record;
}

// The step's pairs, sorted by their keys, with what is remembered of each.
static abStatus set_pairs(abData* data, int npair, abPair* pair) {
  uint64_t* key = AB_TAKE(data->internal->scratch, uint64_t, npair);
  if (!key) return AB_ERROR_MEMORY;
  for (int k = 0; k < npair; k++) key[k] = pair[k].key;
  if (!ab_memory_begin(data->internal->memory, npair, key)) return AB_ERROR_MEMORY;
  for (int k = 0; k < npair; k++) {
    pair[k].memory = ab_memory_bytes(data->internal->memory, k);
    pair[k].fresh = ab_memory_fresh(data->internal->memory, k);
    *ab_memory_next(data->internal->memory, k) =
        (abTrace){pair[k].patch.normal, pair[k].patch.t1, 0};
  }
  data->internal->pair = pair;
  data->internal->npair = npair;
  return AB_OK;
}

// The pairs among the candidates, in their order.
static abStatus gather(const Job* job, abData* data) {
  int npair = 0;
  for (int i = 0; i < data->internal->ncandidate; i++) {
    if (job->record[i].status != AB_OK) return job->record[i].status;
    npair += job->record[i].keep;
  }
  abPair* pair = AB_TAKE(data->internal->step_arena, abPair, npair);
  if (!pair) return AB_ERROR_MEMORY;
  for (int i = 0, k = 0; i < data->internal->ncandidate; i++)
    if (job->record[i].keep) pair[k++] = job->record[i].pair;
  return set_pairs(data, npair, pair);
}

abStatus ab_collide(const abModel* model, abData* data) {
  data->internal->npair = 0;
  data->internal->pair = NULL;
  if (!data->contact) return AB_OK;
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  Job job = {.model = model, .data = data, .serial = data->internal->scratch};
  job.record = make_records(model, data);
  abStatus status = job.record ? AB_OK : AB_ERROR_MEMORY;
  if (status == AB_OK) {
    ab_pool_run(data->internal->pool, data->internal->ncandidate, collide_one, &job);
    status = gather(&job, data);
  }
  ab_arena_release(data->internal->scratch, mark);
  return status;
}

// --- what the solved motion brings together

// How deep the two are in each other at the end of the motion.
static double depth_then(const abData* data, const abTwist* motion, const abPair* p) {
  const abPatch* patch = &p->patch;
  abTwist a = twist_move(motion[p->body1], v3_sub(patch->center, data->com[p->body1])),
          b = twist_move(motion[p->body2], v3_sub(patch->center, data->com[p->body2]));
  abTwist V = twist_sub(a, b);
  double u = v3_dot(patch->normal, V.lin), w1 = v3_dot(patch->t1, V.ang),
         w2 = v3_dot(patch->t2, V.ang), most = -DBL_MAX;
  for (int i = 0; i < patch->nvert; i++) {
    double x = patch->polygon[i].x, y = patch->polygon[i].y;
    double thick = patch->h0 + patch->hx * x + patch->hy * y;
    most = fmax(most, thick - data->h * (u + w1 * y - w2 * x));
  }
  return most;
}

// False if there is no room for its polygon.
static bool look_at(const Job* job, abData* data, uint64_t key, Record* r) {
  const int candidate[2] = {(int)(key >> 32), (int)(key & 0xffffffffu)};
  name_pair(job->model, data, candidate, &r->pair);
  r->polygon = AB_TAKE(data->internal->step_arena, abVec2,
                       polygon_room(data, r->pair.shape1, r->pair.shape2));
  if (!r->polygon) return false;
  r->keep = touch_patch(job, r, ab_memory_find(data->internal->memory, key), &r->pair, job->serial);
  r->pair.surface = ab_surface(job->model, r->pair.geom1, r->pair.geom2);
  return true;
}

// What the contact model has left of the pairs so far is where it begins the next time.
static abStatus merge(abData* data, int n, const abPair* more) {
  int before = data->internal->npair, i = 0, j = 0;
  size_t bytes = data->contact->memory_bytes(data->internal->param);
  abPair* pair = AB_TAKE(data->internal->step_arena, abPair, before + n);
  char* tried = ab_arena_take(data->internal->step_arena, bytes * (size_t)before);
  if (!pair || !tried) return AB_ERROR_MEMORY;
  for (int k = 0; k < before + n; k++) {
    bool old = j == n || (i < before && data->internal->pair[i].key < more[j].key);
    pair[k] = old ? data->internal->pair[i] : more[j++];
    if (!old) continue;
    pair[k].tried = memcpy(tried + bytes * (size_t)i, pair[k].memory, bytes);
    i++;
  }
  return set_pairs(data, before + n, pair);
}

abStatus ab_collide_add(const abModel* model, abData* data, int n, const uint64_t* key,
                        const abTwist* motion, double share, bool* any) {
  Job job = {.model = model, .data = data, .motion = motion, .serial = data->internal->scratch};
  abPair* more = AB_TAKE(data->internal->scratch, abPair, n);
  *any = false;
  if (!more) return AB_ERROR_MEMORY;
  int found = 0;
  for (int i = 0; i < n; i++) {
    Record r;
    if (!look_at(&job, data, key[i], &r)) return AB_ERROR_MEMORY;
    // who springs back is struck first, and strikes then: in the next step
    bool springs = r.pair.surface.restitution > 0;
    if (r.keep && !springs && depth_then(data, motion, &r.pair) > share * thinner(&r.pair))
      more[found++] = r.pair;
  }
  *any = found > 0;
  return found ? merge(data, found, more) : AB_OK;
}
