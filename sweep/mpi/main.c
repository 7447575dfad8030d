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
// would keep a core busy, and so would looks at short intervals (every half a millisecond was 4 %
// of a core). So looks are rare, and each rank has work for many of them: it asks for its next
// chunk before it has finished the last, and for a stock of them where chunks are short.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "engine.h"
#include "sweep_command.h"

// Milliseconds between looks, and seconds of work a thread has in stock, beside those for which it
// waited for answers: two looks, and on a busy machine many more. Towards the end stocks become
// small, so that ranks wait for each other hardly longer than the last chunk takes.
static const double LOOK = 4, STOCK = 0.2;
enum { MOST_AHEAD = 256, OUTBOX = 64 };

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
  abSweepStore* store;
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

// As many chunks as were asked for, towards the end a quarter of them, lest a rank have much to do
// when the others have nothing; fewer would not last until the next answer. None: there are no
// more.
static void answer(Master* m, int rank, int64_t* chunk, int wanted) {
  int n = 0;
  int64_t first, size;
  ab_sweep_chunk(m->sweep, 0, &first, &size);
  int64_t share = ab_sweep_store_todo(m->store) / size / (2 * ranks());
  if (wanted > share && wanted > m->nthread) {
    int least = wanted / 4 > m->nthread ? wanted / 4 : m->nthread;
    wanted = share > least ? (int)share : least;
  }
  while (n < wanted && !m->stop && m->source.take(m->source.context, &chunk[n])) n++;
  MPI_Send(chunk, n, MPI_INT64_T, rank, CHUNK, MPI_COMM_WORLD);
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
  if (what->MPI_TAG == ASK) {
    int wanted;
    memcpy(&wanted, bytes, sizeof wanted);
    answer(m, rank, (int64_t*)(void*)bytes, wanted);
  }
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
  size_t others = sizeof(int64_t) * MOST_AHEAD * (size_t)m->nthread;
  if (others < sizeof(abError)) others = sizeof(abError);
  if (most < others) most = others;
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
      nap(LOOK);
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
  Master m = {
      .sweep = sweep, .store = store, .source = ab_sweep_store_source(store), .nthread = nthread};
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
  int64_t* todo;  // room for MOST_AHEAD nthread
  int ntodo, asked;
  int64_t ndelivered;
  int nwork;               // threads within a chunk
  double begun;            // wall time
  double busy;             // seconds spent on chunks, less those since `begun` of the nwork
  double asked_at, delay;  // of answers: the longest of the last ones
  bool ended;              // there are no more chunks
  int nready;              // messages to send
  char* ready[OUTBOX];
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
  if (found) {
    *chunk = d->todo[--d->ntodo];
    d->nwork++;
    d->busy -= cli_clock() - d->begun;
  }
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
  while (d->nready == OUTBOX) pthread_cond_wait(&d->change, &d->lock);
  d->ready[d->nready++] = bytes;
  d->ndelivered++;
  d->nwork--;
  d->busy += cli_clock() - d->begun;
  // the next look comes soon enough for a few
  if (d->nready >= OUTBOX / 2) pthread_cond_broadcast(&d->change);
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

// Sleeps until the next look, or until there is much to send.
static void wait_for_look(Desk* d) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)(1e6 * LOOK);
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&d->lock);
  bool quiet = d->nready < OUTBOX / 2 && !(d->finished && d->asked == 0);
  if (quiet) pthread_cond_timedwait(&d->change, &d->lock, &until);
  pthread_mutex_unlock(&d->lock);
}

static char* next_message(Desk* d, bool* over) {
  char* bytes = NULL;
  pthread_mutex_lock(&d->lock);
  if (d->nready > 0) bytes = d->ready[--d->nready];
  if (d->nready == OUTBOX - 1) pthread_cond_broadcast(&d->change);
  *over = d->finished && !bytes;
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

// Chunks in stock: one a thread, and as many as are done until an answer comes.
static int stock(const Desk* d) {
  if (d->ndelivered == 0) return d->nthread;
  double each = (d->busy + d->nwork * (cli_clock() - d->begun)) / (double)d->ndelivered;
  double last = STOCK + 2 * d->delay;
  return d->nthread * (last < (MOST_AHEAD - 1) * each ? 1 + (int)(last / each) : MOST_AHEAD);
}

// Asks when half of the stock is gone, and waits for the answer before it asks again.
static void ask(Desk* d) {
  pthread_mutex_lock(&d->lock);
  int most = stock(d);
  int wanted = most - d->ntodo;
  if (d->ended || d->stop || d->asked || 2 * wanted < most) wanted = 0;
  d->asked += wanted;
  if (wanted) d->asked_at = cli_clock();
  pthread_mutex_unlock(&d->lock);
  if (wanted) MPI_Send(&wanted, (int)sizeof wanted, MPI_BYTE, 0, ASK, MPI_COMM_WORLD);
}

// No chunk at all: there are no more. What is asked for fits behind what is there.
static void hear(Desk* d) {
  int there = 0, n = 0;
  MPI_Status what;
  MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &what);
  if (!there || (what.MPI_TAG != CHUNK && what.MPI_TAG != STOP)) return;
  pthread_mutex_lock(&d->lock);
  MPI_Recv(d->todo + d->ntodo, d->asked, MPI_INT64_T, 0, what.MPI_TAG, MPI_COMM_WORLD, &what);
  if (what.MPI_TAG == STOP) {
    d->stop = 1;
  } else {
    MPI_Get_count(&what, MPI_INT64_T, &n);
    d->ended = n == 0;
    d->asked = 0;
    d->ntodo += n;
    d->delay = fmax(cli_clock() - d->asked_at, 0.9 * d->delay);
  }
  pthread_cond_broadcast(&d->change);
  pthread_mutex_unlock(&d->lock);
}

// Answers to what was asked for come in any case; they are heard before the last word.
static void talk(Desk* d) {
  bool over = false;
  while (!over || d->asked > 0) {
    wait_for_look(d);
    for (char* bytes; (bytes = next_message(d, &over));) send_rows(d, bytes);
    if (!over) ask(d);
    hear(d);
  }
}

static void work(Desk* d) {
  pthread_t thread;
  pthread_mutex_init(&d->lock, NULL);
  pthread_cond_init(&d->change, NULL);
  d->begun = cli_clock();
  d->todo = calloc(MOST_AHEAD * (size_t)d->nthread, sizeof *d->todo);
  if (d->todo && pthread_create(&thread, NULL, compute, d) == 0) {
    talk(d);
    pthread_join(thread, NULL);
  } else {
    d->status = sweep_fail(&d->error, AB_ERROR_MEMORY, NULL, 0, "no memory for a rank's work");
  }
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
