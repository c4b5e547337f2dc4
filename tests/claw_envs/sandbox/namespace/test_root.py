import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.images import CachedImage, build_tag
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.host import identity
from claw_envs.sandbox.namespace.root import find_root

Runner = Callable[..., Any]
MakeImage = Callable[..., CachedImage]


def test_an_image_is_the_agents_machine(in_sandbox: Runner, make_image: MakeImage) -> None:
    image = make_image("mine:1", Env=["PATH=/usr/bin:/opt/tools", "GREETING=hello", "OVER=image"], WorkingDir="/srv")

    async def body(sandbox: NamespaceSandbox) -> list[str]:
        assert sandbox.workdir == "/srv"
        shell = await sandbox.shell()
        steps = [
            "pwd; cat /etc/issue; ls /; echo $PATH $GREETING $OVER $HOME",
            "echo x > /etc/issue; rm /usr/bin/head; echo y > /root/y; ls /root; id -un; [ -O /usr/bin ] && echo mine",
        ]
        seen = [(await shell.run(step, timeout=30)).output for step in steps]
        verifier = ["sh", "-c", "pwd; echo $PATH $GREETING $OVER; cat /root/y; ls $HOME; id -u"]
        seen.append((await sandbox.exec(verifier, timeout=30, user="verifier", env={"PATH": "/evil"})).output)
        await sandbox.reset()
        seen.append((await sandbox.exec(["sh", "-c", "cat /etc/issue; head -c 0; ls /root"], timeout=30)).output)
        return seen

    seen = in_sandbox(body, image="mine:1", workdir="", env={"OVER": "spec"})
    assert seen[0].splitlines()[:2] == ["/srv", "my own"]
    assert "/usr/bin:/opt/tools hello spec /home/agent" in seen[0]
    assert {"bin", "dev", "etc", "home", "proc", "srv", "usr"} <= set(seen[0].split())
    assert seen[1] == "y\nagent\nmine\n"
    assert seen[2] == "/srv\n/usr/bin:/opt/tools hello image\ny\n0\n"
    assert seen[3] == "my own\n"
    assert (image.rootfs / "etc/issue").read_text() == "my own\n"


def test_the_specs_own_working_directory_goes_before_the_images(in_sandbox: Runner, make_image: MakeImage) -> None:
    make_image("mine:1", WorkingDir="/srv")

    async def body(sandbox: NamespaceSandbox) -> tuple[str, str]:
        return sandbox.workdir, (await sandbox.exec(["sh", "-c", "pwd; echo > f"], timeout=30)).output

    assert in_sandbox(body, image="mine:1", workdir="/work/deep") == ("/work/deep", "/work/deep\n")


def test_files_and_setup_in_an_image(in_sandbox: Runner, make_image: MakeImage, tmp_path: Path) -> None:
    make_image("mine:1")
    (tmp_path / "given").write_text("given\n")

    async def body(sandbox: NamespaceSandbox) -> str:
        await sandbox.put("/etc/put", b"put\n")
        assert await sandbox.get("/etc/put") == b"put\n"
        await sandbox.reset()
        return (await sandbox.exec(["sh", "-c", "cat /data/given made; ls /etc/put"], timeout=30)).output

    files = {"/data/given": str(tmp_path / "given")}
    seen = in_sandbox(body, image="mine:1", workdir="", files=files, setup=("echo made > made",))
    assert seen.startswith("given\nmade\n")
    assert "No such file" in seen


def test_a_build_folder_is_found_by_its_content(in_sandbox: Runner, make_image: MakeImage, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM mine\n")
    make_image(build_tag(folder))

    async def body(sandbox: NamespaceSandbox) -> str:
        return (await sandbox.exec(["cat", "/etc/issue"], timeout=30)).output

    assert in_sandbox(body, build=str(folder)) == "my own\n"
    (folder / "Dockerfile").write_text("FROM other\n")
    with pytest.raises(UserError, match=f"`claw images export {folder}`"):
        in_sandbox(body, build=str(folder))


def _refusal(**spec: Any) -> str:
    with pytest.raises(UserError) as error:
        asyncio.run(make_sandbox(SandboxSpec(**spec)).start())
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_image_that_was_not_exported_names_the_command(make_image: MakeImage) -> None:
    assert "`claw images export debian:12`" in _refusal(image="debian:12")


def test_an_image_without_bash_is_refused(make_image: MakeImage, minimal_root: Path, tmp_path: Path) -> None:
    make_image("bare:1", without="usr/bin/bash")
    assert "image bare:1: no /bin/bash" in _refusal(image="bare:1")
    assert "no /bin/bash" in _refusal(rootfs=str(tmp_path))


def test_bash_is_looked_for_inside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/bin").symlink_to("/usr/bin")  # there is a bash, on the host
    assert "no /bin/bash" in _refusal(rootfs=str(tmp_path / "root"))
    (tmp_path / "root/usr/bin").mkdir(parents=True)
    (tmp_path / "root/usr/bin/bash").touch()
    assert find_root(SandboxSpec(rootfs=str(tmp_path / "root")), identity()).workdir == "/app"


def test_an_image_that_somebody_else_exported_is_refused(make_image: MakeImage) -> None:
    image = make_image("mine:1")
    config = image.rootfs.parent / "image.json"
    config.write_text(config.read_text().replace(f'"first_id":{image.first_id}', '"first_id":5'))
    if image.first_id == 0:
        pytest.skip("an ordinary user's images are told by their owner, who cannot be made up here")
    assert "exported by another user" in _refusal(image="mine:1")


def test_the_network_of_an_image_resolves_as_the_hosts(in_sandbox: Runner, make_image: MakeImage) -> None:
    make_image("mine:1")

    async def body(sandbox: NamespaceSandbox) -> str:
        return (await sandbox.exec(["cat", "/etc/resolv.conf"], timeout=30)).output

    assert in_sandbox(body, image="mine:1", network="full") == Path("/etc/resolv.conf").read_text()
    assert in_sandbox(body, image="mine:1", network="none") == ""
