"""Runs the reader that docs/model-file.md shows on a file that the library wrote.

usage: read_model_test.py PROGRAM_THAT_WRITES_A_MODEL PAGE
"""
import os
import re
import subprocess
import sys
import tempfile

program, page = sys.argv[1:]
with open(page, encoding="utf-8") as text:
    source = re.search(r"```python\n(.*?)```", text.read(), re.S).group(1)
exec(source)  # defines read_model(path)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "sample.sdm")
    subprocess.run([program, path], check=True)
    kind, header, tensors = read_model(path)  # noqa: F821

by_column = [1, 0.5, -0.25, -2, 4, 8]
assert kind == "cascade", kind
assert header["stages"] == 2 and header["deep"] == {"a": [1, 2.5]}, header
for name in ("f64", "f32", "f16"):
    assert tensors[name] == ((3, 2), by_column), (name, tensors[name])
assert tensors["i32"] == ((3,), [7, -7, 1 << 30])
assert tensors["i64"] == ((2,), [-1, 1 << 40])
assert tensors["u8"] == ((3,), [0, 128, 255])
assert tensors["empty"] == ((0, 5), [])
assert tensors["number"] == ((), [3.5])
scales = tensors["q.scale"][1]
for i, (q, x) in enumerate(zip(tensors["q"][1], by_column)):
    assert abs(q * scales[i // 3] - x) <= 0.5001 * scales[i // 3], (i, q, x)
