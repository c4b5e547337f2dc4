"""The Python of a recipe: found on this machine, and copied into a layer of its own where sandboxes do not see it.

Below /usr the sandbox has the host's own. Others are copied to the same path as on the host, as both programs and
libraries name it: without the packages installed in them, their tests and static libraries.

Not covered: interpreters that need libraries outside their own folder and /usr.
"""

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.sandbox.namespace.host import identity
from claw_envs.swe.recipe.layers import key_of, layer
from claw_envs.swe.recipe.process import run

SYSTEM = "/usr/bin/python3"
_TIMEOUT = 60.0
_ASK = """import json, os, sys
real = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
print(json.dumps([real, os.path.realpath(sys.base_prefix), sys.version, list(sys.version_info[:2])]))"""
_MANAGED = (".pyenv/versions/{}*/bin", ".local/share/uv/python/cpython-{}*/bin")
"""Where version managers keep interpreters in the home directory, for those that are not on the PATH."""
_LEFT_OUT = shutil.ignore_patterns("site-packages", "tests", "*.a", "idlelib", "turtledemo")
_LEFT_OF_TEST = {"__init__.py", "support"}
"""Of the standard library's own tests: what tests of others use."""
_answers: dict[tuple[str, int], "Interpreter"] = {}
"""By program and time of its last change, as who opens a sandbox asks anew each time."""


class Interpreter(NamedTuple):
    """An interpreter of this machine, not that of a virtual environment."""

    path: str
    prefix: str
    version: str
    """All that it says of its build."""
    short: str
    """As in `3.9`."""

    @property
    def shared(self) -> bool:
        """Whether every sandbox sees it."""
        return Path(self.path).is_relative_to("/usr") and Path(self.prefix).is_relative_to("/usr")


async def find_interpreter(python: str) -> Interpreter:
    """The interpreter that a recipe names.

    Raises:
        UserError: if there is none.
    """
    for path in await asyncio.to_thread(_candidates, python):
        found = await _ask(path)
        if found is not None and (not _is_version(python) or f"{found.version.split()[0]}.".startswith(f"{python}.")):
            return found
    raise UserError(
        f"no Python {python} on this machine: install it, such as with `pyenv install {python}` or "
        f"`uv python install {python}`, or name the path of one"
    )


def _is_version(python: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)+", python) is not None


def _candidates(python: str) -> list[str]:
    """Programs that might be it."""
    if not _is_version(python):
        path = SYSTEM if python == "system" else str(Path(python).expanduser().absolute())
        return list(filter(None, [shutil.which(path)]))
    name = "python" + ".".join(python.split(".")[:2])
    managed = [path for folder in _MANAGED for path in sorted(Path.home().glob(f"{folder.format(python)}/{name}"))]
    return [*filter(None, [shutil.which(name)]), *map(str, managed)]


async def _ask(path: str) -> Interpreter | None:
    program = (path, os.stat(path).st_mtime_ns)
    if program not in _answers and (found := await _introduced(path)):
        _answers[program] = found
    return _answers.get(program)


async def _introduced(path: str) -> Interpreter | None:
    code, said = await run([path, "-I", "-c", _ASK], timeout=_TIMEOUT)
    try:
        real, prefix, version, short = msgspec.json.decode(said, type=tuple[str, str, str, list[int]])
    except msgspec.DecodeError:  # a shim that says there is no such version
        return None
    return Interpreter(real, prefix, version, ".".join(map(str, short))) if code == 0 else None


async def interpreter_layers(python: Interpreter) -> tuple[str, ...]:
    """The layer that holds `python`; none where it is needed nowhere.

    Raises:
        UserError: if it cannot be copied.
    """
    if python.shared:
        return ()
    if not Path(python.path).is_relative_to(python.prefix):
        raise UserError(f"{python.path} is not in its prefix {python.prefix}, so it cannot be copied: use another")
    key = key_of("python", python, os.stat(python.path).st_mtime_ns)
    return (str(await layer(key, lambda place: asyncio.to_thread(_copy, python, place))),)


def _copy(python: Interpreter, place: Path) -> None:
    prefix = Path(python.prefix)
    copy = place / prefix.relative_to("/")
    (copy / "bin").mkdir(parents=True)
    program = copy / Path(python.path).relative_to(prefix)
    program.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(python.path, program)
    library = f"lib/python{python.short}"
    shutil.copytree(prefix / library, copy / library, symlinks=True, ignore=_left_out)
    for shared in prefix.glob("lib/*.so*"):
        shutil.copy2(shared, copy / "lib" / shared.name, follow_symlinks=False)
    if (prefix / "include").is_dir():
        shutil.copytree(prefix / "include", copy / "include", symlinks=True)
    own(place)


def _left_out(folder: str, names: list[str]) -> set[str]:
    return set(names) - _LEFT_OF_TEST if Path(folder).name == "test" else _LEFT_OUT(folder, names)


def own(place: Path) -> None:
    """Give a tree to the sandboxes' agent."""
    if identity().privileged:
        for path in [place, *place.rglob("*")]:
            os.chown(path, *identity().agent, follow_symlinks=False)
