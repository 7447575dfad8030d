// Recordings of a run. A recording is readable up to its last flush whatever happens to the
// program.
#ifndef ABUT_RECORD_H
#define ABUT_RECORD_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abRecorder abRecorder;

// The format follows the name: a folder for CSV (path ends in '/' or has no extension), .h5, .glb,
// .html.
AB_API abRecorder* ab_record_open(const char* path, const abModel* model, abError* error);
// Adds the state of data, and the contacts whose impulses produced its velocities, as one sample.
AB_API abStatus ab_record_sample(abRecorder* recorder, const abModel* model, const abData* data,
                                 abError* error);
AB_API abStatus ab_record_close(abRecorder* recorder, abError* error);

#ifdef __cplusplus
}
#endif

#endif
