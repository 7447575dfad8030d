# Sweeps as users meet them; needs Python with h5py and numpy.
if(TARGET abut_cli)
  add_test(NAME sweep COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_sweep.py $<TARGET_FILE:abut_cli>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME sweep_kills COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_kills.py $<TARGET_FILE:abut_cli>
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
# MPI for real, more ranks than cores.
if(TARGET abut_cli AND TARGET abut_sweep_mpi)
  add_test(NAME sweep_mpi COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_mpi.py $<TARGET_FILE:abut_sweep_mpi>
    $<TARGET_FILE:abut_cli> Mpi WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(sweep_mpi PROPERTIES RUN_SERIAL ON)
endif()
