// Bad scenes are refused with the right status, the file, the line, and words that help. Each file
// of scenes/bad says in its first line what is expected of it:
//   <!-- STATUS LINE: words that the message holds -->
// What is too large for a file (nesting a million deep, long chains of classes) is made here.
#include "support/check.h"

#include <abut/scene.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scene/mjcf/mjcf.h"

static const char* const status_name[] = {"OK",    "ARGUMENT",    "FILE",   "PARSE",
                                          "SCENE", "UNSUPPORTED", "MEMORY", "NUMERIC"};

typedef struct Expected {
  char status[32], words[200];
  int line;
} Expected;

static Expected read_expected(const char* path) {
  Expected x = {"", "", -1};
  char text[400] = "";
  FILE* f = fopen(path, "r");
  assert_non_null(f);
  assert_non_null(fgets(text, sizeof text, f));
  fclose(f);
  if (sscanf(text, "<!-- %31s %d:", x.status, &x.line) != 2)
    fail_msg("%s: the first line must say what is expected", path);
  const char* words = strchr(text, ':') + 1;
  const char* end = strstr(words, " -->");
  assert_non_null(end);
  if (end > words) snprintf(x.words, sizeof x.words, "%.*s", (int)(end - words - 1), words + 1);
  return x;
}

static bool refuses(const char* path) {
  Expected x = read_expected(path);
  abError error = {0};
  abNotes notes;
  abModel* model = ab_load(path, &notes, &error);
  if (model) {
    ab_model_free(model);
    ab_notes_free(&notes);
    print_error("%s: was loaded; expected %s\n", path, x.status);
    return false;
  }
  ab_notes_free(&notes);
  bool ok = !strcmp(status_name[error.code], x.status) && error.line == x.line && error.file[0] &&
            strstr(error.message, x.words) && strlen(error.message) > 10;
  if (!ok)
    print_error("%s\n  expected %s, line %d, '%s'\n  got      %s, %s:%d: %s\n", path, x.status,
                x.line, x.words, status_name[error.code], error.file, error.line, error.message);
  return ok;
}

static void every_bad_scene_is_refused_with_its_reason_and_place(void** state) {
  (void)state;
  const char* folder = ABUT_SOURCE_DIR "/scenes/bad";
  DIR* d = opendir(folder);
  assert_non_null(d);
  int n = 0, wrong = 0;
  for (struct dirent* e; (e = readdir(d));) {
    const char* dot = strrchr(e->d_name, '.');
    if (!dot || (strcmp(dot, ".xml") && strcmp(dot, ".urdf"))) continue;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    wrong += !refuses(path);
    n++;
  }
  closedir(d);
  assert_true(n >= 100);
  assert_int_equal(wrong, 0);
}

// --- scenes made in memory
// -------------------------------------------------------------------------

typedef struct Text {
  char* bytes;
  size_t n, room;
} Text;

static void add(Text* t, const char* s) {
  size_t n = strlen(s);
  while (t->n + n > t->room) {
    t->room = t->room ? 2 * t->room : 1024;
    t->bytes = realloc(t->bytes, t->room);
    assert_non_null(t->bytes);
  }
  memcpy(t->bytes + t->n, s, n);
  t->n += n;
}

static void repeat(Text* t, const char* s, int times) {
  for (int i = 0; i < times; i++) add(t, s);
}

static abStatus load_status(Text* t, abError* error) {
  *error = (abError){0};
  abScene* scene = ab_scene_load_memory("text", t->bytes, t->n, NULL, error);
  abModel* model = scene ? ab_scene_compile(scene, error) : NULL;
  ab_scene_free(scene);
  ab_model_free(model);
  free(t->bytes);
  *t = (Text){0};
  return model ? AB_OK : error->code;
}

static void nesting_a_million_deep_is_an_error(void** state) {
  (void)state;
  abError error;
  Text t = {0};
  add(&t, "<mujoco><worldbody>");
  repeat(&t, "\n<body>", 1000000);
  repeat(&t, "</body>", 1000000);
  add(&t, "</worldbody></mujoco>");
  assert_int_equal(load_status(&t, &error), AB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "nested"));
  assert_int_equal(error.line, AB_XML_DEPTH);  // two elements on the first line, one per line after
}

static void nesting_as_deep_as_allowed_loads(void** state) {
  (void)state;
  abError error;
  const char* level[] = {"<body>", "<frame>", "<replicate count=\"1\">"};
  const char* close[] = {"</body>", "</frame>", "</replicate>"};
  for (int k = 0; k < 3; k++) {
    Text t = {0};
    int depth = AB_XML_DEPTH - 3;
    add(&t, "<mujoco><worldbody>");
    repeat(&t, level[k], depth);
    add(&t, "<geom size=\"1\"/>");
    repeat(&t, close[k], depth);
    add(&t, "</worldbody></mujoco>");
    if (load_status(&t, &error)) fail_msg("%s: %s", level[k], error.message);
  }
}

static void deep_default_classes_load(void** state) {
  (void)state;
  abError error;
  Text t = {0};
  char text[100];
  add(&t, "<mujoco>");
  for (int i = 0; i < 1000; i++) {
    snprintf(text, sizeof text, "<default class=\"c%d\"><geom size=\"%d\"/>", i, i + 1);
    add(&t, text);
  }
  repeat(&t, "</default>", 1000);
  add(&t, "<worldbody><geom class=\"c999\"/></worldbody></mujoco>");
  if (load_status(&t, &error)) fail_msg("%s", error.message);
}

static void replicas_of_replicas_do_not_fill_the_memory(void** state) {
  (void)state;
  abError error;
  Text t = {0};
  add(&t, "<mujoco><worldbody>");
  repeat(&t, "<replicate count=\"1000\">", 20);
  add(&t, "<geom size=\"1\"/>");
  repeat(&t, "</replicate>", 20);
  add(&t, "</worldbody></mujoco>");
  assert_int_equal(load_status(&t, &error), AB_ERROR_SCENE);
  assert_non_null(strstr(error.message, "replicas"));
}

static void nested_urdf_tags_a_million_deep_are_an_error(void** state) {
  (void)state;
  abError error;
  Text t = {0};
  add(&t, "<robot name=\"r\">");
  repeat(&t, "<gazebo>", 1000000);
  repeat(&t, "</gazebo>", 1000000);
  add(&t, "</robot>");
  assert_int_equal(load_status(&t, &error), AB_ERROR_PARSE);
}

static void files_that_are_not_there_or_folders_are_file_errors(void** state) {
  (void)state;
  abError error = {0};
  assert_null(ab_load(ABUT_SOURCE_DIR "/scenes/bad/nowhere.xml", NULL, &error));
  assert_int_equal(error.code, AB_ERROR_FILE);
  assert_string_equal(error.file, ABUT_SOURCE_DIR "/scenes/bad/nowhere.xml");
  assert_null(ab_load(ABUT_SOURCE_DIR "/scenes", NULL, &error));
  assert_int_equal(error.code, AB_ERROR_FILE);
  assert_null(ab_load("", NULL, NULL));
}

static void an_empty_file_is_a_parse_error(void** state) {
  (void)state;
  abError error;
  Text t = {0};
  t.bytes = calloc(1, 1);
  assert_int_equal(load_status(&t, &error), AB_ERROR_PARSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_bad_scene_is_refused_with_its_reason_and_place),
      cmocka_unit_test(nesting_a_million_deep_is_an_error),
      cmocka_unit_test(nesting_as_deep_as_allowed_loads),
      cmocka_unit_test(deep_default_classes_load),
      cmocka_unit_test(replicas_of_replicas_do_not_fill_the_memory),
      cmocka_unit_test(nested_urdf_tags_a_million_deep_are_an_error),
      cmocka_unit_test(files_that_are_not_there_or_folders_are_file_errors),
      cmocka_unit_test(an_empty_file_is_a_parse_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
