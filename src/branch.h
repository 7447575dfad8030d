// What contacts ask of a joint tree, beside <abut/contact.h>; dynamics/response.c.
#ifndef ABUT_BRANCH_H
#define ABUT_BRANCH_H

#include <abut/contact.h>

// The columns of ab_response_jacobian of those velocities that carry the body, a body of a tree:
// at[i], ascending, counted from the mover's first, and J[i]. Returns how many there are.
int ab_response_branch(const abResponse* r, int body, int* at, double (*J)[6]);
// part[i] = the velocity along axis[i] of the point of body a at the lever ra from its centre of
// mass, by a unit impulse along axis[i] on body b of the same tree at the lever rb.
void ab_response_along(const abResponse* r, int a, int b, abVec3 ra, abVec3 rb,
                       const abVec3 axis[3], double part[3]);
// x <- M^-1 x, M that of ab_response_inertia, x the impulses at all velocities of a tree. One call
// per mover at a time.
void ab_response_solve(const abResponse* r, int mover, double* x);

#endif
