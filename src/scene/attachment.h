// One scene within another, stage by stage: what a scene file says itself stands before what its
// attached models bring along, each kind for itself, as in MuJoCo.
#ifndef ABUT_SCENE_ATTACHMENT_H
#define ABUT_SCENE_ATTACHMENT_H

#include "scene/scene.h"

typedef struct abAttachment {
  abScene* to;
  const abScene* part;
  abAttachDef how;
  const char* suffix;  // of names, or NULL
  abError* error;
  // indices of the part -> of the whole; below 0: left out
  int *body, *joint, *geom, *mesh, *site, *tendon, *actuator;
} abAttachment;

// Checks and makes room; each returns false with the error filled in. ab_attach_end in any case.
bool ab_attach_begin(abAttachment* a);
bool ab_attach_bodies(abAttachment* a);  // with joints, geoms, meshes and sites
bool ab_attach_tendons(abAttachment* a);
bool ab_attach_laws(abAttachment* a);  // equalities, actuators, pairs and exclusions
// Keyframes of the part, of the whole; when that has all its bodies, joints and actuators. What
// does not belong to the part is initial. Their names have no suffix.
bool ab_attach_keys(abAttachment* a);
void ab_attach_end(abAttachment* a);

// Valid until the next call; the scene copies names.
const char* ab_attach_name(const abAttachment* a, const char* name, char text[600]);

#endif
