import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.docker.backend import DockerSandbox
from claw_envs.sandbox.docker.engine import Engine, NotThereError


class Relay:
    """A Unix socket that leads to the engine's, and can be cut as when the engine is killed."""

    def __init__(self, path: Path, target: str) -> None:
        self._target = target
        self._ends: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._target)
                self._ends += near, far
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """End every connection, and take no more."""
        for end in (self._server, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def relay(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    """The way to the engine for what is started in the test."""
    if not engine.url.startswith("unix://"):
        pytest.skip("the engine has no socket on this machine")
    relay = Relay(tmp_path / "engine.sock", engine.url.removeprefix("unix://"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    yield relay
    relay.cut()


def test_an_engine_that_stops_is_an_infrastructure_error_and_no_hang(
    engine: Engine, relay: Relay, ours: Callable[[], list[str]]
) -> None:
    async def main() -> None:
        sandbox = DockerSandbox(SandboxSpec())
        await sandbox.start()
        shell = await sandbox.shell()
        terminal = await sandbox.terminal("sleep 1000", sink=lambda _: None)
        step = asyncio.ensure_future(shell.run("sleep 1000", timeout=100))
        execution = asyncio.ensure_future(sandbox.exec(["sleep", "1000"], timeout=100))
        await sandbox.exec(["sh", "-c", "until [ $(pgrep -c sleep) = 3 ]; do :; done"], timeout=30)
        relay.cut()
        async with asyncio.timeout(30):
            uses: list[Any] = [step, execution, sandbox.exec(["true"], timeout=30), sandbox.shell(), sandbox.get("x")]
            for result in await asyncio.gather(*uses, return_exceptions=True):
                assert isinstance(result, InfrastructureError), result
            assert await terminal.ended is None
            await sandbox.close()

    asyncio.run(main())
    for name in ours():
        engine.explained(engine.api.remove_container, name.lstrip("/"), force=True)


def test_what_could_not_be_removed_is_removed_with_the_next_start(
    engine: Engine, ours: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise requests.exceptions.ConnectionError

    async def main() -> None:
        first, second = DockerSandbox(SandboxSpec()), DockerSandbox(SandboxSpec())
        await first.start()
        with monkeypatch.context() as patch:
            patch.setattr(engine.api, "remove_container", refuse)
            await first.close()
        left = ours()
        await second.start()
        assert len(left) == len(ours()) == 1
        assert ours() != left
        await second.close()

    asyncio.run(main())
    assert ours() == []


def test_what_the_engine_does_not_have(engine: Engine) -> None:
    with pytest.raises(NotThereError, match="no-such-container"):
        asyncio.run(engine.call(engine.api.inspect_container, "no-such-container"))


def test_a_call_whose_caller_is_cancelled_is_waited_for(engine: Engine) -> None:
    done = []

    def slow() -> None:
        release.wait(60)
        done.append(1)

    async def main() -> None:
        call = asyncio.ensure_future(engine.call(slow))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.sleep(0)
        assert not call.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await call

    release = threading.Event()
    asyncio.run(main())
    assert done == [1]
