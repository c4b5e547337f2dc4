import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.sandbox.images.unpack import Unpacker

Archive = Callable[..., bytes]


def _link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def _unpack(root: Path, *archives: bytes, layer: bool = False) -> Path:
    root.mkdir(exist_ok=True)
    unpacker = Unpacker(root, owner=None)
    for data in archives:
        unpacker.unpack(io.BytesIO(data), layer=layer)
    return root


def _tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


@pytest.mark.parametrize("target", ["/", "..", "../outside", "OUTSIDE"])
def test_links_and_names_cannot_write_outside(tmp_path: Path, archive: Archive, target: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    target = target.replace("OUTSIDE", str(outside))
    data = archive(
        _link("door", target),
        ("door/kept", "evil"),
        ("../outside/kept", "evil"),
        (f"{outside}/kept", "evil"),
        _link("file", str(outside / "kept")),
        ("file", "evil"),
    )
    root = _unpack(tmp_path / "root", data)
    assert os.listdir(outside) == ["kept"]
    assert (outside / "kept").read_text() == "kept"
    assert (root / "file").read_text() == "evil"
    assert not (root / "file").is_symlink()


def test_hard_links_reach_only_what_is_inside(tmp_path: Path, archive: Archive) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    root = _unpack(tmp_path / "root", archive(("a", "a"), _link("b", "./a", tarfile.LNKTYPE)))
    assert (root / "b").samefile(root / "a")
    for number, name in enumerate((str(secret), "../secret")):
        with pytest.raises(FileNotFoundError):
            _unpack(tmp_path / f"root{number}", archive(_link("b", name, tarfile.LNKTYPE)))


def test_devices_pipes_and_set_id_bits_are_left_out(tmp_path: Path, archive: Archive) -> None:
    device, pipe = tarfile.TarInfo("dev/sda"), tarfile.TarInfo("pipe")
    device.type, pipe.type = tarfile.BLKTYPE, tarfile.FIFOTYPE
    program = tarfile.TarInfo("su")
    program.mode = 0o6755
    shared = tarfile.TarInfo("tmp")
    shared.type, shared.mode = tarfile.DIRTYPE, 0o1777
    root = _unpack(tmp_path / "root", archive(device, pipe, program, shared))
    assert _tree(root) == ["su", "tmp"]
    assert (root / "su").stat().st_mode & 0o7777 == 0o755
    assert (root / "tmp").stat().st_mode & 0o7777 == 0o1777


def test_a_directory_that_its_owner_may_not_use_can_be_filled_and_removed(tmp_path: Path, archive: Archive) -> None:
    closed = tarfile.TarInfo("closed")
    closed.type, closed.mode = tarfile.DIRTYPE, 0o500
    root = _unpack(tmp_path / "root", archive(closed, ("closed/x", "x")))
    assert (root / "closed/x").read_text() == "x"
    assert (root / "closed").stat().st_mode & 0o700 == 0o700


def test_marks_of_a_layer_remove_what_lies_below(tmp_path: Path, archive: Archive) -> None:
    lower = archive(("kept", ""), ("gone", ""), ("folder/a", ""), ("opaque/old", ""), ("file", ""), ("dir/x", ""))
    upper = archive(
        (".wh.gone", ""),
        ("folder/.wh.a", ""),
        ("folder/b", ""),
        ("opaque/new", ""),
        ("opaque/.wh..wh..opq", ""),
        ("file/", ""),
        ("file/now", ""),
        ("dir", "a file"),
    )
    root = _unpack(tmp_path / "root", lower, upper, layer=True)
    expected = ["dir", "file", "file/now", "folder", "folder/b", "kept", "opaque", "opaque/new"]
    assert _tree(root) == expected


def test_outside_of_layers_such_names_mean_nothing(tmp_path: Path, archive: Archive) -> None:
    assert _tree(_unpack(tmp_path / "root", archive(("a", ""), (".wh.a", "")))) == [".wh.a", "a"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_compressed_archives(tmp_path: Path, archive: Archive, mode: str) -> None:
    root = _unpack(tmp_path / "root", archive(("a", "content"), mode=mode))
    assert (root / "a").read_text() == "content"


@pytest.mark.parametrize("cut", [0, 700, 1500])
def test_a_damaged_archive_is_an_error(tmp_path: Path, archive: Archive, cut: int) -> None:
    data = archive(("a", "x" * 3000))
    with pytest.raises((tarfile.TarError, EOFError)):
        _unpack(tmp_path / "root", data[:cut] if cut else b"no archive at all")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_owners_are_mapped(tmp_path: Path, archive: Archive) -> None:
    mine, folder = tarfile.TarInfo("made/on/the/way/mine"), tarfile.TarInfo("folder")
    mine.uid, mine.gid = 33, 34
    folder.type = tarfile.DIRTYPE
    root = tmp_path / "root"
    root.mkdir()
    unpacker = Unpacker(root, owner=lambda number: number + 5000)
    unpacker.unpack(io.BytesIO(archive(mine, folder, _link("link", "/etc"))))
    unpacker.write("etc/new", "text")
    owners = {name: (root / name).lstat().st_uid for name in _tree(root)}
    assert owners.pop("made/on/the/way/mine") == 5033
    assert (root / "made/on/the/way/mine").stat().st_gid == 5034
    assert set(owners.values()) == {5000}
    assert root.stat().st_uid == 5000
