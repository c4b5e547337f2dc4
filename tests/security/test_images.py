"""Images are unpacked by the owner, maybe root, outside of any sandbox: archives must not reach what is not theirs."""

import io
import tarfile
from pathlib import Path

import pytest

from claw_envs.sandbox.images.unpack import Unpacker

ESCAPES = [".wh..", ".wh...", ".wh.", "../.wh.host", "../../.wh.host", "out/.wh.host", "up/.wh.host", "deep/.wh...",
           "../host", "/../host", "out/host", "up/host", "deep/../../host", "link", "hard"]  # fmt: skip


def _entry(name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = kind, link, 0o777
    return entry


@pytest.mark.parametrize("layer", [True, False])
@pytest.mark.parametrize("name", ESCAPES)
def test_an_archive_changes_nothing_beside_its_root(tmp_path: Path, name: str, *, layer: bool) -> None:
    outside = tmp_path / "outside"
    (outside / "root" / "deep").mkdir(parents=True)
    (outside / "host").write_text("host")
    (outside / "host").chmod(0o600)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.addfile(_entry("out", kind=tarfile.SYMTYPE, link=str(outside)))
        tar.addfile(_entry("up", kind=tarfile.SYMTYPE, link="../../.."))
        tar.addfile(_entry("link", kind=tarfile.SYMTYPE, link=f"{outside}/host"))
        tar.addfile(_entry("given"))
        tar.addfile(_entry("hard", kind=tarfile.LNKTYPE, link="given"))
        tar.addfile(_entry(name))
    content.seek(0)
    Unpacker(outside / "root", owner=None).unpack(content, layer=layer)
    assert (outside / "host").read_text() == "host"
    assert (outside / "host").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in outside.iterdir()) == ["host", "root"]
    assert (outside / "root" / "given").exists()  # the control: it was unpacked
