// What a contact model may use beside its problem.
// Tests: test_settings.
#include <abut/contact.h>

#include "base/arena.h"

void* ab_problem_scratch(const abContactProblem* problem, size_t bytes) {
  return problem && problem->scratch ? ab_arena_take(problem->scratch, bytes) : NULL;
}
