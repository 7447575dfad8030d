// The present state as a run of numbers, for a page that draws it: the live page has it from
// WebAssembly, the view of `abut haptic` by a web socket.
//
// Nothing is changed: any number of threads may write frames of a simulation that no thread steps
// meanwhile.
#ifndef ABUT_FRAME_H
#define ABUT_FRAME_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// A hand that holds a body: its force, where it acts, and where it draws to.
typedef struct abFrameHand {
  abVec3 force;   // on the body [N]
  abVec3 grip;    // where it acts, in the world [m]
  abVec3 target;  // where the hand draws it to, likewise
} abFrameHand;

// Little-endian, without gaps:
//   double  time
//   int32   contacts C, corners V, hands H, 0
//   double  pose[bodies][7]      x y z, quaternion w x y z
//   double  hand[H][9]           force, grip, target
//   int32   tag[C][4]            geom1, geom2, mode | kind << 4, corners
//   float   value[C][14]         point, normal, force, free moment, area, depth, largest pressure,
//                                2047 (the replay's unit of corners)
//   float   corner[V][3]         from the contact's point
//   float   pressure[V]          in 255ths of the contact's largest
AB_API size_t ab_frame_bytes(const abModel* model, const abData* data, int nhand);
AB_API void ab_frame_write(const abModel* model, const abData* data, int nhand,
                           const abFrameHand* hand, void* bytes);

#ifdef __cplusplus
}
#endif

#endif
