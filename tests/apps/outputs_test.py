"""Whatever goes wrong, no input is written over, no result is lost with exit code 0, nothing hangs and
nothing aborts.

usage: outputs_test.py SDM
"""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import tempfile
import time

from marks import SIZE, make_set, picture, placed
from tool import SDM, lines_of, run, write_pgm


def raw(*words, **how):
    """Runs with any bytes as words and any streams."""
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    return subprocess.run([SDM.encode(), *words], timeout=120, **how)


def content(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(folder, said, *words, code=1):
    """The command fails before its work, and every file is as before."""
    before = content(folder)
    done = raw(*words)
    assert done.returncode == code and said.encode() in done.stderr, (words, done)
    assert b"faces of" not in done.stdout and b"Traceback" not in done.stderr, (words, done)
    assert content(folder) == before, (words, set(content(folder)) ^ set(before))


def inputs_stay(folder, model, video):
    train = folder / "train.csv"
    os.link(train, folder / "link.csv")
    (folder / "symlink.csv").symlink_to("train.csv")
    for output in ("train.csv", "link.csv", "symlink.csv", "train_boxes.csv", "train/train003.pgm", "train/../train.csv"):
        refused(folder, "is an input, which would be overwritten", "train", train, "--boxes",
                folder / "train_boxes.csv", "-o", folder / output)
    refused(folder, "another output too", "train", train, "-o", folder / "m.sdm", "--plot", folder / "m.sdm")
    refused(folder, "another output too", "train", train, "-o", folder / "m.sdm", "--checkpoint", folder / "m.sdm")
    refused(folder, "is an input", "train", train, "-o", folder / "m.sdm", "--checkpoint", train)
    refused(folder, "is an input", "train", train, "--score-of", model, "-o", model)
    refused(folder, "is an input", "train-detector", train, "-o", train)

    pictures = folder / "pictures"
    pictures.mkdir()
    rng = random.Random(1)
    write_pgm(pictures / "a.pgm", rng.randbytes(SIZE * SIZE), SIZE)
    run("detect", pictures / "a.pgm", "--draw", pictures / "b.jpg")
    refused(folder, "b.jpg: is an input", "detect", pictures / "b.jpg", "--draw", pictures)
    refused(folder, "b.jpg: is an input", "detect", pictures, "--draw", pictures)
    (pictures / "a.pts").write_text("the true points")
    refused(folder, "a.pts: is there already", "detect", pictures, "--pts")
    refused(folder, "a.pts: is there already", "detect", pictures, "--pts", "-o", pictures)
    run("detect", pictures, "--pts", "-o", folder / "points")

    for words in (["-o", video], ["--json", video], ["--plot", video]):
        refused(folder, "is an input", "track", video, "-m", model, "--box", "20,20,90,90", *words)
        refused(folder, "is an input", "follow", video, "--box", "30,30,50,50", *words)
    refused(folder, "is an input", "follow", video, "--box", "30,30,50,50", "--save", video)
    refused(folder, "another output too", "track", video, "-m", model, "--json", folder / "x", "--plot", folder / "x")
    for option in ("--plot", "--sheet", "--save-predictions", "--save-boxes"):
        refused(folder, "is an input", "eval", "--truth", train, "-m", model, option, train)
    refused(folder, "is an input", "eval", "--truth", train, "-m", model, "--plot", model)
    (folder / "points.csv").write_text("1,0,0\n0,1,0\n0,0,1\n1,1,1\n")
    refused(folder, "is an input", "pose", "train", folder / "points.csv", "-o", folder / "points.csv")


def inputs_that_nobody_named_stay(folder, model):
    """Files that a command finds by itself, or that other files name."""
    train, boxes = folder / "train.csv", folder / "train_boxes.csv"
    given = ["--preset", "fast", "--mirror", "none"]
    refused(folder, "is an input", "train", train, *given, "-o", boxes)
    refused(folder, "is an input", "train", train, *given, "-o", folder / "m.sdm", "--plot", boxes)
    refused(folder, "is an input", "train", train, *given, "-o", folder / "m.sdm", "--dev", folder / "dev.csv",
            "--plot", folder / "dev/dev001.pgm")
    refused(folder, "is an input", "train", train, "--score-of", model, "-o", folder / "train/train001.pgm")
    refused(folder, "is an input", "train", train, "--base", model, "-o", folder / "train/train001.pgm")
    refused(folder, "is an input", "train-detector", train, "-o", folder / "train/train001.pgm")
    for option in ("--plot", "--save-boxes"):
        refused(folder, "is an input", "eval", "--truth", train, "-m", model, option, boxes)
        refused(folder, "is an input", "eval", "--truth", train, "-m", model, option, folder / "train/train001.pgm")
    # A folder of .pts, each an input.
    points = folder / "pts"
    run("convert", train, points)
    one = points / "train/train001.pts"
    assert one.exists()
    refused(folder, "is an input", "train", points, "--images", folder, *given, "-o", one)
    # The frames of a pattern; what else lies beside them is none.
    pattern = ["track", folder / "frames/%02d.pgm", "-m", model, "--box", "20,20,90,90", "--json"]
    refused(folder, "is an input", *pattern, folder / "frames/03.pgm")
    for _ in range(2):
        run(*pattern, folder / "frames/lines.jsonl")
        run("track", folder / "frames", *pattern[2:], folder / "frames/lines.jsonl")
    (folder / "frames/lines.jsonl").unlink()
    # The state of a model is not to become another model.
    run("adapt", model, "--learn", train)
    state = folder / "marks.adaptation.sdm"
    one = folder / "one.csv"
    one.write_text("\n".join(train.read_text().splitlines()[:2]) + "\n")
    refused(folder, "is an input", "adapt", model, "--frames", one, "-o", state)
    refused(folder, "is an input", "adapt", model, "--frames", one, "-o", one)
    refused(folder, "is an input", "adapt", model, "--learn", train, "-o", folder / "train/train001.pgm")
    refused(folder, "is the data folder too", "reproduce", "nist", "--data", folder, "-o", folder)
    (folder / "here").mkdir()
    (folder / "here/index.html").write_text("a video")
    refused(folder, "is an input", "reproduce", "rigid", "--video", folder / "here/index.html", "--box", "1,1,20,20",
            "-o", folder / "here")


def what_cannot_be_written_is_told_first(folder):
    train = folder / "train.csv"
    for output in ("/dev/null", folder):
        refused(folder, "expected a file to write", "train", train, "-o", output)
        refused(folder, "expected a file to write", "train", train, "-o", folder / "m.sdm", "--checkpoint", output)
    os.mkfifo(folder / "pipe")
    refused(folder, "is not a regular file", "train", train, "-o", folder / "pipe")
    refused(folder, "pipe: not a file", "detect", folder / "pipe")
    (folder / "pipe").unlink()
    (folder / "mirror.txt").write_text("\n")
    done = raw("train", train, "-o", folder / "m.sdm", "--preset", "fast", "--mirror", folder / "mirror.txt")
    assert done.returncode == 1 and b"mirror.txt: no numbers" in done.stderr, done


def annotations_name_files_of_their_root_alone(folder):
    (folder / "secret.csv").write_text("file,x0,y0\n/etc/passwd,1,2\n")
    for words in (["convert", folder / "secret.csv", folder / "x.txt"], ["train", folder / "secret.csv", "-o", folder / "m.sdm"],
                  ["eval", "--truth", folder / "secret.csv", "-m", folder / "marks.sdm"]):
        refused(folder, "'/etc/passwd' lies outside of", *words, "--root", folder)
        refused(folder, "'/etc/passwd' lies outside of", "--root", folder, *words)
    run("convert", folder / "train.csv", folder / "inside.txt", "--root", folder)


def names_may_be_any_bytes(folder):
    where = os.fsencode(folder)
    train = folder / "train.csv"
    for words in (["train", train, "-o", where + b"/m\xff.sdm"],
                  ["pose", "train", "cube", "-o", where + b"/m\xff.sdm"],
                  ["train-detector", train, "-o", where + b"/m\xff.sdm"]):
        refused(folder, "m\\xff.sdm: the name is not UTF-8", *words)
    refused(folder, "expected UTF-8", "train", train, "-o", folder / "m.sdm", "--name", b"m\xff", code=2)
    named = where + b"/object\xff.csv"
    pathlib.Path(os.fsdecode(named)).write_text("1,0,0\n0,1,0\n0,0,1\n1,1,1\n0,0,0\n1,1,0\n")
    done = raw("pose", "train", named, "-o", folder / "object.sdm", "--samples", "200")
    assert done.returncode == 0, done
    assert "\ufffd" in json.loads(run("info", "--json", folder / "object.sdm").stdout)["header"]["provenance"]
    # What a file is called does not steer the terminal.
    for word in (b"\x1b[31mred", b"\xc2\x9b31m", b"a\rb"):
        done = raw("info", where + b"/" + word)
        assert done.returncode == 1 and not set(b"\x1b\x9b\r") & set(done.stderr), done
        # OpenCV has messages of its own.
        picture_file = where + b"/" + word + b".pgm"
        pathlib.Path(os.fsdecode(picture_file)).write_bytes(b"P5 -1 -1 255\n")
        for command in (["detect"], ["track"], ["follow", "--box", "1,1,20,20"]):
            done = raw(*command, picture_file)
            assert done.returncode == 1 and not set(b"\x1b\x9b\r") & set(done.stderr), done


def streams_may_be_full_or_closed(folder, model, video):
    picture_file = folder / "pictures" / "a.pgm"
    close = {number: (lambda number=number: os.close(number)) for number in (0, 1, 2)}
    with open("/dev/full", "wb") as full:
        assert raw("info", "nope", stderr=full).returncode == 1
        assert raw("nonsense", stderr=full).returncode == 2
        for words in (["info", model], ["info", "--json", model], ["models"], ["--help"], ["--version"],
                      ["detect", "--json", picture_file], ["describe", "man"],
                      ["track", video, "-m", model, "--box", "20,20,90,90", "--json", "-"]):
            done = raw(*words, stdout=full)
            assert done.returncode == 1 and b"stdout: cannot be written" in done.stderr, (words, done)
            done = raw(*words, stdout=None, preexec_fn=close[1])
            assert done.returncode == 1 and b"stdout: cannot be written" in done.stderr, (words, done)
    assert raw("info", "nope", stderr=None, preexec_fn=close[2]).returncode == 1
    assert raw("info", model, preexec_fn=close[0], stdin=None).returncode == 0

    # What is said lands in no file, whichever are closed.
    def close_all():
        for one in close.values():
            one()
    done = raw("pose", "train", "cube", "-o", folder / "cube.sdm", "--samples", "200", stdout=None, stderr=None,
               preexec_fn=close_all)
    assert done.returncode == 1, done  # the summary went nowhere
    run("info", folder / "cube.sdm")

    # Whoever reads may stop, and nothing is said of it.
    reader = subprocess.Popen([SDM, "describe", "man"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader.stdout.read(1)
    reader.stdout.close()
    assert reader.wait(60) in (0, -signal.SIGPIPE) and reader.stderr.read() == b"", reader.returncode


def a_full_disk_is_told_and_the_old_file_stays(folder, model, video):
    """A file may have so many bytes: the system refuses more, as a full disk does."""
    def limit(size):
        def apply():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return apply

    given = ["track", video, "-m", model, "--box", "20,20,90,90"]
    for option, name, size in (("-o", "full.mp4", 2000), ("--json", "full.jsonl", 500), ("--plot", "full.svg", 500)):
        for old in (None, b"old"):
            path = folder / name
            path.unlink(missing_ok=True)
            if old:
                path.write_bytes(old)
            before = set(content(folder))
            done = raw(*given, option, path, preexec_fn=limit(size))
            assert done.returncode == 1 and name.encode() in done.stderr, (name, done)
            assert (path.read_bytes() if old else None) == old and set(content(folder)) == before, name
    done = raw("pose", "train", "cube", "-o", folder / "full.sdm", "--samples", "200", preexec_fn=limit(1000))
    assert done.returncode == 1 and b"full.sdm: cannot write" in done.stderr, done
    assert not (folder / "full.sdm").exists()


def a_limit_of_memory_hangs_nothing(folder):
    """OpenBLAS asks for ever for what it does not get."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))
    done = raw("pose", "train", "cube", "-o", folder / "little.sdm", "--samples", "200", preexec_fn=limit,
               env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode in (0, 1, 127), done  # 127: the libraries alone are too large


def a_cut_picture_is_no_picture(folder):
    whole = (folder / "pictures" / "b.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[:len(whole) // 2])
    done = run("detect", "--json", folder / "cut.jpg", code=1)
    assert "cut.jpg: the picture is cut" in done.stderr and "faces" not in json.loads(done.stdout)[0], done
    if os.geteuid() != 0:
        (folder / "secret.jpg").write_bytes(whole)
        (folder / "secret.jpg").chmod(0)
        assert "Permission denied" in run("detect", folder / "secret.jpg", code=1).stderr


def a_signal_finishes_the_files(folder, model, frame):
    """An endless video on stdin; SIGTERM and SIGINT end it, and what was written can be read."""
    for number in (signal.SIGTERM, signal.SIGINT):
        video, lines = folder / f"stopped{number}.mp4", folder / f"stopped{number}.jsonl"
        program = subprocess.Popen(
            [SDM, "track", "-", "-m", model, "--box", "20,20,90,90", "-o", video, "--json", lines],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        fed = 0
        try:
            program.stdin.write(b"YUV4MPEG2 W%d H%d F25:1 Ip C420jpeg\n" % (SIZE, SIZE))
            for fed in range(2000):
                program.stdin.write(b"FRAME\n" + frame + bytes([128]) * (SIZE * SIZE // 2))
                program.stdin.flush()
                if fed == 60:
                    program.send_signal(number)
                if fed >= 60:
                    time.sleep(0.01)
        except BrokenPipeError:
            pass
        try:
            program.stdin.close()
        except BrokenPipeError:
            pass
        code, said, told = program.wait(60), program.stdout.read(), program.stderr.read()
        if b"stdin: cannot be read as a video" in told:  # an OpenCV without FFmpeg
            return
        assert code == 0 and fed < 1999, (number, code, said, told)
        count = len(lines_of(lines.read_text()))
        assert count > 0 and f"{count} frame".encode() in said, (number, count, said)
        again = run("track", video, "-m", model, "--box", "20,20,90,90", "--json", "-")
        assert len(lines_of(again.stdout)) == count, (number, count)


with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work).resolve()
    rng = random.Random(7)
    make_set(folder, "train", 40, rng)
    model = folder / "marks.sdm"
    run("train", folder / "train.csv", "--boxes", folder / "train_boxes.csv", "-o", model, "--preset", "fast",
        "--mirror", "none")
    frames = folder / "frames"
    frames.mkdir()
    for i in range(12):
        write_pgm(frames / f"{i:02}.pgm", picture(rng, placed(60 + i / 2, 60)), SIZE)
    video = folder / "video.mp4"
    run("track", frames, "-m", model, "--box", "20,20,90,90", "-o", video)
    inputs_stay(folder, model, video)
    make_set(folder, "dev", 4, rng)
    inputs_that_nobody_named_stay(folder, model)
    what_cannot_be_written_is_told_first(folder)
    annotations_name_files_of_their_root_alone(folder)
    names_may_be_any_bytes(folder)
    streams_may_be_full_or_closed(folder, model, video)
    a_full_disk_is_told_and_the_old_file_stays(folder, model, video)
    a_limit_of_memory_hangs_nothing(folder)
    a_cut_picture_is_no_picture(folder)
    a_signal_finishes_the_files(folder, model, picture(rng, placed(60, 60)))
print("ok")
