# The page's template, built when npm is there and can fetch three.js; without it everything but
# --record FILE.html works, and the build goes on.
find_program(NPM_PROGRAM npm)
if(NPM_PROGRAM AND NOT ABUT_SANITIZE)
  file(GLOB ABUT_WEB_SOURCES CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_LIST_DIR}/src/*.js ${CMAKE_CURRENT_LIST_DIR}/*.html ${CMAKE_CURRENT_LIST_DIR}/*.css
    ${CMAKE_CURRENT_LIST_DIR}/*.mjs ${CMAKE_CURRENT_LIST_DIR}/package*.json)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/share/abut/replay.html
    COMMAND sh -c "tools/make-replay '${CMAKE_BINARY_DIR}/share/abut' || echo 'replay: the page was not built; --record FILE.html will not work'"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    DEPENDS ${ABUT_WEB_SOURCES} ${CMAKE_SOURCE_DIR}/tools/make-replay
    COMMENT "Bundling the replay page" VERBATIM)
  add_custom_target(replay ALL DEPENDS ${CMAKE_BINARY_DIR}/share/abut/replay.html)
  install(FILES ${CMAKE_BINARY_DIR}/share/abut/replay.html ${CMAKE_BINARY_DIR}/share/abut/view.html DESTINATION ${CMAKE_INSTALL_DATADIR}/abut OPTIONAL)
elseif(NOT NPM_PROGRAM)
  message(STATUS "replay: npm not found, --record FILE.html will not work")
endif()
