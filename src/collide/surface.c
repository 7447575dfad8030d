// How the numbers of two geoms become those of the pair, as in MJCF: the geom with the higher
// priority decides; at equal priority each number is the larger of the two; an explicit pair
// overrides both.
//
// What MJCF does not know follows the same rule. Static friction of a geom is its friction[0]
// unless it was given; that of a pair is never below the kinetic one. e_r, the torsional length of
// the friction ellipsoid, comes from the patch (< 0) unless a geom gives it, or the scene asks for
// MuJoCo's numbers literally ("literal_torsion"): then e_r = torsional / sliding friction, the axis
// of MuJoCo's own elliptic cone. An explicit pair has two sliding coefficients: friction[0] is mu
// along t1 and e_o = friction[1] / friction[0].
#include "collide/surface.h"

#include <math.h>
#include <string.h>

#include "collide/broad/filter.h"

static double setting(const abModel* model, const char* name) {
  for (int i = 0; i < model->nsetting; i++)
    if (strcmp(model->setting[i].name, name) == 0) return model->setting[i].value;
  return 0;
}

static double own_static(const abGeom* g) {
  return g->mu_static < 0 ? g->friction[0] : g->mu_static;
}

// torsional[0]: sliding, [1]: torsional friction of the pair
static abSurface of_geoms(const abGeom* a, const abGeom* b, double torsional[2]) {
  if (a->priority < b->priority) a = b;
  if (b->priority < a->priority) b = a;
  torsional[0] = fmax(a->friction[0], b->friction[0]);
  torsional[1] = fmax(a->friction[1], b->friction[1]);
  return (abSurface){.mu_static = fmax(own_static(a), own_static(b)),
                     .mu_kinetic = torsional[0],
                     .e_t = fmax(a->e_t, b->e_t),
                     .e_o = fmax(a->e_o, b->e_o),
                     .e_r = fmax(a->e_r, b->e_r),
                     .restitution = fmax(a->restitution, b->restitution),
                     .condim = a->condim > b->condim ? a->condim : b->condim};
}

// Static friction is not in a rule: it stays where a geom gives it, else it is the rule's.
static void apply_rule(const abPairRule* rule, const abGeom* a, const abGeom* b, abSurface* s,
                       double torsional[2]) {
  s->condim = rule->condim;
  s->mu_kinetic = torsional[0] = rule->friction[0];
  torsional[1] = rule->friction[2];
  s->mu_static =
      a->mu_static < 0 && b->mu_static < 0 ? rule->friction[0] : fmax(a->mu_static, b->mu_static);
  if (rule->friction[0] > 0) s->e_o *= rule->friction[1] / rule->friction[0];
}

abSurface ab_surface(const abModel* model, int geom1, int geom2) {
  const abGeom *a = &model->geom[geom1], *b = &model->geom[geom2];
  double torsional[2];
  abSurface s = of_geoms(a, b, torsional);
  const abPairRule* rule = model->npair_rule ? ab_find_pair_rule(model, geom1, geom2) : NULL;
  if (rule) apply_rule(rule, a, b, &s, torsional);
  if (s.e_r < 0)
    s.e_r = setting(model, "literal_torsion") != 0 && torsional[0] > 0 ? torsional[1] / torsional[0]
                                                                       : -1;
  s.mu_static = fmax(s.mu_static, s.mu_kinetic);
  if (s.condim == 1) s.mu_static = s.mu_kinetic = 0;
  return s;
}
