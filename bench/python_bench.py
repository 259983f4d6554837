"""What the Python package costs, against C++ and against scipy in the same run.

    python_bench.py PEER GAUSSIAN_LIBRARY MODELS [--cycles N]
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time

import numpy as np

import sdm

LOWER, UPPER, NOISE = [0.5, 1.2, 1.2, 0.6, 0], [2, 2.8, 2.8, 1.6, 1], 0.05
GRID = np.arange(5.0)
ROWS, COLUMNS = (g.reshape(-1) for g in np.mgrid[:5.0, :5.0])


def peak(x):
    """The same in numpy, as one would write it."""
    a, cx, cy, width, offset = (x[:, j : j + 1] for j in range(5))
    scale = -0.5 / (width * width)
    across, down = np.exp(scale * (GRID - cx) ** 2), a * np.exp(scale * (GRID - cy) ** 2)
    return (down[:, :, None] * across[:, None, :]).reshape(len(x), 25) + offset


class Peer:
    """The program in C++."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def timed(work):
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def picture():
    """Of Debian's matplotlib where it is there, else noise: the time hardly depends on it."""
    try:
        import matplotlib.cbook
        from PIL import Image

        with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
            grey = np.asarray(Image.open(file).convert("L"))
        face = sdm.detect(grey)[0]
        return np.ascontiguousarray(grey), face.box
    except ImportError:
        return np.random.default_rng(1).integers(0, 255, (600, 512), dtype=np.uint8), (150, 150, 200, 200)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("gaussian")
    parser.add_argument("models")
    parser.add_argument("--fits", type=int, default=1_000_000)
    parser.add_argument("--cycles", type=int, default=1_000_000)
    asked = parser.parse_args()
    random = np.random.default_rng(1)
    truth = random.uniform(LOWER, UPPER, (asked.fits, 5))
    Y = peak(truth) + random.normal(0, NOISE, (asked.fits, 25))
    grey, box = picture()
    with tempfile.TemporaryDirectory() as folder:
        pixels, measurements = os.path.join(folder, "pixels"), os.path.join(folder, "measurements")
        grey.tofile(pixels)
        Y.tofile(measurements)
        model = os.path.join(asked.models, "face68.sdm")
        peer = Peer(asked.peer, model, pixels, grey.shape[1], grey.shape[0], *box, measurements)

        face68 = sdm.load(model)
        ours, theirs = [], []
        for _ in range(60):  # turns of thirty, of which the fastest counts
            theirs.append(peer.seconds("align"))
            ours.append(min(timed(lambda: face68.align(grey, box))[0] for _ in range(30)))
        a, b = np.median(ours) * 1e6, np.median(theirs) * 1e6
        print(f"a face of 68 points: Python {a:.1f} us, C++ {b:.1f} us: {a / b:.3f} times, {a - b:+.1f} us (at most 1.1, 20)")

        library = ctypes.CDLL(asked.gaussian)
        in_c = sdm.learn(library.gaussian_peak_of, LOWER, UPPER, noise=NOISE, features=25, progress=False)
        ours, theirs = [], []
        for _ in range(7):
            theirs.append(peer.seconds("solve"))
            ours.append(timed(lambda: in_c.solve(Y))[0])
        a, b = min(ours), min(theirs)
        print(f"{asked.fits} Gaussian fits, h in C: Python {a:.3f} s, C++ {b:.3f} s: {a / b:.3f} times (at most 1.05)")

        in_numpy = sdm.learn(peak, LOWER, UPPER, noise=NOISE, progress=False)
        fits = min(asked.fits, 200_000)
        seconds, answer = min((timed(lambda: in_numpy.solve(Y[:fits])) for _ in range(3)), key=lambda r: r[0])
        print(f"the same, h in numpy: {1e6 * seconds / fits:.2f} us a fit; {answer!r}")
        try:
            from scipy.optimize import curve_fit
        except ImportError:
            print("scipy is not installed (Debian: python3-scipy): not compared")
        else:

            def flat(t, *x):
                return peak(np.array([x]))[0]

            def plain(t, a, cx, cy, width, offset):
                return a * np.exp(-((COLUMNS - cx) ** 2 + (ROWS - cy) ** 2) / (2 * width * width)) + offset

            count, middle = 300, (np.array(LOWER) + UPPER) / 2
            loop, x = timed(lambda: [curve_fit(plain, COLUMNS, y, middle)[0] for y in Y[:count]])
            each, mine = loop / count, seconds / fits
            print(f"scipy's curve_fit: {1e6 * each:.0f} us a fit: {each / mine:.0f} times ours (at least 100)")
            rms = np.sqrt(np.mean((np.array(x) - truth[:count]) ** 2, axis=0))
            own = np.sqrt(np.mean((answer.x[:count] - truth[:count]) ** 2, axis=0))
            print(f"error over the truth, ours as a share of scipy's: {np.round(own / rms, 2)}")

        if asked.cycles:
            small = sdm.models.load("face-detector").to_bytes()

            def resident():
                with open("/proc/self/statm") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

            for i in range(asked.cycles):
                sdm.models.ModelFile.from_bytes(small)
                if i == asked.cycles // 10:
                    before = resident()
            print(f"{asked.cycles} models made and dropped: {(resident() - before) / 1e6:+.2f} MB since a tenth of them")


if __name__ == "__main__":
    main()
