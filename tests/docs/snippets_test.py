"""Every line of C++ in these pages stands in an example, which is compiled and run as a test.

    snippets_test.py ROOT

Prints each line that does not, and ends with 1 if there is one.
"""

import os
import re
import sys

PAGES = ["docs/own-problem.md", "docs/recipes.md"]


def squeezed(line):
    """A line without its indentation and without spaces that a formatter chooses."""
    return re.sub(r"\s+", "", line)


def main(root):
    folder = os.path.join(root, "examples")
    code = ""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".cpp"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                code += squeezed(file.read())
    missing = 0
    for page in PAGES:
        with open(os.path.join(root, page), encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"```cpp\n(.*?)```", text, re.S)
        if not blocks:
            print(f"{page}: no C++ found")
            missing += 1
        for block in blocks:
            for line in block.splitlines():
                if squeezed(line) and squeezed(line) not in code:
                    print(f"{page}: not in any example: {line.strip()}")
                    missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
