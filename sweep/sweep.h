// Sweeps: one scene, many runs. A specification (JSON or TOML) says which numbers vary and what is
// measured; doc/sweeps.md describes it.
//
// What a run gives is one row of doubles:
//
//   varied numbers | measures | status, residual, time | hash, q, v where they are kept
//
// and depends on the specification, the scene and the number of the run alone: not on threads,
// shards, ranks, or the runs before it.
#ifndef ABUT_SWEEP_H
#define ABUT_SWEEP_H

#include <abut/abut.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abSweep abSweep;

// --- the specification (spec.c) ---

// Read and checked against its scene; NULL with the error filled in. The format follows the name.
abSweep* ab_sweep_load(const char* path, abError* error);
// The same from JSON text; files it names are looked for in `folder`, then in the present one.
abSweep* ab_sweep_parse(const char* json, const char* folder, abError* error);
void ab_sweep_free(abSweep* sweep);

int64_t ab_sweep_count(const abSweep* sweep);  // runs
int ab_sweep_nvary(const abSweep* sweep);
const char* ab_sweep_vary_name(const abSweep* sweep, int i);
int ab_sweep_nmeasure(const abSweep* sweep);
const char* ab_sweep_measure_name(const abSweep* sweep, int i);
bool ab_sweep_keeps_hash(const abSweep* sweep);
int ab_sweep_nstate(const abSweep* sweep);   // nq + nv where states are kept, else 0
int ab_sweep_nrecord(const abSweep* sweep);  // runs that are to be recorded
// The varied numbers of a run: nvary doubles.
void ab_sweep_values(const abSweep* sweep, int64_t run, double* value);

// --- rows ---

typedef enum abRunStatus {
  AB_RUN_OK,       // to the end of the time, or to a condition that was asked for
  AB_RUN_BROKEN,   // a step broke down; the measures are of the time before
  AB_RUN_TIMEOUT,  // the limit on wall time was reached; likewise
  AB_RUN_REFUSED   // the numbers make no scene; the measures are not numbers
} abRunStatus;
const char* ab_run_status_name(int status);

int ab_sweep_width(const abSweep* sweep);      // doubles in a row
int ab_sweep_status_at(const abSweep* sweep);  // where status, residual and time stand in it

// --- running (worker.c, threads.c) ---

// What one thread needs: its own scene, model and simulation.
typedef struct abSweepWorker abSweepWorker;
abSweepWorker* ab_sweep_worker_create(const abSweep* sweep, abError* error);
void ab_sweep_worker_free(abSweepWorker* worker);
// Runs end at their next step once *stop is not 0; their rows then mean nothing.
void ab_sweep_worker_heed(abSweepWorker* worker, const volatile int* stop);
// One run. *why, where not NULL, is what went wrong with a run that is not AB_RUN_OK. `record` is a
// file for the recording, or NULL.
abRunStatus ab_sweep_worker_run(abSweepWorker* worker, int64_t run, const char* record, double* row,
                                abError* why);

// Who hands out chunks of runs and takes their rows. Both functions may be called from any thread.
typedef struct abSweepSource {
  void* context;
  bool (*take)(void* context, int64_t* chunk);  // false: there are no more
  abStatus (*deliver)(void* context, int64_t chunk, const double* row, abError* error);
} abSweepSource;
// Runs what the source hands out on `nthread` threads until it has no more or *stop is set.
abStatus ab_sweep_run(const abSweep* sweep, const abSweepSource* source, int nthread,
                      const volatile int* stop, abError* error);

// Chunks are consecutive runs, [first, first + n).
int64_t ab_sweep_nchunk(const abSweep* sweep);
void ab_sweep_chunk(const abSweep* sweep, int64_t chunk, int64_t* first, int64_t* n);

// --- a folder of results (store.c, journal.c) ---

// DIR/manifest.json says what the sweep is, DIR/journal-*.bin has the finished chunks in the order
// they were finished, each with its checksum. When a sweep is complete, results.h5, results.csv and
// index.html are made from them.
typedef struct abSweepStore abSweepStore;

typedef struct abSweepPlace {
  const char* folder;
  int shard, nshard;  // nshard 0: all runs; else the chunks c with c % nshard == shard % nshard
  bool resume;
  bool no_csv;  // results.h5 and index.html only
  int ndigit;   // of a measure in results.csv, 0: 10; 17 are all there are
} abSweepPlace;

abSweepStore* ab_sweep_store_open(const abSweep* sweep, const abSweepPlace* place, abError* error);
void ab_sweep_store_close(abSweepStore* store);
// A source of what is still to be done here.
abSweepSource ab_sweep_store_source(abSweepStore* store);
int64_t ab_sweep_store_todo(abSweepStore* store);  // runs, of this shard
int64_t ab_sweep_store_done(abSweepStore* store);
// Bytes of a run in the journal, in results.h5 (before it is compressed) and, about, in the CSV.
int64_t ab_sweep_bytes(const abSweep* sweep);
// Whether there is room for all results below the folder.
abStatus ab_sweep_check_room(const abSweep* sweep, const char* folder, abError* error);
// The rows that are in the journals, in the order of the runs; free both arrays by free(). There
// are none once the results have been made of all of them.
abStatus ab_sweep_store_rows(abSweepStore* store, int64_t* nrow, int64_t** run, double** row,
                             abError* error);
// Adds the finished chunks of another folder; they must be of the same sweep.
abStatus ab_sweep_store_merge(abSweepStore* store, const char* folder, abError* error);
// A look at all rows: of each varied number and measure how many values are numbers, their mean,
// deviation, least and greatest. Free with ab_sweep_summary_free.
typedef struct abSweepSummary {
  int64_t nrow;
  int64_t status[4];  // by abRunStatus
  int n;
  int64_t* finite;
  double *mean, *deviation, *low, *high;
} abSweepSummary;
void ab_sweep_summary_free(abSweepSummary* summary);
// Writes results.h5, results.csv and index.html of what is there. *missing: runs that are not. The
// summary is empty where the results had been made before.
abStatus ab_sweep_store_finish(abSweepStore* store, int64_t* missing, abSweepSummary* summary,
                               abError* error);
// The specification a folder of results was made with, for merging.
abSweep* ab_sweep_of_folder(const char* folder, abError* error);

#ifdef __cplusplus
}
#endif

#endif
