// What the parts of a folder of results share.
#ifndef ABUT_SWEEP_STORE_H
#define ABUT_SWEEP_STORE_H

#include <pthread.h>

#include "journal.h"

// Where the rows of a chunk are.
typedef struct Spot {
  int file;  // -1: nowhere
  int64_t offset;
} Spot;

struct abSweepStore {
  const abSweep* sweep;
  char* folder;
  int shard, nshard;
  bool no_csv;
  int ndigit;
  bool complete;  // results are made, journals are gone
  Journal own;    // written here
  int nreader;
  Journal* reader;  // all journals of the folder
  int64_t nchunk, next;
  Spot* spot;  // per chunk
  int64_t todo, done;
  pthread_mutex_t lock;
  double synced;
  int64_t npresent, *present;  // chunks that are there, for reading
};

char* store_path(const char* folder, const char* name);  // free it
// Writes a small file as a whole: under another name first.
abStatus store_write_text(const char* path, const char* text, abError* error);

// manifest.c
abStatus manifest_check(abSweepStore* store, bool* found, abError* error);
abStatus manifest_write(const abSweepStore* store, abError* error);
// finish.c
abStatus store_scan(abSweepStore* store, abError* error);

#endif
