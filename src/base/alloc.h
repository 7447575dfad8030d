// The only place of the library that calls malloc: hooks so that a host can supply its own
// allocator, and a test can count.
#ifndef ABUT_BASE_ALLOC_H
#define ABUT_BASE_ALLOC_H

#include <abut/types.h>

void* ab_alloc(size_t bytes);       // not cleared; NULL when there is no memory
void* ab_alloc_zero(size_t bytes);  // cleared
void* ab_realloc(void* p, size_t bytes);
void ab_free(void* p);
char* ab_strdup(const char* s);

#endif
