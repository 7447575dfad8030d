// In place of what needs jansson and zlib (the page, glTF, the model as JSON), where abut is built
// without them.
#include "base/error.h"
#include "io/recorder.h"

static abStatus open_none(abRecorder* recorder, const abModel* model, abError* error) {
  (void)model;
  return ab_fail(error, AB_ERROR_UNSUPPORTED, recorder->path, 0,
                 "this build of abut was made without JSON; record to a folder, for CSV");
}

static abStatus sample_none(abRecorder* recorder, const abModel* model, const abData* data,
                            abError* error) {
  (void)data;
  return open_none(recorder, model, error);
}

static abStatus close_none(abRecorder* recorder, bool abandon, abError* error) {
  (void)recorder, (void)abandon, (void)error;
  return AB_OK;
}

const abRecorderFormat ab_record_glb = {sizeof(abRecorder), open_none, sample_none, NULL,
                                        close_none};
const abRecorderFormat ab_record_html = {sizeof(abRecorder), open_none, sample_none, NULL,
                                         close_none};

abStatus ab_live_page(const char* path, const abModel* model, const abData* data,
                      const abLivePage* page, abError* error) {
  (void)model, (void)data, (void)page;
  return ab_fail(error, AB_ERROR_UNSUPPORTED, path, 0,
                 "this build of abut was made without JSON, which the page needs");
}

abStatus ab_view_page(const char* path, const abModel* model, const abData* data, abError* error) {
  return ab_live_page(path, model, data, NULL, error);
}

char* ab_model_json(const abModel* model, bool meshes) {
  (void)model, (void)meshes;
  return NULL;
}

void ab_json_free(char* json) { (void)json; }
