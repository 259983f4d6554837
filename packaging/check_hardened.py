#!/usr/bin/env python3
"""Whether a program was compiled and linked with SDM_HARDEN: stack protector, fortified calls, checks of the standard
library, control-flow protection, full RELRO with BIND_NOW, at any address.

usage: check_hardened.py PROGRAM
"""
import pathlib
import platform
import subprocess
import sys


def readelf(*options):
    return subprocess.run(["readelf", "--wide", *options, sys.argv[1]], capture_output=True, text=True, check=True).stdout


header, segments, dynamic, symbols = (readelf(option) for option in ("-h", "-l", "-d", "--dyn-syms"))
found = {
    "any address (PIE)": "DYN (" in header,
    "RELRO": "GNU_RELRO" in segments,
    "BIND_NOW": "BIND_NOW" in dynamic or "NOW" in dynamic.split("FLAGS_1")[-1].splitlines()[0],
    "a stack that is not executable": any("GNU_STACK" in line and " RW " in line for line in segments.splitlines()),
    "-fstack-protector-strong": "__stack_chk_fail" in symbols,
    "_FORTIFY_SOURCE": "_chk@" in symbols,
    "_GLIBCXX_ASSERTIONS": "__glibcxx_assert_fail" in symbols,
}
if platform.machine() == "x86_64":
    # The linker's own mark needs a C library that has it too: every function that can be jumped to begins so.
    found["-fcf-protection"] = pathlib.Path(sys.argv[1]).read_bytes().count(b"\xf3\x0f\x1e\xfa") > 1000
missing = [name for name, is_there in found.items() if not is_there]
if missing:
    sys.exit(f"{sys.argv[1]}: built without {', '.join(missing)}")
print(f"{sys.argv[1]}: {', '.join(found)}")
