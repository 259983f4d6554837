#!/usr/bin/env bash
# Compiles every public header alone, since a user may include any of them first.
# usage: tests/headers/run.sh EIGEN_FOLDER COMPILER [FLAG ...]
# Ends with 77 where there is no such compiler or it lacks its standard library.
set -euo pipefail
cd "$(dirname "$0")/../../include"
eigen=$1
shift
export compile="$* -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I. -isystem $eigen -x c++ -"
if ! echo '#include <string>' | $compile 2>/dev/null; then
  echo "skipped: '$*' cannot compile, expected a compiler with its standard library"
  exit 77
fi
alone() {
  echo "#include \"$1\"" | $compile || { echo "$1 does not compile alone"; return 1; }
}
export -f alone
find sdm -name '*.h' | sort | xargs -P 2 -I {} bash -c 'alone {}'
