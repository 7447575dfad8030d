// A hand's motion as a table: time,x,y,z and, where given, qw,qx,qy,qz.
#ifndef ABUT_HAPTIC_TABLE_H
#define ABUT_HAPTIC_TABLE_H

#include <abut/device.h>

typedef struct abHandTable {
  int n;
  double* row;  // 8 each: time, position, quaternion
} abHandTable;

abStatus ab_hand_table_read(const char* path, abPose start, abHandTable* table, abError* error);
void ab_hand_table_free(abHandTable* table);
// Between its rows the hand moves from rest to rest with the least jerk, as hands do,
// s = 10 t^3 - 15 t^4 + 6 t^5; before the first and after the last it stays.
abHand ab_hand_table_reach(const abHandTable* table, double time);
// A recording: through all rows, with the velocities of their neighbours (cubic pieces).
abHand ab_hand_table_follow(const abHandTable* table, double time);

// Splits "FILE,name=value,..." and looks a number up; false where it is no number. What follows the
// file must be one of `names` (NULL at the end): else an error.
abStatus ab_device_arguments(const char* text, const char* const* names, double* values, char* file,
                             size_t size, abError* error);

#endif
