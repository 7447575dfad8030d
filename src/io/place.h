// Where the library lies, and so what was built or installed with it: no path of the machine it was
// built on is in the binary, and the tree can be moved.
#ifndef ABUT_IO_PLACE_H
#define ABUT_IO_PLACE_H

#include <stdbool.h>
#include <stddef.h>

// The folder of the shared library, or of the program that holds the static one, without a slash at
// its end; false where the system does not tell.
bool ab_own_folder(char* path, size_t size);

#endif
