"""`sdm follow` from end to end, without any data: frames are rendered along a known motion, the corners in
the JSON are compared with it, and the command meets bad input.

usage: follow_test.py SDM
"""
import json
import math
import pathlib
import random
import tempfile

from tool import lines_of, run, write_pgm

WIDTH, HEIGHT, FRAMES = 200, 160, 12
BOX = (60, 40, 80, 70)  # x, y, width, height; its middle stays the middle of the motion
PITCH, GRID = 7, 60  # of the lattice of random greys that the texture is


def motion(t):
    """The similarity at frame t: cosine and sine parts with scale, and the shift."""
    angle, scale = 0.03 * t, 1 + 0.012 * t
    return scale * math.cos(angle), scale * math.sin(angle), 2.5 * t, -1.5 * t


def moved(t, x, y):
    c, s, dx, dy = motion(t)
    cx, cy = BOX[0] + (BOX[2] - 1) / 2, BOX[1] + (BOX[3] - 1) / 2
    return (cx + c * (x - cx) - s * (y - cy) + dx, cy + s * (x - cx) + c * (y - cy) + dy)


def corners(t):
    left, top, right, bottom = BOX[0] - 0.5, BOX[1] - 0.5, BOX[0] + BOX[2] - 0.5, BOX[1] + BOX[3] - 0.5
    return [moved(t, x, y) for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]


def render(t, greys):
    """The lattice, bilinear, seen through the inverse of the motion."""
    c, s, dx, dy = motion(t)
    norm = c * c + s * s
    cx, cy = BOX[0] + (BOX[2] - 1) / 2, BOX[1] + (BOX[3] - 1) / 2
    pixels = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            u, v = x - cx - dx, y - cy - dy
            a = ((c * u + s * v) / norm + cx) / PITCH + 15
            b = ((c * v - s * u) / norm + cy) / PITCH + 15
            i, j = int(a), int(b)
            a, b, k = a - i, b - j, j * GRID + i
            pixels.append(int((1 - b) * ((1 - a) * greys[k] + a * greys[k + 1])
                              + b * ((1 - a) * greys[k + GRID] + a * greys[k + GRID + 1])))
    return bytes(pixels)


def worst_corner(line):
    return max(math.dist(a, b) for a, b in zip(line["corners"], corners(line["frame"])))


def test_following(folder, frames):
    out, video = folder / "out.jsonl", folder / "out.avi"
    told = run("follow", frames, "--box", ",".join(map(str, BOX)), "--json", out, "-o", video)
    assert f"{FRAMES} frames, 0 lost" in told.stdout, told.stdout
    lines = lines_of(out.read_text())
    assert [line["frame"] for line in lines] == list(range(FRAMES)), lines
    for line in lines:
        assert not line["lost"] and worst_corner(line) < 0.5, (line, corners(line["frame"]))
        assert 0.5 <= line["score"] <= 1, line
        # The warp takes the template's corners (the longer side is 100) to the same places.
        (a, b, x), (c, d, y), last = line["warp"]
        assert last == [0, 0, 1], last
        u, v = -50, -50 * BOX[3] / BOX[2]
        assert math.dist((a * u + b * v + x, c * u + d * v + y), line["corners"][0]) < 0.01, line

    # The overlay is a video of as many frames.
    again = run("follow", video, "--box", ",".join(map(str, BOX)), "--json", "-")
    assert len(lines_of(again.stdout)) == FRAMES and "frames" in again.stderr, again
    # A pattern reads the same frames, a file gives the same box, stdout the same lines.
    (folder / "box.txt").write_text("60 40\n80, 70\n")
    same = run("follow", frames / "f%03d.pgm", "--select", folder / "box.txt", "--json", "-")
    assert same.stdout == out.read_text(), same.stdout
    # Eight numbers are the corners.
    eight = ",".join(f"{v:g}" for corner in corners(0) for v in corner)
    quad = run("follow", frames, "--box", eight, "--json", "-", "--model", "homography")
    assert all(worst_corner(line) < 0.7 for line in lines_of(quad.stdout)), quad.stdout


def test_several_templates_and_a_plot(folder, frames):
    plot = folder / "out.svg"
    small = (BOX[0] + 10, BOX[1] + 8, 50, 45)
    told = run("follow", frames, "--box", ",".join(map(str, BOX)), "--box", ",".join(map(str, small)),
               "--json", "-", "--plot", plot)
    one = lines_of(run("follow", frames, "--box", ",".join(map(str, BOX)), "--json", "-").stdout)
    for line, alone in zip(lines_of(told.stdout), one, strict=True):
        first, second = line["templates"]
        assert first == {key: value for key, value in alone.items() if key != "frame"}, (first, alone)
        assert not second["lost"], line
        x, y = moved(line["frame"], small[0] - 0.5, small[1] - 0.5)
        assert math.dist((x, y), second["corners"][0]) < 1, (line, x, y)
    assert "template 0: 0 lost; template 1: 0 lost" in told.stderr, told.stderr
    svg = plot.read_text()
    assert svg.startswith("<svg") and "Score" in svg and "template 1" in svg, svg[:200]
    assert "one --box" in run("follow", frames, "--box", "60,40,80,70", "--box", "60,40,80,70", "--save",
                              folder / "x.sdm", code=2).stderr


def test_the_papers_way_and_appearance(folder, frames):
    box = ["--box", ",".join(map(str, BOX))]
    lines = lines_of(run("follow", frames, *box, "--paper", "--json", "-").stdout)
    assert all(line["score"] is None and line["lost"] == (line["difference"] > 0.3) for line in lines), lines
    adapted = lines_of(run("follow", frames, *box, "--adapt", "--json", "-").stdout)
    assert all(not line["lost"] and worst_corner(line) < 0.5 for line in adapted), adapted
    assert "--adapt" in run("follow", frames, *box, "--adapt", "--paper", code=2).stderr


def test_a_plain_region_is_told_before_it_starts(folder):
    plain = folder / "plain"
    plain.mkdir()
    for t in range(3):  # one straight edge: nothing tells how far it moved along it
        pixels = bytes(70 if x < 100 + t else 150 for y in range(HEIGHT) for x in range(WIDTH))
        write_pgm(plain / f"{t}.pgm", pixels, WIDTH)
    told = run("follow", plain, "--box", ",".join(map(str, BOX)), "--json", "-").stderr
    assert "warning: the region at (60, 40) is too plain" in told, told
    rich = run("follow", folder / "frames", "--box", ",".join(map(str, BOX)), "--json", "-").stderr
    assert "warning" not in rich, rich


def test_a_region_that_is_not_flat_is_told_before_it_starts(folder, greys):
    bent = folder / "bent"
    bent.mkdir()
    middle = BOX[0] + BOX[2] // 2
    for t in range(12):  # two halves of which one is nearer to a camera that moves
        def grey(x, y):
            x = x - t / 2 if x < middle else x + t / 2
            a, b = x / PITCH + 15, y / PITCH + 15
            i, j = int(a), int(b)
            a, b, k = a - i, b - j, j * GRID + i
            return int((1 - b) * ((1 - a) * greys[k] + a * greys[k + 1])
                       + b * ((1 - a) * greys[k + GRID] + a * greys[k + GRID + 1]))
        write_pgm(bent / f"{t:02}.pgm", bytes(grey(x, y) for y in range(HEIGHT) for x in range(WIDTH)), WIDTH)
    told = run("follow", bent, "--box", ",".join(map(str, BOX)), "--json", "-").stderr
    assert "warning: the region at (60, 40) does not move as a flat thing" in told, told


def test_a_tracker_can_be_kept(folder, frames):
    box = ["--box", ",".join(map(str, BOX))]
    first = run("follow", frames, *box, "--json", "-", "--save", folder / "patch.sdm").stdout
    assert "rigid" in run("info", folder / "patch.sdm").stdout
    for words in ([], box):
        assert run("follow", frames, "--load", folder / "patch.sdm", *words, "--json", "-").stdout == first
    assert "--load" in run("follow", frames, "--load", folder / "patch.sdm", "--paper", code=2).stderr
    (folder / "no.sdm").write_bytes(b"no model")
    assert "no.sdm" in run("follow", frames, "--load", folder / "no.sdm", code=1).stderr


def test_a_template_that_is_hidden_is_lost_and_found_again(folder, pixels):
    hidden = folder / "hidden"
    hidden.mkdir()
    for t in range(6):
        write_pgm(hidden / f"{t}.pgm", bytes([128]) * (WIDTH * HEIGHT) if t in (2, 3) else pixels[t // 3],
                  WIDTH)
    lines = lines_of(run("follow", hidden, "--box", ",".join(map(str, BOX)), "--json", "-").stdout)
    assert [line["lost"] for line in lines] == [t in (2, 3) for t in range(6)], lines


def test_a_break_leaves_what_was_followed(folder, pixels):
    out, video = folder / "broken.jsonl", folder / "broken.avi"
    broken = folder / "broken"
    broken.mkdir()
    for t in range(8):
        write_pgm(broken / f"{t}.pgm", pixels[t], WIDTH)
    given = ["follow", broken, "--box", ",".join(map(str, BOX)), "--json", out, "-o", video]

    write_pgm(broken / "5.pgm", bytes(100 * 80), 100)
    assert "frame 5 is 100 x 80 px" in run(*given, code=1).stderr
    (broken / "4.pgm").write_bytes(b"P5 no picture")
    assert "4.pgm: not a picture" in run(*given, code=1).stderr
    assert [line["frame"] for line in lines_of(out.read_text())] == [0, 1, 2, 3], out.read_text()
    kept = run("follow", video, "--box", ",".join(map(str, BOX)), "--json", "-")
    assert len(lines_of(kept.stdout)) == 4, kept

    # A video that ends before its time: what could be read is followed, and the loss is told.
    whole = (folder / "out.avi").read_bytes()
    (folder / "cut.avi").write_bytes(whole[: len(whole) // 2])
    cut = run("follow", folder / "cut.avi", "--box", ",".join(map(str, BOX)), "--json", out, code=1)
    assert f"of {FRAMES} frames could be read" in cut.stderr, cut
    assert 0 < len(lines_of(out.read_text())) < FRAMES, out.read_text()


def test_the_experiment_takes_a_video_of_ones_own(folder, frames, greys):
    (folder / "photographs").mkdir()  # one is enough, so that the rest of the experiment is short
    side, cell = 400, 8
    lattice = bytes(greys[y // cell * GRID + x // cell] for y in range(side) for x in range(side))
    write_pgm(folder / "photographs" / "lattice.pgm", lattice, side)
    report = folder / "own"
    run("reproduce", "rigid", "--quick", "-o", report, "--data", folder / "photographs", "--video", frames,
        "--box", ",".join(map(str, BOX)), cwd=folder)
    rows = json.loads((report / "rigid" / "results.json").read_text())["rows"]
    followed = {row["metric"]: row["value"] for row in rows if (row["case"], row["method"]) == ("frames", "sdm")}
    assert followed["frames_tracked"] == followed["frames_total"] == FRAMES - 1, followed
    assert "time_per_frame_us" in followed and "mean_corner_error" not in followed, followed
    assert (report / "rigid" / "frames_1.jpg").read_bytes().startswith(b"\xff\xd8")
    assert "frames, frame 1" in (report / "index.html").read_text()


def test_bad_input_is_told_and_leaves_the_output_alone(folder, frames):
    out = folder / "kept.jsonl"
    out.write_text("kept")

    def refuse(words, reason, code=1):
        told = run("follow", *words, "--json", out, code=code).stderr
        assert reason in told, (words, told)
        assert out.read_text() == "kept", words

    box = ["--box", ",".join(map(str, BOX))]
    refuse([frames, "--box", "150,40,80,70"], "outside the frame of 200 x 160 px")
    refuse([frames, "--box", "60,40,-80,70"], "positive width and height")
    refuse([frames, "--box", "60,40,4,4"], "8 px")
    refuse([frames, "--box", "60,40,80"], "3 numbers for the region")
    refuse([folder / "none.mp4", *box], "no such file or folder")
    (folder / "noise.mp4").write_bytes(random.Random(2).randbytes(4000))
    refuse([folder / "noise.mp4", *box], "cannot be read as a video")
    (folder / "empty").mkdir()
    refuse([folder / "empty", *box], "no pictures in this folder")
    (folder / "flat").mkdir()
    write_pgm(folder / "flat" / "0.pgm", bytes([90]) * (WIDTH * HEIGHT), WIDTH)
    refuse([folder / "flat", *box], "nothing to follow")
    (folder / "words.txt").write_text("60 40 eighty 70")
    refuse([frames, "--select", folder / "words.txt"], "expected numbers only")
    refuse([frames, "--select", folder / "none.txt"], "none.txt: cannot be opened")
    refuse([frames, *box, "--select", folder / "words.txt"], "--select", code=2)
    refuse([frames], "--box", code=2)
    refuse([frames, *box, "--model", "rubber"], "rubber", code=2)
    # A video of one's own in the experiment is looked at before anything is rendered.
    assert "--box" in run("reproduce", "rigid", "--video", frames, code=2).stderr
    told = run("reproduce", "rigid", "-o", folder / "report", "--video", folder / "none.mp4", *box, code=1)
    assert "no such file or folder" in told.stderr, told
    told = run("reproduce", "rigid", "-o", folder / "report", "--video", folder / "noise.mp4", *box, code=1)
    assert "cannot be read as a video" in told.stderr and "[ WARN" not in told.stderr, told
    assert "cannot make the folder" in run("follow", frames, *box, "--json", folder / "noise.mp4" / "x", code=1).stderr
    assert "cannot make the folder" in run("follow", frames, *box, "-o", folder / "noise.mp4" / "x.mp4", code=1).stderr


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    rng = random.Random(1)
    greys = [rng.randrange(20, 235) for _ in range(GRID * GRID)]
    pixels = [render(t, greys) for t in range(FRAMES)]
    frames = folder / "frames"
    frames.mkdir()
    for t in range(FRAMES):
        write_pgm(frames / f"f{t:03}.pgm", pixels[t], WIDTH)
    test_following(folder, frames)
    test_several_templates_and_a_plot(folder, frames)
    test_the_papers_way_and_appearance(folder, frames)
    test_a_plain_region_is_told_before_it_starts(folder)
    test_a_region_that_is_not_flat_is_told_before_it_starts(folder, greys)
    test_a_tracker_can_be_kept(folder, frames)
    test_a_template_that_is_hidden_is_lost_and_found_again(folder, pixels)
    test_a_break_leaves_what_was_followed(folder, pixels)
    test_the_experiment_takes_a_video_of_ones_own(folder, frames, greys)
    test_bad_input_is_told_and_leaves_the_output_alone(folder, frames)
