# Installed with the library: whoever links sdm::opencv finds OpenCV in the same way.

# What adapters/opencv links.
set(SDM_OPENCV_MODULES core imgproc imgcodecs videoio objdetect)

# sdm_find_opencv(TARGET module ...): an imported target with OpenCV's headers and these modules, if
# every one is there; otherwise no target, and a line that says which is missing. No target either
# with SDM_OPENCV off. Debian's module packages bring headers and libraries but no CMake package, so
# both ways of finding them count.
function(sdm_find_opencv target)
  if(TARGET ${target} OR (DEFINED SDM_OPENCV AND NOT SDM_OPENCV))
    return()
  endif()
  find_package(OpenCV QUIET COMPONENTS ${ARGN})
  if(NOT OpenCV_FOUND)
    find_path(SDM_OPENCV_INCLUDE opencv2/core.hpp PATH_SUFFIXES opencv4)
    set(OpenCV_INCLUDE_DIRS ${SDM_OPENCV_INCLUDE})
    set(OpenCV_LIBS "")
    foreach(module IN LISTS ARGN)
      find_library(SDM_OPENCV_${module} opencv_${module})
      if(NOT SDM_OPENCV_${module} OR NOT EXISTS ${SDM_OPENCV_INCLUDE}/opencv2/${module}.hpp)
        message(STATUS "OpenCV's module ${module} not found (Debian: libopencv-${module}-dev)")
        return()
      endif()
      list(APPEND OpenCV_LIBS ${SDM_OPENCV_${module}})
    endforeach()
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${OpenCV_INCLUDE_DIRS})
  target_link_libraries(${target} INTERFACE ${OpenCV_LIBS})
endfunction()
