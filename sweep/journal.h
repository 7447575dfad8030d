// A journal: finished chunks in the order they were finished, in one file that only grows.
//
// A file header (what sweep it is of), then records of a header and n rows of `width` doubles. The
// checksum of a record is written with it in one go; what a killed process left half-written does
// not check, and ends the journal. So a journal is valid at any moment, and nothing that was
// delivered is lost with the process.
#ifndef ABUT_SWEEP_JOURNAL_H
#define ABUT_SWEEP_JOURNAL_H

#include "engine.h"

typedef struct Journal {
  int fd;
  int64_t size;  // valid bytes
  char path[4096];
} Journal;

// Called for every record that checks: where its rows begin.
typedef void JournalVisit(void* context, int64_t chunk, int64_t offset);

// Opens for writing (made where there is none) and locks it; what does not check at the end is
// written over.
abStatus journal_open(Journal* j, const abSweep* s, const char* path, abError* error);
// Opens for reading. A journal of another sweep is an error.
abStatus journal_open_read(Journal* j, const abSweep* s, const char* path, abError* error);
abStatus journal_scan(Journal* j, const abSweep* s, JournalVisit* visit, void* context,
                      abError* error);
abStatus journal_add(Journal* j, const abSweep* s, int64_t chunk, const double* row,
                     int64_t* offset, abError* error);
void journal_sync(Journal* j);
void journal_close(Journal* j);
// Exactly n bytes from a place in a file.
bool journal_read(int fd, void* bytes, size_t n, int64_t offset);

#endif
