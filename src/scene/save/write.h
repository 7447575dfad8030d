// Writing MJCF: what the files of ab_scene_save share.
#ifndef ABUT_SCENE_WRITE_H
#define ABUT_SCENE_WRITE_H

#include <stdio.h>

#include "scene/scene.h"

typedef struct abWriter {
  FILE* f;
  const abScene* s;
  char name[128];  // one made up for a thing that has none
} abWriter;

// Attributes with a blank before them; word writes nothing for an empty text.
void ab_write_number(abWriter* w, double x);  // the bare number
void ab_write_numbers(abWriter* w, const char* attr, int n, const double* x);
void ab_write_one(abWriter* w, const char* attr, double x);
void ab_write_one_unless(abWriter* w, const char* attr, double x, double standard);
void ab_write_vector(abWriter* w, const char* attr, abVec3 v);
void ab_write_pose(abWriter* w, abPose p);
void ab_write_escaped(abWriter* w, const char* text);  // the bare text
void ab_write_word(abWriter* w, const char* attr, const char* text);

// Names, made up as the compiler does where there is none; valid until the next call.
const char* ab_write_geom_name(abWriter* w, int i);
const char* ab_write_joint_name(abWriter* w, int i);
const char* ab_write_body_name(abWriter* w, int i);
const char* ab_write_mesh_name(abWriter* w, int i);
const char* ab_write_site_name(abWriter* w, int i);
const char* ab_write_tendon_name(abWriter* w, int i);

// law.c: the sections that refer to bodies.
void ab_save_laws(abWriter* w);

#endif
