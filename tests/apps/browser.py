"""Chromium with a real mouse and keyboard, driven by Debian's chromedriver over its HTTP interface (W3C WebDriver)."""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync --disable-dev-shm-usage --force-device-scale-factor=1").split()
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Delete": "\ue017", "Left": "\ue012", "Right": "\ue014", "Up": "\ue013",
        "Down": "\ue015", "Control": "\ue009", "Shift": "\ue008", "PageUp": "\ue00e", "PageDown": "\ue00f", "Escape": "\ue00c"}


def is_there():
    return CHROMIUM is not None and DRIVER is not None


class Browser:
    """A window. What it did wrong stands in `console()`."""

    def __init__(self, width=1280, height=800, dark=False, phone=False):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen([DRIVER, f"--port={self.port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.session = ""
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={self.profile.name}",
                                                f"--window-size={width},{height}"]}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": True}}
        for _ in range(100):
            try:
                self._call("GET", "/status")
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        if not phone:
            self.protocol("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.protocol("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.presses = self.keys = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", self.session)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait(20)
        try:
            self.profile.cleanup()
        except OSError:
            pass

    def _call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:2000]) from None

    def protocol(self, command, **parameters):
        return self._call("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self._call("POST", f"{self.session}/url", {"url": address})

    def run(self, script, *arguments):
        """What a function body of JavaScript returns."""
        return self._call("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script, *arguments):
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script} {arguments}")

    def console(self):
        return [line["message"] for line in self._call("POST", f"{self.session}/se/log", {"type": "browser"})]

    def picture(self, path):
        path.write_bytes(base64.b64decode(self._call("GET", f"{self.session}/screenshot")))

    def _act(self, *actions):
        self._call("POST", f"{self.session}/actions", {"actions": list(actions)})

    def _pointer(self, steps, kind="mouse"):
        self._act({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": steps})

    def drag(self, x0, y0, x1, y1, kind="mouse"):
        self.presses += 1
        move = lambda x, y: {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        self._pointer([move(x0, y0), {"type": "pointerDown", "button": 0}, move((x0 + x1) / 2, (y0 + y1) / 2), move(x1, y1),
                       {"type": "pointerUp", "button": 0}], kind)

    def click(self, x, y, kind="mouse"):
        self.presses += 1
        self._pointer([{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)},
                       {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}], kind)

    def pinch(self, x, y, before, after):
        """Two fingers that move apart from each other."""
        def finger(side):
            place = lambda distance, time: {"type": "pointerMove", "duration": time, "x": round(x + side * distance / 2), "y": round(y)}
            return {"type": "pointer", "id": f"finger{side}", "parameters": {"pointerType": "touch"},
                    "actions": [place(before, 0), {"type": "pointerDown", "button": 0}, place(after, 200),
                                {"type": "pointerUp", "button": 0}]}
        self._act(finger(-1), finger(1))

    def wheel(self, x, y, amount):
        self._act({"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": amount, "duration": 0}]})

    def press(self, *keys):
        """Keys together: press("Control", "z")."""
        self.keys += 1
        values = [KEYS.get(key, key) for key in keys]
        self._act({"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key} for key in values]
                   + [{"type": "keyUp", "value": key} for key in reversed(values)]})
