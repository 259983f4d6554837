"""Follows faces through very many frames and looks for faces in very many pictures. Memory must not grow
after the first tenth, nor the time a frame takes.

usage: soak.py SDM [FRAMES [PICTURES]]   (1000000 and 100000 by default: hours)
"""
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "apps"))
from face_drawing import SIDE, draw_face  # noqa: E402
from tool import SDM  # noqa: E402

FRAMES = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
PICTURES = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
GROWTH_KB = 8192  # what a heap may do in any order of requests
SLOWER = 1.5


def memory_kb(process):
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0])


def told(what, memory, seconds):
    print(f"{what}: {memory[1]} kB after a tenth, {memory[-1]} kB at the end; a tenth took "
          f"{seconds[1]:.2f} s, the last {seconds[-1]:.2f} s")
    assert memory[-1] <= memory[1] + GROWTH_KB, (what, memory)
    # The machine may be busy now and then: the median of the last tenths tells.
    assert sorted(seconds[-5:])[2] <= SLOWER * sorted(seconds[1:6])[2], (what, seconds)


def feed(what, words, count, clip):
    """Runs the command on so many frames; the clip goes round."""
    program = subprocess.Popen([SDM, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    program.stdin.write(b"YUV4MPEG2 W%d H%d F25:1 Ip C420jpeg\n" % (SIDE, SIDE))
    memory, seconds, start = [], [], time.monotonic()
    colours = bytes([128]) * (SIDE * SIDE // 2)

    def note():
        nonlocal start
        memory.append(memory_kb(program.pid))
        seconds.append(time.monotonic() - start)
        start = time.monotonic()

    for i in range(count):
        if i % max(1, count // 10) == 0:
            note()
        program.stdin.write(b"FRAME\n" + clip[i % len(clip)] + colours)
    note()
    program.stdin.close()
    assert program.wait(600) == 0
    told(what, memory, seconds)


def track(folder):
    rng = random.Random(1)
    clip = [draw_face(rng, shift)[1] for shift in (0, 2, 4, 2, 0, -2, -4, -2)]
    feed(f"{FRAMES} frames tracked", ["track", "-", "--faces", "2", "--json", folder / "lines.jsonl"], FRAMES, clip)
    with open(folder / "lines.jsonl", "rb") as lines:
        assert sum(1 for _ in lines) == FRAMES


def detect():
    """Noise and pieces of faces as frames of a video: one detector looks at every one."""
    rng = random.Random(2)
    face = draw_face(rng)[1]
    pieces = []
    for _ in range(20):
        pixels = bytearray(rng.randbytes(SIDE * SIDE))
        top, rows = rng.randrange(SIDE // 2), rng.randrange(10, SIDE // 2)
        pixels[top * SIDE:(top + rows) * SIDE] = face[top * SIDE:(top + rows) * SIDE]
        pieces.append(bytes(pixels))
    feed(f"{PICTURES} pictures searched", ["track", "-", "--search-every", "1", "--threshold", "1"], PICTURES, pieces)


with tempfile.TemporaryDirectory() as work:
    track(pathlib.Path(work))
    detect()
print("ok")
