if(TARGET abut_cli)
  add_test(NAME robot_scenes COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/robots/test_scenes.py $<TARGET_FILE:abut_cli>)
endif()
