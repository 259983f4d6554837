"""`sdm detect` on six photographs of groups, as the demo shows them: npm's @vladmandic/face-api. Of the 22
people at least 20 are found, and nothing else. Without npm, or without a network, the test is skipped and
says so.

usage: group_photographs_test.py SDM
"""
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from tool import run

SKIPPED = 77
PACKAGE = "@vladmandic/face-api@1.7.15"
# The middle between eyes and mouth of each person, marked by eye; one of sample2 shows her profile.
PEOPLE = {
    "sample1.jpg": [(478, 510), (930, 575), (1540, 350)],
    "sample2.jpg": [(420, 270), (990, 380), (1545, 310)],
    "sample3.jpg": [(675, 505), (1150, 400), (1605, 475)],
    "sample4.jpg": [(370, 355), (715, 215), (1040, 340), (1320, 295)],
    "sample5.jpg": [(480, 1060), (715, 575), (875, 250), (1185, 350), (1495, 570)],
    "sample6.jpg": [(380, 670), (755, 520), (1270, 495), (1560, 455)],
}
NEAR = 110  # px


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def photographs(folder):
    try:
        subprocess.run(["npm", "pack", "--silent", "--fetch-retries=0", PACKAGE], cwd=folder,
                       check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        skip(f"the photographs are npm's {PACKAGE}, which could not be had ({error})")
    (package,) = folder.glob("*.tgz")
    with tarfile.open(package) as files:
        for name in PEOPLE:
            try:
                member = files.extractfile(f"package/demo/{name}")
            except KeyError as error:
                skip(f"{PACKAGE}: {error}")
            (folder / name).write_bytes(member.read())
    package.unlink()


def test(folder):
    photographs(folder)
    found = json.loads(run("detect", folder, "--json").stdout)
    met, strangers = 0, []
    for picture in found:
        left = list(PEOPLE[pathlib.Path(picture["file"]).name])
        sizes = [face["box"][2] for face in picture["faces"]]
        assert sizes == sorted(sizes, reverse=True), sizes
        for face in picture["faces"]:
            x, y, w, h = face["box"]
            assert face["score"] >= 0.5 and {"roll", "pose", "points"} <= set(face), face
            near = [p for p in left if abs(p[0] - x - w / 2) < NEAR and abs(p[1] - y - h / 2) < NEAR]
            met += len(near[:1])
            for person in near[:1]:
                left.remove(person)
            if not near:
                strangers.append((picture["file"], face["box"], face["score"]))
    assert met >= 20, met
    assert not strangers, strangers
    # What scores less is shown on request.
    every = json.loads(run("detect", folder, "--json", "--min-score", "0").stdout)
    assert sum(len(p["faces"]) for p in every) > met, every


with tempfile.TemporaryDirectory() as temporary:
    test(pathlib.Path(temporary))
