// `abut overlap`: what it prints for good cases and bad ones.
#define _DEFAULT_SOURCE  // mkstemp, popen
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static const char cube[] = "[[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,1,1],[1,1,1]]";
static const char tetra[] = "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]";

// Runs the program on one case (the fields of its object) followed by a good one, and returns the
// first line; the second must be right whatever the first was.
static json_t* run(const char* fields) {
  char path[] = "/tmp/abut_overlap_XXXXXX", command[1024], line[4096], text[4096];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  FILE* file = fdopen(fd, "w");
  fprintf(file, "{\"cases\":[{%s},{\"id\":\"next\",\"VA\":%s,\"VB\":%s}]}", fields, cube, tetra);
  fclose(file);
  snprintf(command, sizeof command, "%s/abut overlap %s", ABUT_BINARY_DIR, path);
  FILE* pipe = popen(command, "r");
  assert_non_null(pipe);
  assert_non_null(fgets(line, sizeof line, pipe));
  assert_non_null(fgets(text, sizeof text, pipe));
  assert_int_equal(pclose(pipe), 0);
  remove(path);
  json_t* next = json_loads(text, 0, NULL);
  check_near(json_number_value(json_object_get(next, "V")), 1.0 / 6, 1e-15);
  json_decref(next);
  json_t* result = json_loads(line, 0, NULL);
  assert_non_null(result);
  return result;
}

static double number(const json_t* j, const char* name) {
  const json_t* x = json_object_get(j, name);
  if (!json_is_number(x)) fprintf(stderr, "no number %s\n", name);
  assert_true(json_is_number(x));
  return json_number_value(x);
}

static void overlapping_cubes_are_measured(void** state) {
  (void)state;
  char fields[2048];
  snprintf(
      fields, sizeof fields,
      "\"id\":\"a\",\"VA\":%s,\"VB\":[[0,0,0.75],[1,0,0.75],[0,1,0.75],[1,1,0.75],[0,0,2],[1,0,"
      "2],[0,1,2],[1,1,2]]",
      cube);
  json_t* j = run(fields);
  assert_string_equal(json_string_value(json_object_get(j, "id")), "a");
  assert_true(json_is_true(json_object_get(j, "contact")));
  check_near(number(j, "V"), 0.25, 1e-15);
  check_near(number(j, "area_A"), 1, 1e-15);
  check_near(number(j, "area_B"), 1, 1e-15);
  check_near(number(j, "area_AB"), 1, 1e-15);
  // A lies below B, so from B to A is down
  check_near(json_number_value(json_array_get(json_object_get(j, "normal"), 2)), -1, 1e-15);
  check_near(json_number_value(json_array_get(json_object_get(j, "centroid"), 2)), 0.875, 1e-15);
  json_decref(j);
}

static void touching_cubes_have_no_contact(void** state) {
  (void)state;
  char fields[2048];
  snprintf(fields, sizeof fields,
           "\"VA\":%s,\"VB\":[[1,0,0],[2,0,0],[1,1,0],[2,1,0],[1,0,1],[2,0,1],[1,1,1],[2,1,1]]",
           cube);
  json_t* j = run(fields);
  assert_true(json_is_false(json_object_get(j, "contact")));
  check_near(number(j, "V"), 0, 0);
  json_decref(j);
}

static void faces_in_triangles_are_as_good_as_squares(void** state) {
  (void)state;
  char fields[2048];
  snprintf(fields, sizeof fields,
           "\"VA\":%s,\"FA\":[[0,2,3],[0,3,1],[4,5,7],[4,7,6],[0,1,5],[0,5,4],[2,6,7],[2,7,3],[0,4,"
           "6],[0,6,2],[1,3,7],[1,7,5]],\"VB\":%s",
           cube, cube);
  json_t* j = run(fields);
  check_near(number(j, "V"), 1, 1e-15);
  check_near(number(j, "area_AB"), 6, 1e-15);
  json_decref(j);
}

// Each is reported on its line, and names what is wrong.
static void bad_cases_are_named(void** state) {
  (void)state;
  static const struct {
    const char *fields, *word;
  } bad[] = {
      {"\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]", "VA"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[0,0,NaN]],\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "VA[3]"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[0,0,-Infinity]],\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "VA[3]"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[1,1,0]],\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "plane"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0]],\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]", "at least 4"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\"FA\":[[0,2,1],[0,1,9],[0,3,2],[1,2,3]],"
       "\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "FA[1][2]"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.1,0.1,0.1]],"
       "\"FA\":[[0,2,1],[0,1,3],[0,3,2],[1,2,4],[2,3,4],[3,1,4]],"
       "\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "convex"},
      {"\"VA\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],\"FA\":[[0,1,2],[0,3,1],[0,2,3],[1,3,2]],"
       "\"VB\":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]",
       "counter-clockwise"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    json_t* j = run(bad[i].fields);
    const char* error = json_string_value(json_object_get(j, "error"));
    if (!error || !strstr(error, bad[i].word))
      fprintf(stderr, "case %zu: error \"%s\" does not mention \"%s\"\n", i, error ? error : "none",
              bad[i].word);
    assert_true(error && strstr(error, bad[i].word));
    json_decref(j);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlapping_cubes_are_measured),
      cmocka_unit_test(touching_cubes_have_no_contact),
      cmocka_unit_test(faces_in_triangles_are_as_good_as_squares),
      cmocka_unit_test(bad_cases_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
