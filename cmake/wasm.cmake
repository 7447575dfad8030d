# WebAssembly by Debian's clang with wasi-libc (packages clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
include(${CMAKE_CURRENT_LIST_DIR}/wasm_tools.cmake)
set(CMAKE_C_COMPILER ${ABUT_WASM_CLANG})
set(CMAKE_CXX_COMPILER ${ABUT_WASM_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
