"""The page of `sdm annotate` in Chromium, with a real mouse, keyboard and fingers: points are set, moved, hidden and undone,
down to a fraction of a pixel; boxes are drawn; two windows meet; proposals are accepted; a phone does it too; nothing asks
for the network and the console stays empty.

usage: annotate_page_test.py SDM [FOLDER]     exits with 77 where there is no Chromium; FOLDER gets pictures of the page
"""
import pathlib
import random
import sys
import time

import browser
from annotate_test import rows, wait_for
from annotating import Annotating, Page, run_each
from marks import SIZE, make_set
from tool import write_pgm

SCREENSHOTS = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
NEXT = "return document.getElementById('next').textContent"


def drawn(window):
    """Before that, clicks are not taken."""
    window.until("return document.getElementById('canvas').getAttribute('aria-busy') === 'false'")


def opened(window, server):
    window.open(server.address)
    window.until("return document.getElementById('place').textContent.includes(' of ')")
    drawn(window)


def near(a, b, off):
    return abs(a[0] - b[0]) <= off and abs(a[1] - b[1]) <= off


def saved(server, picture, condition):
    end = time.monotonic() + 60
    while True:
        marks = server.get(f"marks/{picture}?window=test")
        if condition(marks):
            return marks
        assert time.monotonic() < end, marks
        time.sleep(0.05)


def shot(window, name):
    if SCREENSHOTS:
        SCREENSHOTS.mkdir(exist_ok=True)
        window.picture(SCREENSHOTS / f"{name}.png")


def mouse_and_keyboard(folder):
    pictures = folder / "pictures"
    pictures.mkdir()
    for i in range(4):
        write_pgm(pictures / f"p{i}.pgm", bytes((x * 5 + y * 3 + 40 * i) % 200 for y in range(48) for x in range(60)), 60)
    points = [[10, 10], [40, 12], [25, 35]]
    with Annotating(pictures, folder / "a.csv", "--points", "tip,left,right") as server, browser.Browser() as window:
        opened(window, server)
        page = Page(window, 60, 48)
        assert window.run(NEXT) == "tip"
        for point, after in zip(points, ["left", "right", "Right? Press Enter"]):
            window.click(*page.at(point))
            window.until(f"{NEXT} === arguments[0]", after)
        marks = saved(server, 0, lambda m: m["objects"] and None not in m["objects"][0]["points"])
        for got, wanted in zip(marks["objects"][0]["points"], points):
            assert near(got, wanted, page.off()), (got, wanted)
        # Drag a point; undo, redo.
        window.drag(*page.at(points[0]), *page.at([15, 20]))
        marks = saved(server, 0, lambda m: near(m["objects"][0]["points"][0], [15, 20], 2 * page.off()))
        window.press("Control", "z")
        saved(server, 0, lambda m: near(m["objects"][0]["points"][0], [10, 10], page.off()))
        window.press("Control", "Shift", "z")
        marks = saved(server, 0, lambda m: near(m["objects"][0]["points"][0], [15, 20], 2 * page.off()))
        before = marks["objects"][0]["points"][0]
        # The keyboard moves the chosen point by a pixel, and by ten.
        window.click(*page.at(before))
        window.until(f"{NEXT} === 'tip'")
        window.press("Right")
        window.press("Shift", "Down")
        saved(server, 0, lambda m: near(m["objects"][0]["points"][0], [before[0] + 1, before[1] + 10], 0.011))
        shot(window, "desktop")
        # A point that cannot be seen.
        window.press("Tab")
        window.until(f"{NEXT} === 'left'")
        window.press("h")
        saved(server, 0, lambda m: m["objects"][0]["points"][1] == "hidden")
        # A box.
        window.press("b")
        window.drag(*page.at([5, 5]), *page.at([45, 40]))
        marks = saved(server, 0, lambda m: m["objects"][0]["box"])
        x, y, w, h = marks["objects"][0]["box"]
        assert near([x, y], [5, 5], 2 * page.off()) and near([w, h], [40, 35], 2 * page.off()), (x, y, w, h)
        assert not marks["done"] and not (folder / "a.csv").exists()
        window.press("Enter")
        saved(server, 0, lambda m: m["done"])
        window.until("return document.getElementById('name').textContent === 'p1.pgm'")
        window.until("return document.getElementById('progress').textContent.startsWith('1 of 4 done · about')")
        wait_for((folder / "a.csv").exists)
        assert len(rows(folder / "a.csv")) == 2
        assert window.run("return document.querySelectorAll('#mean circle').length") == 3  # two points, and a ring
        # Zoomed in, a click is a fraction of a pixel.
        drawn(window)
        target = page.at([20, 20])
        for _ in range(20):
            window.wheel(*target, -200)
        window.click(target[0] + 20, target[1])
        marks = saved(server, 1, lambda m: m["objects"])
        x, y = marks["objects"][0]["points"][0]
        assert 20.2 < x < 20 + 20 / page.zoom and near([x, y], [x, 20], page.off()), (x, y)
        shot(window, "zoomed")
        # An open point is asked for before the picture is done.
        window.press("Enter")
        window.until("return document.getElementById('toast').textContent.includes('left')")
        assert not server.get("marks/1?window=test")["done"]

        # A second window on the same picture: who comes later sees the other's points, and keeps his own by undo.
        with browser.Browser(dark=True) as second:
            second.open(server.address + "#1")
            second.until("return document.getElementById('place').textContent.startsWith('2 of 4')")
            drawn(second)
            second.click(*Page(second, 60, 48).at([50, 40]))
            saved(server, 1, lambda m: m["objects"][0]["points"][1])
            window.press("0")
            window.click(*page.at([7, 44]))
            window.until("return document.getElementById('toast').textContent.includes('Another window')")
            assert near(server.get("marks/1?window=test")["objects"][0]["points"][1], [50, 40], page.off())
            window.press("Control", "z")
            saved(server, 1, lambda m: near(m["objects"][0]["points"][1], [7, 44], page.off()))
            shot(second, "desktop-dark")
            assert second.console() == [], second.console()
        # All pictures.
        window.press("l")
        window.until("return document.querySelectorAll('#tall button').length === 4")
        shot(window, "list")
        window.press("Escape")
        # The browser itself notes that a conflict was answered.
        assert [line for line in window.console() if "409" not in line] == [], window.console()
        # The program is gone: the page says so, and keeps what it has.
        server.kill()
        window.until("return !document.getElementById('banner').hidden")


def middle_of(window, name):
    x, y, w, h = window.run("const r = document.getElementById(arguments[0]).getBoundingClientRect();"
                            "return [r.x, r.y, r.width, r.height]", name)
    return x + w / 2, y + h / 2


def what_goes_wrong_costs_nothing(folder):
    pictures = folder / "pictures"
    pictures.mkdir()
    for i in range(3):
        write_pgm(pictures / f"p{i}.pgm", bytes(60 * 48), 60)
    with Annotating(pictures, folder / "pts", "--points", "tip,left,right", small_files=True) as server, browser.Browser() as window:
        opened(window, server)
        page = Page(window, 60, 48)
        window.click(*page.at([10, 10]))
        saved(server, 0, lambda m: m["objects"])
        # The disk is full: it is told, nobody leaves the picture, and all is saved when there is room again.
        server.room((folder / "pts.journal").stat().st_size)
        window.click(*page.at([20, 20]))
        window.until("return document.getElementById('banner').textContent.includes('Not saved')")
        window.press("PageDown")
        window.click(*page.at([30, 30]))
        window.until(f"{NEXT} === 'Right? Press Enter'")
        assert window.run("return document.getElementById('name').textContent") == "p0.pgm"
        assert server.get("marks/0?window=test")["objects"][0]["points"][1] is None
        server.room()
        saved(server, 0, lambda m: None not in m["objects"][0]["points"])
        window.until("return document.getElementById('banner').hidden")
        window.press("PageDown")
        window.until("return document.getElementById('name').textContent === 'p1.pgm'")
        assert server.get("marks/1?window=test")["objects"] == []
        window.press("PageUp")
        window.until("return document.getElementById('name').textContent === 'p0.pgm'")
        drawn(window)
        # What the format refuses stays a draft, and what comes while it is sent is kept, too.
        window.press("o")
        for point in [[40, 10], [50, 20], [45, 40]]:
            window.click(*page.at(point))
        window.until(f"{NEXT} === 'Right? Press Enter'")
        window.run("const ask = fetch; window.fetch = async (...what) => { await new Promise((go) => setTimeout(go, 500)); return ask(...what); };")
        window.press("Enter")
        window.until("return document.getElementById('toast').textContent.includes('holds one object')")
        window.drag(*page.at([45, 40]), *page.at([35, 30]))
        marks = saved(server, 0, lambda m: m["objects"][1]["points"][2] and near(m["objects"][1]["points"][2], [35, 30], 2 * page.off()))
        assert not marks["done"], marks
        # Who has clicked a button does not press it again by Enter.
        window.click(*middle_of(window, "following"))
        window.until("return document.getElementById('name').textContent === 'p1.pgm'")
        drawn(window)
        window.click(*middle_of(window, "hidden-button"))
        window.until(f"{NEXT} === 'left'")
        window.press("Enter")
        window.until("return document.getElementById('toast').textContent.includes('left')")
        assert window.run(NEXT) == "left"
        assert saved(server, 1, lambda m: m["objects"])["objects"][0]["points"] == ["hidden", None, None]
        # Two clicks on the same button are one.
        for point in [[20, 20], [30, 30]]:
            window.click(*page.at(point))
        window.until(f"{NEXT} === 'Right? Press Enter'")
        window.run("document.getElementById('done').click(); document.getElementById('done').click()")
        window.until("return document.getElementById('name').textContent === 'p2.pgm'")
        time.sleep(0.5)
        assert server.get("status")["states"] == "bdo" and window.run("return document.getElementById('name').textContent") == "p2.pgm"


def ten_thousand_at_once(folder):
    pictures = folder / "many"
    pictures.mkdir()
    write_pgm(pictures / "p00000.pgm", bytes(600), 30)
    for i in range(1, 10000):
        (pictures / f"p{i:05}.pgm").hardlink_to(pictures / "p00000.pgm")
    with Annotating(pictures, folder / "many.csv", "--points", "2") as server, browser.Browser() as window:
        opened(window, server)
        window.press("l")
        assert 0 < window.until("return document.querySelectorAll('#tall button').length") < 60
        window.run("document.getElementById('rows').scrollTop = 1e9")
        window.until("return [...document.querySelectorAll('#tall button')].pop().textContent === 'p09999.pgm'")
        window.run("[...document.querySelectorAll('#tall button')].pop().click()")
        window.until("return document.getElementById('place').textContent.startsWith('10000 of 10000')")


def on_a_phone(folder):
    make_set(folder, "marks", 24, random.Random(2))
    truth = [[list(map(float, line.split(",")[1 + 2 * k:3 + 2 * k])) for k in range(5)]
             for line in (folder / "marks.csv").read_text().splitlines()[1:]]
    with Annotating(folder / "marks", folder / "phone.csv", "--points", "5", "--budget", "1") as server:
        with browser.Browser(390, 780, dark=True, phone=True) as window:
            opened(window, server)
            page = Page(window, SIZE, SIZE)
            assert window.run("return document.documentElement.scrollWidth <= innerWidth && "
                              "document.documentElement.scrollHeight <= innerHeight")
            for point in truth[0]:
                window.click(*page.at(point), kind="touch")
            marks = saved(server, 0, lambda m: m["objects"] and None not in m["objects"][0]["points"])
            for got, wanted in zip(marks["objects"][0]["points"], truth[0]):
                assert near(got, wanted, page.off()), (got, wanted)
            shot(window, "phone-dark")
            # On its side, too, everything is in sight.
            window.protocol("Emulation.setDeviceMetricsOverride", width=780, height=360, deviceScaleFactor=2, mobile=True)
            window.until("return innerWidth === 780")
            assert window.run("return [...document.querySelectorAll('header button, .tools button, .objects button, .end button')].every("
                              "b => { const r = b.getBoundingClientRect(); return r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight; })")
            shot(window, "phone-on-its-side")
            window.protocol("Emulation.setDeviceMetricsOverride", width=390, height=780, deviceScaleFactor=2, mobile=True)
            window.until("return innerWidth === 390")
            time.sleep(0.3)
            window.pinch(*page.at([60, 60]), 60, 200)
            window.click(*middle_of(window, "done"), kind="touch")
            saved(server, 0, lambda m: m["done"])
            # The rest up to ten comes by itself, and then proposals.
            for i in range(2, 11):
                server.mark(i, [{"points": truth[i], "box": None}])
            window.until("return document.getElementById('ask').textContent === 'Proposed'", seconds=120)
            shot(window, "proposed")
            window.run("document.getElementById('done').click()")
            window.until("return document.getElementById('progress').textContent.startsWith('11 of 24')")
            assert window.console() == [], window.console()


def main():
    if not browser.is_there():
        print("skipped: chromium and chromium-driver are not installed")
        sys.exit(77)
    run_each(mouse_and_keyboard, what_goes_wrong_costs_nothing, ten_thousand_at_once, on_a_phone)


if __name__ == "__main__":
    main()
