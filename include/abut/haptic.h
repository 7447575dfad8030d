// Pointers: bodies that hands move through devices, and that let the hands feel what they touch.
//
//   abPointer* p = ab_pointer_open(model, data, &def, &error);
//   each step: clear data->applied; ab_pointer_drive(p, model, data, time); ab_step(model, data);
//
// A pointer lives until ab_pointer_close, its type of device at least as long. It is used by the
// thread that steps the simulation.
#ifndef ABUT_HAPTIC_H
#define ABUT_HAPTIC_H

#include <abut/data.h>
#include <abut/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abPointerDef {
  int body;                  // the body that the hand moves
  const abDeviceType* type;  // of the device
  const char* arguments;     // of the device, as abDeviceType.arguments says; NULL: none
  double stiffness;          // of the coupling [N / m]; 0: 2000, or what is stable
  double damping;            // [N s / m]; 0: critical for the pointer's mass
  double stiffness_r;        // [N m / rad]; 0: in proportion to the pointer's inertia
  double limit;              // largest force [N]; 0: 20
  double slew;               // largest change of the force on the hand [N / ms]; 0: 5
  bool raw;  // no bound on the gains, no limits, no passivity controller: to measure
} abPointerDef;

// What has happened so far.
typedef struct abPointerStat {
  double stiffness;     // of the coupling, as used [N / m]
  double damping;       // likewise [N s / m]
  double stiffness_r;   // likewise [N m / rad]
  double damping_r;     // likewise [N m s / rad]
  bool reduced;         // less stiff than requested: more would not be stable
  double energy_drawn;  // the most the hand has ever got out of the loop [J]
  double energy_given;  // what it has put in by now [J]
  double force;         // largest on the hand [N]
  double jump;          // largest change of it within a millisecond [N]
  double held_back;     // energy that the passivity controller took [J]
  int nfreeze;          // how often the pointer was frozen
  bool frozen;          // it is now
  const char* trouble;  // why, static text, or NULL
  abHand hand;          // as used: without gaps, jumps and junk
  abWrench felt;        // on the hand [N, N m]
  abWrench applied;     // on the pointer, at its frame's origin [N, N m]
} abPointerStat;

typedef struct abPointer abPointer;

// NULL with the error filled in where the body cannot move or the device does not open. The strings
// of the definition are not needed afterwards.
AB_API abPointer* ab_pointer_open(const abModel* model, const abData* data, const abPointerDef* def,
                                  abError* error);
// Reads the device, adds the coupling's wrench to data->applied, and gives the device its force.
AB_API void ab_pointer_drive(abPointer* pointer, const abModel* model, abData* data, double time);
// Valid until ab_pointer_close.
AB_API const abPointerStat* ab_pointer_stat(const abPointer* pointer);
// Closes the device and frees the pointer. NULL is fine.
AB_API void ab_pointer_close(abPointer* pointer);

#ifdef __cplusplus
}
#endif

#endif
