// Tests: test_mujoco_model.
#include "scene/save/write.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- values --------------------------------------------------------------------------------------

void ab_write_number(abWriter* w, double x) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  for (char* c = text; *c; c++)  // the point of the file, whatever the locale's
    if (*c == *localeconv()->decimal_point) *c = '.';
  fputs(text, w->f);
}

void ab_write_numbers(abWriter* w, const char* attr, int n, const double* x) {
  fprintf(w->f, " %s=\"", attr);
  for (int i = 0; i < n; i++) {
    if (i) fputc(' ', w->f);
    ab_write_number(w, x[i]);
  }
  fputc('"', w->f);
}

void ab_write_one(abWriter* w, const char* attr, double x) { ab_write_numbers(w, attr, 1, &x); }

void ab_write_one_unless(abWriter* w, const char* attr, double x, double standard) {
  if (x != standard) ab_write_one(w, attr, x);
}

void ab_write_vector(abWriter* w, const char* attr, abVec3 v) {
  ab_write_numbers(w, attr, 3, (double[3]){v.x, v.y, v.z});
}

void ab_write_pose(abWriter* w, abPose p) {
  ab_write_vector(w, "pos", p.p);
  if (p.q.w != 1) ab_write_numbers(w, "quat", 4, (double[4]){p.q.w, p.q.x, p.q.y, p.q.z});
}

void ab_write_escaped(abWriter* w, const char* text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '<')
      fputs("&lt;", w->f);
    else if (c == '&')
      fputs("&amp;", w->f);
    else if (c == '"')
      fputs("&quot;", w->f);
    else if (c < ' ')
      fprintf(w->f, "&#%d;", c);
    else
      fputc(c, w->f);
  }
}

void ab_write_word(abWriter* w, const char* attr, const char* text) {
  if (!text || !text[0]) return;
  fprintf(w->f, " %s=\"", attr);
  ab_write_escaped(w, text);
  fputc('"', w->f);
}

// The name of a thing, made up as the compiler does where it has none.
static const char* name_of(abWriter* w, const char* given, const char* kind, int index,
                           const abNameTable* taken) {
  if (given) return given;
  char* text = w->name;
  snprintf(text, sizeof w->name - 2, "%s%d", kind, index);
  while (ab_names_find(taken, text) >= 0 && strlen(text) + 2 < sizeof w->name) strcat(text, "_");
  return text;
}

const char* ab_write_geom_name(abWriter* w, int i) {
  return name_of(w, w->s->geom.item[i].name, "geom", i, &w->s->geom_name);
}
const char* ab_write_joint_name(abWriter* w, int i) {
  return name_of(w, w->s->joint.item[i].name, "joint", i, &w->s->joint_name);
}
const char* ab_write_body_name(abWriter* w, int i) {
  return i ? name_of(w, w->s->body.item[i].name, "body", i, &w->s->body_name) : "world";
}
const char* ab_write_mesh_name(abWriter* w, int i) {
  return name_of(w, w->s->mesh.item[i].name, "mesh", i, &w->s->mesh_name);
}
const char* ab_write_site_name(abWriter* w, int i) {
  return name_of(w, w->s->site.item[i].name, "site", i, &w->s->site_name);
}
const char* ab_write_tendon_name(abWriter* w, int i) {
  return name_of(w, w->s->tendon.item[i].name, "tendon", i, &w->s->tendon_name);
}
