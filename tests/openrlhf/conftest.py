"""Real runs of `claw train --trainer openrlhf`: Ray, DeepSpeed and vLLM on this machine's CPU, in their own processes.

Started by `make test-openrlhf`, in the environment that `.ci/openrlhf` makes.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.openrlhf.running import Run

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.openrlhf)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """`start(family, settings, *words)` starts a run in `tmp_path / "run"`; one that runs at the end is stopped."""
    begun: list[Run] = []

    def begin(family: str, settings: str, *words: str) -> Run:
        (tmp_path / "settings.toml").write_text(settings)
        begun.append(Run(family, tmp_path / "settings.toml", tmp_path / "run", *words))
        return begun[-1]

    yield begin
    for run in begun:
        run.stop()
