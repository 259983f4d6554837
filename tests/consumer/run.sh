#!/usr/bin/env bash
# usage: run.sh find_package|add_subdirectory SOURCE BUILD
# Builds the consumer project the one way or the other and runs it.
set -euo pipefail
way=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$way" = find_package ]; then
  cmake --install "$build" --prefix "$work/installed" >/dev/null
  arguments=(-DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_BUILD_TYPE=Release)
else
  # Builds the whole library once more: unoptimised, for that is quick and shows as much.
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
