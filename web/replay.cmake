# The page's template, built when npm is there; without it everything but --record FILE.html works.
find_program(NPM_PROGRAM npm)
if(NPM_PROGRAM)
  file(GLOB ABUT_WEB_SOURCES CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_LIST_DIR}/src/*.js ${CMAKE_CURRENT_LIST_DIR}/*.html ${CMAKE_CURRENT_LIST_DIR}/*.css
    ${CMAKE_CURRENT_LIST_DIR}/*.mjs ${CMAKE_CURRENT_LIST_DIR}/package*.json)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/share/abut/replay.html
    COMMAND ${CMAKE_SOURCE_DIR}/tools/make-replay ${CMAKE_BINARY_DIR}/share/abut
    DEPENDS ${ABUT_WEB_SOURCES} ${CMAKE_SOURCE_DIR}/tools/make-replay
    COMMENT "Bundling the replay page" VERBATIM)
  add_custom_target(replay ALL DEPENDS ${CMAKE_BINARY_DIR}/share/abut/replay.html)
  install(FILES ${CMAKE_BINARY_DIR}/share/abut/replay.html DESTINATION ${CMAKE_INSTALL_DATADIR}/abut)
else()
  message(STATUS "replay: npm not found, --record FILE.html will not work")
endif()
