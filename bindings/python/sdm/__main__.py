"""`python -m sdm`: the command-line tool, with the package's models."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import List, Optional

from . import models


def tool() -> Optional[str]:
    """The tool: $SDM_TOOL, that of the package, or the system's."""
    own = Path(__file__).parent / "_lib" / "sdm"
    for candidate in (os.environ.get("SDM_TOOL"), str(own)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    return shutil.which("sdm")


def main(arguments: List[str]) -> int:
    program = tool()
    if program is None:
        print("sdm: the command-line tool is not installed (Debian package: sdm)", file=sys.stderr)
        return 1
    environment = dict(os.environ)
    package = Path(__file__).parent / "models"
    if "SDM_MODELS" not in environment and package.is_dir():
        environment["SDM_MODELS"] = str(package)
    os.execve(program, [program, *arguments], environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
