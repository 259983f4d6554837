#!/usr/bin/env bash
# usage: mpi_test.sh MPI_TRAIN MPI_COMPARE MPIEXEC
# Four ranks give the model of one process up to the order of sums, and the same bits every time; a
# job that loses a rank ends, and its next run goes on from the checkpoint to the same bits.
set -euo pipefail
train=$1 compare=$2 mpiexec=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
ranks() { local n=$1; shift; "$mpiexec" --oversubscribe -n "$n" "$train" "$@"; }

ranks 1 "$folder/one.sdm"
ranks 4 "$folder/four.sdm"
ranks 4 "$folder/again.sdm"
"$compare" "$folder/one.sdm" "$folder/four.sdm" 1e-9
cmp "$folder/four.sdm" "$folder/again.sdm"

echo "a rank dies in stage 2:"
if ranks 4 "$folder/died.sdm" "$folder/checkpoint" 2 3 >"$folder/log" 2>&1; then
  echo "the job outlived its rank"; exit 1
fi
[ ! -e "$folder/died.sdm" ]
ranks 4 "$folder/died.sdm" "$folder/checkpoint" | tee "$folder/log"
grep -q 'resumed from stage 2' "$folder/log"
cmp "$folder/four.sdm" "$folder/died.sdm"
