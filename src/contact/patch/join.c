// Laws that join movers (abLawRow): equalities, tendons, actuators on tendons and sites.
//
// Each adds psi(s . v), psi' = -clamp(W (v* - s . v), low, high), to the energy that the island
// minimises, s reaching into one or more blocks: W s s^T to the matrix while inside, and its
// impulse to the gradient. Unlike the rows of joints they are no part of the inertia.
// Tests: test_law_contact.
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/patch/patch.h"
#include "math/spatial.h"

// --- islands

static int mover_of(const abResponse* r, int dof) {
  int low = 0, high = r->nmover - 1;  // movers come in the order of their velocities
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (r->mover[middle].dof0 <= dof)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Index of the first entry behind those of the mover that entry i belongs to.
static int end_of_mover(const abResponse* r, const abLawRow* row, int i) {
  const abMover* m = &r->mover[mover_of(r, row->dof[i])];
  while (i < row->n && row->dof[i] < m->dof0 + m->ndof) i++;
  return i;
}

abStatus ab_patch_links(abPatchSystem* system) {
  const abContactProblem* problem = system->problem;
  const abResponse* r = problem->response;
  int most = 0;
  for (int i = 0; i < problem->nlaw; i++) most += problem->law[i].n;
  system->link = ab_arena_take(problem->scratch, sizeof(int[2]) * (size_t)most);
  system->link_law = AB_TAKE(problem->scratch, int, most);
  if (!system->link || !system->link_law) return AB_ERROR_MEMORY;
  for (int i = 0; i < problem->nlaw; i++) {
    const abLawRow* row = &problem->law[i];
    int first = row->n > 0 ? mover_of(r, row->dof[0]) : -1;
    for (int k = 0; k < row->n; k = end_of_mover(r, row, k)) {
      int m = mover_of(r, row->dof[k]), n = system->nlink++;
      system->link[n][0] = first, system->link[n][1] = m == first ? -1 : m;
      system->link_law[n] = k == 0 ? i : -1;
    }
  }
  return AB_OK;
}

static bool make_join(const abPatchIsland* island, abPatchJoin* j, abArena* arena) {
  const abPatchSystem* system = island->system;
  const abResponse* r = system->problem->response;
  const abLawRow* row = j->row;
  j->block = AB_TAKE(arena, int, row->n);
  j->first = AB_TAKE(arena, int, row->n + 1);
  j->at = AB_TAKE(arena, int, row->n);
  if (!j->block || !j->first || !j->at) return false;
  j->first[0] = 0;
  for (int k = 0; k < row->n;) {
    int m = mover_of(r, row->dof[k]), end = end_of_mover(r, row, k), b = system->block[m];
    for (; k < end; k++) j->at[k] = island->offset[b] + row->dof[k] - r->mover[m].dof0;
    j->block[j->npart++] = b;
    j->first[j->npart] = end;
  }
  return true;
}

abStatus ab_patch_joins(abPatchIsland* island, int n, const int* item, abArena* arena) {
  const abPatchSystem* system = island->system;
  island->join = AB_TAKE(arena, abPatchJoin, n);
  if (!island->join) return AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    int law = system->link_law[item[i] - system->ncontact];
    if (law < 0) continue;
    abPatchJoin* j = &island->join[island->njoin++];
    *j = (abPatchJoin){.row = &system->problem->law[law]};
    if (!make_join(island, j, arena)) return AB_ERROR_MEMORY;
  }
  return AB_OK;
}

// --- algebra

double ab_patch_join_speed(const abPatchJoin* j, const double* v) {
  double sum = 0;
  for (int k = 0; k < j->row->n; k++) sum += j->row->s[k] * v[j->at[k]];
  return sum;
}

double ab_patch_join_impulse(const abPatchJoin* j, double sv, bool* inside) {
  const abLawRow* row = j->row;
  double p = row->weight * (row->target - sv);
  *inside = p > row->low && p < row->high;
  return p < row->low ? row->low : p > row->high ? row->high : p;
}

// In the kinetic metric of the residual an impulse p along s has the size |p| sqrt(s M^-1 s^T);
// the blocks' scales are momenta, sqrt(mass) times as large.
void ab_patch_join_residual(abPatchIsland* island, double* scale) {
  for (int i = 0; i < island->njoin; i++) {
    abPatchJoin* j = &island->join[i];
    double p = ab_patch_join_impulse(j, ab_patch_join_speed(j, island->v), &j->inside);
    for (int k = 0; k < j->row->n; k++) island->gradient[j->at[k]] -= p * j->row->s[k];
    for (int a = 0; a < j->npart; a++)
      scale[j->block[a]] += fabs(p) * sqrt(j->row->mobility * island->mass[j->block[a]]);
  }
}

// W (v* - s . v) is a difference of velocities times W, and W times the mobility the stiffness.
double ab_patch_join_rounding(const abPatchIsland* island, double speed) {
  double most = 0;
  for (int i = 0; i < island->njoin; i++) {
    const abPatchJoin* j = &island->join[i];
    bool inside;
    ab_patch_join_impulse(j, ab_patch_join_speed(j, island->v), &inside);
    if (!inside) continue;
    double sum = fabs(j->row->target);
    for (int k = 0; k < j->row->n; k++) sum += fabs(j->row->s[k] * island->v[j->at[k]]);
    most = fmax(most, j->row->weight * j->row->mobility * sum / speed);
  }
  return 4 * DBL_EPSILON * most;
}

// s_a s_b^T w into the block of two parts.
static void add_parts(const abPatchIsland* island, const abPatchMatrix* m, const abPatchJoin* j,
                      int a, int b) {
  bool transposed;
  int at = ab_block_find(&m->symbolic, j->block[a], j->block[b], &transposed);
  if (transposed) {
    int t = a;
    a = b, b = t;
  }
  int nb = island->size[j->block[b]];
  int from_a = island->offset[j->block[a]], from_b = island->offset[j->block[b]];
  for (int k = j->first[a]; k < j->first[a + 1]; k++)
    for (int l = j->first[b]; l < j->first[b + 1]; l++)
      m->value[at + (j->at[k] - from_a) * nb + j->at[l] - from_b] +=
          j->row->weight * j->row->s[k] * j->row->s[l];
}

void ab_patch_add_joins(const abPatchIsland* island, const abPatchMatrix* m) {
  for (int i = 0; i < island->njoin; i++) {
    const abPatchJoin* j = &island->join[i];
    for (int a = 0; j->inside && a < j->npart; a++)
      for (int b = 0; b <= a; b++) add_parts(island, m, j, a, b);
  }
}

// Contacts begin with the impulses of the last step. Without the laws' answer to them the
// velocities would be far off, and a contact at rest look like one that strikes.
void ab_patch_join_start(abPatchIsland* island) {
  if (island->njoin == 0 || island->ncontact == 0) return;
  abArenaMark mark = ab_arena_mark(island->scratch);
  abPatchIsland bare = *island;
  abPatchMatrix matrix;
  bare.ncontact = 0;
  bare.v_free = AB_TAKE(island->scratch, double, island->ndof);
  if (bare.v_free && ab_patch_matrix(&bare, &matrix) == AB_OK) {
    memcpy(bare.v_free, island->v, sizeof(double) * (size_t)island->ndof);
    ab_patch_residual(&bare);
    ab_patch_factor(&bare, &matrix);
    for (int i = 0; i < island->ndof; i++) bare.direction[i] = -bare.gradient[i];
    ab_patch_back(&matrix, bare.direction);
    for (int i = 0; i < island->ndof; i++) island->v[i] += bare.direction[i];
  }
  ab_arena_release(island->scratch, mark);
}

void ab_patch_join_finish(abPatchIsland* island) {
  if (island->njoin == 0) return;
  bool free = island->nrow == 0;
  for (int b = 0; b < island->nblock; b++) free = free && !island->inertia[b];
  double* g = island->gradient;
  memset(g, 0, sizeof(double) * (size_t)island->ndof);
  for (int i = 0; i < island->njoin; i++) {
    abPatchJoin* j = &island->join[i];
    j->row->impulse = ab_patch_join_impulse(j, ab_patch_join_speed(j, island->v), &j->inside);
    for (int k = 0; k < j->row->n; k++) g[j->at[k]] += j->row->impulse * j->row->s[k];
  }
  if (!free) return;
  for (int i = 0; i < island->ncontact; i++)
    ab_patch_scatter(island, island->contact[i], island->contact[i]->impulse, g);
  ab_patch_solve_inertia(island, g);
  for (int i = 0; i < island->ndof; i++) island->v[i] = island->v_free[i] + g[i];
}
