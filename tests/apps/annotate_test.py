"""`sdm annotate` over HTTP: only its own page may talk to it; nothing that was answered is ever lost; two windows do not
overwrite each other; every format is written and taken up again; proposals come near the truth.

usage: annotate_test.py SDM
"""
import json
import math
import os
import pathlib
import random
import re
import time

from annotating import Annotating, run_each
from marks import make_set
from tool import run, write_pgm

POINTS = ["tip", "left", "right"]


def pictures_in(folder, count):
    folder.mkdir()
    for i in range(count):
        write_pgm(folder / f"p{i:02}.pgm", bytes([10 * (i % 20)]) * 600, 30)
    return folder


def objects_at(*points, box=None):
    return [{"points": list(points), "box": box}]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def rows(path):
    return path.read_text().splitlines()


def only_its_page_is_served(folder):
    with Annotating(pictures_in(folder / "served", 2), folder / "served.csv", "--points", "2") as server:
        token = server.token
        assert re.fullmatch("[0-9a-f]{32}", token), token
        status, page, answer = server.raw("GET", f"/{token}/")
        assert status == 200 and b"<canvas" in page
        policy = answer.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "unsafe" not in policy, policy
        assert answer.getheader("Referrer-Policy") == "no-referrer"
        assert answer.getheader("Access-Control-Allow-Origin") is None
        for part in ["page.css", "page.js"]:
            text = server.raw("GET", f"/{token}/{part}")[1].decode()
            assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text

        def refused(path, **headers):
            status, text, _ = server.raw("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            assert status == 403 and b"points" not in text, (path, headers, status)

        # Without the token, or with another one, or nearly the right one.
        for path in ["/", "/album", "//album", f"/{token[:-1]}/album", f"/{'0' * 32}/album", f"/{token.upper()[:31]}x/album",
                     f"/x/{token}/album"]:
            refused(path)
        # Names that a rebound DNS name would bring, and requests of other pages.
        refused(f"/{token}/album", Host="evil.example")
        refused(f"/{token}/album", Host=f"evil.example:{server.port}")
        refused(f"/{token}/album", Host="127.0.0.1")
        refused(f"/{token}/album", Origin="http://evil.example")
        refused(f"/{token}/album", Origin="null")
        refused(f"/{token}/album", Origin=f"http://127.0.0.1:{server.port + 1}")
        refused(f"/{token}/album", Sec_Fetch_Site="cross-site")
        refused(f"/{token}/album", Sec_Fetch_Site="same-site")
        assert server.raw("GET", f"/{token}/album", headers={"Host": f"localhost:{server.port}"})[0] == 200
        assert server.raw("GET", f"/{token}/album", headers={"Origin": f"http://{server.host}"})[0] == 200
        # It listens on this machine's own address alone.
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
                     if line.split()[1].endswith(f":{server.port:04X}") and line.split()[3] == "0A"]
        assert listening == [f"0100007F:{server.port:04X}"], listening
        # Pictures have numbers: there is no path to climb.
        for path in ["picture/2", "picture/99999999999999999999", "picture/-1", "picture/..%2f..%2fetc%2fpasswd",
                     "picture/../../../etc/passwd", "..%2f..%2fetc/passwd", "marks/2", "nothing"]:
            status, text, _ = server.raw("GET", f"/{token}/{path}")
            assert status in (403, 404) and b"root:" not in text, (path, status)
        assert server.raw("GET", f"/{token}/picture/0")[1].startswith(b"\x89PNG")


def nonsense_is_told_and_changes_nothing(folder):
    output = folder / "nonsense.csv"
    with Annotating(pictures_in(folder / "nonsense", 1), output, "--points", "2") as server:
        path = f"/{server.token}/marks/0"
        json_type = {"Content-Type": "application/json"}

        def bad(body, headers=json_type, code=400):
            status, text, _ = server.raw("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
            assert status == code, (body[:60] if isinstance(body, bytes) else body, status, text)
            assert b"nlohmann" not in text and json.loads(text)["error"], text

        good = {"revision": 0, "done": True, "objects": objects_at([1, 2], [3, 4])}
        bad(good, {"Content-Type": "text/plain"})
        for body in [b"", b"{", b"[]", b"null", b"[" * 100000, b"\xff\xfe", b'{"revision":0}']:
            bad(body)
        bad({**good, "revision": "0"})
        bad({**good, "revision": 0.5})
        bad({**good, "revision": 10**30})
        bad({**good, "revision": -1})
        bad({**good, "revision": 2**63 - 1})
        bad({**good, "done": "yes"})
        bad({**good, "objects": {}})
        bad({**good, "objects": [[]]})
        bad({**good, "objects": objects_at([1, 2])})
        bad({**good, "objects": objects_at([1, 2], [3, 4], [5, 6])})
        bad({**good, "objects": objects_at([1, 2], [3])})
        bad({**good, "objects": objects_at([1, 2], ["3", 4])})
        bad({**good, "objects": objects_at([1, 2], "seen")})
        bad({**good, "objects": objects_at([1, 2], [1e300, 0])})
        bad({**good, "objects": objects_at([1, 2], [2e6, 0])})
        bad({**good, "objects": objects_at([1, 2], [3, 4], box=[0, 0, 0, 5])})
        bad({**good, "objects": objects_at([1, 2], [3, 4], box=[0, 0, 5])})
        bad({**good, "objects": objects_at([1, 2], None)})           # done with an open point
        bad({**good, "objects": objects_at("hidden", "hidden")})     # done with nothing seen
        bad({**good, "objects": 1001 * objects_at([1, 2], [3, 4])})
        bad(b" " * (5 << 20), code=413)
        assert server.get("marks/0")["revision"] == 0 and not output.exists()
        server.post("marks/0", good)
        wait_for(output.exists)
        assert rows(output) == ["file,x0,y0,x1,y1", "nonsense/p00.pgm,1,2,3,4"]


def nothing_answered_is_lost(folder):
    output = folder / "kept.csv"
    pictures = pictures_in(folder / "kept", 4)
    half = objects_at([1.25, 2], None, None)
    with Annotating(pictures, output, "--points", ",".join(POINTS)) as server:
        server.mark(0, objects_at([1, 2], [3, 4], "hidden"))
        server.mark(1, half, done=False)
        wait_for(output.exists)
        server.mark(2, objects_at([5, 6], [7, 8], [9, 10]))
        server.kill()
    journal = output.with_name("kept.csv.journal")
    with open(journal, "a") as text:
        text.write('{"file":"p03.pgm","done":fal')  # a line that the power cut ended
    with Annotating(pictures, output) as server:  # the points are known by now
        states = server.get("status")["states"]
        assert states == "dbdo", states
        marks = server.get("marks/1")
        assert marks["objects"][0]["points"] == [[1.25, 2], None, None] and not marks["done"], marks
        wait_for(lambda: len(rows(output)) == 3)
        assert rows(output)[1:] == ["kept/p00.pgm,1,2,3,4,,", "kept/p02.pgm,5,6,7,8,9,10"], rows(output)
        # A picture that is taken back leaves the file; the draft stays.
        server.mark(2, objects_at([5, 6], None, [9, 10]), done=False)
        wait_for(lambda: len(rows(output)) == 2)
        server.mark(3, [])  # nothing in this picture
        # Who would begin a second program is told of the first.
        second = run("annotate", pictures, "-o", output, code=1)
        assert "has it open" in second.stderr, second.stderr
        server.end()
    with Annotating(pictures, output) as server:
        assert server.get("status")["states"] == "dbbd"
        server.mark(1, objects_at([1, 2], [3, 4], [5, 6]))
        server.mark(2, objects_at([5, 6], [7, 8], [9, 10]))
        server.mark(3, objects_at([5, 6], [7, 8], [9, 10]))
        server.end()
    assert len(rows(output)) == 5 and not journal.exists()
    other = run("annotate", pictures, "-o", output, "--points", "a,b,c", code=1)
    assert "tip" in other.stderr, other.stderr


def a_failure_to_save_is_told(folder):
    pictures = pictures_in(folder / "full", 2)
    output = folder / "locked" / "full.csv"
    output.parent.mkdir()
    with Annotating(pictures, output, "--points", "2") as server:
        server.mark(0, objects_at([1, 2], [3, 4]))
        wait_for(output.exists)
        before = output.read_text()
        output.unlink()
        output.mkdir()  # nothing can take its name now
        server.mark(1, objects_at([1, 2], [3, 4]))
        wait_for(lambda: server.get("status")["failure"])
        output.rmdir()
        server.mark(1, objects_at([2, 2], [3, 4]))
        # It may have been tried again before this mark came, and once more after it.
        wait_for(lambda: output.exists() and rows(output)[2].endswith(",2,2,3,4"))
        assert output.read_text().startswith(before)
        wait_for(lambda: not server.get("status")["failure"])


def two_windows_do_not_overwrite_each_other(folder):
    with Annotating(pictures_in(folder / "windows", 3), folder / "windows.csv", "--points", "1") as server:
        mine = server.get("marks/0?window=a")["revision"]
        theirs = server.get("marks/0?window=b")["revision"]
        server.mark(0, objects_at([1, 1]), revision=mine)
        conflict = server.mark(0, objects_at([2, 2]), revision=theirs, code=409)
        assert conflict["objects"][0]["points"] == [[1, 1]] and conflict["revision"] == 1
        assert server.get("marks/0")["objects"][0]["points"] == [[1, 1]]
        server.mark(0, objects_at([2, 2]), revision=conflict["revision"])
        # Each is sent to another picture.
        assert server.get("next?window=a")["picture"] == 1
        assert server.get("next?window=b")["picture"] == 2
        assert server.get("next?window=c")["picture"] is None


def formats_are_written_and_taken_up(folder):
    pictures = pictures_in(folder / "formats", 2)
    for output in ["f.csv", "f.tps", "f.xml", "f.txt", "pts"]:
        path = folder / "out" / output
        path.parent.mkdir(exist_ok=True)
        with Annotating(pictures, path, "--points", "2") as server:
            server.mark(0, objects_at([4, 5], [7, 8], box=[1, 2, 20, 15]))
            server.mark(1, objects_at("hidden", [6, 7], box=[2, 2, 20, 15]))
            server.end()
        images = ["--images", pictures] if output == "pts" else []
        run("convert", path, folder / "out" / f"{output}.check.csv", *images)
        read = rows(folder / "out" / f"{output}.check.csv")[1:]
        assert [line.split(",")[1:] for line in read] == [["4", "5", "7", "8"], ["", "", "6", "7"]], (output, read)
        with Annotating(pictures, path) as server:
            marks = server.get("marks/1")
            assert marks["done"] and marks["objects"][0]["points"] == ["hidden", [6, 7]], (output, marks)
            assert marks["objects"][0]["box"] == [2, 2, 20, 15], (output, marks)
    # Groups, scales and pictures elsewhere stay as they were.
    held = folder / "held.csv"
    held.write_text("file,x0,y0,group,scale\nformats/p00.pgm,1,2,wasp,0.5\nelsewhere/q.pgm,3,4,bee,0.25\n")
    with Annotating(pictures, held) as server:
        assert server.get("status")["states"] == "do"
        marks = server.get("marks/0")
        marks["objects"][0]["points"] = [[8, 9]]
        server.mark(0, marks["objects"])
        server.end()
    assert rows(held) == ["file,x0,y0,group,scale", "formats/p00.pgm,8,9,wasp,0.5", "elsewhere/q.pgm,3,4,bee,0.25"], rows(held)
    derived = folder / "derived.csv"
    with Annotating(pictures, derived, "--points", "2", "--boxes", "derived") as server:
        server.mark(0, objects_at([4, 5], [14, 10]))
        server.end()
    x, y, w, h = map(float, rows(folder / "derived_boxes.csv")[1].split(",")[1:])
    assert x < 4 and y < 5 and x + w > 14 and y + h > 10 and w < 16 and h < 12, (x, y, w, h)


def mistakes_are_told(folder):
    pictures = pictures_in(folder / "mistakes", 1)
    assert "what are the points" in run("annotate", pictures, "-o", folder / "m.csv", code=1).stderr
    assert "no folder" in run("annotate", folder / "gone", "--points", "2", "-o", folder / "m.csv", code=1).stderr
    (folder / "bare").mkdir()
    assert "no pictures" in run("annotate", folder / "bare", "--points", "2", "-o", folder / "m.csv", code=1).stderr
    assert "tells no format" in run("annotate", pictures, "--points", "2", "-o", folder / "m.doc", code=1).stderr
    (folder / "bytes").mkdir()
    pathlib.Path(os.fsdecode(os.fsencode(folder / "bytes") + b"/a\xff.pgm")).write_bytes(b"P5 1 1 255\n\0")
    done = run("annotate", folder / "bytes", "--points", "2", "-o", folder / "m.csv", code=1)
    assert "a\\xff.pgm: the name is not UTF-8" in done.stderr, done.stderr
    with Annotating(pictures, folder / "m.csv", "--points", "2") as server:
        taken = run("annotate", pictures, "--points", "2", "-o", folder / "n.csv", "--port", server.port, code=1)
        assert "taken" in taken.stderr, taken.stderr


def a_journal_of_somebody_else_is_refused_and_stays(folder):
    pictures = pictures_in(folder / "foreign", 1)
    output, journal = folder / "foreign.csv", folder / "foreign.csv.journal"
    head = '{"points":["a","b"]}\n'
    line = '{"file":"p00.pgm","revision":%s,"done":%s,"objects":%s}\n'
    two = '[{"points":[[1,2],[3,4]]}]'
    for text, said in [("my diary,\nwithout an end", "journal:1: not a journal"), ('{"points":[1]}\n', "journal:1: not a"),
                       (head + "[" * 100000 + "\n", "journal:2: expected an object"),
                       (head + line % (2**63 - 1, "true", two), "journal:2: revision 9223372036854775807"),
                       (head + line % ("1e30", "true", two), "journal:2: 'revision' is no whole number"),
                       (head + line % (1, "true", '[{"points":[[1,2],[3,1e300]]}]'), "journal:2: y is 1e+300"),
                       (head + line % (1, '"yes"', two), "journal:2: 'done'")]:
        journal.write_text(text)
        done = run("annotate", pictures, "-o", output, code=1)
        assert said in done.stderr, (said, done.stderr)
        assert journal.read_text() == text and not output.exists()


def ten_thousand_pictures_open(folder):
    many = folder / "many"
    many.mkdir()
    write_pgm(many / "p00000.pgm", bytes(600), 30)
    for i in range(1, 10000):
        (many / f"p{i:05}.pgm").hardlink_to(many / "p00000.pgm")
    with Annotating(many, folder / "many.csv", "--points", "68") as server:
        album = server.get("album")
        assert len(album["pictures"]) == 10000 and len(album["points"]) == 68
        assert album["status"]["mean"], "the 68 points of a face have a usual shape"
        server.mark(9999, objects_at(*[[i, i] for i in range(68)]))
        assert server.get("next?after=9999")["picture"] == 0


def a_model_proposes_what_is_left(folder):
    make_set(folder, "marks", 30, random.Random(5))
    truth = {}
    for line in rows(folder / "marks.csv")[1:]:
        file, *numbers = line.split(",")
        truth[file.split("/")[1]] = [list(map(float, numbers[2 * k:2 * k + 2])) for k in range(5)]
    with Annotating(folder / "marks", folder / "proposed.csv", "--points", "5", "--budget", "2",
                    "--propose-after", "12") as server:
        names = server.get("album")["pictures"]
        for i in range(12):
            server.mark(i, objects_at(*truth[names[i]]))
        wait_for(lambda: server.get("status")["learned_from"] == 12, 120)
        wait_for(lambda: all(server.get(f"marks/{i}")["proposal"] for i in range(12, 30)), 120)
        errors, doubts = [], {}
        for i in range(12, 30):
            proposal = server.get(f"marks/{i}")["proposal"]
            doubts[i] = proposal["doubt"]
            errors += [math.dist(a, b) for a, b in zip(proposal["points"], truth[names[i]])]
        # Marks are some 6 px wide and the shape varies by 1.5; a guess by the middle of the picture is off by 6 and more.
        assert sorted(errors)[len(errors) // 2] < 3, sorted(errors)
        assert server.get("next")["picture"] == max(doubts, key=doubts.get), "the least sure comes first"
        # Who has begun a picture keeps his own points.
        server.mark(12, objects_at([1, 1], None, None, None, None), done=False)
        assert server.get("marks/12")["proposal"] is None
        start = time.monotonic()
        server.end()
        assert time.monotonic() - start < 30


def main():
    run_each(only_its_page_is_served, nonsense_is_told_and_changes_nothing, nothing_answered_is_lost,
             a_failure_to_save_is_told, a_journal_of_somebody_else_is_refused_and_stays,
             two_windows_do_not_overwrite_each_other, formats_are_written_and_taken_up, mistakes_are_told,
             ten_thousand_pictures_open, a_model_proposes_what_is_left)


if __name__ == "__main__":
    main()
