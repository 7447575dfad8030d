// What a compiled model consists of, as a table: every struct with its fields, in the order a model
// file holds them. Reading, writing and checking model files walk along this table
// (scene/model_file.c), so a new field of abModel or its structs is one line in table.c, and
// a file written before has another stamp and is refused.
#ifndef ABUT_SCENE_MODEL_TABLE_H
#define ABUT_SCENE_MODEL_TABLE_H

#include <abut/model.h>

typedef enum abFieldKind {
  AB_FIELD_INT,     // 4 bytes
  AB_FIELD_FLAG,    // 1 byte, 0 or 1
  AB_FIELD_FLOAT,   // 4 bytes
  AB_FIELD_DOUBLE,  // 8 bytes
  AB_FIELD_TEXT,    // length + 1 (0: NULL), then the bytes
  AB_FIELD_INSIDE,  // a struct inside of this one
  AB_FIELD_POLY,    // index into the file's polyhedra, -1: NULL
  AB_FIELD_ARRAY    // as many structs as one or two other fields say
} abFieldKind;

// Where a number is to be found: in the model itself, or in the struct the field belongs to.
typedef struct abCountAt {
  bool own;
  size_t offset;
  const char* name;  // NULL: there is none
} abCountAt;

typedef struct abField {
  const char* name;
  abFieldKind kind;
  size_t offset;
  int n;  // how many of the kind follow each other
  // integers: low <= value < limit, or <= limit where `closed`; the limit is a number or a count
  int low, limit;
  bool bounded, closed;
  abCountAt count;               // of an array, or the limit of an index
  abCountAt times;               // of an array: so often as many, unless there is none
  const struct abStruct* inner;  // of AB_FIELD_INSIDE, ARRAY
} abField;

typedef struct abStruct {
  const char* name;
  size_t bytes, align;
  int nfield;
  const abField* field;
} abStruct;

// No struct of a model is larger.
enum { AB_STRUCT_MOST = 1024 };

extern const abStruct ab_model_struct;

// Over the names, kinds and limits of everything in the table: files with another stamp were
// written by another version.
uint64_t ab_model_stamp(void);
// What a struct takes at least in a file.
size_t ab_struct_least(const abStruct* s);

#endif
