"""Plants lines in a copy of the tree: layering.py finds each that is forbidden, and no other.

    layering_test.py TREE
"""

import os
import shutil
import subprocess
import sys
import tempfile

import layering

# file, a line that must not be there, a word of the rule
PLANTED = [
    ("include/sdm/base/error.h", '#include "sdm/io/tensor.h"', "base may know no other room"),
    ("src/io/tensor.cpp", '#include "sdm/linear/ridge.h"', "io may know base"),
    ("src/linear/ridge.cpp", '#include "sdm/image/hog.h"', "linear may know base"),
    ("include/sdm/image/hog.h", '#include "sdm/descent/solve.h"', "image may know base"),
    ("src/descent/solve.cpp", '#include "sdm/image/hog.h"', "descent may know"),
    ("src/descent/solve.cpp", "#include <opencv2/core.hpp>", "OpenCV stays in"),
    ("src/pose/posit.cpp", '#include "sdm/face/shape.h"', "pose may know"),
    ("include/sdm/face/model.h", '#include "sdm/face/train/trainer.h"', "face may know"),
    ("src/face/tracker.cpp", '#  include "face/train/compact.h"', "face may know"),
    ("src/face/tracker.cpp", '#include "sdm/face/data/boxes.h"', "face may know"),
    ("src/face/aligner.cpp", '#include "sdm/render/mesh.h"', "face may know"),
    ("src/face/train/trainer.cpp", '#include "sdm/render/mesh.h"', "face/train may know"),
    ("src/render/mesh.cpp", '#include "sdm/face/shape.h"', "render may know"),
    ("src/face/data/boxes.cpp", '#include "sdm/face/train/trainer.h"', "face/data may know"),
    ("src/rigid/train/train_tracker.cpp", '#include "sdm/pose/pose.h"', "rigid/train may know"),
    ("src/rigid/tracker.cpp", "#include <mutex>", "no threads"),
    ("src/rigid/tracker.cpp", "std::thread runner;", "no threads"),
    ("src/pose/estimator.cpp", '#include "sdm/base/thread_pool.h"', "no threads"),
    ("src/face/model.cpp", "#include <filesystem>", "only file.cpp"),
    ("include/sdm/pose/file.h", "#include <fstream>", "only file.cpp"),
    ("include/sdm/pose/pose.h", '#include "pose/check.h"', "public headers only"),
    ("include/sdm/io/model.h", "#include <nlohmann/json.hpp>", "Eigen and the standard library"),
    ("src/face/train/trainer.cpp", "#include <cblas.h>", "only linear"),
    ("src/image/hog.cpp", '#include "scalar.h"', "begins with a room"),
    ("src/new_room/new.cpp", '#include "sdm/base/error.h"', "new_room"),
    ("report/plot.cpp", "#include <opencv2/core.hpp>", "OpenCV stays in"),
    ("report/plot.cpp", '#include "adapters/opencv/draw.h"', "report may know"),
    ("report/plot.cpp", '#include "sdm/opencv/draw.h"', "report may know"),
    ("src/face/model.cpp", '#include "sdm/opencv/draw.h"', "face may know"),
    ("adapters/opencv/draw.cpp", '#include "report/plot.h"', "adapters may know"),
    ("apps/sdm/pose.cpp", '#include "experiments/nist/problem.h"', "apps may know"),
    ("apps/sdm/pose.cpp", '#include "experiments/registry.h"', "apps may know"),
    ("apps/sdm/reproduce.cpp", '#include "experiments/nist/problem.h"', "apps may know"),
    ("apps/sdm/pose.cpp", '#include "pose/state.h"', "public headers"),
    ("experiments/pose/pose.cpp", '#include "experiments/nist/problem.h"', "one another"),
    ("experiments/registry.cpp", '#include "experiments/nist/problem.h"', "one another"),
    ("experiments/pose/pose.cpp", '#include "apps/sdm/output.h"', "experiments may know"),
    ("bench/pose_bench.cpp", '#include "experiments/registry.h"', "bench may know"),
    ("examples/pose.cpp", '#include "adapters/opencv/image.h"', "examples may know"),
    ("examples/pose.cpp", "#include <opencv2/core.hpp>", "OpenCV stays in"),
    ("src/c/face.cpp", '#include "sdm/face/train/trainer.h"', "c may know"),
    ("bindings/python/python.c", '#include "sdm/face/model.h"', "bindings may know"),
]
ALLOWED = [
    ("src/c/train/face.cpp", '#include "sdm/face/train/trainer.h"'),
    ("src/rigid/tracker.cpp", "// std::thread would be of no use here"),
    ("src/face/file.cpp", "#include <fstream>"),
    ("include/sdm/descent/cascade.h", "#include <filesystem>"),
    ("src/face/train/trainer.cpp", "#include <thread>"),
    ("experiments/pose/pose.cpp", '#include "experiments/photographs.h"'),
    ("examples/track_face.cpp", "#include <opencv2/core.hpp>"),
    ("tests/pose/pose_test.cpp", '#include "experiments/nist/problem.h"'),
    ("bench/pose_bench.cpp", '#include "pose/state.h"'),
    ("bindings/python/python.c", '#include "sdm/c.h"'),
]


def plant(tree, path, line):
    """Adds a line at a file's end and gives its number."""
    whole = os.path.join(tree, path)
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "a+", encoding="utf-8") as file:
        file.write(line + "\n")
        file.seek(0)
        return len(file.read().splitlines())


def copy_sources(tree, to):
    for path in layering.files(tree):
        whole = os.path.join(to, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        shutil.copyfile(os.path.join(tree, path), whole)


wrong = []
with tempfile.TemporaryDirectory() as tree:
    copy_sources(sys.argv[1], tree)
    before = layering.mistakes(tree)
    expected = []
    for path, line, rule in PLANTED:
        expected.append((f"{path}:{plant(tree, path, line)}: {line}\n", rule))
    for path, line in ALLOWED:
        plant(tree, path, line)
    found = [one for one in layering.mistakes(tree) if one not in before]
    for start, rule in expected:
        if not any(one.startswith(start) and rule in one for one in found):
            wrong.append(f"not found: {start}    {rule}")
    for one in found:
        if not any(one.startswith(start) for start, _ in expected):
            wrong.append(f"found, though it is allowed: {one}")
    run = subprocess.run([sys.executable, layering.__file__, tree], capture_output=True, text=True)
    if run.returncode != 1 or not all(one in run.stdout for one in found):
        wrong.append(f"it ended with {run.returncode}, expected 1 and every line:\n{run.stdout}")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
