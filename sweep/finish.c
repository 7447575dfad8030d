// From journals to results: the rows in the order of the runs, whoever made them.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store.h"

// --- rows in order ---

// All chunks are of one size but the last of the sweep, which comes last here, too.
static abStatus read_rows(void* context, int64_t first, int64_t n, int64_t* run, double* row,
                          abError* error) {
  const abSweepStore* store = context;
  int64_t width = ab_sweep_width(store->sweep), zero, size;
  ab_sweep_chunk(store->sweep, 0, &zero, &size);
  while (n > 0) {
    int64_t chunk = store->present[first / size], skip = first % size, begin, length;
    ab_sweep_chunk(store->sweep, chunk, &begin, &length);
    int64_t k = length - skip < n ? length - skip : n;
    Spot spot = store->spot[chunk];
    const Journal* j = &store->reader[spot.file];
    if (!journal_read(j->fd, row, sizeof(double) * (size_t)(k * width),
                      spot.offset + (int64_t)sizeof(double) * skip * width))
      return sweep_fail(error, AB_ERROR_FILE, j->path, 0, "cannot be read any more");
    for (int64_t i = 0; i < k; i++) run[i] = begin + skip + i;
    run += k, row += k * width, first += k, n -= k;
  }
  return AB_OK;
}

static abStatus list_present(abSweepStore* store, int64_t* nrow, abError* error) {
  free(store->present);
  store->present = malloc(sizeof(int64_t) * (size_t)store->nchunk);
  if (!store->present) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  store->npresent = *nrow = 0;
  for (int64_t c = 0; c < store->nchunk; c++) {
    int64_t first, n;
    if (store->spot[c].file < 0) continue;
    ab_sweep_chunk(store->sweep, c, &first, &n);
    store->present[store->npresent++] = c;
    *nrow += n;
  }
  return AB_OK;
}

abStatus ab_sweep_store_rows(abSweepStore* store, int64_t* nrow, int64_t** run, double** row,
                             abError* error) {
  *nrow = 0, *run = NULL, *row = NULL;
  if (store->complete) return AB_OK;
  abStatus status = store_scan(store, error);
  if (!status) status = list_present(store, nrow, error);
  if (status || !*nrow) return status;
  *run = malloc(sizeof(int64_t) * (size_t)*nrow);
  *row = malloc(sizeof(double) * (size_t)*nrow * (size_t)ab_sweep_width(store->sweep));
  status = *run && *row ? read_rows(store, 0, *nrow, *run, *row, error)
                        : sweep_fail(error, AB_ERROR_MEMORY, NULL, 0,
                                     "no memory for %lld rows; they are in %s", (long long)*nrow,
                                     store->folder);
  if (status) free(*run), free(*row), *run = NULL, *row = NULL;
  return status;
}

// --- files ---

typedef abStatus Writer(const abSweep* s, const RowReader* rows, const char* path, abError* error);

// Under another name first, so that a file that is there is whole.
static abStatus write_file(const abSweepStore* store, const RowReader* rows, const char* name,
                           Writer* writer, abError* error) {
  char* path = store_path(store->folder, name);
  char other[4200];
  if (!path) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory");
  snprintf(other, sizeof other, "%.4000s.%ld.tmp", path, (long)getpid());
  abStatus status = writer(store->sweep, rows, other, error);
  int fd = status ? -1 : open(other, O_RDONLY | O_CLOEXEC);
  if (!status && (fd < 0 || fsync(fd) != 0 || rename(other, path) != 0))
    status = sweep_fail(error, AB_ERROR_FILE, path, 0, "cannot be written: %s", strerror(errno));
  if (fd >= 0) close(fd);
  if (status) remove(other);
  free(path);
  return status;
}

// Chosen runs are recorded at the end, one after the other: they give the same rows again, and
// recorders need not be shared between threads.
static abStatus record_runs(const abSweepStore* store, abError* error) {
  const abSweep* s = store->sweep;
  char* folder = store_path(store->folder, "recordings");
  abSweepWorker* worker = folder ? ab_sweep_worker_create(s, error) : NULL;
  double* row = malloc(sizeof(double) * (size_t)ab_sweep_width(s));
  abStatus status = worker && row ? AB_OK : error->code;
  for (int i = 0; i < s->nrecord && !status; i++) {
    char path[4300];
    abError why = {0};
    snprintf(path, sizeof path, "%.4000s/run-%06lld.%s", folder, (long long)s->record[i],
             s->record_format);
    if (access(path, F_OK) == 0) continue;
    abRunStatus outcome = ab_sweep_worker_run(worker, s->record[i], path, row, &why);
    if (outcome == AB_RUN_REFUSED && why.code == AB_ERROR_FILE) {
      *error = why;
      status = why.code;
    }
  }
  free(row);
  ab_sweep_worker_free(worker);
  free(folder);
  return status;
}

static void remove_journals(abSweepStore* store) {
  for (int i = 0; i < store->nreader; i++) remove(store->reader[i].path);
}

static abStatus write_results(abSweepStore* store, int64_t* missing, abSweepSummary* summary,
                              abError* error) {
  bool found;
  int64_t nrow = 0;
  *missing = 0;
  // somebody else in the same folder may have finished meanwhile
  abStatus status = manifest_check(store, &found, error);
  if (status || store->complete) return status;
  journal_sync(&store->own);
  status = store_scan(store, error);
  if (!status) status = list_present(store, &nrow, error);
  if (status) return status;
  RowReader rows = {store, nrow, store->ndigit, read_rows};
  *missing = store->sweep->count - nrow;
  status = summary_make(store->sweep, &rows, summary, error);
  if (!status) status = write_file(store, &rows, "results.h5", results_write_h5, error);
  if (!status && !store->no_csv)
    status = write_file(store, &rows, "results.csv", results_write_csv, error);
  if (!status) status = write_file(store, &rows, "index.html", results_write_page, error);
  if (!status && *missing == 0 && store->sweep->nrecord && store->sweep->resolved)
    status = record_runs(store, error);
  if (status || *missing) return status;
  store->complete = true;
  status = manifest_write(store, error);
  if (!status) remove_journals(store);
  return status;
}

abStatus ab_sweep_store_finish(abSweepStore* store, int64_t* missing, abSweepSummary* summary,
                               abError* error) {
  abError own = {0};
  if (!error) error = &own;
  // one after the other, where several processes share the folder; file systems without locks have
  // to do without
  int fd = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool locked = fd >= 0 && flock(fd, LOCK_EX) == 0;
  abStatus status = write_results(store, missing, summary, error);
  if (locked) flock(fd, LOCK_UN);
  if (fd >= 0) close(fd);
  return status;
}
