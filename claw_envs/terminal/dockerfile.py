"""The part of a Dockerfile that a sandbox can honour without a container engine.

FROM is recorded (the host's own system stands in for it), WORKDIR, ENV, COPY from the task's environment folder, and
RUN as the agent's user, without network. Everything else, and a RUN that installs software, needs an image: it is
refused with one line, never skipped. Build arguments, stages, heredocs and .dockerignore are not covered.
"""

import json
import posixpath
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from claw_envs.core.errors import UserError

_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_NEEDS_IMAGE = re.compile(  # in the place of a command, after assignments
    r"(?:^|[;&|(]|\b(?:then|do|else|exec|env)\s)\s*(?:\w+=\S*\s+)*(?:/\S*/)?"
    r"(sudo|apt|apt-get|apk|dnf|yum|pip|pip3|pipx|uv|conda|npm|npx|yarn|cargo|gem|curl|wget|useradd|adduser|groupadd|"
    r"chown|git\s+clone|python3?\s+-m\s+pip)(?=$|[\s;&|)])"
)


class Recipe(NamedTuple):
    """What a Dockerfile says, in the terms of `SandboxSpec`."""

    base: str
    """The image that FROM names; recorded only."""
    workdir: str
    env: dict[str, str]
    files: dict[str, str]
    """Target path inside -> host path of a file or of an empty directory."""
    setup: tuple[str, ...]
    """RUN commands, each beginning with a `cd` to its working directory."""


def read_dockerfile(path: Path, *, task_id: str) -> Recipe:
    """Read the Dockerfile at `path`, whose folder is the context of COPY.

    Raises:
        UserError: if it asks for something that needs an image, or cannot be read.
    """
    return _Reader(path, task_id).read()


class _Reader:
    def __init__(self, path: Path, task_id: str) -> None:
        self.context = path.parent
        self.path = path
        self.task_id = task_id
        self.base = ""
        self.workdir = ""
        self.env: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.folders: set[str] = {"/"}
        self.setup: list[str] = []

    def read(self) -> Recipe:
        if (self.context / ".dockerignore").exists():
            raise self._needs_image(0, "a .dockerignore")
        for number, keyword, rest in _instructions(self.path.read_text(encoding="utf-8")):
            handler = getattr(self, f"_{keyword.lower()}", None) if keyword in _SUPPORTED else None
            if handler is None:
                raise self._needs_image(number, keyword)
            if "<<" in rest and keyword in ("COPY", "RUN") and re.search(r"<<-?['\"]?\w", rest):
                raise self._needs_image(number, f"a heredoc in {keyword}")
            handler(number, rest)
        if not self.base or not self.workdir:
            missing = "FROM" if not self.base else "WORKDIR"
            raise UserError(f"{self.path}: no {missing} line; add one, such as `{_EXAMPLES[missing]}`")
        return Recipe(self.base, self.workdir, self.env, self.files, tuple(self.setup))

    def _from(self, number: int, rest: str) -> None:
        if self.base:
            raise self._needs_image(number, "a second FROM")
        if len(rest.split()) != 1:
            raise self._needs_image(number, f"FROM {rest}")
        self.base = rest

    def _workdir(self, number: int, rest: str) -> None:
        self.workdir = posixpath.normpath(posixpath.join(self.workdir or "/", self._expand(rest.strip("\"'"))))
        self._add_folder(self.workdir)

    def _env(self, number: int, rest: str) -> None:
        if self.setup:
            raise self._needs_image(number, "ENV after RUN (move it before the first RUN)")
        pairs = shlex.split(rest)
        if "=" not in pairs[0]:  # the old form: ENV NAME the whole rest
            pairs = ["=".join(rest.split(maxsplit=1))]
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not equals or not name.isidentifier():
                raise UserError(f"{self.path}:{number}: ENV takes NAME=value, got {pair!r}")
            self.env[name] = self._expand(value)

    def _copy(self, number: int, rest: str) -> None:
        if self.setup:
            raise self._needs_image(number, "COPY after RUN (move it before the first RUN)")
        words = [self._expand(word) for word in (json.loads(rest) if rest.startswith("[") else shlex.split(rest))]
        if words[0].startswith("--"):
            raise self._needs_image(number, f"COPY {words[0]}")
        if len(words) < 2:
            raise UserError(f"{self.path}:{number}: COPY takes a source and a target")
        *sources, target = words
        folder = target.endswith("/") or target in (".", "..") or len(sources) > 1
        target = posixpath.normpath(posixpath.join(self.workdir or "/", target))
        for source in sources:
            self._copy_one(number, source, target, folder=folder or target in self.folders)

    def _copy_one(self, number: int, source: str, target: str, *, folder: bool) -> None:
        host = self.context / source.lstrip("/")
        if not host.resolve().is_relative_to(self.context.resolve()) or not host.exists():
            raise UserError(f"{self.path}:{number}: COPY {source}: no such file in {self.context}")
        if host.is_file():
            self._add_file(posixpath.join(target, host.name) if folder else target, host)
            return
        self._add_folder(target)
        for path in sorted(host.rglob("*")):
            inside = posixpath.join(target, path.relative_to(host).as_posix())
            if path.is_file() or not any(path.iterdir()):
                self._add_file(inside, path)

    def _run(self, number: int, rest: str) -> None:
        command = shlex.join(json.loads(rest)) if rest.startswith("[") else rest
        if command.startswith("--"):
            raise self._needs_image(number, f"RUN {command.split()[0]}")
        if found := _NEEDS_IMAGE.search(command):
            raise self._needs_image(number, f"RUN {found[1]}")
        folder = shlex.quote(self.workdir or "/")
        self.setup.append(f"mkdir -p {folder} && cd {folder} || exit 1\n{command}")

    def _add_file(self, target: str, host: Path) -> None:
        self.files[target] = str(host)
        self._add_folder(posixpath.dirname(target))

    def _add_folder(self, folder: str) -> None:
        while folder not in self.folders:
            self.folders.add(folder)
            folder = posixpath.dirname(folder)

    def _expand(self, text: str) -> str:
        known = {"PATH": _DEFAULT_PATH} | self.env
        return _VARIABLE.sub(lambda found: known.get(found[1] or found[2], ""), text)

    def _needs_image(self, number: int, what: str) -> UserError:
        where = f"{self.path}:{number}" if number else str(self.path)
        return UserError(
            f"task {self.task_id} needs an image; {where}: {what} cannot be honoured without a container engine "
            "(supported: FROM, WORKDIR, ENV, COPY, RUN without root or network)"
        )


_SUPPORTED = ("FROM", "WORKDIR", "ENV", "COPY", "RUN")
_EXAMPLES = {"FROM": "FROM debian:bookworm-slim", "WORKDIR": "WORKDIR /app"}


def _instructions(text: str) -> list[tuple[int, str, str]]:
    """(line number, KEYWORD, rest) of every instruction, continuation lines joined, comments dropped."""
    found: list[tuple[int, str, str]] = []
    started, parts = 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        started = started or number
        more = line.rstrip().endswith("\\")
        parts.append(line.rstrip()[:-1].strip() if more else line.strip())
        if not more:
            keyword, _, rest = " ".join(parts).partition(" ")
            found.append((started, keyword.upper(), rest.strip()))
            started, parts = 0, []
    return found
