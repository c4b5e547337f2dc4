import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_envs.core.errors import UserError
from claw_envs.sandbox.images.archive import export_archive
from claw_envs.sandbox.images.store import CachedImage, root_of

Archive = Callable[..., bytes]
_SAID = {"Env": ["PATH=/opt/bin:/bin", "EMPTY=", "A=b=c"], "WorkingDir": "/srv", "User": "joe"}


@pytest.fixture
def saved(tmp_path: Path, archive: Archive) -> Callable[..., Path]:
    """`saved(layers, tags)`: an archive as `docker save` writes it."""

    def make(*layers: bytes, tags: list[str] | None = None, more: tuple[Any, ...] = ()) -> Path:
        names = [f"layer{number}/layer.tar" for number in range(len(layers))]
        manifest = [{"Config": "config.json", "RepoTags": tags, "Layers": names}, *more]
        path = tmp_path / "saved.tar.gz"
        members = [*zip(names, layers, strict=True), ("config.json", json.dumps({"config": _SAID}))]
        path.write_bytes(archive(*members, ("manifest.json", json.dumps(manifest)), mode="w:gz"))
        return path

    return make


def _text(image: CachedImage, name: str) -> str:
    return (image.rootfs / name).read_text()


def test_a_saved_image_with_its_layers(saved: Callable[..., Path], archive: Archive) -> None:
    lower = archive(("bin/", ""), ("bin/bash", "old"), ("gone", ""), mode="w:gz")
    upper = archive(("bin/bash", "new"), (".wh.gone", ""))
    images = export_archive(saved(lower, upper, tags=["one:1", "two:2"]))
    assert [image.name for image in images] == ["one:1", "two:2"]
    image = images[0]
    assert image.rootfs == images[1].rootfs
    assert image.digest.startswith("sha256:")
    assert image.env == {"PATH": "/opt/bin:/bin", "EMPTY": "", "A": "b=c"}
    assert (image.workdir, image.user) == ("/srv", "joe")
    assert _text(image, "bin/bash") == "new"
    assert not (image.rootfs / "gone").exists()
    assert root_of("two:2") == images[1]


def test_an_exported_container(tmp_path: Path, archive: Archive) -> None:
    path = tmp_path / "mine.tar"
    path.write_bytes(archive(("bin/bash", ""), ("etc/hosts", "")))
    (image,) = export_archive(path)
    assert image.name == "mine:latest"
    assert (image.env, image.workdir) == ({}, "/")
    (renamed,) = export_archive(path, "other")
    assert renamed.name == "other:latest"
    assert renamed.rootfs == image.rootfs


def test_what_an_engine_fills_in_is_there(tmp_path: Path, archive: Archive) -> None:
    path = tmp_path / "a.tar"
    passwd, group = "root:x:0:0:root:/root:/bin/bash", "root:x:0:\nnode:x:1000:\n"
    path.write_bytes(
        archive(("etc/hosts", ""), ("etc/hostname", "mine\n"), ("etc/passwd", passwd), ("etc/group", group))
    )
    (image,) = export_archive(path)
    assert "127.0.0.1 localhost" in _text(image, "etc/hosts")
    assert _text(image, "etc/hostname") == "mine\n"
    assert _text(image, "etc/resolv.conf") == ""
    assert _text(image, "etc/passwd").splitlines() == [passwd, "agent:x:1000:1000:agent:/home/agent:/bin/bash"]
    assert _text(image, "etc/group") == group


def test_one_name_is_for_one_image(saved: Callable[..., Path], archive: Archive) -> None:
    layer = archive(("a", ""))
    second = {"Config": "config.json", "RepoTags": ["b:1"], "Layers": []}
    with pytest.raises(UserError, match="2 images"):
        export_archive(saved(layer, tags=["a:1"], more=(second,)), "name")
    (image,) = export_archive(saved(layer, tags=None))
    assert image.name == "saved:latest"


@pytest.mark.parametrize("content", [b"", b"text", b"\x1f\x8b broken"])
def test_anything_else_is_the_users_mistake(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    with pytest.raises(UserError, match="no archive") as error:
        export_archive(path)
    assert "\n" not in str(error.value)


def test_an_archive_of_the_oci_layout_alone_is_named(tmp_path: Path, archive: Archive) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(archive(("oci-layout", "{}"), ("index.json", "{}")))
    with pytest.raises(UserError, match="docker-archive"):
        export_archive(path)


def test_a_manifest_that_names_what_is_not_there(tmp_path: Path, archive: Archive) -> None:
    path = tmp_path / "x.tar"
    for manifest in ("{", "{}", '[{"Config": "none.json", "Layers": []}]', "[1]"):
        path.write_bytes(archive(("manifest.json", manifest)))
        with pytest.raises(UserError, match="no archive"):
            export_archive(path)
