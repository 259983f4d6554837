"""What the checks of SDM_HARDEN cost: face_bench of two builds that differ in nothing else, run in turns.
Prints the median over pairs of runs of the time with the checks, relative to that without.

usage: harden.py WITH WITHOUT [PAIRS]   (the two programs; 11 pairs by default; pin it to a core with taskset)
"""
import statistics
import subprocess
import sys


def times(program):
    """Microseconds a face of every model."""
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = [line.rsplit(None, 3) for line in text.splitlines() if line.endswith("x")]
    return {name.strip(): float(spent) for name, _, spent, _ in rows}


programs, pairs = sys.argv[1:3], int(sys.argv[3]) if len(sys.argv) > 3 else 11
runs = []
for i in range(pairs):
    both = {}
    for k in (0, 1) if i % 2 == 0 else (1, 0):  # neither always comes first
        both[k] = times(programs[k])
    runs.append(both)
print(f"{'model':<32} {'us with':>8} {'without':>8} {'cost':>7}   ({pairs} pairs)")
costs = []
for name in runs[0][0]:
    costs.append(statistics.median(run[0][name] / run[1][name] for run in runs) - 1)
    print(f"{name:<32} {statistics.median(run[0][name] for run in runs):8.1f} "
          f"{statistics.median(run[1][name] for run in runs):8.1f} {100 * costs[-1]:+6.1f} %")
print(f"in the mean {100 * statistics.mean(costs):+.1f} %")
