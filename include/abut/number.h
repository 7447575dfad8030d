// The numbers of a scene by name, to be changed before it is compiled (again): what sweeps vary.
//
//   abNumber mass;
//   ab_number_find(scene, "body.cube.mass", &mass, &error);
//   ab_number_set(scene, &mass, 0.7);
//   if (ab_number_check(scene, &mass, &error) == AB_OK) ab_scene_recompile(scene, model, &error);
//
// option.timestep                    option.gravity[i]
// body.NAME.mass                     the inertia goes with it; body.NAME.pos[i]
// geom.NAME.friction                 likewise friction[i], mu_static, e_t, e_o, e_r, restitution,
//                                    mass, density, size[i], pos[i], margin, gap
// joint.NAME.damping                 likewise stiffness, armature, frictionloss, ref, springref,
//                                    margin, range[i], pos[i]; angles in rad
// actuator.NAME.gainprm[i]           likewise gear (or gear[i]), biasprm[i], ctrlrange[i],
//                                    forcerange[i]
// key.NAME.qpos[i]                   likewise qvel[i] (as MJCF means it), ctrl[i]
// pair.GEOM1.GEOM2.friction          both tangential directions; or friction[i]
//
// Orientations are changed by key.NAME.qpos; the quaternion is made a unit one when compiled.
//
// A number found belongs to its scene and is good as long as that lives and nothing is added to it.
// A scene is used by one thread at a time.
#ifndef ABUT_NUMBER_H
#define ABUT_NUMBER_H

#include <abut/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abNumber {
  int kind, index, field, element;  // where it stands: for ab_number_get and ab_number_set alone
  bool reshapes;                    // a change needs a new abData
  const double* share;              // of a body's mass: what each of its geoms has of it
} abNumber;

// The number of that name; else the error proposes names. What it would have no effect to change is
// refused. The scene must compile.
AB_API abStatus ab_number_find(abScene* scene, const char* name, abNumber* number, abError* error);
AB_API double ab_number_get(const abScene* scene, const abNumber* number);
// Any value is taken; several numbers may be set before each is checked.
AB_API void ab_number_set(abScene* scene, const abNumber* number, double value);
// Whether the part of the scene the number belongs to makes sense now.
AB_API abStatus ab_number_check(const abScene* scene, const abNumber* number, abError* error);

// For messages: "; did you mean 'x'?" where one of the names is close to `name`, else "; there are:
// a, b, c".
AB_API const char* ab_suggest(const char* name, int n, const char* const* known, char* text,
                              size_t size);

#ifdef __cplusplus
}
#endif

#endif
