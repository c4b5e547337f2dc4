"""Factories for small task folders, one a format, and for an environment over one, so that each test states only what
matters to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.sandbox.probe import probe
from claw_envs.terminal.env import TerminalEnv

MakeTask = Callable[..., Path]
MakeEnv = Callable[..., TerminalEnv]

COMPOSE = """services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: ["sh", "-c", "sleep infinity"]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
      - ${T_BENCH_TASK_AGENT_LOGS_PATH}:${T_BENCH_CONTAINER_AGENT_LOGS_PATH}
"""
CHECK = """echo '===== short test summary info ====='
if [ -e /app/done ]; then echo 'PASSED check.py::test_done'; else echo 'FAILED check.py::test_done - no file'; fi
"""


@pytest.fixture(scope="session")
def engine() -> None:
    """Skips where no container engine with the base image answers."""
    found = next(found for found in probe() if found.backend == "docker")
    if not found.usable:
        pytest.skip(found.detail)


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
        return _written(folder, parts | (files or {}))

    return make


@pytest.fixture
def make_tb_task(tmp_path: Path) -> MakeTask:
    """`make_tb_task(name, yaml=, dockerfile=, compose=, test=, solve=, files=)` -> a Terminal-Bench task's folder."""

    def make(
        name: str = "bench",
        *,
        yaml: str = "instruction: Create /app/done.\ndifficulty: easy\n",
        dockerfile: str = "FROM debian\nWORKDIR /app\n",
        compose: str = COMPOSE,
        test: str = 'bash "$TEST_DIR/check.sh"\n',
        solve: str = "touch done\n",
        files: dict[str, str] | None = None,
    ) -> Path:
        folder = tmp_path / "tasks" / name
        parts = {
            "task.yaml": yaml,
            "Dockerfile": dockerfile,
            "docker-compose.yaml": compose,
            "run-tests.sh": test,
            "tests/check.sh": CHECK,
            "solution.sh": solve,
        }
        return _written(folder, parts | (files or {}))

    return make


def _written(folder: Path, parts: dict[str, str]) -> Path:
    for path, text in parts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def make_env(make_task: MakeTask) -> Iterator[MakeEnv]:
    """`make_env(settings=, **task parts)`: an environment over one small task, reset and ready."""
    made: list[TerminalEnv] = []

    def make(
        *, max_steps: int = 50, step_timeout: float = 20.0, settings: dict[str, Any] | None = None, **parts: Any
    ) -> TerminalEnv:
        task = str(make_task(**parts))
        env = TerminalEnv(task, max_steps=max_steps, step_timeout=step_timeout, **(settings or {}))
        made.append(env)
        env.reset(seed=0)
        return env

    yield make
    for env in made:
        env.close()
