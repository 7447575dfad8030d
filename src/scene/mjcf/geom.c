// Geoms: shape, place, mass and friction numbers, from the element, its default classes and the
// entries of <custom>.
// Tests: test_mjcf, test_mujoco_model.
#include <string.h>

#include "base/alloc.h"
#include "math/rotation.h"
#include "scene/mjcf/mjcf.h"
#include "scene/orientation.h"

#define TYPES "plane hfield sphere capsule ellipsoid cylinder box mesh sdf"

static bool read_type(abReading* m, const abView* v, abShapeType* type) {
  static const int shape[] = {AB_SHAPE_PLANE,
                              -1,
                              AB_SHAPE_SPHERE,
                              AB_SHAPE_CAPSULE,
                              AB_SHAPE_ELLIPSOID,
                              AB_SHAPE_CYLINDER,
                              AB_SHAPE_BOX,
                              AB_SHAPE_MESH,
                              -1};
  int i = 2;
  if (!ab_get_word(m, v, "type", TYPES, &i)) return false;
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, "type", &owner);
  if (shape[i] < 0)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, owner, a,
                  "not supported: use boxes or convex meshes in place of height and distance "
                  "fields");
  *type = (abShapeType)shape[i];
  const abXmlAttr* mesh = ab_view_attr(v, "mesh", &owner);
  if (mesh && *type != AB_SHAPE_MESH)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, owner, mesh,
                  "not supported: fitting a primitive to a mesh; give the size, or type=\"mesh\"");
  if (!mesh && *type == AB_SHAPE_MESH)
    return ab_bad(m, AB_ERROR_SCENE, v->e, NULL, "a geom of type mesh needs mesh=\"...\"");
  return true;
}

static bool read_fromto(abReading* m, const abView* v, abGeomDef* def) {
  double half;
  bool present;
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, "fromto", &owner);
  if (a &&
      (def->type == AB_SHAPE_PLANE || def->type == AB_SHAPE_SPHERE || def->type == AB_SHAPE_MESH))
    return ab_bad(m, AB_ERROR_SCENE, owner, a,
                  "only capsules, cylinders, boxes and ellipsoids "
                  "can be given by their ends");
  if (!ab_get_fromto(m, v, &def->pose, &half, &present)) return false;
  if (!present) return true;
  if (def->type == AB_SHAPE_CAPSULE || def->type == AB_SHAPE_CYLINDER) {
    def->size.y = half;
  } else {
    def->size.y = def->size.x;
    def->size.z = half;
  }
  return true;
}

static bool read_size(abReading* m, const abView* v, abGeomDef* def) {
  double size[3] = {0, 0, 0};
  int n;
  if (!ab_get_numbers(m, v, "size", 3, size, &n)) return false;
  def->size = v3(size[0], size[1], size[2]);
  if (!read_fromto(m, v, def)) return false;
  bool ends = ab_view_attr(v, "fromto", NULL) != NULL;
  int need = def->type == AB_SHAPE_MESH || def->type == AB_SHAPE_PLANE      ? 0
             : def->type == AB_SHAPE_SPHERE || ends                         ? 1
             : def->type == AB_SHAPE_BOX || def->type == AB_SHAPE_ELLIPSOID ? 3
                                                                            : 2;
  if (n >= need) return true;
  static const char* const what[] = {[AB_SHAPE_BOX] = "three half lengths",
                                     [AB_SHAPE_SPHERE] = "the radius",
                                     [AB_SHAPE_CAPSULE] = "radius and half length",
                                     [AB_SHAPE_CYLINDER] = "radius and half length",
                                     [AB_SHAPE_ELLIPSOID] = "three radii",
                                     [AB_SHAPE_PLANE] = "",
                                     [AB_SHAPE_MESH] = ""};
  return ab_bad(m, AB_ERROR_SCENE, v->e, ab_xml_attr(v->e, "size"),
                "the size needs %d number%s: %s", need, need == 1 ? "" : "s",
                ends ? "the radius (fromto gives the length)" : what[def->type]);
}

static bool read_mesh_name(abReading* m, const abView* v, abGeomDef* def) {
  if (def->type != AB_SHAPE_MESH) return true;
  const abXml* owner;
  ab_view_attr(v, "mesh", &owner);
  def->mesh = ab_refer(m, owner, "mesh", &m->mesh, "mesh");
  return def->mesh >= 0;
}

static bool read_mass(abReading* m, const abView* v, abGeomDef* def) {
  if (!ab_get_number(m, v, "density", &def->density) ||
      !ab_get_bool(m, v, "shellinertia", &def->shell))
    return false;
  double mass = 0;
  bool given;
  if (!ab_get_exactly(m, v, "mass", 1, &mass, &given)) return false;
  const abXml* owner;
  const abXmlAttr* a = ab_view_attr(v, "mass", &owner);
  if (given && mass < 0) return ab_bad(m, AB_ERROR_SCENE, owner, a, "a mass must not be negative");
  if (given) def->mass = mass;
  if (def->group < m->compiler.group_low || def->group > m->compiler.group_high) def->mass = 0;
  return true;
}

static bool read_contact_numbers(abReading* m, const abView* v, abGeomDef* def) {
  return ab_get_int(m, v, "contype", &def->contype) &&
         ab_get_int(m, v, "conaffinity", &def->conaffinity) &&
         ab_get_int(m, v, "condim", &def->condim) && ab_get_int(m, v, "priority", &def->priority) &&
         ab_get_int(m, v, "group", &def->group) &&
         ab_get_numbers(m, v, "friction", 3, def->friction, NULL) &&
         ab_get_number(m, v, "margin", &def->margin) && ab_get_number(m, v, "gap", &def->gap);
}

static bool read_colour(abReading* m, const abView* v, abGeomDef* def) {
  double c[4];
  for (int i = 0; i < 4; i++) c[i] = def->rgba[i];
  const abXml* owner;
  const abXmlAttr* material = ab_view_attr(v, "material", &owner);
  if (material && material->value[0]) {
    int i = ab_refer(m, owner, "material", &m->material, "material");
    if (i < 0) return false;
    for (int k = 0; k < 4; k++) c[k] = m->material_rgba[i][k];
  }
  if (!ab_get_numbers(m, v, "rgba", 4, c, NULL)) return false;
  for (int i = 0; i < 4; i++) def->rgba[i] = (float)(c[i] < 0 ? 0 : c[i] > 1 ? 1 : c[i]);
  return true;
}

static void take_custom(abReading* m, abGeomDef* def) {
  double* field[AB_GEOM_NUMBER] = {&def->mu_static, &def->e_r, &def->e_t, &def->e_o,
                                   &def->restitution};
  for (int i = 0; i < AB_GEOM_NUMBER; i++) {
    if (m->global_given[i]) *field[i] = m->global_number[i];
    const abLabel* own = def->name ? ab_labels_find(&m->number_name[i], def->name) : NULL;
    if (!own) continue;
    *field[i] = m->geom_number[own->index].value;
    m->geom_number[own->index].used = true;
  }
}

int ab_put_geom(abReading* m, const abXml* e, abGeomDef* def) {
  def->source = (abSource){e->file, e->line};
  if (def->margin != 0 && (def->contype || def->conaffinity)) ab_note(m, AB_NOTE_MARGIN, e, NULL);
  take_custom(m, def);
  int index = ab_scene_add_geom(m->scene, def, m->error);
  if (index < 0) return ab_place(m, e) - 1;
  return ab_enter(m, e, &m->geom, def->name, index) ? index : -1;
}

bool ab_read_geom(abReading* m, const abXml* e, const abPlace* at) {
  if (!ab_check_attributes(m, e)) return false;
  abView v = {e, at->class_, AB_DEFAULT_GEOM};
  if (!ab_find_class(m, e, "class", &v.class_)) return false;
  for (const abXml* k = e->child; k; k = k->next)
    if (!ab_other_element(m, k, "")) return false;
  abGeomDef def = ab_geom_def();
  def.name = ab_suffixed(m, ab_get_text(&v, "name"), at->suffix);
  def.body = at->body;
  if (!read_type(m, &v, &def.type) || !ab_get_pose(m, &v, &def.pose, NULL) ||
      !read_size(m, &v, &def) || !read_mesh_name(m, &v, &def) ||
      !read_contact_numbers(m, &v, &def) || !read_mass(m, &v, &def) || !read_colour(m, &v, &def))
    return false;
  def.pose = pose_mul(at->frame, def.pose);
  return ab_put_geom(m, e, &def) >= 0;
}

bool ab_read_site(abReading* m, const abXml* e, const abPlace* at) {
  abView v = {e, at->class_, AB_DEFAULT_SITE};
  abSiteDef def = ab_site_def();
  double half;
  bool present;
  if (!ab_check_attributes(m, e) || !ab_find_class(m, e, "class", &v.class_) ||
      !ab_get_pose(m, &v, &def.pose, NULL) || !ab_get_fromto(m, &v, &def.pose, &half, &present))
    return false;
  def.name = ab_suffixed(m, ab_get_text(&v, "name"), at->suffix);
  def.body = at->body;
  def.pose = pose_mul(at->frame, def.pose);
  def.source = (abSource){e->file, e->line};
  int index = ab_scene_add_site(m->scene, &def, m->error);
  if (index < 0) return ab_place(m, e);
  return ab_enter(m, e, &m->site, def.name, index);
}
