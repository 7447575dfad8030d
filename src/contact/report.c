// A contact as it is reported.
//
// The equivalent contact point (ECP) is the point of the contact plane about which the normal
// pressure has no moment in the plane. With the normal part of the wrench given at p as force N n
// and torque m (m . n = 0), moving it by d in the plane changes the torque to m - d x N n; it
// vanishes for d = n x m / N.
// Tests: test_step, test_query.
#include "contact/report.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/simd.h"
#include "internal.h"
#include "math/spatial.h"

static abVec3 equivalent_point(const abPairSolution* s, abVec3 normal) {
  double N = v3_dot(s->normal_part.force, normal);
  if (!(N > 0)) return s->point;
  return v3_axpy(1 / N, v3_cross(normal, s->normal_part.torque), s->point);
}

static bool place_polygon(abArena* arena, const abPatch* patch, const double* pressure,
                          abContact* c) {
  if (patch->nvert == 0) return true;
  abVec3* polygon = AB_TAKE(arena, abVec3, patch->nvert);
  double* copy = AB_TAKE(arena, double, patch->nvert);
  if (!polygon || !copy) return false;
  for (int i = 0; i < patch->nvert; i++) {
    abVec2 r = patch->polygon[i];
    polygon[i] = v3_axpy(r.y, patch->t2, v3_axpy(r.x, patch->t1, patch->center));
  }
  c->nvert = patch->nvert;
  c->polygon = polygon;
  if (pressure) c->pressure = memcpy(copy, pressure, sizeof(double) * (size_t)patch->nvert);
  return true;
}

static bool report(abData* data, const abPair* pair, const abPairSolution* s, abContact* c) {
  bool has_patch = pair->patch.kind != AB_PATCH_NONE;
  abVec3 normal = has_patch ? pair->patch.normal : s->normal;
  double per_h = 1 / data->h;
  *c = (abContact){.body1 = pair->body1,
                   .body2 = pair->body2,
                   .geom1 = pair->geom1,
                   .geom2 = pair->geom2,
                   .point = equivalent_point(s, normal),
                   .normal = normal,
                   .area = has_patch ? pair->patch.area : s->area,
                   .depth = fmax(0, has_patch ? pair->patch.depth : s->depth),
                   .kind = has_patch ? pair->patch.kind : s->kind,
                   .mode = s->mode,
                   .hold = s->hold,
                   .nfacet = s->nfacet};
  if (has_patch) {
    c->t1 = pair->patch.t1;
    c->t2 = pair->patch.t2;
  } else {
    v3_tangents(normal, &c->t1, &c->t2);
  }
  memcpy(c->slip, s->slip, sizeof c->slip);
  abVec3 shift = v3_sub(c->point, s->point);
  c->wrench = wrench_move(wrench_scale(per_h, s->impulse), shift);
  c->normal_wrench = wrench_move(wrench_scale(per_h, s->normal_part), shift);
  c->friction_wrench = wrench_sub(c->wrench, c->normal_wrench);
  c->free_moment = v3_dot(c->friction_wrench.torque, normal);
  return place_polygon(data->internal->step_arena, &pair->patch, s->pressure, c);
}

// Models that see every near pair say by `kind` which of them touch; those that see what may touch
// within the step, by an impulse or an overlap.
static bool touches(const abData* data, const abPair* pair, const abPairSolution* s) {
  if (data->contact->geometry != AB_GEOMETRY_TOUCH)
    return pair->patch.kind != AB_PATCH_NONE || s->kind != AB_PATCH_NONE;
  return s->kind != AB_PATCH_NONE;
}

AB_SIMD AB_FLATTEN abStatus ab_report_contacts(abData* data, const abPairSolution* solution) {
  abContact* contact = AB_TAKE(data->internal->step_arena, abContact, data->internal->npair);
  if (!contact) return AB_ERROR_MEMORY;
  int n = 0;
  for (int i = 0; i < data->internal->npair; i++) {
    const abPair* pair = &data->internal->pair[i];
    if (!touches(data, pair, &solution[i])) continue;
    if (!report(data, pair, &solution[i], &contact[n])) return AB_ERROR_MEMORY;
    data->stat.nhold += contact[n].hold != AB_HOLD_NONE;
    data->stat.max_penetration = fmax(data->stat.max_penetration, contact[n++].depth);
  }
  data->contacts = contact;
  data->ncontact = n;
  data->stat.ncontact = n;
  return AB_OK;
}
