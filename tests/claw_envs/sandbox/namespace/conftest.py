"""Root file systems that are small enough for a test, as directories and as exported images."""

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from claw_envs.sandbox.images import CachedImage
from claw_envs.sandbox.images.archive import add_stream, config_of
from claw_envs.sandbox.namespace import host

PROGRAMS = ("bash", "cat", "ls", "head", "env", "id", "mkdir", "rm", "chmod", "dirname", "stat", "tar")


@pytest.fixture(scope="session")
def minimal_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system of some of the host's programs and the libraries that they need."""
    root = tmp_path_factory.mktemp("rootfs")
    for folder in (root, *root.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(0o755)
    for name in ("usr/bin", "usr/lib", "etc", "tmp", "root"):
        (root / name).mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    (root / "etc/issue").write_text("my own\n")
    for name in PROGRAMS:
        program = str(shutil.which(name, path=host.TOOL_PATH))
        shutil.copy(program, root / "usr/bin" / name)
        for word in subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split():
            if word.startswith("/"):
                copy = root / word.lstrip("/")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, copy)
    (root / "usr/bin/sh").symlink_to("bash")
    return root


@pytest.fixture
def make_image(minimal_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CachedImage]:
    """`make_image(name, without=None, **said)`: the minimal root as an exported image, in a cache of the test's own."""
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path / "cache"))

    def make(name: str, *, without: str | None = None, **said: object) -> CachedImage:
        def kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
            member.uid = member.gid = 0
            return None if member.name == without else member

        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            tar.add(minimal_root, arcname="", filter=kept)
        buffer.seek(0)
        return add_stream(name, config_of(f"test:{name} {without}", said), buffer)

    return make
