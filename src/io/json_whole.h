// JSON that is whole or not made at all. jansson's functions leave a part out where there is no
// memory for it (or where its value is none that JSON has), and leave it to the caller to notice at
// each of hundreds of calls. Here the calls notice by themselves: between ab_json_begin and
// ab_json_print, every part that was not put in is remembered, per thread.
#ifndef ABUT_IO_JSON_WHOLE_H
#define ABUT_IO_JSON_WHOLE_H

#include <jansson.h>
#include <stdbool.h>

void ab_json_begin(void);
// Something else is missing.
void ab_json_miss(void);

static inline int ab_json_set(json_t* object, const char* key, json_t* value) {
  int status = json_object_set_new(object, key, value);
  if (status != 0) ab_json_miss();
  return status;
}
static inline int ab_json_append(json_t* array, json_t* value) {
  int status = json_array_append_new(array, value);
  if (status != 0) ab_json_miss();
  return status;
}
// The text of it (ab_free), NULL where it is not whole or there is no memory. (json_dumps may leave
// a part out, too.)
char* ab_json_print(const json_t* json, size_t flags);

#define json_object_set_new ab_json_set
#define json_array_append_new ab_json_append

// Text that may hold any bytes, as names of files do: what is not UTF-8 becomes U+FFFD, the
// character for that. NULL gives null.
json_t* ab_json_text(const char* text);

#endif
