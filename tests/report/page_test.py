"""The report page in a browser: `sdm reproduce` writes it, Chromium opens it without a network at desktop and
phone width, light and dark. Every chart must be drawn, with Chart.js or, where that could not be fetched, as SVG,
and all in one size; the console must be empty, nothing may stick out sideways and wide tables scroll in their box.

usage: page_test.py SDM     exits with 77 where there is no Chromium
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SDM = pathlib.Path(sys.argv[1]).resolve()
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

# Looks at the page from within once it has been drawn, and leaves what it saw in the document.
PROBE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const painted = (canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4)
      if (pixels[i + 3] > 200) colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    return colours.size;
  };
  // The last figure keeps one chart, so that a chart alone can be compared with many.
  const last = [...document.querySelectorAll(".charts")].pop();
  while (last.children.length > 1) last.lastElementChild.remove();
  const figures = [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
    const canvas = figure.querySelector("canvas"), svg = figure.querySelector("svg");
    return {
      colours: canvas ? painted(canvas) : 0,
      paths: svg && getComputedStyle(svg).display !== "none" ? svg.querySelectorAll("path, rect").length : 0,
      size: ["width", "height"].map((side) => Math.round(figure.getBoundingClientRect()[side])),
      beside: figure.parentElement.children.length,
    };
  });
  const seen = {
    figures, width: innerWidth, page: Math.max(document.documentElement.scrollWidth, document.body.scrollWidth),
    tables: [...document.querySelectorAll(".table")].filter((t) => t.clientWidth).map((t) => ({
      box: t.getBoundingClientRect().right, hidden: t.scrollWidth - t.clientWidth,
      scrolls: getComputedStyle(t).overflowX === "auto",
    })),
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    back: getComputedStyle(document.body).backgroundColor,
    broken: [...document.images].filter((i) => !i.naturalWidth).length,
    dead: [...document.querySelectorAll("nav a")].filter((a) => !document.querySelector(a.getAttribute("href"))).length,
  };
  const out = document.createElement("pre");
  out.id = "probe";
  out.textContent = JSON.stringify(seen);
  parent.document.body.append(out);
}, 300));
</script>
"""


def reproduce(folder, *words, code=0):
    done = subprocess.run([SDM, "reproduce", *words, "-o", folder], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def look(page, width, dark):
    """What the probe saw, with the console asserted to be empty."""
    # In a frame, as Chromium's own window is never narrower than 500 px.
    probed = page.with_name("probed.html")
    inner = html.escape(page.read_text().replace("</body>", PROBE + "</body>"))
    probed.write_text("<!doctype html><meta charset='utf-8'><link rel='icon' href='data:,'><body>"
                      f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{inner}"></iframe>')
    with tempfile.TemporaryDirectory() as profile:
        words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--user-data-dir={profile}", "--proxy-server=127.0.0.1:9", "--enable-logging=stderr", "--v=0",
                 "--window-size=1400,1000", "--virtual-time-budget=4000", "--dump-dom"]
        if dark:
            words.append("--blink-settings=preferredColorScheme=0")
        done = subprocess.run([*words, probed.as_uri()], capture_output=True, text=True, timeout=120)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not console, console
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
    assert found, (done.returncode, done.stderr[-2000:])
    return json.loads(html.unescape(found[1]))


def check(seen, library, width, dark):
    assert seen["width"] == width, seen["width"]
    assert seen["figures"], "no charts in the page"
    for figure in seen["figures"]:
        if library:
            assert figure["colours"] > 20 and figure["paths"] == 0, figure
        else:
            assert figure["paths"] > 5, figure
    assert {1, 4} <= {figure["beside"] for figure in seen["figures"]}, "no chart alone, or no four together"
    assert len({tuple(figure["size"]) for figure in seen["figures"]}) == 1, [f["size"] for f in seen["figures"]]
    assert seen["page"] <= seen["width"], f"{seen['page']} px wide in a window of {seen['width']}"
    assert all(table["scrolls"] and table["box"] <= width for table in seen["tables"]), seen["tables"]
    if width < 400:
        assert any(table["hidden"] > 0 for table in seen["tables"]), "no table is wider than the phone"
    assert seen["broken"] == 0 and seen["dead"] == 0, seen
    assert seen["dark"] == dark, seen
    light = sum(map(int, re.findall(r"\d+", seen["back"])[:3])) > 3 * 128
    assert light != dark, seen["back"]


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        page = folder / "index.html"
        reproduce(folder, "analytic", "--quick")
        # A part that lacks its data is told in the page and by the exit code; the others stay.
        failed = reproduce(folder, "nist", "--data", folder / "nowhere", code=1)
        assert "nowhere" in failed.stderr, failed.stderr
        text = page.read_text()
        assert "no data" in text and "nowhere" in text and 'id="analytic"' in text
        assert not re.search(r'(src|href)="https?:', text), "the page asks for the network"
        everything = json.loads((folder / "results.json").read_text())
        assert [part["experiment"] for part in everything] == ["analytic", "nist"]
        lines = (folder / "results.csv").read_text().splitlines()
        assert len(lines) == 1 + sum(len(part["rows"]) for part in everything)
        # A part that is run again takes its own place.
        reproduce(folder, "analytic", "--quick", "--seed", "2")
        assert page.read_text().count('<section id="analytic">') == 1

        if BROWSER is None:
            print("skipped: Chromium is not installed, so that the page was written but not opened")
            sys.exit(77)
        library = "Chart.js v" in page.read_text()
        if not library:
            print("Chart.js is not beside the program (./run fetches it): looking at the SVG figures only")
        for width, dark in [(1280, False), (375, True)] if library else []:
            check(look(page, width, dark), True, width, dark)
        # The same page as it is where the library could not be fetched.
        start = page.read_text().find("/*!\n * Chart.js")
        if start >= 0:
            end = page.read_text().find("</script>", start)
            page.write_text(page.read_text()[:start] + page.read_text()[end:])
        for width, dark in [(1280, False), (375, True)]:
            check(look(page, width, dark), False, width, dark)


if __name__ == "__main__":
    main()
