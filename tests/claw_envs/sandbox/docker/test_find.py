import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.docker import find
from claw_envs.sandbox.docker.engine import connect


class Engine(BaseHTTPRequestHandler):
    """Answers as a container engine does."""

    def version_string(self) -> str:
        return "Docker/27.1.1 (linux)"

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Garbage(socketserver.StreamRequestHandler):
    """Answers, but not in HTTP."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"220 mail ready\r\n")


@contextmanager
def serving(path: Path, handler: type[socketserver.BaseRequestHandler]) -> Iterator[None]:
    with socketserver.UnixStreamServer(str(path), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an engine may listen; no other is looked for."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    return tmp_path / "engine.sock"


def test_an_engine_that_answers_is_named(endpoint: Path) -> None:
    with serving(endpoint, Engine):
        assert find.find_engine() == (f"unix://{endpoint}", "Docker/27.1.1 (linux)")


def test_an_engine_that_never_answered_is_the_users_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(UserError, match=r"tcp://127.0.0.1:1 does not answer \(connection refused\): start it") as error:
        connect()
    assert "\n" not in str(error.value)


def test_a_socket_that_speaks_something_else_is_no_engine(endpoint: Path) -> None:
    with serving(endpoint, Garbage), pytest.raises(UserError, match="no container engine answers there"):
        find.find_engine()


def test_a_dead_socket_is_no_engine(endpoint: Path) -> None:
    with pytest.raises(UserError, match="DOCKER_HOST"):
        find.find_engine()
    with serving(endpoint, Engine):
        pass
    assert endpoint.exists()
    with pytest.raises(UserError, match="start Docker or Podman"):
        find.find_engine()


def test_the_usual_sockets_are_tried_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(find, "SOCKETS", ("/nonexistent/docker.sock", "{XDG_RUNTIME_DIR}/podman.sock"))
    with pytest.raises(UserError, match=r"^no container engine answers: start"):
        find.find_engine()
    with serving(tmp_path / "podman.sock", Engine):
        assert find.find_engine()[0] == f"unix://{tmp_path}/podman.sock"


def test_an_address_that_no_stream_can_use_is_the_users_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://somewhere")
    with pytest.raises(UserError, match="unix://"):
        find.find_engine()
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2375")
    assert find.find_engine()[0] == "tcp://127.0.0.1:2375"
