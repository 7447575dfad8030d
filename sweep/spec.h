// What the two halves of the reader share.
#ifndef ABUT_SWEEP_SPEC_H
#define ABUT_SWEEP_SPEC_H

#include "engine.h"

// A message about an entry of the specification.
abStatus spec_bad(const abSweep* s, const char* key, abError* error, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// Refuses entries of an object that are not in the list.
abStatus spec_known(const abSweep* s, const json_t* j, const char* where, int n,
                    const char* const* known, abError* error);
// Everything that needs no scene (spec.c).
abStatus spec_read_plain(abSweep* s, const json_t* j, abError* error);
// Loads the scene and looks every name up in it (spec_scene.c).
abStatus spec_read_scene(abSweep* s, const json_t* j, abError* error);

#endif
