# Stories 19 and following in their short form; `make test-stories` runs all of them. Needs Python with numpy.
if(TARGET abut_cli AND NOT ABUT_SANITIZE)
  add_test(NAME motion_stories COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/motion_stories.py $<TARGET_FILE:abut_cli> --quick --failures
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
