# SPDX-License-Identifier: MIT
"""A browser without a window, asked over a pipe: Chromium's DevTools protocol, as far as the book's
tests need it."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

Json = Any  # what a JavaScript expression can be
SECONDS = 60.0


def find() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """`with Browser(find()) as browser: browser.open(page); browser.ask("1 + 1")`."""

    def __init__(self, program: str) -> None:
        self.folder = tempfile.TemporaryDirectory(
            prefix="book-browser-", ignore_cleanup_errors=True
        )
        to_read, self.to = os.pipe()
        self.frm, to_write = os.pipe()
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        words += [f"--user-data-dir={self.folder.name}", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        script = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["sh", "-c", script, program, *words],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.waiting, self.number, self.session = b"", 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.session = ""
        with contextlib.suppress(OSError, EOFError):
            self.call("Browser.close")
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.frm)
        self.folder.cleanup()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """One call; its result. Events are not looked at."""
        self.number += 1
        message: dict[str, object] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self.waiting:
            if not select.select([self.frm], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.frm, 1 << 16)
            if not got:
                raise EOFError("the browser has gone")
            self.waiting += got
        text, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(text)

    def ask(self, expression: str) -> Json:
        """What a JavaScript expression is in the page."""
        got = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in got, (expression, got)
        return got["result"].get("value")

    def until(self, expression: str) -> Json:
        """Waits until an expression is true."""
        end = time.monotonic() + SECONDS
        while not (value := self.ask(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.05)
        return value

    def open(self, page: Path, query: str = "") -> None:
        self.call("Page.navigate", url=page.as_uri() + query)
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def look(self, *, width: int = 1200, dark: bool = False, media: str = "screen") -> None:
        """The size of the window, the theme that its reader likes, screen or paper ("print")."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def drag(self, frm: tuple[float, float], to: tuple[float, float]) -> None:
        """The mouse, pressed at one place and let go at another."""
        middle = ((frm[0] + to[0]) / 2, (frm[1] + to[1]) / 2)
        steps = (("mousePressed", frm), ("mouseMoved", middle), ("mouseMoved", to))
        for kind, (x, y) in (*steps, ("mouseReleased", to)):
            event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
            self.call("Input.dispatchMouseEvent", **event)

    def key(self, name: str) -> None:
        """A key, pressed and let go: "ArrowLeft", "Tab", "Enter"."""
        code = {"ArrowLeft": 37, "Tab": 9, "Enter": 13}[name]
        text = {"text": "\r"} if name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", **event, **(text if kind == "keyDown" else {}))
