// Assertions: on in Debug builds, and wherever AB_CHECKED is defined; nothing otherwise.
//
//   AB_ASSERT(n > 0);            a programming error if it does not hold
//   AB_VALIDATE(check(data));    a whole check, which asserts on its own
#ifndef ABUT_BASE_ASSERT_H
#define ABUT_BASE_ASSERT_H

#if !defined(NDEBUG) && !defined(AB_CHECKED)
#define AB_CHECKED
#endif

// Prints and aborts.
_Noreturn void ab_assert_failed(const char* what, const char* file, int line);

#ifdef AB_CHECKED
#define AB_ASSERT(condition) \
  ((condition) ? (void)0 : ab_assert_failed(#condition, __FILE__, __LINE__))
#define AB_VALIDATE(check) (check)
#else
#define AB_ASSERT(condition) ((void)0)
#define AB_VALIDATE(check) ((void)0)
#endif

#endif
