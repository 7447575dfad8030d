// The scene as it is being described: the definition structs, owned copies of everything they point
// to. builder.c fills it, compile.c reads it, save.c writes it out again.
#ifndef ABUT_SCENE_SCENE_H
#define ABUT_SCENE_SCENE_H

#include <abut/scene.h>

// Memory that is given back all at once.
typedef struct abBag {
  struct abBagItem* first;
} abBag;
void* ab_bag_take(abBag* bag, size_t bytes);  // cleared; NULL when there is no memory
char* ab_bag_copy_string(abBag* bag, const char* s);
void ab_bag_free(abBag* bag);

// Names to indices, one table per kind of thing (names.c).
typedef struct abNameTable {
  int n, capacity;  // entries, slots
  const char** key;
  int* value;
} abNameTable;
int ab_names_find(const abNameTable* table, const char* name);       // -1 if absent
bool ab_names_add(abNameTable* table, const char* name, int value);  // false: no memory
void ab_names_free(abNameTable* table);

typedef struct abExcludeDef {
  int body1, body2;
} abExcludeDef;

// A growing array of definitions.
#define AB_LIST(type) \
  struct {            \
    int n, capacity;  \
    type* item;       \
  }

struct abScene {
  abSceneOption option;
  AB_LIST(abBodyDef) body;  // body.item[0] is the world
  AB_LIST(abJointDef) joint;
  AB_LIST(abGeomDef) geom;
  AB_LIST(abMeshDef) mesh;  // with the vertices of its file, scaled as in the file
  AB_LIST(abSiteDef) site;
  AB_LIST(abTendonDef) tendon;
  AB_LIST(abEqualityDef) equality;
  AB_LIST(abActuatorDef) actuator;
  AB_LIST(abKeyDef) key;
  AB_LIST(abPairDef) pair;
  AB_LIST(abExcludeDef) exclude;
  AB_LIST(abSetting) setting;
  abNameTable body_name, joint_name, geom_name, mesh_name, actuator_name, key_name;
  abNameTable site_name, tendon_name, equality_name;
  abBag bag;              // strings and arrays the definitions point to
  const char* last_file;  // the file name copied last: most definitions share it
};

// ab_scene_compile that reports everything it finds: where it fails, the notes hold the problems
// alone.
abModel* ab_compile_scene(const abScene* scene, abNotes* notes, abError* error);
// Puts one more problem on the list; false when there is no memory or no room.
bool ab_add_problem(int* n, abError** list, const abError* problem);

// Whether a definition makes sense by itself; else false with the error filled in (builder.c,
// builder_law.c).
bool ab_check_body(const abScene* scene, const abBodyDef* def, abError* error);
bool ab_check_joint(const abScene* scene, const abJointDef* def, abError* error);
bool ab_check_geom(const abScene* scene, const abGeomDef* def, abError* error);
bool ab_check_actuator(const abScene* scene, const abActuatorDef* def, abError* error);
bool ab_check_pair(const abScene* scene, const abPairDef* def, abError* error);

#endif
