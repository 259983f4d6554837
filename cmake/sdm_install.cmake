# `cmake --install` and find_package(sdm CONFIG): sdm::sdm is the whole library, sdm::runtime what
# running a trained model needs (no BLAS, no threads).
include(CMakePackageConfigHelpers)

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
  if(EXISTS ${PROJECT_SOURCE_DIR}/models)  # where the tool looks for its default model
    install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sdm FILES_MATCHING PATTERN "*.sdm")
  endif()
  install(TARGETS sdm_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
