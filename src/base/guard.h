// Under AddressSanitizer what was not taken from an arena, or was given back, must not be touched,
// and between two things that were taken lies a gap: a thing written beyond its end would only
// change its neighbour, which nobody notices. In other builds this is nothing.
#ifndef ABUT_BASE_GUARD_H
#define ABUT_BASE_GUARD_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AB_GUARDED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define AB_GUARDED
#endif

#ifdef AB_GUARDED
#include <sanitizer/asan_interface.h>
enum { AB_GUARD_GAP = 8 };
static inline void ab_guard_open(void* at, size_t bytes) {
  if (bytes > 0) ASAN_UNPOISON_MEMORY_REGION(at, bytes);
}
static inline void ab_guard_close(void* at, size_t bytes) {
  if (bytes > 0) ASAN_POISON_MEMORY_REGION(at, bytes);
}
#else
enum { AB_GUARD_GAP = 0 };
static inline void ab_guard_open(void* at, size_t bytes) { (void)at, (void)bytes; }
static inline void ab_guard_close(void* at, size_t bytes) { (void)at, (void)bytes; }
#endif

#endif
