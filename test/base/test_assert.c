// A failed assertion says what failed and where, and ends the program.
#include "base/assert.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

// Runs in a child, with its errors into a pipe; returns how the child ended.
static int fails(char* text, size_t size) {
  int end[2];
  assert_int_equal(pipe(end), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(end[1], STDERR_FILENO);
    ab_assert_failed("n > 0", "where.c", 12);
  }
  close(end[1]);
  size_t n = 0;
  for (ssize_t got; n + 1 < size && (got = read(end[0], text + n, size - n - 1)) > 0;)
    n += (size_t)got;
  text[n] = 0;
  close(end[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static void a_failed_assertion_is_named_and_ends_the_program(void** state) {
  (void)state;
  char text[512];
  int status = fails(text, sizeof text);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_non_null(strstr(text, "n > 0"));
  assert_non_null(strstr(text, "where.c:12"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_assertion_is_named_and_ends_the_program),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
