"""libsdm.so gives to the world what include/sdm/c.h declares, all of it and nothing else.

    symbols_test.py LIBRARY HEADER
"""

import re
import subprocess
import sys


def main(library, header):
    with open(header, encoding="utf-8") as file:
        declared = set(re.findall(r"SDM_API[^;(]*?\b(sdm_\w+)\(", file.read()))
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    # The version's own name is a symbol too, of type A.
    given = {line.split()[2].split("@")[0] for line in listed.splitlines() if line.split()[1] != "A"}
    for name in sorted(declared - given):
        print(f"declared and not there: {name}")
    for name in sorted(given - declared):
        print(f"there and not declared: {name}")
    wrong = declared ^ given
    flags = subprocess.run(["readelf", "-dlW", library], check=True, capture_output=True, text=True).stdout
    for what in ("BIND_NOW", "GNU_RELRO"):
        if what not in flags:
            print(f"linked without {what}")
            wrong.add(what)
    if re.search(r"GNU_STACK\s.*RWE", flags):
        print("its stack can be executed")
        wrong.add("stack")
    return 1 if wrong or not declared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
