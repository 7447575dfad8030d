// Recordings of a run, and the way back from one.
//
// Recordings are written while the simulation runs. What has been flushed stays readable whatever
// happens to the program: the CSV folder, the HDF5 file and the page are flushed about twice a
// second; a .glb file, whose header counts what follows it, is written when the recorder is closed.
// doc/recording.md describes the formats.
//
// A recorder, or a recording, is used by one thread at a time, and lives until it is closed.
#ifndef ABUT_RECORD_H
#define ABUT_RECORD_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abRecorder abRecorder;

// The format follows the name: a folder for CSV (path ends in '/' or has no extension), .h5, .glb,
// .html. Folders on the way are made. The model must live until the recorder is closed.
AB_API abRecorder* ab_record_open(const char* path, const abModel* model, abError* error);
// Adds the state of data, and the contacts whose impulses produced its velocities, as one sample.
AB_API abStatus ab_record_sample(abRecorder* recorder, const abModel* model, const abData* data,
                                 abError* error);
// Hands everything sampled so far to the system.
AB_API abStatus ab_record_flush(abRecorder* recorder, abError* error);
// Completes the recording and frees the recorder, also when it fails.
AB_API abStatus ab_record_close(abRecorder* recorder, abError* error);

// An HDF5 recording opened for reading.
typedef struct abRecording abRecording;

AB_API abRecording* ab_recording_open(const char* path, abError* error);
AB_API void ab_recording_close(abRecording* recording);
AB_API int ab_recording_count(const abRecording* recording);  // samples
// The recorded model. It describes what was recorded (names, shapes, frames, masses) but has no
// keyframes, actuators, hulls or contact rules: load the scene to simulate.
AB_API const abModel* ab_recording_model(const abRecording* recording);
// Sample i: time, h, q, v, pose, R, com, twist, contact (if this build has the model), contacts,
// stat.status, stat.iterations and stat.residual are filled in, everything else is zero. Valid
// until the next call.
AB_API const abData* ab_recording_sample(abRecording* recording, int i, abError* error);

// A recording holds a state now and then: the last one at or before a time, for ab_state_set, and
// its size. NULL where there is none. Valid until the next call. ab_step from there, with the same
// settings, forces and controls, leads to any later moment of the recording, to the bit.
AB_API const void* ab_recording_state(abRecording* recording, double time, size_t* bytes,
                                      abError* error);

// A page that simulates the model in the browser, starting as `data` stands: contact model, its
// parameters and the step are data's.
typedef struct abLivePage {
  int key;            // the keyframe it starts from, < 0: the initial pose
  const char* title;  // may be NULL, as the next two
  const char* text;   // a sentence on what to try
  const char* home;   // address of the page it belongs to
} abLivePage;
AB_API abStatus ab_live_page(const char* path, const abModel* model, const abData* data,
                             const abLivePage* page, abError* error);

// A page that shows frames (abut/frame.h) which it gets by a web socket at its own address.
AB_API abStatus ab_view_page(const char* path, const abModel* model, const abData* data,
                             abError* error);

// The compiled model as a JSON object: what `abut info --json` prints and what recordings carry.
// References between its parts are indices. With `meshes`, the vertices and triangles too. Free
// with ab_json_free; NULL when there is no memory.
AB_API char* ab_model_json(const abModel* model, bool meshes);
AB_API void ab_json_free(char* json);

#ifdef __cplusplus
}
#endif

#endif
