// What a URDF link is made of: inertia, collision geometry, and pictures where they are wanted.
// Tests: test_urdf.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "math/rotation.h"
#include "scene/scene.h"
#include "scene/urdf/urdf.h"

bool ab_urdf_weighs(const abReading* m, const abXml* link) {
  const abXml* e = ab_urdf_child(link, "inertial");
  if (!e)
    return ab_urdf_child(link, "collision") ||
           (!m->compiler.discardvisual && ab_urdf_child(link, "visual"));
  const abXml *mass = ab_urdf_child(e, "mass"), *inertia = ab_urdf_child(e, "inertia");
  const abXmlAttr* value = mass ? ab_xml_attr(mass, "value") : NULL;
  if (!value || !inertia || !(strtod(value->value, NULL) > 0)) return false;
  for (int i = 0; i < inertia->nattr; i++)
    if (strtod(inertia->attr[i].value, NULL) != 0) return true;
  return false;
}

// Principal moments a >= b >= c that some matter has: none negative, and a <= b + c. The largest is
// kept, the others are raised as far as needed.
static void repair(abReading* m, const abXml* e, abBodyDef* def) {
  const double* i = def->inertia;
  abMat3 I = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}}, R;
  abVec3 d;
  m3_eigen(&I, &R, &d);
  double sum = d.x + d.y + d.z;
  // the bound of the compiler: flat bodies sit on a = b + c to rounding
  bool possible = d.z >= 0 && d.x <= d.y + d.z + 1e-12 * sum;
  if (possible || !(d.x > 0) || ab_scene_option(m->scene)->balanceinertia) return;
  ab_note(m, AB_NOTE_INERTIA, e, NULL);
  d.y = fmax(d.y, d.x / 2);
  d.z = fmax(d.z, d.x - d.y);
  I = m3_congruent_diag(&R, d);
  double x[6] = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]};
  memcpy(def->inertia, x, sizeof x);
}

bool ab_urdf_inertial(abReading* m, const abXml* link, abBodyDef* def) {
  const abXml* e = ab_urdf_child(link, "inertial");
  if (!e) return true;
  const abXml *mass = ab_urdf_child(e, "mass"), *inertia = ab_urdf_child(e, "inertia");
  if (!ab_urdf_check(m, e)) return false;
  if (!mass || !ab_xml_attr(mass, "value") || !inertia)
    return ab_bad(m, AB_ERROR_PARSE, e, NULL,
                  "<mass value=\"...\"/> and <inertia ixx=\"...\" .../> are needed");
  abView v = ab_plain(mass), w = ab_plain(inertia);
  const char* name[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  for (int i = 0; i < 6; i++)
    if (!ab_get_number(m, &w, name[i], &def->inertia[i])) return false;
  // inertiafromgeom overrules what is given where there are geoms
  def->has_inertial = m->compiler.inertiafromgeom != AB_TRUE || !ab_urdf_child(link, "collision");
  if (!ab_urdf_check(m, mass) || !ab_urdf_check(m, inertia) ||
      !ab_get_number(m, &v, "value", &def->mass) || !ab_urdf_origin(m, e, &def->inertial))
    return false;
  if (def->has_inertial) repair(m, inertia, def);
  return true;
}

// --- meshes --------------------------------------------------------------------------------------

#define LEVELS 8  // folders above the file that are searched

// The folder `level` above the scene's, with a slash; false if there is none.
static bool folder_above(abReading* m, int level, char* out, size_t size) {
  const char* file = m->doc->root->file;
  const char* slash = strrchr(file, '/');
  size_t n = slash ? (size_t)(slash - file) + 1 : 0;
  if (n + 3 * LEVELS + 3 > size) return false;
  memcpy(out, file, n);
  out[n] = 0;
  if (n == 0) strcpy(out, "./");
  for (int i = 0; i < level; i++) strcat(out, "../");
  return true;
}

// Whether the folder is that of the package: its package.xml says so.
static bool is_package(const char* folder, const char* name, size_t length) {
  char path[800], line[400], word[200];
  snprintf(path, sizeof path, "%s/package.xml", folder);
  snprintf(word, sizeof word, "<name>%.*s</name>", (int)length, name);
  FILE* f = fopen(path, "r");
  bool found = false;
  while (f && !found && fgets(line, sizeof line, f)) found = strstr(line, word) != NULL;
  if (f) fclose(f);
  return found;
}

// package://NAME/rest: NAME is a folder beside or above the scene, or the one whose package.xml
// bears that name.
static const char* in_package(abReading* m, const char* path) {
  const char* rest = strchr(path, '/');
  size_t length = rest ? (size_t)(rest - path) : 0;
  while (*path == '/') path++;  // package:///folder/file
  for (int level = 0; level < LEVELS; level++) {
    char folder[700], text[1500];
    if (!folder_above(m, level, folder, sizeof folder)) return NULL;
    snprintf(text, sizeof text, "%s%s", folder, path);
    if (ab_input_exists(text)) return ab_xml_copy(m->doc, text);
    if (!rest || length == 0 || !is_package(folder, path, length)) continue;
    snprintf(text, sizeof text, "%s%s", folder, rest + 1);
    if (ab_input_exists(text)) return ab_xml_copy(m->doc, text);
  }
  return NULL;
}

// Without a package of that name: the rest of the path beside the scene or one folder up.
static const char* beside(abReading* m, const char* path) {
  const char* up[] = {"", "../"};
  for (int i = 0; i < 2; i++) {
    char text[600];
    if (snprintf(text, sizeof text, "%s%s", up[i], path) >= (int)sizeof text) break;
    const char* tried = ab_xml_path(m->doc, m->doc->root->file, text);
    if (tried && ab_input_exists(tried)) return tried;
  }
  return NULL;
}

// A path in a package, else where the settings name it, else beside the scene.
static bool find_file(abReading* m, const abXml* e, const char* name, abMeshDef* def) {
  const char* path = name;
  if (!strncmp(path, "file://", 7)) path += 7;
  bool package = !strncmp(path, "package://", 10) || !strncmp(path, "model://", 8);
  if (package) path = strstr(path, "://") + 3;
  const char* found = package && m->files ? in_package(m, path) : NULL;
  if (found) {
    def->file = found;
    return true;
  }
  const char* slash = package ? strchr(path, '/') : NULL;
  if (slash) path = slash + 1;
  if (!ab_add_mesh_file(m, e, def, path) || ab_input_exists(def->file)) return m->files;
  found = beside(m, path);
  if (found) {
    def->file = found;
    return true;
  }
  return ab_bad(m, AB_ERROR_FILE, e, ab_xml_attr(e, "filename"),
                "there is no such mesh file, neither at '%.200s' nor in a folder of the package's "
                "name beside or above the scene; set meshdir in <mujoco><compiler meshdir=\"...\" "
                "strippath=\"false\"/>",
                def->file);
}

// A name for the mesh: that of its file, with the scale; all of the path where that is taken.
static const char* mesh_name(abReading* m, const char* file, const double s[3], bool whole) {
  const char* slash = strrchr(file, '/');
  char text[900];
  snprintf(text, sizeof text, "%.600s", slash && !whole ? slash + 1 : file);
  char* dot = strrchr(text, '.');
  if (dot && !whole) *dot = 0;
  size_t n = strlen(text);
  if (s[0] != 1 || s[1] != 1 || s[2] != 1)
    snprintf(text + n, sizeof text - n, "_%g_%g_%g", s[0], s[1], s[2]);
  return ab_xml_copy(m->doc, text);
}

// One mesh asset per file and scale.
static bool read_mesh(abReading* m, const abXml* e, abGeomDef* geom) {
  const abXmlAttr* file = ab_xml_attr(e, "filename");
  if (!file || !file->value[0])
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "a mesh needs filename=\"...\"");
  double s[3] = {1, 1, 1};
  abView v = ab_plain(e);
  abMeshDef def = ab_mesh_def();
  if (!ab_get_exactly(m, &v, "scale", 3, s, NULL) || !find_file(m, e, file->value, &def))
    return false;
  def.scale = v3(s[0], s[1], s[2]);
  for (int whole = 0; whole < 2; whole++) {
    def.name = mesh_name(m, def.file, s, whole);
    if (!def.name) return ab_no_memory(m);
    const abLabel* found = ab_labels_find(&m->mesh, def.name);
    if (!found) break;
    if (strcmp(found->file, def.file)) continue;  // another folder's file of the same name
    geom->mesh = found->index;
    return true;
  }
  def.source = (abSource){e->file, e->line};
  geom->mesh = ab_scene_add_mesh(m->scene, &def, m->error);
  if (geom->mesh < 0) return ab_place(m, e);
  if (m->scene->mesh.item[geom->mesh].nmass > 0) ab_note(m, AB_NOTE_OBJECTS, e, NULL);
  abLabel label = {def.name, geom->mesh, e->line, def.file};
  return ab_labels_add(&m->mesh, label) || ab_no_memory(m);
}

// --- geometry ------------------------------------------------------------------------------------

static bool read_shape(abReading* m, const abXml* e, abGeomDef* def) {
  abView v = ab_plain(e);
  double x[3] = {0};
  if (ab_xml_is(e, "box")) {
    def->type = AB_SHAPE_BOX;
    if (!ab_get_exactly(m, &v, "size", 3, x, NULL)) return false;
    def->size = v3(x[0] / 2, x[1] / 2, x[2] / 2);
    return true;
  }
  if (ab_xml_is(e, "mesh")) {
    def->type = AB_SHAPE_MESH;
    return read_mesh(m, e, def);
  }
  def->type = ab_xml_is(e, "sphere")    ? AB_SHAPE_SPHERE
              : ab_xml_is(e, "capsule") ? AB_SHAPE_CAPSULE
                                        : AB_SHAPE_CYLINDER;
  if (!ab_get_number(m, &v, "radius", &x[0]) ||
      (def->type != AB_SHAPE_SPHERE && !ab_get_number(m, &v, "length", &x[1])))
    return false;
  def->size = v3(x[0], x[1] / 2, 0);
  return true;
}

// <abut friction="0.5" mu_static="0.6" .../>: numbers of the contact, as MJCF and <custom> give
// them.
static bool read_surface(abReading* m, const abXml* e, abGeomDef* def) {
  abView v = ab_plain(e);
  return ab_urdf_check(m, e) && ab_get_numbers(m, &v, "friction", 3, def->friction, NULL) &&
         ab_get_number(m, &v, "mu_static", &def->mu_static) &&
         ab_get_number(m, &v, "e_r", &def->e_r) && ab_get_number(m, &v, "e_t", &def->e_t) &&
         ab_get_number(m, &v, "e_o", &def->e_o) &&
         ab_get_number(m, &v, "restitution", &def->restitution) &&
         ab_get_number(m, &v, "margin", &def->margin) &&
         ab_get_int(m, &v, "condim", &def->condim) && ab_get_int(m, &v, "priority", &def->priority);
}

static bool read_colour(abReading* m, const abXml* e, abGeomDef* def) {
  const abXml* material = ab_urdf_child(e, "material");
  const abXml* colour = material ? ab_urdf_child(material, "color") : NULL;
  if (!colour) return true;
  double c[4] = {0.5, 0.5, 0.5, 1};
  abView v = ab_plain(colour);
  if (!ab_get_exactly(m, &v, "rgba", 4, c, NULL)) return false;
  for (int i = 0; i < 4; i++) def->rgba[i] = (float)(c[i] < 0 ? 0 : c[i] > 1 ? 1 : c[i]);
  return true;
}

static bool add_geom(abReading* m, const abXml* e, int body, bool visual) {
  abGeomDef def = ab_geom_def();
  abView v = ab_plain(e);
  const abXml* geometry = ab_urdf_child(e, "geometry");
  if (!ab_urdf_check(m, e)) return false;
  if (!geometry || !geometry->child)
    return ab_bad(m, AB_ERROR_PARSE, e, NULL, "<geometry> with a shape is needed");
  const abXml* shape = geometry->child;
  if (!ab_urdf_check(m, geometry) || !ab_urdf_check(m, shape)) return false;
  if (!ab_xml_listed(shape->name, "box sphere cylinder capsule mesh"))
    return ab_bad(m, AB_ERROR_UNSUPPORTED, shape, NULL,
                  "not supported: the shapes are box, sphere, cylinder, capsule and mesh");
  def.body = body;
  def.name = ab_get_text(&v, "name");
  if (def.name && (!def.name[0] || visual || ab_labels_find(&m->geom, def.name))) def.name = NULL;
  const abXml* surface = ab_urdf_child(e, "abut");
  if (!ab_urdf_origin(m, e, &def.pose) || !read_shape(m, shape, &def) || !read_colour(m, e, &def) ||
      (surface && !read_surface(m, surface, &def)))
    return false;
  if (def.type == AB_SHAPE_MESH && !visual && !ab_urdf_thicken(m, shape, def.mesh)) return false;
  if (visual) def.contype = def.conaffinity = 0, def.group = 1;
  if (def.group < m->compiler.group_low || def.group > m->compiler.group_high) def.mass = 0;
  return ab_put_geom(m, e, &def) >= 0;
}

bool ab_urdf_geoms(abReading* m, const abXml* link, int body) {
  for (const abXml* e = link->child; e; e = e->next) {
    bool visual = ab_xml_is(e, "visual");
    if (visual && m->compiler.discardvisual) continue;
    if ((!visual && !ab_xml_is(e, "collision")) || add_geom(m, e, body, visual)) continue;
    // a picture that cannot be read changes nothing where the mass is stated
    if (visual && ab_urdf_child(link, "inertial") && m->error->code != AB_ERROR_MEMORY)
      ab_note(m, AB_NOTE_VISUAL_MESH, e, NULL);
    else if (!ab_go_on(m, e))
      return false;
  }
  return true;
}
