// Mesh files: OBJ, ASCII and binary STL, and junk.
#include "scene/mesh/file.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "geometry/polyhedron.h"
#include "math/vec.h"
#include "support/check.h"
#include "support/random.h"

static abStatus read_text(const char* name, const char* text, abMeshData* out, abError* error) {
  return ab_mesh_read_memory(name, text, strlen(text), out, error);
}

static void expect_refused(const char* name, const char* text, int line, const char* word) {
  abMeshData m;
  abError error = {0};
  abStatus status = read_text(name, text, &m, &error);
  assert_int_equal(status, AB_ERROR_PARSE);
  assert_null(m.vert);
  assert_string_equal(error.file, name);
  assert_int_equal(error.line, line);
  if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
}

static void obj_quads_are_cut_along_the_shorter_diagonal(void** state) {
  (void)state;
  abMeshData m;
  assert_int_equal(
      read_text("a.obj",
                "# a square pyramid\r\nmtllib x.mtl\no pyramid\nv 0 0 0\nv 1 0 0 1 0.5 "
                "0.5\nv 1 1 0\n\tv 0 1 0\nvn 0 0 1\nv .5 5e-1 +1.0\n"
                "f 4/1/1 3//1 2/2 1\nf 1 2 -1 # comment\nf 2 3 5\nf 3 4 5\nf 4 1 5",
                &m, NULL),
      AB_OK);
  assert_int_equal(m.nvert, 5);
  assert_int_equal(m.ntriangle, 6);
  check_vec_near(m.vert[4], v3(0.5, 0.5, 1), 0);
  const int expected[6][3] = {{3, 2, 0}, {2, 1, 0}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  assert_memory_equal(m.triangle, expected, sizeof expected);
  assert_int_equal(m.nmass, 0);
  ab_mesh_data_free(&m);
  assert_int_equal(
      read_text("a.obj", "v 0 0 0\nv 1 -1 0\nv 1.2 0 0\nv 1 1 0\nf 1 2 3 4\nf 2 3 4 1", &m, NULL),
      AB_OK);
  const int kite[4][3] = {{0, 1, 2}, {0, 2, 3}, {1, 2, 0}, {2, 3, 0}};
  assert_int_equal(m.ntriangle, 4);
  assert_memory_equal(m.triangle, kite, sizeof kite);
  ab_mesh_data_free(&m);
}

static void obj_polygons_become_fans(void** state) {
  (void)state;
  abMeshData m;
  assert_int_equal(
      read_text("a.obj", "v 0 0 0\nv 2 0 0\nv 3 1 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5", &m, NULL),
      AB_OK);
  const int expected[3][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}};
  assert_int_equal(m.ntriangle, 3);
  assert_memory_equal(m.triangle, expected, sizeof expected);
  ab_mesh_data_free(&m);
}

// An object begins with `o` or `g`; those without faces do not count.
static void the_first_object_of_an_obj_file_is_known(void** state) {
  (void)state;
  abMeshData m;
  const char* text =
      "o none\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng first\nf 1 3 2\nf 1 2 4\n"
      "o second\nf 1 4 3\ng third\nf 2 3 4\n";
  assert_int_equal(read_text("a.obj", text, &m, NULL), AB_OK);
  assert_int_equal(m.ntriangle, 4);
  assert_int_equal(m.nmass, 2);
  ab_mesh_data_free(&m);
}

// --- MSH ---

typedef struct Msh {
  uint32_t head[4];  // vertices, normals, texture coordinates, triangles
  float vert[4][3], normal[1][3], texture[2][2];
  uint32_t triangle[4][3];
} Msh;

static Msh tetrahedron(void) {
  return (Msh){{4, 1, 2, 4},
               {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0.5f}},
               {{0, 0, 1}},
               {{0, 0}, {1, 1}},
               {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
}

static void an_msh_file_gives_its_vertices_and_triangles(void** state) {
  (void)state;
  Msh file = tetrahedron();
  abMeshData m;
  assert_int_equal(ab_mesh_read_memory("a.MSH", &file, sizeof file, &m, NULL), AB_OK);
  assert_int_equal(m.nvert, 4);
  assert_int_equal(m.ntriangle, 4);
  check_vec_near(m.vert[3], v3(0, 0, 0.5), 0);
  assert_memory_equal(m.triangle, file.triangle, sizeof file.triangle);
  ab_mesh_data_free(&m);
}

static void damaged_msh_files_are_refused(void** state) {
  (void)state;
  static const char* const word[] = {"shorter than its header", "length", "length",
                                     "not a finite number", "a vertex that is not there"};
  for (int i = 0; i < 5; i++) {
    Msh file = tetrahedron();
    size_t n = i == 0 ? 12 : i == 1 ? sizeof file - 4 : sizeof file;
    if (i == 2) file.head[0] = 0xffffffffu;
    if (i == 3) file.vert[1][1] = NAN;
    if (i == 4) file.triangle[3][2] = 4;
    abMeshData m;
    abError error = {0};
    assert_int_equal(ab_mesh_read_memory("a.msh", &file, n, &m, &error), AB_ERROR_PARSE);
    assert_null(m.vert);
    if (!strstr(error.message, word[i])) fail_msg("%s: not '%s'", error.message, word[i]);
  }
}

static void bad_obj_lines_are_named(void** state) {
  (void)state;
  expect_refused("a.obj", "v 0 0 0\nv 1 0\n", 2, "three finite numbers");
  expect_refused("a.obj", "v 0 0 zero\n", 1, "three finite numbers");
  expect_refused("a.obj", "v 0 0 nan\n", 1, "three finite numbers");
  expect_refused("a.obj", "v 0 0 1e999\n", 1, "three finite numbers");
  expect_refused("a.obj", "v 0 0 0x10\n", 1, "three finite numbers");
  expect_refused("a.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\n\nf 1 2 4\n", 5, "not among the 3");
  expect_refused("a.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nf 0 1 2\n", 4, "not among");
  expect_refused("a.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nf -4 1 2\n", 4, "not among");
  expect_refused("a.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nf 99999999999999999999 1 2\n", 4, "not");
  expect_refused("a.obj", "v 0 0 0\nv 0 0 1\nf 1 2\n", 3, "at least three");
  expect_refused("a.obj", "v 0 0 0\nf 1.5 1 1\n", 2, "not among");
  expect_refused("a.obj", "", 0, "no vertices");
}

// The twelve triangles of a box, as text and as bytes.
static size_t box_triangles(abVec3 h, float out[12][3][3]) {
  abPolyhedron* p = ab_polyhedron_box(h);
  size_t n = 0;
  for (int f = 0; f < 6; f++)
    for (int k = 0; k < 2; k++, n++) {
      const int* q = p->loop + p->face_start[f];
      int corner[3] = {q[0], q[k + 1], q[k + 2]};
      for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++) out[n][c][i] = (float)v3_get(p->vert[corner[c]], i);
    }
  ab_polyhedron_free(p);
  return n;
}

static size_t binary_stl(float triangle[12][3][3], const char* header, unsigned char* out) {
  memset(out, 0, 84);
  memcpy(out, header, strlen(header));
  out[80] = 12;
  unsigned char* at = out + 84;
  for (int i = 0; i < 12; i++) {
    memset(at, 0, 50);
    memcpy(at + 12, triangle[i], 36);  // the machines tested on are little-endian
    at += 50;
  }
  return (size_t)(at - out);
}

static size_t ascii_stl(float triangle[12][3][3], char* out) {
  char* at = out + sprintf(out, "solid box\n");
  for (int i = 0; i < 12; i++) {
    at += sprintf(at, " facet normal 0 0 0\n  outer loop\n");
    for (int c = 0; c < 3; c++)
      at += sprintf(at, "   vertex %.9g %.9g %.9g\n", (double)triangle[i][c][0],
                    (double)triangle[i][c][1], (double)triangle[i][c][2]);
    at += sprintf(at, "  endloop\n endfacet\n");
  }
  at += sprintf(at, "endsolid box\n");
  return (size_t)(at - out);
}

// 12 triangles with 36 corners are the primitive's 8 vertices and 6 faces.
static void check_is_box(const abMeshData* m, abVec3 h) {
  assert_int_equal(m->nvert, 8);
  assert_int_equal(m->ntriangle, 12);
  abPolyhedron *a = ab_polyhedron_hull(m->nvert, m->vert, NULL), *b = ab_polyhedron_box(h);
  assert_int_equal(a->nvert, b->nvert);
  assert_int_equal(a->nface, b->nface);
  assert_memory_equal(a->loop, b->loop, 24 * sizeof(int));
  assert_memory_equal(a->edge, b->edge, 12 * sizeof(int[4]));
  assert_memory_equal(a->face_start, b->face_start, 7 * sizeof(int));
  for (int i = 0; i < 8; i++) check_vec_near(a->vert[i], b->vert[i], 0);
  for (int i = 0; i < 6; i++) {
    check_vec_near(a->plane[i].n, b->plane[i].n, 0);
    check_near(a->plane[i].d, b->plane[i].d, 0);
  }
  check_near(a->volume, b->volume, 1e-15 * b->volume);
  check_vec_near(a->centroid, b->centroid, 1e-16);
  check_near(a->radius, b->radius, 0);
  ab_polyhedron_free(a);
  ab_polyhedron_free(b);
}

static void box_from_stl_is_the_primitive_box(void** state) {
  (void)state;
  const abVec3 h = v3(0.5, 0.25, 0.125);
  float triangle[12][3][3];
  unsigned char bytes[1000];
  char text[8000];
  abMeshData m;
  abError error = {0};
  box_triangles(h, triangle);
  size_t n = binary_stl(triangle, "made by a test", bytes);
  assert_int_equal(ab_mesh_read_memory("box.stl", bytes, n, &m, &error), AB_OK);
  check_is_box(&m, h);
  ab_mesh_data_free(&m);
  n = binary_stl(triangle, "solid, says the header of a binary file", bytes);
  assert_int_equal(ab_mesh_read_memory("BOX.STL", bytes, n, &m, &error), AB_OK);
  check_is_box(&m, h);
  ab_mesh_data_free(&m);
  n = ascii_stl(triangle, text);
  assert_int_equal(ab_mesh_read_memory("box.stl", text, n, &m, &error), AB_OK);
  check_is_box(&m, h);
  ab_mesh_data_free(&m);
}

static void bad_stl_is_refused(void** state) {
  (void)state;
  float triangle[12][3][3];
  unsigned char bytes[1000];
  abMeshData m;
  abError error = {0};
  box_triangles(v3(1, 1, 1), triangle);
  size_t n = binary_stl(triangle, "binary", bytes);
  assert_int_equal(ab_mesh_read_memory("a.stl", bytes, n - 1, &m, &error), AB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "12 triangles"));
  triangle[3][1][2] = NAN;
  n = binary_stl(triangle, "binary", bytes);
  assert_int_equal(ab_mesh_read_memory("a.stl", bytes, n, &m, &error), AB_ERROR_PARSE);
  assert_non_null(strstr(error.message, "triangle 3"));
  expect_refused("a.stl", "hello", 0, "not an STL");
  expect_refused("a.stl", "solid x\nfacet\nouter loop\nvertex 1 2\nendloop", 5, "three finite");
  expect_refused("a.stl", "solid x\nfacet\nouter loop\nvertex 1 2 3\nendloop", 5, "1 corners");
  expect_refused("a.stl", "solid x\nvertex 1 2 3 vertex 1 2 3 vertex 1 2 3\nvertex 1 2 3", 3,
                 "more than 3");
  expect_refused("a.stl", "solid x\nvertex 1 2 3", 2, "ends within");
  expect_refused("a.stl", "solid x\nendsolid x", 0, "no vertices");
}

static void other_files_are_refused(void** state) {
  (void)state;
  abMeshData m;
  abError error = {0};
  assert_int_equal(read_text("a.dae", "x", &m, &error), AB_ERROR_UNSUPPORTED);
  assert_int_equal(read_text("obj", "x", &m, &error), AB_ERROR_UNSUPPORTED);
  assert_int_equal(ab_mesh_read("/nowhere/at/all.obj", &m, &error), AB_ERROR_FILE);
  assert_string_equal(error.file, "/nowhere/at/all.obj");
  assert_int_equal(ab_mesh_read("/", &m, &error), AB_ERROR_FILE);
}

// Good files with bytes changed, dropped and repeated: an answer, whatever it is.
static void junk_is_answered(void** state) {
  (void)state;
  Random r = {1};
  float triangle[12][3][3];
  static unsigned char seed[2][8000], bytes[16000];
  size_t size[3];
  box_triangles(v3(1, 2, 3), triangle);
  size[0] = binary_stl(triangle, "solid", seed[0]);
  size[1] = ascii_stl(triangle, (char*)seed[1]);
  const char* obj =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1/1 2/2/2 4//4\nf -1 -2 -3 -4\n";
  for (int trial = 0; trial < 20000; trial++) {
    int which = random_below(&r, 3);
    const unsigned char* source = which == 2 ? (const unsigned char*)obj : seed[which];
    size_t n = which == 2 ? strlen(obj) : size[which];
    n = random_below(&r, 4) ? n : (size_t)random_below(&r, (int)n);
    memcpy(bytes, source, n);
    for (int k = random_below(&r, 6); k > 0 && n > 0; k--) {
      size_t at = (size_t)random_below(&r, (int)n);
      int likely = "0123456789-.e /\n#vf"[random_below(&r, 19)];
      bytes[at] = (unsigned char)(random_below(&r, 2) ? random_below(&r, 256) : likely);
    }
    abMeshData m;
    abError error = {0};
    abStatus status = ab_mesh_read_memory(which == 2 ? "a.obj" : "a.stl", bytes, n, &m, &error);
    assert_int_equal(status, error.code);
    for (int i = 0; i < m.nvert; i++) assert_true(v3_finite(m.vert[i]));
    for (int i = 0; i < m.ntriangle; i++)
      for (int k = 0; k < 3; k++) assert_in_range(m.triangle[i][k], 0, m.nvert - 1);
    ab_mesh_data_free(&m);
  }
}

static void numbers_have_points_in_every_locale(void** state) {
  (void)state;
  const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C"};
  for (size_t i = 0; i < 4; i++) {
    if (!setlocale(LC_NUMERIC, names[i])) continue;
    double x = 0;
    const char* text = "-12.5e-1";
    assert_true(ab_parse_number(text, text + strlen(text), &x));
    check_near(x, -1.25, 0);
    text = "1,5";
    assert_false(ab_parse_number(text, text + strlen(text), &x));
  }
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obj_quads_are_cut_along_the_shorter_diagonal),
      cmocka_unit_test(obj_polygons_become_fans),
      cmocka_unit_test(the_first_object_of_an_obj_file_is_known),
      cmocka_unit_test(bad_obj_lines_are_named),
      cmocka_unit_test(box_from_stl_is_the_primitive_box),
      cmocka_unit_test(bad_stl_is_refused),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(junk_is_answered),
      cmocka_unit_test(an_msh_file_gives_its_vertices_and_triangles),
      cmocka_unit_test(damaged_msh_files_are_refused),
      cmocka_unit_test(numbers_have_points_in_every_locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
