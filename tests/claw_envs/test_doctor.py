import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from claw_envs import doctor


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
    monkeypatch.setattr(doctor, "ENGINE_SOCKETS", ())
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    return tmp_path / "engine.sock"


def test_an_engine_that_answers_is_named(endpoint: Path) -> None:
    with serving(endpoint, Engine):
        assert doctor.container_engine() == f"Docker/27.1.1 (linux) at {endpoint}"


def test_a_socket_that_speaks_something_else_is_no_engine(endpoint: Path) -> None:
    with serving(endpoint, Garbage):
        assert doctor.container_engine() is None


def test_a_dead_socket_is_no_engine(endpoint: Path) -> None:
    assert doctor.container_engine() is None
    with serving(endpoint, Engine):
        pass
    assert endpoint.exists()
    assert doctor.container_engine() is None


def test_what_is_missing_comes_with_its_fix(endpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    report = doctor.report()
    assert "no   chromium      apt-get install chromium" in report
    assert "no   docker engine start Docker" in report
    assert f"no   converted     happens once, at first use, in {tmp_path / 'models'}" in report


def test_a_converted_model_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    (tmp_path / "models" / "tiny" / "config.json").write_text("{}")
    (tmp_path / "models" / "half-done").mkdir()
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    assert "yes  converted     tiny\n" in doctor.report()
