# make install: header, both libraries, the command, CMake package, pkg-config file, man page,
# completions.
include(CMakePackageConfigHelpers)

install(FILES include/bdml/bdml.h include/bdml/comm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdml COMPONENT dev)
install(TARGETS bdml_shared bdml_static EXPORT bdml-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS bdml bdml-check RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
if(BDML_HAVE_MPI)
  install(FILES include/bdml/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdml COMPONENT mpi)
  install(TARGETS bdml_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
  install(TARGETS bdml-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/bdml)
install(EXPORT bdml-targets NAMESPACE bdml:: DESTINATION ${_package} COMPONENT dev)
configure_package_config_file(cmake/bdml-config.cmake.in ${CMAKE_BINARY_DIR}/bdml-config.cmake
  INSTALL_DESTINATION ${_package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/bdml-config-version.cmake
  COMPATIBILITY SameMinorVersion) # below 1.0 a minor version may change the API
install(FILES ${CMAKE_BINARY_DIR}/bdml-config.cmake ${CMAKE_BINARY_DIR}/bdml-config-version.cmake
  DESTINATION ${_package} COMPONENT dev)

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH BDML_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REPLACE ";" " " BDML_PC_LIBRARIES "${BDML_LIBRARIES}")
configure_file(cmake/bdml.pc.in ${CMAKE_BINARY_DIR}/bdml.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/bdml.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

install(FILES ${CMAKE_BINARY_DIR}/share/bdml.1 ${PROJECT_SOURCE_DIR}/check/bdml-check.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/share/bdml.bash RENAME bdml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/share/_bdml DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/share/bdml.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
