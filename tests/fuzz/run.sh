#!/bin/sh
# Fuzzes the reader of model files under the address and undefined-behaviour sanitizers.
# usage: tests/fuzz/run.sh [SECONDS]   (10 by default)
# Everything lies in build/fuzz: the grown corpus in corpus/, inputs that failed in artifacts/.
# An input has 4 kB, so one allocation of 64 MB means a size that was believed: that fails too.
# Needs clang with its runtime (Debian: clang, libclang-rt-14-dev).
set -eu
seconds=${1:-10}
case $seconds in
  '' | *[!0-9]*) echo "usage: $0 [SECONDS], '$seconds' is not a number of seconds" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../.."
build=build/fuzz
mkdir -p build

launcher=
if command -v ccache >/dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake -S . -B $build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS=-fno-sanitize-recover=all -DSDM_SANITIZE=fuzzer-no-link,address,undefined \
  -DSDM_BUILD_FUZZERS=ON -DSDM_BUILD_TESTS=OFF -DSDM_BUILD_APPS=OFF -DSDM_BUILD_EXAMPLES=OFF \
  -DSDM_INSTALL=OFF -DSDM_OPENBLAS=OFF $launcher >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
cmake --build $build -t fuzz_model fuzz_model_seeds >$build.log 2>&1 || { cat $build.log >&2; exit 1; }

mkdir -p $build/corpus $build/artifacts
$build/tests/fuzz/fuzz_model_seeds $build/seeds
$build/tests/fuzz/fuzz_model -max_total_time="$seconds" -max_len=4096 -timeout=10 -malloc_limit_mb=64 \
  -print_final_stats=1 -artifact_prefix=$build/artifacts/ $build/corpus $build/seeds \
  >$build/run.log 2>&1 || { tail -n 60 $build/run.log >&2; exit 1; }
sed -n 's/^stat::number_of_executed_units: */fuzz_model: clean, inputs tried: /p' $build/run.log
