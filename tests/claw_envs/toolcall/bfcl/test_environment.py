"""Making the checkers' environment: pip and venv are the real ones, the packages are empty ones from a folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from claw_envs.core.errors import UserError
from claw_envs.toolcall.bfcl.environment import VERSION, directory, interpreter

MADE = "Successfully installed"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, which is all that pip knows; pip's log tells how often something was installed."""
    folder = tmp_path / "index"
    folder.mkdir()
    for variable, value in {
        "CLAW_CACHE": str(tmp_path / "cache"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_LOG": str(tmp_path / "pip.log"),
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.delenv("CLAW_BFCL_PYTHON", raising=False)
    for name, version in (("bfcl_eval", VERSION), ("filelock", "3.20.0"), ("mpmath", "1.3.0")):
        package(folder, name, version)
    return folder


def package(folder: Path, name: str, version: str) -> None:
    """Write a wheel with one empty module."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def installations(index: Path) -> int:
    """How often pip has installed something."""
    return (index.parent / "pip.log").read_text().count(MADE)


def test_two_processes_at_once_make_one_environment(index: Path) -> None:
    asked = "from claw_envs.toolcall.bfcl.environment import interpreter; print(interpreter())"
    both = [subprocess.Popen([sys.executable, "-c", asked], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0].strip() for process in both]
    python = directory() / VERSION / "bin" / "python"
    assert said == [str(python)] * 2
    assert subprocess.run([python, "-I", "-c", "import bfcl_eval, filelock, mpmath"]).returncode == 0
    assert installations(index) == 1


def test_one_that_was_left_half_made_is_made_anew(index: Path) -> None:
    place = directory() / VERSION
    (place / "lib").mkdir(parents=True)
    assert interpreter() == place / "bin" / "python"
    assert interpreter() == place / "bin" / "python"
    assert installations(index) == 1


def test_no_package_to_be_had_is_one_line_that_names_the_way_out(index: Path) -> None:
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(UserError, match="Could not find a version") as caught:
        interpreter()
    assert "\n" not in str(caught.value)
    assert "set CLAW_BFCL_PYTHON to its python" in str(caught.value)
    package(index, "bfcl_eval", VERSION)
    with pytest.raises(UserError, match="filelock"):
        interpreter()


def test_a_python_of_the_users_own_is_asked_for_the_package(
    tmp_path: Path, checker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = interpreter()
    monkeypatch.setenv("CLAW_CACHE", str(tmp_path))
    monkeypatch.setenv("CLAW_BFCL_PYTHON", str(good))
    assert interpreter() == good
    monkeypatch.setenv("CLAW_BFCL_PYTHON", str(tmp_path / "none"))
    with pytest.raises(UserError, match="does not run"):
        interpreter()
    monkeypatch.setenv("CLAW_BFCL_PYTHON", sys.executable)
    with pytest.raises(UserError, match="No module named 'bfcl_eval'"):
        interpreter()
    assert not any(tmp_path.iterdir())
