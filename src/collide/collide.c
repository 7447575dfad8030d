// Candidates -> pairs.
//
// Each candidate is worked on by itself, in parallel, and writes only its own record: the overlap
// is found in the worker's scratch, the patch's polygon goes to the candidate's own room in the
// step's arena (its largest possible size; untouched room costs no memory). Then the records that
// are pairs are gathered in the order of the candidates, which is that of the keys, so nothing
// depends on the number of threads.
//
// What hardly moves is not measured again (collide_kept.c), or not even looked at
// (collide_watch.c). Where the same pairs touch as in the step before, those looked at are written
// in their places; else the table is made anew.
#include "collide/collide.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "collide/bricks.h"
#include "collide/collide_kept.h"
#include "collide/collide_watch.h"
#include "collide/gjk.h"
#include "collide/overlap_work.h"
#include "collide/patch.h"
#include "collide/round.h"
#include "collide/standing.h"
#include "collide/surface.h"
#include "geometry/polyhedron.h"
#include "math/rotation.h"

// The margin is at most this fraction of the thinner body.
static const double THIN = 0.01;
// Separations below this fraction of the margin are too short to tell a direction.
static const double CLOSE = 1e-3;

typedef struct Record {
  abStatus status;
  bool keep;
  bool spent;    // it must be measured
  double slack;  // see ab_watch_end
  int room;      // of polygon, in points
  abVec2* polygon;
  abPair pair;  // only where it is kept: most candidates are not, and leave the memory alone
} Record;

typedef struct Job {
  const abModel* model;
  const abData* data;
  const abWatching* watching;
  Record* record;   // per candidate to be looked at
  abArena* serial;  // scratch when there is no pool
  double margin;    // of the model, before it is made small against the bodies
} Job;

static bool fixed(const abModel* model, int body) { return model->body[body].mover < 0; }

// The most corners the polygon of a pair can have: those of the overlap.
static int polygon_room(const abShape* a, const abShape* b) {
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
  pair->shape1 = &model->geom[g1].shape, pair->shape2 = &model->geom[g2].shape;
  pair->pose1 = data->geom_pose[g1], pair->pose2 = data->geom_pose[g2];
  pair->memory = NULL;
  pair->fresh = pair->kept = false;
}

// Bounding balls about the frames, `margin` further apart: settles many candidates that do not
// touch.
static bool balls_apart(const abPair* p, double margin) {
  const abPolyhedron *a = p->shape1->poly, *b = p->shape2->poly;
  if (a && b) {
    double reach = a->radius + b->radius + margin;
    return v3_norm2(v3_sub(p->pose1.p, p->pose2.p)) >= reach * reach;
  }
  abPose plane = a ? p->pose2 : p->pose1, other = a ? p->pose1 : p->pose2;
  abVec3 up = quat_rotate(plane.q, v3(0, 0, 1));
  return v3_dot(up, v3_sub(other.p, plane.p)) >= (a ? a : b)->radius + margin;
}

// How thin a shape is: the smallest width of the simple ones, of a polyhedron twice the distance
// from its centroid to the nearest face.
static double thinness(const abShape* s) {
  switch (s->type) {
    case AB_PLANE:
      return DBL_MAX;
    case AB_BOX:
    case AB_ELLIPSOID:
      return 2 * fmin(s->size.x, fmin(s->size.y, s->size.z));
    case AB_SPHERE:
    case AB_CAPSULE:
      return 2 * s->size.x;
    case AB_CYLINDER:
      return 2 * fmin(s->size.x, s->size.y);
    default:
      break;
  }
  return ab_polyhedron_skin(s->poly)->thin;
}

// The margin, but small against both bodies.
static double margin_of(const Job* job, const abPair* p) {
  if (job->margin <= 0) return 0;
  return fmin(job->margin, THIN * fmin(thinness(p->shape1), thinness(p->shape2)));
}

// Shortest distance of two shapes that do not overlap. Where they touch, or almost, the nearest
// points coincide and leave the direction open: then it is asked for again with the first shape
// moved out by the margin through the face that is nearest. False if they are further apart than
// the margin.
static bool nearest_points(const abPair* p, double margin, abVec3* n) {
  abDistance d;
  ab_distance(p->shape1, p->pose1, p->shape2, p->pose2, NULL, &d);
  if (!d.overlap && d.separation >= margin) return false;
  if (d.overlap || d.separation < CLOSE * margin) {
    double way;
    abVec3 out = ab_least_penetration(p->shape1->poly, p->pose1, p->shape2->poly, p->pose2, &way);
    abPose pose = p->pose1;
    pose.p = v3_axpy(margin, out, pose.p);
    ab_distance(p->shape1, pose, p->shape2, p->pose2, NULL, &d);
    if (d.overlap) d.normal = out;
  }
  *n = d.normal;
  return v3_norm2(d.normal) > 0.5;
}

// The direction in which the two come nearest: the normal of their overlap, or where there is none
// of the shortest distance. False if they are further apart than the margin.
static bool nearest_direction(const abPair* p, const abOverlap* overlap, const abPatchHint* hint,
                              double margin, abVec3* n) {
  if (overlap->contact) {
    *n = ab_overlap_normal(overlap, hint);
    return true;
  }
  if (p->shape1->type == AB_PLANE || p->shape2->type == AB_PLANE) {
    bool first = p->shape1->type == AB_PLANE;
    *n = quat_rotate(first ? p->pose1.q : p->pose2.q, v3(0, 0, first ? -1 : 1));
    return true;
  }
  return nearest_points(p, margin, n);
}

// A model with a margin sees the patch that the bodies would have if the first were nearer by the
// margin, with the margin taken off its thickness: over the part of the patch where the bodies have
// not met the thickness is negative, and nothing jumps when they meet.
static abStatus near_patch(Record* r, abPair* p, abPatchHint* hint, abOverlapWork* work,
                           double margin, abArena* scratch) {
  abVec3 n;
  abOverlap overlap, nearer;
  abStatus status = ab_overlap_finish(work, true, scratch, &overlap);
  if (status != AB_OK || !nearest_direction(p, &overlap, hint, margin, &n)) return status;
  ab_overlap_shift(work, v3_scale(-margin, n));
  status = ab_overlap_finish(work, false, scratch, &nearer);
  if (status != AB_OK || !nearer.contact) return status;
  hint->fixed = &n;
  r->keep = true;
  status = ab_patch_make(&nearer, hint, scratch, r->room, r->polygon, &p->patch);
  p->patch.volume = overlap.volume;
  p->patch.center = v3_axpy(0.5 * margin, n, p->patch.center);
  p->patch.h0 -= margin;
  p->patch.depth -= margin;
  return status;
}

static void use_trace(const abTrace* trace, abPatchHint* hint) {
  if (trace) hint->normal = &trace->patch.normal, hint->t1 = &trace->patch.t1;
}

// The last step's trace of a pair, or NULL; `known`: its place then, -1: perhaps it has none.
static const abTrace* last_trace(const Job* job, uint64_t key, int known) {
  const abMemory* memory = job->data->memory;
  if (!memory) return NULL;
  return known >= 0 ? ab_memory_last(memory, known) : ab_memory_find(memory, key);
}

// A pair that was left alone and is looked at because its bodies have gone far enough is measured,
// to be left alone again as long.
static bool spent(const Job* job, abTodo todo) {
  const abMemory* memory = job->data->memory;
  return todo.pair >= 0 && memory->table[memory->last].still[todo.pair] > 0;
}

static abStatus find_patch(const Job* job, Record* r, const abTrace* trace, abPair* p,
                           abArena* scratch) {
  const abPolyhedron *A = p->shape1->poly, *B = p->shape2->poly;
  double margin = margin_of(job, p);
  r->slack = ab_kept_slack(margin);
  if ((!A && !B) || balls_apart(p, job->margin)) return AB_OK;
  bool round = ab_round_sides(p->shape1, p->shape2);
  if (round) r->slack = -1;
  if (trace && !round && !r->spent && ab_kept_patch(trace, margin, p, &r->slack)) {
    r->keep = p->kept = true;
    return AB_OK;
  }
  abPatchHint hint = {.A = A, .B = B, .pose_a = p->pose1, .pose_b = p->pose2};
  use_trace(trace, &hint);
  if (round && ab_round_patch(p, margin, &hint, r->polygon, &p->patch)) {
    r->keep = p->patch.kind != AB_PATCH_NONE;
    return AB_OK;
  }
  if (p->shape1->type == AB_BOX && !B) {
    r->keep = ab_standing_patch(p->shape1, margin, &hint, r->polygon, &p->patch);
    if (r->keep) return AB_OK;
  }
  abOverlapWork work;
  abStatus status = ab_overlap_begin(&work, A, p->pose1, B, p->pose2);
  if (status != AB_OK || ab_overlap_apart(&work, margin)) return status;
  r->keep = ab_bricks_patch(&work, margin, &hint, r->polygon, &p->patch);
  if (r->keep) return AB_OK;
  if (margin > 0) return near_patch(r, p, &hint, &work, margin, scratch);
  abOverlap overlap;
  status = ab_overlap_finish(&work, false, scratch, &overlap);
  if (status != AB_OK || !overlap.contact) return status;
  r->keep = true;
  return ab_patch_make(&overlap, &hint, scratch, r->room, r->polygon, &p->patch);
}

static void collide_one(void* context, int index, int worker) {
  Job* job = context;
  Record* r = &job->record[index];
  const abData* data = job->data;
  abTodo todo = job->watching->todo[index];
  abPair pair;
  name_pair(job->model, data, data->candidate[todo.candidate], &pair);
  if (data->contact->geometry == AB_GEOMETRY_PAIR) {
    pair.patch = (abPatch){.kind = AB_PATCH_NONE};
    r->keep = true;
  } else {
    abArena* scratch = data->pool ? ab_pool_scratch(data->pool, worker) : job->serial;
    abArenaMark mark = ab_arena_mark(scratch);
    const abTrace* trace = last_trace(job, pair.key, todo.pair);
    r->spent = spent(job, todo);
    r->status = find_patch(job, r, trace, &pair, scratch);
    ab_arena_release(scratch, mark);
  }
  if (!r->keep) return;
  pair.surface = ab_surface(job->model, pair.geom1, pair.geom2);
  r->pair = pair;
}

// Records with room for their polygons.
static Record* make_records(const abModel* model, abData* data, const abWatching* w) {
  bool volume = data->contact->geometry == AB_GEOMETRY_VOLUME;
  Record* record = AB_TAKE(data->scratch, Record, w->ntodo);
  if (!record) return NULL;
  size_t total = 0;
  for (int i = 0; i < w->ntodo; i++) {
    const int* c = data->candidate[w->todo[i].candidate];
    record[i].status = AB_OK;
    record[i].keep = false;
    record[i].slack = -1;
    record[i].room = polygon_room(&model->geom[c[0]].shape, &model->geom[c[1]].shape);
    total += (size_t)record[i].room;
  }
  abVec2* polygon = volume ? AB_TAKE(data->step_arena, abVec2, total) : NULL;
  if (volume && !polygon && total) return NULL;
  for (int i = 0; i < w->ntodo; i++) {
    record[i].polygon = polygon;
    if (polygon) polygon += record[i].room;
  }
  return record;
}

// The pair i of the present table is the one of the record.
static void put_pair(const Job* job, abTable* table, int i, const Record* r) {
  const abMemory* memory = job->data->memory;
  abPair* p = &table->pair[i];
  *p = r->pair;
  p->memory = ab_memory_bytes(memory, i);
  p->fresh = ab_memory_fresh(memory, i);
  table->left[i] = false;
  if (table->still[i] > 0) table->still[i] = -table->still[i];
  if (p->patch.kind == AB_PATCH_NONE) return;
  abTrace* trace = ab_memory_next(memory, i);
  if (p->kept)
    p->patch.polygon = trace->polygon;
  else
    ab_keep_patch(p, margin_of(job, p), trace);
}

// All pairs anew, in the order of the candidates.
static abStatus make_table(const Job* job, abData* data) {
  const abWatching* w = job->watching;
  uint64_t* key = AB_TAKE(data->scratch, uint64_t, data->ncandidate);
  if (!key) return AB_ERROR_MEMORY;
  int npair = 0;
  for (int i = 0, k = 0; i < data->ncandidate; i++) {
    bool looked_at = k < w->ntodo && w->todo[k].candidate == i;
    bool touches = looked_at ? job->record[k].keep : w->watch[i].touches;
    k += looked_at;
    if (touches) key[npair++] = ab_pair_key(data->candidate[i][0], data->candidate[i][1]);
  }
  if (!ab_memory_begin(data->memory, npair, key)) return AB_ERROR_MEMORY;
  abTable* table = ab_memory_now(data->memory);
  for (int k = 0, i = 0; k < w->ntodo; k++) {
    if (!job->record[k].keep) continue;
    while (key[i] != job->record[k].pair.key) i++;
    put_pair(job, table, i, &job->record[k]);
  }
  return AB_OK;
}

// From the records to the table of pairs.
static abStatus gather(const Job* job, abData* data) {
  const abWatching* w = job->watching;
  bool anew = !w->on || w->gone;
  for (int k = 0; k < w->ntodo; k++) {
    const Record* r = &job->record[k];
    if (r->status != AB_OK) return r->status;
    bool was = ab_watch_end(data, w, w->todo[k].candidate, r->keep, r->slack);
    anew |= was != r->keep;
  }
  abStatus status = AB_OK;
  if (anew) {
    status = make_table(job, data);
  } else {
    ab_memory_go_on(data->memory);
    for (int k = 0; k < w->ntodo; k++)
      if (job->record[k].keep)
        put_pair(job, ab_memory_now(data->memory), w->todo[k].pair, &job->record[k]);
  }
  data->pair = ab_memory_now(data->memory)->pair;
  data->npair = ab_memory_now(data->memory)->n;
  return status;
}

abStatus ab_collide(const abModel* model, abData* data) {
  data->npair = 0;
  data->pair = NULL;
  if (!data->contact) return AB_OK;
  abArenaMark mark = ab_arena_mark(data->scratch);
  abWatching watching;
  Job job = {.model = model,
             .data = data,
             .watching = &watching,
             .serial = data->scratch,
             .margin = data->contact->margin * v3_norm(model->gravity) * data->h * data->h};
  bool watch = data->contact->geometry == AB_GEOMETRY_VOLUME && !data->sleep.on;
  abStatus status = ab_watch_begin(model, data, watch ? job.margin : 0, &watching);
  if (status == AB_OK) {
    job.record = make_records(model, data, &watching);
    status = job.record ? AB_OK : AB_ERROR_MEMORY;
  }
  if (status == AB_OK) {
    ab_pool_run(data->pool, watching.ntodo, collide_one, &job);
    status = gather(&job, data);
  }
  ab_arena_release(data->scratch, mark);
  return status;
}
