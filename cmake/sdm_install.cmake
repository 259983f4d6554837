# `cmake --install` and find_package(sdm CONFIG): sdm::sdm is the whole library, sdm::runtime what
# running a trained model needs (no BLAS, no threads).
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

install(TARGETS ${SDM_ROOMS} sdm_runtime sdm_sdm EXPORT sdm_exports
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sdm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT sdm_exports NAMESPACE sdm:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sdm)
configure_package_config_file(cmake/sdmConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/sdmConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sdm)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sdmConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sdmConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sdmConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sdm)
if(TARGET sdm_app)
  # share/sdm beside bin: where the tool looks for what comes with it.
  install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sdm COMPONENT tool)
  # Chart.js for the report page, where ./run has fetched it.
  install(FILES ${PROJECT_BINARY_DIR}/apps/share/sdm/chart.umd.js DESTINATION ${CMAKE_INSTALL_DATADIR}/sdm
          COMPONENT tool OPTIONAL)
  install(TARGETS sdm_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  if(TARGET sdm_descriptions)
    install(FILES ${PROJECT_BINARY_DIR}/apps/sdm/sdm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
    install(FILES ${PROJECT_BINARY_DIR}/apps/sdm/sdm.bash RENAME sdm
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
  endif()
endif()

# `cpack` in the build folder: two Debian packages, the tool with its models and the library.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sdm)
set(CPACK_PACKAGE_CONTACT "The sdm authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsdm-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4), libhwy-dev")
if(SDM_OPENBLAS)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libopenblas-dev")
endif()
if(SDM_MPI)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libopenmpi-dev")
endif()
if(TARGET sdm_app)
  list(APPEND CPACK_COMPONENTS_ALL tool)
  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME sdm)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS opencv-data)
endif()
include(CPack)
