// The small types every part of abut shares: vectors, poses, 6-vectors, status and error.
//
// SI units, world z up. Quaternions are (w, x, y, z), unit, and turn body coordinates into world
// coordinates. A 6-vector is (linear, angular): a twist is (velocity, angular velocity), a wrench
// is (force, torque); every place that uses one says at which point it is taken.
#ifndef ABUT_TYPES_H
#define ABUT_TYPES_H

#include <abut/old_names.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AB_API __attribute__((visibility("default")))
#else
#define AB_API
#endif

// Units are said where a value stands: metres for positions, without one for directions.
typedef struct abVec2 {
  double x, y;
} abVec2;

typedef struct abVec3 {
  double x, y, z;
} abVec3;

typedef struct abQuat {
  double w, x, y, z;
} abQuat;

typedef struct abMat3 {
  double m[3][3];  // m[row][column]
} abMat3;

typedef struct abMat6 {
  double m[6][6];  // m[row][column], rows and columns ordered (linear, angular)
} abMat6;

// Position and orientation of a frame: a point x of the frame lies at q x q* + p in the parent
// frame.
typedef struct abPose {
  abVec3 p;  // [m]
  abQuat q;
} abPose;

typedef struct abTwist {
  abVec3 lin, ang;  // [m/s, rad/s]
} abTwist;

typedef struct abWrench {
  abVec3 force, torque;  // [N, N m]; of an impulse [N s, N m s]
} abWrench;

// The half-space n . x <= d; n is a unit vector and points out of the solid.
typedef struct abPlane {
  abVec3 n;
  double d;  // [m]
} abPlane;

typedef enum abStatus {
  AB_OK = 0,
  AB_ERROR_ARGUMENT,     // a value handed to a function makes no sense
  AB_ERROR_FILE,         // a file cannot be opened, read or written
  AB_ERROR_PARSE,        // a file is malformed
  AB_ERROR_SCENE,        // a scene is well formed but means nothing (zero mass, unknown name, ...)
  AB_ERROR_UNSUPPORTED,  // a scene needs something abut does not do and that would change the
                         // motion
  AB_ERROR_MEMORY,       // an allocation failed
  AB_ERROR_NUMERIC       // a simulation broke down (NaN, overflow)
} abStatus;

// What went wrong, where, and what to do about it. line is 0 where no line applies.
typedef struct abError {
  abStatus code;
  int line;            // from 1
  char file[512];      // "" where none applies
  char message[1024];  // a sentence without a full stop
} abError;

#ifdef __cplusplus
}
#endif

#endif
