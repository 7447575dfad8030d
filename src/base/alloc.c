// Tests: test_allocations, test_many.
#include "base/alloc.h"

#include <abut/abut.h>
#include <stdlib.h>
#include <string.h>

static abAllocator allocator = {malloc, realloc, free};

void ab_set_allocator(abAllocator a) {
  bool whole = a.alloc && a.realloc && a.free;
  allocator = whole ? a : (abAllocator){malloc, realloc, free};
}

void* ab_alloc(size_t bytes) { return allocator.alloc(bytes ? bytes : 1); }

void* ab_alloc_zero(size_t bytes) {
  void* p = ab_alloc(bytes);
  if (p) memset(p, 0, bytes);
  return p;
}

void* ab_realloc(void* p, size_t bytes) { return allocator.realloc(p, bytes ? bytes : 1); }

void ab_free(void* p) {
  if (p) allocator.free(p);
}

char* ab_strdup(const char* s) {
  size_t n = strlen(s) + 1;
  char* copy = ab_alloc(n);
  if (copy) memcpy(copy, s, n);
  return copy;
}
