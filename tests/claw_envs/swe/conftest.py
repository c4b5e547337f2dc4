"""A started namespace sandbox for coroutines under test; skipped where this machine cannot have one."""

from collections.abc import Callable
from typing import Any

import pytest

from claw_envs.sandbox.probe import probe
from tests.claw_envs.sandbox.running import runner


@pytest.fixture(scope="session")
def _usable() -> None:
    namespace = probe()[0]
    if not namespace.usable:
        pytest.skip(namespace.detail)


@pytest.fixture
def in_sandbox(_usable: None) -> Callable[..., Any]:
    """`in_sandbox(body, **spec)`: run `await body(sandbox)` with a started sandbox, which is closed afterwards."""
    return runner("namespace")
