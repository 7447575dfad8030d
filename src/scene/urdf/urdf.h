// Shared by the files of the URDF reader.
#ifndef ABUT_SCENE_URDF_H
#define ABUT_SCENE_URDF_H

#include "scene/mjcf/mjcf.h"

bool ab_urdf_check(abReading* m, const abXml* e);  // attributes and children against what is known
const abXml* ab_urdf_child(const abXml* e, const char* name);  // the first, or NULL
bool ab_urdf_origin(abReading* m, const abXml* parent, abPose* pose);
bool ab_urdf_inertial(abReading* m, const abXml* link, abBodyDef* def);
// Whether a link has a mass of its own, stated or by its geometry.
bool ab_urdf_weighs(const abReading* m, const abXml* link);
bool ab_urdf_geoms(abReading* m, const abXml* link, int body);
// A mesh to collide with that is flat gets a thickness (flat.c).
bool ab_urdf_thicken(abReading* m, const abXml* e, int mesh);

#endif
