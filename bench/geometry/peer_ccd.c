// libccd: GJK (do they overlap?) and MPR penetration (depth, direction, one point). Its supports
// are ours to write: closed form for boxes, a search over the vertices for the rest.
#include "pairs.h"

#ifdef ABUT_HAVE_CCD

#include <ccd/ccd.h>
#include <ccd/quat.h>
#include <stdlib.h>

#include "math/rotation.h"

typedef struct Body {
  const abShape* shape;
  ccd_vec3_t pos;
  ccd_quat_t quat, inverse;
} Body;

typedef struct State {
  const BenchPair* pair;
  ccd_t ccd;
} State;

static void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const Body* b = object;
  ccd_vec3_t d = *direction;
  ccdQuatRotVec(&d, &b->inverse);
  const double* v = d.v;
  if (b->shape->type == AB_SHAPE_BOX) {
    abVec3 h = b->shape->size;
    ccdVec3Set(out, v[0] < 0 ? -h.x : h.x, v[1] < 0 ? -h.y : h.y, v[2] < 0 ? -h.z : h.z);
  } else {
    const abPolyhedron* p = b->shape->poly;
    double most = -1e300;
    int best = 0;
    for (int i = 0; i < p->nvert; i++) {
      double s = v[0] * p->vert[i].x + v[1] * p->vert[i].y + v[2] * p->vert[i].z;
      if (s > most) most = s, best = i;
    }
    ccdVec3Set(out, p->vert[best].x, p->vert[best].y, p->vert[best].z);
  }
  ccdQuatRotVec(out, &b->quat);
  ccdVec3Add(out, &b->pos);
}

static void center(const void* object, ccd_vec3_t* out) {
  ccdVec3Copy(out, &((const Body*)object)->pos);
}

static Body body(const abShape* shape, abPose pose) {
  Body b = {.shape = shape};
  ccdVec3Set(&b.pos, pose.p.x, pose.p.y, pose.p.z);
  ccdQuatSet(&b.quat, pose.q.x, pose.q.y, pose.q.z, pose.q.w);
  ccdQuatInvert2(&b.inverse, &b.quat);
  return b;
}

static void* prepare(const BenchPair* pair) {
  if (pair->b.type == AB_SHAPE_PLANE) return NULL;
  State* s = malloc(sizeof *s);
  s->pair = pair;
  CCD_INIT(&s->ccd);
  s->ccd.support1 = s->ccd.support2 = support;
  s->ccd.center1 = s->ccd.center2 = center;
  // as MuJoCo sets them
  s->ccd.max_iterations = 50;
  s->ccd.mpr_tolerance = 1e-6;
  s->ccd.epa_tolerance = 1e-6;
  return s;
}

static int gjk(void* state, int i) {
  State* s = state;
  Body a = body(&s->pair->a, s->pair->pose_a[i]), b = body(&s->pair->b, s->pair->pose_b[i]);
  return ccdGJKIntersect(&a, &b, &s->ccd);
}

static int mpr(void* state, int i) {
  State* s = state;
  Body a = body(&s->pair->a, s->pair->pose_a[i]), b = body(&s->pair->b, s->pair->pose_b[i]);
  ccd_real_t depth;
  ccd_vec3_t direction, point;
  return ccdMPRPenetration(&a, &b, &s->ccd, &depth, &direction, &point) == 0;
}

const BenchPeer bench_ccd_gjk = {"libccd GJK y/n", prepare, gjk, free};
const BenchPeer bench_ccd_mpr = {"libccd MPR", prepare, mpr, free};

#endif
