// Reading files whole. A name may lead anywhere: to a device that never ends, to a pipe nobody
// writes to, to a file larger than memory. So there is a limit, and files that other files name
// must be ordinary ones.
#ifndef ABUT_BASE_INPUT_H
#define ABUT_BASE_INPUT_H

#include <abut/abut.h>

// The whole file, up to ab_input_limit bytes; *bytes is the caller's to free.
abStatus ab_input_read(const char* path, char** bytes, size_t* n, abError* error);
// The same, for a name that stands in another file: refused unless it is that of an ordinary file.
abStatus ab_input_read_ordinary(const char* path, char** bytes, size_t* n, abError* error);
bool ab_input_exists(const char* path);  // as an ordinary file

// The number written in [begin, end), in any locale. False if it is none, or not finite.
bool ab_parse_number(const char* begin, const char* end, double* out);

#endif
