# The program as users meet it; needs Python with h5py and numpy.
if(TARGET abut_cli)
  add_test(NAME cli COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_cli.py $<TARGET_FILE:abut_cli>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
