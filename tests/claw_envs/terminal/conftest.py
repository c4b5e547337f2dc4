"""A factory for small task folders, so that each test states only what matters to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

MakeTask = Callable[..., Path]


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """`make_task(name, toml=, instruction=, dockerfile=, test=, solve=, files={path: text})` -> the task's folder."""

    def make(
        name: str = "sample",
        *,
        toml: str = "[metadata]\nmax_steps = 4\n",
        instruction: str = "Create /app/done.",
        dockerfile: str = "FROM debian\nWORKDIR /app\n",
        test: str = "test -e /app/done; echo $((1 - $?)) > /logs/verifier/reward.txt\n",
        solve: str = "touch done\n",
        files: dict[str, str] | None = None,
    ) -> Path:
        folder = tmp_path / "tasks" / name
        parts = {
            "task.toml": toml,
            "instruction.md": instruction,
            "environment/Dockerfile": dockerfile,
            "tests/test.sh": test,
            "solution/solve.sh": solve,
        }
        for path, text in (parts | (files or {})).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    return make
