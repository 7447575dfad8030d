#include "oracle/ecp_world.h"

#include <string.h>

extern const abContactModel ab_model_ecp;

void ecpw_init(EcpWorld* w, double h, double gyro) {
  memset(w, 0, sizeof *w);
  w->h = h, w->gyro = gyro, w->gravity = 9.8;
  w->mu = 0.3, w->mu_static = -1, w->e_t = w->e_o = w->e_r = 1;
  w->nbody = 1;
  w->mover_of_body[0] = -1;
  w->body[0].q = quat_identity();
  ab_arena_init(&w->arena, (size_t)1 << 28);
}

void ecpw_free(EcpWorld* w) { ab_arena_free(&w->arena); }

int ecpw_add_body(EcpWorld* w, const abShape* shape, double mass, abVec3 inertia, abPose pose) {
  int i = w->nbody++;
  w->shape[i] = shape;
  w->shape_pose[i] = pose_identity();
  w->mass[i] = mass, w->inv_mass[i] = 1 / mass;
  w->inertia_body[i] = m3_diag(inertia);
  w->mover_of_body[i] = i - 1;
  w->mover[i - 1] = (abMover){.body0 = i, .nbody = 1, .dof0 = 6 * (i - 1), .ndof = 6};
  w->body[i] = (abContactBody){.com = pose.p, .q = quat_unit(pose.q)};
  return i;
}

void ecpw_add_fixed(EcpWorld* w, const abShape* shape, abPose pose) {
  w->fixed_shape[w->nfixed] = shape;
  w->fixed_pose[w->nfixed++] = pose;
}

static void add_pair(EcpWorld* w, int a, int b, int fixed) {
  int i = w->npair++;
  abPair* p = &w->pair[i];
  abPose pa = pose_mul((abPose){w->body[a].com, w->body[a].q}, w->shape_pose[a]);
  *p = (abPair){.body1 = a, .body2 = b, .geom1 = a, .geom2 = b > 0 ? b : 1000 + fixed};
  p->key = (uint64_t)i;
  p->surface = (abSurface){.mu_static = w->mu_static < 0 ? w->mu : w->mu_static,
                           .mu_kinetic = w->mu,
                           .e_t = w->e_t,
                           .e_o = w->e_o,
                           .e_r = w->e_r,
                           .condim = 3};
  p->shape1 = w->shape[a], p->pose1 = pa;
  p->shape2 = b > 0 ? w->shape[b] : w->fixed_shape[fixed];
  p->pose2 = b > 0 ? pose_mul((abPose){w->body[b].com, w->body[b].q}, w->shape_pose[b])
                   : w->fixed_pose[fixed];
  p->memory = w->memory[i];
  p->fresh = !w->touched[i];
  w->touched[i] = true;
}

static void make_pairs(EcpWorld* w) {
  w->npair = 0;
  for (int a = 1; a < w->nbody; a++) {
    for (int f = 0; f < w->nfixed; f++) add_pair(w, a, 0, f);
    for (int b = a + 1; b < w->nbody; b++) add_pair(w, a, b, 0);
  }
}

static void make_bodies(EcpWorld* w) {
  for (int i = 1; i < w->nbody; i++) {
    abMat3 R = quat_matrix(w->body[i].q), Rt = m3_transpose(&R);
    abMat3 RI = m3_mul(&R, &w->inertia_body[i]);
    w->inertia[i] = m3_mul(&RI, &Rt);
    w->inv_inertia[i] = m3_inverse(&w->inertia[i]);
    w->body[i].load = w->applied[i];
    w->body[i].load.force.z -= w->mass[i] * w->gravity;
    w->body[i].twist_free = w->body[i].twist;
  }
  memcpy(w->before, w->body, sizeof w->body);
}

void ecpw_step(EcpWorld* w) {
  make_bodies(w);
  make_pairs(w);
  abResponse r = {.nbody = w->nbody,
                  .nmover = w->nbody - 1,
                  .ndof = 6 * (w->nbody - 1),
                  .mover_of_body = w->mover_of_body,
                  .mover = w->mover,
                  .mass = w->mass,
                  .inv_mass = w->inv_mass,
                  .inertia = w->inertia,
                  .inv_inertia = w->inv_inertia};
  double param[2] = {1e-9, w->gyro};
  abContactProblem p = {.h = w->h,
                        .gravity = {0, 0, -w->gravity},
                        .length = 1,
                        .nbody = w->nbody,
                        .body = w->body,
                        .npair = w->npair,
                        .pair = w->pair,
                        .response = &r,
                        .param = param,
                        .memory_bytes = sizeof w->memory[0],
                        .scratch = &w->arena};
  memset(w->solution, 0, sizeof w->solution);
  w->result = (abContactSolution){.pair = w->solution, .twist_end = w->twist_end};
  ab_model_ecp.solve(&p, &w->result);
  for (int i = 1; i < w->nbody; i++) {
    abContactBody* b = &w->body[i];
    b->twist = w->twist_end[i];
    b->com = v3_axpy(w->h, b->twist.lin, b->com);
    abVec3 a = v3_scale(0.5 * w->h, b->twist.ang);
    b->q = quat_unit(quat_mul((abQuat){1, a.x, a.y, a.z}, b->q));
  }
  w->steps++;
}

double ecpw_energy(const EcpWorld* w) {
  double sum = 0;
  for (int i = 1; i < w->nbody; i++) {
    const abContactBody* b = &w->body[i];
    abVec3 local = quat_rotate(quat_conj(b->q), b->twist.ang);
    sum += 0.5 * w->mass[i] * v3_norm2(b->twist.lin) + w->mass[i] * w->gravity * b->com.z +
           0.5 * v3_dot(local, m3_apply(&w->inertia_body[i], local));
  }
  return sum;
}

// Edges from the faces' loops; the pointers of the polyhedron to the solid's own arrays.
static void finish(Solid* s, int nvert, int nface) {
  abPolyhedron* p = &s->poly;
  *p = (abPolyhedron){.nvert = nvert, .nface = nface, .nloop = s->face_start[nface]};
  for (int f = 0; f < nface; f++) {
    int first = s->face_start[f], n = s->face_start[f + 1] - first;
    abVec3 a = s->vert[s->loop[first]], b = s->vert[s->loop[first + 1]];
    abVec3 c = s->vert[s->loop[first + 2]];
    abVec3 normal = v3_unit(v3_cross(v3_sub(b, a), v3_sub(c, b)));
    s->plane[f] = (abPlane){normal, v3_dot(normal, a)};
    for (int i = 0; i < n; i++) {
      int va = s->loop[first + i], vb = s->loop[first + (i + 1) % n], found = -1;
      for (int e = 0; e < p->nedge; e++)
        if (s->edge[e][0] == vb && s->edge[e][1] == va) found = e;
      if (found >= 0) {
        s->edge[found][3] = f;
      } else {
        int* e = s->edge[p->nedge++];
        e[0] = va, e[1] = vb, e[2] = f, e[3] = -1;
      }
    }
  }
  for (int i = 0; i < nvert; i++) p->radius = fmax(p->radius, v3_norm(s->vert[i]));
  p->vert = s->vert, p->plane = s->plane, p->face_start = s->face_start, p->loop = s->loop;
  p->edge = (const int(*)[4])s->edge;
  p->volume = 1;
  s->shape.poly = p;
}

void solid_prism(Solid* s, int n, const abVec2* outline, double half) {
  memset(s, 0, sizeof *s);
  s->shape.type = AB_SHAPE_MESH;
  int k = 0;
  for (int i = 0; i < n; i++) {
    s->vert[i] = v3(outline[i].x, outline[i].y, half);
    s->vert[n + i] = v3(outline[i].x, outline[i].y, -half);
  }
  for (int i = 0; i < n; i++) s->loop[k++] = i;
  s->face_start[1] = k;
  for (int i = 0; i < n; i++) s->loop[k++] = 2 * n - 1 - i;
  s->face_start[2] = k;
  for (int i = 0; i < n; i++) {
    int j = (i + 1) % n;
    s->loop[k++] = j, s->loop[k++] = i, s->loop[k++] = n + i, s->loop[k++] = n + j;
    s->face_start[3 + i] = k;
  }
  finish(s, 2 * n, n + 2);
}

void solid_box(Solid* s, abVec3 half) {
  abVec2 o[4] = {{-half.x, -half.y}, {half.x, -half.y}, {half.x, half.y}, {-half.x, half.y}};
  solid_prism(s, 4, o, half.z);
  s->shape.type = AB_SHAPE_BOX;
  s->shape.size = half;
}

abVec3 inertia_of_box(double mass, abVec3 half) {
  double k = mass / 3, x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
  return v3(k * (y + z), k * (x + z), k * (x + y));
}
