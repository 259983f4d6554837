"""`./run bench annotate [WINGS]`: a scripted mouse marks the 12 points of 34 fly wings in the page of `sdm annotate`, by hand
and with proposals, of which it drags what is off by more than 3 px of the true place. Counts presses of the mouse and keys.
Like a person, who needs longer for a picture than a model to learn, it goes on when a model has learned.

usage: annotate.py SDM WINGS      WINGS holds wings.tps and images/
"""
import csv
import math
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "apps"))
import browser  # noqa: E402
from annotating import Annotating, Page  # noqa: E402
from tool import run  # noqa: E402

WINGS = pathlib.Path(sys.argv[2])
OFF = 3  # px


def truth_of(folder):
    run("convert", WINGS / "wings.tps", folder / "truth.csv", "--images", WINGS / "images")
    with open(folder / "truth.csv") as text:
        lines = list(csv.DictReader(text))
    count = sum(name.startswith("x") for name in lines[0])
    return {pathlib.Path(line["file"]).name: [(float(line[f"x{i}"]), float(line[f"y{i}"])) for i in range(count)]
            for line in lines}


def mark_all(folder, truth, name, *words):
    size = {}
    points = len(next(iter(truth.values())))
    accepted = moved = proposed = 0
    with Annotating(WINGS / "images", folder / f"{name}.csv", "--points", points, *words) as server, browser.Browser() as window:
        pictures = server.get("album")["pictures"]
        window.open(server.address)
        for _ in pictures:
            window.until("return document.getElementById('place').textContent.includes(' of ')")
            while server.get("status")["learning"]:
                time.sleep(0.2)
            window.until("return document.getElementById('canvas').ariaBusy === 'false'")  # the picture is there
            at = int(window.until("return document.getElementById('place').textContent.split(' ')[0]")) - 1
            wanted = truth[pictures[at]]
            if not size:
                size["picture"] = window.run(
                    "const i = new Image(); i.src = 'picture/0'; return i.decode().then(() => [i.naturalWidth, i.naturalHeight])")
            page = Page(window, *size["picture"])
            learned = server.get("status")["learned_from"] > 0
            if learned:
                window.until("return document.getElementById('ask').textContent === 'Proposed'", seconds=60)
                proposed += 1
                shown = window.run("return [...document.querySelectorAll('#points span')].map(s => s.textContent.split(', ').map(Number))")
                off = [k for k in range(points) if math.dist(shown[k], wanted[k]) > OFF]
                accepted += points - len(off)
                moved += len(off)
                for k in off:
                    window.drag(*page.at(shown[k]), *page.at(wanted[k]))
            else:
                time.sleep(0.1)
                for point in wanted:
                    window.click(*page.at(point))
            window.press("Enter")
            window.until("return document.getElementById('place').textContent.split(' ')[0] != arguments[0] || "
                         "document.getElementById('toast').textContent.startsWith('All')", str(at + 1))
        server.end()
        presses, keys = window.presses, window.keys
    with open(folder / f"{name}.csv") as text:
        lines = list(csv.DictReader(text))
    errors = [math.dist((float(line[f"x{i}"]), float(line[f"y{i}"])), wanted)
              for line in lines for i, wanted in enumerate(truth[pathlib.Path(line["file"]).name])]
    print(f"{name:<16}{presses:>8} presses{keys:>5} keys; {len(lines)} pictures, mean distance from the truth "
          f"{sum(errors) / len(errors):.2f} px, largest {max(errors):.2f}"
          + (f"; of {proposed * points} points proposed {moved} were off by more than {OFF} px" if proposed else ""), flush=True)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        truth = truth_of(folder)
        mark_all(folder, truth, "by hand", "--propose-after", "0")
        mark_all(folder, truth, "with proposals")


if __name__ == "__main__":
    main()
