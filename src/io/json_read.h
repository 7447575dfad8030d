// JSON text to jansson's values. jansson's own reader ends the program when memory runs out in the
// middle of a text (its string buffer asserts what was not stored); this one fails.
#ifndef ABUT_IO_JSON_READ_H
#define ABUT_IO_JSON_READ_H

#include <jansson.h>

// NULL: the text is not JSON, or there is no memory. *why says which, *at is the byte it ended at.
json_t* ab_json_read(const char* text, const char** why, size_t* at);

#endif
