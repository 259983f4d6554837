#!/usr/bin/env bash
# usage: run.sh find_package|add_subdirectory|package|pkg_config SOURCE BUILD
# Builds the consumer project with the installed library, with the sources, or with the unpacked
# Debian packages, and runs it; or builds its programs by hand with what pkg-config says.
set -euo pipefail
way=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "$*" >&2; exit 1; }
# configure NAME option ...: the consumer project in a build folder of its own.
configure() {
  local name=$1
  shift
  cmake -S "$source/tests/consumer" -B "$work/$name" -G Ninja -DCONSUMER_WAY="$way" "${arguments[@]}" "$@" \
    >"$work/$name.log" 2>&1
}
# make NAME target ...: builds these and runs them.
make() {
  local name=$1 program
  shift
  cmake --build "$work/$name" -t "$@"
  for program in "$@"; do "$work/$name/$program"; done
}
needs_no() {
  local library
  for library in "${@:2}"; do
    if ldd "$1" | grep -q "$library"; then fail "running a model needs lib$library, which it must not"; fi
  done
}

prefix=$work/installed
# The library is of one set of flags, its users of any: what Eigen allocates on one side is freed on
# the other.
flags=-march=native
if grep -qsw avx2 /proc/cpuinfo; then flags="-mavx;-mavx2;-march=x86-64-v3;$flags"; fi

case $way in
  find_package | pkg_config) 
    cmake --install "$build" --prefix "$prefix" --component dev >/dev/null
    cmake --install "$build" --prefix "$prefix" --component lib >/dev/null ;;
  package)
    (cd "$build" && cpack -B "$work/packages" >/dev/null)
    for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work/root"; done
    prefix=$work/root/usr
    # The tool runs from where it was unpacked and finds the model that came with it. A picture
    # without a face is a result.
    printf 'P2 2 2 255\n0 0 0 0\n' > "$work/black.pgm"
    (cd "$work" && env -u SDM_MODELS "$prefix/bin/sdm" detect black.pgm --json >/dev/null)
    test -s "$prefix/share/sdm/face68.sdm"
    zgrep -q -- 'sdm reproduce' "$prefix"/share/man/man1/sdm.1*
    bash -n "$prefix/share/bash-completion/completions/sdm"
    if grep -q '^SDM_HARDEN:BOOL=ON' "$build/CMakeCache.txt"; then
      "$source/packaging/check_hardened.py" "$prefix/bin/sdm"
    fi ;;
esac

if [ "$way" = add_subdirectory ]; then
  # Builds a part of the library once more: unoptimised and as few files, for that is quick and shows
  # as much.
  arguments=(-DSDM_SOURCE="$source" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON)
  configure build || fail "$(cat "$work/build.log")"
  make build train_and_solve solve_only
  needs_no "$work/build/solve_only" openblas opencv
  exit
fi

if [ "$way" = pkg_config ]; then
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sdm.pc)")
  compile() { ${CXX:-c++} -std=c++20 -O1 "$@"; }
  cd "$source/tests/consumer"
  # shellcheck disable=SC2046  # pkg-config gives several words
  {
    compile -march=native -DCONSUMER_TRAINS main.cpp $(pkg-config --cflags --libs --static sdm) -o "$work/train_and_solve"
    compile fixed_sizes.cpp $(pkg-config --cflags --libs --static sdm-runtime) -o "$work/fixed_sizes"
  }
  "$work/train_and_solve"
  "$work/fixed_sizes"
  needs_no "$work/fixed_sizes" openblas opencv
  # Without the definitions there is no program, and every header with Eigen in it sees to that.
  # shellcheck disable=SC2046
  if compile -fsyntax-only -I "$prefix/include" $(pkg-config --cflags eigen3) fixed_sizes.cpp 2>"$work/refused"; then
    fail "a program with another alignment than the library's was accepted"
  fi
  grep -q -- 'compile with -DEIGEN_MAX_ALIGN_BYTES=64' "$work/refused"
  unguarded=$(grep -rl '#include <Eigen' "$prefix/include/sdm" | xargs grep -L 'sdm/base/types.h' |
    grep -v 'sdm/base/types.h$') || true
  test -z "$unguarded" || fail "these include Eigen but not sdm/base/types.h: $unguarded"
  exit
fi

arguments=(-DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1)
components=sdm
if [ -d "$prefix/include/sdm/opencv" ]; then components="sdm;opencv"; fi
configure build -DCONSUMER_COMPONENTS="$components" -DCONSUMER_FLAGS="$flags" || fail "$(cat "$work/build.log")"
IFS=';' read -ra each <<<"${flags//=/-}"
make build "${each[@]/#/train_and_solve}" "${each[@]/#/fixed_sizes}"
if [ "$components" != sdm ]; then
  printf 'P2 2 1 255\n10 200\n' > "$work/two.pgm"
  cmake --build "$work/build" -t read_picture
  "$work/build/read_picture" "$work/two.pgm"
fi

# The C interface asks for nothing: neither C++ nor Eigen.
if [ -e "$prefix"/lib*/libsdm.so.1 ] || compgen -G "$prefix/lib/*/libsdm.so.1" >/dev/null; then
  mkdir "$work/c"
  cat >"$work/c/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C)
find_package(sdm CONFIG REQUIRED COMPONENTS shared)
add_executable(c_interface c_interface.c)
set_target_properties(c_interface PROPERTIES C_STANDARD 99)
target_link_libraries(c_interface PRIVATE sdm::shared m)
TEXT
  cp "$source/examples/c_interface.c" "$work/c/"
  cmake -S "$work/c" -B "$work/c/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON >/dev/null
  make c/build c_interface
fi

# A machine without BLAS and MPI runs models.
none=(-DCMAKE_DISABLE_FIND_PACKAGE_BLAS=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON)
configure runtime -DCONSUMER_COMPONENTS=runtime "${none[@]}" || fail "$(cat "$work/runtime.log")"
make runtime solve_only
needs_no "$work/runtime/solve_only" openblas opencv mpi
if [ "$way" = find_package ] && grep -q openblas "$(find "$prefix" -name sdm.pc)"; then
  configure any "${none[@]}" || fail "$(cat "$work/any.log")"
  grep -q 'sdm::sdm needs OpenBLAS' "$work/any.log" || fail "nobody said that sdm::sdm is missing"
  if configure all -DCONSUMER_COMPONENTS=sdm "${none[@]}"; then fail "sdm::sdm was found without BLAS"; fi
  grep -q 'sdm::sdm needs OpenBLAS' "$work/all.log" || fail "nobody said what sdm::sdm is missing"
fi
