"""Every notebook of docs/notebooks runs from the top to the end and shows a picture.

    notebooks_test.py ROOT [FOLDER]     FOLDER: where the run notebooks are kept
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

from need import SKIPPED, need

need("numpy", "nbconvert", "ipykernel", "matplotlib")


def main(root, folder=None):
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or temporary
        environment = {**os.environ, "JUPYTER_DATA_DIR": temporary, "IPYTHONDIR": temporary, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        notebooks = sorted(glob.glob(os.path.join(root, "docs/notebooks/*.ipynb")))
        assert len(notebooks) >= 3, notebooks
        subprocess.run(
            [sys.executable, "-m", "ipykernel", "install", "--prefix", temporary, "--name", "python3"],
            check=True, capture_output=True, env=environment,
        )
        environment["JUPYTER_PATH"] = os.path.join(temporary, "share/jupyter")
        for path in notebooks:
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            assert not any(cell.get("outputs") for cell in stored["cells"]), f"{path} is stored with its outputs"
            subprocess.run(
                [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder, path],
                check=True, env=environment,
            )
            with open(os.path.join(folder, os.path.basename(path)), encoding="utf-8") as file:
                outputs = [o for cell in json.load(file)["cells"] for o in cell.get("outputs", [])]
            pictures = [o for o in outputs if "image/png" in o.get("data", {})]
            assert pictures, f"{path} shows no picture"
            print(f"{os.path.basename(path)}: {len(pictures)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
