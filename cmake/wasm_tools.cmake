# The newest compiler and linker for WebAssembly that belong together: ABUT_WASM_CLANG, ABUT_WASM_LD. Not below 16: clang 14
# lets a store pass the loads before it where a number is loaded into all lanes, and factors came out wrong (scenes/gears.xml).
foreach(version 19 18 17 16)
  find_program(ABUT_WASM_CLANG_${version} clang-${version})
  find_program(ABUT_WASM_LD_${version} wasm-ld-${version})
  if(NOT ABUT_WASM_CLANG AND ABUT_WASM_CLANG_${version} AND ABUT_WASM_LD_${version})
    set(ABUT_WASM_CLANG ${ABUT_WASM_CLANG_${version}})
    set(ABUT_WASM_LD ${ABUT_WASM_LD_${version}})
  endif()
endforeach()
