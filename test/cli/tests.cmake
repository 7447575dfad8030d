# The program as users meet it; needs Python with h5py and numpy.
if(TARGET abut_cli)
  foreach(name cli endings)
    add_test(NAME ${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py $<TARGET_FILE:abut_cli>
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
endif()
