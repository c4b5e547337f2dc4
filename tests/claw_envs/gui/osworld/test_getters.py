"""Getters that need no machine."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from claw_envs.core.task import Task
from claw_envs.gui.osworld.getters import GETTERS
from claw_envs.gui.osworld.place import Place


def test_a_kept_file_is_found_by_the_name_that_it_was_kept_by(make_task: Callable[..., Task], tmp_path: Path) -> None:
    (tmp_path / "episode").mkdir()
    (tmp_path / "secret").write_text("x")
    place = Place(cast(Any, SimpleNamespace()), make_task(), tmp_path / "episode")
    kept = place.keep("out/list.txt", b"one")

    def found(path: str) -> Any:
        return asyncio.run(cast(Any, GETTERS["cache_file"](place, {"path": path})))

    assert found("out/list.txt") == kept
    assert [found(path) for path in ("absent", "../secret", str(tmp_path / "secret"), "..")] == [None] * 4
