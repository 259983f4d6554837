"""usage: refused_test.py SOURCE COMPILER ARGUMENT...

The program compiles as it is, and each of its variants is refused with a sentence that names the member."""
import subprocess
import sys

source, compiler, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
EXPECTED = {
    "WEIGHT": "`weight` of this problem cannot be called as",
    "GROUP": "`group` of this problem cannot be called as",
    "ERROR": "`error` of this problem cannot be called as",
    "STEP": "a problem with its own moves needs both",
    "OLD_STEP": "a problem with its own moves needs both",
    "DELTA_SIZE": "a problem with `delta_size` needs `difference` and `step` too",
    "SYMMETRY": "`symmetry` of this problem cannot be called as",
    "LEARNED": "`learned` of this problem cannot be called as",
}


def compiled(*more):
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *arguments, *more, source],
                          capture_output=True, text=True)


plain = compiled()
assert plain.returncode == 0, plain.stderr
for name, sentence in EXPECTED.items():
    refused = compiled(f"-DREFUSED_{name}")
    assert refused.returncode != 0, f"{name} compiles"
    assert sentence in refused.stderr, refused.stderr
print(f"{len(EXPECTED)} programs refused as expected")
