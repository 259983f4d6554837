"""Follows faces through very many frames and looks for faces in very many pictures. Memory must not grow
after the first tenth, nor the time a frame takes.

usage: soak.py SDM [FRAMES [PICTURES]]   (1000000 and 100000 by default: hours)
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

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


def processor_seconds(process):
    """What it took itself, however busy the machine is."""
    values = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def told(what, memory, seconds):
    print(f"{what}: {memory[1]} kB after a tenth, {memory[-1]} kB at the end; a tenth took "
          f"{seconds[1]:.2f} s, the last {seconds[-1]:.2f} s")
    assert memory[-1] <= memory[1] + GROWTH_KB, (what, memory)
    assert sorted(seconds[-5:])[2] <= SLOWER * sorted(seconds[1:6])[2], (what, seconds)


def feed(what, words, count, frame, folder):
    """Runs `sdm track` on so many frames, frame(0), frame(1), ...; gives what it says in the end."""
    said = folder / "said"
    with open(said, "w") as file:
        program = subprocess.Popen([SDM, "track", "-", *words, "--json", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=file)
    program.stdin.write(b"YUV4MPEG2 W%d H%d F25:1 Ip C420jpeg\n" % (SIDE, SIDE))
    memory, seconds, start = [], [], 0
    colours = bytes([128]) * (SIDE * SIDE // 2)

    def note():
        nonlocal start
        memory.append(memory_kb(program.pid))
        now = processor_seconds(program.pid)
        seconds.append(now - start)
        start = now

    for i in range(count):
        if i % max(1, count // 10) == 0:
            note()
        program.stdin.write(b"FRAME\n" + frame(i) + colours)
    note()
    program.stdin.close()
    assert program.wait(600) == 0
    told(what, memory, seconds)
    return [line for line in said.read_text().replace("\r", "\n").splitlines() if " faces, " in line or " face, " in line][-1]


def track(folder):
    """A face that goes to and fro, and is gone for a frame now and then: it is lost and followed anew."""
    rng = random.Random(1)
    clip = [draw_face(rng, shift)[1] for shift in (0, 2, 4, 2, 0, -2, -4, -2)]
    grey, away = bytes([128]) * (SIDE * SIDE), 1000
    said = feed(f"{FRAMES} frames tracked", ["-m", "face68-fast", "--faces", "1", "--box", "30,10,140,160"], FRAMES,
                lambda i: grey if i % away == away - 1 else clip[i % len(clip)], folder)
    print(said)
    frames, found, lost = (int(re.search(rf"(\d+) {word}", said)[1]) for word in ("frame", "detection", "lost"))
    assert frames == FRAMES and found >= FRAMES // away and lost >= FRAMES // away, said


def detect(folder):
    """Noise and pieces of faces as frames of a video: one detector looks at every one."""
    rng = random.Random(2)
    face = draw_face(rng)[1]
    pieces = []
    for _ in range(20):
        pixels = bytearray(rng.randbytes(SIDE * SIDE))
        top, rows = rng.randrange(SIDE // 2), rng.randrange(10, SIDE // 2)
        pixels[top * SIDE:(top + rows) * SIDE] = face[top * SIDE:(top + rows) * SIDE]
        pieces.append(bytes(pixels))
    print(feed(f"{PICTURES} pictures searched", ["--search-every", "1", "--threshold", "1"], PICTURES,
               lambda i: pieces[i % len(pieces)], folder))


with tempfile.TemporaryDirectory() as work:
    track(pathlib.Path(work))
    detect(pathlib.Path(work))
print("ok")
