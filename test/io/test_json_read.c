// The reader of JSON, against jansson's.
#include <string.h>

#include "io/json_read.h"
#include "support/check.h"
#include "support/random.h"

static json_t* read_text(const char* text) {
  const char* why;
  size_t at;
  json_t* j = ab_json_read(text, &why, &at);
  assert_int_equal(j == NULL, why != NULL);
  assert_true(at <= strlen(text));
  return j;
}

static void values_are_those_of_jansson(void** state) {
  (void)state;
  static const char* const good[] = {
      "{}",
      "[]",
      " [ 1 , -2.5e-3 ,\t0,\n-0.0, 12345678901234567, 1e300, 4.9e-324 ] ",
      "{\"a\": {\"b\": [true, false, null]}, \"\": \"\"}",
      "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\u20ac\\ud83d\\ude00\", \"\xc3\xa9\"]",
      "{\"twice\": 1, \"twice\": 2}"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    json_t *ours = read_text(good[i]), *theirs = json_loads(good[i], 0, NULL);
    if (!ours || !theirs || !json_equal(ours, theirs)) fail_msg("%s is read otherwise", good[i]);
    json_decref(ours), json_decref(theirs);
  }
}

static void what_is_no_json_is_refused(void** state) {
  (void)state;
  static const char* const bad[] = {"",
                                    "{",
                                    "[",
                                    "[1",
                                    "[1,]",
                                    "{\"a\"}",
                                    "{1:2}",
                                    "[01]",
                                    "[+1]",
                                    "[.5]",
                                    "[1.]",
                                    "[1e]",
                                    "[-]",
                                    "[nan]",
                                    "[1e999]",
                                    "\"a",
                                    "[\"\\x\"]",
                                    "[\"\\u12\"]",
                                    "[tru]",
                                    "[1] 2",
                                    "{,}",
                                    "[\"\\u0000\"]",
                                    "[\"\\ud800\"]",
                                    "[\"\\udc00\"]",
                                    "[\"\n\"]",
                                    "[\"\xff\"]",
                                    "{\"\xff\":1}",
                                    "[\"\\"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (read_text(bad[i])) fail_msg("'%s' is no JSON, and was read", bad[i]);
}

static void deep_values_are_refused_and_not_a_crash(void** state) {
  (void)state;
  static char text[1 << 20];
  memset(text, '[', sizeof text - 1);
  assert_null(read_text(text));
}

// Bytes changed at random: what both readers take, they take for the same.
static void damaged_text_is_read_alike_or_refused(void** state) {
  (void)state;
  static const char whole[] =
      "{\"bodies\": [{\"name\": \"a \\\"b\\\"\", \"mass\": 1.25e-3, \"pos\": [0, -1, 2.5]}, null], "
      "\"on\": true}";
  Random r = {5};
  int both = 0;
  for (int i = 0; i < 100000; i++) {
    char text[sizeof whole];
    memcpy(text, whole, sizeof whole);
    for (int k = 0; k < 1 + i % 3; k++) {
      char c = (char)(1 + random_below(&r, 127));
      text[random_below(&r, (int)sizeof whole - 1)] = c;
    }
    json_t *ours = read_text(text), *theirs = json_loads(text, 0, NULL);
    both += ours && theirs;
    if (ours && (!theirs || !json_equal(ours, theirs))) fail_msg("%s is read otherwise", text);
    // ours has no number of 400 digits and no value without brackets around it less
    if (theirs && !ours) fail_msg("%s is JSON", text);
    json_decref(ours), json_decref(theirs);
  }
  assert_true(both > 1000);  // else nothing was compared
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_jansson),
      cmocka_unit_test(what_is_no_json_is_refused),
      cmocka_unit_test(deep_values_are_refused_and_not_a_crash),
      cmocka_unit_test(damaged_text_is_read_alike_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
