// The page: one self-contained file that replays a run in a browser.
//
// The file is the page's template (web/, bundled with three.js when abut is built) followed by data
// in script elements that the browser does not run: first the model as JSON, then chunks of
// samples. Nothing after a chunk is needed to read it, so the page works up to its last flush.
//
// A chunk is a run of bytes, deflated (zlib) and written as base64:
//   uint32  frames F, moving bodies B, contacts C, vertices V
//   double  time[F]
//   float   pose[B][7][F]        x y z, quaternion w x y z; packed as below
//   uint32  contacts per frame [F]
//   uint32  geom1[C], geom2[C]
//   uint8   mode | kind << 4 [C], vertices of the polygon [C]
//   float   contact[14][C]       point, normal, force, free moment, area, depth, largest pressure,
//                                size of the polygon; packed
//   int16   vertex[3][V]         (vertex - point) / size * 2047; packed
//   uint8   pressure[V]          / largest pressure * 255
// Packed: the bytes of the numbers are sorted by significance (all lowest bytes first), for poses
// after each number has been combined by exclusive or with its predecessor in time. Both make
// deflate find what repeats: a body at rest costs nothing.
// Tests: test_replay.mjs, test_record.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/buffer.h"
#include "io/page.h"
#include "io/recorder.h"

enum { PAGE_FLOATS = 14 };  // floats per contact
// What is kept: of poses, of contact points (bits of the scene's size), of forces and areas, of the
// rest of a contact (bits after the leading one).
enum { POSE_BITS = 22, POINT_BITS = 18, FINE_BITS = 15, COARSE_BITS = 11 };

typedef struct Html {
  abRecorder base;
  int fd;
  int nmoving;
  int* moving;                // body indices
  uint32_t nframe;            // of the present chunk
  abBuffer time, pose;        // double; float[7] per body, frame after frame
  abBuffer count;             // uint32 contacts per frame
  abBuffer geom[2], tag[2];   // uint32; uint8
  abBuffer value;             // float[PAGE_FLOATS] per contact
  abBuffer vertex, pressure;  // int16[3], uint8
} Html;

static abStatus html_open(abRecorder* recorder, const abModel* model, abError* error) {
  Html* h = (Html*)recorder;
  h->fd = -1;
  h->moving = ab_alloc(sizeof(int) * (size_t)model->nbody);
  if (!h->moving) return ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory");
  for (int i = 1; i < model->nbody; i++)
    if (model->body[i].mover >= 0) h->moving[h->nmoving++] = i;
  return ab_page_create("replay.html", recorder->path, &h->fd, error);
}

// --- sampling
// -----------------------------------------------------------------------------------------

// A float with only so many bits after the leading one: the eye sees no more, and what is cleared
// packs well.
static float rounded(double x, int bits) {
  float f = (float)x;
  uint32_t word, rest = (uint32_t)1 << (23 - bits);
  memcpy(&word, &f, 4);
  word = (word + rest / 2) & ~(rest - 1);
  memcpy(&f, &word, 4);
  return f;
}

// A length in steps of a 2^bits-th of the scene's size, so that what rests looks at rest to
// deflate.
static float grid(double x, double extent, int bits) {
  double step = ldexp(extent > 0 ? extent : 1, -bits);
  return (float)(round(x / step) * step);
}

static void add_vertices(Html* h, const abContact* c, double size, double most) {
  for (int k = 0; k < c->nvert && k < 255; k++) {
    const double d[3] = {c->polygon[k].x - c->point.x, c->polygon[k].y - c->point.y,
                         c->polygon[k].z - c->point.z};
    int16_t v[3];
    for (int i = 0; i < 3; i++) v[i] = (int16_t)(size > 0 ? lround(d[i] / size * 2047) : 0);
    double p = c->pressure && most > 0 ? fmax(c->pressure[k], 0) / most : 0;
    uint8_t u = (uint8_t)lround(p * 255);
    ab_buffer_add(&h->vertex, v, sizeof v);
    ab_buffer_add(&h->pressure, &u, sizeof u);
  }
}

static void add_contact(Html* h, const abModel* model, const abContact* c) {
  double size = 0, most = 0, e = model->extent;
  for (int k = 0; k < c->nvert; k++) {
    size = fmax(size,
                fmax(fabs(c->polygon[k].x - c->point.x),
                     fmax(fabs(c->polygon[k].y - c->point.y), fabs(c->polygon[k].z - c->point.z))));
    if (c->pressure) most = fmax(most, c->pressure[k]);
  }
  size = (double)rounded(size * 1.0005, COARSE_BITS);  // rounding must not put a vertex outside
  uint32_t geom1 = (uint32_t)c->geom1, geom2 = (uint32_t)c->geom2;
  uint8_t tag = (uint8_t)((unsigned)c->mode | (unsigned)c->kind << 4);
  uint8_t nvert = (uint8_t)(c->nvert < 255 ? c->nvert : 255);
  ab_buffer_add(&h->geom[0], &geom1, sizeof geom1);
  ab_buffer_add(&h->geom[1], &geom2, sizeof geom2);
  ab_buffer_add(&h->tag[0], &tag, 1);
  ab_buffer_add(&h->tag[1], &nvert, 1);
  const abVec3 f = c->wrench.force;
  float value[PAGE_FLOATS] = {grid(c->point.x, e, POINT_BITS), grid(c->point.y, e, POINT_BITS),
                              grid(c->point.z, e, POINT_BITS), rounded(c->normal.x, FINE_BITS),
                              rounded(c->normal.y, FINE_BITS), rounded(c->normal.z, FINE_BITS),
                              rounded(f.x, FINE_BITS),         rounded(f.y, FINE_BITS),
                              rounded(f.z, FINE_BITS),         rounded(c->free_moment, COARSE_BITS),
                              rounded(c->area, FINE_BITS),     rounded(c->depth, COARSE_BITS),
                              rounded(most, COARSE_BITS),      (float)size};
  ab_buffer_add(&h->value, value, sizeof value);
  add_vertices(h, c, size, most);
}

static bool is_whole(const Html* h) {
  const abBuffer* all[] = {&h->time,   &h->pose,   &h->count, &h->geom[0], &h->geom[1],
                           &h->tag[0], &h->tag[1], &h->value, &h->vertex,  &h->pressure};
  bool whole = true;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) whole = whole && !all[i]->failed;
  return whole;
}

static abStatus html_sample(abRecorder* recorder, const abModel* model, const abData* data,
                            abError* error) {
  Html* h = (Html*)recorder;
  if (recorder->nsample == 0) {
    abStatus status = ab_page_model(h->fd, recorder->path, model, data, error);
    if (status != AB_OK) return status;
  }
  h->nframe++;
  ab_buffer_add(&h->time, &data->time, sizeof data->time);
  for (int i = 0; i < h->nmoving; i++) {
    const abPose* p = &data->pose[h->moving[i]];
    double e = model->extent;
    float pose[7] = {grid(p->p.x, e, POSE_BITS), grid(p->p.y, e, POSE_BITS),
                     grid(p->p.z, e, POSE_BITS), grid(p->q.w, 1, POSE_BITS),
                     grid(p->q.x, 1, POSE_BITS), grid(p->q.y, 1, POSE_BITS),
                     grid(p->q.z, 1, POSE_BITS)};
    ab_buffer_add(&h->pose, pose, sizeof pose);
  }
  uint32_t n = (uint32_t)data->ncontact;
  ab_buffer_add(&h->count, &n, sizeof n);
  for (int i = 0; i < data->ncontact; i++) add_contact(h, model, &data->contacts[i]);
  recorder->pending = h->pose.n + h->value.n + h->vertex.n + h->time.n;
  if (is_whole(h)) return AB_OK;
  return ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory for a sample");
}

// --- writing
// ------------------------------------------------------------------------------------------

// Sorts the bytes of n numbers by significance.
static void add_shuffled(abBuffer* out, const void* numbers, size_t n, size_t width) {
  const char* p = numbers;
  for (size_t b = 0; b < width; b++)
    for (size_t i = 0; i < n; i++) ab_buffer_add(out, p + i * width + b, 1);
}

// rows x columns -> each column in one piece.
static void add_columns(abBuffer* out, const abBuffer* b, size_t ncolumn, size_t width) {
  size_t nrow = ncolumn ? b->n / (ncolumn * width) : 0;
  for (size_t c = 0; c < ncolumn; c++)
    for (size_t r = 0; r < nrow; r++)
      ab_buffer_add(out, b->byte + (r * ncolumn + c) * width, width);
}

static void add_poses(abBuffer* out, const Html* h) {
  abBuffer column = {0};
  add_columns(&column, &h->pose, 7 * (size_t)h->nmoving, sizeof(float));
  uint32_t* word = (uint32_t*)(void*)column.byte;
  for (size_t k = 0; k < 7 * (size_t)h->nmoving && !column.failed; k++)
    for (uint32_t i = h->nframe - 1; i > 0; i--)
      word[k * h->nframe + i] ^= word[k * h->nframe + i - 1];
  add_shuffled(out, column.byte, column.n / 4, 4);
  out->failed = out->failed || column.failed;
  ab_buffer_free(&column);
}

static void add_transposed(abBuffer* out, const abBuffer* b, size_t ncolumn, size_t width) {
  abBuffer column = {0};
  add_columns(&column, b, ncolumn, width);
  add_shuffled(out, column.byte, column.n / width, width);
  out->failed = out->failed || column.failed;
  ab_buffer_free(&column);
}

static void make_chunk(const Html* h, abBuffer* out) {
  uint32_t head[4] = {h->nframe, (uint32_t)h->nmoving, (uint32_t)h->tag[0].n,
                      (uint32_t)h->pressure.n};
  ab_buffer_add(out, head, sizeof head);
  ab_buffer_add(out, h->time.byte, h->time.n);
  add_poses(out, h);
  ab_buffer_add(out, h->count.byte, h->count.n);
  for (int i = 0; i < 2; i++) ab_buffer_add(out, h->geom[i].byte, h->geom[i].n);
  for (int i = 0; i < 2; i++) ab_buffer_add(out, h->tag[i].byte, h->tag[i].n);
  add_transposed(out, &h->value, PAGE_FLOATS, sizeof(float));
  add_transposed(out, &h->vertex, 3, sizeof(int16_t));
  ab_buffer_add(out, h->pressure.byte, h->pressure.n);
}

static void clear_chunk(Html* h) {
  abBuffer* all[] = {&h->time,   &h->pose,   &h->count, &h->geom[0], &h->geom[1],
                     &h->tag[0], &h->tag[1], &h->value, &h->vertex,  &h->pressure};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->n = 0;
  h->nframe = 0;
}

static abStatus html_flush(abRecorder* recorder, abError* error) {
  Html* h = (Html*)recorder;
  abBuffer raw = {0}, text = {0};
  make_chunk(h, &raw);
  uLongf n = compressBound((uLong)raw.n);
  Bytef* packed = ab_alloc(n);
  bool good = packed && !raw.failed &&
              compress2(packed, &n, (const Bytef*)raw.byte, (uLong)raw.n, 6) == Z_OK;
  if (good) {
    ab_buffer_text(&text, "<script type=\"application/abut-chunk\">");
    ab_buffer_base64(&text, packed, n);
    ab_buffer_text(&text, "</script>\n");
  }
  good = good && !text.failed;
  abStatus status = good ? ab_file_write(h->fd, text.byte, text.n, recorder->path, error)
                         : ab_fail(error, AB_ERROR_MEMORY, recorder->path, 0, "no memory");
  ab_free(packed);
  ab_buffer_free(&raw);
  ab_buffer_free(&text);
  clear_chunk(h);
  return status;
}

static abStatus html_close(abRecorder* recorder, bool abandon, abError* error) {
  Html* h = (Html*)recorder;
  abStatus status = AB_OK;
  if (h->fd >= 0 && close(h->fd) != 0 && !abandon)
    status = ab_fail(error, AB_ERROR_FILE, recorder->path, 0, "cannot complete this file");
  abBuffer* all[] = {&h->time,   &h->pose,   &h->count, &h->geom[0], &h->geom[1],
                     &h->tag[0], &h->tag[1], &h->value, &h->vertex,  &h->pressure};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ab_buffer_free(all[i]);
  ab_free(h->moving);
  return status;
}

const abRecorderFormat ab_record_html = {sizeof(Html), html_open, html_sample, html_flush,
                                         html_close};
