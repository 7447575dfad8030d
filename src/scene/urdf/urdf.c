// URDF: links and the joints between them. The tree is walked depth first from the link that is no
// joint's child, children in the order of their joints, which gives the order MuJoCo gives.
//
// Where the format leaves things open, MuJoCo's reading is followed: the root link is fixed to the
// world, a planar joint is two slides and a hinge, a link without <inertial> has the mass of its
// geometry, a mimic joint is an equality of joints. A link called "world" at the root is the
// world. Fixed joints keep their links as welded
// bodies. A floating joint stands above everything that moves, so it needs a parent that does not.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "math/rotation.h"
#include "scene/orientation.h"
#include "scene/urdf/urdf.h"

// --- what is known -------------------------------------------------------------------------------

static const struct {
  const char *element, *children, *attributes;
} known[] = {
    {"robot", "link joint material transmission gazebo mujoco", "name version"},
    {"link", "inertial visual collision contact", "name type"},
    {"joint", "origin parent child axis limit dynamics mimic calibration safety_controller",
     "name type"},
    {"inertial", "origin mass inertia", ""},
    {"collision", "origin geometry abut material verbose", "name group"},
    {"visual", "origin geometry material", "name"},
    {"origin", "", "xyz rpy"},
    {"mass", "", "value"},
    {"inertia", "", "ixx iyy izz ixy ixz iyz"},
    {"geometry", "box sphere cylinder capsule mesh", ""},
    {"box", "", "size"},
    {"sphere", "", "radius"},
    {"cylinder", "", "radius length"},
    {"capsule", "", "radius length"},
    {"mesh", "", "filename scale"},
    {"parent", "", "link"},
    {"child", "", "link"},
    {"axis", "", "xyz"},
    {"limit", "", "lower upper effort velocity"},
    {"mimic", "", "joint multiplier offset"},
    {"dynamics", "", "damping friction"},
    {"abut", "", "friction mu_static e_r e_t e_o restitution condim priority margin"},
};

// Tags and attributes of other programs are everywhere in URDF files and are passed over with one
// note; only what looks like a mistyped tag of ours is refused, where that is missing.
static bool unknown(abReading* m, const abXml* e, const char* word, const char* list) {
  char near[32];
  ab_xml_nearest(word, list, near);
  if (!near[0] || strchr(word, ':') || ab_xml_attr(e, near)) {
    ab_note(m, AB_NOTE_URDF, e, NULL);
    return true;
  }
  return ab_bad(m, AB_ERROR_PARSE, e, NULL, "'%.40s' is not known here; did you mean '%s'?", word,
                near);
}

bool ab_urdf_check(abReading* m, const abXml* e) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].element, e->name)) continue;
    for (int k = 0; k < e->nattr; k++)
      if (!ab_xml_listed(e->attr[k].name, known[i].attributes) &&
          !unknown(m, e, e->attr[k].name, known[i].attributes))
        return false;
    for (const abXml* c = e->child; c; c = c->next)
      if (ab_xml_listed(c->name,
                        "transmission gazebo calibration safety_controller contact verbose"))
        ab_note(m, AB_NOTE_URDF, c, NULL);
      else if (!ab_xml_listed(c->name, known[i].children) &&
               !unknown(m, c, c->name, known[i].children))
        return false;
  }
  return true;
}

const abXml* ab_urdf_child(const abXml* e, const char* name) {
  for (const abXml* k = e->child; k; k = k->next)
    if (ab_xml_is(k, name)) return k;
  return NULL;
}

bool ab_urdf_origin(abReading* m, const abXml* parent, abPose* pose) {
  const abXml* e = ab_urdf_child(parent, "origin");
  *pose = pose_identity();
  if (!e) return true;
  double p[3] = {0}, rpy[3] = {0};
  abView v = ab_plain(e);
  if (!ab_urdf_check(m, e) || !ab_get_exactly(m, &v, "xyz", 3, p, NULL) ||
      !ab_get_exactly(m, &v, "rpy", 3, rpy, NULL))
    return false;
  *pose = (abPose){v3(p[0], p[1], p[2]), ab_quat_euler(rpy, "XYZ")};
  return true;
}

// --- the tree ------------------------------------------------------------------------------------

typedef struct Link {
  const abXml *e, *joint;         // the joint above it
  int parent, child, last, next;  // the children in the order of their joints
} Link;

typedef struct Tree {
  abReading* m;
  int n, nvisited;
  Link* link;
  abLabels name;
} Tree;

static bool collect_links(Tree* t, const abXml* root) {
  for (const abXml* e = root->child; e; e = e->next) {
    if (!ab_xml_is(e, "link")) continue;
    const abXmlAttr* name = ab_xml_attr(e, "name");
    if (!name || !name->value[0])
      return ab_bad(t->m, AB_ERROR_PARSE, e, NULL, "a link needs a name");
    Link* bigger = ab_grow(t->link, t->n, sizeof *bigger);
    if (!bigger) return ab_no_memory(t->m);
    t->link = bigger;
    t->link[t->n] = (Link){e, NULL, -1, -1, -1, -1};
    if (!ab_urdf_check(t->m, e) && !ab_go_on(t->m, e)) return false;
    if (!ab_enter(t->m, e, &t->name, name->value, t->n++)) return false;
  }
  return true;
}

static int end_of(Tree* t, const abXml* joint, const char* which) {
  const abXml* e = ab_urdf_child(joint, which);
  if (!e) {
    ab_bad(t->m, AB_ERROR_PARSE, joint, NULL, "a joint needs <%s link=\"...\"/>", which);
    return -1;
  }
  return ab_urdf_check(t->m, e) ? ab_refer(t->m, e, "link", &t->name, "link") : -1;
}

static bool collect_joints(Tree* t, const abXml* root) {
  for (const abXml* e = root->child; e; e = e->next) {
    if (!ab_xml_is(e, "joint")) continue;
    if (!ab_urdf_check(t->m, e) && !ab_go_on(t->m, e)) return false;
    int parent = end_of(t, e, "parent"), child = parent < 0 ? -1 : end_of(t, e, "child");
    if (child < 0) return false;
    Link *p = &t->link[parent], *c = &t->link[child];
    if (c->joint)
      return ab_bad(t->m, AB_ERROR_SCENE, e, NULL, "the link '%.60s' has a joint above it already",
                    ab_xml_attr(c->e, "name")->value);
    c->joint = e;
    c->parent = parent;
    if (p->last < 0)
      p->child = child;
    else
      t->link[p->last].next = child;
    p->last = child;
  }
  return true;
}

// --- joints --------------------------------------------------------------------------------------

static bool read_limit(abReading* m, const abXml* e, abJointDef* def) {
  const abXml* limit = ab_urdf_child(e, "limit");
  if (!limit) return true;
  abView v = ab_plain(limit);
  if (!ab_urdf_check(m, limit) || !ab_get_number(m, &v, "lower", &def->range[0]) ||
      !ab_get_number(m, &v, "upper", &def->range[1]))
    return false;
  if (ab_xml_attr(limit, "effort") || ab_xml_attr(limit, "velocity"))
    ab_note(m, AB_NOTE_EFFORT, limit, NULL);
  if (def->range[0] > def->range[1]) ab_note(m, AB_NOTE_RANGE, limit, NULL);
  def->limited = def->range[0] < def->range[1];
  return true;
}

static bool is_fixed(const abXml* joint) {
  const abXmlAttr* type = ab_xml_attr(joint, "type");
  return type && !strcmp(type->value, "fixed");
}

// Whether the file has a fixed joint of this name.
static bool fixed_joint(const abXml* root, const abXmlAttr* name) {
  for (const abXml* e = root->child; e && name; e = e->next) {
    const abXmlAttr* own = ab_xml_is(e, "joint") ? ab_xml_attr(e, "name") : NULL;
    if (own && !strcmp(own->value, name->value)) return is_fixed(e);
  }
  return false;
}

// The joint follows another: an equality, added when all joints are there. One that follows a fixed
// joint is held at its offset.
static bool add_mimic(abReading* m, const abXml* joint) {
  const abXml* e = ab_urdf_child(joint, "mimic");
  const abXmlAttr* name = ab_xml_attr(joint, "name");
  if (!e || !name) return true;
  abEqualityDef def = ab_equality_def();
  def.type = AB_EQUALITY_JOINT;
  abView v = ab_plain(e);
  if (!ab_urdf_check(m, e) || !ab_get_number(m, &v, "offset", &def.polycoef[0]) ||
      !ab_get_number(m, &v, "multiplier", &def.polycoef[1]))
    return false;
  const abLabel* own = ab_labels_find(&m->joint, name->value);
  if (!own) return true;
  bool held = fixed_joint(joint->parent, ab_xml_attr(e, "joint"));
  if (!held) def.joint2 = ab_refer(m, e, "joint", &m->joint, "joint that moves");
  if (!held && def.joint2 < 0) return false;
  def.joint1 = own->index;
  for (int i = held; i < 2; i++) {
    abJointType type = m->joint_def[i ? def.joint1 : def.joint2].type;
    if (type == AB_JOINT_HINGE || type == AB_JOINT_SLIDE) continue;
    ab_note(m, AB_NOTE_SPHERE, e, NULL);  // as in MuJoCo: left out
    return true;
  }
  def.source = (abSource){e->file, e->line};
  return ab_scene_add_equality(m->scene, &def, m->error) >= 0 || ab_place(m, e);
}

static bool read_dynamics(abReading* m, const abXml* e, abJointDef* def) {
  const abXml* dynamics = ab_urdf_child(e, "dynamics");
  if (!dynamics) return true;
  abView v = ab_plain(dynamics);
  return ab_urdf_check(m, dynamics) && ab_get_number(m, &v, "damping", &def->damping) &&
         ab_get_number(m, &v, "friction", &def->frictionloss);
}

static bool read_axis(abReading* m, const abXml* e, abVec3* out) {
  double x[3] = {1, 0, 0};
  const abXml* axis = ab_urdf_child(e, "axis");
  if (axis) {
    abView v = ab_plain(axis);
    if (!ab_urdf_check(m, axis) || !ab_get_exactly(m, &v, "xyz", 3, x, NULL)) return false;
  }
  *out = v3(x[0], x[1], x[2]);
  return true;
}

static bool add_planar(abReading* m, const abXml* e, abJointDef def) {
  abQuat q;
  if (!ab_quat_zaxis(def.axis, &q))
    return ab_bad(m, AB_ERROR_SCENE, e, NULL, "the axis must not be zero");
  const char* name = def.name;
  const char* suffix[] = {"_TX", "_TY", "_RZ"};
  for (int i = 0; i < 3; i++) {
    def.type = i < 2 ? AB_JOINT_SLIDE : AB_JOINT_HINGE;
    def.axis = quat_rotate(q, v3(i == 0, i == 1, i == 2));
    def.name = ab_suffixed(m, name, suffix[i]);
    def.limited = false;
    if (ab_put_joint(m, e, &def) < 0) return false;
  }
  return true;
}

enum { FIXED, REVOLUTE, CONTINUOUS, PRISMATIC, FLOATING, PLANAR, SPHERICAL };

static bool joint_type(abReading* m, const abXml* e, int* type) {
  if (!ab_xml_attr(e, "type")) return ab_bad(m, AB_ERROR_PARSE, e, NULL, "a joint needs a type");
  abView v = ab_plain(e);
  return ab_get_word(m, &v, "type", "fixed revolute continuous prismatic floating planar spherical",
                     type);
}

static bool add_joint(abReading* m, const abXml* e, int type, int body) {
  abView v = ab_plain(e);
  abJointDef def = ab_joint_def();
  def.name = ab_get_text(&v, "name");
  def.body = body;
  if (!read_axis(m, e, &def.axis) || !read_limit(m, e, &def) || !read_dynamics(m, e, &def))
    return false;
  if (type == FIXED) return true;
  if (type == PLANAR) return add_planar(m, e, def);
  def.type = type == PRISMATIC   ? AB_JOINT_SLIDE
             : type == FLOATING  ? AB_JOINT_FREE
             : type == SPHERICAL ? AB_JOINT_BALL
                                 : AB_JOINT_HINGE;
  if (type == SPHERICAL && def.limited) ab_note(m, AB_NOTE_SPHERE, e, NULL);
  if (type == CONTINUOUS || type == FLOATING || type == SPHERICAL) def.limited = false;
  return ab_put_joint(m, e, &def) >= 0;
}

// --- links ---------------------------------------------------------------------------------------

// Where a link's body hangs.
typedef struct Hang {
  int body;
  bool moves;   // some joint above
  abPose pose;  // of the body in the world, if nothing moves
} Hang;

// Whether the link itself, or one fixed to it, has a mass: stated, or by its geometry.
static bool weighs(const Tree* t, int i) {
  const Link* l = &t->link[i];
  if (ab_urdf_weighs(t->m, l->e)) return true;
  for (int k = l->child; k >= 0; k = t->link[k].next)
    if (is_fixed(t->link[k].joint) && weighs(t, k)) return true;
  return false;
}

// A link that moves needs a mass: one of 1 g and 1 cm disturbs no robot.
static void give_mass(abReading* m, const abXml* link, abBodyDef* def) {
  ab_note(m, AB_NOTE_MASSLESS, link, NULL);
  def->has_inertial = true;
  if (!(def->mass > 0)) def->mass = 1e-3;
  for (int i = 0; i < 6; i++) def->inertia[i] = i < 3 ? def->mass * 1e-4 : 0;
}

static bool add_link(Tree* t, int i, const Hang* above, Hang* out) {
  abReading* m = t->m;
  const Link* l = &t->link[i];
  const char* name = ab_xml_attr(l->e, "name")->value;
  abBodyDef def = ab_body_def();
  int type = FIXED;
  abPose pose = pose_identity();
  *out = *above;  // what hangs on a link that cannot be read is looked at all the same
  if (l->joint && (!joint_type(m, l->joint, &type) || !ab_urdf_origin(m, l->joint, &pose)))
    return false;
  *out = (Hang){above->body, above->moves || type != FIXED, pose_mul(above->pose, pose)};
  if (!l->joint && !strcmp(name, "world")) {
    out->body = 0;
    return ab_urdf_geoms(m, l->e, 0);
  }
  if (type == FLOATING && above->moves)
    return ab_bad(m, AB_ERROR_UNSUPPORTED, l->joint, NULL,
                  "not supported: a floating joint below a link that moves");
  def.name = name;
  def.parent = type == FLOATING ? 0 : above->body;
  def.pose = type == FLOATING ? out->pose : pose;
  def.source = (abSource){l->e->file, l->e->line};
  if (!ab_urdf_inertial(m, l->e, &def)) return false;
  if (type != FIXED && !weighs(t, i)) give_mass(m, l->e, &def);
  int body = ab_scene_add_body(m->scene, &def, m->error);
  if (body < 0) return ab_place(m, l->e);
  out->body = body;
  return ab_enter(m, l->e, &m->body, name, out->body) &&
         (!l->joint || add_joint(m, l->joint, type, out->body)) &&
         ab_urdf_geoms(m, l->e, out->body);
}

// Depth first, without recursion: a chain of links may be as long as it likes.
static bool add_tree(Tree* t, int root) {
  Hang* hang = ab_alloc(sizeof *hang * (size_t)t->n);
  if (!hang) return ab_no_memory(t->m);
  Hang world = {0, false, pose_identity()};
  bool ok = true;
  for (int i = root; ok && i >= 0;) {
    int parent = t->link[i].parent;
    ok = add_link(t, i, i == root ? &world : &hang[parent], &hang[i]) ||
         ab_go_on(t->m, t->link[i].e);
    t->nvisited++;
    if (t->link[i].child >= 0) {
      i = t->link[i].child;
      continue;
    }
    while (i != root && t->link[i].next < 0) i = t->link[i].parent;
    i = i == root ? -1 : t->link[i].next;
  }
  ab_free(hang);
  return ok;
}

static bool add_all(Tree* t, const abXml* root) {
  if (!collect_links(t, root) || !collect_joints(t, root)) return false;
  for (int i = 0; i < t->n; i++)
    if (!t->link[i].joint && !add_tree(t, i)) return false;
  if (t->n == 0) return ab_bad(t->m, AB_ERROR_SCENE, root, NULL, "the robot has no links");
  for (const abXml* e = root->child; e; e = e->next)
    if (ab_xml_is(e, "joint") && !add_mimic(t->m, e) && !ab_go_on(t->m, e)) return false;
  if (t->nvisited == t->n) return true;
  return ab_bad(t->m, AB_ERROR_SCENE, root, NULL,
                "the joints close a loop: %d of %d links hang on no root link", t->n - t->nvisited,
                t->n);
}

// MuJoCo's extension: <mujoco> with the settings of MJCF.
static bool read_extension(abReading* m, const abXml* e) {
  for (const abXml* k = e->child; k; k = k->next) {
    bool ok = ab_xml_is(k, "compiler") ? ab_read_compiler(m, k)
              : ab_xml_is(k, "option") ? ab_read_option(m, k)
              : ab_xml_is(k, "size")   ? ab_check_attributes(m, k)
                                       : ab_other_element(m, k, "compiler option size");
    if (!ok && !ab_go_on(m, k)) return false;
  }
  return true;
}

// Vectors with commas between their numbers, or with more numbers than they have places: other
// programs read them, so they are put right, with a note.
static bool tidy_vectors(abReading* m, abXml* e) {
  for (int i = 0; i < e->nattr; i++) {
    abXmlAttr* a = (abXmlAttr*)&e->attr[i];  // of the document, which is ours
    if (!ab_xml_listed(a->name, "xyz rpy scale size")) continue;
    if (!strchr(a->value, ',') && ab_xml_count(a) <= 3) continue;
    ab_note(m, AB_NOTE_NUMBERS, e, a);
    char* text = (char*)ab_xml_copy(m->doc, a->value);
    if (!text) return ab_no_memory(m);
    for (char* c = text; *c; c++)
      if (*c == ',') *c = ' ';
    char* end = text;
    for (int n = 0; n < 3; n++) {
      end += strspn(end, " \t\r\n");
      end += strcspn(end, " \t\r\n");
    }
    *end = 0;
    a->value = text;
  }
  for (abXml* k = e->child; k; k = k->next)
    if (!tidy_vectors(m, k)) return false;
  return true;
}

bool ab_urdf_read(abReading* m, const abXml* root) {
  if (!tidy_vectors(m, m->doc->root)) return false;
  if (!ab_urdf_check(m, root) && !ab_go_on(m, root)) return false;
  const abXmlAttr* name = ab_xml_attr(root, "name");
  if (name) ab_scene_option(m->scene)->name = ab_scene_string(m->scene, name->value);
  for (const abXml* e = root->child; e; e = e->next)
    if (ab_xml_is(e, "mujoco") && !read_extension(m, e)) return false;
  if (!ab_enter(m, root, &m->body, "world", 0)) return false;
  Tree t = {.m = m};
  bool ok = (add_all(&t, root) || ab_go_on(m, root)) && ab_no_problems(m);
  if (!ok) ab_no_problems(m);
  ab_free(t.link);
  ab_labels_free(&t.name);
  return ok;
}
