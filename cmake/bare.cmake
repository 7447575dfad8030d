# For builds of the library alone, without anything it can do without.
foreach(name XML QHULL JSON HDF5 THREADS EVDEV SPNAV)
  set(ABUT_${name} OFF CACHE BOOL "" FORCE)
endforeach()
foreach(name TESTS BENCH EXPERIMENTS EXAMPLES SHARED)
  set(ABUT_${name} OFF CACHE BOOL "" FORCE)
endforeach()
