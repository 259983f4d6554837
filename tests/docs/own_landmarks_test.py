"""Every command of docs/own-landmarks.md, in its order, on pictures of five marks that are drawn here.

usage: own_landmarks_test.py SDM ROOT
"""
import json
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "tests" / "apps"))
from marks import make_set  # noqa: E402
from tool import run  # noqa: E402


def commands(page):
    text = (pathlib.Path(sys.argv[2]) / page).read_text()
    text = text[text.find("## Training on your own data"):] if page == "README.md" else text
    return [line.split()[1:] for line in re.findall(r"^    (sdm .*)$", text, re.M)]


def with_scale(folder, name):
    """Named points, specimens of two pictures each, and a scale of 0.1 mm."""
    lines = (folder / f"{name}.csv").read_text().splitlines()
    names = ("a", "b", "c", "d", "e")
    out = ["file,group,scale," + ",".join(f"{n}.x,{n}.y" for n in names)]
    for i, line in enumerate(lines[1:]):
        file, rest = line.split(",", 1)
        out.append(f"{file},specimen {i // 2},0.1,{rest}")
    (folder / f"{name}.csv").write_text("\n".join(out) + "\n")
    (folder / f"{name}_boxes.csv").unlink()  # the page has none


def test(folder):
    rng = random.Random(4)
    for name, count in (("train", 60), ("test", 20), ("new", 4)):
        make_set(folder, name, count, rng)
        with_scale(folder, name)
    said = {}
    for words in commands("docs/own-landmarks.md"):
        said[" ".join(words)] = run(*words, cwd=folder).stdout
    assert len(said) == 11, list(said)
    for words in commands("README.md"):
        assert " ".join(words) in said, words  # it was run above

    trained = said["train train.csv -o mine.sdm"]
    assert "found from its whole picture" in trained and "chosen: " in trained, trained
    assert "chosen among" in run("info", folder / "mine.sdm").stdout
    evaluated = json.loads(said["eval --model mine.sdm --truth test.csv --normaliser pixels --json"])
    assert evaluated["mean"] < 2.5, evaluated["mean"]  # marks are about two pixels wide
    assert abs(evaluated["scaled_mean"] - 0.1 * evaluated["mean"]) < 0.05, evaluated
    told = json.loads((folder / "mine.cross-validation.json").read_text())
    assert told["all"]["pixels"]["mean"] < 2.5 and len(told["points"]) == 5, told
    assert abs(told["all"]["scaled"]["mean"] - 0.1 * told["all"]["pixels"]["mean"]) < 1e-6, told
    found = json.loads(said["detect new/ --model mine.sdm --json"])
    assert [len(one["faces"]) for one in found] == [1] * 4, found
    for file in ("worst.png", "errors.svg", "mine.cross-validation.svg", "drawn"):
        assert (folder / file).exists(), file

    # The order of lines does not matter.
    lines = (folder / "train.csv").read_text().splitlines()
    (folder / "turned.csv").write_text("\n".join(lines[:1] + lines[:0:-1]) + "\n")
    for name in ("train", "turned"):
        run("train", folder / f"{name}.csv", "-o", folder / f"{name}.sdm", "--preset", "fast", "--name", "same",
            "--provenance", "same")
    assert (folder / "train.sdm").read_bytes() == (folder / "turned.sdm").read_bytes()

    # A label that is wrong is found.
    cells = lines[7].split(",")
    cells[3] = str(float(cells[3]) + 25)
    (folder / "wrong.csv").write_text("\n".join(lines[:7] + [",".join(cells)] + lines[8:]) + "\n")
    said = run("train", folder / "wrong.csv", "-o", folder / "wrong.sdm", "--preset", "fast", "--cross-validate", 4).stdout
    doubts = json.loads((folder / "wrong.cross-validation.json").read_text())["doubtful"]
    assert (doubts[0]["file"], doubts[0]["point"]) == (cells[0], "a"), (doubts, cells)
    assert "wrong.csv:8" in doubts[0]["where"] and "please look" in said, (doubts, said)
    assert (folder / "wrong.doubtful.png").read_bytes().startswith(b"\x89PNG")
    run("train", folder / "train.csv", "-o", folder / "x.sdm", "--preset", "fast", "--cross-validate", 31, code=1)


with tempfile.TemporaryDirectory() as temporary:
    test(pathlib.Path(temporary))
