// Recordings of a build without HDF5 (ABUT_HDF5=OFF): every other format works, this one says why
// it does not.
#include "base/error.h"
#include "io/recorder.h"

static abStatus refuse(const char* path, abError* error) {
  return ab_fail(error, AB_ERROR_UNSUPPORTED, path, 0,
                 "this build of abut has no HDF5; record to .html, .glb or a folder of CSV files, "
                 "or use the program abut");
}

static abStatus open_none(abRecorder* recorder, const abModel* model, abError* error) {
  (void)model;
  return refuse(recorder->path, error);
}

static abStatus sample_none(abRecorder* recorder, const abModel* model, const abData* data,
                            abError* error) {
  (void)model, (void)data;
  return refuse(recorder->path, error);
}

static abStatus close_none(abRecorder* recorder, bool abandon, abError* error) {
  (void)recorder, (void)abandon, (void)error;
  return AB_OK;
}

const abRecorderFormat ab_record_h5 = {sizeof(abRecorder), open_none, sample_none, NULL,
                                       close_none};

// There is never a recording: only opening can be called.
abRecording* ab_recording_open(const char* path, abError* error) {
  refuse(path, error);
  return NULL;
}
void ab_recording_close(abRecording* recording) { (void)recording; }
int ab_recording_count(const abRecording* recording) { return (void)recording, 0; }
const abModel* ab_recording_model(const abRecording* recording) { return (void)recording, NULL; }
const abData* ab_recording_sample(abRecording* recording, int i, abError* error) {
  (void)recording, (void)i;
  refuse(NULL, error);
  return NULL;
}
const void* ab_recording_state(abRecording* recording, double time, size_t* bytes, abError* error) {
  (void)recording, (void)time, (void)bytes;
  refuse(NULL, error);
  return NULL;
}
