#!/bin/sh
# Fuzzes what reads untrusted files, under the address and undefined-behaviour sanitizers:
#   fuzz_model   the reader of model files, any bytes
#   fuzz_run     models of every kind with good checksums, loaded and run; checkpoints, resumed
#   fuzz_text    annotations (.csv, .pts, .tps, .xml, lists), boxes, mirrors, .obj, points, NIST, MAT
# usage: tests/fuzz/run.sh [SECONDS [NAME]]   (10 seconds of fuzz_model by default)
# Everything lies in build/fuzz: the grown corpora in corpus/, inputs that failed in artifacts/, and in
# inputs.log how many were tried by each run. fuzz_seeds writes what they start from.
# An input is small, so one allocation of 64 MB means a size that was believed: that fails too.
# Needs clang with its runtime (Debian: clang, libclang-rt-14-dev).
set -eu
seconds=${1:-10}
names=${2:-fuzz_model}
case $seconds in
  '' | *[!0-9]*) echo "usage: $0 [SECONDS [NAME]], '$seconds' is not a number of seconds" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../.."
build=build/fuzz
mkdir -p build

launcher=
if command -v ccache >/dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake -S . -B $build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS=-fno-sanitize-recover=all -DSDM_SANITIZE=fuzzer-no-link,address,undefined,float-cast-overflow \
  -DSDM_BUILD_FUZZERS=ON -DSDM_BUILD_TESTS=OFF -DSDM_BUILD_APPS=OFF -DSDM_BUILD_EXAMPLES=OFF \
  -DSDM_INSTALL=OFF -DSDM_OPENBLAS=OFF -DSDM_OPENCV=OFF -DCMAKE_UNITY_BUILD=ON $launcher >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
seeds=fuzz_seeds
# The seeds of the model reader need no more than it does.
if [ "$names" = fuzz_model ]; then seeds=fuzz_model_seeds; fi
# shellcheck disable=SC2086 # names are words
cmake --build $build -t $names $seeds >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
case $seeds in
  fuzz_seeds) $build/tests/fuzz/fuzz_seeds $build/seeds ;;
  *) $build/tests/fuzz/fuzz_model_seeds $build/seeds/fuzz_model ;;
esac

for name in $names; do
  case $name in fuzz_run) length=65536 ;; *) length=4096 ;; esac
  mkdir -p $build/corpus/$name $build/artifacts
  $build/tests/fuzz/$name -max_total_time="$seconds" -max_len=$length -timeout=20 -malloc_limit_mb=64 \
    -print_final_stats=1 -artifact_prefix=$build/artifacts/$name- $build/corpus/$name $build/seeds/$name \
    >$build/$name.log 2>&1 || { tail -n 60 $build/$name.log >&2; exit 1; }
  sed -n "s/^stat::number_of_executed_units: */$name: clean, inputs tried: /p" $build/$name.log | tee -a $build/inputs.log
done
