// A scene written as MJCF. Angles are in radians, frames are quaternions, meshes stand in the file
// by their vertices, and every limit says whether it limits, so that old and new MuJoCo read the
// same model. Numbers are written with the fewest digits that give the same double back.
// Tests: test_mujoco_model.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "math/rotation.h"
#include "scene/save/write.h"

// --- settings ------------------------------------------------------------------------------------

static void save_settings(abWriter* w) {
  const abSceneOption* o = &w->s->option;
  fputs("  <compiler angle=\"radian\" autolimits=\"true\"", w->f);
  ab_write_one_unless(w, "boundmass", o->boundmass, 0);
  ab_write_one_unless(w, "boundinertia", o->boundinertia, 0);
  if (o->settotalmass > 0) ab_write_one(w, "settotalmass", o->settotalmass);
  if (o->balanceinertia) ab_write_word(w, "balanceinertia", "true");
  fputs("/>\n  <option", w->f);
  ab_write_one(w, "timestep", o->timestep);
  ab_write_vector(w, "gravity", o->gravity);
  ab_write_word(w, "integrator", o->integrator == AB_INTEGRATOR_RK4 ? "RK4" : "Euler");
  bool off = o->contact && !strcmp(o->contact, "none");
  fputs(off ? ">\n    <flag contact=\"disable\"/>\n  </option>\n" : "/>\n", w->f);
}

static double geom_number(const abGeomDef* g, int which) {
  return which == 0   ? g->mu_static
         : which == 1 ? g->e_r
         : which == 2 ? g->e_t
         : which == 3 ? g->e_o
                      : g->restitution;
}

static void save_tuples(abWriter* w) {
  static const char* const name[] = {"mu_static", "e_r", "e_t", "e_o", "restitution"};
  abGeomDef standard = ab_geom_def();
  for (int k = 0; k < 5; k++) {
    bool open = false;
    for (int i = 0; i < w->s->geom.n; i++) {
      double x = geom_number(&w->s->geom.item[i], k);
      if (x == geom_number(&standard, k) || (k < 2 && x < 0)) continue;
      if (!open) fprintf(w->f, "    <tuple name=\"abut.%s\">\n", name[k]);
      open = true;
      fputs("      <element objtype=\"geom\"", w->f);
      ab_write_word(w, "objname", ab_write_geom_name(w, i));
      ab_write_one(w, "prm", x);
      fputs("/>\n", w->f);
    }
    if (open) fputs("    </tuple>\n", w->f);
  }
}

static void save_custom(abWriter* w) {
  const abScene* s = w->s;
  fputs("  <custom>\n", w->f);
  if (s->option.contact && strcmp(s->option.contact, "none")) {
    fputs("    <text name=\"abut.contact\"", w->f);
    ab_write_word(w, "data", s->option.contact);
    fputs("/>\n", w->f);
  }
  fputs("    <numeric name=\"abut.tessellation\"", w->f);
  ab_write_one(w, "data", s->option.tessellation);
  fputs("/>\n", w->f);
  for (int i = 0; i < s->setting.n; i++) {
    fputs("    <numeric name=\"abut.", w->f);
    ab_write_escaped(w, s->setting.item[i].name);
    fputs("\"", w->f);
    ab_write_one(w, "data", s->setting.item[i].value);
    fputs("/>\n", w->f);
  }
  save_tuples(w);
  fputs("  </custom>\n", w->f);
}

// --- assets --------------------------------------------------------------------------------------

static void save_mesh(abWriter* w, int i) {
  static const char* const rule[] = {"legacy", "convex", "exact", "shell"};
  const abMeshDef* m = &w->s->mesh.item[i];
  fputs("    <mesh", w->f);
  ab_write_word(w, "name", ab_write_mesh_name(w, i));
  ab_write_vector(w, "scale", m->scale);
  ab_write_vector(w, "refpos", m->ref.p);
  if (m->ref.q.w != 1)
    ab_write_numbers(w, "refquat", 4, (double[4]){m->ref.q.w, m->ref.q.x, m->ref.q.y, m->ref.q.z});
  if (m->inertia != AB_MESH_INERTIA_LEGACY) ab_write_word(w, "inertia", rule[m->inertia]);
  fputs("\n          vertex=\"", w->f);
  for (int k = 0; k < m->nvert; k++) {
    double x[3] = {m->vert[k].x, m->vert[k].y, m->vert[k].z};
    for (int c = 0; c < 3; c++) {
      ab_write_number(w, x[c]);
      fputc(c == 2 && k % 4 == 3 ? '\n' : ' ', w->f);
    }
  }
  int n = m->nmass > 0 ? m->nmass : m->ntriangle;  // MJCF has no word for the others
  if (n) fputs("\"\n          face=\"", w->f);
  for (int k = 0; k < n; k++)
    fprintf(w->f, "%d %d %d%c", m->triangle[k][0], m->triangle[k][1], m->triangle[k][2],
            k % 8 == 7 ? '\n' : ' ');
  fputs("\"/>\n", w->f);
}

// --- bodies --------------------------------------------------------------------------------------

static void save_joint(abWriter* w, int i, int depth) {
  static const char* const type[] = {[AB_JOINT_FREE] = "free",
                                     [AB_JOINT_BALL] = "ball",
                                     [AB_JOINT_SLIDE] = "slide",
                                     [AB_JOINT_HINGE] = "hinge"};
  const abJointDef* j = &w->s->joint.item[i];
  fprintf(w->f, "%*s<joint", depth, "");
  ab_write_word(w, "name", ab_write_joint_name(w, i));
  ab_write_word(w, "type", type[j->type]);
  if (j->type != AB_JOINT_FREE) {
    ab_write_vector(w, "pos", j->pos);
    if (j->type != AB_JOINT_BALL) ab_write_vector(w, "axis", j->axis);
    ab_write_word(w, "limited", j->limited ? "true" : "false");
    if (j->limited) ab_write_numbers(w, "range", 2, j->range);
    ab_write_one_unless(w, "margin", j->margin, 0);
    ab_write_one_unless(w, "ref", j->ref, 0);
    ab_write_one_unless(w, "springref", j->springref, 0);
  }
  ab_write_one_unless(w, "stiffness", j->stiffness, 0);
  ab_write_one_unless(w, "damping", j->damping, 0);
  ab_write_one_unless(w, "armature", j->armature, 0);
  ab_write_one_unless(w, "frictionloss", j->frictionloss, 0);
  fputs("/>\n", w->f);
}

static void save_geom_surface(abWriter* w, const abGeomDef* g) {
  ab_write_one_unless(w, "contype", g->contype, 1);
  ab_write_one_unless(w, "conaffinity", g->conaffinity, 1);
  ab_write_one_unless(w, "condim", g->condim, 3);
  ab_write_one_unless(w, "priority", g->priority, 0);
  ab_write_one_unless(w, "group", g->group, 0);
  ab_write_numbers(w, "friction", 3, g->friction);
  ab_write_one_unless(w, "margin", g->margin, 0);
  ab_write_one_unless(w, "gap", g->gap, 0);
  if (g->mass >= 0)
    ab_write_one(w, "mass", g->mass);
  else
    ab_write_one_unless(w, "density", g->density, 1000);
  if (g->shell) ab_write_word(w, "shellinertia", "true");
  fprintf(w->f, " rgba=\"");
  for (int i = 0; i < 4; i++) {
    if (i) fputc(' ', w->f);
    ab_write_number(w, round(1e6 * g->rgba[i]) / 1e6);
  }
  fputc('"', w->f);
}

static void save_geom(abWriter* w, int i, int depth) {
  static const char* const type[] = {
      [AB_SHAPE_PLANE] = "plane",       [AB_SHAPE_BOX] = "box",
      [AB_SHAPE_SPHERE] = "sphere",     [AB_SHAPE_CAPSULE] = "capsule",
      [AB_SHAPE_CYLINDER] = "cylinder", [AB_SHAPE_ELLIPSOID] = "ellipsoid",
      [AB_SHAPE_MESH] = "mesh"};
  static const int nsize[] = {
      [AB_SHAPE_PLANE] = 3,   [AB_SHAPE_BOX] = 3,      [AB_SHAPE_SPHERE] = 1,
      [AB_SHAPE_CAPSULE] = 2, [AB_SHAPE_CYLINDER] = 2, [AB_SHAPE_ELLIPSOID] = 3,
      [AB_SHAPE_MESH] = 0};
  const abGeomDef* g = &w->s->geom.item[i];
  fprintf(w->f, "%*s<geom", depth, "");
  ab_write_word(w, "name", ab_write_geom_name(w, i));
  ab_write_word(w, "type", type[g->type]);
  double size[3] = {g->size.x, g->size.y, g->size.z};
  if (g->type == AB_SHAPE_PLANE && !(size[2] > 0)) size[2] = 1;  // the grid that is drawn
  if (nsize[g->type]) ab_write_numbers(w, "size", nsize[g->type], size);
  if (g->type == AB_SHAPE_MESH) ab_write_word(w, "mesh", ab_write_mesh_name(w, g->mesh));
  ab_write_pose(w, g->pose);
  save_geom_surface(w, g);
  fputs("/>\n", w->f);
}

static void save_site(abWriter* w, int i, int depth) {
  fprintf(w->f, "%*s<site", depth, "");
  ab_write_word(w, "name", ab_write_site_name(w, i));
  ab_write_pose(w, w->s->site.item[i].pose);
  fputs("/>\n", w->f);
}

static void save_inertial(abWriter* w, const abBodyDef* b, int depth) {
  const double* x = b->inertia;
  abMat3 I = {{{x[0], x[3], x[4]}, {x[3], x[1], x[5]}, {x[4], x[5], x[2]}}};
  fprintf(w->f, "%*s<inertial", depth, "");
  ab_write_one(w, "mass", b->mass);
  if (x[3] == 0 && x[4] == 0 && x[5] == 0) {
    ab_write_pose(w, b->inertial);
    ab_write_numbers(w, "diaginertia", 3, x);
  } else {
    abMat3 R = quat_matrix(b->inertial.q), Rt = m3_transpose(&R), RI = m3_mul(&R, &I);
    I = m3_mul(&RI, &Rt);
    ab_write_vector(w, "pos", b->inertial.p);
    ab_write_numbers(w, "fullinertia", 6,
                     (double[6]){I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]});
  }
  fputs("/>\n", w->f);
}

static void open_body(abWriter* w, int i, int depth) {
  const abBodyDef* b = &w->s->body.item[i];
  fprintf(w->f, "%*s<body", depth, "");
  ab_write_word(w, "name", ab_write_body_name(w, i));
  ab_write_pose(w, b->pose);
  if (!b->gravity) ab_write_word(w, "gravcomp", "1");
  if (b->mocap) ab_write_word(w, "mocap", "true");
  fputs(">\n", w->f);
  if (b->has_inertial) save_inertial(w, b, depth + 2);
}

// For each body: its first child and next sibling, its first joint, geom and site; for each of
// these the next one of its body.
typedef struct Links {
  int *child, *sibling, *joint, *next_joint, *geom, *next_geom, *site, *next_site;
} Links;

static int* fill_links(int n, int nbody, const void* item, size_t stride, size_t body_at,
                       int* first) {
  int* next = ab_alloc(sizeof(int) * (size_t)(n + 1));
  if (!next) return NULL;
  for (int b = 0; b < nbody; b++) first[b] = -1;
  for (int i = n - 1; i >= 0; i--) {
    int body;
    memcpy(&body, (const char*)item + stride * (size_t)i + body_at, sizeof body);
    next[i] = first[body];
    first[body] = i;
  }
  return next;
}

static bool make_links(const abScene* s, Links* l) {
  size_t bytes = sizeof(int) * (size_t)s->body.n;
  *l = (Links){.child = ab_alloc(bytes), .joint = ab_alloc(bytes), .geom = ab_alloc(bytes)};
  l->site = ab_alloc(bytes);
  if (!l->child || !l->joint || !l->geom || !l->site) return false;
  l->next_joint = fill_links(s->joint.n, s->body.n, s->joint.item, sizeof(abJointDef),
                             offsetof(abJointDef, body), l->joint);
  l->next_geom = fill_links(s->geom.n, s->body.n, s->geom.item, sizeof(abGeomDef),
                            offsetof(abGeomDef, body), l->geom);
  l->next_site = fill_links(s->site.n, s->body.n, s->site.item, sizeof(abSiteDef),
                            offsetof(abSiteDef, body), l->site);
  // the world is its own parent and comes first: leave it out
  l->sibling = ab_alloc(bytes);
  if (!l->sibling) return false;
  for (int b = 0; b < s->body.n; b++) l->child[b] = -1;
  for (int b = s->body.n - 1; b > 0; b--) {
    int parent = s->body.item[b].parent;
    l->sibling[b] = l->child[parent];
    l->child[parent] = b;
  }
  l->sibling[0] = -1;
  return l->next_joint && l->next_geom && l->next_site;
}

static void free_links(Links* l) {
  int* all[] = {l->child, l->sibling,   l->joint, l->next_joint,
                l->geom,  l->next_geom, l->site,  l->next_site};
  for (int i = 0; i < 8; i++) ab_free(all[i]);
}

static void save_tree(abWriter* w, const Links* l) {
  int depth = 2;
  fputs("  <worldbody>\n", w->f);
  for (int b = 0;;) {
    if (b) open_body(w, b, depth);
    for (int j = l->joint[b]; j >= 0; j = l->next_joint[j]) save_joint(w, j, depth + 2);
    for (int g = l->geom[b]; g >= 0; g = l->next_geom[g]) save_geom(w, g, depth + 2);
    for (int k = l->site[b]; k >= 0; k = l->next_site[k]) save_site(w, k, depth + 2);
    if (l->child[b] >= 0) {
      b = l->child[b];
      depth += 2;
      continue;
    }
    while (b) {
      fprintf(w->f, "%*s</body>\n", depth, "");
      if (l->sibling[b] >= 0) break;
      b = w->s->body.item[b].parent;
      depth -= 2;
    }
    if (!b) break;
    b = l->sibling[b];
  }
  fputs("  </worldbody>\n", w->f);
}

abStatus ab_scene_save(const abScene* scene, const char* path, abError* error) {
  if (!scene || !path)
    return ab_fail(error, AB_ERROR_ARGUMENT, path, 0, "there is no scene, or no name to write to");
  Links links;
  abWriter w = {.s = scene};
  if (!make_links(scene, &links)) {
    free_links(&links);
    return ab_fail(error, AB_ERROR_MEMORY, path, 0, "no memory to write the scene");
  }
  w.f = fopen(path, "w");
  if (w.f) {
    fputs("<mujoco", w.f);
    ab_write_word(&w, "model", scene->option.name);
    fputs(">\n", w.f);
    save_settings(&w);
    save_custom(&w);
    if (scene->mesh.n) fputs("  <asset>\n", w.f);
    for (int i = 0; i < scene->mesh.n; i++) save_mesh(&w, i);
    if (scene->mesh.n) fputs("  </asset>\n", w.f);
    save_tree(&w, &links);
    ab_save_laws(&w);
    fputs("</mujoco>\n", w.f);
  }
  free_links(&links);
  bool bad = !w.f || ferror(w.f);
  if (w.f && fclose(w.f) != 0) bad = true;
  return bad ? ab_fail(error, AB_ERROR_FILE, path, 0,
                       "the file cannot be written; check the folder and its permissions")
             : AB_OK;
}
