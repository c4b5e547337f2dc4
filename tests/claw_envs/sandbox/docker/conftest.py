"""The container engine of this machine; tests that need one are skipped where none answers, or it lacks the image."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.docker import create
from claw_envs.sandbox.docker.build import BASE
from claw_envs.sandbox.docker.engine import Engine, connect
from claw_envs.sandbox.docker.labels import OWNER, labels
from tests.claw_envs.sandbox.running import runner

WORKER = f"""FROM {BASE}
RUN useradd --create-home --uid 4321 worker
ENV SET_BY=image PATH=/opt/tools:/usr/local/bin:/usr/bin:/bin
WORKDIR /home/worker
USER worker
"""


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine, which has the base image."""
    try:
        engine = connect()
        engine.explained(engine.api.inspect_image, BASE)
    except (UserError, InfrastructureError) as error:
        pytest.skip(str(error))
    return engine


@pytest.fixture
def in_container(engine: Engine) -> Callable[..., Any]:
    """`in_container(body, **spec)`: run `await body(sandbox)` with a started sandbox, which is closed afterwards."""
    return runner("docker")


@pytest.fixture
def ours(engine: Engine) -> Callable[[], list[str]]:
    """Names of the containers that this process has, running or not."""

    def names() -> list[str]:
        mine = {"label": f"{OWNER}={labels()[OWNER]}"}
        found = engine.explained(engine.api.containers, all=True, filters=mine)
        return [container["Names"][0] for container in found]

    return names


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the owner is not root, or the engine is elsewhere."""
    monkeypatch.setattr(create, "_host_pid", lambda *_: None)
    monkeypatch.setattr(create, "swaps_root", lambda _: False)


@pytest.fixture
def swaps(engine: Engine) -> None:
    """For tests of what needs root on the engine's host."""
    if not create.swaps_root(engine):
        pytest.skip("needs root on the engine's host")


@pytest.fixture(scope="session")
def worker(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build folder whose image has a user, a working directory and an environment of its own."""
    folder = tmp_path_factory.mktemp("worker")
    (folder / "Dockerfile").write_text(WORKER)
    return folder
