"""Reads every #include of a source tree and tells which room knows what it must not.

    layering.py TREE

Prints each offending line as file:line with the rule it breaks, and ends with 1 if there is one.
"""

import os
import re
import sys

# The library: for each room the other rooms it may know.
ROOMS = {
    "base": "",
    "io": "base",
    "linear": "base",
    "image": "base",
    "descent": "base io linear",
    "rigid": "base io image descent",
    "pose": "base io image descent",
    "face": "base io image descent pose",
    "render": "base io image",
    # Learning and data know the room they are in and what it knows.
    "descent/train": "base io linear descent",
    "rigid/train": "base io image descent rigid descent/train linear",
    "pose/train": "base io image descent pose descent/train linear",
    "face/train": "base io image descent pose face descent/train pose/train linear",
    "face/data": "base io image descent pose face",
    # The C interface, apart by the same line: running models, and training them.
    "c": "base io image descent rigid pose face sdm/c.h",
    "c/train": "base io image descent rigid pose face descent/train rigid/train pose/train face/train face/data c sdm/c.h",
}
# The rooms that run a model: they compile where there are no threads and no files.
RUNNING = "io image descent rigid pose face".split()

# The folders around the library: for each the others it may know. All of them know the library.
AROUND = {
    "adapters": "",
    "report": "",
    "apps": "adapters report",
    "experiments": "adapters report",
    "bench": "adapters report",
    "examples": "",
    "tests": "adapters report apps experiments bench",
}
# Single files that may include more than their folder.
EXCEPTIONS = {
    "apps/sdm/reproduce.cpp": ["experiments/registry.h"],
    "examples/track_face.cpp": ["sdm/opencv/", "opencv2/"],
}
MAY_INCLUDE_OPENCV = "adapters apps experiments bench tests".split()
MAY_SEE_INSIDE_THE_LIBRARY = "bench tests".split()  # the headers of src/

THREADS = "thread mutex shared_mutex condition_variable future sdm/base/thread_pool.h".split()
FILES = "fstream cstdio fcntl.h unistd.h sys/mman.h sys/stat.h".split()
# A header may declare what takes a path.
PATHS = "filesystem sdm/io/file.h".split()

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
THREAD_NAME = re.compile(r"\bstd::(j?thread|async|mutex)\b")


def room_of_include(name):
    """What an include names: a room of the library, a folder around it, or None for others' files.
    The second value tells whether the header is public."""
    folder = os.path.dirname(name)
    if name in ("sdm/sdm.h", "sdm/c.h"):
        return name, True
    if folder == "sdm/opencv":  # as the adapter is installed
        return "adapters", True
    if folder.startswith("sdm/"):
        return folder[len("sdm/") :], True
    if folder in ROOMS:
        return folder, False
    top = name.split("/")[0]
    return (top, True) if top in AROUND else (None, True)


def why_not_in_room(path, room, name):
    """The rule that a line of the library breaks, or None."""
    known, is_public = room_of_include(name)
    if room not in ROOMS:
        return f"no rule knows the room {room}: tests/layering/layering.py wants one"
    may_know = ROOMS[room].split()
    if known is not None and known != room and known not in may_know:
        return f"{room} may know {', '.join(may_know) or 'no other room'}"
    if name.startswith("opencv2/"):
        return "OpenCV stays in " + ", ".join(MAY_INCLUDE_OPENCV)
    if path.startswith("include/") and not is_public:
        return "a public header may include public headers only"
    if path.startswith("include/") and known is None and re.search(r"[/.]", name):
        if not name.startswith("Eigen/"):
            return "a public header may include Eigen and the standard library, no other"
    if name == "cblas.h" and room != "linear":
        return "only linear may know BLAS"
    if name == "mpi.h" and room != "descent/train":
        return "only descent/train may know MPI"
    if room in RUNNING:
        if name in THREADS:
            return f"{room} runs a model, which needs no threads"
        is_file = os.path.basename(path) == "file.cpp" or path.startswith("src/io/platform.")
        is_public = path.startswith("include/")
        if not is_file and (name in FILES or (name in PATHS and not is_public)):
            return f"of {room} only file.cpp (and io/platform) may know the file system"
    return None


def why_not_around(path, top, name):
    """The same for a line of another folder."""
    if any(name.startswith(more) for more in EXCEPTIONS.get(path, [])):
        return None
    known, is_public = room_of_include(name)
    if name.startswith("opencv2/") and top not in MAY_INCLUDE_OPENCV:
        return "OpenCV stays in " + ", ".join(MAY_INCLUDE_OPENCV)
    if known in AROUND:
        if known != top and known not in AROUND[top].split():
            return f"{top} may know {', '.join(['the library', *AROUND[top].split()])}"
        own, other = os.path.dirname(path), os.path.dirname(name)
        if top == known == "experiments" and other not in (top, own):
            return "experiments do not know one another, only what lies in experiments/ itself"
    elif not is_public and top not in MAY_SEE_INSIDE_THE_LIBRARY:
        return f"{top} may know the library's public headers"
    return None


def files(tree):
    """All sources, by their path in the tree."""
    for top in ("include/sdm", "src", "bindings", *AROUND):
        for folder, folders, names in os.walk(os.path.join(tree, top)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".h", ".c", ".cpp", ".cpp.in")):
                    yield os.path.relpath(os.path.join(folder, name), tree).replace(os.sep, "/")


def why_not(path, quote, name):
    top = path.split("/")[0]
    if quote == '"' and top != "tests" and room_of_include(name)[0] is None:
        return "an include in quotes begins with a room or a folder of the tree"
    if top == "bindings":
        return None if name == "sdm/c.h" or quote == "<" else "bindings may know sdm/c.h"
    if top in AROUND:
        return why_not_around(path, top, name)
    room = os.path.dirname(path).removeprefix("include/sdm").removeprefix("src").strip("/")
    if room == "":  # sdm.h and c.h; the one knows the whole library
        known, _ = room_of_include(name)
        return "the library knows nothing around it" if known in AROUND else None
    return why_not_in_room(path, room, name)


def mistakes(tree):
    """Every line that breaks a rule, as text."""
    found = []
    for path in files(tree):
        with open(os.path.join(tree, path), encoding="utf-8") as source:
            lines = source.read().splitlines()
        room = os.path.dirname(path).removeprefix("include/sdm/").removeprefix("src/")
        for number, line in enumerate(lines, 1):
            include = INCLUDE.match(line)
            rule = why_not(path, *include.groups()) if include else None
            if room in RUNNING and THREAD_NAME.search(line.split("//")[0]):
                rule = f"{room} runs a model, which needs no threads"
            if rule:
                found.append(f"{path}:{number}: {line.strip()}\n    {rule}")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        sys.exit("usage: layering.py TREE, where TREE has a folder src")
    wrong = mistakes(sys.argv[1])
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
