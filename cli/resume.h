// Going on from a saved state or a recording (abut run --resume).
#ifndef ABUT_CLI_RESUME_H
#define ABUT_CLI_RESUME_H

#include <abut/abut.h>

#include "forces.h"

typedef struct Resume {
  const abModel* model;
  abData* data;               // set up as the run is to go on
  Forces *forces, *controls;  // or NULL
} Resume;

// `at`: the moment of a recording, NAN: its end. False, with a message, where that is not possible.
bool cli_resume(const Resume* resume, const char* path, double at);

#endif
