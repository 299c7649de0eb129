"""A very small driver for headless Chromium: open a page, run scripts in it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage"),
    *("--remote-debugging-pipe", "--window-size=1280,1600"),
)


def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser, driven through a pair of pipes."""

    def __init__(self, folder: Path, page: Path, *flags: str) -> None:
        program = chromium()
        assert program is not None
        self.messages: list[str] = []
        self.count = 0
        self.session: dict[str, str] = {}
        self.log = (folder / "chromium.log").open("wb")
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        commands, ours = os.pipe()
        answers, theirs = os.pipe()
        start = f'exec "$0" "$@" 3<&{commands} 4>&{theirs}'
        profile = f"--user-data-dir={folder / 'profile'}"
        self.process = subprocess.Popen(
            ["bash", "-c", start, program, *FLAGS, *flags, profile],
            pass_fds=(commands, theirs),
            stdout=self.log,
            stderr=self.log,
        )
        os.close(commands)
        os.close(theirs)
        self.commands, self.answers = os.fdopen(ours, "wb"), os.fdopen(answers, "rb")
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
            self.session = {"sessionId": attached["sessionId"]}
            for domain in ("Runtime", "Log", "Page", "Network"):
                self.call(f"{domain}.enable")
            self.call("Page.navigate", url=page.as_uri())
            self.wait(
                "document.readyState === 'complete' && location.href !== 'about:blank'"
            )
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; note what the page says meanwhile."""
        self.count += 1
        request = {"id": self.count, "method": method, "params": params}
        self.commands.write(json.dumps(request | self.session).encode() + b"\0")
        self.commands.flush()
        while True:
            message = json.loads(self._receive())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        kind, params = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(params["exceptionDetails"])[:500])
        elif kind == "Log.entryAdded":
            self.messages.append(params["entry"]["text"])
        elif kind == "Runtime.consoleAPICalled":
            self.messages.append(f"console.{params['type']}")
        elif kind == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:")):
                self.messages.append(f"asks for {url}")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + 60
        while not self.evaluate(condition):
            assert time.monotonic() < deadline, f"never true: {condition}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key on the element that has the focus."""
        extra = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=13 if key == "Enter" else 9,
                **extra,
            )

    def reload(self) -> None:
        """Load the page again and wait until it is there."""
        self.evaluate("window.before = true")
        self.call("Page.reload")
        self.wait("!window.before && document.readyState === 'complete'")

    def resize(self, width: int, height: int = 900) -> None:
        """Show the page on a screen of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", mobile=width < 640, **size)

    def picture(self, path: Path, selector: str) -> None:
        """Save what an element looks like, wholly, for people to look at."""
        script = (
            f"(() => {{ const b = document.querySelector({selector!r})"
            ".getBoundingClientRect(); return [b.x + scrollX, b.y + scrollY, b.width,"
            " b.height]; })()"
        )
        x, y, width, height = self.evaluate(script)
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        answer = self.call(
            "Page.captureScreenshot", clip=clip, captureBeyondViewport=True
        )
        path.write_bytes(base64.b64decode(answer["data"]))

    def _receive(self) -> bytes:
        """Return the next message; a zero byte ends it."""
        message = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            assert byte, "Chromium closed the connection"
            message += byte
        return bytes(message)

    def close(self) -> None:
        """End the browser that was started here."""
        self.process.terminate()
        self.process.wait(timeout=30)
        for stream in (self.commands, self.answers, self.log):
            stream.close()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
