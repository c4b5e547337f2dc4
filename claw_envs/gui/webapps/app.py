"""A web application as it lies on the disk: the files that it serves, and its first state.

A folder with `index.html` and `seed.json` is an application. What the built-in ones share is served as `/common/…`.
"""

import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.core.tasksets import builtin
from claw_envs.gui.webapps.goal import State

TASKS = "tasks"
"""Folder of an application's tasks, which are not served."""
_SEED = "seed.json"
_KINDS = (".html", ".js", ".css", ".svg", ".png")


class File(NamedTuple):
    """A file as it is served."""

    kind: str
    """Its media type."""
    body: bytes


class App(NamedTuple):
    """An application; many episodes share it."""

    name: str
    files: dict[str, File]
    """By the path of their address."""
    seed: bytes
    """The first state, as JSON."""

    def first_state(self) -> State:
        """A first state of one's own."""
        return msgspec.json.decode(self.seed, type=State)


def builtin_apps() -> Path:
    """Folder of the built-in applications."""
    return builtin("gui") / "webapps"


def is_app(folder: Path) -> bool:
    """Whether an application lies in `folder`."""
    return (folder / "index.html").is_file() and (folder / _SEED).is_file()


@lru_cache(maxsize=64)
def read_app(folder: str) -> App:
    """Read the application in `folder`, once a process.

    Raises:
        UserError: if there is none, or its first state is no JSON object.
    """
    root = Path(folder)
    if not is_app(root):
        raise UserError(f"{root}: no web application there; it needs index.html and {_SEED}")
    seed = (root / _SEED).read_bytes()
    try:
        msgspec.json.decode(seed, type=State)
    except msgspec.DecodeError as error:
        raise UserError(f"{root / _SEED}: not a JSON object ({error})") from None
    files = _files(builtin_apps() / "common", "/common/") | _files(root, "/")
    return App(root.name, files | {"/": files["/index.html"]}, seed)


def _files(root: Path, prefix: str) -> dict[str, File]:
    paths = (path for path in sorted(root.rglob("*")) if path.suffix in _KINDS and path.is_file())
    return {
        prefix + path.relative_to(root).as_posix(): File(_media_type(path), path.read_bytes())
        for path in paths
        if TASKS not in path.relative_to(root).parts
    }


def _media_type(path: Path) -> str:
    kind = "text/javascript" if path.suffix == ".js" else mimetypes.guess_type(path.name)[0]
    return f"{kind}; charset=utf-8" if str(kind).startswith("text/") else str(kind)
