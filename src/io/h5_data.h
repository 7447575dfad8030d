// Data sets and attributes of an HDF5 file: what their numbers are, where they lie, reading them.
#ifndef ABUT_IO_H5_DATA_H
#define ABUT_IO_H5_DATA_H

#include "io/h5.h"
#include "io/h5_file.h"

enum { AB_H5_RANK = 3, AB_H5_FILTERS_MOST = 4 };

typedef enum abH5Class { AB_H5_WHOLE, AB_H5_FLOAT, AB_H5_TEXT, AB_H5_OTHER } abH5Class;

typedef struct abH5Type {
  abH5Class class;
  size_t bytes;
  bool swapped;  // big-endian
  bool sign;
} abH5Type;

typedef struct abH5Space {
  int ndim;
  uint64_t dim[AB_H5_RANK];
  uint64_t most[AB_H5_RANK];  // it may grow to this
} abH5Space;

typedef enum abH5Layout {
  AB_H5_COMPACT,
  AB_H5_CONTIGUOUS,
  // in chunks, found by
  AB_H5_SINGLE,      // there is one
  AB_H5_IMPLICIT,    // they follow each other
  AB_H5_FIXED,       // an array of addresses
  AB_H5_EXTENSIBLE,  // an array of addresses that grows
  AB_H5_TREE,        // a tree, of the oldest format
  AB_H5_NO_INDEX     // there are none
} abH5Layout;

// Where a chunk is.
typedef struct abH5Chunk {
  uint64_t at, bytes;  // as stored
  uint32_t skipped;    // a bit for every filter that was not applied
} abH5Chunk;

typedef struct abH5Data {
  abH5File* file;
  abH5Type type;
  abH5Space space;
  abH5Layout layout;
  uint64_t at, bytes;  // of the numbers, or of the index
  abBuffer compact;
  uint64_t chunk[AB_H5_RANK];   // numbers per dimension
  uint64_t nchunk[AB_H5_RANK];  // per dimension, of the largest shape
  uint64_t chunk_bytes;         // unpacked
  abH5Chunk one;                // of AB_H5_SINGLE
  int nfilter, filter[AB_H5_FILTERS_MOST];
  // the chunk last looked up, unpacked where it is packed, and room for structures
  bool looked;
  uint64_t last[AB_H5_RANK];
  abH5Chunk last_chunk;
  abBuffer plain, packed, index;
} abH5Data;

// False: not there, or not as recordings are. Free it in any case.
bool ab_h5_data_open(abH5File* file, const char* path, abH5Data* out);
void ab_h5_data_free(abH5Data* data);
// Rows first .. first + n - 1 of the first dimension, as they are stored.
bool ab_h5_data_rows(abH5Data* data, uint64_t first, uint64_t n, void* out);
// Where a chunk is, by its numbers per dimension; false where there is none.
bool ab_h5_chunk(abH5Data* data, const uint64_t* which, abH5Chunk* out);

bool ab_h5_read_type(const uint8_t* p, size_t n, abH5Type* out);
bool ab_h5_read_space(const uint8_t* p, size_t n, abH5Space* out);
// n numbers as the recorder had them, from what was stored.
bool ab_h5_holds(const abH5Type* type, abH5Number number);
void ab_h5_convert(const abH5Type* type, abH5Number number, uint64_t n, const void* stored,
                   void* out);

// A text of fixed length (ab_free), NULL where there is none of at most `most` bytes.
char* ab_h5_text(abH5File* file, const char* path, size_t most);
// Attributes of the root: 1 read, 0 not there, -1 of another kind or size.
int ab_h5_text_attribute(abH5File* file, const char* name, char* out, size_t size);
int ab_h5_real_attribute(abH5File* file, const char* name, double* out);

#endif
