from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec, Task, VerifierSpec
from claw_envs.sandbox.images import build_tag, root_of
from claw_envs.sandbox.images.export import export, needed_by


@pytest.fixture
def api() -> Any:
    """The low-level client of this machine's engine; what the test made is removed by the test."""
    pytest.importorskip("docker")
    from claw_envs.sandbox.docker.engine import connect

    try:
        engine = connect()
    except (UserError, InfrastructureError) as error:
        pytest.skip(str(error))
    return engine.api


@pytest.fixture
def scratch(api: Any, tmp_path: Path, archive: Callable[..., bytes]) -> Iterator[str]:
    """An image of two files, made of no other."""
    name = "claw-envs/test-scratch:1"
    path = tmp_path / "scratch.tar"
    path.write_bytes(archive(("bin/", ""), ("bin/bash", "no program"), ("etc/", ""), ("etc/issue", "scratch")))
    api.import_image_from_file(str(path), repository="claw-envs/test-scratch", tag="1", changes=["ENV A=1"])
    yield name
    api.remove_image(name, force=True)


def test_an_image_of_the_engine(api: Any, scratch: str) -> None:
    before = {container["Id"] for container in api.containers(all=True)}
    (image,) = export(scratch)
    assert root_of(scratch) == image
    assert image.digest == api.inspect_image(scratch)["Id"]
    assert image.env["A"] == "1"
    assert (image.rootfs / "etc/issue").read_text() == "scratch"
    assert "localhost" in (image.rootfs / "etc/hosts").read_text()
    (renamed,) = export(scratch, "other:2")
    assert (renamed.name, renamed.rootfs) == ("other:2", image.rootfs)
    after = [container for container in api.containers(all=True) if container["Id"] not in before]
    assert [container for container in after if container["Image"] == scratch] == []


def test_a_folder_is_built_first(api: Any, scratch: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM {scratch}\nWORKDIR /w\nCOPY data /data\n")
    (folder / "data").write_text("data")
    (image,) = export(str(folder))
    try:
        assert (image.rootfs / "data").read_text() == "data"
        assert image.workdir == "/w"
        assert root_of(build_tag(folder)) == image
    finally:
        api.remove_image(image.name, force=True)


def test_what_the_engine_does_not_have_or_cannot_build_is_said_in_one_line(api: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="docker pull"):
        export("claw-envs/no-such-image:1")
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY missing /\n")
    with pytest.raises((UserError, InfrastructureError), match="missing") as error:
        export(str(tmp_path))
    assert "\n" not in str(error.value)


def test_an_archive_needs_no_engine(tmp_path: Path, archive: Callable[..., bytes]) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(archive(("bin/bash", "")))
    assert [image.name for image in export(str(path), "b")] == ["b:latest"]


def test_what_tasks_need() -> None:
    specs = [SandboxSpec(build="/b"), SandboxSpec(), SandboxSpec(image="a:1"), SandboxSpec(build="/b"), None]
    tasks = [
        Task(id=str(number), family="terminal", instruction="", verifier=VerifierSpec(kind="harbor"), sandbox=spec)
        for number, spec in enumerate(specs)
    ]
    assert needed_by(tasks) == ["/b", "a:1"]
