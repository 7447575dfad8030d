# The long comparison of overlaps with their references: make test-geometry-long runs it.
add_executable(geometry_long ${CMAKE_CURRENT_LIST_DIR}/geometry_long.c)
target_link_libraries(geometry_long PRIVATE abut_test_support)
set_target_properties(geometry_long PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
