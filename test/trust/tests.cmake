# Every function of the headers with arguments that are wrong: the calls are written from the headers.
set(interface_calls ${CMAKE_CURRENT_BINARY_DIR}/interface_calls.c)
file(GLOB interface_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/abut/*.h)
add_custom_command(OUTPUT ${interface_calls} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/interface.py
  ${CMAKE_SOURCE_DIR}/include/abut ${interface_calls} DEPENDS ${CMAKE_CURRENT_LIST_DIR}/interface.py ${interface_headers})
# one call each: nothing to optimise, but for the compiler's time
set_source_files_properties(${interface_calls} PROPERTIES COMPILE_OPTIONS -O0)
add_executable(interface ${CMAKE_CURRENT_LIST_DIR}/interface.c ${interface_calls})
target_include_directories(interface PRIVATE ${CMAKE_SOURCE_DIR}/test ${CMAKE_SOURCE_DIR}/src)
# the shared library, where there is one: it exports what the headers declare
target_link_libraries(interface PRIVATE abut_options $<IF:$<TARGET_EXISTS:abut_shared>,abut_shared,abut> m)
set_target_properties(interface PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test BUILD_RPATH ${CMAKE_BINARY_DIR}
  BUILD_WITH_INSTALL_RPATH OFF)
add_test(NAME trust_interface COMMAND interface)

# What a hostile file, a full disk or a killed process must not do; needs Python with h5py and numpy.
if(TARGET abut_cli)
  set(scripts recordings output input)
  if(NOT ABUT_SANITIZE AND NOT ABUT_SANITIZE_THREAD)
    list(APPEND scripts kill)
    if(TARGET abut_shared)
      add_test(NAME trust_binaries COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_binaries.py
        $<TARGET_FILE:abut_cli> $<TARGET_FILE:abut_shared> ${CMAKE_BINARY_DIR} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endif()
    # The rest, other compilers and ARM, is `make test-processors`.
    add_test(NAME trust_processors COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_processors.py $<TARGET_FILE:abut_cli> --quick)
    add_test(NAME trust_hashes COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_processors.py $<TARGET_FILE:abut_cli>
      --hashes ${CMAKE_CURRENT_LIST_DIR}/hashes.txt)
  endif()
  foreach(name ${scripts})
    add_test(NAME trust_${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py $<TARGET_FILE:abut_cli>
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
endif()
