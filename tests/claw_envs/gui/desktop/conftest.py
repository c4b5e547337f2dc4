"""A desktop in each kind of sandbox; skipped where this machine cannot have one."""

from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.desktop.machine import IMAGE, check_host
from claw_envs.sandbox.docker.engine import connect
from claw_envs.sandbox.probe import probe
from tests.claw_envs.gui.desktop.running import runner


def _reason(backend: str) -> str | None:
    """Why there is no desktop in a sandbox of that kind."""
    try:
        if backend == "namespace":
            check_host()
            found = probe()[0]
            return None if found.usable else found.detail
        engine = connect()
        engine.explained(engine.api.inspect_image, IMAGE)
    except (UserError, InfrastructureError) as error:
        return str(error)
    return None


@pytest.fixture(scope="session")
def reasons() -> dict[str, str | None]:
    """By kind of sandbox."""
    return {backend: _reason(backend) for backend in ("namespace", "docker")}


@pytest.fixture(params=["namespace", "docker"])
def backend(request: pytest.FixtureRequest, reasons: dict[str, str | None]) -> str:
    """Name of a kind of sandbox that a desktop runs in here."""
    reason = reasons[request.param]
    if reason is not None:
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture
def on_desktop(backend: str) -> Callable[..., Any]:
    """`on_desktop(body, size=…, **spec)`: run `await body(screen)` on an open desktop in each kind of sandbox."""
    return runner(backend)


@pytest.fixture
def on_namespace(reasons: dict[str, str | None]) -> Callable[..., Any]:
    """As `on_desktop`, for what does not depend on the sandbox."""
    if reasons["namespace"] is not None:
        pytest.skip(reasons["namespace"])
    return runner("namespace")
