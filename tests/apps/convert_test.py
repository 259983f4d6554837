"""Annotations in every format: converted there and back, their sense and the names of their points checked.

usage: convert_test.py SDM
"""
import csv
import json
import pathlib
import random
import tempfile

from marks import SIZE, make_set
from tool import run


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def numbers(path):
    return {pathlib.Path(row[0]).name: [float(v) for v in row[1:11]] for row in rows(path)[1:]}


def rewrite(source, target, heading=None, change=lambda i, row: row):
    """The lines of a CSV file with another heading, or others."""
    first, *rest = rows(source)
    with open(target, "w", newline="") as file:
        csv.writer(file).writerows([heading or first] + [change(i, row) for i, row in enumerate(rest)])


def same(a, b, tolerance=0.0):
    assert a.keys() == b.keys(), (a.keys(), b.keys())
    return all(abs(u - v) <= tolerance for key in a for u, v in zip(a[key], b[key]))


def converts_there_and_back(folder):
    truth = numbers(folder / "train.csv")
    # .tps: rows from the last one; scales and specimens stay.
    rewrite(folder / "train.csv", folder / "specimens.csv", rows(folder / "train.csv")[0] + ["group", "scale"],
            lambda i, row: row + [f"fly {i // 2}", "0.25"])
    told = run("convert", folder / "specimens.csv", folder / "out" / "a.tps").stdout
    assert "lost" not in told and "12 faces of 5 points" in told, told
    text = (folder / "out" / "a.tps").read_text()
    first = truth["train000.pgm"]
    x, y = map(float, text.splitlines()[1].split())
    assert text.startswith("LM=5\n") and abs(x - first[0]) < 1e-4 and abs(y - (SIZE - 1 - first[1])) < 1e-4, text
    assert "IMAGE=../train/train000.pgm\nID=fly 0\nSCALE=0.25\n" in text, text
    run("convert", folder / "out" / "a.tps", folder / "back.csv")
    assert same(numbers(folder / "back.csv"), truth, 1e-4)
    assert rows(folder / "back.csv")[1][11:] == ["fly 0", "0.25"], rows(folder / "back.csv")[1]

    # imglab: whole pixels, and boxes inside; they come out beside the CSV.
    told = run("convert", folder / "specimens.csv", folder / "b.xml", "--boxes", folder / "train_boxes.csv").stdout
    assert "lost: groups; scales; fractions of pixels" in told and "1 faces without a box" in told, told
    told = run("convert", folder / "b.xml", folder / "c.csv").stdout
    assert "boxes are in" in told and "lost" not in told, told
    assert same(numbers(folder / "c.csv"), truth, 0.5)
    boxes = {row[0]: row[1:] for row in rows(folder / "train_boxes.csv")[1:]}
    for row in rows(folder / "c_boxes.csv")[1:]:
        expected = [float(v or -1) for v in boxes[row[0]]]
        if expected[0] < 0:
            expected = [0, 0, SIZE, SIZE]
        assert all(abs(float(v) - w) <= 0.5 for v, w in zip(row[1:], expected)), (row, expected)

    # .pts: one file a picture, found again in the pictures' folder.
    told = run("convert", folder / "train.csv", folder / "pts").stdout
    assert f"--images {folder}" in told and (folder / "pts" / "train" / "train003.pts").exists(), told
    assert (folder / "pts_boxes.csv").exists()
    run("convert", folder / "pts", folder / "d.csv", "--images", folder)
    assert same(numbers(folder / "d.csv"), truth, 1e-4)
    assert "is there already" in run("convert", folder / "train.csv", folder / "pts", code=1).stderr

    run("convert", folder / "train.csv", folder / "e.txt")
    run("convert", folder / "e.txt", folder / "f.csv")
    assert same(numbers(folder / "f.csv"), truth, 1e-4)


def inputs_stay(folder):
    before = {path: path.read_bytes() for path in folder.glob("*.csv")}
    for source, target in (("train.csv", "train.csv"), ("train.csv", "train_boxes.csv"), ("pts", "pts/more"),
                           ("train.csv", "link.csv")):
        if target == "link.csv":
            (folder / "link.csv").symlink_to(folder / "train.csv")
        assert "is an input" in run("convert", folder / source, folder / target, code=1).stderr, target
    # The same boxes serve both files: they are left alone.
    rewrite(folder / "train_boxes.csv", folder / "c_boxes.csv")
    before[folder / "c_boxes.csv"] = (folder / "c_boxes.csv").read_bytes()
    assert "boxes stay in" in run("convert", folder / "c.csv", folder / "c.tps").stdout
    assert all(path.read_bytes() == text for path, text in before.items())
    assert "'.doc' tells no format" in run("convert", folder / "train.csv", folder / "x.doc", code=1).stderr
    (folder / "link.csv").unlink()


def sense_is_checked(folder):
    def swap(i, row):
        return [row[0]] + [v for k in range(1, 11, 2) for v in (row[k + 1], row[k])]

    def broken(i, row):
        if i == 3:
            return swap(i, row)
        return row[:1] + ["125"] + row[2:] if i == 5 else row

    rewrite(folder / "train.csv", folder / "odd.csv", change=broken)
    rewrite(folder / "train_boxes.csv", folder / "odd_boxes.csv",
            change=lambda i, row: row[:1] + ["5", "5", "8", "8"] if i == 1 else row)
    told = run("convert", folder / "odd.csv", folder / "odd.txt").stderr
    expected = [("odd.csv:3", "does not hold the middle"), ("odd.csv:5", "x and y look swapped"),
                ("odd.csv:7", "lie outside the picture of 120 x 120: point 0 at (125")]
    lines = [line for line in told.splitlines() if line.startswith("warning: ")]
    assert len(lines) == len(expected), told
    for line, (where, what) in zip(lines, expected):
        assert f"{where}: " in line and what in line, (line, where, what)
    strict = run("convert", folder / "odd.csv", folder / "strict.txt", "--strict", code=1)
    assert "3 annotations make little sense" in strict.stderr and not (folder / "strict.txt").exists(), strict
    for command in (["train", folder / "odd.csv", "-o", folder / "no.sdm"],
                    ["eval", "--truth", folder / "odd.csv", "-p", folder / "train.csv"]):
        assert "odd.csv:5: x and y look swapped" in run(*command, "--strict", code=1).stderr, command


def names_are_checked(folder):
    names = ["ear", "eye", "nose", "paw", "tail"]
    heading = ["file"] + [f"{name}.{axis}" for name in names for axis in "xy"]
    other = heading[:1] + heading[3:5] + heading[1:3] + heading[5:]
    rewrite(folder / "train.csv", folder / "named.csv", heading)
    rewrite(folder / "test.csv", folder / "named_test.csv", heading)
    rewrite(folder / "test.csv", folder / "other.csv", other)
    train = ["train", folder / "named.csv", "--boxes", folder / "train_boxes.csv", "--preset", "fast", "--folds", "2",
             "-o", folder / "named.sdm"]
    wrong = "point 0 is 'eye', expected 'ear' as in"
    assert wrong in run(*train, "--dev", folder / "other.csv", "--dev-boxes", folder / "test_boxes.csv",
                        code=1).stderr
    run(*train, "--adaptation")
    assert "point_names: ear, eye, nose, paw, tail" in run("info", folder / "named.sdm").stdout
    evaluate = ["eval", "-m", folder / "named.sdm", "--normaliser", "pixels", "--boxes", folder / "test_boxes.csv"]
    good = json.loads(run(*evaluate, "--truth", folder / "named_test.csv", "--json").stdout)
    assert 0 < good["mean"] < 8 and "auc10px" in good, good
    told = run(*evaluate, "--truth", folder / "other.csv", code=1)
    assert "point 0 is 'ear', expected 'eye' as in the truth" in told.stderr, told.stderr
    adapt = ["adapt", folder / "named.sdm", "--frames", folder / "other.csv", "-o", folder / "adapted.sdm"]
    assert wrong in run(*adapt, code=1).stderr
    # Names go into imglab's parts and out again.
    run("convert", folder / "named.csv", folder / "named.xml", "--boxes", folder / "train_boxes.csv")
    assert "<part name='tail'" in (folder / "named.xml").read_text()
    run("convert", folder / "named.xml", folder / "named_back.csv")
    assert rows(folder / "named_back.csv")[0] == heading
    assert "lost: names of points" in run("convert", folder / "named.csv", folder / "named.tps").stdout
    # Points that are counted from one are not those counted from none.
    rewrite(folder / "test.csv", folder / "one.csv", ["file"] + [f"{a}{i}" for i in range(1, 6) for a in "xy"])
    assert "no point 5: are they counted from elsewhere?" in run(
        "eval", "--truth", folder / "one.csv", "-p", folder / "test.csv", "--normaliser", "pixels", code=1).stderr


def measures_in_pixels_and_scales(folder):
    """A prediction that is off by (3, 4) in one of five points."""
    rewrite(folder / "test.csv", folder / "scaled.csv", rows(folder / "test.csv")[0] + ["scale"],
            lambda i, row: row + ["0.5"])
    rewrite(folder / "test.csv", folder / "moved.csv",
            change=lambda i, row: [row[0], float(row[1]) + 3, float(row[2]) + 4] + row[3:])
    measure = ["eval", "-p", folder / "moved.csv", "--truth", folder / "scaled.csv", "--normaliser", "pixels"]
    told = json.loads(run(*measure, "--json").stdout)
    assert abs(told["mean"] - 5**0.5) < 1e-3, told  # the root of 25 over 5
    assert abs(told["scaled_mean"] - 0.5) < 1e-3 and abs(told["scaled_point_errors"]["0"] - 2.5) < 1e-3, told
    assert "mean rms px" in run(*measure).stdout


def boxes_are_found_beside(folder):
    evaluate = ["eval", "-m", folder / "named.sdm", "--normaliser", "box_diagonal", "--truth", folder / "test.csv"]
    beside = run(*evaluate)
    assert "boxes of test_boxes.csv" in beside.stdout, beside.stdout
    explicit = json.loads(run(*evaluate, "--boxes", folder / "test_boxes.csv", "--json").stdout)
    assert json.loads(run(*evaluate, "--json").stdout)["mean"] == explicit["mean"]


def hostile_files_are_refused(folder):
    (folder / "half.txt").write_text("0.pgm .5 2 243\n")
    (folder / "huge.csv").write_text("file,x0,y0,x1,y1\n0.pgm,0,0,1e12,1\n")
    (folder / "single.csv").write_text("\n".join((folder / "train.csv").read_text().splitlines()[:2]) + "\n")
    assert "half.txt:1: 2 numbers after the count 0.5" in run(
        "eval", "-m", folder / "named.sdm", "--truth", folder / "half.txt", code=1).stderr
    assert "huge.csv:2: '1e12', expected at most" in run("train", folder / "huge.csv", "-o", folder / "no.sdm",
                                                         code=1).stderr
    assert "1 annotated picture, expected at least 4" in run("train", folder / "single.csv", "-o", folder / "no.sdm",
                                                             code=1).stderr


with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(temporary).resolve()
    generator = random.Random(1)
    make_set(work, "train", 12, generator)
    make_set(work, "test", 6, generator)
    converts_there_and_back(work)
    inputs_stay(work)
    sense_is_checked(work)
    names_are_checked(work)
    measures_in_pixels_and_scales(work)
    boxes_are_found_beside(work)
    hostile_files_are_refused(work)
