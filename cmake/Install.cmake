# Installs the library, so that another project says find_package(rarefy) and
# links rarefy::rarefy.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A static library hands on what it links. Eigen is headers alone, used only
# while the library is compiled: consumers need not have it.
get_target_property(handed_on rarefy INTERFACE_LINK_LIBRARIES)
list(REMOVE_ITEM handed_on "$<LINK_ONLY:Eigen3::Eigen>")
set_property(TARGET rarefy PROPERTY INTERFACE_LINK_LIBRARIES "${handed_on}")

get_target_property(library_type rarefy TYPE)
if(library_type STREQUAL STATIC_LIBRARY)
  set(RAREFY_IS_STATIC TRUE)
else()
  set(RAREFY_IS_STATIC FALSE)
  # While the version is 0.x, a minor version may change the interface.
  set_target_properties(rarefy PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/rarefy)
install(TARGETS rarefy EXPORT rarefyTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ ${PROJECT_BINARY_DIR}/generated/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp)
install(EXPORT rarefyTargets NAMESPACE rarefy:: DESTINATION ${package_folder})

# Apart from the rest: who does not ask for it (COMPONENTS mpi) needs no MPI.
if(TARGET rarefy_mpi)
  install(TARGETS rarefy_mpi EXPORT rarefyMpiTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT rarefyMpiTargets NAMESPACE rarefy:: DESTINATION ${package_folder})
  if(NOT library_type STREQUAL STATIC_LIBRARY)
    set_target_properties(rarefy_mpi PROPERTIES
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      INSTALL_RPATH $ORIGIN)
  endif()
endif()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/rarefyConfig.cmake.in ${PROJECT_BINARY_DIR}/rarefyConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rarefyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/rarefyConfig.cmake ${PROJECT_BINARY_DIR}/rarefyConfigVersion.cmake
  DESTINATION ${package_folder})
