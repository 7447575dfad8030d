// The elementary functions of the library. Systems round sin, cos, tan, atan2 and hypot differently
// in the last bit, and a simulation in the browser would part from the same one elsewhere. These
// are made of operations that IEEE 754 rounds alike everywhere, so equal arguments give equal bits
// on every machine. Their error is below 2 units in the last place, that of an angle up to 1e8.
//
// The build includes this header in every file of the library (CMakeLists.txt): whoever writes
// sin(x) there gets ab_sin(x). It includes nothing, since it comes before what a file may want to
// say to the system's headers.
#ifndef ABUT_MATH_ELEMENTARY_H
#define ABUT_MATH_ELEMENTARY_H

double ab_sin(double x);
double ab_cos(double x);
void ab_sincos(double x, double* sine, double* cosine);
double ab_tan(double x);
double ab_atan2(double y, double x);
double ab_hypot(double x, double y);

#define sin(x) ab_sin(x)
#define cos(x) ab_cos(x)
#define tan(x) ab_tan(x)
#define atan2(a, b) ab_atan2(a, b)
#define hypot(a, b) ab_hypot(a, b)

#endif
