# Tests that are not one cmocka program.
add_test(NAME layers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-layers.sh)
add_test(NAME names COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/tools/check-names.py)
if(TARGET abut_cli AND NOT ABUT_SANITIZE)
  add_test(NAME install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${CMAKE_BINARY_DIR})
  # The library without anything it can do without: the same objects, and what stands in the place of the others.
  add_executable(core core/main.c ${ABUT_INSTEAD})
  target_include_directories(core PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  # what this system lacks is left out of the library already, and replaced
  list(JOIN ABUT_SPARE "|" spare)
  string(APPEND spare "|/without_")
  target_link_libraries(core PRIVATE abut_options "$<FILTER:$<TARGET_OBJECTS:abut_objects>,EXCLUDE,${spare}>" m)
  add_dependencies(core abut_objects)
  add_test(NAME core COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/core/run.sh $<TARGET_FILE:abut_cli> $<TARGET_FILE:core> ${CMAKE_BINARY_DIR}/test/core_files)
endif()
include(${CMAKE_SOURCE_DIR}/python/tests/tests.cmake OPTIONAL)
foreach(file cli/tests.cmake robots/tests.cmake trust/tests.cmake sweep/tests.cmake haptic/tests.cmake web/tests.cmake collide/extra.cmake fuzz/tests.cmake stories/tests.cmake)
  include(${CMAKE_CURRENT_SOURCE_DIR}/${file} OPTIONAL)
endforeach()
if(TARGET abut_cli AND ABUT_EXPERIMENTS AND NOT ABUT_SANITIZE)
  # The papers' experiments in their short form, but for those that claim a time: tests never do.
  add_test(NAME paper COMMAND abut_cli paper --short --quiet --out ${CMAKE_BINARY_DIR}/paper
    wakisaka-1 wakisaka-2 zhang-heap zhang-drop hasegawa-2 hasegawa-3 hasegawa-touch hasegawa-top hasegawa-insect hasegawa-gears
    xie-cube-slide xie-cylinder-roll xie-cube-topple xie-manipulation xie-desk xie-t-bar)
endif()
if(TARGET abut_cli)
  # What Debian's MuJoCo is too old for, against numbers of a newer one that are stored with the scenes.
  add_test(NAME mujoco_newer COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/scene/newer.py $<TARGET_FILE:abut_cli>)
endif()
