// In place of the HDF5 recordings, where abut is built without them.
#include "base/error.h"
#include "io/recorder.h"

static abStatus refuse(const char* path, abError* error) {
  return ab_fail(
      error, AB_ERROR_UNSUPPORTED, path, 0,
      "this build of abut has no HDF5; record to a folder of CSV files, .html or .glb, or use "
      "the program abut");
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

abRecording* ab_recording_open(const char* path, abError* error) {
  refuse(path, error);
  return NULL;
}

void ab_recording_close(abRecording* recording) { (void)recording; }

int ab_recording_count(const abRecording* recording) {
  (void)recording;
  return 0;
}

const abModel* ab_recording_model(const abRecording* recording) {
  (void)recording;
  return NULL;
}

const abData* ab_recording_sample(abRecording* recording, int i, abError* error) {
  (void)recording, (void)i;
  refuse(NULL, error);
  return NULL;
}
