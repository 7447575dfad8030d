// What every recorder is: a table of three functions, and the state common to all formats at the
// start of each format's own struct.
#ifndef ABUT_IO_RECORDER_H
#define ABUT_IO_RECORDER_H

#include <abut/record.h>

// Seconds between flushes: short enough to follow a run, long enough to cost nothing.
#define AB_FLUSH_INTERVAL 0.5
// Bytes that are flushed at once whatever the clock says.
#define AB_FLUSH_BYTES ((size_t)1 << 20)

typedef struct abRecorderFormat {
  size_t bytes;  // of the format's own struct, cleared before open
  abStatus (*open)(abRecorder* recorder, const abModel* model, abError* error);
  // Adds a sample to memory and updates `pending`
  abStatus (*sample)(abRecorder* recorder, const abModel* model, const abData* data,
                     abError* error);
  abStatus (*flush)(abRecorder* recorder, abError* error);  // NULL: only when closed
  // Frees what open and sample took; completes the file unless `abandon`.
  abStatus (*close)(abRecorder* recorder, bool abandon, abError* error);
} abRecorderFormat;

struct abRecorder {
  const abRecorderFormat* format;
  char* path;
  size_t pending;     // bytes that wait for a flush; each format keeps it
  double last_flush;  // wall clock
  int nsample;
  int nbody, ngeom;  // of the model
};

extern const abRecorderFormat ab_record_csv, ab_record_h5, ab_record_glb, ab_record_html;

const char* ab_patch_kind_name(abPatchKind kind);
const char* ab_contact_mode_name(abContactMode mode);

#endif
