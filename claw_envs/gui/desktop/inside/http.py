"""The face of this program to OSWorld's clients: its in-VM HTTP protocol.

`python3 -m claw_envs.gui.desktop.inside.http 1280x720 --host 127.0.0.1 --port 5000`. Says on standard output where it
listens, once its desktop runs; the desktop ends with it. It listens where it is told and nowhere else. Where there is
a secret in the environment (`CLAW_ENVS_SECRET`), whoever does not send it with each request is refused.

Not covered: more than one connection's worth of keeping alive; TLS.
"""

import argparse
import hmac
import os
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NoReturn
from urllib.parse import urlsplit

from claw_envs.gui.desktop.inside.guard import keep_to_itself
from claw_envs.gui.desktop.inside.machine import Machine
from claw_envs.gui.desktop.inside.names import IDENTITY, SECRET, SECRET_VARIABLE
from claw_envs.gui.desktop.inside.osworld import commands, seeing, things
from claw_envs.gui.desktop.inside.osworld.answers import (
    BAD,
    MISSING,
    NOT_ALLOWED,
    Answer,
    Desk,
    Request,
    as_text,
    failed,
)
from claw_envs.gui.desktop.inside.osworld.forms import FormError
from claw_envs.gui.desktop.inside.osworld.recording import Recording

ROUTES = {**seeing.ROUTES, **commands.ROUTES, **things.ROUTES}
"""Method and address -> what it does."""
_MOST_BODY = 512 << 20
_SILENCE = 60.0
"""Seconds after which a connection that sends nothing is dropped."""
_REFUSED, _TOO_LONG = 403, 413


class Server(ThreadingHTTPServer):
    """Serves one desktop."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], desk: Desk, secret: str) -> None:
        self.desk, self.secret = desk, secret
        self.identity = secrets.token_hex(8)
        super().__init__(address, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: whoever asked has gone."""


class Handler(BaseHTTPRequestHandler):
    """One connection, with one request."""

    server: Server
    timeout = _SILENCE
    server_version, sys_version = "claw-envs-desktop", ""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        try:
            answer = self._answer(method)
        except Exception as error:  # X or a bus is gone, or a bug: the desktop is of no use any more
            end(f"{self.path}: {type(error).__name__}: {error}")
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header(IDENTITY, self.server.identity)
        self.end_headers()
        self.wfile.write(answer.body)

    def _answer(self, method: str) -> Answer:
        given = self.headers.get(SECRET, "")
        if not hmac.compare_digest(given.encode(), self.server.secret.encode()):
            return as_text("the secret is missing or wrong", _REFUSED)
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit():
            return failed("Content-Length is no number", BAD)
        if int(length) > _MOST_BODY:
            return failed(f"the body is longer than {_MOST_BODY} bytes", _TOO_LONG)
        request = Request(self.headers.get("Content-Type", ""), self.rfile.read(int(length)))
        path = urlsplit(self.path).path
        handler = ROUTES.get((method, path))
        if handler is None:
            known = any(path == each for _, each in ROUTES)
            return as_text("not allowed" if known else "not found", NOT_ALLOWED if known else MISSING)
        try:
            return handler(self.server.desk, request)
        except (FormError, TypeError, ValueError) as error:
            return failed(str(error), BAD)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line for each request is of no use to anybody."""


def end(reason: str) -> NoReturn:
    """End the program, with the desktop."""
    print(f"the desktop has ended: {reason}", file=sys.stderr, flush=True)
    os._exit(1)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="A desktop behind OSWorld's HTTP protocol.")
    parser.add_argument("size", help="of the screen, such as 1280x720")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=5000, help="0: any that is free")
    given = parser.parse_args()
    secret = os.environ.pop(SECRET_VARIABLE, "")
    width, height = (int(part) for part in given.size.split("x"))
    try:
        keep_to_itself()
        machine = Machine((width, height), on_end=end)
        server = Server((given.host, given.port), Desk(machine, Recording(machine.size)), secret)
    except OSError as error:
        end(str(error))
    print(f"listening on http://{given.host}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
