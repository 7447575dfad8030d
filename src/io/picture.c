// A picture in three passes: which surface is nearest in each sample; which is nearest as seen from
// the light, for shadows; light and colour of every sample, four of which make a pixel.
#include <abut/picture.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "io/draw.h"
#include "io/raster.h"
#include "math/rotation.h"

enum { SAMPLES = 2, SHADOW = 1024, MOST_PIXELS = 8192 };

// --- how large things are

static double geom_radius(const abGeom* g) {
  const abVec3 s = g->shape.size;
  switch (g->shape.type) {
    case AB_SHAPE_PLANE:
      return 0;
    case AB_SHAPE_BOX:
      return v3_norm(s);
    case AB_SHAPE_SPHERE:
      return s.x;
    case AB_SHAPE_CAPSULE:
      return s.x + s.y;
    case AB_SHAPE_CYLINDER:
      return hypot(s.x, s.y);
    case AB_SHAPE_ELLIPSOID:
      return fmax(s.x, fmax(s.y, s.z));
    case AB_SHAPE_MESH:
      return g->shape.poly ? g->shape.poly->radius : 0;
  }
  return 0;
}

typedef struct Ball {
  abVec3 centre;
  double radius;
} Ball;

// About all geoms but planes, of moving bodies or of all.
static Ball bounds(const abModel* m, const abData* d, bool moving) {
  abVec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
  for (int i = 0; i < m->ngeom; i++) {
    const abGeom* g = &m->geom[i];
    if (g->shape.type == AB_SHAPE_PLANE || (moving && m->body[g->body].mover < 0)) continue;
    abVec3 p = pose_apply(d->pose[g->body], g->pose.p);
    double r = geom_radius(g);
    low = v3(fmin(low.x, p.x - r), fmin(low.y, p.y - r), fmin(low.z, p.z - r));
    high = v3(fmax(high.x, p.x + r), fmax(high.y, p.y + r), fmax(high.z, p.z + r));
  }
  if (!(high.x >= low.x)) return (Ball){v3_zero(), 0};
  return (Ball){v3_scale(0.5, v3_add(low, high)), 0.5 * v3_norm(v3_sub(high, low))};
}

abCamera ab_camera_all(const abModel* m, const abData* d, int width, int height) {
  if (!m || !d) return (abCamera){.width = width, .height = height};
  Ball b = bounds(m, d, true);
  if (!(b.radius > 0)) b = bounds(m, d, false);
  if (!(b.radius > 0)) b.radius = m->extent > 0 ? m->extent : 1;
  abCamera v = {.target = b.centre, .fovy = 0.7, .width = width, .height = height};
  double narrow = width < height ? (double)width / height : 1;
  double away = b.radius / sin(0.5 * v.fovy * narrow);
  v.eye = v3_axpy(away, v3_unit(v3(0.5, -1, 0.6)), v.target);
  return v;
}

// --- from the world to the image

typedef struct Frame {
  abVec3 at, right, up, ahead;
  double scale;  // samples at distance 1; of a parallel view: samples a metre
  bool perspective;
  double near;  // what is nearer is not drawn
  double cx, cy;
} Frame;

static abVec3 to_camera(const Frame* c, abVec3 p) {
  abVec3 r = v3_sub(p, c->at);
  return v3(v3_dot(r, c->right), v3_dot(r, c->up), v3_dot(r, c->ahead));
}

static Frame look(abVec3 at, abVec3 ahead) {
  Frame c = {.at = at, .ahead = v3_unit(ahead)};
  abVec3 right = v3_cross(c.ahead, v3(0, 0, 1));
  // straight up or down: y is up in the picture
  if (!(v3_norm(right) > 1e-9)) right = v3(1, 0, 0);
  c.right = v3_unit(right);
  c.up = v3_cross(c.right, c.ahead);
  return c;
}

static Frame eye_camera(const abCamera* v, const abRaster* r) {
  Frame c = look(v->eye, v3_sub(v->target, v->eye));
  c.perspective = true;
  c.scale = 0.5 * r->height / tan(0.5 * v->fovy);
  c.near = 1e-3 * v3_norm(v3_sub(v->target, v->eye));
  c.cx = 0.5 * r->width, c.cy = 0.5 * r->height;
  return c;
}

static const abVec3 light = {0.36, -0.48, 0.8};  // where it comes from; a unit vector

static Frame light_camera(Ball b) {
  Frame c = look(v3_axpy(2 * b.radius, light, b.centre), v3_neg(light));
  c.scale = 0.5 * SHADOW / (b.radius > 0 ? b.radius : 1);
  c.cx = c.cy = 0.5 * SHADOW;
  return c;
}

static abCorner corner_of(const Frame* c, abVec3 p, abVec3 normal) {
  double k = c->perspective ? c->scale / p.z : c->scale;
  return (abCorner){c->cx + k * p.x, c->cy - k * p.y, c->perspective ? 1 / p.z : -p.z, normal};
}

// A triangle in the camera's frame, cut off where it is too near.
static void add_triangle(abRaster* r, const Frame* c, const abVec3 p[3], const abVec3 n[3],
                         int geom) {
  abCorner out[4];
  int count = 0;
  for (int k = 0; k < 3; k++) {
    int next = (k + 1) % 3;
    bool here = !c->perspective || p[k].z >= c->near;
    bool there = !c->perspective || p[next].z >= c->near;
    if (here) out[count++] = corner_of(c, p[k], n[k]);
    if (here == there) continue;
    double t = (c->near - p[k].z) / (p[next].z - p[k].z);
    abVec3 cut = v3_lerp(p[k], p[next], t);
    cut.z = c->near;
    out[count++] = corner_of(c, cut, v3_lerp(n[k], n[next], t));
  }
  for (int k = 2; k < count; k++)
    ab_raster_triangle(r, (const abCorner[3]){out[0], out[k - 1], out[k]}, c->perspective, geom);
}

static abVec3 read_vector(const abBuffer* b, uint32_t i) {
  float v[3];
  memcpy(v, b->byte + sizeof v * i, sizeof v);
  return v3((double)v[0], (double)v[1], (double)v[2]);
}

static bool add_geom(abRaster* r, const Frame* c, const abModel* m, const abData* d, int geom) {
  abDrawing drawing = {0};
  abPose pose = pose_mul(d->pose[m->geom[geom].body], m->geom[geom].pose);
  ab_draw_geom(m, geom, &drawing);
  bool good = !drawing.vert.failed && !drawing.normal.failed && !drawing.index.failed;
  size_t n = good ? drawing.index.n / sizeof(uint32_t) : 0;
  for (size_t t = 0; t + 2 < n; t += 3) {
    abVec3 p[3], normal[3];
    for (size_t k = 0; k < 3; k++) {
      uint32_t i;
      memcpy(&i, drawing.index.byte + sizeof i * (t + k), sizeof i);
      p[k] = to_camera(c, pose_apply(pose, read_vector(&drawing.vert, i)));
      normal[k] = quat_rotate(pose.q, read_vector(&drawing.normal, i));
    }
    add_triangle(r, c, p, normal, geom);
  }
  ab_drawing_free(&drawing);
  return good;
}

// --- light and colour

typedef struct Scene {
  const abModel* model;
  const abData* data;
  Frame eye, sun;
  abRaster image, shadow;
  Ball ball;
  double square;  // side of the squares drawn on planes
} Scene;

static bool in_shadow(const Scene* s, abVec3 p) {
  abVec3 q = to_camera(&s->sun, p);
  double x = s->sun.cx + s->sun.scale * q.x, y = s->sun.cy - s->sun.scale * q.y;
  if (!(x >= 0 && x < SHADOW && y >= 0 && y < SHADOW)) return false;
  // two samples of the shadow's image, since a surface must not shade itself
  double slack = 4 * s->ball.radius / SHADOW;
  return (double)s->shadow.near[(size_t)y * SHADOW + (size_t)x] > -q.z + slack;
}

static double chequer(const Scene* s, int geom, abVec3 p) {
  const abGeom* g = &s->model->geom[geom];
  if (g->shape.type != AB_SHAPE_PLANE) return 1;
  abVec3 local = pose_apply_inverse(pose_mul(s->data->pose[g->body], g->pose), p);
  double k = floor(local.x / s->square) + floor(local.y / s->square);
  return fmod(k, 2) == 0 ? 1 : 0.9;
}

static void background(double height, double rgb[3]) {
  rgb[0] = 0.80 + 0.14 * height, rgb[1] = 0.85 + 0.10 * height, rgb[2] = 0.92 + 0.04 * height;
}

static void shade(const Scene* s, int x, int y, double rgb[3]) {
  size_t at = (size_t)y * (size_t)s->image.width + (size_t)x;
  background((double)y / s->image.height, rgb);
  if (!(s->image.near[at] > 0)) return;
  double z = 1 / (double)s->image.near[at];
  const Frame* c = &s->eye;
  abVec3 ray = v3_axpy((x + 0.5 - c->cx) / c->scale, c->right, c->ahead);
  ray = v3_axpy((c->cy - y - 0.5) / c->scale, c->up, ray);
  abVec3 p = v3_axpy(z, ray, c->at);
  const float* f = s->image.normal + 3 * at;
  abVec3 n = v3((double)f[0], (double)f[1], (double)f[2]);
  if (v3_dot(n, ray) > 0) n = v3_neg(n);
  float color[4];
  ab_draw_color(s->model, s->image.geom[at], color);
  double direct = fmax(0, v3_dot(n, light));
  if (direct > 0 && in_shadow(s, p)) direct = 0;
  double lit = (0.45 + 0.1 * n.z + 0.5 * direct) * chequer(s, s->image.geom[at], p);
  // what is far goes over into the background, where an endless plane ends
  double haze = fmin(1, fmax(0, z / v3_norm(v3_sub(s->ball.centre, c->at)) / 8 - 0.25));
  for (int k = 0; k < 3; k++) rgb[k] = (1 - haze) * fmin(1, lit * (double)color[k]) + haze * rgb[k];
}

static void develop(const Scene* s, const abCamera* v, unsigned char* rgb) {
  for (int y = 0; y < v->height; y++)
    for (int x = 0; x < v->width; x++) {
      double sum[3] = {0};
      for (int k = 0; k < SAMPLES * SAMPLES; k++) {
        double one[3];
        shade(s, SAMPLES * x + k % SAMPLES, SAMPLES * y + k / SAMPLES, one);
        for (int c = 0; c < 3; c++) sum[c] += one[c] / (SAMPLES * SAMPLES);
      }
      unsigned char* pixel = rgb + 3 * ((size_t)y * (size_t)v->width + (size_t)x);
      for (int c = 0; c < 3; c++) pixel[c] = (unsigned char)(255 * fmin(1, sum[c]) + 0.5);
    }
}

// --- the picture

static abStatus check(const abModel* m, const abData* d, const abCamera* v, abError* error) {
  double away = v3_norm(v3_sub(v->target, v->eye));
  if (v->width < 1 || v->height < 1 || v->width > MOST_PIXELS || v->height > MOST_PIXELS)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a picture of %d x %d pixels; give 1 to %d each", v->width, v->height,
                   MOST_PIXELS);
  if (!v3_finite(v->eye) || !v3_finite(v->target) || !(away > 0))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the eye and what it looks at must be two different places");
  if (!(v->fovy > 0 && v->fovy < 3.1))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "an angle of view of %g rad; give one from 0 to 3.1", v->fovy);
  for (int b = 0; b < m->nbody; b++)
    if (!v3_finite(d->pose[b].p) || !isfinite(quat_norm(d->pose[b].q)))
      return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "body '%s' is nowhere: its pose is not %s",
                     m->body[b].name, "finite");
  return AB_OK;
}

static bool draw(Scene* s) {
  bool good = true;
  for (int i = 0; i < s->model->ngeom && good; i++) {
    float color[4];
    ab_draw_color(s->model, i, color);
    if (color[3] <= 0) continue;
    good = add_geom(&s->image, &s->eye, s->model, s->data, i);
    if (good && s->model->geom[i].shape.type != AB_SHAPE_PLANE)
      good = add_geom(&s->shadow, &s->sun, s->model, s->data, i);
  }
  return good;
}

abStatus ab_picture(const abModel* m, const abData* d, const abCamera* v, unsigned char* rgb,
                    abError* error) {
  if (!m || !d || !v || !rgb)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a picture needs a model, its simulation, a view, and room for the pixels");
  abStatus status = check(m, d, v, error);
  if (status) return status;
  Scene s = {.model = m, .data = d, .ball = bounds(m, d, false)};
  if (!(s.ball.radius > 0)) s.ball = (Ball){v->target, v3_norm(v3_sub(v->target, v->eye))};
  // a round number: a square is 1, 10, 100 ... mm times
  s.square = pow(10, floor(log10(v3_norm(v3_sub(v->target, v->eye)) / 2)));
  bool good = ab_raster_create(&s.image, SAMPLES * v->width, SAMPLES * v->height, true) &&
              ab_raster_create(&s.shadow, SHADOW, SHADOW, false);
  if (good) {
    s.eye = eye_camera(v, &s.image);
    s.sun = light_camera(s.ball);
    good = draw(&s);
  }
  if (good) develop(&s, v, rgb);
  ab_raster_free(&s.image);
  ab_raster_free(&s.shadow);
  return good ? AB_OK : ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the picture");
}
