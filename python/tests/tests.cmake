# The Python package; needs PyPI, and is skipped without it.
if(TARGET abut_cli AND NOT ABUT_SANITIZE)
  add_test(NAME python COMMAND ${CMAKE_CURRENT_LIST_DIR}/run.sh $<TARGET_FILE:abut_cli>)
  set_tests_properties(python PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1500)
endif()
