// A build without HDF5 (only the Python package may be one) sweeps in memory.
#include "engine.h"

abStatus results_write_h5(const abSweep* s, const RowReader* rows, const char* path,
                          abError* error) {
  (void)s, (void)rows;
  return sweep_fail(error, AB_ERROR_UNSUPPORTED, path, 0,
                    "this build of abut has no HDF5 to write it; keep the results in memory, or "
                    "use the program abut");
}
