// Tests: test_volume_models.
#include "contact/coupling.h"

abTwist ab_pair_twist(const abContactProblem* problem, const abPair* pair, abVec3 p,
                      const double* v) {
  abTwist t1 = ab_response_twist(problem->response, v, pair->body1);
  abTwist t2 = ab_response_twist(problem->response, v, pair->body2);
  return twist_sub(twist_move(t1, v3_sub(p, problem->body[pair->body1].com)),
                   twist_move(t2, v3_sub(p, problem->body[pair->body2].com)));
}

abTwist ab_pair_twist_now(const abContactProblem* problem, const abPair* pair, abVec3 p) {
  const abContactBody *a = &problem->body[pair->body1], *b = &problem->body[pair->body2];
  return twist_sub(twist_move(a->twist, v3_sub(p, a->com)),
                   twist_move(b->twist, v3_sub(p, b->com)));
}

void ab_pair_apply(const abContactProblem* problem, const abPair* pair, abVec3 p, abWrench f,
                   double* v) {
  abVec3 d1 = v3_sub(problem->body[pair->body1].com, p);
  abVec3 d2 = v3_sub(problem->body[pair->body2].com, p);
  ab_response_apply(problem->response, pair->body1, wrench_move(f, d1), v);
  ab_response_apply(problem->response, pair->body2, wrench_move(wrench_neg(f), d2), v);
}

// phi += sign * X(ra) B X(rb)^T with X(r) = [1, -[r x]; 0, 1]; column by column.
static void add_moved(const abMat6* B, abVec3 ra, abVec3 rb, double sign, abMat6* phi) {
  for (int j = 0; j < 6; j++) {
    double unit[6] = {0};
    unit[j] = sign;
    abWrench at_com = wrench_move(wrench_from_array(unit), v3_neg(rb));
    double column[6];
    twist_to_array(twist_move(m6_apply_wrench(B, at_com), ra), column);
    for (int i = 0; i < 6; i++) phi->m[i][j] += column[i];
  }
}

// A free body's share in closed form: X diag(1/m, I^-1) X^T.
static void add_free(double inv_mass, const abMat3* inv_inertia, abVec3 r, abMat6* phi) {
  abMat3 S = m3_skew(r);
  abMat3 SJ = m3_mul(&S, inv_inertia);  // [r x] I^-1
  abMat3 SJS = m3_mul(&SJ, &S);
  for (int i = 0; i < 3; i++) {
    phi->m[i][i] += inv_mass;
    for (int j = 0; j < 3; j++) {
      phi->m[i][j] -= SJS.m[i][j];
      phi->m[i][j + 3] -= SJ.m[i][j];
      phi->m[j + 3][i] -= SJ.m[i][j];
      phi->m[i + 3][j + 3] += inv_inertia->m[i][j];
    }
  }
}

static bool is_free(const abResponse* r, int body) {
  return r->mover_of_body[body] >= 0 && !r->mover[r->mover_of_body[body]].jointed;
}

void ab_lever_make(const abContactProblem* problem, const abPair* pair, abVec3 p, abLever* lever) {
  const abResponse* r = problem->response;
  *lever = (abLever){.problem = problem, .pair = pair, .point = p};
  const int body[2] = {pair->body1, pair->body2};
  for (int k = 0; k < 2; k++) {
    int mover = r->mover_of_body[body[k]];
    lever->dof[k] = mover < 0 ? -1 : r->mover[mover].dof0;
    lever->jointed = lever->jointed || (mover >= 0 && r->mover[mover].jointed);
    if (mover < 0) continue;
    double sign = k == 0 ? 1 : -1;
    lever->arm[k] = v3_sub(p, problem->body[body[k]].com);
    lever->inv_mass[k] = sign * r->inv_mass[body[k]];
    lever->inv_inertia[k] = m3_scale(sign, &r->inv_inertia[body[k]]);
  }
}

abTwist ab_lever_twist_of_tree(const abLever* lever, const double* v) {
  return ab_pair_twist(lever->problem, lever->pair, lever->point, v);
}

void ab_lever_apply_to_tree(const abLever* lever, abWrench f, double* v) {
  ab_pair_apply(lever->problem, lever->pair, lever->point, f, v);
}

static void add_body(const abContactProblem* problem, int body, abVec3 p, abMat6* phi) {
  const abResponse* r = problem->response;
  if (r->mover_of_body[body] < 0) return;
  abVec3 arm = v3_sub(p, problem->body[body].com);
  if (is_free(r, body)) {
    add_free(r->inv_mass[body], &r->inv_inertia[body], arm, phi);
  } else {
    abMat6 B;
    ab_response_block(r, body, body, &B);
    add_moved(&B, arm, arm, 1, phi);
  }
}

void ab_pair_response(const abContactProblem* problem, const abPair* pair, abVec3 p, abMat6* phi) {
  *phi = m6_zero();
  add_body(problem, pair->body1, p, phi);
  add_body(problem, pair->body2, p, phi);
  const int *mover = problem->response->mover_of_body, a = pair->body1, b = pair->body2;
  if (mover[a] >= 0 && mover[a] == mover[b]) {  // two links of one tree feel each other
    abVec3 ra = v3_sub(p, problem->body[a].com), rb = v3_sub(p, problem->body[b].com);
    abMat6 B;
    ab_response_block(problem->response, a, b, &B);
    add_moved(&B, ra, rb, -1, phi);
    ab_response_block(problem->response, b, a, &B);
    add_moved(&B, rb, ra, -1, phi);
  }
}

double ab_effective_mass(const abMat6* phi, abVec3 n) {
  double x[6] = {n.x, n.y, n.z, 0, 0, 0}, y[6];
  m6_apply(phi, x, y);
  double inverse = n.x * y[0] + n.y * y[1] + n.z * y[2];
  return inverse > 0 ? 1 / inverse : 0;
}

double ab_reduced_mass(const abContactProblem* problem, const abPair* pair) {
  const abResponse* r = problem->response;
  double inverse = 0;
  const int body[2] = {pair->body1, pair->body2};
  for (int i = 0; i < 2; i++)
    if (r->mover_of_body[body[i]] >= 0) inverse += 1 / r->mass[body[i]];
  return inverse > 0 ? 1 / inverse : 0;
}

double ab_impulse_scale(const abContactProblem* problem) {
  double most = 0, g = v3_norm(problem->gravity);
  for (int i = 0; i < problem->npair; i++) {
    const int body[2] = {problem->pair[i].body1, problem->pair[i].body2};
    for (int k = 0; k < 2; k++) {
      if (problem->response->mover_of_body[body[k]] < 0) continue;
      const abContactBody* b = &problem->body[body[k]];
      double dv = g * problem->h + v3_norm(v3_sub(b->twist_free.lin, b->twist.lin));
      most = fmax(most, problem->response->mass[body[k]] * dv);
    }
  }
  return most;
}
