"""`mpirun -n RANKS sdm train` and `sdm train-detector`: the model that one process trains, the same bits from the same
ranks, a rank without pictures or with a bad one, one message where something fails, going on after a rank was killed, and the
commands of docs/cluster.

usage: mpi_test.py SDM MPIRUN WRITE_HEAD
"""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from marks import make_set
from tool import SDM, run

MPIRUN = [sys.argv[2], "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
if os.geteuid() == 0:
    MPIRUN.append("--allow-run-as-root")
QUICK = ["--cell", "6,5,4", "--cells", "2", "--starts", "3", "--folds", "2", "--unit", "24", "--mirror", "none"]


def start(ranks, *words):
    return subprocess.Popen([*MPIRUN, "-n", str(ranks), SDM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def ranks_run(ranks, *words, code=0):
    program = start(ranks, *words)
    try:
        said, told = program.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        program.kill()
        raise AssertionError("the ranks wait for each other") from None
    assert (program.returncode == 0) == (code == 0), (words, program.returncode, said, told)
    return said, told


def train_words(folder, output, *more):
    return ["train", folder / "train.csv", "-o", folder / output, *QUICK, *more]


def the_model_of_one_process(folder):
    boxes = ["--boxes", folder / "train_boxes.csv", "--dev", folder / "test.csv"]
    run(*train_words(folder, "alone.sdm", *boxes))
    said, _ = ranks_run(3, *train_words(folder, "three.sdm", *boxes))
    assert said.count("wrote") == 1 and "3 ranks" in said and "40 faces of 5 points" in said, said
    assert (folder / "three.training.svg").exists()
    ranks_run(3, *train_words(folder, "again.sdm", *boxes, "--name", "three"))
    ranks_run(3, *train_words(folder, "three.sdm", *boxes))
    assert (folder / "three.sdm").read_bytes() == (folder / "again.sdm").read_bytes(), "the same ranks, other bits"
    told = json.loads(run("eval", "--model", f"a={folder / 'alone.sdm'}", "--model", f"b={folder / 'three.sdm'}", "--truth",
                          folder / "test.csv", "--normaliser", "pixels", "--json").stdout)
    errors = [entry["mean"] for entry in told]
    assert abs(errors[0] - errors[1]) < 0.05 * errors[0], errors
    # The automatic choice, and whole pictures.
    said, _ = ranks_run(2, "train", folder / "train.csv", "-o", folder / "auto.sdm", "--budget", "1", "--mirror", "none")
    assert "chosen:" in said and said.count("wrote") == 1, said


def each_rank_reads_its_own_pictures(folder):
    """Each rank runs in a folder where the others' pictures are not."""
    words = ["train", "train.csv", *QUICK, "--name", "x", "--provenance", "x"]
    own = []
    for rank in range(2):
        place = folder / f"machine{rank}"
        (place / "train").mkdir(parents=True)
        for file in ["train.csv", "train_boxes.csv"]:
            (place / file).write_bytes((folder / file).read_bytes())
        for picture in sorted((folder / "train").iterdir())[20 * rank:20 * rank + 20]:
            (place / "train" / picture.name).write_bytes(picture.read_bytes())
        own += [*([":"] if rank else []), "-n", "1", "-wdir", str(place), SDM, *words, "-o", str(folder / "own.sdm")]
    done = subprocess.run([*MPIRUN, *own], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "this one has 20 faces" in done.stdout, (done.stdout, done.stderr)
    ranks_run(2, *train_words(folder, "own_all.sdm", "--name", "x", "--provenance", "x"))
    assert (folder / "own.sdm").read_bytes() == (folder / "own_all.sdm").read_bytes()


def bad_pictures(folder):
    victim = folder / "train" / "train030.pgm"
    kept = victim.read_bytes()
    victim.write_bytes(b"no picture")
    try:
        said, told = ranks_run(3, *train_words(folder, "bad.sdm"), code=1)
        ours = [line for line in told.splitlines() if line.startswith("sdm:")]
        assert len(ours) == 1 and "train030.pgm" in ours[0] and "rank 2" in ours[0], told
        assert not (folder / "bad.sdm").exists()
        said, told = ranks_run(3, *train_words(folder, "bad.sdm", "--skip-bad"))
        assert told.count("train030.pgm") == 1 and "39 faces" in said, (said, told)
    finally:
        victim.write_bytes(kept)
    for words in [train_words(folder, "none.sdm", "--boxes", folder / "nowhere.csv"),
                  ["train", folder / "train.csv", "-o", folder / "none.sdm", "--mirror", folder / "nowhere.txt"]]:
        said, told = ranks_run(2, *words, code=1)
        assert len([line for line in told.splitlines() if line.startswith("sdm:")]) == 1, told


def more_ranks_than_pictures(folder):
    lines = (folder / "train.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(lines[:6]) + "\n")
    ranks_run(7, "train", folder / "few.csv", "-o", folder / "few.sdm", *QUICK)
    assert (folder / "few.sdm").exists()


def killed_and_resumed(folder):
    ranks_run(2, *train_words(folder, "whole.sdm", "--name", "x", "--provenance", "x"))
    checkpoint = folder / "ck"
    words = train_words(folder, "resumed.sdm", "--name", "x", "--provenance", "x", "--checkpoint", checkpoint)
    for _ in range(5):
        (folder / "resumed.sdm").unlink(missing_ok=True)
        program = start(2, *words)
        while program.poll() is None and not list(folder.glob("ck.rank1.stage*")):
            time.sleep(0.002)
        children = subprocess.run(["pgrep", "-P", str(program.pid)], capture_output=True, text=True).stdout.split()
        if children:
            try:
                os.kill(int(children[-1]), signal.SIGKILL)
            except ProcessLookupError:
                pass
        program.communicate(timeout=60)
        if program.returncode != 0 and list(folder.glob("ck.rank*")) and not (folder / "resumed.sdm").exists():
            break
    else:
        raise AssertionError("every training ended before a rank was killed")
    said, _ = ranks_run(2, *words)
    assert (folder / "resumed.sdm").read_bytes() == (folder / "whole.sdm").read_bytes(), "other bits after resuming"
    assert not list(folder.glob("ck*")), "the checkpoint is left behind"


def detectors(folder):
    words = ["train-detector", folder / "train.csv", "--mirror", "none", "--rounds", "1", "--leans", "25", "--name", "d"]
    ranks_run(3, *words, "-o", folder / "d1.sdm")
    said, _ = ranks_run(3, *words, "-o", folder / "d2.sdm")
    assert "40 objects of 5 points, 40 backgrounds" in said and said.count("wrote") == 1, said
    assert (folder / "d1.sdm").read_bytes() == (folder / "d2.sdm").read_bytes()
    said, _ = ranks_run(3, *train_words(folder, "found.sdm", "--detector", folder / "d1.sdm"))
    assert "the detector finds" in said and said.count("wrote") == 1, said
    said, told = ranks_run(2, *words, "-o", folder / "d3.sdm", "--background", folder / "nowhere", code=1)
    assert len([line for line in told.splitlines() if line.startswith("sdm:")]) == 1, told
    said, told = ranks_run(2, *train_words(folder, "cv.sdm", "--cross-validate", "3"), code=1)
    assert "one process" in told, told


def drawn_faces(folder):
    head = folder / "head"
    subprocess.run([sys.argv[3], head], check=True)
    words = ["train", "--rendered", 24, "--ict", head, "--size", 60, "--cell", "7,5", "--unit", 24, "--starts", 2, "--name", "x"]
    run(*words, "-o", folder / "drawn_alone.sdm")
    said, _ = ranks_run(3, *words, "-o", folder / "drawn.sdm")
    assert "24 faces of 68 points" in said and "this one has 8 faces" in said, said
    # The same faces: the models differ by the order of sums alone.
    run("render", "--ict", head, "--size", 60, "-n", 24, "-o", folder / "seen")
    told = json.loads(run("eval", "--model", f"a={folder / 'drawn_alone.sdm'}", "--model", f"b={folder / 'drawn.sdm'}", "--truth",
                          folder / "seen/faces.csv", "--boxes", folder / "seen/faces_boxes.csv", "--json").stdout)
    errors = [entry["mean"] for entry in told]
    assert abs(errors[0] - errors[1]) < 0.05 * errors[0], errors


def commands_of_the_docs(folder):
    """The job of Kubernetes and the script of Slurm, with the folders of this test and two ranks."""
    docs = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "cluster"
    for name in ["faces", "models", "bin"]:
        (folder / name).mkdir()
    (folder / "faces" / "train.csv").write_text((folder / "train.csv").read_text().replace("train/", "../train/"))
    quick = ["--cells", "2", "--starts", "2", "--folds", "2", "--unit", "24", "--mirror", "none"]

    job = (docs / "mpijob.yaml").read_text()
    words = re.findall(r"^ {16}- (\S+)$", job, re.MULTILINE)
    assert words[:2] == ["sdm", "train"] and "--skip-bad" in words, words
    words = [word.replace("/data/", f"{folder}/faces/").replace("--threads=8", "--threads=1") for word in words[1:]]
    ranks_run(2, *words, *quick)
    assert (folder / "faces" / "mine.sdm").exists()

    tools = {"sdm": f'exec "{SDM}" "$@" {" ".join(quick)}\n',
             "srun": f'while [[ $1 == --* ]]; do shift; done\nexec {" ".join(MPIRUN)} -n 2 "$@"\n'}
    for name, text in tools.items():
        (folder / "bin" / name).write_text("#!/bin/bash\n" + text)
        (folder / "bin" / name).chmod(0o755)
    done = subprocess.run(["bash", docs / "sdm.sbatch"], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "HOME": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    assert done.returncode == 0 and (folder / "models" / "mine.sdm").exists(), (done.stdout, done.stderr)
    # Tasks that nobody has introduced to each other are warned once, and train.
    for task, warned in (("0", True), ("1", False)):
        alone = subprocess.run([SDM, *map(str, train_words(folder, f"task{task}.sdm"))], capture_output=True, text=True,
                               env={**os.environ, "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": task})
        assert alone.returncode == 0 and ("--mpi=pmix" in alone.stderr) == warned, alone.stderr


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        rng = random.Random(4)
        make_set(folder, "train", 40, rng)
        make_set(folder, "test", 20, rng)
        for test in [the_model_of_one_process, each_rank_reads_its_own_pictures, bad_pictures, more_ranks_than_pictures,
                     killed_and_resumed, detectors, drawn_faces, commands_of_the_docs]:
            began = time.monotonic()
            test(folder)
            print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
