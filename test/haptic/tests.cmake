# Hands in the loop; needs Python with h5py and numpy.
if(TARGET abut_cli)
  add_test(NAME haptic COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_haptic.py $<TARGET_FILE:abut_cli>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
