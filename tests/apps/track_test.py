"""`sdm track` from end to end, without any data: a model of five marks is trained on made-up pictures, the
marks wander through made-up frames, and the points in the JSON are compared with where they were drawn.

usage: track_test.py SDM
"""
import json
import math
import pathlib
import random
import subprocess
import tempfile

from marks import SIZE, make_set, picture, placed
from tool import SDM, lines_of, run, write_pgm

FRAMES = 14


def train(folder, rng):
    make_set(folder, "train", 90, rng)
    given = [folder / "train.csv", "--boxes", folder / "train_boxes.csv"]
    model = folder / "marks.sdm"
    run("train", *given, "-o", model, "--preset", "fast", "--mirror", "none")
    # A model from before there was a score gets one without other maps. Boxes, even those of several
    # detectors, have no part in it.
    lines = (folder / "train_boxes.csv").read_text().splitlines()
    (folder / "several.csv").write_text("".join(
        f"{line},{line.split(',', 1)[1].replace('alt2', 'default')}\n" for line in lines))
    for boxes in ([], ["--boxes", folder / "several.csv"]):
        run("train", folder / "train.csv", *boxes, "--score-of", model, "-o", folder / "again.sdm")
        assert (folder / "again.sdm").read_bytes() == model.read_bytes()
    # The score tells good fits from failed ones, and eval says how well.
    told = json.loads(run("eval", "--truth", *given, "--model", model, "--normaliser", "box_diagonal",
                          "--score", "--json").stdout)
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


def test_a_stream_on_stdin(given, pixels, truth):
    """YUV4MPEG, whose first bytes tell what it is."""
    stream = b"YUV4MPEG2 W%d H%d F25:1 Ip C420jpeg\n" % (SIZE, SIZE)
    for frame in pixels:
        stream += b"FRAME\n" + frame + bytes([128]) * (SIZE * SIZE // 2)
    done = subprocess.run([SDM, "track", "-", *map(str, given), "--json", "-", "--no-smooth"], input=stream,
                          capture_output=True, timeout=300)
    if done.returncode != 0:  # an OpenCV without FFmpeg says so
        assert b"stdin: cannot be read as a video" in done.stderr, done
        return
    lines = lines_of(done.stdout.decode())
    assert len(lines) == len(truth), lines
    assert all(worst_point(line["faces"][0], points) < 4 for line, points in zip(lines, truth)), lines
    told = subprocess.run([SDM, "track", "-", *map(str, given)], input=b"no video", capture_output=True,
                          timeout=300)
    assert told.returncode == 1 and b"stdin: cannot be read" in told.stderr, told


def test_what_is_not_there_is_not_invented(folder, given, pixels, rng):
    gone = folder / "gone"
    gone.mkdir()
    for t in range(9):
        shown = {3: bytes(SIZE * SIZE), 6: picture(rng, []), 7: picture(rng, [])}
        write_pgm(gone / f"{t}.pgm", shown.get(t, pixels[0]), SIZE)
    lines = lines_of(run("track", gone, *given, "--json", "-").stdout)
    assert [len(line["faces"]) for line in lines] == [1, 1, 1, 0, 1, 1, 0, 0, 1], lines
    assert [line["lost"] for line in lines] == [[], [], [], [1], [], [], [1], [], []], lines
    assert all(face["id"] == 1 for line in lines for face in line["faces"]), lines
    # A box on noise is no face, all the way.
    wall = folder / "wall"
    wall.mkdir()
    for t in range(3):
        write_pgm(wall / f"{t}.pgm", picture(rng, []), SIZE)
    told = run("track", wall, *given)
    assert "3 frames: 0 faces, 0 detections, 0 lost; 3 frames without" in told.stdout, told.stdout


def test_a_break_leaves_what_was_tracked(folder, given, pixels):
    out, video = folder / "broken.jsonl", folder / "broken.avi"
    broken = folder / "broken"
    broken.mkdir()
    for t in range(8):
        write_pgm(broken / f"{t}.pgm", pixels[t], SIZE)
    words = ["track", broken, *given, "--json", out, "-o", video, "--plot", folder / "broken.svg"]
    write_pgm(broken / "5.pgm", bytes(60 * 60), 60)
    assert "frame 5 is 60 x 60 px" in run(*words, code=1).stderr
    assert len(lines_of(out.read_text())) == 5 and (folder / "broken.svg").exists()
    (broken / "4.pgm").write_bytes(b"P5 no picture")
    assert "4.pgm: not a picture" in run(*words, code=1).stderr
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
    assert "cannot make the folder" in run("track", frames, *given, "--json", model / "x", code=1).stderr


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    rng = random.Random(1)
    model = train(folder, rng)
    truth = [placed(45 + 2 * t, 60 + 6 * math.sin(0.4 * t), 1 + 0.01 * t, 0.03 * t) for t in range(FRAMES)]
    pixels = [picture(rng, points) for points in truth]
    frames = folder / "frames"
    frames.mkdir()
    for t in range(FRAMES):
        write_pgm(frames / f"f{t:03}.pgm", pixels[t], SIZE)
    given = ["-m", model, "--box", "0,15,90,90"]
    test_following(folder, given, frames, truth)
    test_a_stream_on_stdin(given, pixels, truth)
    test_what_is_not_there_is_not_invented(folder, given, pixels, rng)
    test_a_break_leaves_what_was_tracked(folder, given, pixels)
    test_bad_input_is_told(folder, model, given, frames)
