// Random scenes that are well-formed XML: the bytes choose elements, attributes and values from
// lists, so that the search spends its time behind the XML parser, in what the words mean.
#include <abut/scene.h>
#include <stdio.h>
#include <string.h>

#include "scene/mjcf/mjcf.h"

typedef struct Text {
  char bytes[1 << 15];
  size_t n;
} Text;

typedef struct Source {
  const uint8_t* data;
  size_t n, at;
} Source;

static unsigned next(Source* s) { return s->at < s->n ? s->data[s->at++] : 0; }
static const char* pick(Source* s, const char* const* list, size_t n) { return list[next(s) % n]; }
#define PICK(s, list) pick((s), (list), sizeof list / sizeof *list)

// What may stand in what, and what each takes; lists of words.
static const struct {
  const char *element, *children, *attributes;
} grammar[] = {
    {"mujoco",
     "worldbody worldbody worldbody default asset contact actuator keyframe custom compiler option "
     "tendon equality sensor",
     ""},
    {"worldbody", "body body geom frame replicate site", ""},
    {"body", "geom geom joint body freejoint inertial frame replicate site",
     "name pos quat euler axisangle xyaxes zaxis childclass gravcomp mocap"},
    {"frame", "geom joint body frame replicate", "pos quat euler childclass"},
    {"replicate", "geom body frame", "count offset euler sep"},
    {"geom", "",
     "name class type type size size size pos quat euler fromto mass density mesh material "
     "friction "
     "condim contype priority group shellinertia margin"},
    {"joint", "",
     "name joint coef joint1 joint2 polycoef active class type type axis pos range limited "
     "stiffness damping armature frictionloss ref "
     "actuatorfrcrange margin"},
    {"freejoint", "", "name"},
    {"inertial", "", "pos pos mass mass diaginertia diaginertia fullinertia quat euler"},
    {"default",
     "geom joint default mesh material pair motor position velocity damper muscle general site "
     "tendon equality",
     "class"},
    {"asset", "mesh material", ""},
    {"mesh", "", "name name vertex vertex face scale inertia refpos refquat class"},
    {"material", "", "name rgba"},
    {"contact", "pair exclude", ""},
    {"pair", "", "geom1 geom2 condim friction margin gap"},
    {"exclude", "", "body1 body2"},
    {"actuator", "motor position velocity general damper", ""},
    {"motor", "", "joint joint tendon site refsite class ctrlrange forcerange gear name"},
    {"position", "", "joint tendon site refsite class kp kv dampratio ctrlrange inheritrange gear"},
    {"velocity", "", "joint joint class kv"},
    {"damper", "", "joint joint class kv ctrlrange"},
    {"general", "", "joint joint class gaintype biastype gainprm biasprm ctrllimited"},
    {"keyframe", "key", ""},
    {"key", "", "name qpos qvel ctrl mpos mquat time"},
    {"custom", "numeric text tuple", ""},
    {"numeric", "", "name name data data"},
    {"text", "", "name name data data"},
    {"tuple", "element", "name name"},
    {"element", "", "objtype objtype objname objname prm prm"},
    {"compiler", "",
     "angle eulerseq inertiafromgeom settotalmass boundmass boundinertia balanceinertia autolimits "
     "inertiagrouprange"},
    {"option", "flag", "timestep gravity integrator"},
    {"flag", "", "contact limit gravity constraint passive"},
    {"tendon", "fixed", "stiffness range tendon1 tendon2 polycoef"},
    {"fixed", "joint joint", "name stiffness range limited class springlength armature"},
    {"equality", "weld connect joint tendon", "active"},
    {"weld", "", "body1 body1 body2 site1 site2 anchor relpose torquescale active class name"},
    {"connect", "", "body1 body1 body2 site1 site2 anchor anchor active class name"},
    {"site", "", "name name class pos euler fromto"},
    {"muscle", "", ""},
    {"sensor", "", ""},
};
enum { NGRAMMAR = sizeof grammar / sizeof *grammar };

// The i-th word of a list, counted round and round; its length goes to *n.
static const char* word_of(const char* list, unsigned i, size_t* n) {
  unsigned count = 1;
  for (const char* c = list; *c; c++) count += *c == ' ';
  for (i %= count; i > 0; i--) list = strchr(list, ' ') + 1;
  *n = strcspn(list, " ");
  return list;
}

static unsigned find(const char* name, size_t n) {
  for (unsigned i = 0; i < NGRAMMAR; i++)
    if (strlen(grammar[i].element) == n && !memcmp(grammar[i].element, name, n)) return i;
  return 0;
}

static const char* const word[] = {"a",
                                   "b",
                                   "world",
                                   "main",
                                   "true",
                                   "false",
                                   "auto",
                                   "box",
                                   "sphere",
                                   "capsule",
                                   "cylinder",
                                   "ellipsoid",
                                   "plane",
                                   "mesh",
                                   "free",
                                   "ball",
                                   "slide",
                                   "hinge",
                                   "geom",
                                   "affine",
                                   "fixed",
                                   "none",
                                   "legacy",
                                   "convex",
                                   "exact",
                                   "shell",
                                   "radian",
                                   "xyz",
                                   "ZYX",
                                   "Euler",
                                   "RK4",
                                   "disable",
                                   "abut.e_r",
                                   "abut.contact",
                                   "abut.mu_static",
                                   "0 0 0 1 0 0 0 1 0 0 0 1",
                                   "0 1 2 0 2 3 0 3 1 1 3 2"};
static const char* const value[] = {
    "0",   "1",    "-1",    "2",      "3",     "0.1",    "0.5", "-0.3", "90", "1e-3",
    "1e9", "1e-9", "1e154", "1e-160", "1e308", "1e-308", "4",   "6",    "12", "0.7071067811865476"};

static void put_n(Text* t, const char* s, size_t n) {
  if (t->n + n < sizeof t->bytes) memcpy(t->bytes + t->n, s, n), t->n += n;
}
static void put(Text* t, const char* s) { put_n(t, s, strlen(s)); }

static void put_attributes(Text* t, Source* s, const char* list) {
  const char* used[12];
  unsigned nused = 0;
  if (!list[0]) return;
  for (unsigned n = next(s) % 12; n > 0; n--) {
    size_t length;
    const char* name = word_of(list, next(s), &length);
    bool again = false;
    for (unsigned i = 0; i < nused; i++) again |= !strncmp(used[i], name, length);
    if (again) continue;
    used[nused++] = name;
    put(t, " ");
    put_n(t, name, length);
    put(t, "=\"");
    unsigned kind = next(s);
    if (kind & 1) put(t, PICK(s, word));
    for (unsigned k = (kind >> 1) % 7 + 1; !(kind & 1) && k > 0; k--) {
      put(t, PICK(s, value));
      put(t, " ");
    }
    put(t, "\"");
  }
}

static void write_scene(Text* t, Source* s) {
  unsigned open[32] = {0};  // grammar[0] is the root
  int depth = 0;
  put(t, "<mujoco>");
  while (s->at < s->n && t->n < sizeof t->bytes - 4000) {
    unsigned what = next(s);
    const char* children = grammar[open[depth]].children;
    if (depth && (what % 4 == 0 || !children[0])) {
      put(t, "</");
      put(t, grammar[open[depth--]].element);
      put(t, ">");
      continue;
    }
    size_t length;
    const char* name = word_of(children, next(s), &length);
    unsigned e = find(name, length);
    put(t, "<");
    put(t, grammar[e].element);
    put_attributes(t, s, grammar[e].attributes);
    bool leaf = !grammar[e].children[0] || depth == 31;
    put(t, leaf ? "/>" : ">");
    if (!leaf) open[++depth] = e;
  }
  for (; depth >= 0; depth--) {
    put(t, "</");
    put(t, grammar[open[depth]].element);
    put(t, ">");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Text t;
  Source s = {data, size, 0};
  abNotes notes;
  abError error;
  t.n = 0;
  write_scene(&t, &s);
  abScene* scene = ab_scene_load_memory("fuzz", t.bytes, t.n, &notes, &error);
  abModel* model = scene ? ab_scene_compile(scene, &error) : NULL;
  ab_model_free(model);
  ab_scene_free(scene);
  ab_notes_free(&notes);
  return 0;
}
