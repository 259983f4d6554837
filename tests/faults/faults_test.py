"""Every write, flush, close, fsync and rename of a command fails once, disks are full, and commands are killed at
random moments: afterwards there is the old file or the new one, whole, and no command ends by a signal of its own.

usage: faults_test.py SDM FAILING_IO [KILLS]   (KILLS of each command, 8 by default)
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "apps"))
from marks import SIZE, make_set, picture, placed  # noqa: E402
from tool import SDM, run, write_pgm  # noqa: E402

FAILING_IO = str(pathlib.Path(sys.argv[2]).resolve())
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 8


def command(words, **how):
    return subprocess.run([SDM, *map(str, words)], capture_output=True, timeout=120, **how)


def put(outputs, contents):
    for path, content in zip(outputs, contents):
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)


def each_call_fails(words, outputs, folder):
    """The outputs are first absent, then old ones."""
    put(outputs, [None] * len(outputs))
    assert command(words).returncode == 0, words
    new = [path.read_bytes() for path in outputs]
    marker, fired = folder / "failed", 0
    for old in ([None] * len(outputs), [b"the old file"] * len(outputs)):
        for number in range(1, 100000):
            put(outputs, old)
            marker.unlink(missing_ok=True)
            done = command(words, env={**os.environ, "LD_PRELOAD": FAILING_IO, "SDM_FAIL_AT": str(number),
                                       "SDM_FAILED": str(marker)})
            if not marker.exists():
                break
            fired += 1
            assert done.returncode in (0, 1), (words, number, marker.read_text(), done)
            for path, before, after in zip(outputs, old, new):
                content = path.read_bytes() if path.exists() else None
                # A video holds the time it was made.
                whole = content == after or (content and path.suffix == ".mp4" and len(content) == len(after))
                assert content == before or whole, (words, number, marker.read_text(), path)
                assert done.returncode == 1 or whole, (words, number, marker.read_text(), done)
            left = [path.name for path in folder.iterdir() if ".tmp" in path.name]
            assert not left, (words, number, marker.read_text(), left)
    return fired


def can_mount(disk):
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", disk], capture_output=True).returncode == 0


def on_a_full_disk(words, disk, names):
    """The outputs lie on a disk on which nothing but the old ones has room: a page each."""
    script = ('disk=$1 names=$2 size=$3; shift 3; mount -t tmpfs -o size=${size}k none "$disk" || exit 99;'
              'for name in $names; do printf old >"$disk/$name"; done;'
              '"$@" >/dev/null; code=$?; cd "$disk"; tail -qc +1 -- $names; ls -A; exit $code')
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", disk, " ".join(names), str(4 * len(names)), SDM,
                           *map(str, words)], capture_output=True, timeout=120)
    assert done.returncode == 1 and done.stderr.startswith(b"sdm: "), (words, done)
    assert done.stdout.decode() == "old" * len(names) + "".join(name + "\n" for name in sorted(names)), (words, done)


def killed_at_random(words, outputs, rng, is_whole):
    """The outputs are old ones; how long it takes is measured first."""
    start = time.monotonic()
    assert command(words).returncode == 0, words
    takes = time.monotonic() - start
    for _ in range(KILLS):
        put(outputs, [b"the old file"] * len(outputs))
        program = subprocess.Popen([SDM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, 1.1 * takes))
        program.kill()
        program.wait(60)
        for path in outputs:
            assert path.read_bytes() == b"the old file" or is_whole(path), (words, path)
    return KILLS


def is_model(path):
    return command(["info", path]).returncode == 0


with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work).resolve()
    rng = random.Random(3)
    make_set(folder, "train", 40, rng)
    train = ["train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "--preset", "fast", "--mirror",
             "none", "--adaptation", "-o", folder / "marks.sdm"]
    run(*train)
    frames = folder / "frames"
    frames.mkdir()
    for i in range(6):
        write_pgm(frames / f"{i}.pgm", picture(rng, placed(60 + i, 60)), SIZE)
    fired = each_call_fails(["pose", "train", "cube", "--samples", "200", "-o", folder / "cube.sdm"],
                            [folder / "cube.sdm"], folder)
    fired += each_call_fails(["convert", folder / "train.csv", folder / "train.tps"], [folder / "train.tps"], folder)
    track = ["track", frames, "-m", folder / "marks.sdm", "--box", "20,20,90,90", "--no-smooth"]
    fired += each_call_fails([*track, "--json", folder / "a.jsonl", "-o", folder / "a.mp4"],
                             [folder / "a.jsonl", folder / "a.mp4"], folder)
    fired += each_call_fails(["detect", frames / "0.pgm", "-m", folder / "marks.sdm", "--draw", folder / "drawn.png"],
                             [folder / "drawn.png"], folder)
    disk = folder / "disk"
    disk.mkdir()
    full = 0
    if can_mount(disk):
        for words, names in ((["pose", "train", "cube", "--samples", "200", "-o", disk / "a.sdm"], ["a.sdm"]),
                             ([*train[:-1], disk / "a.sdm"], ["a.sdm"]),
                             ([*track, "--plot", disk / "a.svg"], ["a.svg"]),
                             ([*track, "-o", disk / "a.mp4"], ["a.mp4"]),
                             (["detect", frames / "0.pgm", "--draw", disk / "a.png"], ["a.png"]),
                             (["convert", folder / "train.csv", disk / "a.tps"], ["a.tps"]),
                             (["eval", "--truth", folder / "train.csv", "-m", folder / "marks.sdm", "--plot", disk / "a.svg"],
                              ["a.svg"])):
            on_a_full_disk(words, disk, names)
            full += 1
    else:
        print("no disk could be filled: this system lets nobody mount one")
    adapt = ["adapt", folder / "marks.sdm", "--image", folder / "train/train000.pgm", "--points",
             folder / "one.csv", "-o", folder / "own.sdm"]
    lines = (folder / "train.csv").read_text().splitlines()
    (folder / "one.csv").write_text("\n".join(lines[:2]) + "\n")
    # The state is replaced first: a model without its own could not learn further.
    killed = killed_at_random(adapt, [folder / "own.sdm", folder / "own.adaptation.sdm"], rng, is_model)
    checkpoint = folder / "checkpoint.sdm"
    model = (folder / "marks.sdm").read_bytes()
    killed += killed_at_random([*train, "--checkpoint", checkpoint],
                               [folder / "marks.sdm", folder / "marks.adaptation.sdm"], rng, is_model)
    # Whatever the kills left, going on from it ends in the same bits.
    run(*train, "--checkpoint", checkpoint)
    assert (folder / "marks.sdm").read_bytes() == model
    killed += killed_at_random([*track, "--json", folder / "a.jsonl", "-o", folder / "a.mp4"],
                               [folder / "a.jsonl", folder / "a.mp4"], rng,
                               lambda path: path.suffix == ".jsonl" and path.read_text().count("\n") == 6 or
                               path.suffix == ".mp4" and command(["track", path, *track[2:]]).returncode == 0)
    killed += killed_at_random(["reproduce", "analytic", "-o", folder / "results"],
                               [folder / "results/analytic/results.json"], rng,
                               lambda path: path.read_text().endswith("}\n"))
print(f"ok: {fired} calls failed, {full} disks were full, {killed} kills")
