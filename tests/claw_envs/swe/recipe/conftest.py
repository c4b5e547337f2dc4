"""A cache of layers for one run of the tests, packages that pip finds without an index, and a clone with a fix."""

import ensurepip
import os
import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

_WHO = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_WHEN = {f"GIT_{who}_DATE": "2020-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
_DEBIANS = Path("/usr/share/python-wheels")


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layers")


@pytest.fixture(autouse=True)
def cache(_shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, which these tests share: a layer that two of them need is made once."""
    monkeypatch.setenv("CLAW_CACHE", str(_shared))
    return _shared


@pytest.fixture(scope="session")
def _wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    bundled = [*Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"), *_DEBIANS.glob("pip-*.whl")]
    (folder / bundled[0].name).write_bytes(bundled[0].read_bytes())
    with zipfile.ZipFile(folder / "greet-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greet.py", "print('hello')\n")
        wheel.writestr("greet-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n")
        wheel.writestr("greet-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("greet-1.0.dist-info/RECORD", "greet.py,,\ngreet-1.0.dist-info/RECORD,,\n")
    return folder


@pytest.fixture(autouse=True)
def _own_packages(_wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's pip settings: pip itself and `greet`, and no index."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(_wheels))


class Clone(NamedTuple):
    """A repository whose `main` goes on past the base commit."""

    path: Path
    base: str
    fix: str

    def git(self, *arguments: str) -> str:
        """What git prints."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=os.environ | _WHO | _WHEN, check=True, capture_output=True
        )
        return done.stdout.decode().strip()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """Two files with a fault, and the commit that repairs it."""
    clone = Clone(tmp_path / "a 100% clone", "", "")
    clone.path.mkdir()
    clone.git("init", "-q", "-b", "main")
    ids = []
    for word in ("FAULT", "REPAIRED"):
        (clone.path / "code.py").write_text(f"print('{word}')\n")
        (clone.path / "notes").mkdir(exist_ok=True)
        (clone.path / "notes/read me.txt").write_text("some notes\n")
        clone.git("add", ".")
        clone.git("commit", "-q", "-m", "a commit")
        ids.append(clone.git("rev-parse", "HEAD"))
    clone.git("tag", "v1")
    return Clone(clone.path, *ids)
