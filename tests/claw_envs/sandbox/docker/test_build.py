import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.docker.backend import DockerSandbox
from claw_envs.sandbox.docker.build import BASE, find_image
from claw_envs.sandbox.docker.engine import Engine
from claw_envs.sandbox.images.tag import build_tag

Runner = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, engine: Engine) -> Iterator[Path]:
    """A build folder; its image is removed."""
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE}\nCOPY note /note\nRUN date +%s%N > /built\n")
    (tmp_path / "note").write_text(str(tmp_path))
    tag = build_tag(tmp_path)
    yield tmp_path
    engine.explained(engine.api.remove_image, tag, force=True)


def test_equal_folders_are_built_once_and_others_anew(engine: Engine, folder: Path) -> None:
    async def main() -> list[str]:
        spec = SandboxSpec(build=str(folder))
        found = await asyncio.gather(*(find_image(engine, spec) for _ in range(3)))
        return [image["Id"] for image in found]

    assert len(set(asyncio.run(main()))) == 1
    first = asyncio.run(main())[0]
    (folder / "note").write_text("other")
    other = build_tag(folder)
    try:
        assert asyncio.run(main())[0] != first
    finally:
        engine.explained(engine.api.remove_image, other, force=True)


def test_a_built_image_runs(in_container: Runner, folder: Path) -> None:
    async def body(sandbox: DockerSandbox) -> bytes:
        return await sandbox.get("/note")

    assert in_container(body, build=str(folder)) == str(folder).encode()


@pytest.mark.parametrize(
    ("dockerfile", "reason"),
    [(f"FROM {BASE}\nRUN echo to the log; exit 3\n", "3"), ("FRO x\n", "FRO"), (f"FROM {BASE}\nCOPY a /b\n", "a")],
)
def test_a_folder_that_does_not_build_is_the_users_mistake(
    engine: Engine, tmp_path: Path, dockerfile: str, reason: str
) -> None:
    (tmp_path / "Dockerfile").write_text(dockerfile)
    with pytest.raises(UserError, match=f"Dockerfile does not build: .*{reason}") as error:
        asyncio.run(DockerSandbox(SandboxSpec(build=str(tmp_path))).start())
    assert "\n" not in str(error.value)


def test_a_base_that_cannot_be_had_is_named(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE}\nRUN true\nFROM localhost:1/no-such:1\nRUN true\n")
    with pytest.raises(UserError, match="does not build: FROM localhost:1/no-such:1: ") as error:
        asyncio.run(DockerSandbox(SandboxSpec(build=str(tmp_path))).start())
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"image": "no-such/image:1"}, "docker pull no-such/image:1"),
        ({"rootfs": "/srv/root"}, "docker import"),
        ({"layers": ("/srv/layer",)}, "images in place of layers"),
        ({"build": "/nowhere"}, "Dockerfile"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(engine: Engine, spec: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason) as error:
        asyncio.run(DockerSandbox(SandboxSpec(**spec)).start())
    assert "\n" not in str(error.value)


def test_an_image_without_bash_is_the_users_to_change(
    engine: Engine, tmp_path: Path, ours: Callable[[], list[str]]
) -> None:
    (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    with pytest.raises(UserError, match="no bash in it"):
        asyncio.run(DockerSandbox(SandboxSpec(build=str(tmp_path))).start())
    assert ours() == []
    engine.explained(engine.api.remove_image, build_tag(tmp_path), force=True)


def test_a_user_that_the_image_does_not_have(engine: Engine, tmp_path: Path, ours: Callable[[], list[str]]) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {BASE}\nUSER nobody-knows\n")
    with pytest.raises(Exception, match="nobody-knows"):
        asyncio.run(DockerSandbox(SandboxSpec(build=str(tmp_path))).start())
    assert ours() == []
    engine.explained(engine.api.remove_image, build_tag(tmp_path), force=True)
