// Tests: test_broadphase.
#include "collide/broad/filter.h"

const abPairRule* ab_find_pair_rule(const abModel* model, int geom1, int geom2) {
  int low = geom1 < geom2 ? geom1 : geom2, high = geom1 < geom2 ? geom2 : geom1;
  for (int i = 0; i < model->npair_rule; i++)
    if (model->pair_rule[i].geom1 == low && model->pair_rule[i].geom2 == high)
      return &model->pair_rule[i];
  return NULL;
}

static bool excluded(const abModel* model, int body1, int body2) {
  int low = body1 < body2 ? body1 : body2, high = body1 < body2 ? body2 : body1;
  for (int i = 0; i < model->nexclude; i++)
    if (model->exclude[i].body1 == low && model->exclude[i].body2 == high) return true;
  return false;
}

static bool never(const abModel* model, int geom) {
  const abGeom* g = &model->geom[geom];
  if (g->contype || g->conaffinity) return false;
  for (int i = 0; i < model->npair_rule; i++)
    if (model->pair_rule[i].geom1 == geom || model->pair_rule[i].geom2 == geom) return false;
  return true;
}

// Bodies welded to a mocap body go with it.
static bool is_mocap(const abModel* model, int body) {
  for (; model->nmocap > 0 && body > 0; body = model->body[body].parent)
    if (model->body[body].mocap >= 0) return true;
  return false;
}

abFilter ab_filter(const abModel* model, int geom) {
  const abGeom* g = &model->geom[geom];
  int weld = model->body[g->body].weld;
  return (abFilter){.contype = g->contype,
                    .conaffinity = g->conaffinity,
                    .weld = weld,
                    .above = model->body[model->body[weld].parent].weld,
                    .kind = never(model, geom)                ? AB_FILTER_NEVER
                            : g->shape.type == AB_SHAPE_PLANE ? AB_FILTER_PLANE
                            : model->body[g->body].mover >= 0 ? AB_FILTER_MOVES
                            : is_mocap(model, weld)           ? AB_FILTER_MOCAP
                                                              : AB_FILTER_FIXED};
}

bool ab_may_collide(const abModel* model, int geom1, int geom2) {
  if (model->npair_rule > 0 && ab_find_pair_rule(model, geom1, geom2)) return true;
  abFilter a = ab_filter(model, geom1), b = ab_filter(model, geom2);
  if (!ab_filters_pass(&a, &b)) return false;
  return !(model->nexclude > 0 &&
           excluded(model, model->geom[geom1].body, model->geom[geom2].body));
}
