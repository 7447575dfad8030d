// Smooth shapes are drawn as surfaces of revolution about z, flat ones face by face with a normal
// per face.
// Tests: test_picture.
#include "io/draw.h"

#include <math.h>
#include <string.h>

#include "math/rotation.h"

// Segments around a smooth shape: enough that its outline looks round at the size of a hand.
enum { AROUND = 32, ALONG = 8 };

int ab_drawing_nvert(const abDrawing* d) { return (int)(d->vert.n / (3 * sizeof(float))); }

void ab_drawing_free(abDrawing* d) {
  ab_buffer_free(&d->vert);
  ab_buffer_free(&d->normal);
  ab_buffer_free(&d->index);
}

static uint32_t add_vert(abDrawing* d, abVec3 p, abVec3 n) {
  uint32_t index = (uint32_t)ab_drawing_nvert(d);
  n = v3_unit(n);
  float vert[3] = {(float)p.x, (float)p.y, (float)p.z};
  float normal[3] = {(float)n.x, (float)n.y, (float)n.z};
  ab_buffer_add(&d->vert, vert, sizeof vert);
  ab_buffer_add(&d->normal, normal, sizeof normal);
  return index;
}

static void add_triangle(abDrawing* d, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t t[3] = {a, b, c};
  ab_buffer_add(&d->index, t, sizeof t);
}

// A convex polygon with one normal.
static void add_face(abDrawing* d, int n, const abVec3* vert, abVec3 normal) {
  uint32_t first = (uint32_t)ab_drawing_nvert(d);
  for (int i = 0; i < n; i++) add_vert(d, vert[i], normal);
  for (int i = 2; i < n; i++) add_triangle(d, first, first + (uint32_t)i - 1, first + (uint32_t)i);
}

static void draw_box(abDrawing* d, abVec3 s) {
  for (int axis = 0; axis < 3; axis++)
    for (int side = -1; side <= 1; side += 2) {
      abVec3 vert[4];
      for (int k = 0; k < 4; k++) {
        double u[3];
        // round the face, the other way on the far side
        int turn = side > 0 ? k : 3 - k;
        u[axis] = side;
        u[(axis + 1) % 3] = turn == 1 || turn == 2 ? 1 : -1;
        u[(axis + 2) % 3] = turn >= 2 ? 1 : -1;
        vert[k] = v3(u[0] * s.x, u[1] * s.y, u[2] * s.z);
      }
      double n[3] = {0};
      n[axis] = side;
      add_face(d, 4, vert, v3(n[0], n[1], n[2]));
    }
}

// One point of an outline in the half-plane (radius, z), with its outward normal.
typedef struct Outline {
  double r, z, nr, nz;
} Outline;

// Turns an outline from the lower to the upper pole about z; radii are stretched to x, y.
static void revolve(abDrawing* d, int n, const Outline* o, double sx, double sy) {
  uint32_t first = (uint32_t)ab_drawing_nvert(d);
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= AROUND; k++) {
      double a = 2 * 3.14159265358979 * (k % AROUND) / AROUND;
      add_vert(d, v3(sx * o[i].r * cos(a), sy * o[i].r * sin(a), o[i].z),
               v3(o[i].nr * cos(a) / sx, o[i].nr * sin(a) / sy, o[i].nz));
    }
  for (uint32_t i = 0; i + 1 < (uint32_t)n; i++)
    for (uint32_t k = 0; k < AROUND; k++) {
      uint32_t a = first + i * (AROUND + 1) + k, b = a + AROUND + 1;
      if (o[i].r > 0) add_triangle(d, a, a + 1, b);
      if (o[i + 1].r > 0) add_triangle(d, a + 1, b + 1, b);
    }
}

// Half circles of radius 1 whose halves are pulled apart by 2 half: sphere and capsule in one.
static int round_outline(Outline* o, double radius, double half) {
  int n = 0;
  for (int side = -1; side <= 1; side += 2)
    for (int i = 0; i <= ALONG; i++) {
      double a = 0.5 * 3.14159265358979 * (side < 0 ? i - ALONG : i) / ALONG;
      bool pole = (side < 0 && i == 0) || (side > 0 && i == ALONG);
      double r = pole ? 0 : cos(a);
      o[n++] = (Outline){radius * r, radius * sin(a) + side * half, r, sin(a)};
    }
  return n;
}

static void draw_cylinder(abDrawing* d, double radius, double half) {
  const Outline side[2] = {{radius, -half, 1, 0}, {radius, half, 1, 0}};
  const Outline bottom[2] = {{0, -half, 0, -1}, {radius, -half, 0, -1}};
  const Outline top[2] = {{radius, half, 0, 1}, {0, half, 0, 1}};
  revolve(d, 2, side, 1, 1);
  revolve(d, 2, bottom, 1, 1);
  revolve(d, 2, top, 1, 1);
}

static void draw_round(abDrawing* d, const abShape* s) {
  Outline o[2 * (ALONG + 1)];
  if (s->type == AB_SHAPE_ELLIPSOID) {
    int n = round_outline(o, 1, 0);
    for (int i = 0; i < n; i++) o[i].z *= s->size.z, o[i].nz /= s->size.z;
    revolve(d, n, o, s->size.x, s->size.y);
  } else {
    int n = round_outline(o, s->size.x, s->type == AB_SHAPE_CAPSULE ? s->size.y : 0);
    revolve(d, n, o, 1, 1);
  }
}

static void draw_mesh(abDrawing* d, const abMesh* m) {
  for (int i = 0; i < m->ntriangle; i++) {
    const int* t = m->triangle[i];
    abVec3 vert[3] = {m->vert[t[0]], m->vert[t[1]], m->vert[t[2]]};
    abVec3 n = v3_cross(v3_sub(vert[1], vert[0]), v3_sub(vert[2], vert[0]));
    if (v3_norm2(n) > 0) add_face(d, 3, vert, n);
  }
}

static void draw_polyhedron(abDrawing* d, const abPolyhedron* p) {
  for (int f = 0; f < p->nface; f++) {
    uint32_t first = (uint32_t)ab_drawing_nvert(d);
    int n = p->face_start[f + 1] - p->face_start[f];
    for (int k = 0; k < n; k++) add_vert(d, p->vert[p->loop[p->face_start[f] + k]], p->plane[f].n);
    for (int k = 2; k < n; k++)
      add_triangle(d, first, first + (uint32_t)k - 1, first + (uint32_t)k);
  }
}

static void draw_plane(abDrawing* d, const abModel* model, abVec3 s) {
  double far = 20 * (model->extent > 0 ? model->extent : 1);
  double x = s.x > 0 ? s.x : far, y = s.y > 0 ? s.y : far;
  const abVec3 vert[4] = {{-x, -y, 0}, {x, -y, 0}, {x, y, 0}, {-x, y, 0}};
  add_face(d, 4, vert, v3(0, 0, 1));
}

void ab_draw_geom(const abModel* model, int geom, abDrawing* out) {
  const abGeom* g = &model->geom[geom];
  const abShape* s = &g->shape;
  switch (s->type) {
    case AB_SHAPE_PLANE:
      draw_plane(out, model, s->size);
      break;
    case AB_SHAPE_BOX:
      draw_box(out, s->size);
      break;
    case AB_SHAPE_SPHERE:
    case AB_SHAPE_CAPSULE:
    case AB_SHAPE_ELLIPSOID:
      draw_round(out, s);
      break;
    case AB_SHAPE_CYLINDER:
      draw_cylinder(out, s->size.x, s->size.y);
      break;
    case AB_SHAPE_MESH:
      if (g->mesh >= 0 && model->mesh[g->mesh].ntriangle > 0)
        draw_mesh(out, &model->mesh[g->mesh]);
      else if (s->poly)
        draw_polyhedron(out, s->poly);
      break;
  }
}

// Twelve hues of like lightness, far apart for neighbours in the list.
static const float palette[12][3] = {
    {0.95f, 0.55f, 0.24f}, {0.25f, 0.58f, 0.86f}, {0.36f, 0.72f, 0.42f}, {0.88f, 0.36f, 0.42f},
    {0.56f, 0.46f, 0.82f}, {0.93f, 0.76f, 0.28f}, {0.22f, 0.70f, 0.70f}, {0.86f, 0.50f, 0.70f},
    {0.60f, 0.74f, 0.26f}, {0.45f, 0.52f, 0.66f}, {0.76f, 0.54f, 0.38f}, {0.35f, 0.66f, 0.90f}};

void ab_draw_color(const abModel* model, int geom, float rgba[4]) {
  const abGeom* g = &model->geom[geom];
  // MJCF's default: the file says nothing about the colour.
  bool unset = g->rgba[0] == 0.5f && g->rgba[1] == 0.5f && g->rgba[2] == 0.5f && g->rgba[3] == 1;
  memcpy(rgba, g->rgba, 4 * sizeof(float));
  if (!unset) return;
  if (model->body[g->body].mover < 0) {
    rgba[0] = 0.80f, rgba[1] = 0.81f, rgba[2] = 0.83f;
    return;
  }
  memcpy(rgba, palette[(g->body - 1) % 12], 3 * sizeof(float));
}
