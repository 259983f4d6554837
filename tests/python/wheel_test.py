"""The wheel is built without an index, installs into a fresh environment beside nothing but numpy, and finds what it
needs by itself.

    wheel_test.py ROOT LIBRARY [TOOL]
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from need import SKIPPED

PROGRAM = """
import importlib.util, os, sdm, numpy as np
assert sdm.__file__.startswith({folder!r}), sdm.__file__
assert sdm.detect(np.zeros((80, 100), np.uint8)) == []
assert sdm.detect(np.zeros((80, 100), np.uint8), free=True) == []
assert sdm.models.names() == {models!r}, sdm.models.names()
assert all(sdm.models.find(name).startswith({folder!r}) for name in sdm.models.names())
assert sdm.learn(lambda x: x * np.arange(4.0), [1], [2], noise=0.01, samples=500, calibration=300).states == 1
assert importlib.util.find_spec("PIL") is None and importlib.util.find_spec("scipy") is None
open("photo.jpg", "w").close()
try:
    sdm.detect("photo.jpg")
except sdm.Error as error:
    assert "Pillow" in str(error), error
"""

# Debian's numpy serves any Python of the same ABI.
DEBIAN = "/usr/lib/python3/dist-packages"


def said(python, program, path=""):
    """What a program prints, or None if it fails."""
    ran = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, cwd="/"
    )
    return ran.stdout.strip() if ran.returncode == 0 else None


def pythons():
    """The different Pythons of this machine that have numpy, and where they have it from."""
    found = {}
    names = ["/usr/bin/python3", shutil.which("python3"), sys.executable]
    names += [shutil.which(f"python3.{minor}") for minor in range(9, 20)]
    for name in names:
        for path in ("", DEBIAN):
            numpy = said(name, "import numpy; numpy.zeros(1); print(numpy.__path__[0])", path) if name else None
            if numpy:
                found.setdefault(said(name, "import sys; print(sys.version)"), (name, numpy))
                break
    return list(found.values())


def environment_with(python, numpy, place):
    """A virtual environment that has numpy and nothing else; None where this Python makes none."""
    if subprocess.run([python, "-m", "venv", place], capture_output=True).returncode != 0:
        return None
    (packages,) = glob.glob(os.path.join(place, "lib/python3.*/site-packages"))
    for part in glob.glob(numpy) + glob.glob(numpy + ".libs") + glob.glob(numpy + "-*info"):
        os.symlink(part, os.path.join(packages, os.path.basename(part)))
    return os.path.join(place, "bin/python")


def main(root, library, tool=""):
    builders = [p for p in ("/usr/bin/python3", sys.executable) if said(p, "import build, wheel") is not None]
    if not builders:
        print("skipped: python3-build and python3-wheel are not installed")
        return SKIPPED
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SDM_", "PYTHON"))}
    environment["SOURCE_DATE_EPOCH"] = "1700000000"
    models = sorted(name[:-4] for name in os.listdir(os.path.join(root, "models")) if re.fullmatch(r"[^.]+\.sdm", name))
    with tempfile.TemporaryDirectory() as folder:
        wheels = []
        for umask in ("022", "077"):
            into = os.path.join(folder, umask)
            os.mkdir(into)
            command = [os.path.join(root, "bindings/python/wheel.sh"), builders[0], library, into]
            subprocess.run(["sh", "-c", f'umask {umask} && exec "$@"', "sh", *command], check=True, env=environment)
            wheels += glob.glob(os.path.join(into, "sdm-*-py3-none-*.whl"))
        contents = []
        for wheel in wheels:
            with open(wheel, "rb") as file:
                contents.append(file.read())
        assert len(wheels) == 2 and contents[0] == contents[1], "built twice, the wheel has other bytes"
        wheel = wheels[0]
        with zipfile.ZipFile(wheel) as packed:
            inside = packed.namelist()
        for name in ["sdm/py.typed", "sdm/_lib/libsdm.so", *(f"sdm/models/{model}.{end}" for model in models for end in ("sdm", "md"))]:
            assert name in inside, f"{name} is not in the wheel"
        size = os.path.getsize(wheel)
        print(f"{os.path.basename(wheel)}: {size / 1e6:.2f} MB")
        assert size <= 8e6, "the wheel is larger than 8 MB"
        asked = pythons()
        if not asked:
            print("skipped: no Python of this machine has numpy")
            return SKIPPED
        for number, (python, numpy) in enumerate(asked):
            place = os.path.join(folder, f"environment{number}")
            own = environment_with(python, numpy, place)
            if own is None:
                print(f"skipped for {python}: it has no venv (Debian: python3-venv)")
                continue
            subprocess.run([own, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True, env=environment)
            subprocess.run([own, "-c", PROGRAM.format(folder=place, models=models)], check=True, env=environment, cwd=folder)
            if tool:
                told = subprocess.run(
                    [own, "-m", "sdm", "models"], check=True, capture_output=True, text=True, env={**environment, "SDM_TOOL": tool}
                ).stdout
                assert all(model in told for model in models), told
            bare = subprocess.run(
                [own, "-m", "sdm", "models"], capture_output=True, text=True, env={**environment, "PATH": "/nonexistent"}
            )
            assert bare.returncode == 1 and "Debian package" in bare.stderr, bare
            print(f"imported by {python}: {said(own, 'import sys; print(sys.version)')}, numpy {said(own, 'import numpy; print(numpy.__version__)')}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
