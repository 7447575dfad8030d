// abut: rigid bodies that touch over areas.
//
//   abModel* model = ab_load("scene.xml", NULL, &error);
//   abData* data = ab_data_create(model, &error);
//   while (data->time < 2) ab_step(model, data);
//
// Misuse is answered, not punished: NULL, data of another model, an index out of range or a number
// that is none gives a status, zero or NULL, and changes nothing. An abError may be NULL
// everywhere.
//
// Threads. Models may be used by any number of them at once; a simulation, a scene, a recorder or a
// pointer by one at a time. There is no state outside of these but the allocator.
#ifndef ABUT_ABUT_H
#define ABUT_ABUT_H

#include <abut/contact.h>
#include <abut/couple.h>
#include <abut/data.h>
#include <abut/device.h>
#include <abut/frame.h>
#include <abut/haptic.h>
#include <abut/inverse.h>
#include <abut/model.h>
#include <abut/number.h>
#include <abut/overlap.h>
#include <abut/picture.h>
#include <abut/query.h>
#include <abut/record.h>
#include <abut/scene.h>
#include <abut/solve.h>
#include <abut/state.h>
#include <abut/types.h>
#include <abut/version.h>

#ifdef __cplusplus
extern "C" {
#endif

// Memory of the host's choosing, safe for threads; set before anything else is called.
typedef struct abAllocator {
  void* (*alloc)(size_t bytes);             // as malloc
  void* (*realloc)(void* p, size_t bytes);  // as realloc
  void (*free)(void* p);                    // as free
} abAllocator;
AB_API void ab_set_allocator(abAllocator allocator);
// The version of the library that is loaded; AB_VERSION is that of the headers.
AB_API const char* ab_version(void);
// Bytes that are read of one file at most: 256 MiB, or what the environment variable
// ABUT_INPUT_LIMIT says (a number, with K, M or G after it).
AB_API size_t ab_input_limit(void);

// A simulation at the model's initial state, with the scene's contact model (else the default one)
// chosen.
AB_API abData* ab_data_create(const abModel* model, abError* error);
AB_API void ab_data_free(abData* data);
// Back to the initial state (key < 0) or to a keyframe; inputs are cleared, contact memory too.
AB_API abStatus ab_data_reset(const abModel* model, abData* data, int key);
// The model has been compiled anew with other numbers (ab_scene_recompile): takes over masses and
// the step. Reset it then.
AB_API void ab_data_refresh(const abModel* model, abData* data);
// Choose a contact model by name ("none": contact off); its parameters go to the scene's values or
// the defaults.
AB_API abStatus ab_set_contact(const abModel* model, abData* data, const char* name,
                               abError* error);
// Choose a contact model of one's own (abut/contact.h says what it gets and what it may use), with
// the defaults of its parameters; NULL: contact off. The descriptor and what it points to must live
// until another is chosen. What was remembered of contacts is forgotten.
AB_API abStatus ab_set_contact_model(const abModel* model, abData* data,
                                     const abContactModel* contact, abError* error);
// A parameter of the chosen contact model, by the name that `abut models` prints; in the unit given
// there. Setting one forgets what was remembered of contacts.
AB_API abStatus ab_set_param(abData* data, const char* name, double value, abError* error);
AB_API abStatus ab_get_param(const abData* data, const char* name, double* value, abError* error);
// Threads that share a step, 1 to 1024; results are the same for any number.
AB_API abStatus ab_set_threads(abData* data, int nthread, abError* error);

// One step of length data->h. The result is in data->stat.
AB_API abStepStatus ab_step(const abModel* model, abData* data);
// Poses, twists and inertias of the present q and v, without stepping.
AB_API void ab_forward(const abModel* model, abData* data);
AB_API abEnergy ab_energy(const abModel* model, const abData* data);
// Momentum and angular momentum about the world's origin, of all moving bodies.
AB_API abWrench ab_momentum(const abModel* model, const abData* data);
// Over time, q, v: equal for equal inputs at any number of threads.
AB_API uint64_t ab_state_hash(const abModel* model, const abData* data);

#ifdef __cplusplus
}
#endif

#endif
