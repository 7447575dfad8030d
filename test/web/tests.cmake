# The pages in a real browser, and glTF files in the Khronos validator.
find_program(NODE_PROGRAM node)
function(abut_page_test name script page_target timeout)
  if(TARGET abut_cli AND TARGET ${page_target} AND NODE_PROGRAM AND NOT ABUT_SANITIZE)
    add_test(NAME ${name} COMMAND ${NODE_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/web/${script} $<TARGET_FILE:abut_cli>
      ${CMAKE_BINARY_DIR}/test/${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout}
      ENVIRONMENT "ABUT_NODE_MODULES=${CMAKE_BINARY_DIR}/share/abut/npm/node_modules")
  endif()
endfunction()
abut_page_test(web test_replay.mjs replay 300)  # recordings
abut_page_test(live test_live.mjs live 1200)    # the page that simulates
abut_page_test(view test_view.mjs replay 900)   # the view of abut haptic
