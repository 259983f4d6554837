"""What `sdm annotate` keeps in its files: the same command goes on in every format, with names of points that the format does
not hold; a disk that is full for a while spoils nothing; pictures that come and go keep their points.

usage: annotate_files_test.py SDM
"""
import shutil

from annotate_test import objects_at, pictures_in, rows, wait_for
from annotating import Annotating, run_each
from tool import run

NAMES = ["--points", "tip,left,right"]


def points_of(server, picture):
    return [one["points"] for one in server.get(f"marks/{picture}")["objects"]]


def the_same_command_goes_on_in_every_format(folder):
    pictures = pictures_in(folder / "pictures", 3)
    half = [[1, 2], None, None]
    for name in ["f.csv", "f.tps", "f.xml", "f.txt", "pts"]:
        output = folder / name
        with Annotating(pictures, output, *NAMES) as server:
            server.mark(0, objects_at([4, 5], "hidden", [7, 8]))  # imglab's file does not have "left" then
            server.mark(1, objects_at(*half), done=False)
            server.end()
        for words in [NAMES, ["--points", "3"] if name == "pts" else []]:
            with Annotating(pictures, output, *words) as server:
                album = server.get("album")
                assert album["points"] == ["tip", "left", "right"] and album["status"]["states"] == "dbo", (name, words, album)
                assert points_of(server, 0) == [[[4, 5], "hidden", [7, 8]]], (name, words)
                assert points_of(server, 1) == [half], (name, words)
                server.end()
        # All is done: no journal remembers the names. The command has them.
        with Annotating(pictures, output, *NAMES) as server:
            server.mark(1, objects_at([1, 2], [3, 4], [5, 6]))
            server.mark(2, objects_at([2, 2], [3, 4], [5, 6]))
            server.end()
        assert not output.with_name(name + ".journal").exists()
        with Annotating(pictures, output, *NAMES) as server:
            assert server.get("album")["points"] == ["tip", "left", "right"], name
            assert points_of(server, 1) == [[[1, 2], [3, 4], [5, 6]]], name
            server.mark(2, objects_at([9, 2], [3, 4], [5, 6]))
            server.end()
        run("convert", output, folder / f"{name}.check.csv", *(["--images", pictures] if name == "pts" else []))
        read = sorted(line.split(",")[1:] for line in rows(folder / f"{name}.check.csv")[1:])
        wanted = [["4", "5", "", "", "7", "8"], ["1", "2", "3", "4", "5", "6"], ["9", "2", "3", "4", "5", "6"]]
        order = ["left", "right", "tip"] if name == "f.xml" else ["tip", "left", "right"]  # imglab's names are sorted
        at = [("tip", "left", "right").index(point) for point in order]
        assert read == sorted(sum((row[2 * k:2 * k + 2] for k in at), []) for row in wanted), (name, read)
        # Not as many, or others where the file has names.
        assert "expected 3" in run("annotate", pictures, "-o", output, "--points", "a,b", code=1).stderr
        if name in ("f.csv", "f.xml"):
            assert "tip" in run("annotate", pictures, "-o", output, "--points", "a,b,c", code=1).stderr


def an_empty_file_is_begun(folder):
    (folder / "empty.csv").touch()
    with Annotating(pictures_in(folder / "pictures", 1), folder / "empty.csv", *NAMES) as server:
        server.mark(0, objects_at([1, 2], [3, 4], [5, 6]))
        server.end()
    assert len(rows(folder / "empty.csv")) == 2


def pictures_of_one_name_do_not_share_a_pts_file(folder):
    pictures = pictures_in(folder / "pictures", 1)
    shutil.copy(pictures / "p00.pgm", pictures / "p00.ppm")
    told = run("annotate", pictures, "--points", "2", "-o", folder / "pts", code=1).stderr
    assert "p00.pgm and p00.ppm" in told and not (folder / "pts").exists(), told


def imglab_has_boxes_that_nobody_drew(folder):
    pictures = pictures_in(folder / "pictures", 2)
    output = folder / "boxes.xml"
    one = objects_at([4, 5], [7, 8])
    with Annotating(pictures, output, "--points", "2") as server:
        told = server.mark(0, one + one, code=400)["error"]  # told before, and not when the file is written
        assert "box" in told and "draw" in told, told
        server.mark(0, one)
        server.mark(1, [{**one[0], "box": [1, 1, 12, 12]}] * 2)
        server.end()
    with Annotating(pictures, output) as server:
        assert server.get("marks/0")["objects"][0]["box"] is None, "the whole picture is no box that somebody drew"
        assert [o["box"] for o in server.get("marks/1")["objects"]] == [[1, 1, 12, 12]] * 2


def boxes_that_were_there_stay(folder):
    pictures = pictures_in(folder / "pictures", 3)
    beside = folder / "held_boxes.csv"
    heading = "file,haar_x,haar_y,haar_w,haar_h"
    beside.write_text(f"{heading}\npictures/p00.pgm,1,1,9,9\npictures/p01.pgm,2,2,8,8\npictures/p02.pgm,3,3,7,7\n")
    one, other = {"points": [[4, 5], [7, 8]], "box": None}, {"points": [[14, 15], [17, 18]], "box": [12, 12, 8, 8]}
    with Annotating(pictures, folder / "held.csv", "--points", "2") as server:
        server.mark(0, [one])
        server.mark(1, [one, other])  # what was drawn takes the place of what was found
        server.end()
    assert rows(beside) == [heading, "pictures/p00.pgm,1,1,9,9", "pictures/p01.pgm,12,12,8,8", "pictures/p02.pgm,3,3,7,7"], rows(beside)
    for _ in range(2):  # and again: a box stays with its own object
        with Annotating(pictures, folder / "held.csv") as server:
            assert [o["box"] for o in server.get("marks/1")["objects"]] == [None, [12, 12, 8, 8]]
            server.mark(1, server.get("marks/1")["objects"])
            server.end()
    beside.write_text("file,a_x,a_y,a_w,a_h,b_x,b_y,b_w,b_h\n")
    told = run("annotate", pictures, "-o", folder / "held.csv", code=1).stderr
    assert "boxes of 2 detectors" in told and len(rows(beside)) == 1, told


def pictures_that_are_gone_keep_their_points(folder):
    pictures = pictures_in(folder / "pictures", 2)
    output = folder / "gone.csv"
    with Annotating(pictures, output, "--points", "2") as server:
        server.mark(1, objects_at([1, 2], None), done=False)
        server.end()
    (pictures / "p01.pgm").rename(folder / "elsewhere.pgm")
    with Annotating(pictures, output) as server:
        server.mark(0, objects_at([1, 2], [3, 4]))
        server.end()
    (folder / "elsewhere.pgm").rename(pictures / "p01.pgm")
    with Annotating(pictures, output) as server:
        assert server.get("status")["states"] == "db" and points_of(server, 1) == [[[1, 2], None]]


def an_output_that_could_not_be_written_is_tried_again(folder):
    pictures = pictures_in(folder / "pictures", 1)
    output = folder / "retried.csv"
    with Annotating(pictures, output, "--points", "2") as server:
        output.mkdir()
        server.mark(0, objects_at([1, 2], [3, 4]))
        wait_for(lambda: server.get("status")["failure"])
        output.rmdir()
        wait_for(lambda: not server.get("status")["failure"])  # by itself
        assert len(rows(output)) == 2


def a_full_disk_spoils_nothing(folder):
    pictures = pictures_in(folder / "pictures", 2)
    output = folder / "full.csv"
    with Annotating(pictures, output, "--points", "12", small_files=True) as server:
        points = [[k, k + 0.5] for k in range(12)]
        server.mark(0, objects_at(*points[:6], *6 * [None]), done=False)
        journal = output.with_name("full.csv.journal")
        whole = journal.read_bytes()
        for room in (0, 1, 40, 100):
            server.room(len(whole) + room)
            told = server.mark(0, objects_at(*points[:11], None), done=False, code=500)["error"]
            assert "full.csv.journal" in told, told
            assert journal.read_bytes() == whole, room
        assert points_of(server, 0)[0][6] is None
        server.room()
        server.mark(0, objects_at(*points[:11], None), done=False)
        server.mark(1, objects_at(*points))
        server.kill()
    with Annotating(pictures, output) as server:
        assert server.get("status")["states"] == "bd"
        assert points_of(server, 0) == [[*points[:11], None]] and points_of(server, 1) == [points]


def main():
    run_each(the_same_command_goes_on_in_every_format, an_empty_file_is_begun,
             pictures_of_one_name_do_not_share_a_pts_file, imglab_has_boxes_that_nobody_drew, boxes_that_were_there_stay,
             pictures_that_are_gone_keep_their_points, an_output_that_could_not_be_written_is_tried_again,
             a_full_disk_spoils_nothing)


if __name__ == "__main__":
    main()
