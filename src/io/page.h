// What the two pages, replay and live, share.
#ifndef ABUT_IO_PAGE_H
#define ABUT_IO_PAGE_H

#include <abut/record.h>
#include <jansson.h>

#include "io/buffer.h"

// A new file that begins with the named template.
abStatus ab_page_create(const char* name, const char* out, int* fd, abError* error);
// The model as the page draws it: the element "abut-model".
abStatus ab_page_model(int fd, const char* path, const abModel* model, const abData* data,
                       abError* error);
// An element of JSON, its numbers with so many digits, that the browser does not run; nothing in it
// can end the element.
abStatus ab_page_json(int fd, const char* path, const char* id, const json_t* root, int digits,
                      abError* error);

#endif
