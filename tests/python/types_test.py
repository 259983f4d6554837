"""mypy --strict has nothing to say of the package, nor of a program that uses it, and finds what is wrong with another.

    types_test.py FOLDER
"""

import os
import shutil
import subprocess
import sys
import tempfile

from need import SKIPPED, need

need("numpy")


PROGRAM = """
import numpy as np
import sdm

image = np.zeros((90, 120), np.uint8)
nose: np.float32 = sdm.detect("photo.jpg", free=True)[0].points[30, 0]
score: float = sdm.load("face68").align(image, (10, 10, 50, 50)).score
for frame in sdm.Tracker(faces=2).video([image]):
    for face in frame:
        yaw: float = face.pose.yaw if face.pose else 0.0
model: sdm.FaceModel = sdm.train([image], np.zeros((1, 4, 2)), boxes=None, budget=30)
median: float = model.evaluate([image], np.zeros((1, 4, 2))).median
lost: bool = sdm.rigid.Tracker(image, (10, 10, 40, 40)).update(image).lost
error: float = sdm.pose.Estimator(np.zeros((8, 3))).estimate(np.zeros((8, 2))).error
answer: sdm.Answer = sdm.learn(lambda x: x, [0], [1], noise=0.1, log=[0]).solve(np.zeros((5, 1)))
fit: sdm.Answer = sdm.curve_fit(lambda t, a: a * t, np.arange(5), np.zeros((9, 5)), [0], [1])
"""

WRONG = """
import sdm

faces: int = sdm.detect("photo.jpg")
sdm.Detector(smallest="big")
"""


def main(folder):
    mypy = shutil.which("mypy")
    if mypy is None:
        print("skipped: mypy is not installed (Debian: mypy)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as cache:
        strict = [mypy, "--strict", "--cache-dir", cache, "--config-file", os.path.join(folder, "pyproject.toml")]
        if subprocess.run([*strict, "sdm"], cwd=folder).returncode != 0:
            return 1
        environment = {**os.environ, "MYPYPATH": folder}
        for name, text in (("program", PROGRAM), ("wrong", WRONG)):
            with open(os.path.join(cache, name + ".py"), "w", encoding="utf-8") as file:
                file.write(text)
        if subprocess.run([*strict, "program.py"], cwd=cache, env=environment).returncode != 0:
            return 1
        told = subprocess.run([*strict, "wrong.py"], cwd=cache, env=environment, capture_output=True, text=True).stdout
        print(told)
        return 0 if "Found 2 errors" in told else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
