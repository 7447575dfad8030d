// The recorded model: abModel -> JSON (ab_model_json, in record.h) and back.
#ifndef ABUT_IO_MODEL_JSON_H
#define ABUT_IO_MODEL_JSON_H

#include <abut/record.h>

const char* ab_shape_type_name(abShapeType type);
const char* ab_joint_type_name(abJointType type);
// ab_model_json with meshes, its numbers to single precision.
char* ab_model_json_short(const abModel* model);
// A model with names, frames, masses, joints, shapes (without polyhedra) and meshes, or NULL with
// the error filled in. `path` is named in messages.
abModel* ab_model_from_json(const char* json, const char* path, abError* error);
void ab_recorded_model_free(abModel* model);

#endif
