"""A detector of one's own from end to end, without any data: `sdm train-detector` learns five marks from
made-up pictures, and `sdm detect` finds them in larger ones. And models by name, and pictures of 12 bits.

usage: detector_test.py SDM
"""
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

from marks import make_set, placed
from tool import SDM, run, write_pgm

WIDTH, HEIGHT = 320, 240


def large_picture(rng, objects):
    """Noise with the marks of every object."""
    pixels = bytearray(100 + b // 16 for b in rng.randbytes(WIDTH * HEIGHT))
    for points in objects:
        for k, (px, py) in enumerate(points):
            wide, high = 5 + 2 * (k % 2), 3 + 2 * (k // 3)
            for v in range(max(0, int(py) - 12), min(HEIGHT, int(py) + 12)):
                for u in range(max(0, int(px) - 12), min(WIDTH, int(px) + 12)):
                    far = math.hypot((u - px) / wide, (v - py) / high)
                    pixels[v * WIDTH + u] = min(255, int(pixels[v * WIDTH + u] + 120 * math.exp(-far**2)))
    return bytes(pixels)


def found_in_large_pictures(folder, rng, model, detector):
    objects = [placed(80, 90, 1.1), placed(230, 140, 0.9, 0.4)]
    write_pgm(folder / "two.pgm", large_picture(rng, objects), WIDTH)
    given = ["-m", model, "--detector", detector, "--min-size", "30", "--json"]
    (told,) = json.loads(run("detect", folder / "two.pgm", *given).stdout)
    assert len(told["faces"]) == 2, told
    for face, points in zip(told["faces"], objects):  # the larger one first
        assert max(math.dist(a, b) for a, b in zip(face["points"], points)) < 5, (face, points)
    assert abs(told["faces"][1]["roll"] - math.degrees(0.4)) < 12, told
    (none,) = json.loads(run("detect", folder / "empty" / "0.pgm", *given).stdout)
    assert none["faces"] == [], none


def a_detector_of_ones_own(folder):
    rng = random.Random(2)
    make_set(folder, "train", 150, rng)
    model, detector = folder / "marks.sdm", folder / "marks-detector.sdm"
    run("train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "-o", model, "--preset", "fast",
        "--mirror", "none")
    (folder / "empty").mkdir()
    for i in range(8):
        write_pgm(folder / "empty" / f"{i}.pgm", large_picture(rng, []), WIDTH)
    for background in (["--background", folder / "empty"], []):
        said = run("train-detector", folder / "train.csv", "-o", detector, "--mirror", "none", "--name", "marks",
                   *background).stdout
        assert "150 objects of 5 points" in said and "upright" in said and "leaning" in said, said
        found_in_large_pictures(folder, rng, model, detector)
    assert "A detector model" in run("info", detector).stdout
    # The same bits again.
    again = folder / "again.sdm"
    run("train-detector", folder / "train.csv", "-o", again, "--mirror", "none", "--name", "marks", "--threads", 1,
        *background)
    assert again.read_bytes() == detector.read_bytes()

    # A model of other points than the shipped detector's says so.
    assert "5 points" in run("detect", folder / "two.pgm", "-m", model, "--detector", "sdm", code=1).stderr

    # The tracker asks it, too.
    (folder / "frames").mkdir()
    for i in range(4):
        write_pgm(folder / "frames" / f"{i}.pgm", large_picture(rng, [placed(100 + 2 * i, 100)]), WIDTH)
    said = run("track", folder / "frames", "-m", model, "--detector", detector, "--min-size", "30").stdout
    assert "4 frames: 1 face, 1 detection" in said, said


def models_have_names(folder):
    listed = run("models").stdout
    for name in ("face68 ", "face68-fast ", "face-detector ", "face68-free ", "face68-free-fast ", "face-detector-free "):
        assert name in listed, listed
    assert "adaptation" not in listed, listed
    assert "Apache-2.0" in listed and "research only" in listed, listed
    # By licence.
    write_pgm(folder / "black.pgm", bytes(200 * 200), 200)
    assert run("detect", folder / "black.pgm", "--free", "--json").stdout, "no answer"
    told = run("detect", folder / "black.pgm", "--free", "-m", "face68", code=1).stderr
    assert "its licence is not free: research only" in told, told
    # Anywhere; and a folder of one's own goes first.
    assert "A face model" in run("info", "face68-fast", cwd=folder).stdout
    mine = folder / "mine"
    mine.mkdir()
    (mine / "marks.sdm").write_bytes((folder / "marks.sdm").read_bytes())
    (mine / "gone.sdm").symlink_to(mine / "nothere")
    told = subprocess.run([SDM, "models"], env={**os.environ, "SDM_MODELS": str(mine)}, capture_output=True,
                          text=True, check=True).stdout
    assert "gone" not in told and "marks " in told and str(mine) in told and "face68 " in told, told
    told = subprocess.run([SDM, "info", "marks"], env={**os.environ, "SDM_MODELS": str(mine)}, cwd="/",
                          capture_output=True, text=True, check=True).stdout
    assert "A face model" in told, told
    # An empty SDM_MODELS is none.
    told = subprocess.run([SDM, "models"], env={**os.environ, "SDM_MODELS": ""}, cwd=mine, capture_output=True,
                          text=True, check=True).stdout
    assert "marks" not in told, told
    # A shipped model finds its state beside it.
    write_pgm(folder / "grey.pgm", bytes(200 * 200), 200)
    (folder / "grey.pts").write_text("version: 1\nn_points: 3\n{\n1 1\n2 2\n3 4\n}\n")
    told = run("adapt", "face68-fast", "--image", folder / "grey.pgm", "--points", folder / "grey.pts", "-o",
               folder / "adapted.sdm", code=1).stderr
    assert "adaptation state" not in told and "3 points" in told, told


with tempfile.TemporaryDirectory() as temporary:
    a_detector_of_ones_own(pathlib.Path(temporary))
    models_have_names(pathlib.Path(temporary))
