# The live page's template: the library as WebAssembly (web/wasm), put into the page. Needs npm as the replay does, and clang
# with wasi-libc; without them everything but `abut live` works, and the build goes on.
include(${CMAKE_SOURCE_DIR}/cmake/wasm_tools.cmake)
find_file(ABUT_WASI_LIBC libc.a PATHS /usr/lib/wasm32-wasi NO_DEFAULT_PATH)
if(TARGET replay AND ABUT_WASM_CLANG AND ABUT_WASI_LIBC)
  get_filename_component(clang ${ABUT_WASM_CLANG} NAME)  # a build has one compiler, another one a folder of its own
  set(build ${CMAKE_BINARY_DIR}/wasm/${clang})
  set(wasm ${build}/live.wasm)
  # Its own ninja knows what is out of date.
  add_custom_target(live_wasm ALL
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR}/web/wasm -B ${build} -G ${CMAKE_GENERATOR}
      -DCMAKE_TOOLCHAIN_FILE=${CMAKE_SOURCE_DIR}/cmake/wasm.cmake -DCMAKE_BUILD_TYPE=Release --log-level=WARNING
    COMMAND ${CMAKE_COMMAND} --build ${build} --target live -j 2
    BYPRODUCTS ${wasm} COMMENT "The simulator as WebAssembly" VERBATIM)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/share/abut/live.html
    COMMAND sh -c "tools/make-replay '${CMAKE_BINARY_DIR}/share/abut' '${wasm}' || echo 'live: the page was not built; abut live will not work'"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    DEPENDS ${ABUT_WEB_SOURCES} ${CMAKE_SOURCE_DIR}/tools/make-replay ${wasm} live_wasm ${CMAKE_BINARY_DIR}/share/abut/replay.html
    COMMENT "Bundling the live page" VERBATIM)
  add_custom_target(live ALL DEPENDS ${CMAKE_BINARY_DIR}/share/abut/live.html)
  install(FILES ${CMAKE_BINARY_DIR}/share/abut/live.html DESTINATION ${CMAKE_INSTALL_DATADIR}/abut OPTIONAL)
else()
  message(STATUS "live: npm, clang 16 or later with its lld, or wasi-libc not found, abut live will not work (tools/setup.sh live installs them)")
endif()
