// The state as a block: a header, then the arrays of the state, then the remembered pairs, then the
// sleepers.
#include "state.h"

#include <abut/abut.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "collide/collide.h"
#include "fits.h"
#include "internal.h"
#include "pairs.h"

enum { STATE_VERSION = 1 };

typedef struct Header {
  char magic[8];
  uint32_t version;
  char contact[36];  // name of the contact model
  uint64_t bytes;    // of the whole block
  uint64_t sizes;    // checksum of the model's sizes and parts, and of a remembered pair's layout
  uint64_t content;  // checksum of the header, this field being zero, and of what follows it
} Header;

static const char MAGIC[8] = "abutstat";

void ab_walk(abWalk* w, void* object, size_t bytes) {
  if (w->kind != AB_WALK_COUNT && (!w->good || bytes > w->room - w->used)) {
    w->good = false;
    return;
  }
  if (w->kind == AB_WALK_WRITE && bytes > 0) memcpy(w->block + w->used, object, bytes);
  if (w->kind == AB_WALK_READ && bytes > 0) memcpy(object, w->block + w->used, bytes);
  w->used += bytes;
}

void ab_walk_flags(abWalk* w, bool* flag, size_t n) {
  for (size_t i = 0; i < n; i++) {
    unsigned char byte = 0;
    if (w->kind != AB_WALK_READ) byte = flag[i];
    ab_walk(w, &byte, sizeof byte);
    if (byte > 1) w->good = false;
    if (w->kind == AB_WALK_READ) flag[i] = byte == 1;
  }
}

// FNV-1a, 8 bytes at a time.
static uint64_t checksum(const void* bytes, size_t n) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char*)bytes + i, n - i < 8 ? n - i : 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

static uint64_t checksum_content(Header header, const char* rest) {
  header.content = 0;
  return checksum(&header, sizeof header) + checksum(rest, (size_t)header.bytes - sizeof header);
}

static size_t pair_bytes(const abData* data) {
  return data->contact ? data->contact->memory_bytes(data->internal->param) : 0;
}

static uint64_t add(uint64_t hash, int a, int b) {
  hash = (hash ^ ((uint64_t)(uint32_t)a << 32 | (uint32_t)b)) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

// What hangs where, and of which shape: another scene may well have the same sizes. Not its
// numbers, which may change while the state goes on.
static uint64_t checksum_parts(const abModel* m) {
  uint64_t hash = 0;
  for (int i = 0; i < m->nbody; i++) hash = add(hash, m->body[i].parent, m->body[i].mover);
  for (int i = 0; i < m->njoint; i++) hash = add(hash, (int)m->joint[i].type, m->joint[i].body);
  for (int i = 0; i < m->ngeom; i++) hash = add(hash, (int)m->geom[i].shape.type, m->geom[i].body);
  return hash;
}

static uint64_t checksum_sizes(const abModel* m, const abData* data) {
  uint64_t size[] = {(uint64_t)m->nq,     (uint64_t)m->nv,     (uint64_t)m->nactuator,
                     (uint64_t)m->nbody,  (uint64_t)m->njoint, (uint64_t)m->ngeom,
                     (uint64_t)m->nmover, sizeof(abTrace),     pair_bytes(data),
                     sizeof(abContact),   (uint64_t)m->nmocap, checksum_parts(m)};
  return checksum(size, sizeof size);
}

// --- what the contact model remembers

static bool keys_fit(int n, const uint64_t* key, int ngeom) {
  for (int i = 0; i < n; i++)
    if (!ab_pair_key_fits(key[i], ngeom) || (i > 0 && key[i - 1] >= key[i])) return false;
  return true;
}

static void walk_memory(const abModel* model, abMemory* memory, const abData* data, abWalk* walk) {
  const abTable* last = &memory->table[memory->last];
  int n = last->n;
  ab_walk(walk, &n, sizeof n);
  if (walk->kind != AB_WALK_READ) {
    ab_walk(walk, last->key, sizeof(uint64_t) * (size_t)n);
    ab_walk(walk, last->entry, memory->stride * (size_t)n);
    return;
  }
  ab_memory_clear(memory, pair_bytes(data));
  // A crafted block may say any number.
  if (walk->good) walk->good = n >= 0 && (size_t)n <= (walk->room - walk->used) / sizeof(uint64_t);
  uint64_t* key = walk->good ? AB_TAKE(data->internal->scratch, uint64_t, n) : NULL;
  if (!key) walk->good = false;
  if (walk->good) ab_walk(walk, key, sizeof *key * (size_t)n);
  if (walk->good) walk->good = keys_fit(n, key, model->ngeom);
  if (walk->good) walk->good = ab_memory_begin(memory, n, key);
  if (!walk->good) return;
  ab_walk(walk, memory->table[1 - memory->last].entry, memory->stride * (size_t)n);
  ab_memory_commit(memory);
  bool patches = data->contact && data->contact->geometry != AB_GEOMETRY_PAIR;
  for (int i = 0; i < n && walk->good; i++)
    walk->good = ab_trace_fits(ab_memory_last(memory, i), patches);
}

// --- the whole

static void walk_state(const abModel* model, abData* data, abWalk* walk) {
  ab_walk(walk, &data->time, sizeof data->time);
  ab_walk(walk, data->q, sizeof(double) * (size_t)model->nq);
  ab_walk(walk, data->v, sizeof(double) * (size_t)model->nv);
  ab_walk(walk, data->ctrl, sizeof(double) * (size_t)model->nactuator);
  ab_walk(walk, data->applied, sizeof(abWrench) * (size_t)model->nbody);
  ab_walk(walk, data->mocap_pos, sizeof(abVec3) * (size_t)model->nmocap);
  ab_walk(walk, data->mocap_quat, sizeof(abQuat) * (size_t)model->nmocap);
  walk_memory(model, data->internal->memory, data, walk);
  ab_sleep_walk(data->internal->sleeper, data, walk);
}

static size_t count(const abModel* model, const abData* data) {
  abWalk walk = {.kind = AB_WALK_COUNT, .good = true};
  walk_state(model, (abData*)data, &walk);  // counting changes nothing
  return walk.used;
}

size_t ab_state_size(const abModel* model, const abData* data) {
  if (!ab_data_fits(model, data)) return 0;
  return sizeof(Header) + count(model, data);
}

static const char* contact_name(const abData* data) {
  return data->contact ? data->contact->name : "none";
}

abStatus ab_state_get(const abModel* model, const abData* data, void* block, size_t bytes) {
  Header header;
  if (!block || !ab_data_fits(model, data)) return AB_ERROR_ARGUMENT;
  memset(&header, 0, sizeof header);  // with its padding
  header.version = STATE_VERSION;
  header.bytes = ab_state_size(model, data);
  if (bytes < header.bytes) return AB_ERROR_ARGUMENT;
  abWalk walk = {.kind = AB_WALK_WRITE,
                 .block = (char*)block + sizeof header,
                 .room = (size_t)header.bytes - sizeof header,
                 .good = true};
  walk_state(model, (abData*)data, &walk);  // writing the block changes nothing of the data
  memcpy(header.magic, MAGIC, sizeof header.magic);
  strncpy(header.contact, contact_name(data), sizeof header.contact - 1);
  header.sizes = checksum_sizes(model, data);
  header.content = checksum_content(header, walk.block);
  memcpy(block, &header, sizeof header);
  return walk.good ? AB_OK : AB_ERROR_MEMORY;
}

static abStatus refuse_data(abError* error) {
  return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                 "a state needs a model and the model's own simulation; did loading it fail?");
}

static abStatus check(const abModel* model, const abData* data, const void* block, size_t bytes,
                      abError* error) {
  Header h;
  if (!ab_data_fits(model, data)) return refuse_data(error);
  if (!block || bytes < sizeof h || memcmp(block, MAGIC, sizeof MAGIC) != 0)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "this is not a saved state; save one with ab_state_get or abut run --save");
  memcpy(&h, block, sizeof h);
  if (h.version != STATE_VERSION)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the state was saved in version %u of the format, this build reads %d; save it "
                   "again with this build",
                   h.version, STATE_VERSION);
  if (h.bytes != bytes || h.content != checksum_content(h, (const char*)block + sizeof h))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the saved state is damaged (%zu bytes, %llu expected); save it again", bytes,
                   (unsigned long long)h.bytes);
  h.contact[sizeof h.contact - 1] = 0;
  if (strcmp(h.contact, contact_name(data)) != 0)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the state was saved under the contact model %s, this simulation uses %s; "
                   "choose the same",
                   h.contact, contact_name(data));
  if (h.sizes != checksum_sizes(model, data))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the state belongs to another scene or build: its bodies, joints or geoms are "
                   "others; load the scene it was saved from");
  return AB_OK;
}

abStatus ab_state_set(const abModel* model, abData* data, const void* block, size_t bytes,
                      abError* error) {
  if (!ab_data_fits(model, data) || !block)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a state goes back into a simulation of its model, and there is none here");
  abStatus status = check(model, data, block, bytes, error);
  if (status != AB_OK) return status;
  abArenaMark mark = ab_arena_mark(data->internal->scratch);
  abWalk walk = {.kind = AB_WALK_READ,
                 .block = (char*)block + sizeof(Header),  // only read
                 .room = bytes - sizeof(Header),
                 .good = true};
  data->internal->ncandidate = data->internal->npair = data->ncontact = 0;
  data->stat = (abStat){.bad_index = -1, .bad_body = -1};
  walk_state(model, data, &walk);
  ab_arena_release(data->internal->scratch, mark);
  if (!walk.good || walk.used != walk.room) {
    ab_data_reset(model, data, -1);
    return ab_fail(error, AB_ERROR_MEMORY, NULL, 0,
                   "no memory for the saved state, or what it says of itself cannot be; the "
                   "simulation was put back to its start");
  }
  ab_forward(model, data);
  return AB_OK;
}

abStatus ab_data_copy(const abModel* model, const abData* from, abData* to, abError* error) {
  if (!ab_data_fits(model, from) || !ab_data_fits(model, to)) return refuse_data(error);
  if (from == to) return AB_OK;
  size_t bytes = ab_state_size(model, from);
  void* block = ab_alloc(bytes);
  if (!block) return ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for the copy of a state");
  abStatus status = ab_state_get(model, from, block, bytes);
  if (status == AB_OK) {
    to->h = from->h;
    to->sleep = from->sleep;
    to->contact = from->contact;
    memcpy(to->internal->param, from->internal->param, sizeof to->internal->param);
    status = ab_state_set(model, to, block, bytes, error);
  }
  ab_free(block);
  return status;
}
