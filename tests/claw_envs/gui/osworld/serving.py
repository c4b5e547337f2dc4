"""A live desktop of ours behind OSWorld's protocol, and a proxy in front of it that misbehaves."""

import contextlib
import os
import shutil
import socket
import socketserver
import struct
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Literal

import pytest

from claw_envs.gui.desktop.inside.names import IDENTITY, SECRET

ROOT = Path(__file__).parents[4]
INSIDE = "claw_envs/gui/desktop/inside"
SIZE = (800, 600)
PROGRAMS = ("bwrap", "Xvfb", "openbox", "mousepad", "xterm", "wmctrl", "xprop")
NO_EDITOR = "pkill mousepad; while pgrep --runstates D,R,S,T mousepad; do sleep 0.02; done"
"""A command of the machine's; an editor that still runs would open the next file itself."""
Fault = Literal["reset", "half", "nonsense", "500", "silent", "slow", "reboot"]


def missing() -> list[str]:
    """Programs that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class Served:
    """The server on this machine's own loopback, with processes, a home and a /tmp of its own. Blocks until it listens.

    What runs on it sees no process of this machine's, so that it may end programs by name.
    """

    def __init__(self, log: Path, secret: str = "") -> None:
        self._log: IO[bytes] = log.open("ab")
        self.process = subprocess.Popen(
            [
                "bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--tmpfs", "/tmp",
                "--dir", "/tmp/home", "--ro-bind", str(ROOT / INSIDE), f"/tmp/program/{INSIDE}", "--chdir", "/",
                "--die-with-parent",
                "/usr/bin/python3", "-m", "claw_envs.gui.desktop.inside.http", f"{SIZE[0]}x{SIZE[1]}", "--port", "0",
            ],
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/tmp/home",
                "PYTHONPATH": "/tmp/program",
                "PYTHONDONTWRITEBYTECODE": "1",
                "LANG": "C.UTF-8",
                "CLAW_ENVS_SECRET": secret,
            },
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said.startswith("listening on "), f"the server does not start: {log.read_text()}"
        self.url = said.removeprefix("listening on ").strip()
        asked = urllib.request.Request(f"{self.url}/accessibility", headers={SECRET: secret})
        urllib.request.urlopen(asked, timeout=60).close()  # what it starts when it is first needed

    def stop(self) -> None:
        """End it, with its desktop."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """A server whose log is in `folder`, ended at the end; the test is skipped where this machine cannot have one."""
    if lacking := missing():
        pytest.skip(f"a desktop needs {', '.join(lacking)}")
    server = Served(folder / "log")
    try:
        yield server
    finally:
        server.stop()


class Crooked(socketserver.ThreadingTCPServer):
    """A proxy of a live server. What it does wrong is said by `fault`, for each request's path; None: nothing."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        host, _, port = url.removeprefix("http://").partition(":")
        self.upstream = host, int(port)
        self.fault: Callable[[str], Fault | None] = lambda path: None
        self.seen: list[str] = []
        """Paths that were asked for."""
        self.released = threading.Event()
        """Lets connections go that are kept waiting."""
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def once(self, path: str, fault: Fault, times: int = 1) -> None:
        """Do something wrong on a path, so many times."""
        left = times

        def chosen(asked: str) -> Fault | None:
            nonlocal left
            if asked != path or left == 0:
                return None
            left -= 1
            return fault

        self.fault = chosen

    def stop(self) -> None:
        """End it."""
        self.released.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: whoever asked has gone."""


class _Connection(socketserver.BaseRequestHandler):
    server: Crooked
    request: socket.socket

    def handle(self) -> None:
        asked = self._read()
        path = asked.split(b" ", 2)[1].decode()
        self.server.seen.append(path)
        fault = self.server.fault(path)
        if fault == "silent":
            self.server.released.wait(60)
            return
        with socket.create_connection(self.server.upstream) as upstream:
            upstream.sendall(asked)
            answer = b"".join(iter(lambda: upstream.recv(1 << 16), b""))
        self._answer(answer, fault)

    def _answer(self, answer: bytes, fault: Fault | None) -> None:
        head, _, body = answer.partition(b"\r\n\r\n")
        if fault == "reset":
            self.request.sendall(answer[: len(answer) // 2])
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        if fault in ("half", "nonsense"):
            body = body[: len(body) // 2] if fault == "half" else b"<html>it works!</html>"
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
            answer = b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body
        if fault == "500":
            answer = b"HTTP/1.0 500 Oops\r\nContent-Length: 4\r\n\r\noops"
        if fault == "reboot":
            answer = answer.replace(IDENTITY.encode() + b": ", IDENTITY.encode() + b": another-", 1)
        if fault == "slow":
            for start in range(0, len(answer), 1 << 14):
                self.request.sendall(answer[start : start + (1 << 14)])
                time.sleep(0.01)
            return
        self.request.sendall(answer)

    def _read(self) -> bytes:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += self._receive()
        head, _, body = asked.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        lengths = [int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")]
        chunked = "transfer-encoding: chunked" in lines
        while (chunked and not body.endswith(b"0\r\n\r\n")) or (lengths and len(body) < lengths[0]):
            more = self._receive()
            body, asked = body + more, asked + more
        return asked

    def _receive(self) -> bytes:
        got = self.request.recv(1 << 16)
        if not got:
            raise ConnectionResetError("whoever asked has gone")
        return got


@contextlib.contextmanager
def crooked(url: str) -> Any:
    """A proxy, ended at the end."""
    proxy = Crooked(url)
    try:
        yield proxy
    finally:
        proxy.stop()
