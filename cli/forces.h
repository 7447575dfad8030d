// Forces and torques (--forces), or controls (--controls), that change in time, from a CSV file.
#ifndef ABUT_CLI_FORCES_H
#define ABUT_CLI_FORCES_H

#include <abut/abut.h>

typedef struct Forces Forces;

// NULL with a message printed when the file is wrong.
Forces* forces_load(const char* path, const abModel* model);
Forces* controls_load(const char* path, const abModel* model);
void forces_free(Forces* forces);
// Sets data->applied of every body (data->ctrl of every actuator) the file names to the row in
// force at data->time.
void forces_apply(Forces* forces, abData* data);

#endif
