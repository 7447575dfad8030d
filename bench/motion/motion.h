// Scenes in motion, step by step: what motion.py (by ctypes) asks of abut, Bullet, ODE and, handed
// over as functions and addresses, the MuJoCo of its own process. One loop and one clock for all.
#ifndef ABUT_BENCH_MOTION_H
#define ABUT_BENCH_MOTION_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Motion Motion;

enum { MOTION_TEXT = 512 };  // bytes of a message

typedef struct MotionStep {
  double seconds;  // of this thread's processor time
  double kinetic;  // energy after the step [J]
  double status;   // 0 solved, 1 unconverged, 2 broken, NAN where the engine does not tell
} MotionStep;

typedef struct MotionScene {
  double h;       // the step [s]
  double bodies;  // that move
  double unit;    // m g r over the moving bodies, r the radius of gyration [J]
} MotionScene;

// What MuJoCo hands over. A step is unconverged when one of its iteration counts is at the limit.
typedef struct MotionForeign {
  void (*step)(const void* model, void* data);
  void (*measure)(const void* model, void* data);  // makes *kinetic that of the present state
  const void* model;
  void* data;
  const double* kinetic;
  const int* iterations;
  int niterations, limit;
} MotionForeign;

// 0, or 1 with what is wrong in `why`.
int motion_about(const char* file, MotionScene* scene, char why[MOTION_TEXT]);
// A heap of n boxes before it falls, as a scene file.
int motion_write_heap(int n, double h, const char* file, char why[MOTION_TEXT]);

// ENGINE: abut, or a name of bench/peers ("bullet/default"). KEY: "" for the scene's initial state.
// NULL: the engine is not there or cannot represent the scene; `why` tells.
Motion* motion_open(const char* engine, const char* file, const char* key, char why[MOTION_TEXT]);
Motion* motion_adopt(const MotionForeign* foreign);
void motion_close(Motion* motion);
// Back to the start; a foreign engine is reset by its owner.
void motion_reset(Motion* motion);
// Up to n steps; returns how many: the last one may be broken.
int motion_run(Motion* motion, int n, MotionStep* out);

#ifdef __cplusplus
}
#endif

#endif
