// The first variations of every contact mode against differences.
#include <stdio.h>

#include "contact/ecp/ecp.h"
#include "oracle/ecp_world.h"
#include "support/check.h"
#include "support/random.h"

static Solid box[2];
static const abShape cylinder = {.type = AB_SHAPE_CYLINDER, .size = {0.4, 0.7, 0}};
static const abShape capsule = {.type = AB_SHAPE_CAPSULE, .size = {0.3, 0.6, 0}};
static const abShape ellipsoid = {.type = AB_SHAPE_ELLIPSOID, .size = {0.3, 0.5, 0.8}};

static abEcpBody body[2];
static abEcpContact contact;

static void place(Random* r, int i, const abShape* shape, abVec3 at) {
  body[i] = (abEcpBody){.moving = true, .index = i, .m = 1, .x0 = at};
  body[i].x = body[i].x0;
  body[i].R = body[i].R0 = quat_matrix(random_rotation(r));
  contact.body[i] = &body[i];
  contact.shape[i] =
      (abEcpShape){.shape = shape, .off = random_vec(r, 0.1), .scale = 1, .radius = 1};
  contact.shape[i].turn = quat_matrix(random_rotation(r));
}

// The pose or parameter behind column j moved by `by`.
static void nudge(int j, double by) {
  if (j >= AB_ECP_PAR) {
    contact.par[j - AB_ECP_PAR] += by;
    return;
  }
  abEcpBody* b = &body[j / 6];
  abVec3 e = v3(j % 3 == 0, j % 3 == 1, j % 3 == 2);
  if (j % 6 < 3) {
    b->x = v3_axpy(by, e, b->x);
  } else {
    abMat3 turn = quat_matrix(quat_from_axis_angle(e, by));
    b->R = m3_mul(&turn, &b->R);
  }
}

static void check_column(int j) {
  double d = 1e-6;
  abEcpKinematics k, up, down;
  ab_ecp_kinematics(&contact, &k);
  abEcpBody saved[2] = {body[0], body[1]};
  double par[2] = {contact.par[0], contact.par[1]};
  nudge(j, d);
  ab_ecp_kinematics(&contact, &up);
  body[0] = saved[0], body[1] = saved[1], contact.par[0] = par[0], contact.par[1] = par[1];
  nudge(j, -d);
  ab_ecp_kinematics(&contact, &down);
  body[0] = saved[0], body[1] = saved[1], contact.par[0] = par[0], contact.par[1] = par[1];
  double tolerance = 1e-7;  // differences of 1e-6: 1e-10 of rounding, 1e-12 of curvature, amplified
  for (int e = 0; e < contact.neq; e++)
    check_near(k.Jg[e][j], (up.g[e] - down.g[e]) / (2 * d), tolerance);
  abVec3 da = v3_scale(0.5 / d, v3_sub(up.a, down.a)),
         psi = v3(k.psi[0][j], k.psi[1][j], k.psi[2][j]);
  check_vec_near(v3(k.Ja[0][j], k.Ja[1][j], k.Ja[2][j]), da, tolerance);
  check_vec_near(v3_cross(psi, k.n), v3_scale(0.5 / d, v3_sub(up.n, down.n)), tolerance);
  check_vec_near(v3_cross(psi, k.t), v3_scale(0.5 / d, v3_sub(up.t, down.t)), tolerance);
}

static void check_mode(Random* r, const abShape* a, const abShape* b, abEcpMode mode) {
  contact = (abEcpContact){.e_t = 1, .e_o = 1, .e_r = 1};
  place(r, 0, a, v3(0.2, 0.1, 1.3));
  place(r, 1, b, v3(0, 0, -0.2));
  assert_true(ab_ecp_set_mode(&contact, mode));
  for (int i = 0; i < 2; i++) contact.par[i] = random_uniform(r, -0.5, 0.5);
  if (contact.rounded) contact.round_n = random_direction(r);
  if (!ab_ecp_orient(&contact)) return;
  if (contact.rounded)  // off the middle of the chart
    for (int i = 0; i < 2; i++) contact.par[i] += random_uniform(r, -0.5, 0.5);
  for (int j = 0; j < AB_ECP_PAR + contact.npar; j++) check_column(j);
}

static void variations_of_planar_modes_match_differences(void** state) {
  (void)state;
  Random r = {21};
  solid_box(&box[0], v3(0.5, 0.4, 0.3));
  solid_box(&box[1], v3(0.6, 0.5, 0.4));
  for (int i = 0; i < 20; i++) {
    static const abEcpKind kind[] = {AB_ECP_POINT, AB_ECP_SEGMENT, AB_ECP_FACE};
    for (int k = 0; k < 3; k++) {
      check_mode(&r, &box[0].shape, &box[1].shape, ab_ecp_mode(kind[k], 3, AB_ECP_FACE, 2));
      check_mode(&r, &box[0].shape, &box[1].shape, ab_ecp_mode(AB_ECP_FACE, 1, kind[k], 4));
    }
    check_mode(&r, &cylinder, &box[1].shape, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_FACE, 0));
    check_mode(&r, &cylinder, &box[1].shape, ab_ecp_mode(AB_ECP_RIM, 1, AB_ECP_FACE, 0));
    check_mode(&r, &box[0].shape, &cylinder, ab_ecp_mode(AB_ECP_POINT, 1, AB_ECP_FACE, 1));
    check_mode(&r, &ellipsoid, &box[1].shape, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_FACE, 5));
    check_mode(&r, &capsule, &box[1].shape, ab_ecp_mode(AB_ECP_POINT, 1, AB_ECP_FACE, 5));
  }
}

static void variations_of_curved_modes_match_differences(void** state) {
  (void)state;
  Random r = {22};
  for (int i = 0; i < 20; i++) {
    check_mode(&r, &box[0].shape, &box[1].shape, ab_ecp_mode(AB_ECP_SEGMENT, 2, AB_ECP_SEGMENT, 7));
    check_mode(&r, &box[0].shape, &box[1].shape, ab_ecp_mode(AB_ECP_POINT, 3, AB_ECP_SEGMENT, 7));
    check_mode(&r, &box[0].shape, &box[1].shape, ab_ecp_mode(AB_ECP_SEGMENT, 2, AB_ECP_POINT, 5));
    check_mode(&r, &box[0].shape, &cylinder, ab_ecp_mode(AB_ECP_POINT, 3, AB_ECP_RIM, 1));
    check_mode(&r, &cylinder, &box[1].shape, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_POINT, 5));
    check_mode(&r, &cylinder, &capsule, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_SEGMENT, 0));
    check_mode(&r, &cylinder, &box[1].shape, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_SEGMENT, 3));
    check_mode(&r, &cylinder, &cylinder, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_RIM, 1));
    check_mode(&r, &cylinder, &cylinder, ab_ecp_mode(AB_ECP_RIM, 1, AB_ECP_SEGMENT, 0));
    check_mode(&r, &capsule, &cylinder, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_RIM, 0));
    check_mode(&r, &capsule, &box[1].shape, ab_ecp_mode(AB_ECP_POINT, 0, AB_ECP_SEGMENT, 3));
    check_mode(&r, &capsule, &cylinder, ab_ecp_mode(AB_ECP_POINT, 0, AB_ECP_RIM, 1));
    check_mode(&r, &cylinder, &capsule, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_POINT, 1));
    check_mode(&r, &capsule, &capsule, ab_ecp_mode(AB_ECP_POINT, 0, AB_ECP_POINT, 1));
  }
}

static void variations_of_ellipsoids_match_differences(void** state) {
  (void)state;
  Random r = {25};
  static const abEcpKind kind[] = {AB_ECP_POINT, AB_ECP_SEGMENT};
  for (int i = 0; i < 20; i++) {
    for (int k = 0; k < 2; k++) {
      check_mode(&r, &ellipsoid, &box[1].shape, ab_ecp_mode(AB_ECP_ROUND, 0, kind[k], 3));
      check_mode(&r, &box[0].shape, &ellipsoid, ab_ecp_mode(kind[k], 5, AB_ECP_ROUND, 0));
      check_mode(&r, &ellipsoid, &capsule, ab_ecp_mode(AB_ECP_ROUND, 0, kind[k], 0));
    }
    check_mode(&r, &ellipsoid, &cylinder, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_RIM, 0));
    check_mode(&r, &cylinder, &ellipsoid, ab_ecp_mode(AB_ECP_RIM, 1, AB_ECP_ROUND, 0));
    check_mode(&r, &ellipsoid, &ellipsoid, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_ROUND, 0));
  }
}

static void variations_of_segments_alongside_match_differences(void** state) {
  (void)state;
  Random r = {23};
  for (int i = 0; i < 20; i++) {
    contact = (abEcpContact){.e_t = 1, .e_o = 1, .e_r = 1};
    place(&r, 0, &cylinder, v3(0.2, 0.1, 1.3));
    place(&r, 1, &capsule, v3(0, 0, -0.2));
    abMat3 nearly = quat_matrix(quat_from_axis_angle(random_direction(&r), 0.01 * (i % 3)));
    abMat3 back = m3_transpose(&body[1].R0), axes = m3_mul(&body[0].R0, &contact.shape[0].turn);
    axes = m3_mul(&nearly, &axes);
    contact.shape[1].turn = m3_mul(&back, &axes);
    assert_true(ab_ecp_set_mode(&contact, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_SEGMENT, 0)));
    assert_true(contact.alongside);
    contact.par[0] = random_uniform(&r, -0.5, 0.5);
    assert_true(ab_ecp_orient(&contact));
    for (int j = 0; j < AB_ECP_PAR + contact.npar; j++) check_column(j);
  }
}

// --- levers: by velocity and spin of the bodies

static void nudge_twist(int j, double by) {
  if (j >= AB_ECP_PAR) {
    contact.par[j - AB_ECP_PAR] += by;
    return;
  }
  abEcpBody* b = &body[j / 6];
  abVec3 e = v3(j % 3 == 0, j % 3 == 1, j % 3 == 2);
  abVec3* x = j % 6 < 3 ? &b->v : &b->w;
  *x = v3_axpy(by, e, *x);
}

static void levers_at(abEcpLevers* out, bool variations) {
  abEcpKinematics k;
  for (int i = 0; i < 2; i++) ab_ecp_body_end(&body[i], true);
  ab_ecp_kinematics(&contact, &k);
  for (int i = 0; i < 2; i++)  // from turns to spins
    for (int r = 0; r < 3; r++) {
      double(*J[2])[AB_ECP_COLUMNS] = {k.Ja, k.psi};
      for (int m = 0; m < 2; m++) {
        double row[3] = {J[m][r][6 * i + 3], J[m][r][6 * i + 4], J[m][r][6 * i + 5]};
        for (int c = 0; c < 3; c++)
          J[m][r][6 * i + 3 + c] =
              row[0] * body[i].T.m[0][c] + row[1] * body[i].T.m[1][c] + row[2] * body[i].T.m[2][c];
      }
    }
  int from[AB_ECP_COLUMNS], n = variations ? AB_ECP_PAR + contact.npar : 0;
  for (int j = 0; j < n; j++) from[j] = j;
  ab_ecp_levers(&contact, &k, n, from, out);
}

static void check_levers(Random* r, const abShape* a, const abShape* b, abEcpMode mode) {
  contact = (abEcpContact){.e_t = 1, .e_o = 1, .e_r = 1, .mean_lever = true};
  place(r, 0, a, v3(0.2, 0.1, 1.3));
  place(r, 1, b, v3(0, 0, -0.2));
  for (int i = 0; i < 2; i++) {
    body[i].m = 1 + i, body[i].I = m3_identity();
    body[i].v = random_vec(r, 0.1), body[i].w = random_vec(r, 0.3);
  }
  assert_true(ab_ecp_set_mode(&contact, mode));
  for (int i = 0; i < 2; i++) contact.par[i] = random_uniform(r, -0.5, 0.5);
  for (int i = 0; i < 2; i++) ab_ecp_body_end(&body[i], true);
  if (contact.rounded) contact.round_n = random_direction(r);
  if (!ab_ecp_orient(&contact)) return;
  abEcpLevers at, up, down;
  double d = 1e-6;
  levers_at(&at, true);
  for (int j = 0; j < AB_ECP_PAR + contact.npar; j++) {
    nudge_twist(j, d);
    levers_at(&up, false);
    nudge_twist(j, -2 * d);
    levers_at(&down, false);
    nudge_twist(j, d);
    for (int i = 0; i < 2; i++) {
      abVec3 arm = v3_scale(0.5 / d, v3_sub(up.arm[i], down.arm[i]));
      abVec3 slide = v3_scale(0.5 / d, v3_sub(up.slide[i], down.slide[i]));
      // where variations are large (a rim near upright), so are the higher ones differences miss
      check_vec_near(at.Jarm[i][j], arm, 1e-7 * (1 + v3_norm2(arm)));
      check_vec_near(at.Jslide[i][j], slide, 1e-7 * (1 + v3_norm2(slide)));
    }
  }
}

static void variations_of_levers_match_differences(void** state) {
  (void)state;
  Random r = {24};
  for (int i = 0; i < 20; i++) {
    const abShape *box0 = &box[0].shape, *box1 = &box[1].shape;
    check_levers(&r, box0, box1, ab_ecp_mode(AB_ECP_POINT, 3, AB_ECP_FACE, 2));
    check_levers(&r, box0, box1, ab_ecp_mode(AB_ECP_POINT, 3, AB_ECP_SEGMENT, 7));
    check_levers(&r, box0, box1, ab_ecp_mode(AB_ECP_SEGMENT, 2, AB_ECP_POINT, 5));
    check_levers(&r, box0, &cylinder, ab_ecp_mode(AB_ECP_POINT, 3, AB_ECP_RIM, 1));
    check_levers(&r, &cylinder, box1, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_POINT, 5));
    check_levers(&r, box0, box1, ab_ecp_mode(AB_ECP_FACE, 3, AB_ECP_SEGMENT, 2));
    check_levers(&r, box0, box1, ab_ecp_mode(AB_ECP_SEGMENT, 2, AB_ECP_SEGMENT, 7));
    check_levers(&r, &capsule, box1, ab_ecp_mode(AB_ECP_POINT, 1, AB_ECP_FACE, 5));
    check_levers(&r, &cylinder, box1, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_FACE, 0));
    check_levers(&r, &cylinder, box1, ab_ecp_mode(AB_ECP_RIM, 1, AB_ECP_FACE, 0));
    check_levers(&r, &cylinder, &cylinder, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_RIM, 1));
    check_levers(&r, &cylinder, &cylinder, ab_ecp_mode(AB_ECP_RIM, 0, AB_ECP_SEGMENT, 0));
    check_levers(&r, &cylinder, &cylinder, ab_ecp_mode(AB_ECP_SEGMENT, 0, AB_ECP_RIM, 1));
    check_levers(&r, &ellipsoid, box1, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_FACE, 5));
    check_levers(&r, &ellipsoid, &cylinder, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_RIM, 1));
    check_levers(&r, &ellipsoid, &ellipsoid, ab_ecp_mode(AB_ECP_ROUND, 0, AB_ECP_ROUND, 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(variations_of_planar_modes_match_differences),
      cmocka_unit_test(variations_of_curved_modes_match_differences),
      cmocka_unit_test(variations_of_ellipsoids_match_differences),
      cmocka_unit_test(variations_of_segments_alongside_match_differences),
      cmocka_unit_test(variations_of_levers_match_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
