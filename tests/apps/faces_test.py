"""The face commands from end to end, without any data: pictures of five marks are made up, a model is
trained on some and measured on others, and `sdm detect` and `sdm eval` meet good and bad input.

usage: faces_test.py SDM
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from marks import SIZE, make_set

SDM = str(pathlib.Path(sys.argv[1]).resolve())


def run(*words, code=0):
    done = subprocess.run([SDM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def test(folder):
    rng = random.Random(1)
    make_set(folder, "train", 80, rng)
    make_set(folder, "test", 20, rng)
    model = folder / "marks.sdm"
    run("train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "-o", model,
        "--preset", "fast", "--mirror", "none")

    given = ["eval", "--truth", folder / "test.csv", "--normaliser", "box_diagonal"]
    boxes = ["--boxes", folder / "test_boxes.csv", "--detector", "haar_alt2"]
    measured = json.loads(run(*given, *boxes, "--model", model, "--one-stage", "--json", "--plot",
                              folder / "ced.svg", "--sheet", folder / "worst.png",
                              "--save-predictions", folder / "found.csv").stdout)
    whole, one_stage = measured
    for key in ("n", "points", "normaliser", "mean", "median", "auc08", "fr08", "time_us_per_face"):
        assert key in whole, key
    assert (whole["n"], whole["points"], whole["normaliser"]) == (20, 5, "box_diagonal"), whole
    assert whole["boxes_from_truth"] == 1 and whole["missing"] == 0, whole
    # The marks are about two pixels wide where they are sharp; their diagonal is about 57.
    assert whole["mean"] < 0.025, whole["mean"]
    assert whole["mean"] < one_stage["mean"], (whole["mean"], one_stage["mean"])
    assert whole["time_us_per_face"] > 0 and len(whole["worst"]) == 20, whole
    assert (folder / "ced.svg").read_text().startswith("<svg")
    assert (folder / "worst.png").read_bytes().startswith(b"\x89PNG")

    # Stored predictions measure as the run that made them, in one JSON object.
    again = json.loads(run(*given, "--predictions", f"kept={folder / 'found.csv'}", "--json").stdout)
    assert abs(again["mean"] - whole["mean"]) < 1e-9 and again["name"] == "kept", again
    assert again["time_us_per_face"] is None, again
    # A picture that cannot be read is told and counted, and the rest is measured.
    (folder / "test" / "test000.pgm").write_bytes(b"no picture")
    partly = run(*given, *boxes, "--model", model, "--json", code=1)
    assert "test000.pgm" in partly.stderr and json.loads(partly.stdout)["missing"] == 1, partly

    # detect: boxes from a file, a broken picture among good ones, points as .pts and drawn.
    found = run("detect", folder / "test", "-m", model, "--boxes", folder / "test_boxes.csv", "--json",
                code=1)
    assert "1 of 20 pictures failed" in found.stderr, found.stderr
    failed, *good = json.loads(found.stdout)
    assert "error" in failed and all(len(one["faces"]) == 1 for one in good[:-1]), found.stdout
    here = subprocess.run([SDM, "detect", "test/test001.pgm", "test/test019.pgm", "-m", model, "--boxes",
                           "test_boxes.csv", "--json", "--pts", "-o", "pts", "--draw", "drawn"],
                          cwd=folder, capture_output=True, text=True, check=True)
    first, last = json.loads(here.stdout)
    assert len(first["faces"]) == 1 and len(first["faces"][0]["points"]) == 5, first
    assert first["width"] == SIZE and last["faces"] == [], last  # no face is a result
    assert (folder / "drawn" / "test001.jpg").exists() and not (folder / "pts" / "test019.pts").exists()
    lines = (folder / "pts" / "test001.pts").read_text().split("{\n")[1].split("\n")
    for line, (x, y) in zip(lines, first["faces"][0]["points"]):  # the file counts from 1
        u, v = map(float, line.split())
        assert abs(u - 1 - x) < 0.01 and abs(v - 1 - y) < 0.01, (line, x, y)

    # A picture that the boxes do not know is told, not taken for one without a face.
    assert "no line in" in run("detect", folder / "train" / "train079.pgm", "-m", model, "--boxes",
                               folder / "test_boxes.csv", code=1).stderr

    # Wrong usage is 2, what cannot be done is 1, and both say why.
    assert "IMAGES" in run("detect", code=2).stderr
    assert "--model or --predictions" in run(*given, code=2).stderr
    assert "no prediction for any" in run(*given, "-p", folder / "train.csv", code=1).stderr
    assert "test.csv:3" in broken_line(folder, given).stderr


def broken_line(folder, given):
    lines = (folder / "test.csv").read_text().split("\n")
    lines[2] += ",7"
    (folder / "test.csv").write_text("\n".join(lines))
    skipped = run(*given, "-p", folder / "found.csv", "--skip-bad", "--json")
    assert json.loads(skipped.stdout)["n"] == 19 and "skipped" in skipped.stderr, skipped
    return run(*given, "-p", folder / "found.csv", code=1)


with tempfile.TemporaryDirectory() as temporary:
    test(pathlib.Path(temporary))
