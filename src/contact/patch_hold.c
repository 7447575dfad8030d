// Velocities that are held.
//
// A step of a large island begins with the impulses of the last one, which make the velocities
//
//   v = v_free + M^-1 sum J^T impulse.
//
// At rest that repeats the last change of velocity: what a step has mended, be it by 1e-12 m/s, the
// next begins by overdoing as much. The law, stiff as it is, sees it, and it is mended again, or
// grows until it must be: the island goes to and fro by its tolerance for ever.
//
// So the velocities of slow bodies are held where they were, but for a fading, and what the
// impulses would have made of them is left out. The residual M (v - v_free) - sum J^T answer has
// that in it; as long as it is within the tolerance, nothing is left to be done. What is left out
// is a debt,
//
//   r += v - (v_free + M^-1 sum J^T impulse),
//
// in units of a velocity. It must be paid, else a small force would never move a large load. Paying
// is v_free - r in place of v_free, with impulses that are solved for. If all of it were paid at
// once, these would be out of balance by r, and the next step would owe as much on the other side;
// so it is paid in small parts. In every step the momentum is right to within the tolerance, and
// over many steps to within DUE.
#include <math.h>

#include "contact/patch.h"
#include "math/spatial.h"

// Held are velocities of at most this many times g h, which is also the largest change that is not
// made: whoever moves faster is better guessed by the impulses.
#define SLOW 1e-5
// Whoever is this slow is idle: even a patch that carries a thousandth of its bodies' weight gives
// way to it by less than AB_PATCH_SAME. What a contact that is still answered between two such
// bodies it answers again.
#define IDLE 1e-12
// Debts are paid when one of an island's has grown to this many times g h, and then by this share
// in every step: the impulses that are found when the first part is paid go on paying, all while
// velocities are held, until as much is owed on the other side. The smaller the share, the more
// rarely that is; but what is still settling needs to pay.
#define DUE 1e-5
#define SHARE (1.0 / 256)

// Whether a block's velocity, as that of its centre or of a point at its radius of gyration, is
// above `share` of g h.
static bool exceeds(const abPatchIsland* island, int b, const double v[6], double share) {
  const abResponse* response = island->system->problem->response;
  int body = response->mover[island->mover[b]].body0;
  const abMat3* I = &response->inertia[body];
  double radius2 = (I->m[0][0] + I->m[1][1] + I->m[2][2]) / response->mass[body];
  double limit = share * ab_patch_unit_speed(island->system);
  double size2 =
      v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + radius2 * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]);
  return !(size2 <= limit * limit);
}

void ab_patch_pay(abPatchIsland* island) {
  abPatchDebts* debts = island->system->debts;
  double r[6];
  for (int b = 0; b < island->nblock && debts && !island->pays; b++)
    island->pays = ab_patch_debt(debts, island->mover[b], r) && exceeds(island, b, r, DUE);
  for (int b = 0; b < island->nblock && island->pays; b++) {
    double* v = island->v_free + island->offset[b];
    if (!ab_patch_debt(debts, island->mover[b], r)) continue;
    for (int i = 0; i < 6; i++) v[i] -= SHARE * r[i], r[i] -= SHARE * r[i];
    ab_patch_set_debt(debts, island->mover[b], r);
  }
}

// Where nothing happens a patch gives way ever more slowly, by the share `recovery` in every step:
// this is the motion that is held.
static bool hold_block(const abPatchIsland* island, int b, double* v, double* owed) {
  const abContactProblem* problem = island->system->problem;
  double slower = 1 - island->system->param[AB_PATCH_RECOVERY], held[6];
  twist_to_array(problem->body[problem->response->mover[island->mover[b]].body0].twist, held);
  for (int i = 0; i < 6; i++) {
    held[i] *= slower;
    owed[i] = held[i] - v[i];
  }
  bool slow = !exceeds(island, b, held, SLOW) && !exceeds(island, b, owed, SLOW);
  for (int i = 0; i < 6; i++) {
    if (slow) v[i] = held[i];
    if (!slow) owed[i] = 0;
  }
  return slow;
}

void ab_patch_hold(abPatchIsland* island) {
  const abPatchSystem* system = island->system;
  if (!system->debts || !system->problem->still || island->ncontact <= AB_PATCH_LARGE) return;
  double* owed = island->pays ? NULL : AB_TAKE(island->scratch, double, island->ndof);
  bool *idle = AB_TAKE(island->scratch, bool, island->nblock), any = false;
  if (!owed || !idle) return;
  for (int b = 0; b < island->nblock; b++) {
    double* v = island->v + island->offset[b];
    bool held = hold_block(island, b, v, owed + island->offset[b]);
    idle[b] = held && !exceeds(island, b, v, IDLE);
    any |= held;
  }
  island->owed = any ? owed : NULL;
  island->idle = any ? idle : NULL;
}

void ab_patch_solved(abPatchIsland* island) { island->owed = NULL, island->idle = NULL; }

bool ab_patch_release(abPatchIsland* island) {
  if (!island->owed) return false;
  ab_patch_solved(island);
  ab_patch_momenta(island);
  return true;
}

void ab_patch_owe(const abPatchIsland* island) {
  abPatchDebts* debts = island->system->debts;
  for (int b = 0; b < island->nblock && debts; b++) {
    const double* owed = island->owed ? island->owed + island->offset[b] : NULL;
    double r[6];
    bool any = ab_patch_debt(debts, island->mover[b], r);
    for (int i = 0; i < 6 && owed; i++) r[i] += owed[i];
    if (any || owed) ab_patch_set_debt(debts, island->mover[b], r);
  }
}
