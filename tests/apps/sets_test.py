"""`sdm reproduce --set`: the paper's protocol on stand-ins with the layouts of LFW-A&C and RU-FACS, drawn here.

usage: sets_test.py SDM
"""
import json
import pathlib
import random
import tempfile

from face_drawing import draw_face
from marks import make_set
from tool import run, write_pgm


def of(rows, name, metric, method):
    values = [row["value"] for row in rows
              if row["case"] == name and row["metric"] == metric and row["method"] == method]
    assert len(values) == 1, (name, metric, method, rows)
    return values[0]


def faces(folder):
    """Other points than a face's do as well: two files of annotations with their boxes beside them."""
    rng = random.Random(3)
    make_set(folder, "a", 40, rng)
    make_set(folder, "c", 12, rng)
    told = run("reproduce", "faces", "--set", f"marks={folder / 'a.csv'},{folder / 'c.csv'}", "-o", folder / "r",
               "--json")
    rows = json.loads(told.stdout)["rows"]
    paper = of(rows, "marks", "mean_rmse_px", "SDM, the paper's settings")
    assert paper < of(rows, "marks", "mean_rmse_px", "one linear stage"), rows
    assert paper < 5 and of(rows, "marks", "mean_rmse_px", "SDM, preset accurate") < 5, rows
    assert round(of(rows, "marks", "detected_percent", "haar_alt2"), 1) == 91.7, rows  # 11 of 12
    page = (folder / "r" / "index.html").read_text()
    assert "2.7 px, the mean on LFW-A&amp;C" in page or "2.7 px, the mean on LFW-A&C" in page
    assert "expected NAME=TRAIN,TEST" in run("reproduce", "faces", "--set", "marks=a.csv", "-o", folder / "r",
                                             code=1).stderr
    assert "one of them" in run("reproduce", "pose", "--set", "marks=a.csv", "-o", folder / "r", code=2).stderr


def tracking(folder):
    """A folder for each subject, its frames and a .pts of the 49 inner points beside each."""
    rng = random.Random(4)
    for subject in ("s01", "s02"):
        (folder / "video" / subject).mkdir(parents=True)
        for frame in range(4):
            width, pixels, points = draw_face(rng, shift=2 * frame)
            inner = [p for i, p in enumerate(points) if i > 16 and i not in (60, 64)]
            path = folder / "video" / subject / f"{frame:03}.pgm"
            write_pgm(path, pixels, width)
            path.with_suffix(".pts").write_text(
                f"version: 1\nn_points: {len(inner)}\n{{\n"
                + "".join(f"{x + 1:.3f} {y + 1:.3f}\n" for x, y in inner) + "}\n")
    told = run("reproduce", "tracking", "--set", f"drawn={folder / 'video'}", "-o", folder / "r", "--json")
    results = json.loads(told.stdout)
    method = "accurate, tracked, adapted"
    assert of(results["rows"], "drawn", "sequences", method) == 2, results["rows"]
    assert 0 <= of(results["rows"], "drawn", "sequences_improved", method) <= 2, results["rows"]
    assert results["settings"]["source"] == "drawn, labelled frames", results["settings"]
    claims = (folder / "r" / "index.html").read_text()
    assert "29 of 29" in claims


with tempfile.TemporaryDirectory() as temporary:
    work = pathlib.Path(temporary)
    faces(work)
    tracking(work)
