"""The part of a Dockerfile that a sandbox can honour without an image, on the host's own system.

FROM a plain Debian, Ubuntu or Python (the host's system stands in for it), WORKDIR, ENV, COPY from the build context
into places that are not the system's, and RUN as the agent's user, without network. Everything else, and a RUN that
installs software, needs an image: it is told to the caller with its line, never skipped. Build arguments, stages and
heredocs are not read any further.
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
_HOST_BASE = re.compile(
    r"(?:(?:docker\.io/)?(?:library/)?(?:debian|ubuntu|python|buildpack-deps)|claw-envs/base"
    r"|ghcr\.io/laude-institute/t-bench/(?:ubuntu|python)-[\d-]+)(?:[:@].*)?"
)
_IN_PLACE_OF_A_COMMAND = r"(?:^|[;&|(`]|\b(?:then|do|else|exec|env)\s)\s*(?:\w+=\S*\s+)*(?:/\S*/)?"
_NEEDS_IMAGE = re.compile(
    _IN_PLACE_OF_A_COMMAND + r"(sudo|apt|apt-get|apk|dnf|yum|pip|pip3|pipx|uv|conda|npm|npx|yarn|cargo|gem|curl|wget|"
    r"useradd|adduser|groupadd|chown|git\s+clone|python3?\s+-m\s+pip)(?=$|[\s;&|)])"
)
_INSTALLS_PACKAGES = re.compile(_IN_PLACE_OF_A_COMMAND + r"(apt|apt-get|apk|dnf|yum)(?=\s)", re.MULTILINE)
_SYSTEM = re.compile(r"(?:^|[\s=>'\"(])(/(?:etc|root|boot|lib\w*|usr/(?!s?bin/))[^\s'\"]*)")
"""A place that is read-only, or not there, on the host's system; a program's own path (/usr/bin/env) is none."""
_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/root", "/boot", "/dev", "/proc")


class NeedsImage(Exception):  # noqa: N818 - not an error: the task runs, in an image
    """The host's system cannot stand in for what the Dockerfile makes; the message is the line and what it says."""


class Recipe(NamedTuple):
    """What a Dockerfile says, in the terms of `SandboxSpec`."""

    base: str
    """The image that FROM names; recorded only."""
    workdir: str
    """Empty where the Dockerfile leaves it to its base."""
    env: dict[str, str]
    files: dict[str, str]
    """Target path inside -> host path of a file or of an empty directory."""
    setup: tuple[str, ...]
    """RUN commands, each beginning with a `cd` to its working directory."""


def read_dockerfile(path: Path) -> Recipe:
    """Read the Dockerfile at `path`, whose folder is the context of COPY.

    Raises:
        NeedsImage: if it asks for more than the host's system can give.
        UserError: if it cannot be read, or names a file that is not there.
    """
    return _Reader(path).read()


def installs_packages(script: str) -> str | None:
    """The package manager that a shell script calls, which the host's read-only system has no use for."""
    found = _INSTALLS_PACKAGES.search(script)
    return found[1] if found else None


class _Reader:
    def __init__(self, path: Path) -> None:
        self.context = path.parent
        self.path = path
        self.base = ""
        self.workdir = ""
        self.env: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.folders: set[str] = {"/"}
        self.setup: list[str] = []

    def read(self) -> Recipe:
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{self.path}: cannot be read as text: {error}") from None
        instructions = _instructions(text)
        if not any(keyword == "FROM" for _, keyword, _ in instructions):
            raise UserError(f"{self.path}: no FROM line; add one, such as `FROM debian:bookworm-slim`")
        if (self.context / ".dockerignore").exists():
            raise NeedsImage(f"{self.context.name}/.dockerignore")
        for number, keyword, rest in instructions:
            handler = getattr(self, f"_{keyword.lower()}", None) if keyword in _SUPPORTED else None
            if handler is None:
                raise self._needs_image(number, keyword)
            if keyword in ("COPY", "RUN") and re.search(r"<<-?['\"]?\w", rest):
                raise self._needs_image(number, f"a heredoc in {keyword}")
            handler(number, rest)
        return Recipe(self.base, self.workdir, self.env, self.files, tuple(self.setup))

    def _from(self, number: int, rest: str) -> None:
        if self.base:
            raise self._needs_image(number, "a second FROM")
        if not _HOST_BASE.fullmatch(rest):
            raise self._needs_image(number, f"FROM {rest}")
        self.base = rest

    def _workdir(self, number: int, rest: str) -> None:
        self.workdir = posixpath.normpath(posixpath.join(self.workdir or "/", self._expand(rest.strip("\"'"))))
        self._check_place(number, "WORKDIR", self.workdir)
        self._add_folder(self.workdir)

    def _env(self, number: int, rest: str) -> None:
        if self.setup:
            raise self._needs_image(number, "ENV after RUN (move it before the first RUN)")
        pairs = self._words(number, "ENV", rest)
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
        words = [self._expand(word) for word in self._words(number, "COPY", rest)]
        if words[0].startswith("--"):
            raise self._needs_image(number, f"COPY {words[0]}")
        if len(words) < 2:
            raise UserError(f"{self.path}:{number}: COPY takes a source and a target")
        *sources, target = words
        folder = target.endswith("/") or target in (".", "..") or len(sources) > 1
        if not target.startswith("/") and not self.workdir:
            raise self._needs_image(number, "COPY to the base's own working directory")
        target = posixpath.normpath(posixpath.join(self.workdir or "/", target))
        self._check_place(number, "COPY to", target)
        for source in sources:
            self._copy_one(number, source, target, folder=folder or target in self.folders)

    def _copy_one(self, number: int, source: str, target: str, *, folder: bool) -> None:
        if any(letter in source for letter in "*?["):
            raise self._needs_image(number, f"COPY {source}, a pattern")
        host = self.context / source.lstrip("/")
        if not host.resolve().is_relative_to(self.context.resolve()) or not host.exists():
            raise UserError(f"{self.path}:{number}: COPY {source}: no such file in {self.context}")
        if host.is_file():
            self._add_file(posixpath.join(target, host.name) if folder else target, host)
            return
        self._add_folder(target)
        for path in sorted(host.rglob("*")):
            inside = posixpath.join(target, path.relative_to(host).as_posix())
            if path.is_symlink() or not (path.is_file() or path.is_dir()):  # it may lead out of the context
                raise self._needs_image(number, f"COPY {source}, which holds the link or device {path.name}")
            if path.is_file() or not any(path.iterdir()):
                self._add_file(inside, path)

    def _run(self, number: int, rest: str) -> None:
        command = shlex.join(self._words(number, "RUN", rest)) if rest.startswith("[") else rest
        if command.startswith("--"):
            raise self._needs_image(number, f"RUN {command.split()[0]}")
        if found := _NEEDS_IMAGE.search(command) or _SYSTEM.search(command):
            raise self._needs_image(number, f"RUN {found[1]}")
        if not self.workdir:
            raise self._needs_image(number, "RUN in the base's own working directory")
        folder = shlex.quote(self.workdir)
        self.setup.append(f"mkdir -p {folder} && cd {folder} || exit 1\n{command}")

    def _words(self, number: int, keyword: str, rest: str) -> list[str]:
        """The words of an instruction, written as for a shell or as a JSON list."""
        try:
            words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
        except ValueError as error:
            raise UserError(f"{self.path}:{number}: {keyword} {rest}: {error}") from None
        if not words or not all(isinstance(word, str) for word in words):
            raise UserError(f"{self.path}:{number}: {keyword} needs words after it")
        return list(words)

    def _check_place(self, number: int, what: str, place: str) -> None:
        if any(f"{place}/".startswith(f"{folder}/") for folder in _SYSTEM_FOLDERS):
            raise self._needs_image(number, f"{what} {place}")

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

    def _needs_image(self, number: int, what: str) -> NeedsImage:
        return NeedsImage(f"{self.path.name}:{number}: {what}")


_SUPPORTED = ("FROM", "WORKDIR", "ENV", "COPY", "RUN")


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
