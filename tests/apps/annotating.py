"""A running `sdm annotate`, requests to it, and where things are on its page."""
import http.client
import json
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import urllib.parse

from tool import SDM


def run_each(*tests):
    """Each in a folder of its own; tells how long it took."""
    with tempfile.TemporaryDirectory() as temporary:
        for test in tests:
            folder = pathlib.Path(temporary) / test.__name__
            folder.mkdir()
            start = time.monotonic()
            test(folder)
            print(f"{test.__name__}: {time.monotonic() - start:.1f} s", flush=True)


class Annotating:
    def __init__(self, pictures, output, *words, small_files=False):
        """`small_files`: a limit to the size of files (`room`) fails as a full disk does."""
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN if small_files else signal.SIG_DFL)  # the program inherits it
        self.program = subprocess.Popen([SDM, "annotate", str(pictures), "-o", str(output), *map(str, words)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=not small_files)
        signal.signal(signal.SIGXFSZ, before)
        for line in self.program.stdout:
            if "http://" in line:
                self.address = line.strip()
                break
        else:
            raise AssertionError((self.program.wait(), self.program.stderr.read()))
        parts = urllib.parse.urlsplit(self.address)
        self.host, self.port, self.token = parts.netloc, parts.port, parts.path.strip("/")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.end()
        self.program.stdout.close()
        self.program.stderr.close()

    def end(self):
        """As Ctrl-C does."""
        self.program.send_signal(signal.SIGINT)
        assert self.program.wait(60) == 0, self.program.stderr.read()

    def kill(self):
        """As a power cut does."""
        self.program.kill()
        self.program.wait(60)

    def room(self, size=None):
        """The size that no file may exceed; None: as large as may be."""
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(self.program.pid, resource.RLIMIT_FSIZE, most if size is None else (size, most[1]))

    def raw(self, method, path, body=None, headers=None):
        """The status and the text of an answer; `path` as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        sent = {"Host": self.host, **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Length", str(len(body)))
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, answer

    def get(self, path):
        status, text, _ = self.raw("GET", f"/{self.token}/{path}")
        assert status == 200, (path, status, text)
        return json.loads(text)

    def post(self, path, value, code=200):
        status, text, _ = self.raw("POST", f"/{self.token}/{path}", json.dumps(value).encode(),
                                   {"Content-Type": "application/json"})
        assert status == code, (path, status, text)
        return json.loads(text)

    def mark(self, picture, objects, done=True, revision=None, code=200):
        if revision is None:
            revision = self.get(f"marks/{picture}")["revision"]
        return self.post(f"marks/{picture}", {"revision": revision, "done": done, "objects": objects, "seconds": 3}, code)


class Page:
    """Where things are on the page: the picture is fitted into the canvas with a margin of 14 px."""

    def __init__(self, window, width, height):
        self.window = window
        x, y, w, h = window.run("const r = document.getElementById('canvas').getBoundingClientRect();"
                                "return [r.x, r.y, r.width, r.height]")
        self.zoom = min((w - 28) / width, (h - 28) / height)
        self.x, self.y = x + (w - self.zoom * width) / 2, y + (h - self.zoom * height) / 2

    def at(self, point):
        return [self.x + (point[0] + 0.5) * self.zoom, self.y + (point[1] + 0.5) * self.zoom]

    def off(self):
        """A pixel of the screen, in pixels of the picture: clicks are whole."""
        return 1.01 / self.zoom
