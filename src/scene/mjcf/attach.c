// Models in a scene: <asset><model name file/></asset> reads another file, MJCF or URDF, with its
// own settings and classes, and <attach model body prefix/> puts it, or one body of it with all
// below, into the body or frame it stands in, as often as the scene likes.
// Tests: test_mjcf, test_mujoco_model.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "math/rotation.h"
#include "scene/attachment.h"
#include "scene/mjcf/mjcf.h"
#include "scene/scene.h"

// Models may hold models; a file that holds itself would never end.
#define MAX_DEPTH 8

static void take_notes(abReading* m, abNotes* notes) {
  for (int i = 0; i < notes->nproblem; i++)
    ab_add_problem(&m->nproblem, &m->problem, &notes->problem[i]);
  for (int i = 0; i < notes->n && m->notes; i++)
    ab_add_problem(&m->notes->n, &m->notes->note, &notes->note[i]);
  ab_notes_free(notes);
}

bool ab_read_model(abReading* m, const abXml* e) {
  const abXmlAttr *file = ab_xml_attr(e, "file"), *name = ab_xml_attr(e, "name");
  if (!ab_check_attributes(m, e)) return false;
  if (!file) return ab_bad(m, AB_ERROR_PARSE, e, NULL, "a model needs file=\"...\"");
  if (!m->files) return ab_bad(m, AB_ERROR_FILE, e, file, "no files can be read here");
  if (m->depth >= MAX_DEPTH)
    return ab_bad(m, AB_ERROR_SCENE, e, file, "models hold each other more than %d deep",
                  MAX_DEPTH);
  const char* path = ab_xml_path(m->doc, m->doc->root->file, file->value);
  void* bigger = ab_grow(m->model, m->nmodel, sizeof(abScene*));
  if (!path || !bigger) return ab_no_memory(m);
  m->model = bigger;
  abNotes notes = {0};
  abScene* scene = ab_scene_load_part(path, m->depth + 1, &notes, m->error);
  m->reported = notes.nproblem > 0;
  take_notes(m, &notes);
  if (!scene) return ab_place(m, e);
  m->model[m->nmodel] = scene;
  const char* own = ab_scene_option(scene)->name;
  return ab_enter(m, e, &m->model_name, name ? name->value : own, m->nmodel++);
}

// --- attaching -----------------------------------------------------------------------------------

// An attachment under way, and the element that asked for it.
struct abAttaching {
  abAttachment a;
  const abXml* e;
  bool again;  // a replica but the first: keyframes are those of the first
  bool failed;
};

void ab_models_free(abReading* m) {
  for (int i = 0; i < m->nattaching; i++) ab_attach_end(&m->attaching[i].a);
  ab_free(m->attaching);
  for (int i = 0; i < m->nmodel; i++) ab_scene_free(m->model[i]);
  ab_free(m->model);
}

static bool failed(abReading* m, abAttaching* at) {
  at->failed = true;
  m->error->line = 0;  // of the model's file; what is wrong is wrong here
  return ab_place(m, at->e);
}

// The names of what was added from index `first` on, for the sections that refer to them.
static bool enter_bodies(abReading* m, const abXml* e, const abScene* s, const int first[4]) {
  for (int i = first[0]; i < s->body.n; i++)
    if (!ab_enter(m, e, &m->body, s->body.item[i].name, i)) return false;
  for (int i = first[1]; i < s->joint.n; i++)
    if (!ab_note_joint(m, &s->joint.item[i]) ||
        !ab_enter(m, e, &m->joint, s->joint.item[i].name, i))
      return false;
  for (int i = first[2]; i < s->geom.n; i++)
    if (!ab_enter(m, e, &m->geom, s->geom.item[i].name, i)) return false;
  for (int i = first[3]; i < s->site.n; i++)
    if (!ab_enter(m, e, &m->site, s->site.item[i].name, i)) return false;
  return true;
}

static bool attach_tendons(abReading* m, abAttaching* at) {
  const abScene* s = m->scene;
  int first = s->tendon.n;
  if (!ab_attach_tendons(&at->a)) return failed(m, at);
  for (int i = first; i < s->tendon.n; i++)
    if (!ab_note_tendon(m, &s->tendon.item[i]) ||
        !ab_enter(m, at->e, &m->tendon, s->tendon.item[i].name, i))
      return false;
  return true;
}

bool ab_read_attach(abReading* m, const abXml* e, const abPlace* place) {
  abView v = ab_plain(e);
  abAttachDef how = ab_attach_def();
  if (!ab_check_attributes(m, e)) return false;
  int model = ab_refer(m, e, "model", &m->model_name, "model among the assets");
  if (model < 0) return false;
  const abScene *part = m->model[model], *s = m->scene;
  const char *prefix = ab_get_text(&v, "prefix"), *body = ab_get_text(&v, "body");
  how.prefix = prefix;
  how.parent = place->body;
  how.pose = place->frame;
  how.body = body ? ab_scene_find_body(part, body) : 0;
  if (how.body < 0)
    return ab_bad(m, AB_ERROR_SCENE, e, ab_xml_attr(e, "body"),
                  "the model has no body of this name");
  abAttaching* bigger = ab_grow(m->attaching, m->nattaching, sizeof *bigger);
  if (!bigger) return ab_no_memory(m);
  m->attaching = bigger;
  abAttaching* at = &m->attaching[m->nattaching++];
  *at = (abAttaching){.e = e, .again = place->again};
  at->a = (abAttachment){
      .to = m->scene, .part = part, .how = how, .suffix = place->suffix, .error = m->error};
  const int first[4] = {s->body.n, s->joint.n, s->geom.n, s->site.n};
  if (!ab_attach_begin(&at->a) || !ab_attach_bodies(&at->a)) return failed(m, at);
  return enter_bodies(m, e, s, first);
}

bool ab_attach_rest(abReading* m, int number) {
  for (int i = 0; i < m->nattaching; i++) {
    abAttaching* at = &m->attaching[i];
    bool ok = at->failed || number < 5 || number > 7 ||
              (number == 5   ? attach_tendons(m, at)
               : number == 6 ? ab_attach_laws(&at->a) || failed(m, at)
                             : at->again || ab_attach_keys(&at->a) || failed(m, at));
    if (!ok && !ab_go_on(m, at->e)) return false;
  }
  return true;
}
