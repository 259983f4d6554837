"""The Python of docs/python*.md runs as it stands there, and so does the function in C of docs/c-interface.md.

    docs_test.py ROOT
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from need import SKIPPED, need

need("numpy", "PIL", "matplotlib")
import matplotlib.cbook
import numpy as np
from PIL import Image

import sdm


def blocks(root, name, language="python"):
    with open(os.path.join(root, "docs", name), encoding="utf-8") as file:
        found = re.findall(rf"```{language}\n(.*?)```", file.read(), re.DOTALL)
    assert found, f"{name} shows no {language}"
    return found


def portrait():
    """A face to look at, its box, and the picture moved about."""
    with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
        image = np.asarray(Image.open(file).convert("RGB"))
    Image.fromarray(image).save("photo.jpg")
    (face,) = sdm.detect(image)
    shifts = [(dx, dy) for dx in range(-40, 41, 20) for dy in range(-30, 31, 15)]
    return image, face, shifts, [np.roll(image, (dy, dx), axis=(0, 1)) for dx, dy in shifts]


def curves():
    t = np.linspace(0, 4, 40)
    random = np.random.default_rng(1)
    x = random.uniform([0.6, 0.4, -0.4], [1.9, 2.9, 0.4], (200, 3))
    return x[:, :1] * np.exp(-x[:, 1:2] * t) + x[:, 2:] + random.normal(0, 0.01, (200, 40))


def main(root):
    compiler = shutil.which("cc")
    work = tempfile.TemporaryDirectory()
    os.chdir(work.name)
    try:
        image, face, shifts, images = portrait()
    except OSError as error:
        print(f"skipped: {error} (Debian: python-matplotlib-data)")
        return SKIPPED
    x, y, width, height = face.box
    faces = dict(image=image, x=x, y=y, width=width, height=height, frames=images)
    cube = 100.0 * np.array([[i, j, k] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)])
    seen = cube + (30, -20, 2000)
    pixels = 1000 * seen[:, :2] / seen[:, 2:] + 500
    moved = [face.points + shift for shift in shifts]
    own = dict(
        images=images, points=np.stack(moved)[:, ::8], boxes=[(x + dx, y + dy, width, height) for dx, dy in shifts],
        other_images=images[:3], other_points=np.stack(moved)[:3, ::8], image=image,
    )
    fitting = dict(np=np, Y=curves(), lower=[0.5, 0.3, -0.5], upper=[2, 3, 0.5])
    pages = {
        "python.md": faces,
        "python-faces.md": faces,
        "python-own-landmarks.md": own,
        "python-fitting.md": fitting,
        "python-pose.md": dict(
            points3d=cube, points2d=pixels, many=np.stack([pixels] * 5).astype(np.float32), fx=1000, fy=1000, cx=500, cy=500, face=face
        ),
        "python-rigid.md": dict(frame=image[:, :, 0], frames=[i[:, :, 0] for i in images[:3]], x=x, y=y, width=width, height=height),
    }
    if compiler:
        with open("mine.c", "w", encoding="utf-8") as file:
            file.write("#include <math.h>\n#include <sdm/c.h>\n" + blocks(root, "c-interface.md", "c")[0])
        subprocess.run(
            [compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC", "-I", os.path.join(root, "include"), "mine.c", "-o", "libmine.so", "-lm"],
            check=True,
        )
    for page, names in pages.items():
        names = {**names, "sdm": sdm}
        for number, source in enumerate(blocks(root, page)):
            if "CDLL" in source:
                if not compiler:
                    print("left out: there is no compiler of C")
                    continue
                source = "import ctypes\n" + source
            # What there is in place of what the reader has, and a test's patience.
            for word, other in (('"talk.mp4"', "frames"), ("budget=30", "budget=2")):
                source = source.replace(word, other)
            if "sdm.Adapter" in source:
                names["points"] = face.points
            exec(compile(source, f"{page}, block {number + 1}", "exec"), names)
        print(f"{page}: {number + 1} blocks")
        if page == "python-fitting.md":
            assert names["answer"].trusted.mean() > 0.9 and np.abs(names["fit"].x - names["answer"].x).max() < 0.3
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
