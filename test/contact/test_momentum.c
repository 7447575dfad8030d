// Velocities and impulses of a solution belong together, and a solution with an error of a
// thousandth in it is found out: for free bodies, joint trees, joints at their limits and on other
// branches than assumed, and laws that join bodies.
#include "contact/momentum.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "math/vec.h"
#include "support/check.h"
#include "support/text_world.h"

#define FLOOR "<geom type='plane' size='5 5 1'/>"
#define BOX "<freejoint/><geom type='box' size='.1 .1 .05' mass='2'/>"

static const char* FREE_BODIES =
    "<mujoco><worldbody>" FLOOR "<body pos='0 0 .06'>" BOX
    "</body><body pos='.03 .02 .2' euler='5 3 0'>" BOX "</body></worldbody></mujoco>";
// A walker of two links falls on the floor: its joints stick by friction, are pushed onto their
// limits, and one has a servo at the end of its force.
static const char* TREE =
    "<mujoco><compiler angle='radian'/><worldbody>" FLOOR
    "<body pos='0 0 .5' euler='.3 .2 0'><freejoint/><geom type='box' size='.2 .1 .05' mass='5'/>"
    "<body pos='.2 0 0'><joint axis='0 1 0' range='-.3 .2' damping='.1'/>"
    "<geom type='capsule' fromto='0 0 0 .2 0 -.2' size='.03' mass='1'/>"
    "<body pos='.2 0 -.2'><joint name='k' axis='0 1 0' frictionloss='.2'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='.4'/></body></body>"
    "<body pos='-.2 0 0'><joint type='ball' range='0 .4' damping='.01'/>"
    "<geom type='box' pos='0 0 -.2' size='.03 .05 .2' mass='1'/></body></body></worldbody>"
    "<actuator><position joint='k' kp='50' forcerange='-1 1' ctrlrange='-2 2'/></actuator>"
    "</mujoco>";
static const char* LAWS =
    "<mujoco><worldbody>" FLOOR "<body name='a' pos='0 0 .06'>" BOX
    "</body><body name='b' pos='.3 0 .2'>" BOX
    "</body>"
    "<body name='c' pos='-.3 0 .3'><joint axis='0 1 0'/><geom type='box' size='.1 .1 .05' "
    "pos='.1 0 0' mass='1'/></body></worldbody><equality><weld body1='a' body2='b'/>"
    "<connect body1='c' body2='a' anchor='.2 0 0'/></equality></mujoco>";

// A box that begins deep in what a servo holds: without weight, the only measure is what takes it
// out, and the servo's stiffness is a trillion times the box's mass.
static const char* STIFF =
    "<mujoco><option gravity='0 0 -1e-100'/><worldbody><body pos='0 0 -.05'>"
    "<joint name='s' type='slide' axis='1 0 0' damping='1e3'/>"
    "<geom type='box' size='.1 .1 .05' mass='1' friction='.9'/></body>"
    "<body pos='.02354 0 .1149' euler='0 13.6 0'><freejoint/>"
    "<geom type='box' size='.1 .1 .1' mass='1' friction='.9'/></body></worldbody>"
    "<actuator><position joint='s' kp='1e15' forcerange='-1e100 1e100'/></actuator></mujoco>";

typedef enum Wrong { NOTHING, FORCE, TORQUE, SPEED, LAW } Wrong;

static struct {
  Wrong wrong;
  double worst;     // of what was solved
  double tampered;  // of the last step, with an error
  bool stays;       // the error stays in the solution
  int nrow, nopen;  // rows seen, and those off the branch assumed
} look;

static void spoil(const abContactProblem* problem, abContactSolution* solution, double share) {
  for (int i = 0; i < problem->npair; i++) {
    abWrench* f = &solution->pair[i].impulse;
    if (look.wrong == FORCE) f->force = v3_scale(1 + share, f->force);
    if (look.wrong == TORQUE) f->torque.x += share * 0.1 * f->force.z;
  }
  for (int k = 0; k < problem->response->ndof && look.wrong == SPEED; k++)
    solution->v[k] += share * (k % 3 + 1);
  for (int i = 0; i < problem->nlaw && look.wrong == LAW; i++) problem->law[i].impulse *= 1 + share;
}

static void count_rows(const abContactProblem* problem, const abContactSolution* solution) {
  for (int i = 0; i < problem->nrow; i++) {
    const abRow* row = &problem->row[i];
    double sv = 0;
    for (int k = 0; k < row->n; k++)
      sv += row->s[k] * solution->v[problem->response->mover[row->mover].dof0 + row->dof + k];
    double p = row->weight * (row->target - sv);
    abBranch now = p <= row->low    ? AB_BRANCH_LOW
                   : p >= row->high ? AB_BRANCH_HIGH
                                    : AB_BRANCH_INSIDE;
    look.nrow++, look.nopen += now != row->assumed;
  }
}

static void solve(const abContactProblem* problem, abContactSolution* solution) {
  ab_contact_model(0)->solve(problem, solution);
  look.worst = fmax(look.worst, ab_momentum_error(problem, solution));
  count_rows(problem, solution);
  if (look.wrong == NOTHING) return;
  spoil(problem, solution, 1e-3);
  look.tampered = ab_momentum_error(problem, solution);
  if (look.stays) return;
  ab_contact_model(0)->solve(problem, solution);
}

// The default model, whose answers are looked at.
static World load_checked(const char* text, abContactModel* model) {
  World w = load(text);
  *model = *ab_contact_model(0);
  model->solve = solve;
  assert_int_equal(ab_set_contact_model(w.model, w.data, model, NULL), AB_OK);
  memset(&look, 0, sizeof look);
  return w;
}

static void check_all(const char* text, Wrong last) {
  abContactModel model;
  World w = load_checked(text, &model);
  for (int i = 0; i < 600; i++) {
    if (w.model->nactuator > 0) w.data->ctrl[0] = sin(0.02 * i);
    ab_step(w.model, w.data);
  }
  assert_true(w.data->ncontact > 0);
  assert_true(look.worst > 0);  // something was compared
  check_below(look.worst, 1);
  for (Wrong k = FORCE; k <= last; k++) {
    // What is allowed where rows act is the residual of the step: of some steps it is small.
    double most = 0;
    look.wrong = k;
    for (int i = 0; i < 20; i++) {
      ab_step(w.model, w.data);
      most = fmax(most, look.tampered);
    }
    if (!(most > 10)) fail_msg("error %d: %g of what is allowed", k, most);
  }
  finish(w);
}

static void free_bodies_move_by_their_impulses(void** state) {
  (void)state;
  check_all(FREE_BODIES, SPEED);
}

static void trees_move_by_their_impulses(void** state) {
  (void)state;
  check_all(TREE, SPEED);
  assert_true(look.nrow > 600);  // and joints went over to other branches than assumed
  assert_true(look.nopen > 30);
}

static void momentum_survives_what_is_stiff(void** state) {
  (void)state;
  abContactModel model;
  World w = load_checked(STIFF, &model);
  for (int i = 0; i < 3; i++) ab_step(w.model, w.data);
  assert_true(look.nrow > 0 && w.data->ncontact > 0);
  check_below(look.worst, 2e-7);  // of 1e-8: rounding; more than twice that without the correction
  finish(w);
}

static void laws_are_part_of_the_balance(void** state) {
  (void)state;
  check_all(LAWS, LAW);
}

// In a build with assertions the step itself sees it.
static void a_build_with_assertions_ends_there(void** state) {
  (void)state;
  const char* all[] = {FREE_BODIES, TREE, LAWS};
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      abContactModel model;
      signal(SIGABRT, SIG_DFL);
      if (!freopen("/dev/null", "w", stderr)) _exit(1);
      World w = load_checked(all[i], &model);
      for (int k = 0; k < 400; k++) ab_step(w.model, w.data);
      look.wrong = SPEED, look.stays = true;
      ab_step(w.model, w.data);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
#ifdef AB_CHECKED
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#else
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_bodies_move_by_their_impulses),
      cmocka_unit_test(trees_move_by_their_impulses),
      cmocka_unit_test(momentum_survives_what_is_stiff),
      cmocka_unit_test(laws_are_part_of_the_balance),
      cmocka_unit_test(a_build_with_assertions_ends_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
