// Assets: meshes, and the colours of materials.
// Tests: test_mjcf, test_mujoco_model.
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/input.h"
#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"
#include "scene/orientation.h"
#include "scene/scene.h"

// The name of a file without folders and ending, as MuJoCo names a mesh that has no name.
static const char* stem(abReading* m, const char* path) {
  const char* slash = strrchr(path, '/');
  char* name = (char*)ab_xml_copy(m->doc, slash ? slash + 1 : path);
  char* dot = name ? strrchr(name, '.') : NULL;
  if (dot && dot != name) *dot = 0;
  return name;
}

bool ab_add_mesh_file(abReading* m, const abXml* e, abMeshDef* def, const char* path) {
  if (!m->files)
    return ab_bad(m, AB_ERROR_FILE, e, ab_xml_attr(e, "file"), "no files can be read here");
  const char* folder = m->compiler.meshdir;
  if (m->compiler.strippath && strrchr(path, '/')) path = strrchr(path, '/') + 1;
  const char* beside = ab_xml_path(m->doc, e->file, path);
  if (folder && folder[0] && path[0] != '/') {
    size_t n = strlen(folder);
    char* joined = ab_xml_take(m->doc, n + strlen(path) + 2);
    if (!joined) return ab_no_memory(m);
    sprintf(joined, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", path);
    path = joined;
  }
  def->file = ab_xml_path(m->doc, m->doc->root->file, path);
  if (!def->file || !beside) return ab_no_memory(m);
  // a file that was included may have its meshes beside it
  if (e->file != m->doc->root->file && !ab_input_exists(def->file) && ab_input_exists(beside))
    def->file = beside;
  return true;
}

static double* read_list(abReading* m, const abXml* e, const abXmlAttr* a, int* n) {
  *n = ab_xml_count(a);
  double* x = ab_xml_take(m->doc, sizeof(double) * (size_t)(*n + 1));
  if (!x) {
    ab_no_memory(m);
    return NULL;
  }
  if (ab_xml_numbers(e, a, *n, x, m->error) < 0) return NULL;
  if (*n % 3) {
    ab_bad(m, AB_ERROR_PARSE, e, NULL, "%s: the number of entries, %d, is no multiple of 3",
           a->name, *n);
    return NULL;
  }
  return x;
}

static bool read_vertices(abReading* m, const abXml* e, abMeshDef* def) {
  const abXmlAttr *vertex = ab_xml_attr(e, "vertex"), *face = ab_xml_attr(e, "face");
  int n;
  if (vertex) {
    double* x = read_list(m, e, vertex, &n);
    if (!x) return false;
    abVec3* vert = ab_xml_take(m->doc, sizeof *vert * (size_t)(n / 3 + 1));
    if (!vert) return ab_no_memory(m);
    for (int i = 0; i < n / 3; i++) vert[i] = v3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    def->vert = vert;
    def->nvert = n / 3;
  }
  if (!face) return true;
  double* x = read_list(m, e, face, &n);
  if (!x) return false;
  int* corner = ab_xml_take(m->doc, sizeof *corner * (size_t)(n + 1));
  if (!corner) return ab_no_memory(m);
  for (int i = 0; i < n; i++) {
    if (!(x[i] >= 0 && x[i] < def->nvert && x[i] == (int)x[i]))
      return ab_bad(m, AB_ERROR_SCENE, e, NULL, "face: %g is not a vertex, 0 to %d", x[i],
                    def->nvert - 1);
    corner[i] = (int)x[i];
  }
  def->triangle = (const int(*)[3])corner;
  def->ntriangle = n / 3;
  return true;
}

static bool read_mesh_place(abReading* m, const abView* v, abMeshDef* def) {
  double scale[3] = {1, 1, 1}, p[3] = {0}, q[4] = {1, 0, 0, 0};
  int inertia = m->compiler.exactmeshinertia ? 2 : 0;
  if (!ab_get_exactly(m, v, "scale", 3, scale, NULL) ||
      !ab_get_exactly(m, v, "refpos", 3, p, NULL) || !ab_get_exactly(m, v, "refquat", 4, q, NULL) ||
      !ab_get_word(m, v, "inertia", "legacy convex exact shell", &inertia))
    return false;
  static const abMeshInertia rule[] = {AB_MESH_INERTIA_LEGACY, AB_MESH_INERTIA_CONVEX,
                                       AB_MESH_INERTIA_EXACT, AB_MESH_INERTIA_SHELL};
  def->inertia = rule[inertia];
  def->scale = v3(scale[0], scale[1], scale[2]);
  def->ref = (abPose){v3(p[0], p[1], p[2]), ab_orientation((abQuat){q[0], q[1], q[2], q[3]})};
  return true;
}

static bool read_mesh(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_MESH};
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_)) return false;
  for (const abXml* k = e->child; k; k = k->next)
    if (!ab_other_element(m, k, "")) return false;
  abMeshDef def = ab_mesh_def();
  const char *file = ab_get_text(&v, "file"), *name = ab_get_text(&v, "name");
  if (!file && !ab_xml_attr(e, "vertex"))
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "a mesh needs file=\"...\" or vertex=\"...\"");
  if (!file && !name) return ab_bad(m, AB_ERROR_PARSE, e, NULL, "the mesh needs a name");
  def.name = name ? name : stem(m, file);
  if (!def.name) return ab_no_memory(m);
  if (file ? !ab_add_mesh_file(m, e, &def, file) : !read_vertices(m, e, &def)) return false;
  if (!read_mesh_place(m, &v, &def)) return false;
  def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_mesh(m->scene, &def, m->error);
  if (index < 0) return ab_place(m, e);
  if (m->scene->mesh.item[index].nmass > 0) ab_note(m, AB_NOTE_OBJECTS, e, ab_xml_attr(e, "file"));
  return ab_enter(m, e, &m->mesh, def.name, index);
}

static bool read_material(abReading* m, const abXml* e) {
  abView v = {e, m->main_class, AB_DEFAULT_MATERIAL};
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_)) return false;
  double c[4] = {1, 1, 1, 1};
  if (!ab_get_numbers(m, &v, "rgba", 4, c, NULL)) return false;
  void* bigger = ab_grow(m->material_rgba, m->nmaterial, sizeof *m->material_rgba);
  if (!bigger) return ab_no_memory(m);
  m->material_rgba = bigger;
  for (int i = 0; i < 4; i++) m->material_rgba[m->nmaterial][i] = (float)c[i];
  return ab_enter(m, e, &m->material, ab_get_text(&v, "name"), m->nmaterial++);
}

bool ab_read_asset(abReading* m, const abXml* e) {
  if (!ab_check_attributes(m, e)) return false;
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "mesh")       ? read_mesh(m, k)
              : ab_xml_is(k, "material") ? read_material(m, k)
              : ab_xml_is(k, "model")    ? ab_read_model(m, k)
                                      : ab_other_element(m, k, "mesh material texture skin model");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}
