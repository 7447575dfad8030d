// Keyframes of an attached scene as keyframes of the whole: its numbers, which stand in the order
// in which it would be compiled alone, go where its joints, actuators and mocap bodies are now.
// Tests: test_mjcf.
#include <string.h>

#include "base/alloc.h"
#include "scene/attachment.h"
#include "scene/builder.h"
#include "scene/compile/compile.h"
#include "scene/order.h"

// Where things have their numbers in a scene's keyframes.
typedef struct Layout {
  int nq, nv, nmocap;
  int *q0, *v0;  // per joint
  int* mocap;    // per body, -1: none
  int* memory;
} Layout;

static bool lay_out(const abScene* s, Layout* l) {
  int nb = s->body.n, nj = s->joint.n;
  *l = (Layout){.memory = ab_alloc_zero(sizeof(int) * (size_t)(6 * nb + 5 * nj + 2))};
  if (!l->memory) return false;
  int *from = l->memory, *to = from + nb, *scratch = to + nb, *first = scratch + 2 * nb;
  int* owner = first + nb + 2;
  int *joint = owner + nj, *back = joint + nj;
  l->mocap = back + nj, l->q0 = l->mocap + nb, l->v0 = l->q0 + nj;
  ab_order_bodies(s, from, to, scratch);
  for (int i = 0; i < nj; i++) owner[i] = s->joint.item[i].body;
  ab_order_by_body(s, to, nj, owner, first, joint, back);
  for (int k = 0; k < nj; k++) {
    abJointType type = s->joint.item[joint[k]].type;
    l->q0[joint[k]] = l->nq, l->v0[joint[k]] = l->nv;
    l->nq += ab_coordinates_of(type), l->nv += ab_velocities_of(type);
  }
  for (int k = 0; k < nb; k++) l->mocap[from[k]] = s->body.item[from[k]].mocap ? l->nmocap++ : -1;
  return true;
}

static void put_pose(abPose p, double* position, double* turn) {
  position[0] = p.p.x, position[1] = p.p.y, position[2] = p.p.z;
  turn[0] = p.q.w, turn[1] = p.q.x, turn[2] = p.q.y, turn[3] = p.q.z;
}

// Coordinates and mocap poses as the whole begins.
static void begin(const abScene* s, const Layout* l, double* q, double* mpos, double* mquat) {
  for (int i = 0; i < s->joint.n; i++) {
    const abJointDef* j = &s->joint.item[i];
    double* at = q + l->q0[i];
    if (j->type == AB_JOINT_FREE)
      put_pose(s->body.item[j->body].pose, at, at + 3);
    else
      at[0] = j->type == AB_JOINT_BALL ? 1 : j->ref;
  }
  for (int b = 0; b < s->body.n; b++)
    if (l->mocap[b] >= 0)
      put_pose(s->body.item[b].pose, mpos + 3 * l->mocap[b], mquat + 4 * l->mocap[b]);
}

// The numbers of a keyframe.
typedef struct Frame {
  double *q, *v, *ctrl, *mpos, *mquat;
} Frame;

static int size_of(const Layout* l, const abScene* s) {
  return l->nq + l->nv + s->actuator.n + 7 * l->nmocap;
}

static Frame make_frame(const abScene* s, const Layout* l, double* memory) {
  Frame f = {.q = memory};
  f.v = f.q + l->nq, f.ctrl = f.v + l->nv, f.mpos = f.ctrl + s->actuator.n;
  f.mquat = f.mpos + 3 * l->nmocap;
  memset(memory, 0, sizeof(double) * (size_t)size_of(l, s));
  begin(s, l, f.q, f.mpos, f.mquat);
  return f;
}

static void fill(double* to, int room, const double* given, int n) {
  if (given) memcpy(to, given, sizeof(double) * (size_t)(n < room ? n : room));
}

static void take(bool given, const double* from, int n, double* to) {
  if (given) memcpy(to, from, sizeof(double) * (size_t)n);
}

// A list that ends early goes on as the part begins by itself; one that is missing, as the whole
// does.
static void copy(const abAttachment* a, const Layout* mine, const Layout* whole,
                 const abKeyDef* key, const Frame* f, const Frame* to) {
  fill(f->q, mine->nq, key->q, key->nq);
  fill(f->v, mine->nv, key->v, key->nv);
  fill(f->ctrl, a->part->actuator.n, key->ctrl, key->nctrl);
  fill(f->mpos, 3 * mine->nmocap, key->mpos, key->nmpos);
  fill(f->mquat, 4 * mine->nmocap, key->mquat, key->nmquat);
  for (int i = 0; i < a->part->joint.n; i++) {
    abJointType type = a->part->joint.item[i].type;
    int j = a->joint[i];
    if (j < 0) continue;
    take(key->nq > 0, f->q + mine->q0[i], ab_coordinates_of(type), to->q + whole->q0[j]);
    take(key->nv > 0, f->v + mine->v0[i], ab_velocities_of(type), to->v + whole->v0[j]);
  }
  for (int i = 0; i < a->part->actuator.n; i++)
    if (a->actuator[i] >= 0) take(key->nctrl > 0, f->ctrl + i, 1, to->ctrl + a->actuator[i]);
  for (int b = 1; b < a->part->body.n; b++) {
    int m = mine->mocap[b], k = a->body[b] > 0 ? whole->mocap[a->body[b]] : -1;
    if (m < 0 || k < 0) continue;
    take(key->nmpos > 0, f->mpos + 3 * m, 3, to->mpos + 3 * k);
    take(key->nmquat > 0, f->mquat + 4 * m, 4, to->mquat + 4 * k);
  }
}

static bool add_key(const abAttachment* a, const Layout* mine, const Layout* whole,
                    const abKeyDef* key, double* memory) {
  char text[600];
  abAttachment plain = *a;
  plain.suffix = NULL;
  Frame to = make_frame(a->to, whole, memory);
  Frame from = make_frame(a->part, mine, memory + size_of(whole, a->to));
  copy(a, mine, whole, key, &from, &to);
  abKeyDef d = {.name = ab_attach_name(&plain, key->name, text),
                .time = key->time,
                .nq = whole->nq,
                .nv = whole->nv,
                .nctrl = a->to->actuator.n,
                .nmpos = 3 * whole->nmocap,
                .nmquat = 4 * whole->nmocap,
                .q = to.q,
                .v = to.v,
                .ctrl = to.ctrl,
                .mpos = to.mpos,
                .mquat = to.mquat,
                .source = key->source};
  return ab_scene_add_key(a->to, &d, a->error) >= 0;
}

bool ab_attach_keys(abAttachment* a) {
  if (a->part->key.n == 0) return true;
  Layout mine = {0}, whole = {0};
  bool ok = lay_out(a->part, &mine) && lay_out(a->to, &whole);
  int n = ok ? size_of(&mine, a->part) + size_of(&whole, a->to) : 0;
  double* memory = ok ? ab_alloc(sizeof(double) * (size_t)(n + 1)) : NULL;
  if (!memory) ok = ab_scene_no_memory(a->error) >= 0;
  for (int i = 0; i < a->part->key.n && ok; i++)
    ok = add_key(a, &mine, &whole, &a->part->key.item[i], memory);
  ab_free(memory);
  ab_free(mine.memory);
  ab_free(whole.memory);
  return ok;
}
