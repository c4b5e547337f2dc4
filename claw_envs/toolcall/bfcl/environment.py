"""The Python that has `bfcl-eval`: a virtual environment of its own, made at its first use.

The package pins old versions of what its model handlers need (`numpy`, a dozen vendors' clients), which its checkers do
not. So it is installed without what it depends on, next to the two packages that the data and the checkers import.

The environment is in `$CLAW_CACHE` (or `~/.cache/claw-envs`) under `bfcl/<version>`. `CLAW_BFCL_PYTHON` names another
Python that has the package. Not covered: what else the package can do, such as running models.
"""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from claw_envs.core.cache import cache_directory
from claw_envs.core.errors import UserError

VERSION = "2026.3.23"
_PACKAGES = (f"bfcl-eval=={VERSION}", "filelock==3.20.0", "mpmath==1.3.0")
_PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
_VARIABLE = "CLAW_BFCL_PYTHON"
_READY = "ready"
_INSTALL_TIMEOUT = 600.0


def directory() -> Path:
    """Where everything of this test is kept; it need not exist."""
    return cache_directory("bfcl")


def interpreter() -> Path:
    """The Python to run the checkers in. Its environment is made where it is missing, by one process at a time.

    Raises:
        UserError: if the package cannot be installed, or the Python that `CLAW_BFCL_PYTHON` names does not have it.
    """
    if named := os.environ.get(_VARIABLE):
        return _checked(named)
    place = directory() / VERSION
    if not _complete(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        with Path(f"{place}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _complete(place):
                _make(place)
    return _python(place)


def installed() -> Path | None:
    """The Python that `interpreter` gives; None where it has to be made first. One that the user named is not tried."""
    if named := os.environ.get(_VARIABLE):
        return Path(named)
    return _python(directory() / VERSION) if _complete(directory() / VERSION) else None


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _complete(place: Path) -> bool:
    """Whether the environment was made to its end, and the Python that it was made with is still there."""
    return (place / _READY).exists() and _python(place).exists()


def _make(place: Path) -> None:
    """Make the environment anew; what was left half made is removed."""
    shutil.rmtree(place, ignore_errors=True)
    _run(sys.executable, "-m", "venv", str(place))
    _run(str(_python(place)), *_PIP, *_PACKAGES)
    (place / _READY).touch()


def _run(*argv: str) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT)
    except subprocess.TimeoutExpired:
        why = f"it took longer than {_INSTALL_TIMEOUT:.0f} s"
    else:
        if done.returncode == 0:
            return
        said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        why = next((line for line in said if line.startswith("ERROR:")), said[-1]).removeprefix("ERROR:").strip()
    raise UserError(
        f"bfcl-eval could not be installed into {directory()} ({why}). Where pip reaches no index, install "
        f"{', '.join(_PACKAGES)} with --no-deps in another environment and set {_VARIABLE} to its python"
    )


@functools.cache
def _checked(named: str) -> Path:
    """A Python of the user's, asked for the package."""
    python = Path(named).expanduser().absolute()
    asked = "import bfcl_eval, filelock, mpmath, importlib.metadata as m; print(m.version('bfcl-eval'))"
    try:
        done = subprocess.run([python, "-I", "-c", asked], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{_VARIABLE}={named} does not run ({error}): name a python that has bfcl-eval") from error
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it failed"])[-1]
        raise UserError(f"{_VARIABLE}={named} cannot be used ({why}): install {', '.join(_PACKAGES)} --no-deps there")
    return python
