// What the files of the builder share: checks of a definition by itself, and appending it.
#ifndef ABUT_SCENE_BUILDER_H
#define ABUT_SCENE_BUILDER_H

#include "scene/scene.h"

// Who is being checked, for the messages.
typedef struct abSubject {
  const char* kind;
  const char* name;
  abSource source;
  abError* error;
} abSubject;

// Each check returns false after filling in the error.
#define AB_FAIL(subject, ...) ab_fail_subject((subject), __VA_ARGS__)
bool ab_fail_subject(const abSubject* s, const char* text);
bool ab_check_finite(const abSubject* s, int n, const double* x, const char* what);
bool ab_check_not_negative(const abSubject* s, double x, const char* what);
// An index into what was added before.
bool ab_check_refers(const abSubject* s, int index, int n, const char* what);
bool ab_check_pose(const abSubject* s, const abPose* p, const char* what);

// Registers the name (a copy) of what will get the index n, unless it is taken.
bool ab_claim_name(abScene* scene, abNameTable* table, const abSubject* s, int n,
                   const char** name);
bool ab_keep_source(abScene* scene, abSource* source);
int ab_scene_no_memory(abError* error);  // -1

// Room for one more item; where there is no memory, the list stays as it is.
void* ab_list_room(void* item, int n, int* capacity, size_t size);

// Appends *def to a list and gives its index; -1 when there is no memory.
#define AB_APPEND(list, def)                                                                 \
  ((list).item = ab_list_room((list).item, (list).n, &(list).capacity, sizeof *(list).item), \
   (list).n < (list).capacity ? ((list).item[(list).n] = *(def), (list).n++) : -1)

// Fills in the error where there is no scene or nothing to add; -1, as all that add something
// return where they add nothing.
int ab_nothing_given(abError* error);

#endif
