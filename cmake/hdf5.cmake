# HDF5 as Debian builds it can read files over the network, and loads some thirty libraries for that. Recordings are
# local files: where the static library is there, which brings along only what is used, that one is taken.
option(ABUT_HDF5_STATIC "Link HDF5 statically, without its network parts, where that is possible" ON)
if(ABUT_HDF5_STATIC AND NOT ABUT_HDF5_TRIED)
  find_library(ABUT_HDF5_ARCHIVE libhdf5.a HINTS ${HDF5_LIBRARY_DIRS})
  find_library(ABUT_SZ_LIBRARY sz)
  set(libraries ${ABUT_HDF5_ARCHIVE})
  if(ABUT_SZ_LIBRARY)
    list(APPEND libraries ${ABUT_SZ_LIBRARY})
  endif()
  list(APPEND libraries ${ZLIB_LINK_LIBRARIES} ${CMAKE_DL_LIBS} m)
  if(ABUT_HDF5_ARCHIVE)
    set(source ${CMAKE_BINARY_DIR}/CMakeFiles/try_hdf5.c)
    file(WRITE ${source} "#include <hdf5.h>\nint main(void) { return (int)H5Fopen(\"\", 0, 0); }\n")
    try_compile(ABUT_HDF5_LINKS ${CMAKE_BINARY_DIR}/CMakeFiles/try_hdf5 ${source}
      CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${HDF5_INCLUDE_DIRS}
      COMPILE_DEFINITIONS -fPIE LINK_OPTIONS -pie LINK_LIBRARIES ${libraries})
  endif()
  # The package's extension is a shared object, for which Debian's archive is not made: two symbols outside of it, stdout
  # and stderr, cannot be reached from there. The linker can put our own in their place (python/src/h5_streams.c).
  set(ABUT_HDF5_PACKED_OPTIONS LINKER:--exclude-libs,ALL LINKER:--wrap=stderr LINKER:--wrap=stdout
    CACHE INTERNAL "how an extension links the static HDF5")
  if(ABUT_HDF5_LINKS AND ABUT_PYTHON)
    try_compile(ABUT_HDF5_PACKS ${CMAKE_BINARY_DIR}/CMakeFiles/try_hdf5_packed
      SOURCES ${source} ${CMAKE_SOURCE_DIR}/python/src/h5_streams.c
      CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${HDF5_INCLUDE_DIRS}
      COMPILE_DEFINITIONS -fPIC LINK_OPTIONS -shared ${ABUT_HDF5_PACKED_OPTIONS} LINK_LIBRARIES ${libraries})
  endif()
  set(ABUT_HDF5_PARTS "${libraries}" CACHE INTERNAL "what the static HDF5 is linked with")
  set(ABUT_HDF5_TRIED ON CACHE INTERNAL "whether the static HDF5 was looked for")
endif()
if(ABUT_HDF5_STATIC AND ABUT_HDF5_LINKS)
  # In programs, and in the package's extension where the linker helps.
  get_target_property(shared PkgConfig::HDF5 INTERFACE_LINK_LIBRARIES)
  set(program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  if(ABUT_HDF5_PACKS)
    set(program $<OR:${program},$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>)
  endif()
  set_target_properties(PkgConfig::HDF5 PROPERTIES INTERFACE_LINK_LIBRARIES
    "$<${program}:${ABUT_HDF5_PARTS}>;$<$<NOT:${program}>:${shared}>")
else()
  message(STATUS "HDF5: the shared library is taken")
endif()
