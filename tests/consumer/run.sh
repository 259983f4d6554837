#!/usr/bin/env bash
# usage: run.sh find_package|add_subdirectory|package SOURCE BUILD
# Builds the consumer project with the installed library, with the sources, or with the unpacked
# Debian packages, and runs it.
set -euo pipefail
way=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$way" = find_package ]; then
  cmake --install "$build" --prefix "$work/installed" >/dev/null
  arguments=(-DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_BUILD_TYPE=Release)
elif [ "$way" = package ]; then
  (cd "$build" && cpack -B "$work/packages" >/dev/null)
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work/root"; done
  arguments=(-DCMAKE_PREFIX_PATH="$work/root/usr" -DCMAKE_BUILD_TYPE=Release)
  # The tool runs from where it was unpacked and finds the model that came with it. A picture
  # without a face is a result.
  printf 'P2 2 2 255\n0 0 0 0\n' > "$work/black.pgm"
  (cd "$work" && env -u SDM_MODELS "$work/root/usr/bin/sdm" detect black.pgm --json >/dev/null)
  test -s "$work/root/usr/share/sdm/face68.sdm"
  grep -q -- 'sdm reproduce' "$work/root/usr/share/man/man1/sdm.1"
  bash -n "$work/root/usr/share/bash-completion/completions/sdm"
else
  # Builds a part of the library once more: unoptimised, for that is quick and shows as much.
  arguments=(-DSDM_SOURCE="$source" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
fi
cmake -S "$source/tests/consumer" -B "$work/build" -G Ninja -DCONSUMER_WAY="$way" "${arguments[@]}" >/dev/null
cmake --build "$work/build" -t train_and_solve solve_only
"$work/build/train_and_solve"
"$work/build/solve_only"
for library in openblas opencv; do
  if ldd "$work/build/solve_only" | grep -q "$library"; then
    echo "running a model needs lib$library, which it must not"; exit 1
  fi
done
