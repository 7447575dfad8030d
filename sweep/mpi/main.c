// abut-sweep-mpi: abut sweep on the ranks of mpirun or srun.
//
// Rank 0 is the program itself: it reads the command line, owns the folder of results, computes
// like the others, and hands out chunks of runs on demand; whoever is faster gets more. The other
// ranks get the name of the specification and make their runs; rows travel to rank 0, which appends
// them to its journal, so a killed job goes on with --resume like any other. Results are gathered
// rather than written by all ranks into one parallel file: they are small, chunks end in any order
// while compressed tables want collective writes, and a journal survives a kill where an open HDF5
// file does not. doc/sweeps.md has the figures.
//
// In every rank the main thread alone calls MPI, and sleeps between looks: a blocking call of MPI
// would keep a core busy. Each rank asks for its next chunk before it has finished the last, and
// for some more where chunks are so short that an answer may take as long.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "engine.h"
#include "sweep_command.h"

// A chunk shorter than this [s] is asked for AHEAD times in advance: two looks and a busy machine
// take some milliseconds.
static const double BRIEF = 0.05;
enum { AHEAD = 4 };

enum { ASK = 1, ROWS, CHUNK, DONE, FAIL, STOP, BYE };

// What rank 0 tells the others at the beginning.
typedef struct Order {
  int go, nthread;
  uint64_t fingerprint;
  char path[4096];
} Order;

static void nap(double milliseconds) {
  struct timespec t = {0, (long)(1e6 * milliseconds)};
  nanosleep(&t, NULL);
}

static int ranks(void) {
  int n;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

// Chunk and rows in one message.
static size_t message_bytes(const abSweep* s) {
  int64_t first, most;
  ab_sweep_chunk(s, 0, &first, &most);
  return sizeof(int64_t) + sizeof(double) * (size_t)most * (size_t)ab_sweep_width(s);
}

// --- rank 0 ---

typedef struct Master {
  const abSweep* sweep;
  abSweepSource source;
  int nthread;
  volatile int stop;  // for the runs of this rank
  abError error, own_error;
  abStatus status, own_status;
  pthread_mutex_t lock;
  bool own_done;
} Master;

static void* run_own(void* context) {
  Master* m = context;
  abStatus status = ab_sweep_run(m->sweep, &m->source, m->nthread, &m->stop, &m->own_error);
  pthread_mutex_lock(&m->lock);
  m->own_status = status;
  m->own_done = true;
  pthread_mutex_unlock(&m->lock);
  return NULL;
}

static bool own_is_done(Master* m) {
  pthread_mutex_lock(&m->lock);
  bool done = m->own_done;
  pthread_mutex_unlock(&m->lock);
  return done;
}

static void stop_all(Master* m) {
  if (m->stop) return;
  m->stop = 1;
  for (int r = 1; r < ranks(); r++) MPI_Send(NULL, 0, MPI_BYTE, r, STOP, MPI_COMM_WORLD);
}

static void answer(Master* m, int rank) {
  int64_t chunk;
  if (m->stop || !m->source.take(m->source.context, &chunk)) chunk = -1;
  MPI_Send(&chunk, 1, MPI_INT64_T, rank, CHUNK, MPI_COMM_WORLD);
}

static void take_rows(Master* m, const char* bytes) {
  int64_t chunk;
  abError error = {0};
  memcpy(&chunk, bytes, sizeof chunk);
  const double* row = (const double*)(const void*)(bytes + sizeof chunk);
  if (m->status || !m->source.deliver(m->source.context, chunk, row, &error)) return;
  m->error = error;
  m->status = error.code;
  stop_all(m);
}

// One message; true where it was a rank's last.
static bool serve(Master* m, const MPI_Status* what, char* bytes, int most) {
  int rank = what->MPI_SOURCE;
  MPI_Recv(bytes, most, MPI_BYTE, rank, what->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (what->MPI_TAG == ASK) answer(m, rank);
  if (what->MPI_TAG == ROWS) take_rows(m, bytes);
  if (what->MPI_TAG == FAIL) {
    if (!m->status) {
      memcpy(&m->error, bytes, sizeof m->error);
      m->status = m->error.code ? m->error.code : AB_ERROR_ARGUMENT;
    }
    stop_all(m);
  }
  return what->MPI_TAG == DONE;
}

static abStatus serve_all(Master* m, const volatile int* stop, abError* error) {
  int left = ranks() - 1;
  size_t most = message_bytes(m->sweep);
  if (most < sizeof(abError)) most = sizeof(abError);
  char* bytes = malloc(most);
  if (!bytes) stop_all(m);
  while (bytes && (left > 0 || !own_is_done(m))) {
    int there = 0;
    MPI_Status what;
    if (*stop) stop_all(m);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &what);
    if (there)
      left -= serve(m, &what, bytes, (int)most);
    else
      nap(0.5);
    if (own_is_done(m) && m->own_status && !m->stop) stop_all(m);
  }
  free(bytes);
  if (!bytes) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for messages");
  if (m->status) *error = m->error;
  return m->status;
}

static abStatus run_ranks(void* context, const abSweep* sweep, abSweepStore* store, int nthread,
                          const volatile int* stop, abError* error) {
  bool* ordered = context;
  Order order = {.go = 1, .nthread = nthread, .fingerprint = sweep->fingerprint};
  snprintf(order.path, sizeof order.path, "%s", sweep->path);
  MPI_Bcast(&order, (int)sizeof order, MPI_BYTE, 0, MPI_COMM_WORLD);
  *ordered = true;
  Master m = {.sweep = sweep, .source = ab_sweep_store_source(store), .nthread = nthread};
  pthread_t own;
  pthread_mutex_init(&m.lock, NULL);
  bool threaded = pthread_create(&own, NULL, run_own, &m) == 0;
  if (!threaded) {
    m.own_status = sweep_fail(&m.own_error, AB_ERROR_MEMORY, NULL, 0, "cannot start a thread");
    m.own_done = true;
  }
  abStatus status = serve_all(&m, stop, error);
  if (threaded) pthread_join(own, NULL);
  pthread_mutex_destroy(&m.lock);
  if (!status && m.own_status) *error = m.own_error;
  return status ? status : m.own_status;
}

// --- the other ranks ---

// Between the threads that compute and the one that talks: chunks to do, rows to send.
typedef struct Desk {
  const abSweep* sweep;
  int nthread;
  pthread_mutex_t lock;
  pthread_cond_t change;
  int64_t* todo;  // room for AHEAD nthread
  int ntodo, asked;
  int64_t ndelivered;
  double begun;  // wall time
  bool ended;    // there are no more chunks
  int nready;    // messages to send, room for 2 nthread
  char** ready;
  bool finished;
  volatile int stop;
  abStatus status;
  abError error;
} Desk;

static bool desk_take(void* context, int64_t* chunk) {
  Desk* d = context;
  pthread_mutex_lock(&d->lock);
  while (d->ntodo == 0 && !d->ended && !d->stop) pthread_cond_wait(&d->change, &d->lock);
  bool found = d->ntodo > 0 && !d->stop;
  if (found) *chunk = d->todo[--d->ntodo];
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
  return found;
}

static abStatus desk_deliver(void* context, int64_t chunk, const double* row, abError* error) {
  Desk* d = context;
  int64_t first, n;
  ab_sweep_chunk(d->sweep, chunk, &first, &n);
  char* bytes = malloc(message_bytes(d->sweep));
  if (!bytes) return sweep_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for a message");
  memcpy(bytes, &chunk, sizeof chunk);
  memcpy(bytes + sizeof chunk, row, sizeof(double) * (size_t)n * (size_t)ab_sweep_width(d->sweep));
  pthread_mutex_lock(&d->lock);
  while (d->nready == 2 * d->nthread) pthread_cond_wait(&d->change, &d->lock);
  d->ready[d->nready++] = bytes;
  d->ndelivered++;
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
  return AB_OK;
}

static void* compute(void* context) {
  Desk* d = context;
  abSweepSource source = {d, desk_take, desk_deliver};
  abStatus status = ab_sweep_run(d->sweep, &source, d->nthread, &d->stop, &d->error);
  pthread_mutex_lock(&d->lock);
  d->status = status;
  d->finished = true;
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
  return NULL;
}

// Waits half a millisecond, or until a computing thread has something.
static char* next_message(Desk* d, bool* over) {
  char* bytes = NULL;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 500000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&d->lock);
  if (d->nready == 0 && !d->finished) pthread_cond_timedwait(&d->change, &d->lock, &until);
  if (d->nready > 0) bytes = d->ready[--d->nready];
  *over = d->finished && d->nready == 0 && !bytes;
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
  return bytes;
}

static void send_rows(const Desk* d, char* bytes) {
  int64_t chunk, first, n;
  memcpy(&chunk, bytes, sizeof chunk);
  ab_sweep_chunk(d->sweep, chunk, &first, &n);
  size_t size = sizeof chunk + sizeof(double) * (size_t)n * (size_t)ab_sweep_width(d->sweep);
  MPI_Send(bytes, (int)size, MPI_BYTE, 0, ROWS, MPI_COMM_WORLD);
  free(bytes);
}

static void ask(Desk* d) {
  pthread_mutex_lock(&d->lock);
  double spent = (cli_clock() - d->begun) * d->nthread;
  bool brief = d->ndelivered > 0 && spent < BRIEF * (double)d->ndelivered;
  int most = d->nthread * (brief ? AHEAD : 1);
  bool want = !d->ended && !d->stop && d->ntodo + d->asked < most;
  if (want) d->asked++;
  pthread_mutex_unlock(&d->lock);
  if (want) MPI_Send(NULL, 0, MPI_BYTE, 0, ASK, MPI_COMM_WORLD);
}

static void hear(Desk* d) {
  int there = 0;
  MPI_Status what;
  int64_t chunk = -1;
  MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &what);
  if (!there || (what.MPI_TAG != CHUNK && what.MPI_TAG != STOP)) return;
  MPI_Recv(&chunk, what.MPI_TAG == CHUNK, MPI_INT64_T, 0, what.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  pthread_mutex_lock(&d->lock);
  if (what.MPI_TAG == STOP) d->stop = 1;
  if (what.MPI_TAG == CHUNK) d->asked--;
  if (chunk >= 0)
    d->todo[d->ntodo++] = chunk;
  else
    d->ended = true;
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
}

// Answers to what was asked for come in any case; they are heard before the last word.
static void talk(Desk* d) {
  bool over = false;
  while (!over || d->asked > 0) {
    char* bytes = next_message(d, &over);
    if (bytes) send_rows(d, bytes);
    if (!over) ask(d);
    hear(d);
  }
}

static void work(Desk* d) {
  pthread_t thread;
  pthread_mutex_init(&d->lock, NULL);
  pthread_cond_init(&d->change, NULL);
  d->begun = cli_clock();
  d->todo = calloc(AHEAD * (size_t)d->nthread, sizeof *d->todo);
  d->ready = calloc(2 * (size_t)d->nthread, sizeof *d->ready);
  if (d->todo && d->ready && pthread_create(&thread, NULL, compute, d) == 0) {
    talk(d);
    pthread_join(thread, NULL);
  } else {
    d->status = sweep_fail(&d->error, AB_ERROR_MEMORY, NULL, 0, "no memory for a rank's work");
  }
  free(d->ready);
  free(d->todo);
  pthread_cond_destroy(&d->change);
  pthread_mutex_destroy(&d->lock);
}

static void wait_for_end(void) {
  for (int there = 0; !there; nap(5)) {
    MPI_Status what;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &what);
    if (!there) continue;
    // a word to stop that came after the work was done
    MPI_Recv(NULL, 0, MPI_BYTE, 0, what.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    there = what.MPI_TAG == BYE;
  }
}

static void obey(void) {
  Order order;
  MPI_Bcast(&order, (int)sizeof order, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (!order.go) return;
  Desk d = {.nthread = order.nthread};
  abSweep* sweep = ab_sweep_load(order.path, &d.error);
  d.sweep = sweep;
  if (sweep && sweep->fingerprint != order.fingerprint)
    d.status = sweep_fail(&d.error, AB_ERROR_FILE, order.path, 0,
                          "ranks see different specifications or scenes under this name");
  else if (sweep)
    work(&d);
  else
    d.status = d.error.code;
  if (d.status) MPI_Send(&d.error, (int)sizeof d.error, MPI_BYTE, 0, FAIL, MPI_COMM_WORLD);
  MPI_Send(NULL, 0, MPI_BYTE, 0, DONE, MPI_COMM_WORLD);
  ab_sweep_free(sweep);
  wait_for_end();
}

static void ignore_signals(void) {
  // rank 0 hears them, too, and tells the others when to end
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGINT, &ignore, NULL);
  sigaction(SIGTERM, &ignore, NULL);
  sigaction(SIGHUP, &ignore, NULL);
}

int main(int argc, char** argv) {
  int given, rank, code = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    bool ordered = false;
    const SweepCrew crew = {&ordered, ranks(), run_ranks};
    code = cli_sweep_with(argc, argv, &crew);
    Order home = {.go = 0};
    if (!ordered) MPI_Bcast(&home, (int)sizeof home, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int r = 1; ordered && r < ranks(); r++)
      MPI_Send(NULL, 0, MPI_BYTE, r, BYE, MPI_COMM_WORLD);
  } else {
    ignore_signals();
    obey();
  }
  MPI_Finalize();
  return code;
}
