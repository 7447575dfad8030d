// Random scenes that are well-formed XML: the bytes choose elements, attributes and values from
// lists, so that the search spends its time behind the XML parser, in what the words mean.
#include <abut/scene.h>
#include <stdio.h>
#include <string.h>

#include "scene/mjcf.h"

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

static const char* const element[] = {
    "body",      "geom",    "joint",     "freejoint", "inertial", "frame",
    "replicate", "default", "worldbody", "asset",     "mesh",     "material",
    "contact",   "pair",    "exclude",   "actuator",  "motor",    "position",
    "velocity",  "general", "damper",    "keyframe",  "key",      "custom",
    "numeric",   "text",    "tuple",     "element",   "compiler", "option",
    "flag",      "tendon",  "fixed",     "equality",  "site",     "sensor"};
static const char* const attribute[] = {"name",
                                        "class",
                                        "childclass",
                                        "type",
                                        "pos",
                                        "quat",
                                        "euler",
                                        "axisangle",
                                        "xyaxes",
                                        "zaxis",
                                        "fromto",
                                        "size",
                                        "mass",
                                        "density",
                                        "mesh",
                                        "material",
                                        "friction",
                                        "condim",
                                        "contype",
                                        "priority",
                                        "group",
                                        "axis",
                                        "range",
                                        "limited",
                                        "stiffness",
                                        "damping",
                                        "armature",
                                        "ref",
                                        "diaginertia",
                                        "fullinertia",
                                        "vertex",
                                        "face",
                                        "scale",
                                        "inertia",
                                        "geom1",
                                        "geom2",
                                        "body1",
                                        "body2",
                                        "joint",
                                        "kp",
                                        "kv",
                                        "gear",
                                        "ctrlrange",
                                        "forcerange",
                                        "gaintype",
                                        "biastype",
                                        "gainprm",
                                        "biasprm",
                                        "qpos",
                                        "qvel",
                                        "ctrl",
                                        "data",
                                        "objtype",
                                        "objname",
                                        "prm",
                                        "count",
                                        "offset",
                                        "sep",
                                        "angle",
                                        "eulerseq",
                                        "inertiafromgeom",
                                        "settotalmass",
                                        "boundmass",
                                        "balanceinertia",
                                        "timestep",
                                        "gravity",
                                        "integrator",
                                        "refpos",
                                        "refquat",
                                        "gravcomp",
                                        "autolimits",
                                        "contact",
                                        "shellinertia",
                                        "actuatorfrcrange",
                                        "inheritrange"};
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

static void put(Text* t, const char* s) {
  size_t n = strlen(s);
  if (t->n + n < sizeof t->bytes) memcpy(t->bytes + t->n, s, n), t->n += n;
}

static void put_attributes(Text* t, Source* s) {
  bool used[sizeof attribute / sizeof *attribute] = {false};
  for (unsigned n = next(s) % 8; n > 0; n--) {
    unsigned i = next(s) % (sizeof attribute / sizeof *attribute);
    if (used[i]) continue;
    used[i] = true;
    put(t, " ");
    put(t, attribute[i]);
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
  const char* open[32];
  int depth = 0;
  put(t, "<mujoco>");
  while (s->at < s->n && t->n < sizeof t->bytes - 2000) {
    unsigned what = next(s);
    if (depth && what % 3 == 0) {
      put(t, "</");
      put(t, open[--depth]);
      put(t, ">");
      continue;
    }
    const char* e = PICK(s, element);
    put(t, "<");
    put(t, e);
    put_attributes(t, s);
    bool leaf = what % 3 == 1 || depth == 32;
    put(t, leaf ? "/>" : ">");
    if (!leaf) open[depth++] = e;
  }
  while (depth) {
    put(t, "</");
    put(t, open[--depth]);
    put(t, ">");
  }
  put(t, "</mujoco>");
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
