# make install: shared and static library, headers, program, abut.pc and a CMake package.
include(CMakePackageConfigHelpers)
install(TARGETS abut ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET abut_shared)
  install(TARGETS abut_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET abut_cli)
  install(TARGETS abut_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET abut_sweep_mpi)
  install(TARGETS abut_sweep_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/abut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# abut.pc finds its prefix from where it lies, so that the tree can be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(ABUT_PC_PREFIX "\${pcfiledir}/${up}")
configure_file(cmake/abut.pc.in ${CMAKE_BINARY_DIR}/abut.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/abut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_package_config_file(cmake/abutConfig.cmake.in ${CMAKE_BINARY_DIR}/abutConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abut PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/abutConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/abutConfig.cmake ${CMAKE_BINARY_DIR}/abutConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abut)
