"""A very small driver for headless Chromium: open a page, run scripts in it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--disable-dev-shm-usage"),
    *("--remote-debugging-port=0", "--window-size=1280,1600"),
)


def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One page in one browser, driven through its debugging socket."""

    def __init__(self, folder: Path, page: Path, *flags: str) -> None:
        program = chromium()
        assert program is not None
        self.messages: list[str] = []
        self.count = 0
        self.log = (folder / "chromium.log").open("wb")
        profile = f"--user-data-dir={folder / 'profile'}"
        self.process = subprocess.Popen(
            [program, *FLAGS, *flags, profile, "about:blank"],
            stdout=self.log,
            stderr=self.log,
        )
        try:
            self._connect(folder / "profile" / "DevToolsActivePort")
            for domain in ("Runtime", "Log", "Page", "Network"):
                self.call(f"{domain}.enable")
            self.call("Page.navigate", url=page.as_uri())
            self.wait(
                "document.readyState === 'complete' && location.href !== 'about:blank'"
            )
        except BaseException:
            self.close()
            raise

    def _connect(self, port_file: Path) -> None:
        deadline = time.monotonic() + 60
        while not port_file.exists() or not port_file.read_text().strip():
            assert time.monotonic() < deadline, "Chromium did not start"
            time.sleep(0.05)
        port = int(port_file.read_text().splitlines()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = json.load(answer)
        url = next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page")
        path = "/" + url.split("/", 3)[3]
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        assert b" 101 " in head.splitlines()[0]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; note what the page says meanwhile."""
        self.count += 1
        text = json.dumps({"id": self.count, "method": method, "params": params})
        self._send(text.encode())
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

    def _send(self, data: bytes) -> None:
        mask = os.urandom(4)
        n = len(data)
        if n < 126:
            head = struct.pack("!BB", 0x81, 0x80 | n)
        elif n < 65536:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, n)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, n)
        body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(head + mask + body)

    def _receive(self) -> bytes:
        data, last = b"", False
        while not last:
            first, second = self._read(2)
            last, n = bool(first & 0x80), second & 0x7F
            if n == 126:
                (n,) = struct.unpack("!H", self._read(2))
            elif n == 127:
                (n,) = struct.unpack("!Q", self._read(8))
            data += self._read(n)
        return data

    def _read(self, n: int) -> bytes:
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            assert piece, "Chromium closed the connection"
            data += piece
        return data

    def close(self) -> None:
        """End the browser that was started here."""
        self.process.terminate()
        self.process.wait(timeout=30)
        if hasattr(self, "socket"):
            self.socket.close()
        self.log.close()

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
