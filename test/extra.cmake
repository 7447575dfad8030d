# Tests that are not one cmocka program.
if(TARGET abut_cli AND NOT ABUT_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${CMAKE_BINARY_DIR})
endif()
foreach(file cli/tests.cmake web/tests.cmake collide/extra.cmake fuzz/tests.cmake)
  include(${CMAKE_CURRENT_SOURCE_DIR}/${file} OPTIONAL)
endforeach()
