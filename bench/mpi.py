"""`./run bench mpi`: one stage of a training on 1, 2 and 4 ranks of this machine, the bytes that a rank sends against the
formula of docs/training-at-scale.md, and 64 ranks that sleep in place of work but send real messages.

usage: mpi.py MPI_BENCH
"""
import json
import os
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
CORES = len(os.sched_getaffinity(0))
TILE = 512


def train(ranks, samples, features, deltas=20, folds=4, sleep=0):
    words = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    if os.geteuid() == 0:
        words.append("--allow-run-as-root")
    for _ in range(3):  # of many ranks on few cores mpirun may lose one as it ends, after all was said
        done = subprocess.run([*words, PROGRAM, *map(str, [samples, features, deltas, folds, sleep])], capture_output=True,
                              text=True, timeout=600)
        if done.returncode == 0:
            return json.loads(done.stdout)
    raise AssertionError(done.stderr)


def bytes_of(features, deltas, folds):
    """What a rank sends of the equations in a stage: the lower triangle of the Gram matrix in whole tiles, and the rest."""
    sides = [min(TILE, features - first) for first in range(0, features, TILE)]
    gram = sum(a * b for i, a in enumerate(sides) for b in sides[:i + 1])
    return 4 * folds * (gram + features * deltas + features + deltas + deltas**2 + 1)


def best(ranks, *rest, **settings):
    """The quickest of nine: the machine may be busy."""
    return min((train(ranks, *rest, **settings) for _ in range(9)), key=lambda run: run["seconds"])


def main():
    features, deltas, samples = 1024, 20, 8000
    print(f"one stage, {features} features, {deltas} deltas, 4 folds, one thread a rank; {CORES} cores here\n")
    print(f"{'ranks':<22}{'strong: s a stage':>18}{'share of ideal':>16}{'weak: s a stage':>18}{'share of ideal':>16}")
    one = None
    for ranks in (1, 2, 4):
        strong = best(ranks, samples, features)
        weak = best(ranks, samples * ranks // 2, features)
        one = one or (strong["seconds"], weak["seconds"])
        used = min(ranks, CORES)
        # Of more ranks than cores nobody can expect more than the cores give.
        print(f"{str(ranks) + (' (oversubscribed)' if ranks > CORES else ''):<22}{strong['seconds']:>18.3f}"
              f"{one[0] / used / strong['seconds']:>16.2f}{weak['seconds']:>18.3f}"
              f"{one[1] * ranks / used / weak['seconds']:>16.2f}")
    print("\nbytes that a rank sends in a stage: counted, and by the formula (docs/training-at-scale.md)")
    for features, samples in ((1024, 2000), (1024, 8000), (2048, 2000)):
        run = train(2, samples, features)
        formula = bytes_of(features, deltas, 4)
        print(f"{features:>6} features, {samples:>6} samples: {run['sent']:>12,.0f} {formula:>12,} "
              f"(ratio {run['sent'] / formula:.4f}; 4 K d^2 / 2 alone: {4 * 4 * features**2 / 2:,.0f})")
    print("\n64 ranks in one machine, features that sleep 10 ms and take no core, 96 of them, 4 folds")
    for ranks, samples in ((1, 640), (64, 640), (64, 1280)):
        run = train(ranks, samples, 96, deltas=4, sleep=10000)
        # A feature vector is evaluated once a stage: it fits in memory for the second pass.
        print(f"{ranks:>3} ranks, {samples:>5} samples: {run['seconds']:>7.3f} s a stage, asleep {0.01 * samples / ranks:.3f} s;"
              f" a rank sends {run['sent']:,.0f} bytes and is told {run['told']:,.0f}; error {run['error']:.6f}")


if __name__ == "__main__":
    main()
