from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError


def _run(*args: str) -> list[str]:
    result = CliRunner().invoke(app, ["images", *args], catch_exceptions=False)
    assert result.exit_code == 0
    return [line.split()[0] for line in result.output.splitlines()]


def test_export_list_remove(tmp_path: Path, archive: Callable[..., bytes]) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(archive(("bin/bash", "")))
    assert _run("list") == []
    assert _run("export", str(path)) == ["a:latest"]
    assert _run("export", str(path), "--name", "b:2") == ["b:2"]
    assert _run("list") == ["a:latest", "b:2"]
    assert _run("remove", "a", "b:2") == []
    assert _run("list") == []


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--name is for one image"):
        _run("export", "a", "b", "--name", "c")
    with pytest.raises(UserError, match="no exported image"):
        _run("remove", "a")
    with pytest.raises(UserError, match="no task there"):
        _run("export", str(tmp_path))


def test_a_task_that_runs_on_the_hosts_system_needs_no_image(tmp_path: Path) -> None:
    for name, text in {
        "task.toml": "",
        "instruction.md": "Do it.",
        "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\n",
        "tests/test.sh": "echo 1 > /logs/verifier/reward.txt",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = CliRunner().invoke(app, ["images", "export", str(tmp_path)], catch_exceptions=False)
    assert "no image is needed" in result.output
