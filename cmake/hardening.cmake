# What every binary is built with, in all builds: guards on the stack, checked library calls, addresses that differ from
# run to run, tables the loader makes read-only, and no folder of anybody's choosing where libraries are looked for.
# WebAssembly has none of these: its code and stack cannot be written.
if(UNIX)
  include(CheckPIESupported)
  check_pie_supported()
  add_compile_options(-fstack-protector-strong)
  # The sanitizers check more than the library calls do, and Debug builds have no optimiser to check them with.
  if(NOT ABUT_SANITIZE AND NOT ABUT_SANITIZE_THREAD)
    add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                        $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  endif()
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
# Messages of the compiler keep their paths, the binaries do not.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)
# The same in the build tree and installed, for all that is installed: CMake would otherwise leave room for another one,
# as an empty element, which the loader takes for the current folder.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# Exported is what the headers declare, and nothing else (the compiler's clones of a function, and the symbols of
# static libraries, would be). The test "binaries" compares with the list in cmake/exports.txt.
function(abut_export_declared target)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/abut/*.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(names "")
  foreach(header ${headers})
    file(READ ${header} text)
    string(REGEX MATCHALL "AB_API[^;]*;" declared "${text}")
    foreach(declaration ${declared})
      if(declaration MATCHES "(ab_[A-Za-z0-9_]+)[ \n]*(\\(|\\[|$)")
        list(APPEND names ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endforeach()
  list(SORT names)
  list(REMOVE_DUPLICATES names)
  list(JOIN names ";\n    " lines)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/exports.map CONTENT "{\n  global:\n    ${lines};\n  local: *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_BINARY_DIR}/exports.map)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${CMAKE_BINARY_DIR}/exports.map)
endfunction()
