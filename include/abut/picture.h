// Pictures of a simulation, drawn by the processor: they need no window and no graphics card, and
// are the same on every machine of one architecture.
//
// The simulation is only read: any number of threads may draw it while no thread steps it.
#ifndef ABUT_PICTURE_H
#define ABUT_PICTURE_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where one looks from, and at what; z is up in the picture.
typedef struct abCamera {
  abVec3 eye;         // where the eye is [m]
  abVec3 target;      // what it looks at [m]
  double fovy;        // angle of view from the lower to the upper edge [rad]
  int width, height;  // pixels
} abCamera;

// A view that holds all moving bodies as they stand now.
AB_API abCamera ab_camera_all(const abModel* model, const abData* data, int width, int height);
// Draws into rgb: height * width * 3 bytes, rows from above. Poses are those of data->pose.
AB_API abStatus ab_picture(const abModel* model, const abData* data, const abCamera* view,
                           unsigned char* rgb, abError* error);

#ifdef __cplusplus
}
#endif

#endif
