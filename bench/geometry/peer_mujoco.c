// MuJoCo's own collision functions, called directly for the two geoms.
#include "pairs.h"

#ifdef ABUT_HAVE_MUJOCO

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct State {
  mjModel* m;
  mjData* d;
  mjfCollision collide;
  int g1, g2;
  // geom frames of each pose
  mjtNum xpos[BENCH_POSES][6], xmat[BENCH_POSES][18];
} State;

static void write_shape(char* xml, size_t cap, const abShape* s, const char* name, bool asset) {
  size_t n = strlen(xml);
  if (asset) {
    if (s->type != AB_SHAPE_MESH) return;
    n += (size_t)snprintf(xml + n, cap - n, "<mesh name=\"%s\" vertex=\"", name);
    for (int i = 0; i < s->poly->nvert; i++)
      n += (size_t)snprintf(xml + n, cap - n, "%.9g %.9g %.9g ", s->poly->vert[i].x,
                            s->poly->vert[i].y, s->poly->vert[i].z);
    snprintf(xml + n, cap - n, "\"/>");
  } else if (s->type == AB_SHAPE_PLANE) {
    snprintf(xml + n, cap - n, "<geom type=\"plane\" size=\"9 9 1\"/>");
  } else if (s->type == AB_SHAPE_BOX) {
    snprintf(xml + n, cap - n, "<geom type=\"box\" size=\"%.9g %.9g %.9g\"/>", s->size.x, s->size.y,
             s->size.z);
  } else {
    snprintf(xml + n, cap - n, "<geom type=\"mesh\" mesh=\"%s\"/>", name);
  }
}

static void append(char* xml, size_t cap, const char* text) {
  size_t n = strlen(xml);
  snprintf(xml + n, cap - n, "%s", text);
}

static mjModel* load(const BenchPair* p) {
  enum { CAP = 1 << 18 };
  char* xml = calloc(1, CAP);
  append(xml, CAP, "<mujoco><asset>");
  write_shape(xml, CAP, &p->a, "a", true);
  write_shape(xml, CAP, &p->b, "b", true);
  append(xml, CAP, "</asset><worldbody><body><freejoint/>");
  write_shape(xml, CAP, &p->a, "a", false);
  append(xml, CAP, p->b.type == AB_SHAPE_PLANE ? "</body>" : "</body><body><freejoint/>");
  write_shape(xml, CAP, &p->b, "b", false);
  append(xml, CAP,
         p->b.type == AB_SHAPE_PLANE ? "</worldbody></mujoco>" : "</body></worldbody></mujoco>");
  mjVFS* vfs = malloc(sizeof *vfs);
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "pair.xml", (int)strlen(xml) + 1);
  int at = mj_findFileVFS(vfs, "pair.xml");
  memcpy(vfs->filedata[at], xml, strlen(xml) + 1);
  char error[500] = "";
  mjModel* m = mj_loadXML("pair.xml", vfs, error, sizeof error);
  if (!m) fprintf(stderr, "MuJoCo: %s\n", error);
  mj_deleteVFS(vfs);
  free(vfs);
  free(xml);
  return m;
}

static void set_pose(mjtNum* q, abPose p) {
  mjtNum value[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
  memcpy(q, value, sizeof value);
}

static void* prepare(const BenchPair* pair) {
  State* s = calloc(1, sizeof *s);
  s->m = load(pair);
  if (!s->m) {
    free(s);
    return NULL;
  }
  s->d = mj_makeData(s->m);
  // the table has the smaller type first
  s->g1 = s->m->geom_type[0] <= s->m->geom_type[1] ? 0 : 1;
  s->g2 = 1 - s->g1;
  s->collide = mjCOLLISIONFUNC[s->m->geom_type[s->g1]][s->m->geom_type[s->g2]];
  for (int i = 0; i < BENCH_POSES; i++) {
    set_pose(s->d->qpos, pair->pose_a[i]);
    if (s->m->nq > 7) set_pose(s->d->qpos + 7, pair->pose_b[i]);
    mj_kinematics(s->m, s->d);
    memcpy(s->xpos[i], s->d->geom_xpos, sizeof s->xpos[i]);
    memcpy(s->xmat[i], s->d->geom_xmat, sizeof s->xmat[i]);
  }
  return s;
}

static int collide(void* state, int i) {
  State* s = state;
  memcpy(s->d->geom_xpos, s->xpos[i], sizeof s->xpos[i]);
  memcpy(s->d->geom_xmat, s->xmat[i], sizeof s->xmat[i]);
  mjContact contact[50];
  return s->collide(s->m, s->d, contact, s->g1, s->g2, 0);
}

static void release(void* state) {
  State* s = state;
  mj_deleteData(s->d);
  mj_deleteModel(s->m);
  free(s);
}

// Several points of a pair of convex meshes: MuJoCo's own option for it.
static void* prepare_multi(const BenchPair* pair) {
  if (pair->a.type != AB_SHAPE_MESH && pair->b.type != AB_SHAPE_MESH) return NULL;
  State* s = prepare(pair);
  if (s) s->m->opt.enableflags |= mjENBL_MULTICCD;
  return s;
}

const BenchPeer bench_mujoco = {"MuJoCo", prepare, collide, release};
const BenchPeer bench_mujoco_multi = {"MuJoCo multi", prepare_multi, collide, release};

#endif
