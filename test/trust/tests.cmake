# What a hostile file, a full disk or a killed process must not do; needs Python with h5py and numpy.
if(TARGET abut_cli)
  set(scripts recordings output input)
  if(NOT ABUT_SANITIZE AND NOT ABUT_SANITIZE_THREAD)
    list(APPEND scripts kill)
    add_test(NAME trust_binaries COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_binaries.py
      $<TARGET_FILE:abut_cli> $<TARGET_FILE:abut_shared> ${CMAKE_BINARY_DIR} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    # The rest, other compilers and ARM, is `make test-processors`.
    add_test(NAME trust_processors COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_processors.py $<TARGET_FILE:abut_cli> --quick)
    add_test(NAME trust_hashes COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_processors.py $<TARGET_FILE:abut_cli>
      --hashes ${CMAKE_CURRENT_LIST_DIR}/hashes.txt)
  endif()
  foreach(name ${scripts})
    add_test(NAME trust_${name} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py $<TARGET_FILE:abut_cli>
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endforeach()
endif()
