"""A desktop of ours that serves OSWorld's protocol, one for all tests."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.task import Task
from claw_envs.gui.osworld.format import read
from tests.claw_envs.gui.osworld.serving import Crooked, Served, crooked, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The live server."""
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def proxy(served: Served) -> Iterator[Crooked]:
    """A proxy in front of it, which does nothing wrong until it is told."""
    with crooked(served.url) as made:
        yield made


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., Task]:
    """`make_task(config=…, evaluator=…)`: a task as read from a file."""

    def make(**fields: Any) -> Task:
        import json

        row = {"id": "one", "instruction": "Do it.", "evaluator": {"func": "infeasible"}} | fields
        path = tmp_path / f"{row['id']}.json"
        path.write_text(json.dumps(row))
        return read(path)

    return make
