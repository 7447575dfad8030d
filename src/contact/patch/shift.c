// By how much the coordinates move beyond the velocities of the end: second order where contact
// allows.
//
// Coordinates move along v + shift, see patch.c. Of islands of free bodies shift = H^-1 r, r half
// of the momentum lost in the step by each body that slides or rests on faces. H^-1 takes out of it
// whatever the contacts hold. Not so where a body rolls, rocks on an edge or strikes: the mean of
// two velocities is exact under a constant force, but feeds energy into an oscillation, and an
// impulse taken half-way along two paths does not keep the angular momentum.
//
// Of bodies that rebound, r is half of what the free motion changes and what the impulse is too
// early by (rebound.c); H then without the rebounds, which hold nothing.
// Tests: test_patch_stories.
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/spatial.h"

// A contact that opens may be left with the rounding of what it carried.
static bool presses(const abPatchContact* c) { return c->impulse[2] > ab_patch_least_load(c); }

static bool pressed_rebound(const abPatchContact* c) { return c->delayed && presses(c); }

typedef enum Moves { STRAIGHT_ON, CALM, REBOUNDS } Moves;

static void find_calm(abPatchIsland* island, Moves* moves) {
  const abPatchSystem* system = island->system;
  double most = AB_PATCH_SHIFT_CALM * system->gravity * system->h;
  for (int b = 0; b < island->nblock; b++) {
    moves[b] = STRAIGHT_ON;
    if (island->inertia[b]) continue;
    int body = system->problem->response->mover[island->mover[b]].body0;
    const double* v = island->v + island->offset[b];
    abVec3 change = v3_sub(v3(v[0], v[1], v[2]), system->problem->body[body].twist.lin);
    double turn = system->h * v3_norm(v3(v[3], v[4], v[5]));
    bool calm = v3_norm(change) <= most && turn <= AB_PATCH_TUMBLES;
    if (calm) moves[b] = CALM;
  }
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    bool face = system->problem->pair[c->pair].patch.kind == AB_PATCH_SURFACE;
    for (int k = 0; k < 2 && !face && presses(c); k++)
      if (c->side[k].block >= 0) moves[c->side[k].block] = STRAIGHT_ON;
  }
  for (int i = 0; i < island->ncontact; i++)
    for (int k = 0; k < 2 && pressed_rebound(island->contact[i]); k++)
      if (island->contact[i]->side[k].block >= 0)
        moves[island->contact[i]->side[k].block] = REBOUNDS;
}

// What the impulses of rebounds did too early.
static void delay_rebounds(abPatchIsland* island) {
  for (int i = 0; i < island->ncontact; i++) {
    const abPatchContact* c = island->contact[i];
    if (!pressed_rebound(c)) continue;
    double late[6], share = c->impulse_time / island->system->h;
    for (int k = 0; k < 6; k++) late[k] = -share * c->impulse[k];
    ab_patch_scatter(island, c, late, island->shift);
  }
}

static bool shift_load(abPatchIsland* island) {
  const abContactProblem* problem = island->system->problem;
  double least = AB_PATCH_SHIFT_UNSEEN * island->system->gravity * island->system->h;
  bool any = false, jointed = false, free = false;
  if (island->njoin > 0) return false;  // laws that join bodies are made for motion along v
  for (int b = 0; b < island->nblock; b++)
    jointed |= island->inertia[b] != NULL, free |= !island->inertia[b];
  if (!free) return false;
  Moves* moves = AB_TAKE(island->scratch, Moves, island->nblock);
  if (!moves) return false;
  find_calm(island, moves);
  for (int b = 0; b < island->nblock; b++) {
    double *x = island->direction + island->offset[b], start[6] = {0};
    memset(x, 0, sizeof(double) * (size_t)island->size[b]);
    if (island->inertia[b] || moves[b] == STRAIGHT_ON || (jointed && moves[b] == CALM)) continue;
    int body = problem->response->mover[island->mover[b]].body0;
    const double* end = (moves[b] == CALM ? island->v : island->v_free) + island->offset[b];
    twist_to_array(problem->body[body].twist, start);
    for (int k = 0; k < 6; k++) {
      x[k] = 0.5 * (start[k] - end[k]);
      any |= fabs(x[k]) * (k < 3 ? 1 : problem->length) > least;
    }
    any |= moves[b] == REBOUNDS;
  }
  ab_patch_apply_inertia(island, island->direction, island->shift);
  delay_rebounds(island);
  return any;
}

// Of the matrix, what rebounds hold. Returns whether there was any.
static bool let_go(abPatchIsland* island) {
  bool any = false;
  for (int i = 0; i < island->ncontact; i++) {
    if (!pressed_rebound(island->contact[i])) continue;
    memset(&island->contact[i]->G, 0, sizeof island->contact[i]->G);
    any = true;
  }
  return any;
}

void ab_patch_find_shift(abPatchIsland* island, abPatchMatrix* matrix) {
  bool any = shift_load(island), made = matrix->value != NULL;
  if (any && !made) made = ab_patch_matrix(island, matrix) == AB_OK;
  island->shifted = any && made;
  if (island->shifted) {
    if (let_go(island) || !matrix->factored) ab_patch_factor(island, matrix);
    ab_patch_back(matrix, island->shift);
    for (int b = 0; b < island->nblock; b++)  // joints are not moved back in time
      if (island->inertia[b])
        memset(island->shift + island->offset[b], 0, sizeof(double) * (size_t)island->size[b]);
  } else {
    memset(island->shift, 0, sizeof(double) * (size_t)island->ndof);
  }
}
