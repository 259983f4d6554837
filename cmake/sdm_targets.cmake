# How every target of the project is made, so that a room's CMakeLists.txt says only what is its own.

set(SDM_ROOMS "" CACHE INTERNAL "Library targets to install")

# What the library and whoever links it must agree on, whatever either is compiled with: Eigen's
# allocator and the alignment of its fixed-size types. 64 is the most that any x86 asks for, 16 what
# every one has. include/sdm/base/types.h refuses anything else.
set(SDM_EIGEN_DEFINITIONS EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MAX_STATIC_ALIGN_BYTES=16)

# sdm_compile_flags(TARGET [TINY_VECTORS] [FUZZER] [SHALLOW] [NATIVE] [UNFUSED] [UNHARDENED]): every compiler flag of
# the project stands here.
# TINY_VECTORS is for programs with Eigen vectors of size one, FUZZER for those that libFuzzer runs,
# SHALLOW for code in which no time is spent, so that it compiles quickly, NATIVE for what a user
# would compile for the own processor: that is done where SDM_NATIVE is on. UNFUSED rounds every
# product before it is added, so that results are the same with every kind of vectors. UNHARDENED is for programs that time
# other people's headers, which SDM_HARDEN would slow down.
# A compiler that is neither GCC, clang nor MSVC is told the language and nothing else.
function(sdm_compile_flags target)
  cmake_parse_arguments(FLAGS "TINY_VECTORS;FUZZER;SHALLOW;NATIVE;UNFUSED;UNHARDENED" "" "" ${ARGN})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(MSVC)
    set(flags /W4 /permissive- /utf-8 /bigobj)
    if(SDM_WARNINGS_AS_ERRORS)
      list(APPEND flags /WX)
    endif()
    if(SDM_SANITIZE)
      list(APPEND flags /fsanitize=${SDM_SANITIZE})
    endif()
    target_compile_options(${target} PRIVATE ${flags})
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(flags -Wall -Wextra -Wpedantic)
    if(SDM_WARNINGS_AS_ERRORS)
      list(APPEND flags -Werror)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      list(APPEND flags -Wno-restrict)  # false alarms inside std::string's +
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND FLAGS_TINY_VECTORS)
      # GCC 12 sees overruns and uninitialised values in Eigen's inlined vectors of size one that are
      # not there; clang and the sanitizers watch over the real ones.
      list(APPEND flags -Wno-array-bounds -Wno-maybe-uninitialized)
    endif()
    if(FLAGS_SHALLOW)
      list(APPEND flags $<$<CONFIG:Release>:-O1>)  # arguments and pages: no time is spent there
    endif()
    if(FLAGS_UNFUSED)
      list(APPEND flags -ffp-contract=off)
    endif()
    if(FLAGS_NATIVE AND SDM_NATIVE)
      list(APPEND flags -march=native)
      if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        list(APPEND flags -Wno-uninitialized)  # false alarms inside its AVX-512 header
      endif()
    endif()
    if(SDM_HARDEN AND NOT FLAGS_UNHARDENED AND NOT SDM_SANITIZE AND NOT EMSCRIPTEN)
      # Checks that stop a fault before it becomes a hole.
      list(APPEND flags -fstack-protector-strong)
      set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
      list(APPEND flags $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>
           $<${optimised}:-D_GLIBCXX_ASSERTIONS>)
      if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        list(APPEND flags -fcf-protection=full)
      endif()
      if(UNIX AND NOT APPLE)
        target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
      endif()
    endif()
    if(SDM_SANITIZE)
      list(APPEND flags -fsanitize=${SDM_SANITIZE} -fno-omit-frame-pointer)
      target_link_options(${target} PUBLIC -fsanitize=${SDM_SANITIZE})
    endif()
    if(FLAGS_FUZZER)
      list(APPEND flags -fsanitize=fuzzer)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endif()
    target_compile_options(${target} PRIVATE ${flags})
  endif()
endfunction()

# The headers of a room in folders of their own, rooms/NAME/include and rooms/NAME/src, as links: a
# target that is given these sees the rooms it names and no others. A folder inside a room, as
# descent/train in descent, is a room of its own.
# `further` are files beside the headers that are included too.
function(sdm_room_headers name further)
  string(REPLACE _ / folder ${name})
  set(room ${PROJECT_BINARY_DIR}/rooms/${name})
  file(REMOVE_RECURSE ${room})
  foreach(root include/sdm src)
    file(MAKE_DIRECTORY ${room}/${root}/${folder})
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${root}/${folder}/*.h)
    if(root STREQUAL "src")
      list(TRANSFORM further PREPEND ${PROJECT_SOURCE_DIR}/src/${folder}/ OUTPUT_VARIABLE files)
      list(APPEND headers ${files})
    endif()
    foreach(header IN LISTS headers)
      get_filename_component(file ${header} NAME)
      file(CREATE_LINK ${header} ${room}/${root}/${folder}/${file} SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

# sdm_room(NAME [UNFUSED] SOURCES a.cpp ... VECTORISED b.cpp ... DEPENDS room ... PRIVATE lib ...)
# A room of the library: target sdm_NAME, alias sdm::NAME. VECTORISED names the files that Highway
# compiles once for each kind of processor; DEPENDS the rooms it may know; PRIVATE header-only
# libraries that its headers do not show. UNFUSED is for sdm_compile_flags.
function(sdm_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;VECTORISED;DEPENDS;PRIVATE" ${ARGN})
  sdm_room_headers(${name} "${ROOM_VECTORISED}")  # Highway includes such a file in itself
  add_library(sdm_${name} STATIC ${ROOM_SOURCES} ${ROOM_VECTORISED})
  add_library(sdm::${name} ALIAS sdm_${name})
  sdm_compile_flags(sdm_${name} ${ROOM_UNPARSED_ARGUMENTS})
  set_target_properties(sdm_${name} PROPERTIES EXPORT_NAME ${name})
  if(NOT EMSCRIPTEN)  # where it costs time and has no use
    set_target_properties(sdm_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_include_directories(sdm_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/rooms/${name}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  foreach(room IN LISTS name ROOM_DEPENDS ITEMS base)
    target_include_directories(sdm_${name} PRIVATE ${PROJECT_BINARY_DIR}/rooms/${room}/src)
  endforeach()
  target_link_libraries(sdm_${name} PUBLIC Eigen3::Eigen)
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(sdm_${name} PUBLIC sdm_${room})
  endforeach()
  if(ROOM_VECTORISED)
    target_link_libraries(sdm_${name} PRIVATE hwy::hwy)
    # Each includes itself anew for every processor, which no other file survives beside it.
    set_source_files_properties(${ROOM_VECTORISED} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # fmt's headers only: its code is compiled into sdm_base, so a user needs no fmt.
  target_include_directories(sdm_${name} SYSTEM PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  # Header-only and used in .cpp files alone, so a user of the installed library needs none of them.
  foreach(library IN LISTS ROOM_PRIVATE)
    target_link_libraries(sdm_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  set(SDM_ROOMS ${SDM_ROOMS} sdm_${name} CACHE INTERNAL "")
endfunction()

# sdm_rooms(NAME room ...): several rooms as one target, sdm::NAME.
function(sdm_rooms name)
  add_library(sdm_${name} INTERFACE)
  add_library(sdm::${name} ALIAS sdm_${name})
  set_target_properties(sdm_${name} PROPERTIES EXPORT_NAME ${name})
  foreach(room IN LISTS ARGN)
    target_link_libraries(sdm_${name} INTERFACE sdm_${room})
  endforeach()
endfunction()

# sdm_test(NAME SOURCES a_test.cpp ... LINK target ...): a GoogleTest program, one ctest entry a test.
function(sdm_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}_test ${TEST_SOURCES})
  sdm_compile_flags(${name}_test ${TEST_UNPARSED_ARGUMENTS})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${TEST_LINK} fmt::fmt GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
endfunction()

# sdm_standard_only_test(NAME SOURCES a_test.cpp ... LINK target ... REPLACES folder/platform.cpp): the
# tests once more, with the branch of this file that knows no operating system.
function(sdm_standard_only_test name)
  cmake_parse_arguments(TEST "" "REPLACES" "SOURCES;LINK" ${ARGN})
  sdm_test(${name}_standard_only SOURCES ${TEST_SOURCES} ${PROJECT_SOURCE_DIR}/${TEST_REPLACES} LINK ${TEST_LINK})
  target_compile_definitions(${name}_standard_only_test PRIVATE SDM_STANDARD_ONLY)
endfunction()
