"""Faces that the tool draws: the same by their seed, read by what trains on them.

usage: render_test.py SDM WRITE_HEAD
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

from tool import run


def rows(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def draws_the_same_by_its_seed(folder, head):
    common = ["render", "--ict", head, "--size", 60]
    run(*common, "-n", 6, "--empty", 2, "--threads", 1, "-o", folder / "one")
    run(*common, "-n", 6, "--threads", 3, "-o", folder / "three")
    run(*common, "-n", 2, "--first", 4, "-o", folder / "last")
    for name in ("faces.csv", "faces_boxes.csv", "faces_details.csv", "faces/000005.png"):
        assert (folder / "one" / name).read_bytes() == (folder / "three" / name).read_bytes(), name
    assert (folder / "last/faces/000005.png").read_bytes() == (folder / "one/faces/000005.png").read_bytes()
    assert rows(folder / "last/faces.csv")[2] == rows(folder / "one/faces.csv")[6]
    assert len(list((folder / "one/empty").iterdir())) == 2
    details = rows(folder / "one/faces_details.csv")
    visible = details[0].index("visible")
    assert all(len(row[visible]) == 68 and set(row[visible]) <= set("01") for row in details[1:]), details


def trains_on_what_it_draws(folder, head):
    few = ["--cell", "7,5", "--unit", 24, "--starts", 2, "--name", "drawn", "--threads", 2]
    run("render", "--ict", head, "--size", 60, "-n", 40, "-o", folder / "set")
    run("train", folder / "set/faces.csv", *few, "-o", folder / "files.sdm")
    said = run("train", "--rendered", 40, "--ict", head, "--size", 60, *few, "-o", folder / "memory.sdm").stdout
    assert "40 faces of 68 points" in said, said
    for threads in (1, 3):
        run("train", "--rendered", 40, "--fresh", "--ict", head, "--size", 60, *few[:-1], threads, "-o",
            folder / f"fresh{threads}.sdm")
    fresh = (folder / "fresh1.sdm").read_bytes()
    assert fresh == (folder / "fresh3.sdm").read_bytes() and fresh != (folder / "memory.sdm").read_bytes()
    assert "--rendered 40 --fresh" in run("info", folder / "fresh1.sdm").stdout
    for model in ("files", "memory", "fresh1"):
        run("eval", "-m", folder / f"{model}.sdm", "--truth", folder / "set/faces.csv", "--boxes",
            folder / "set/faces_boxes.csv")


def tells_what_is_wrong(folder, head):
    told = run("render", "--ict", folder / "nowhere", "-o", folder / "x", code=1).stderr
    assert "generic_neutral_mesh.obj" in told, told
    told = run("render", "--ict", head, "--skins", folder / "one/faces", "-o", folder / "x", code=1).stderr
    assert "--skin-mesh" in told, told
    told = run("render", "--ict", head, "--without", "noses", "-o", folder / "x", code=2).stderr
    assert "noses" in told, told
    told = run("render", "--ict", head, "--size", 3, "-o", folder / "x", code=1).stderr
    assert "faces of 3 px" in told, told
    told = run("train", "-o", folder / "x.sdm", code=2).stderr
    assert "ANNOTATIONS" in told, told
    told = run("train", "--rendered", 5, "--fresh", "--ict", head, "--checkpoint", folder / "c", "-o",
               folder / "x.sdm", code=2).stderr
    assert "--checkpoint" in told, told
    told = run("train", "--rendered", 5, "-o", folder / "x.sdm", code=2).stderr
    assert "--ict" in told, told
    # Nothing that is read is written over.
    told = run("render", "--ict", head, "--backgrounds", folder / "one/faces", "-n", 1, "-o", folder / "one", code=1).stderr
    assert "would be written over" in told, told
    mesh = head / "generic_neutral_mesh.obj"
    kept = mesh.read_bytes()
    run("train", "--rendered", 5, "--ict", head, "-o", mesh, code=1)
    assert mesh.read_bytes() == kept


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    subprocess.run([sys.argv[2], str(place / "head")], check=True)
    draws_the_same_by_its_seed(place, place / "head")
    trains_on_what_it_draws(place, place / "head")
    tells_what_is_wrong(place, place / "head")
