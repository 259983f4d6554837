"""`sdm track` from end to end, without any data: a model of five marks is trained on made-up pictures, the
marks wander through made-up frames, and the points in the JSON are compared with where they were drawn.

usage: track_test.py SDM
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

SDM = str(pathlib.Path(sys.argv[1]).resolve())
SIZE, FRAMES = 120, 14
MEAN = [(-20, -18), (20, -18), (0, 2), (-15, 22), (15, 22)]  # pixels from the centre


def run(*words, code=0):
    done = subprocess.run([SDM, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def picture(rng, points, size=SIZE):
    """Noise with a mark at each point."""
    pixels = bytearray(100 + b // 16 for b in rng.randbytes(size * size))
    for k, (px, py) in enumerate(points):
        wide, high = 5 + 2 * (k % 2), 3 + 2 * (k // 3)
        for v in range(max(0, int(py) - 12), min(size, int(py) + 12)):
            for u in range(max(0, int(px) - 12), min(size, int(px) + 12)):
                far = math.hypot((u - px) / wide, (v - py) / high)
                pixels[v * size + u] = int(pixels[v * size + u] + 120 * math.exp(-far**2))
    return bytes(pixels)


def placed(cx, cy, scale=1.0, angle=0.0, shapes=MEAN):
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    return [(cx + c * x - s * y, cy + s * x + c * y) for x, y in shapes]


def write_pgm(path, pixels, size=SIZE):
    path.write_bytes(b"P5 %d %d 255\n" % (size, size) + pixels)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def train(folder, rng):
    (folder / "train").mkdir()
    truth, boxes = ["file," + ",".join(f"x{i},y{i}" for i in range(5))], ["file,x,y,w,h"]
    for i in range(90):
        scale, cx, cy = rng.uniform(0.8, 1.2), rng.uniform(52, 68), rng.uniform(52, 68)
        shape = [(x + rng.gauss(0, 1.5), y + rng.gauss(0, 1.5)) for x, y in MEAN]
        points = placed(cx, cy, scale, rng.gauss(0, 0.15), shape)
        write_pgm(folder / "train" / f"{i:03}.pgm", picture(rng, points))
        side = 90 * scale * math.exp(rng.gauss(0, 0.06))
        box = (cx + rng.gauss(0, 2) - side / 2, cy + rng.gauss(0, 2) - side / 2, side, side)
        truth.append(f"train/{i:03}.pgm," + ",".join(f"{x:.3f},{y:.3f}" for x, y in points))
        boxes.append(f"train/{i:03}.pgm," + ",".join(f"{v:.2f}" for v in box))
    (folder / "train.csv").write_text("\n".join(truth) + "\n")
    (folder / "boxes.csv").write_text("\n".join(boxes) + "\n")
    model = folder / "marks.sdm"
    run("train", folder / "train.csv", "--boxes", folder / "boxes.csv", "-o", model, "--preset", "fast",
        "--mirror", "none")
    # A model from before there was a score gets one without other maps.
    run("train", folder / "train.csv", "--boxes", folder / "boxes.csv", "--score-of", model, "-o",
        folder / "again.sdm")
    assert (folder / "again.sdm").read_bytes() == model.read_bytes()
    # The score tells good fits from failed ones, and eval says how well.
    told = json.loads(run("eval", "--truth", folder / "train.csv", "--boxes", folder / "boxes.csv", "--model",
                          model, "--normaliser", "box_diagonal", "--score", "--json").stdout)
    assert told["score"]["auc"] > 0.98 and told["score"]["failed"] > 90, told["score"]
    return model


def worst_point(face, points):
    return max(math.dist(a, b) for a, b in zip(face["points"], points))


def test_following(folder, given, frames, truth):
    out, video, plot = folder / "out.jsonl", folder / "out.avi", folder / "out.svg"
    told = run("track", frames, *given, "--json", out, "-o", video, "--plot", plot, "--no-smooth")
    assert f"{FRAMES} frames: 1 face, 1 detection, 0 lost; 0 frames without" in told.stdout, told.stdout
    lines = lines_of(out.read_text())
    assert [line["frame"] for line in lines] == list(range(FRAMES)), lines
    for line, points in zip(lines, truth):
        (face,) = line["faces"]
        assert face["id"] == 1 and face["detected"] == (line["frame"] == 0) and line["lost"] == [], line
        assert face["score"] > 0.5 and worst_point(face, points) < 4, (face, points)
    assert plot.read_text().startswith("<svg")
    # The overlay is a video of as many frames; --frames stops early, and that is no fault.
    again = run("track", video, *given, "--json", "-")
    assert len(lines_of(again.stdout)) == FRAMES and "frames" in again.stderr, again
    assert len(lines_of(run("track", video, *given, "--json", "-", "--frames", 5).stdout)) == 5
    # Smoothing is a little behind, not away.
    smooth = lines_of(run("track", frames, *given, "--json", "-").stdout)
    assert all(worst_point(line["faces"][0], points) < 6 for line, points in zip(smooth, truth)), smooth


def test_what_is_not_there_is_not_invented(folder, given, pixels, rng):
    gone = folder / "gone"
    gone.mkdir()
    for t in range(9):
        shown = {3: bytes(SIZE * SIZE), 6: picture(rng, []), 7: picture(rng, [])}
        write_pgm(gone / f"{t}.pgm", shown.get(t, pixels[0]))
    lines = lines_of(run("track", gone, *given, "--json", "-").stdout)
    assert [len(line["faces"]) for line in lines] == [1, 1, 1, 0, 1, 1, 0, 0, 1], lines
    assert [line["lost"] for line in lines] == [[], [], [], [1], [], [], [1], [], []], lines
    assert all(face["id"] == 1 for line in lines for face in line["faces"]), lines
    # A box on noise is no face, all the way.
    wall = folder / "wall"
    wall.mkdir()
    for t in range(3):
        write_pgm(wall / f"{t}.pgm", picture(rng, []))
    told = run("track", wall, *given)
    assert "3 frames: 0 faces, 0 detections, 0 lost; 3 frames without" in told.stdout, told.stdout


def test_a_break_leaves_what_was_tracked(folder, given, pixels):
    out, video = folder / "broken.jsonl", folder / "broken.avi"
    broken = folder / "broken"
    broken.mkdir()
    for t in range(8):
        write_pgm(broken / f"{t}.pgm", pixels[t])
    words = ["track", broken, *given, "--json", out, "-o", video, "--plot", folder / "broken.svg"]
    write_pgm(broken / "5.pgm", bytes(60 * 60), 60)
    assert "frame 5 is 60 x 60 px" in run(*words, code=1).stderr
    assert len(lines_of(out.read_text())) == 5 and (folder / "broken.svg").exists()
    (broken / "4.pgm").write_bytes(b"P5 no picture")
    assert "4.pgm: cannot be read as a picture" in run(*words, code=1).stderr
    assert [line["frame"] for line in lines_of(out.read_text())] == [0, 1, 2, 3], out.read_text()
    assert len(lines_of(run("track", video, *given, "--json", "-").stdout)) == 4
    whole = (folder / "out.avi").read_bytes()
    (folder / "cut.avi").write_bytes(whole[: len(whole) // 2])
    cut = run("track", folder / "cut.avi", *given, "--json", out, code=1)
    assert "frames could be read" in cut.stderr and 0 < len(lines_of(out.read_text())) < FRAMES, cut


def test_bad_input_is_told(folder, model, given, frames):
    assert "VIDEO" in run("track", code=2).stderr
    assert "no such file or folder" in run("track", folder / "none.mp4", *given, code=1).stderr
    (folder / "noise.mp4").write_bytes(random.Random(2).randbytes(4000))
    assert "cannot be read as a video" in run("track", folder / "noise.mp4", *given, code=1).stderr
    assert "camera 99" in run("track", 99, *given, code=1).stderr
    assert "positive width" in run("track", frames, "-m", model, "--box", "1,1,0,5", code=1).stderr
    assert "none.sdm" in run("track", frames, "-m", folder / "none.sdm", code=1).stderr
    assert "--faces" in run("track", frames, *given, "--faces", 0, code=2).stderr
    assert "cannot be written" in run("track", frames, *given, "--json", folder / "no" / "x", code=1).stderr


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    rng = random.Random(1)
    model = train(folder, rng)
    truth = [placed(45 + 2 * t, 60 + 6 * math.sin(0.4 * t), 1 + 0.01 * t, 0.03 * t) for t in range(FRAMES)]
    pixels = [picture(rng, points) for points in truth]
    frames = folder / "frames"
    frames.mkdir()
    for t in range(FRAMES):
        write_pgm(frames / f"f{t:03}.pgm", pixels[t])
    given = ["-m", model, "--box", "0,15,90,90"]
    test_following(folder, given, frames, truth)
    test_what_is_not_there_is_not_invented(folder, given, pixels, rng)
    test_a_break_leaves_what_was_tracked(folder, given, pixels)
    test_bad_input_is_told(folder, model, given, frames)
