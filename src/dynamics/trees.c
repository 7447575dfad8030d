// Making abTrees: the links' order and all the memory the dynamics needs while stepping.
// Tests: test_tree, test_peer.
#include "dynamics/trees.h"

#include "base/alloc.h"
#include "dynamics/free_motion.h"

static int joint_dofs(abJointType type) {
  return type == AB_JOINT_FREE ? 6 : type == AB_JOINT_BALL ? 3 : 1;
}

// An upper limit of the bounds a joint can have: two ends of its range (of a ball one, or three
// where they hold it), friction per velocity.
static int joint_bounds(const abJoint* joint) {
  int ends = !joint->limited || joint->type == AB_JOINT_FREE ? 0
             : joint->type == AB_JOINT_BALL                  ? 3
                                                             : 2;
  return ends + (joint->frictionloss > 0 ? joint_dofs(joint->type) : 0);
}

// Called once with base NULL to learn the size, once to place the arrays behind the struct.
static size_t place_arrays(const abModel* m, abTrees* t, char* base) {
  size_t used = 0;
  int nblock = 0, nbound = m->nactuator;
  for (int j = 0; j < m->njoint; j++) {
    int n = joint_dofs(m->joint[j].type);
    nblock += n * n;
    nbound += joint_bounds(&m->joint[j]);
  }
#define PLACE(field, count)                                          \
  do {                                                               \
    used = (used + 63) & ~(size_t)63;                                \
    if (base) t->field = (void*)(base + used);                       \
    used += sizeof(*t->field) * (size_t)((count) > 0 ? (count) : 1); \
  } while (0)
  PLACE(mover_of_body, m->nbody);
  PLACE(link_of_body, m->nbody);
  PLACE(mass, m->nbody);
  PLACE(inv_mass, m->nbody);
  PLACE(inertia, m->nbody);
  PLACE(place, m->nbody);
  PLACE(arm, m->nbody);
  PLACE(origin, m->nmover);
  PLACE(link, m->njoint);
  PLACE(rigid, m->njoint);
  PLACE(twist, m->njoint);
  PLACE(bias, m->njoint);
  PLACE(articulated, m->njoint);
  PLACE(omega, m->njoint);
  PLACE(wanted, m->njoint);
  PLACE(S, m->nv);
  PLACE(G, m->nv);
  PLACE(tau, m->nv);
  PLACE(inertial_force, m->nv);
  PLACE(inertial, m->nv);
  PLACE(reaction, m->nv);
  PLACE(reaction_new, m->nv);
  PLACE(move, m->nv);
  PLACE(impulse, m->nv);
  PLACE(change, m->nv);
  PLACE(extra, nblock);
  PLACE(Dinv, nblock);
  PLACE(bound, nbound);
  PLACE(bound0, m->nmover);
  PLACE(bound1, m->nmover);
  PLACE(push, m->njoint);
  PLACE(pull, m->njoint);
  PLACE(pull_rate, m->njoint);
  PLACE(u, m->nv);
  PLACE(composite, m->njoint);
  PLACE(q_smooth, m->nq);
  PLACE(v_smooth, m->nv);
  PLACE(placed, m->nmover);
  PLACE(q_seen, m->nq);
  PLACE(v_seen, m->nv);
#undef PLACE
  return used;
}

static void connect_links(const abModel* model, abTrees* t) {
  for (int b = 0; b < model->nbody; b++) {
    const abBody* body = &model->body[b];
    const abBody* weld = &model->body[body->weld];
    t->mover_of_body[b] = body->mover;
    abMat3 axes = quat_matrix(body->inertia_q);
    t->mass[b] = body->mass;
    t->inertia[b] = m3_congruent_diag(&axes, body->inertia);
    t->inv_mass[b] = body->mover >= 0 && body->mass > 0 ? 1 / body->mass : 0;
    t->link_of_body[b] = body->mover < 0 ? -1 : weld->joint0 + weld->njoint - 1;
  }
  int block = 0;
  for (int j = 0; j < model->njoint; j++) {
    const abJoint* joint = &model->joint[j];
    const abBody* body = &model->body[joint->body];
    int n = joint_dofs(joint->type);
    int parent = j > body->joint0 ? j - 1 : t->link_of_body[body->parent];
    t->link[j] = (abLink){
        .parent = parent, .body = joint->body, .ndof = n, .dof = joint->v0, .block = block};
    block += n * n;
  }
}

// Each mover's room for bounds: counted first, then laid out one after another.
static void place_bounds(const abModel* model, abTrees* t) {
  for (int j = 0; j < model->njoint; j++)
    t->bound1[model->body[model->joint[j].body].mover] += joint_bounds(&model->joint[j]);
  for (int a = 0; a < model->nactuator; a++)
    if (model->actuator[a].joint >= 0)
      t->bound1[model->body[model->joint[model->actuator[a].joint].body].mover]++;
  int n = 0;
  for (int m = 0; m < model->nmover; m++) {
    int count = t->bound1[m];
    t->bound0[m] = t->bound1[m] = n;
    n += count;
  }
}

// The arrays begin at an address that vector registers like.
static abTrees* make_trees(const abModel* model) {
  size_t header = sizeof(abTrees) + 63;
  char* block = ab_alloc_zero(header + place_arrays(model, NULL, NULL));
  abTrees* t = (abTrees*)(void*)block;
  if (!t) return NULL;
  place_arrays(model, t, block + (header - ((uintptr_t)block + header) % 64));
  t->model = model;
  connect_links(model, t);
  place_bounds(model, t);
  return t;
}

abStatus ab_trees_create(const abModel* model, abTrees** out) {
  abTrees* t = *out = make_trees(model);
  if (!t) return AB_ERROR_MEMORY;
  if (model->integrator != AB_INTEGRATOR_RK4) return AB_OK;
  t->stage = make_trees(model);
  return t->stage ? AB_OK : AB_ERROR_MEMORY;
}

void ab_trees_refresh(const abModel* model, abTrees* trees) {
  connect_links(model, trees);
  trees->seen = false;
  if (trees->stage) connect_links(model, trees->stage);
}

void ab_trees_free(abTrees* trees) {
  if (trees) ab_free(trees->stage);
  ab_free(trees);
}
