// Scenes from files: reads the text, tells MJCF from URDF by the root element, and hands the tree
// to the reader of that format.
// Tests: test_mjcf, test_urdf, test_model_file.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "scene/mjcf/mjcf.h"
#include "scene/scene.h"

static void free_reading(abReading* m) {
  abLabels* labels[] = {&m->body, &m->joint, &m->geom,   &m->mesh,     &m->material, &m->actuator,
                        &m->key,  &m->site,  &m->tendon, &m->equality, &m->spatial,  &m->failed};
  for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) ab_labels_free(labels[i]);
  for (int i = 0; i < AB_GEOM_NUMBER; i++) ab_labels_free(&m->number_name[i]);
  ab_free(m->joint_def);
  ab_free(m->joint_force);
  ab_free(m->tendon_range);
  ab_free(m->geom_number);
  ab_free(m->material_rgba);
  ab_labels_free(&m->model_name);
  ab_models_free(m);
  ab_xml_free(m->doc);
}

static bool read_tree(abReading* m) {
  const abXml* root = m->doc->root;
  if (ab_xml_is(root, "robot")) {
    m->compiler = (abCompilerElement){.autolimits = true,
                                      .strippath = true,
                                      .discardvisual = true,
                                      .fusestatic = true,
                                      .eulerseq = "XYZ",
                                      .inertiafromgeom = AB_AUTO,
                                      .group_high = 5};
    return ab_urdf_read(m, root);
  }
  if (!ab_xml_is(root, "mujoco")) {
    ab_fail(m->error, AB_ERROR_PARSE, root->file, root->line,
            "the root element is <%.40s>; a scene begins with <mujoco> (MJCF) or <robot> (URDF)",
            root->name);
    return false;
  }
  m->compiler = (abCompilerElement){.degree = true,
                                    .autolimits = true,
                                    .eulerseq = "xyz",
                                    .inertiafromgeom = AB_AUTO,
                                    .group_high = 5};
  return ab_xml_expand_includes(m->doc, m->error) == AB_OK && ab_mjcf_read(m, root);
}

// What is being loaded: text under a name, and how deep in other files it is.
typedef struct Source {
  const char *path, *bytes;
  size_t n;
  int depth;
} Source;

static abScene* load(abXmlDoc* doc, Source s, abNotes* notes, abError* error) {
  abError own;
  abReading m = {.doc = doc,
                 .notes = notes,
                 .depth = s.depth,
                 .error = error ? error : &own,
                 .files = doc->read == ab_xml_read_file};
  m.error->line = 0;
  m.error->file[0] = 0;
  bool ok = ab_xml_parse(doc, s.path, s.bytes, s.n, m.error) == AB_OK;
  if (ok) {
    m.scene = ab_scene_create();
    ok = m.scene || ab_no_memory(&m);
    if (ok) ab_scene_option(m.scene)->file = ab_scene_string(m.scene, s.path);
    ok = ok && read_tree(&m);
    if (ok && s.depth == 0) ab_apply_flags(&m);
  }
  free_reading(&m);
  if (ok) return m.scene;
  ab_scene_free(m.scene);
  ab_notes_free(notes);
  if (notes && m.nproblem) {
    notes->nproblem = m.nproblem;
    notes->problem = m.problem;
  } else {
    ab_free(m.problem);
  }
  return NULL;
}

abScene* ab_scene_load_part(const char* path, int depth, abNotes* notes, abError* error) {
  if (notes) *notes = (abNotes){0};
  char* bytes;
  size_t n;
  if (ab_xml_read_file(path, &bytes, &n, error) != AB_OK) return NULL;
  abXmlDoc doc = {.read = ab_xml_read_file};
  abScene* scene = load(&doc, (Source){path, bytes, n, depth}, notes, error);
  ab_free(bytes);
  return scene;
}

abScene* ab_scene_load_text(const char* path, const char* bytes, size_t n, abNotes* notes,
                            abError* error) {
  if (notes) *notes = (abNotes){0};
  if (n > AB_XML_BYTES) {
    ab_fail(error, AB_ERROR_FILE, path, 0, "the file is too large to be a scene");
    return NULL;
  }
  abXmlDoc doc = {.read = ab_xml_read_file};
  return load(&doc, (Source){path, bytes, n, 0}, notes, error);
}

abScene* ab_scene_load(const char* path, abNotes* notes, abError* error) {
  return ab_scene_load_part(path, 0, notes, error);
}

static abStatus read_nothing(const char* path, char** bytes, size_t* n, abError* error) {
  *bytes = NULL;
  *n = 0;
  return ab_fail(error, AB_ERROR_FILE, path, 0, "no files can be read here");
}

abScene* ab_scene_load_memory(const char* name, const char* bytes, size_t n, abNotes* notes,
                              abError* error) {
  if (notes) *notes = (abNotes){0};
  if (!name) name = "memory";
  if (!bytes) {
    ab_fail(error, AB_ERROR_ARGUMENT, name, 0, "there is no text to read a scene from");
    return NULL;
  }
  abXmlDoc doc = {.read = read_nothing};
  return load(&doc, (Source){name, bytes, n, 0}, notes, error);
}
