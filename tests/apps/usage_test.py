"""What a user sees after a mistake: an exit code, and one sentence that names the thing. And the manual
page and the completion know every command.

usage: usage_test.py SDM
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SDM = str(pathlib.Path(sys.argv[1]).resolve())
FAILED, USAGE = 1, 2

# The words after `sdm`, the exit code, and what the message must say.
MISTAKES = [
    ("", USAGE, "Usage: sdm"),
    ("nonsense", USAGE, "nonsense (commands: "),
    ("--nonsense", USAGE, "--nonsense"),
    ("detect", USAGE, "IMAGES is required\nTry: sdm detect --help"),
    ("detect nothere.jpg", FAILED, "nothere.jpg: no such file"),
    ("detect junk.jpg", FAILED, "junk.jpg: not a picture"),
    ("detect junk.jpg --model junk.sdm", FAILED, "junk.sdm: not a model file"),
    ("detect folder", FAILED, "no picture in the folders"),
    ("detect junk.jpg --detector yolo", FAILED, "'yolo', expected one of"),
    ("detect junk.jpg --min-score abc", USAGE, "abc not in range 0"),
    ("detect junk.jpg --min-size 0", USAGE, "--min-size: 0, expected a positive number"),
    ("detect junk.jpg --min-size small", USAGE, "small, expected a positive number"),
    ("detect junk.jpg -o out", USAGE, "--output requires --pts"),
    ("detect junk.jpg --detector-offset 0 0 0", USAGE, "SCALE is 0"),
    ("detect junk.jpg --detector junk.sdm", FAILED, "junk.sdm: not a model file"),
    ("detect junk.jpg --detector junk.xml", USAGE, "junk.xml: how its boxes lie is not known"),
    ("detect junk.jpg --detector nothere.xml --detector-offset 0.5 0 0", FAILED, "nothere.xml: not a detector"),
    ("detect junk.jpg --boxes boxes.csv --detector sdm", FAILED, "junk.jpg: not a picture"),
    ("detect junk.jpg --boxes boxes.csv --detector any.onnx", FAILED, "junk.jpg: not a picture"),
    ("detect junk.jpg --min-size 1e10", FAILED, "the smallest face is 10000000000 px"),
    ("detect junk.jpg --min-size 1e10 --detector haar_alt2", FAILED, "the smallest face is 10000000000 px"),
    ("detect junk.jpg -m face68", FAILED, "junk.jpg: not a picture"),
    ("detect junk.jpg --detector nothere.onnx", FAILED, "nothere.onnx: no such file"),
    ("detect junk.jpg --min-score 2", USAGE, "2 not in range 0"),
    ("detect junk.jpg -m nosuch", FAILED, "nosuch: cannot open"),
    ("detect junk.jpg -m face-detector", FAILED, "detector"),
    ("convert", USAGE, "FROM is required"),
    ("convert nothere.csv x.tps", FAILED, "nothere.csv: cannot be opened"),
    ("convert one.csv x.jpg", FAILED, "x.jpg: '.jpg' tells no format to write"),
    ("convert one.csv one.csv", FAILED, "one.csv: is an input, which would be overwritten"),
    ("convert one.csv x.tps", FAILED, "junk.jpg: not a picture"),
    ("reproduce pose --set a=b", USAGE, "--set is for faces or for tracking"),
    ("train-detector", USAGE, "ANNOTATIONS is required"),
    ("train-detector nothere.csv -o x.sdm", FAILED, "nothere.csv: cannot be opened"),
    ("train-detector bad.csv -o x.sdm --cells 1", FAILED, "1 cells a window, expected 3 to 32"),
    ("track rtsp://127.0.0.1:1/none", FAILED, "rtsp://127.0.0.1:1/none: cannot be opened; this OpenCV"),
    ("train", USAGE, "--output is required"),
    ("train -o x.sdm", USAGE, "Either ANNOTATIONS or --rendered is required"),
    ("train bad.csv --rendered 9 --ict folder -o x.sdm", USAGE, "Either ANNOTATIONS or --rendered"),
    ("render -o folder", USAGE, "--ict is required"),
    ("render --ict nothere -o drawn", FAILED, "generic_neutral_mesh.obj: cannot be opened"),
    ("train nothere.csv -o x.sdm", FAILED, "nothere.csv: cannot be opened"),
    ("train empty.csv -o x.sdm", FAILED, "empty.csv: no face in it"),
    ("train bad.csv -o x.sdm", FAILED, "bad.csv:2: 1 numbers, expected 2"),
    ("train bad.csv -o folder", FAILED, "folder: is a folder, expected a file"),
    ("train bad.csv -o x.sdm --plot folder", FAILED, "folder: is a folder, expected a file"),
    ("train one.csv -o x.sdm", FAILED, "one.csv: 1 annotated picture, expected at least 4"),
    ("train bad.csv -o x.sdm --preset best", USAGE, "best not in {accurate,fast,paper}"),
    ("train bad.csv -o x.sdm --seed -3", USAGE, "-3, expected 0 or more"),
    ("eval --truth empty.csv", USAGE, "eval needs --model or --predictions"),
    ("eval --truth empty.csv -p empty.csv --score", USAGE, "--score requires --model"),
    ("eval --truth empty.csv -p empty.csv --save-boxes x", USAGE, "--save-boxes requires --model"),
    ("eval --truth empty.csv -p empty.csv --save-predictions x", USAGE, "predictions requires --model"),
    ("eval --truth one.csv -m name=", USAGE, "--model 'name=': no path in it"),
    ("eval --truth one.csv -m face68 --detector junk.sdm", FAILED, "junk.sdm: not a model file"),
    ("eval --truth one.csv -m face68 --detector nothere.onnx", FAILED, "nothere.onnx: no such file"),
    ("eval --truth one.csv -m face68 --detector junk.xml", USAGE, "junk.xml: how its boxes lie is not known"),
    ("eval --truth one.csv -m face68 --detector sdm", FAILED, "face68: no prediction for any"),
    ("follow empty.mp4 --box 1,2,3,4", FAILED, "empty.mp4: cannot be read as a video"),
    ("follow nothere.mp4 --box 1,2,3,4", FAILED, "nothere.mp4: there is no such file"),
    ("follow empty.mp4", USAGE, "follow needs --box"),
    ("info nothere", FAILED, "nothere: cannot open"),
    ("info folder", FAILED, "folder: is a folder"),
    ("info junk.sdm", FAILED, "junk.sdm: not a model file"),
    ("pose", USAGE, "subcommand is required"),
    ("pose train nothere.obj -o x.sdm", FAILED, "nothere.obj: cannot be opened"),
    ("pose train cube -o x.sdm --points -3", USAGE, "-3, expected 0 or more"),
    ("pose estimate cube.sdm typo.csv", FAILED, 'typo.csv:1: "1o", expected a number'),
    ("pose estimate cube.sdm heading.csv", FAILED, "heading.csv: no image points"),
    ("reproduce nothing", FAILED, '"nothing", expected one of'),
    ("reproduce analytic -o junk.sdm", FAILED, "junk.sdm"),
    ("track empty.mp4 --detector nothere.onnx", FAILED, "nothere.onnx: no such file"),
    ("track empty.mp4 --detector junk.xml", USAGE, "junk.xml: how its boxes lie is not known"),
    ("track empty.mp4 --detector nothere.xml --detector-offset 0.5 0 0", FAILED, "nothere.xml: not a detector"),
    ("track empty.mp4 --threshold 2", USAGE, "2 not in range 0.0"),
    ("reproduce analytic --threads -1", USAGE, "-1, expected 0 or more"),
]


def run(*words):
    return subprocess.run([SDM, *words], capture_output=True, text=True, timeout=60)


def mistakes_are_told():
    for line, code, said in MISTAKES:
        done = run(*line.split())
        assert done.returncode == code, (line, done.returncode, done.stderr)
        assert said in done.stderr, (line, done.stderr)
        assert not done.stdout, (line, done.stdout)
        for noise in ("terminate", "what()", "moov", "[ WARN"):
            assert noise not in done.stderr, (line, done.stderr)
        assert not pathlib.Path("x.sdm").exists(), line


def descriptions_are_whole():
    commands = re.findall(r"^  ([\w-]+) {2,}", run("--help").stdout.split("Subcommands:")[1], re.M)
    assert {"detect", "models", "train", "train-detector", "reproduce"} <= set(commands), commands
    man, completion = run("describe", "man").stdout, run("describe", "bash").stdout
    for command in commands:
        assert '.SS "sdm ' + command.replace("-", "\\-") in man, command
        for option in re.findall(r"--([a-z][a-z-]+)", run(command, "--help").stdout.split("Examples:")[0]):
            if option == "help":
                continue
            assert f"--{option}" in completion, (command, option)
            assert "\\-\\-" + option.replace("-", "\\-") in man, (command, option)
    pathlib.Path("completion").write_text(completion + """
    COMP_WORDS=(sdm tr); COMP_CWORD=1; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm info --js); COMP_CWORD=2; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm pose est); COMP_CWORD=2; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm reproduce headp); COMP_CWORD=2; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm reproduce pose --qu); COMP_CWORD=3; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm train x.csv --preset ""); COMP_CWORD=4; _sdm; echo "${COMPREPLY[@]}"
    COMP_WORDS=(sdm train x.csv --preset fast ju); COMP_CWORD=5; _sdm; echo "${COMPREPLY[@]}"
    """)
    words = subprocess.run(["bash", "completion"], capture_output=True, text=True, check=True).stdout
    first, *rest, last = words.splitlines()
    assert "train" in first.split(), words
    assert rest == ["--json", "estimate", "headpose", "--quick", "accurate fast paper"], words
    assert sorted(last.split()) == ["junk.jpg", "junk.sdm"], words


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    pathlib.Path("folder").mkdir()
    pathlib.Path("face68").mkdir()  # does not hide the model of this name
    pathlib.Path("junk.sdm").write_text("junk")
    pathlib.Path("junk.jpg").write_text("junk")
    pathlib.Path("empty.mp4").write_text("")
    pathlib.Path("empty.csv").write_text("file,x0,y0\n")
    pathlib.Path("one.csv").write_text("file," + ",".join(f"x{i},y{i}" for i in range(68)) + "\njunk.jpg"
                                       + "".join(f",{i},{i % 7}" for i in range(68)) + "\n")
    pathlib.Path("boxes.csv").write_text("file,x,y,w,h\njunk.jpg,1,2,3,4\n")
    pathlib.Path("bad.csv").write_text("file,x0,y0\na.jpg,1\n")
    pathlib.Path("typo.csv").write_text("1o" + ",1" * 15 + "\n" + "2" + ",2" * 15 + "\n")
    pathlib.Path("heading.csv").write_text(",".join(f"u{i},v{i}" for i in range(8)) + "\n")
    assert run("pose", "train", "cube", "-o", "cube.sdm", "--samples", "200").returncode == 0
    mistakes_are_told()
    descriptions_are_whole()
    os.chdir("/")
print("ok")
