import io
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from claw_envs.cli import app
from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import builtin
from claw_envs.sandbox.images.archive import add_stream
from claw_envs.sandbox.images.export import wanted_by
from claw_envs.sandbox.images.store import Config
from claw_envs.sandbox.images.tag import build_tag


def _run(*args: str) -> list[str]:
    result = CliRunner().invoke(app, ["images", *args], catch_exceptions=False)
    assert result.exit_code == 0
    return [line.split()[0] for line in result.output.splitlines()]


def test_export_list_remove(tmp_path: Path, archive: Callable[..., bytes]) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(archive(("bin/bash", "")))
    assert _run("list") == ["name"]
    assert _run("export", str(path)) == ["a:latest"]
    assert _run("export", str(path), "--name", "b:2") == ["b:2"]
    assert _run("list") == ["name", "a:latest", "b:2"]
    _run("remove", str(path), "b:2")
    assert _run("list") == ["name"]


def test_a_build_folder_is_listed_and_its_image_removed_by_it(tmp_path: Path, archive: Callable[..., bytes]) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM debian:12\n")
    add_stream(build_tag(folder), Config(digest="sha256:1", folder=str(folder)), io.BytesIO(archive(("bin/bash", ""))))
    assert CliRunner().invoke(app, ["images", "list"]).output.splitlines()[1].endswith(f" {folder}")
    _run("remove", str(folder))
    assert _run("list") == ["name"]
    with pytest.raises(UserError, match="no exported image"):
        _run("remove", str(folder))


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--name is for one image"):
        _run("export", "a", "b", "--name", "c")
    with pytest.raises(UserError, match="no exported image"):
        _run("remove", "a")
    for command in ("export", "remove"):
        for missing in ("/nope/x", "./x", "~/x", "x.tar", "x.tar.gz"):
            with pytest.raises(UserError, match=f"{missing}: no such file or folder"):
                _run(command, missing)
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


def test_rows_of_a_swe_set_name_their_images(tmp_path: Path) -> None:
    assert wanted_by(str(builtin("swe") / "tasks/claw__gauge-1")) == [str(builtin("swe") / "tasks/claw__gauge-1")]
    assert [Path(name).name for name in wanted_by(str(builtin("swe")))][:2] == ["claw__chime-1", "claw__daybook-1"]
