// A folder of results while the sweep is at work: which chunks are there, which are to do, and the
// journal that takes the new ones.
#define _DEFAULT_SOURCE
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static abStatus make_folder(const char* folder, abError* error) {
  char* path = sweep_copy(folder);
  for (char* p = path; p && *p; p++) {
    if (*p != '/' || p == path) continue;
    *p = 0;
    mkdir(path, 0777);
    *p = '/';
  }
  bool good = path && (mkdir(path, 0777) == 0 || errno == EEXIST);
  int why = errno;
  struct stat st;
  if (good && (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))) good = false, why = ENOTDIR;
  free(path);
  if (good) return AB_OK;
  return sweep_fail(error, AB_ERROR_FILE, folder, 0, "the folder cannot be made: %s",
                    strerror(why));
}

// --- room ---

int64_t ab_sweep_bytes(const abSweep* s) {
  int64_t width = ab_sweep_width(s), columns = s->nvary + s->nmeasure + 3;
  return 8 * width + 8 * (width + 1) + 20 * columns;
}

// Journal and results are there together for a while.
abStatus ab_sweep_check_room(const abSweep* s, const char* folder, abError* error) {
  struct statvfs fs;
  char* path = sweep_copy(folder);
  if (!path) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  while (*path && access(path, F_OK) != 0) {
    char* slash = strrchr(path, '/');
    if (!slash) snprintf(path, 2, ".");
    if (!slash) break;
    *slash = 0;
  }
  bool known = statvfs(*path ? path : "/", &fs) == 0;
  free(path);
  double need = (double)s->count * (double)ab_sweep_bytes(s);
  double room = known ? (double)fs.f_bavail * (double)fs.f_frsize : need;
  if (need <= room) return AB_OK;
  return sweep_fail(error, AB_ERROR_FILE, folder, 0,
                    "%lld runs need about %.3g GB, and there are %.3g GB on this disk; make fewer "
                    "runs, or choose another place",
                    (long long)s->count, 1e-9 * need, 1e-9 * room);
}

// --- what is there ---

typedef struct Scan {
  abSweepStore* store;
  int file;
} Scan;

static void visit(void* context, int64_t chunk, int64_t offset) {
  Scan* scan = context;
  Spot* spot = &scan->store->spot[chunk];
  if (spot->file < 0) *spot = (Spot){scan->file, offset};
}

static int is_journal(const struct dirent* e) {
  size_t n = strlen(e->d_name);
  return n >= 11 && !strncmp(e->d_name, "journal", 7) && !strcmp(e->d_name + n - 4, ".bin");
}

static void close_readers(abSweepStore* store) {
  for (int i = 0; i < store->nreader; i++) journal_close(&store->reader[i]);
  free(store->reader);
  store->reader = NULL;
  store->nreader = 0;
}

abStatus store_scan(abSweepStore* store, abError* error) {
  struct dirent** name = NULL;
  close_readers(store);
  for (int64_t i = 0; i < store->nchunk; i++) store->spot[i] = (Spot){-1, 0};
  int n = scandir(store->folder, &name, is_journal, alphasort);
  if (n < 0)
    return sweep_fail(error, AB_ERROR_FILE, store->folder, 0, "cannot be read: %s",
                      strerror(errno));
  store->reader = calloc((size_t)n + 1, sizeof(Journal));
  abStatus status = store->reader ? AB_OK : AB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    char* path = store_path(store->folder, name[i]->d_name);
    Journal* j = &store->reader[store->nreader];
    if (!status) {
      j->fd = -1;
      status = path ? journal_open_read(j, store->sweep, path, error) : AB_ERROR_MEMORY;
      Scan scan = {store, store->nreader++};
      if (!status) status = journal_scan(j, store->sweep, visit, &scan, error);
    }
    free(path);
    free(name[i]);
  }
  free(name);
  return status;
}

static bool mine(const abSweepStore* store, int64_t chunk) {
  return store->nshard == 0 || chunk % store->nshard == store->shard % store->nshard;
}

static void count_runs(abSweepStore* store) {
  store->todo = store->done = 0;
  for (int64_t c = 0; c < store->nchunk; c++) {
    int64_t first, n;
    ab_sweep_chunk(store->sweep, c, &first, &n);
    if (!mine(store, c)) continue;
    *(store->spot[c].file < 0 && !store->complete ? &store->todo : &store->done) += n;
  }
}

// --- opening ---

static abStatus open_own(abSweepStore* store, bool resume, bool found, abError* error) {
  char name[64] = "journal.bin";
  if (store->nshard)
    snprintf(name, sizeof name, "journal-%d-of-%d.bin", store->shard % store->nshard,
             store->nshard);
  char* path = store_path(store->folder, name);
  if (!path) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  bool begun = store->complete || (found && access(path, F_OK) == 0);
  abStatus status = AB_OK;
  if (begun && !resume)
    status = sweep_fail(error, AB_ERROR_FILE, store->folder, 0,
                        "this folder has results of this sweep; go on with --resume, or choose "
                        "another folder");
  if (!status && !store->complete) status = journal_open(&store->own, store->sweep, path, error);
  free(path);
  return status;
}

static abStatus open_store(abSweepStore* store, const abSweepPlace* place, abError* error) {
  bool found;
  Scan nothing = {store, 0};
  abStatus status = make_folder(place->folder, error);
  if (!status) status = manifest_check(store, &found, error);
  if (!status) status = open_own(store, place->resume, found, error);
  if (!status && !found) status = manifest_write(store, error);
  store->nchunk = ab_sweep_nchunk(store->sweep);
  store->spot = malloc(sizeof(Spot) * (size_t)store->nchunk);
  if (!status && !store->spot) status = sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  // where the valid part of the own journal ends: the next record goes there
  for (int64_t i = 0; i < store->nchunk && store->spot; i++) store->spot[i] = (Spot){-1, 0};
  if (!status && !store->complete)
    status = journal_scan(&store->own, store->sweep, visit, &nothing, error);
  if (!status) status = store_scan(store, error);
  if (!status) count_runs(store);
  return status;
}

abSweepStore* ab_sweep_store_open(const abSweep* sweep, const abSweepPlace* place, abError* error) {
  abError own = {0};
  abSweepStore* store = calloc(1, sizeof *store);
  if (!error) error = &own;
  if (!store) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory"), NULL;
  store->sweep = sweep;
  store->folder = sweep_copy(place->folder);
  store->shard = place->shard, store->nshard = place->nshard;
  store->no_csv = place->no_csv;
  store->ndigit = place->ndigit > 0 ? place->ndigit : 10;
  store->own.fd = -1;
  pthread_mutex_init(&store->lock, NULL);
  if (store->folder && open_store(store, place, error) == AB_OK) return store;
  ab_sweep_store_close(store);
  return NULL;
}

void ab_sweep_store_close(abSweepStore* store) {
  if (!store) return;
  journal_sync(&store->own);
  journal_close(&store->own);
  close_readers(store);
  pthread_mutex_destroy(&store->lock);
  free(store->present);
  free(store->spot);
  free(store->folder);
  free(store);
}

// --- at work ---

static bool take(void* context, int64_t* chunk) {
  abSweepStore* store = context;
  pthread_mutex_lock(&store->lock);
  while (store->next < store->nchunk &&
         (!mine(store, store->next) || store->spot[store->next].file >= 0))
    store->next++;
  *chunk = store->next++;
  pthread_mutex_unlock(&store->lock);
  return !store->complete && *chunk < store->nchunk;
}

static abStatus deliver(void* context, int64_t chunk, const double* row, abError* error) {
  abSweepStore* store = context;
  int64_t first, n, offset;
  ab_sweep_chunk(store->sweep, chunk, &first, &n);
  pthread_mutex_lock(&store->lock);
  abStatus status = journal_add(&store->own, store->sweep, chunk, row, &offset, error);
  if (!status) store->todo -= n, store->done += n;
  double time = now();
  // against a power cut; against a kill the write itself is enough
  if (!status && time - store->synced > 2) {
    journal_sync(&store->own);
    store->synced = time;
  }
  pthread_mutex_unlock(&store->lock);
  return status;
}

abSweepSource ab_sweep_store_source(abSweepStore* store) {
  return (abSweepSource){store, take, deliver};
}

static int64_t look(abSweepStore* store, const int64_t* count) {
  pthread_mutex_lock(&store->lock);
  int64_t n = *count;
  pthread_mutex_unlock(&store->lock);
  return n;
}

int64_t ab_sweep_store_todo(abSweepStore* store) { return look(store, &store->todo); }
int64_t ab_sweep_store_done(abSweepStore* store) { return look(store, &store->done); }

// --- joining ---

static abStatus take_over(abSweepStore* store, const abSweepStore* other, abError* error) {
  int64_t first, n, most, offset, width = ab_sweep_width(store->sweep);
  ab_sweep_chunk(store->sweep, 0, &first, &most);
  double* row = malloc(sizeof(double) * (size_t)(most * width));
  abStatus status = row ? AB_OK : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  for (int64_t c = 0; c < store->nchunk && !status; c++) {
    Spot from = other->spot[c];
    if (from.file < 0 || store->spot[c].file >= 0) continue;
    ab_sweep_chunk(store->sweep, c, &first, &n);
    const Journal* j = &other->reader[from.file];
    if (!journal_read(j->fd, row, sizeof(double) * (size_t)(n * width), from.offset))
      status = sweep_fail(error, AB_ERROR_FILE, j->path, 0, "cannot be read any more");
    if (!status) status = journal_add(&store->own, store->sweep, c, row, &offset, error);
    if (!status) store->spot[c].file = 0, store->todo -= n, store->done += n;
  }
  free(row);
  return status;
}

abStatus ab_sweep_store_merge(abSweepStore* store, const char* folder, abError* error) {
  bool found;
  abSweepStore other = {.sweep = store->sweep, .folder = sweep_copy(folder), .own.fd = -1};
  other.nchunk = store->nchunk;
  other.spot = malloc(sizeof(Spot) * (size_t)store->nchunk);
  abStatus status = other.folder && other.spot
                        ? manifest_check(&other, &found, error)
                        : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  if (!status && !found)
    status = sweep_fail(error, AB_ERROR_FILE, folder, 0, "there is no sweep in this folder");
  if (!status && other.complete && !store->complete)
    status = sweep_fail(error, AB_ERROR_FILE, folder, 0,
                        "this folder has all runs of the sweep already; there is nothing to join");
  if (!status) status = store_scan(&other, error);
  if (!status) status = take_over(store, &other, error);
  close_readers(&other);
  free(other.spot);
  free(other.folder);
  return status;
}
