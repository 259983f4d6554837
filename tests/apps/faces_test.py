"""The face commands from end to end, without any data: pictures of five marks are made up, a model is
trained on some and measured on others, and `sdm detect` and `sdm eval` meet good and bad input.

usage: faces_test.py SDM
"""
import json
import pathlib
import random
import tempfile

from marks import SIZE, make_set
from tool import run


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
    other_points_on_a_base(folder, model, boxes)
    # A picture that cannot be read is told and counted, and the rest is measured.
    (folder / "test" / "test000.pgm").write_bytes(b"no picture")
    partly = run(*given, *boxes, "--model", model, "--score", "--json", code=1)
    assert "test000.pgm" in partly.stderr and json.loads(partly.stdout)["missing"] == 1, partly
    assert json.loads(partly.stdout)["score"]["good"] > 0, partly

    # detect: boxes from a file, a broken picture among good ones, points as .pts and drawn.
    found = run("detect", folder / "test", "-m", model, "--boxes", folder / "test_boxes.csv", "--json",
                code=1)
    assert "1 of 20 pictures failed" in found.stderr, found.stderr
    failed, *good = json.loads(found.stdout)
    assert "error" in failed and all(len(one["faces"]) == 1 for one in good[:-1]), found.stdout
    here = run("detect", "test/test001.pgm", "test/test019.pgm", "-m", model, "--boxes", "test_boxes.csv",
               "--json", "--pts", "-o", "pts", "--draw", "drawn", cwd=folder)
    first, last = json.loads(here.stdout)
    assert len(first["faces"]) == 1 and len(first["faces"][0]["points"]) == 5, first
    assert first["width"] == SIZE and last["faces"] == [], last  # no face is a result
    assert (folder / "drawn" / "test001.jpg").exists() and not (folder / "pts" / "test019.pts").exists()
    for (u, v), (x, y) in zip(read_pts(folder / "pts" / "test001.pts"), first["faces"][0]["points"]):
        assert abs(u - x) < 0.01 and abs(v - y) < 0.01, (u, v, x, y)
    every_face_has_a_file_of_its_own(folder, model)

    # A picture that the boxes do not know is told, not taken for one without a face.
    assert "no line in" in run("detect", folder / "train" / "train079.pgm", "-m", model, "--boxes",
                               folder / "test_boxes.csv", code=1).stderr

    # A mirror that counts from 1 would pair the wrong points.
    (folder / "mirror.txt").write_text("2 1 3 5 4\n")
    told = run("train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "-o", folder / "no.sdm",
               "--preset", "fast", "--mirror", folder / "mirror.txt", code=1)
    assert told.stderr.startswith("sdm: the mirror says point") and not (folder / "no.sdm").exists(), told

    # Wrong usage is 2, what cannot be done is 1, and both say why.
    assert "IMAGES" in run("detect", code=2).stderr
    assert "--model or --predictions" in run(*given, code=2).stderr
    assert "no prediction for any" in run(*given, "-p", folder / "train.csv", code=1).stderr
    assert "test.csv:3" in broken_line(folder, given).stderr


def other_points_on_a_base(folder, model, boxes):
    """The middle between the two upper marks, and the lowest two, learned from the first 30 pictures."""
    def others(name, count):
        lines = (folder / f"{name}.csv").read_text().split("\n")[1:count + 1]
        out = ["file,x0,y0,x1,y1,x2,y2"]
        for line in lines:
            file, *numbers = line.split(",")
            x0, y0, x1, y1, _, _, *rest = map(float, numbers)
            out.append(",".join([file, f"{(x0 + x1) / 2:.3f}", f"{(y0 + y1) / 2:.3f}", *map(str, rest)]))
        path = folder / f"{name}_others.csv"
        path.write_text("\n".join(out) + "\n")
        return path

    mine = folder / "others.sdm"
    told = run("train", others("train", 30), "--base", model, "--boxes", folder / "train_boxes.csv", "-o", mine)
    assert "30 faces of 3 points, on the 5 of marks" in told.stdout and "held-out error" in told.stdout, told
    measured = json.loads(run("eval", "--truth", others("test", 20), "--normaliser", "box_diagonal", *boxes,
                              "--model", mine, "--json").stdout)
    # A third of a pixel.
    assert measured["n"] == 20 and measured["points"] == 3 and measured["mean"] < 0.007, measured
    found = json.loads(run("detect", folder / "test" / "test001.pgm", "-m", mine, "--boxes",
                           folder / "test_boxes.csv", "--json", cwd=folder).stdout)
    assert len(found[0]["faces"][0]["points"]) == 3, found
    assert "face-on-base" in run("info", mine).stdout
    again = run("train", folder / "train_others.csv", "--base", mine, "-o", folder / "no.sdm", code=1)
    assert "has a base itself" in again.stderr and not (folder / "no.sdm").exists(), again


def read_pts(path):
    lines = path.read_text().split("{\n")[1].split("\n}")[0].split("\n")
    return [tuple(float(v) - 1 for v in line.split()) for line in lines]  # the file counts from 1


def every_face_has_a_file_of_its_own(folder, model):
    """Pictures of one name, and one whose second face has the name of another's first."""
    lines = ["file,haar_alt2_x,haar_alt2_y,haar_alt2_w,haar_alt2_h,other_x,other_y,other_w,other_h"]
    for i, (file, count) in enumerate([("a/x.pgm", 2), ("a/x_2.pgm", 1), ("b/x.pgm", 1)]):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes((folder / "test" / f"test{i + 1:03}.pgm").read_bytes())
        lines += [f"{file},15,{15 + 2 * k},90,90,,,," for k in range(count)]
    (folder / "several.csv").write_text("\n".join(lines) + "\n")
    told = run("detect", "a", "b", "-m", model, "--boxes", "several.csv", "--min-score", "0", "--json", "--pts", "-o", "each",
               cwd=folder)
    found = {one["file"]: [[tuple(p) for p in face["points"]] for face in one["faces"]]
             for one in json.loads(told.stdout)}
    written = {path.name: read_pts(path) for path in (folder / "each").iterdir()}

    def same(a, b):
        return all(abs(u - v) < 0.01 for p, q in zip(a, b) for u, v in zip(p, q))

    for points in [points for faces in found.values() for points in faces]:
        assert sum(same(points, other) for other in written.values()) == 1, (points, written)
    assert len(written) == 4, written
    assert same(written["x.pts"], found["a/x.pgm"][0]) and same(written["x_2.pts"], found["a/x_2.pgm"][0])


def broken_line(folder, given):
    lines = (folder / "test.csv").read_text().split("\n")
    lines[2] += ",7"
    (folder / "test.csv").write_text("\n".join(lines))
    skipped = run(*given, "-p", folder / "found.csv", "--skip-bad", "--json")
    assert json.loads(skipped.stdout)["n"] == 19 and "skipped" in skipped.stderr, skipped
    return run(*given, "-p", folder / "found.csv", code=1)


with tempfile.TemporaryDirectory() as temporary:
    test(pathlib.Path(temporary))
