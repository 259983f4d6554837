#!/bin/sh
# Fuzzes what reads untrusted files, under the address and undefined-behaviour sanitizers:
#   fuzz_model   the reader of model files, any bytes
#   fuzz_run     models of every kind with good checksums, loaded and run; checkpoints, resumed
#   fuzz_text    annotations (.csv, .pts, .tps, .xml, lists), boxes, mirrors, .obj, points, NIST, MAT, the files of a
#                head that is drawn (.obj, .npy, .json), requests and the journal of sdm annotate
#   fuzz_c       the C interface: pictures, numbers and options of all kinds
# usage: tests/fuzz/run.sh [SECONDS [NAME...]]   (10 seconds of each, side by side)
# They start from good files (fuzz_seeds) and from tests/fuzz/corpus: inputs that found a fault once, and some that
# get further than the good ones. Everything else lies in build/fuzz: the grown corpora in corpus/, inputs that failed in
# artifacts/, and in inputs.log how many were tried by each run.
# An input is small, so one allocation of 64 MB means a size that was believed: that fails too.
# Needs clang with its runtime (Debian: clang, libclang-rt-14-dev).
set -eu
seconds=${1:-10}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- fuzz_model fuzz_run fuzz_text fuzz_c
case $seconds in
  '' | *[!0-9]*) echo "usage: $0 [SECONDS [NAME...]], '$seconds' is not a number of seconds" >&2; exit 2 ;;
esac
for name in "$@"; do
  [ -e "$(dirname "$0")/$name.cpp" ] || { echo "$0: there is no fuzzer '$name'" >&2; exit 2; }
done
cd "$(dirname "$0")/../.."
build=build/fuzz
mkdir -p build

launcher=
if command -v ccache >/dev/null; then launcher=-DCMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake -S . -B $build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_FLAGS="-O2 -g1 -fno-sanitize-recover=all" \
  -DSDM_SANITIZE=fuzzer-no-link,address,undefined,float-cast-overflow \
  -DSDM_BUILD_FUZZERS=ON -DSDM_BUILD_TESTS=OFF -DSDM_BUILD_APPS=OFF -DSDM_BUILD_EXAMPLES=OFF \
  -DSDM_INSTALL=OFF -DSDM_OPENBLAS=OFF -DSDM_OPENCV=OFF -DCMAKE_UNITY_BUILD=ON $launcher >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
seeds=
case " $* " in *' fuzz_run '*) seeds=fuzz_run_seeds ;; esac
# shellcheck disable=SC2086 # one word or none
cmake --build $build -t "$@" fuzz_seeds $seeds >$build.log 2>&1 || { cat $build.log >&2; exit 1; }
$build/tests/fuzz/fuzz_seeds $build/seeds
[ -z "$seeds" ] || $build/tests/fuzz/fuzz_run_seeds $build/seeds/fuzz_run

# Short stacks and libFuzzer's plain choice of inputs: twice as many a second. A failed input can be run alone with long ones.
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16}"

fuzz() {
  length=1024
  [ "$1" != fuzz_run ] || length=65536
  mkdir -p "$build/corpus/$1" "$build/seeds/$1" $build/artifacts "tests/fuzz/corpus/$1"
  "$build/tests/fuzz/$1" -max_total_time="$seconds" -max_len=$length -timeout=20 -malloc_limit_mb=64 -entropic=0 \
    -print_final_stats=1 -artifact_prefix="$build/artifacts/$1-" "$build/corpus/$1" "$build/seeds/$1" \
    "tests/fuzz/corpus/$1" >"$build/$1.log" 2>&1 || { tail -n 60 "$build/$1.log" >&2; return 1; }
  sed -n "s/^stat::number_of_executed_units: */$1: clean, inputs tried: /p" "$build/$1.log" | tee -a $build/inputs.log
}

jobs=
for name in "$@"; do
  fuzz "$name" &
  jobs="$jobs $!"
done
failed=0
for job in $jobs; do wait "$job" || failed=1; done
exit $failed
