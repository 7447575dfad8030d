# The replay page in a real browser, and glTF files in the Khronos validator.
find_program(NODE_PROGRAM node)
if(TARGET abut_cli AND TARGET replay AND NODE_PROGRAM AND NOT ABUT_SANITIZE)
  add_test(NAME web COMMAND ${NODE_PROGRAM} ${CMAKE_CURRENT_LIST_DIR}/test_replay.mjs $<TARGET_FILE:abut_cli> ${CMAKE_BINARY_DIR}/test/web
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(web PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
    ENVIRONMENT "ABUT_NODE_MODULES=${CMAKE_BINARY_DIR}/share/abut/npm/node_modules")
endif()
