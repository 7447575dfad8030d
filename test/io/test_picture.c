// Drawings are closed and face outwards; pages and glTF files have the parts a reader looks for.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake.h"
#include "io/draw.h"
#include "support/check.h"

static void draw(abShapeType type, abVec3 size, abDrawing* d) {
  Fake f;
  fake_init(&f);
  f.geom[1].shape = (abShape){.type = type, .size = size};
  ab_draw_geom(&f.model, 1, d);
}

static abVec3 corner(const abDrawing* d, size_t k) {
  uint32_t i;
  float v[3];
  memcpy(&i, d->index.byte + 4 * k, 4);
  memcpy(v, d->vert.byte + 12 * (size_t)i, 12);
  return v3((double)v[0], (double)v[1], (double)v[2]);
}

// The volume a closed, outward-facing surface encloses.
static double volume_of(const abDrawing* d) {
  double sum = 0;
  for (size_t t = 0; t < d->index.n / 12; t++) {
    abVec3 a = corner(d, 3 * t), b = corner(d, 3 * t + 1), c = corner(d, 3 * t + 2);
    sum += v3_dot(a, v3_cross(b, c)) / 6;
  }
  return sum;
}

static void drawings_enclose_their_shapes(void** state) {
  (void)state;
  const double pi = 3.14159265358979;
  const struct {
    abShapeType type;
    abVec3 size;
    double volume, error;
  } shape[] = {
      // flat shapes: single precision; round ones: 32 segments around, 16 along
      {AB_SHAPE_BOX, {0.5, 1, 2}, 8, 1e-6},
      {AB_SHAPE_CYLINDER, {0.5, 2, 0}, pi, 0.01},
      {AB_SHAPE_SPHERE, {0.5, 0, 0}, pi / 6, 0.02},
      {AB_SHAPE_CAPSULE, {0.5, 1, 0}, pi / 6 + pi / 2, 0.02},
      {AB_SHAPE_ELLIPSOID, {0.5, 1, 2}, 4 * pi / 3, 0.02},
  };
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
    abDrawing d = {0};
    draw(shape[i].type, shape[i].size, &d);
    check_near(volume_of(&d), shape[i].volume, shape[i].error * shape[i].volume);
    ab_drawing_free(&d);
  }
}

static void normals_point_out(void** state) {
  (void)state;
  for (int type = AB_SHAPE_BOX; type <= AB_SHAPE_ELLIPSOID; type++) {
    abDrawing d = {0};
    draw((abShapeType)type, v3(0.5, 0.7, 0.9), &d);
    for (int i = 0; i < ab_drawing_nvert(&d); i++) {
      float v[3], n[3];
      memcpy(v, d.vert.byte + 12 * i, 12);
      memcpy(n, d.normal.byte + 12 * i, 12);
      double dot = 0, size = 0;
      for (int k = 0; k < 3; k++) dot += (double)(v[k] * n[k]), size += (double)(n[k] * n[k]);
      check_near(size, 1, 1e-5);
      assert_true(dot > 0);  // convex about the origin
    }
    ab_drawing_free(&d);
  }
}

static void bodies_without_colour_get_different_ones(void** state) {
  (void)state;
  Fake f;
  float a[4], b[4], given[4];
  fake_init(&f);
  ab_draw_color(&f.model, 1, a);
  ab_draw_color(&f.model, 2, b);
  assert_memory_not_equal(a, b, sizeof a);
  f.geom[1].rgba[0] = 0.125f;
  ab_draw_color(&f.model, 1, given);
  assert_memory_equal(given, f.geom[1].rgba, sizeof given);
}

static char* record_file(const char* name, int n, size_t* size) {
  Fake f;
  abError error = {0};
  fake_init(&f);
  f.body[1].name = "</script><b>";
  abRecorder* r = ab_record_open(name, &f.model, &error);
  if (!r) fail_msg("%s", error.message);
  for (int i = 0; i < n; i++) {
    fake_state(&f, i);
    assert_int_equal(ab_record_sample(r, &f.model, &f.data, &error), AB_OK);
    if (i == n / 2) assert_int_equal(ab_record_flush(r, &error), AB_OK);
  }
  if (ab_record_close(r, &error) != AB_OK) fail_msg("%s", error.message);
  FILE* file = fopen(name, "rb");
  assert_non_null(file);
  char* bytes = calloc(1, 1 << 20);
  *size = fread(bytes, 1, (1 << 20) - 1, file);
  fclose(file);
  remove(name);
  return bytes;
}

static int count(const char* text, const char* what) {
  int n = 0;
  for (const char* p = text; (p = strstr(p, what)); p++) n++;
  return n;
}

static void pages_hold_model_and_chunks(void** state) {
  (void)state;
  // a template of one line stands in for the player
  char folder[] = "/tmp/abut-test-page-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/replay.html", folder);
  FILE* file = fopen(path, "w");
  fputs("<!doctype html><title>player</title>\n", file);
  fclose(file);
  setenv("ABUT_DATA_DIR", folder, 1);
  char out[64];
  snprintf(out, sizeof out, "%s/out.html", folder);
  size_t size;
  char* page = record_file(out, 10, &size);
  assert_memory_equal(page, "<!doctype html>", 15);
  assert_int_equal(count(page, "id=\"abut-model\""), 1);
  assert_int_equal(count(page, "abut-chunk"), 2);
  // three data elements end; the body's name ends none
  assert_int_equal(count(page, "</script>"), 3);
  free(page);
  remove(path);
  rmdir(folder);
}

static void pages_without_template_are_refused(void** state) {
  (void)state;
  // unless the build has made one, which is then found
  Fake f;
  abError error = {0};
  fake_init(&f);
  setenv("ABUT_DATA_DIR", "/nowhere", 1);
  abRecorder* r = ab_record_open("/tmp/abut-test-never.html", &f.model, &error);
  if (r) {
    assert_int_equal(ab_record_close(r, &error), AB_OK);
    remove("/tmp/abut-test-never.html");
  } else {
    assert_non_null(strstr(error.message, "'make live'"));
  }
}

static void gltf_lengths_add_up(void** state) {
  (void)state;
  size_t size;
  char* glb = record_file("/tmp/abut-test-picture.glb", 10, &size);
  uint32_t head[5], bin[2];
  memcpy(head, glb, sizeof head);
  assert_memory_equal(glb, "glTF", 4);
  assert_int_equal(head[1], 2);
  assert_int_equal(head[2], size);
  assert_int_equal(head[3] % 4, 0);
  assert_memory_equal(glb + 16, "JSON", 4);
  memcpy(bin, glb + 20 + head[3], sizeof bin);
  assert_int_equal(28 + head[3] + bin[0], size);
  free(glb);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drawings_enclose_their_shapes),
      cmocka_unit_test(normals_point_out),
      cmocka_unit_test(bodies_without_colour_get_different_ones),
      cmocka_unit_test(pages_hold_model_and_chunks),
      cmocka_unit_test(pages_without_template_are_refused),
      cmocka_unit_test(gltf_lengths_add_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
