// Reading HDF5 files, as far as recordings need it, without the HDF5 library: that one follows a
// file to other files, loads code a file names, and trusts numbers in it. Here every byte is
// fetched by one function that knows the file's end, structures are checked by their sums, and what
// is not of a recording is refused. Read are the structures that HDF5 writes today and those of its
// oldest format, which other tools write by default.
//
// All numbers in the file are little-endian; addresses and lengths have 8 bytes.
#ifndef ABUT_IO_H5_FILE_H
#define ABUT_IO_H5_FILE_H

#include <abut/types.h>

#include "io/buffer.h"

#define AB_H5_NOWHERE UINT64_MAX  // the address of what is not there

typedef struct abH5File {
  int fd;
  uint64_t size;   // of the file; it may grow
  uint64_t root;   // the header of the root group
  bool followed;   // a writer has it open, or was killed while it had
  int64_t budget;  // bytes of structures that may still be fetched: crafted ones may run in circles
} abH5File;

typedef struct abH5Message {
  unsigned type;
  size_t at, n;  // its bytes, in the object's
} abH5Message;

// The header of a group or a data set: its messages.
typedef struct abH5Object {
  abBuffer byte;     // of all its parts
  abBuffer message;  // abH5Message
} abH5Object;

// Messages this reader knows.
enum {
  AB_H5_DATASPACE = 1,
  AB_H5_LINK_INFO = 2,
  AB_H5_DATATYPE = 3,
  AB_H5_LINK = 6,
  AB_H5_EXTERNAL = 7,
  AB_H5_LAYOUT = 8,
  AB_H5_FILTERS = 11,
  AB_H5_ATTRIBUTE = 12,
  AB_H5_CONTINUED = 16,
  AB_H5_SYMBOLS = 17,
  AB_H5_ATTRIBUTE_INFO = 21
};

bool ab_h5_open(abH5File* file, const char* path);
void ab_h5_close(abH5File* file);

// n bytes from an address, or false: beyond the end, or beyond the budget.
bool ab_h5_get(abH5File* file, uint64_t at, size_t n, void* out);
// A structure of n bytes that begins with four letters and ends with its check sum, appended to a
// cleared buffer.
bool ab_h5_get_checked(abH5File* file, uint64_t at, size_t n, const char* letters, abBuffer* out);
// A new task: the budget is filled.
void ab_h5_refill(abH5File* file);

uint64_t ab_h5_number(const void* bytes, int n);  // of n bytes, at most 8
uint32_t ab_h5_checksum(const void* bytes, size_t n);

bool ab_h5_object(abH5File* file, uint64_t at, abH5Object* out);
void ab_h5_object_free(abH5Object* object);
int ab_h5_messages(const abH5Object* object);
abH5Message ab_h5_message(const abH5Object* object, int i);
// The bytes of the only message of a type; NULL where there is none, or more than one.
const uint8_t* ab_h5_only(const abH5Object* object, unsigned type, size_t* n);

// The header of what a path of names, by hard links only, leads to.
bool ab_h5_find(abH5File* file, const char* path, uint64_t* at);

// Calls `visit` with each object of a fractal heap that a version 2 B-tree lists, until it returns
// true. `id_at`: where in a record the heap's identifier stands. False if damaged.
typedef bool (*abH5Visit)(void* context, const uint8_t* bytes, size_t n);
bool ab_h5_each(abH5File* file, uint64_t heap, uint64_t tree, int id_at, abH5Visit visit,
                void* context);

#endif
