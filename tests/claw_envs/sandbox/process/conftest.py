"""The persistent shell is tested over both of its links: descriptors of a child, and the exec of a container."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from claw_envs.sandbox.probe import Probe, probe
from tests.claw_envs.sandbox.running import runner


@pytest.fixture(scope="session")
def probed() -> dict[str, Probe]:
    """What works here, by backend."""
    return {found.backend: found for found in probe()}


@pytest.fixture(params=["namespace", "docker"])
def in_sandbox(request: pytest.FixtureRequest, probed: dict[str, Probe]) -> Callable[..., Any]:
    """`in_sandbox(body, **spec)`: run `await body(sandbox)` with a started sandbox, which is closed afterwards."""
    backend = probed[request.param]
    if not backend.usable:
        pytest.skip(backend.detail)
    return runner(backend.backend)


@pytest.fixture(params=["namespace", "docker", "local"])
def in_any_sandbox(request: pytest.FixtureRequest, probed: dict[str, Probe]) -> Iterator[Callable[..., Any]]:
    """The same with one of each kind, the local one too, whose warning is not shown."""
    if not probed[request.param].usable:
        pytest.skip(probed[request.param].detail)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        yield runner(request.param, limit=60)
