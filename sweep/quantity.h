// The table of quantities: quantity.c has it, quantity_name.c looks names up in it.
#ifndef ABUT_SWEEP_QUANTITY_H
#define ABUT_SWEEP_QUANTITY_H

#include "engine.h"

typedef enum Owner { SCENE, BODY, JOINT, ACTUATOR, CONTACT, NOWNER } Owner;

typedef double Value(const Quantity* q, const Watch* w, const abData* data);

typedef struct Entry {
  Owner owner;
  const char* word;
  Value* value;
  bool adds_up;
} Entry;

extern const Entry quantity_table[];
extern const int quantity_count;

#endif
