#include "collide/filter.h"

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

// Is `body` the body that `other`'s rigid group hangs on?
static bool is_parent_of(const abModel* model, int body, int other) {
  int group = model->body[other].weld;
  return model->body[model->body[group].parent].weld == model->body[body].weld;
}

bool ab_may_collide(const abModel* model, int geom1, int geom2) {
  const abGeom *a = &model->geom[geom1], *b = &model->geom[geom2];
  if (model->npair_rule > 0 && ab_find_pair_rule(model, geom1, geom2)) return true;
  if (!(a->contype & b->conaffinity) && !(b->contype & a->conaffinity)) return false;
  int weld1 = model->body[a->body].weld, weld2 = model->body[b->body].weld;
  if (weld1 == weld2) return false;
  if (weld1 != 0 && weld2 != 0 &&
      (is_parent_of(model, a->body, b->body) || is_parent_of(model, b->body, a->body)))
    return false;
  return !(model->nexclude > 0 && excluded(model, a->body, b->body));
}
