// Tests: test_view.mjs.
#include <abut/frame.h>
#include <math.h>
#include <string.h>

enum { FRAME_VALUES = 14 };

static int count_corners(const abData* data) {
  int n = 0;
  for (int i = 0; i < data->ncontact; i++) n += data->contacts[i].nvert;
  return n;
}

size_t ab_frame_bytes(const abModel* model, const abData* data, int nhand) {
  if (!model || !data || nhand < 0) return 0;
  size_t C = (size_t)data->ncontact, V = (size_t)count_corners(data);
  return 24 + 56 * (size_t)model->nbody + 72 * (size_t)nhand + (16 + 4 * FRAME_VALUES) * C + 16 * V;
}

static void* put(void* at, const void* from, size_t n) {
  memcpy(at, from, n);
  return (char*)at + n;
}

static void* put_value(void* at, const abContact* c) {
  double most = 0;
  for (int k = 0; k < c->nvert && c->pressure; k++) most = fmax(most, c->pressure[k]);
  const abVec3 p = c->point, n = c->normal, f = c->wrench.force;
  const double value[FRAME_VALUES] = {
      p.x, p.y, p.z, n.x, n.y, n.z, f.x, f.y, f.z, c->free_moment, c->area, c->depth, most, 2047};
  float rounded[FRAME_VALUES];
  for (int k = 0; k < FRAME_VALUES; k++) rounded[k] = (float)value[k];
  return put(at, rounded, sizeof rounded);
}

static void* put_corners(void* at, const abContact* c) {
  for (int k = 0; k < c->nvert; k++) {
    const float d[3] = {(float)(c->polygon[k].x - c->point.x),
                        (float)(c->polygon[k].y - c->point.y),
                        (float)(c->polygon[k].z - c->point.z)};
    at = put(at, d, sizeof d);
  }
  return at;
}

static void* put_pressure(void* at, const abContact* c) {
  double most = 0;
  for (int k = 0; k < c->nvert && c->pressure; k++) most = fmax(most, c->pressure[k]);
  for (int k = 0; k < c->nvert; k++) {
    float share = most > 0 ? (float)(255 * fmax(c->pressure[k], 0) / most) : 0;
    at = put(at, &share, sizeof share);
  }
  return at;
}

void ab_frame_write(const abModel* model, const abData* data, int nhand, const abFrameHand* hand,
                    void* bytes) {
  if (!model || !data || nhand < 0 || (nhand > 0 && !hand) || !bytes) return;
  const int32_t head[4] = {data->ncontact, count_corners(data), nhand, 0};
  void* at = put(bytes, &data->time, sizeof data->time);
  at = put(at, head, sizeof head);
  at = put(at, data->pose, sizeof(abPose) * (size_t)model->nbody);
  if (nhand > 0) at = put(at, hand, sizeof *hand * (size_t)nhand);
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    const int32_t tag[4] = {c->geom1, c->geom2, (int32_t)c->mode | (int32_t)c->kind << 4, c->nvert};
    at = put(at, tag, sizeof tag);
  }
  for (int i = 0; i < data->ncontact; i++) at = put_value(at, &data->contacts[i]);
  for (int i = 0; i < data->ncontact; i++) at = put_corners(at, &data->contacts[i]);
  for (int i = 0; i < data->ncontact; i++) at = put_pressure(at, &data->contacts[i]);
}
