// Candidates -> pairs.
//
// Each candidate is worked on by itself, in parallel, and writes only its own record: the overlap
// is found in the worker's scratch, the patch's polygon goes to the candidate's own room in the
// step's arena (its largest possible size; untouched room costs no memory). Then the records that
// are pairs are gathered in the order of the candidates, which is that of the keys, so nothing
// depends on the number of threads.
//
// What hardly moves is not measured again (collide_kept.c).
#include "collide/collide.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "collide/bricks.h"
#include "collide/collide_kept.h"
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
  int room;  // of polygon, in points
  abVec2* polygon;
  abPair pair;  // only where it is kept: most candidates are not, and leave the memory alone
} Record;

typedef struct Job {
  const abModel* model;
  const abData* data;
  Record* record;
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

static abStatus find_patch(const Job* job, Record* r, abPair* p, abArena* scratch) {
  const abPolyhedron *A = p->shape1->poly, *B = p->shape2->poly;
  if ((!A && !B) || balls_apart(p, job->margin)) return AB_OK;
  double margin = margin_of(job, p);
  const abTrace* trace = job->data->memory ? ab_memory_find(job->data->memory, p->key) : NULL;
  bool round = ab_round_sides(p->shape1, p->shape2);
  if (trace && !round && ab_kept_patch(trace, margin, p)) {
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
  abPair pair;
  name_pair(job->model, data, data->candidate[index], &pair);
  if (data->contact->geometry == AB_GEOMETRY_PAIR) {
    pair.patch = (abPatch){.kind = AB_PATCH_NONE};
    r->keep = true;
  } else {
    abArena* scratch = data->pool ? ab_pool_scratch(data->pool, worker) : job->serial;
    abArenaMark mark = ab_arena_mark(scratch);
    r->status = find_patch(job, r, &pair, scratch);
    ab_arena_release(scratch, mark);
  }
  if (!r->keep) return;
  pair.surface = ab_surface(job->model, pair.geom1, pair.geom2);
  r->pair = pair;
}

// Records with room for their polygons.
static Record* make_records(const abModel* model, abData* data) {
  int n = data->ncandidate;
  bool volume = data->contact->geometry == AB_GEOMETRY_VOLUME;
  Record* record = AB_TAKE(data->scratch, Record, n);
  if (!record) return NULL;
  size_t total = 0;
  for (int i = 0; i < n; i++) {
    const int* c = data->candidate[i];
    record[i].status = AB_OK;
    record[i].keep = false;
    record[i].room = polygon_room(&model->geom[c[0]].shape, &model->geom[c[1]].shape);
    total += (size_t)record[i].room;
  }
  abVec2* polygon = volume ? AB_TAKE(data->step_arena, abVec2, total) : NULL;
  if (volume && !polygon && total) return NULL;
  for (int i = 0; i < n; i++) {
    record[i].polygon = polygon;
    if (polygon) polygon += record[i].room;
  }
  return record;
}

// Copies the records that are pairs and links each to its memory.
static abStatus gather(const Job* job, abData* data) {
  const Record* record = job->record;
  int npair = 0;
  for (int i = 0; i < data->ncandidate; i++) {
    if (record[i].status != AB_OK) return record[i].status;
    npair += record[i].keep;
  }
  data->pair = AB_TAKE(data->step_arena, abPair, npair);
  uint64_t* key = AB_TAKE(data->scratch, uint64_t, npair);
  if (!data->pair || !key) return AB_ERROR_MEMORY;
  for (int i = 0; i < data->ncandidate; i++)
    if (record[i].keep) {
      key[data->npair] = record[i].pair.key;
      data->pair[data->npair++] = record[i].pair;
    }
  if (!data->memory) return AB_OK;
  if (!ab_memory_begin(data->memory, npair, key)) return AB_ERROR_MEMORY;
  for (int i = 0; i < npair; i++) {
    abPair* p = &data->pair[i];
    p->memory = ab_memory_bytes(data->memory, i);
    p->fresh = ab_memory_fresh(data->memory, i);
    if (p->patch.kind == AB_PATCH_NONE) continue;
    abTrace* trace = ab_memory_next(data->memory, i);
    if (p->kept)
      p->patch.polygon = trace->polygon;
    else
      ab_keep_patch(p, margin_of(job, p), trace);
  }
  return AB_OK;
}

abStatus ab_collide(const abModel* model, abData* data) {
  data->npair = 0;
  data->pair = NULL;
  if (!data->contact) return AB_OK;
  abArenaMark mark = ab_arena_mark(data->scratch);
  Job job = {.model = model,
             .data = data,
             .serial = data->scratch,
             .margin = data->contact->margin * v3_norm(model->gravity) * data->h * data->h};
  job.record = make_records(model, data);
  abStatus status = AB_ERROR_MEMORY;
  if (job.record) {
    ab_pool_run(data->pool, data->ncandidate, collide_one, &job);
    status = gather(&job, data);
  }
  ab_arena_release(data->scratch, mark);
  return status;
}
