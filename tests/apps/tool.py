"""The tool under test: the program that the test's first argument names."""
import json
import pathlib
import subprocess
import sys

SDM = str(pathlib.Path(sys.argv[1]).resolve())


def run(*words, code=0, cwd=None):
    """Runs `sdm WORDS`, which must end with this exit code."""
    done = subprocess.run([SDM, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def write_pgm(path, pixels, width):
    path.write_bytes(b"P5 %d %d 255\n" % (width, len(pixels) // width) + pixels)


def lines_of(text):
    """What --json writes of a video: an object a line."""
    return [json.loads(line) for line in text.splitlines()]
