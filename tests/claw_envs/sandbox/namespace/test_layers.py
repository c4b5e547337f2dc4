import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.images import CachedImage
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.namespace.host import identity

Runner = Callable[..., Any]


@pytest.fixture
def make_layer(tmp_path: Path) -> Callable[..., str]:
    """`make_layer(name, files)`: a layer of text files by their path inside, which only its owner reaches."""
    tmp_path.chmod(0o700)

    def make(name: str, files: dict[str, str]) -> str:
        root = tmp_path / name
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        for place in [root, *root.rglob("*")]:
            os.chown(place, *identity().agent)
        return str(root)

    return make


async def _say(sandbox: NamespaceSandbox, script: str) -> str:
    return (await sandbox.exec(["bash", "-c", script], timeout=30)).output


def test_layers_lie_over_the_root_and_each_other(in_sandbox: Runner, make_layer: Callable[..., str]) -> None:
    low = make_layer("low", {"opt/tool/a": "low a", "opt/tool/b": "low b", "testbed/code": "code"})
    high = make_layer("high", {"opt/tool/b": "high b", "opt/c": "c"})

    async def body(sandbox: NamespaceSandbox) -> list[str]:
        look = "cat code /opt/tool/a /opt/tool/b /opt/c; stat -c ' %U' /opt/tool/a"
        seen = [await _say(sandbox, look)]
        await _say(sandbox, "echo changed | tee /opt/tool/a code; rm /opt/tool/b")
        seen.append(await _say(sandbox, "cat code /opt/tool/a; ls /opt/tool"))
        await sandbox.reset()
        return [*seen, await _say(sandbox, look)]

    seen = in_sandbox(body, layers=(low, high), workdir="/testbed")
    assert seen[0] == seen[2] == "codelow ahigh bc agent\n"
    assert seen[1] == "changed\nchanged\na\n"
    assert Path(low, "testbed/code").read_text() == "code"


def test_layers_lie_over_an_image_and_below_files_and_setup(
    in_sandbox: Runner, make_layer: Callable[..., str], make_image: Callable[..., CachedImage], tmp_path: Path
) -> None:
    make_image("mine:1")
    layer = make_layer("layer", {"etc/issue": "layer", "data/given": "layer"})
    (tmp_path / "given").write_text("file")

    async def body(sandbox: NamespaceSandbox) -> str:
        await sandbox.reset()
        return await _say(sandbox, "cat /etc/issue /data/given /made")

    spec = {"image": "mine:1", "layers": (layer,), "files": {"/data/given": str(tmp_path / "given")}}
    assert in_sandbox(body, **spec, setup=("cat /data/given > /made",)) == "layerfilefile"


def test_what_a_sandbox_wrote_is_a_layer_for_others(
    in_sandbox: Runner, make_layer: Callable[..., str], tmp_path: Path
) -> None:
    low = make_layer("low", {"srv/gone": "", "srv/old/file": "", "srv/kept": "kept"})

    async def write(sandbox: NamespaceSandbox) -> None:
        await _say(sandbox, "rm -r /srv/gone /srv/old; mkdir /srv/old; echo x > /srv/old/new; ln -s new /srv/old/link")
        await _say(sandbox, "sleep 99 &")
        await sandbox.keep(tmp_path / "kept")

    async def read(sandbox: NamespaceSandbox) -> str:
        return await _say(sandbox, "ls -R /srv; cat /srv/kept /srv/old/link; test -O /srv/old/new && echo mine")

    in_sandbox(write, layers=(low,))
    seen = in_sandbox(read, layers=(low, str(tmp_path / "kept")))
    assert seen == "/srv:\nkept\nold\n\n/srv/old:\nlink\nnew\nkeptx\nmine\n"


def _refusal(backend: str = "namespace", **spec: Any) -> str:
    with pytest.raises(UserError) as error:
        asyncio.run(make_sandbox(SandboxSpec(**spec), backend).start())
    return str(error.value)


def test_a_layer_must_be_there_and_the_agents(
    in_sandbox: Runner, make_layer: Callable[..., str], tmp_path: Path
) -> None:
    assert "no such directory" in _refusal(layers=(str(tmp_path / "none"),))
    linked = make_layer("linked", {"real/file": ""})
    Path(linked, "testbed").symlink_to("real")
    assert "/testbed is a link there" in _refusal(layers=(linked,), workdir="/testbed")
    if os.geteuid() == 0:
        assert "belongs to uid 0" in _refusal(layers=(str(tmp_path),))


def test_other_backends_name_what_to_use_instead(tmp_path: Path) -> None:
    assert "no layers: use the namespace sandbox" in _refusal("local", layers=(str(tmp_path),))
