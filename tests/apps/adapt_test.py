"""`sdm adapt` from end to end, without any data: pictures of five marks are made up, a model is trained
with its adaptation state, and one "person" whose third point is labelled elsewhere is learned from a
single frame. Then wrong input, which must leave no file behind.

usage: adapt_test.py SDM
"""
import json
import pathlib
import random
import subprocess
import tempfile

from marks import make_set
from tool import SDM, run


def make_person(folder, count, rng):
    """Faces whose third point is labelled 4 px lower than all others': their places."""
    make_set(folder, "person", count, rng)
    heading, *lines = (folder / "person.csv").read_text().splitlines()
    truths, shifted = [], [heading]
    for line in lines:
        file, *numbers = line.split(",")
        numbers = [float(v) for v in numbers]
        numbers[5] += 4
        truths.append(list(zip(numbers[0::2], numbers[1::2])))
        shifted.append(",".join([file, *map(str, numbers)]))
    (folder / "person.csv").write_text("\n".join(shifted) + "\n")
    return truths


def write_pts(path, points):
    # The format counts pixels from 1.
    path.write_text(f"version: 1\nn_points: {len(points)}\n{{\n"
                    + "".join(f"{x + 1:.3f} {y + 1:.3f}\n" for x, y in points) + "}\n")


def error(folder, model):
    given = ["--truth", folder / "person.csv", "--normaliser", "box_diagonal", "--model", model,
             "--boxes", folder / "person_boxes.csv", "--detector", "haar_alt2"]
    return json.loads(run("eval", *given, "--json").stdout)["mean"]


def test(folder):
    rng = random.Random(1)
    make_set(folder, "train", 80, rng)
    person = make_person(folder, 12, rng)
    model = folder / "marks.sdm"
    run("train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "-o", model, "--preset",
        "fast", "--mirror", "none", "--adaptation")
    state = folder / "marks.adaptation.sdm"
    assert "face-adaptation" in run("info", state).stdout
    made = state.read_bytes()
    run("adapt", model, "--learn", folder / "train.csv")  # the same from the pictures themselves
    assert "face-adaptation" in run("info", state).stdout and len(state.read_bytes()) == len(made)

    frame, points = folder / "person" / "person000.pgm", folder / "frame.pts"
    write_pts(points, person[0])
    adapted = folder / "person.sdm"
    said = run("adapt", model, "--image", frame, "--points", points, "-o", adapted).stdout
    assert "ms" in said and "error" in said, said
    assert adapted.exists() and (folder / "person.adaptation.sdm").exists()
    before, after = error(folder, model), error(folder, adapted)
    assert after < 0.8 * before, (before, after)
    assert "adapted to 1 frame" in run("info", adapted).stdout

    # It goes on learning in place, from several frames at once.
    run("adapt", adapted, "--frames", folder / "person.csv", "-o", adapted, "--forget", 0.9)
    assert error(folder, adapted) < after

    def fails(why, *words, code=1):
        there = sorted(folder.rglob("*"))
        done = run("adapt", *words, code=code)
        assert why in done.stderr, (why, done.stderr)
        assert sorted(folder.rglob("*")) == there, "a file was left behind"

    out = ["-o", folder / "new.sdm"]
    good = ["--image", frame, "--points", points]
    fails("adapt needs a corrected frame", model, *out, code=2)
    fails("adapt needs -o", model, *good, code=2)
    fails("2 --image and 1 --points", model, *good, "--image", frame, *out, code=2)
    fails("belongs to another model", adapted, *good, "--state", state, *out)
    fails("not found", model, *good, "--state", folder / "no.sdm", *out)
    fails("face-adaptation", model, *good, "--state", model, *out)
    fails("no.pgm", model, "--image", folder / "no.pgm", "--points", points, *out)
    fails("frame.pts", model, "--image", points, "--points", points, *out)  # not a picture
    fails("no.pts", model, "--image", frame, "--points", folder / "no.pts", *out)
    fails("12 faces", model, "--image", frame, "--points", folder / "person.csv", *out)
    wrong = folder / "wrong.pts"
    write_pts(wrong, person[0][:4])
    fails("4 points, the model has 5", model, "--image", frame, "--points", wrong, *out)
    write_pts(wrong, [(x + 300, y) for x, y in person[0]])
    fails("inside the picture of 120 x 120", model, "--image", frame, "--points", wrong, *out)
    fails("the weight is 0", model, *good, "--weight", 0, *out)
    fails("forgetting is 2", model, *good, "--forget", 2, *out)
    fails("no.adaptation.sdm: not found", folder / "no.sdm", *good, *out)
    fails("no.sdm: cannot open", folder / "no.sdm", *good, "--state", state, *out)
    fails("is a folder", model, *good, "-o", folder / "train")

    # Away from any labelled faces the experiment takes installed photographs, or says what to install.
    away = subprocess.run([SDM, "reproduce", "tracking", "--quick", "-o", folder / "report"],
                          cwd=folder, capture_output=True, text=True)
    if away.returncode == 0:
        results = json.loads((folder / "report" / "tracking" / "results.json").read_text())
        assert "standing in for the truth" in results["settings"]["source"], results["settings"]
    else:
        assert "install" in away.stderr, away.stderr


with tempfile.TemporaryDirectory() as folder:
    test(pathlib.Path(folder))
