"""Environment servers for tests: one that tests share, and a factory for those that a test breaks."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.probe import probe

from .hosting import Hosted

Host = Callable[..., Hosted]


@pytest.fixture(scope="session")
def sandboxes() -> None:
    """Skip where this machine cannot have a namespace sandbox."""
    namespace = probe()[0]
    if not namespace.usable:
        pytest.skip(namespace.detail)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A server with its defaults."""
    hosted = Hosted(log=tmp_path_factory.mktemp("server") / "log")
    yield hosted
    assert hosted.stop() == 0


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """`host(*arguments)` starts a server that may be killed; all are stopped at the end."""
    started: list[Hosted] = []

    def start(*arguments: str, **more: Any) -> Hosted:
        started.append(Hosted(*arguments, log=tmp_path / "server.log", **more))
        return started[-1]

    yield start
    for hosted in started:
        if hosted.process.poll() is None:
            assert hosted.stop() == 0
