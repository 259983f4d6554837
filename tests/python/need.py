"""What a test needs: where it is not installed the test ends as skipped and says so."""

import importlib
import sys

SKIPPED = 77


def need(*modules):
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(f"skipped: {error} (Debian: python3-{name.split('.')[0].lower()})")
            sys.exit(SKIPPED)
