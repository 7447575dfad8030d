// The pile of this folder's programs: n boxes of 0.2 x 0.1 x 0.05 m in loose layers at random
// orientations above a floor, and how to look at it.
#ifndef ABUT_BENCH_PILE_SCENE_H
#define ABUT_BENCH_PILE_SCENE_H

#include <abut/abut.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Pile {
  int n;
  abModel* model;
  abData* data;
  double height;  // of the highest box's centre before the fall
} Pile;

// The boxes before the fall, at the step h, `spacing` apart in a layer but for 0.02 m of chance
// each: above 0.27 m none overlaps another. Ends the program if it cannot be made.
abScene* pile_scene(int n, double h, double spacing, unsigned long long seed);
// Those of this folder, 0.22 m apart, as a simulation with the model `patch`.
Pile pile_create(int n, double h, unsigned long long seed);
void pile_free(Pile* pile);
// NAME=VALUE, a parameter of the contact model. Ends the program if there is none of that name.
void pile_set(Pile* pile, const char* assignment);
void pile_threads(Pile* pile, int nthread);

double pile_clock(void);  // processor time of this process [s]
double pile_weight(const Pile* pile);
double pile_floor_force(const Pile* pile);   // upwards
double pile_speed(const Pile* pile, int i);  // of the centre of box i
double pile_spin(const Pile* pile, int i);
double pile_energy(const Pile* pile);  // above that of boxes whose centres lie on the floor
// The thinnest side of a box, and the radius of the ball around it.
double pile_thinnest(void);
double pile_radius(void);
// The deepest overlap of the poses as they are, from the corners of the boxes alone: it does not
// depend on what the simulation believes to touch.
double pile_overlap(const Pile* pile);

#ifdef __cplusplus
}
#endif

#endif
