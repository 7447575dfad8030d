// What a URDF link is made of: inertia, collision geometry, and pictures where they are wanted.
#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "math/rotation.h"
#include "scene/urdf.h"

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
  return ab_urdf_check(m, mass) && ab_urdf_check(m, inertia) &&
         ab_get_number(m, &v, "value", &def->mass) && ab_urdf_origin(m, e, &def->inertial);
}

// --- meshes --------------------------------------------------------------------------------------

// package://name/folder/file: the package's folder is one of those above the file, so the rest of
// the path is tried from each of them after the place the settings name.
static bool find_file(abReading* m, const abXml* e, const char* name, abMeshDef* def) {
  const char* path = name;
  if (!strncmp(path, "file://", 7)) path += 7;
  bool package = !strncmp(path, "package://", 10) || !strncmp(path, "model://", 8);
  if (package) {
    path = strstr(path, "://") + 3;
    const char* slash = strchr(path, '/');
    if (slash) path = slash + 1;
  }
  if (!ab_add_mesh_file(m, e, def, path) || ab_input_exists(def->file)) return m->files;
  const char* up[] = {"", "../", "../../", "../../../"};
  for (int i = 0; i < 4; i++) {
    char text[600];
    if (snprintf(text, sizeof text, "%s%s", up[i], path) >= (int)sizeof text) break;
    const char* tried = ab_xml_path(m->doc, m->doc->root->file, text);
    if (!tried) return ab_no_memory(m);
    if (!ab_input_exists(tried)) continue;
    def->file = tried;
    return true;
  }
  return ab_bad(m, AB_ERROR_FILE, e, ab_xml_attr(e, "filename"),
                "there is no such mesh file, neither at '%.200s' nor in the folders above the "
                "scene; set meshdir in <mujoco><compiler meshdir=\"...\" strippath=\"false\"/>",
                def->file);
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
  const char* slash = strrchr(def.file, '/');
  char text[900];
  snprintf(text, sizeof text, "%.600s", slash ? slash + 1 : def.file);
  char* dot = strrchr(text, '.');
  if (dot) *dot = 0;
  if (s[0] != 1 || s[1] != 1 || s[2] != 1) {
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "_%g_%g_%g", s[0], s[1], s[2]);
  }
  const abLabel* found = ab_labels_find(&m->mesh, text);
  if (found && !strcmp(found->file, def.file)) {
    geom->mesh = found->index;
    return true;
  }
  def.name = ab_xml_copy(m->doc, text);
  if (found) def.name = ab_xml_copy(m->doc, def.file);  // another folder's file of the same name
  def.source = (abSource){e->file, e->line};
  geom->mesh = ab_scene_add_mesh(m->scene, &def, m->error);
  if (geom->mesh < 0) return ab_place(m, e);
  abLabel label = {def.name, geom->mesh, e->line, def.file};
  return ab_labels_add(&m->mesh, label) || ab_no_memory(m);
}

// --- geometry ------------------------------------------------------------------------------------

static bool read_shape(abReading* m, const abXml* e, abGeomDef* def) {
  abView v = ab_plain(e);
  double x[3] = {0};
  if (ab_xml_is(e, "box")) {
    def->type = AB_BOX;
    if (!ab_get_exactly(m, &v, "size", 3, x, NULL)) return false;
    def->size = v3(x[0] / 2, x[1] / 2, x[2] / 2);
    return true;
  }
  if (ab_xml_is(e, "mesh")) {
    def->type = AB_MESH;
    return read_mesh(m, e, def);
  }
  def->type = ab_xml_is(e, "sphere")    ? AB_SPHERE
              : ab_xml_is(e, "capsule") ? AB_CAPSULE
                                        : AB_CYLINDER;
  if (!ab_get_number(m, &v, "radius", &x[0]) ||
      (def->type != AB_SPHERE && !ab_get_number(m, &v, "length", &x[1])))
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
  if (visual) def.contype = def.conaffinity = 0, def.group = 1;
  if (def.group < m->compiler.group_low || def.group > m->compiler.group_high) def.mass = 0;
  return ab_put_geom(m, e, &def) >= 0;
}

bool ab_urdf_geoms(abReading* m, const abXml* link, int body) {
  for (const abXml* e = link->child; e; e = e->next) {
    bool visual = ab_xml_is(e, "visual");
    if (visual && m->compiler.discardvisual) continue;
    if ((visual || ab_xml_is(e, "collision")) && !add_geom(m, e, body, visual)) return false;
  }
  return true;
}
