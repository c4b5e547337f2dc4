"""A compose file, as far as it describes one machine: its image or build folder, environment and working directory.

What only matters between machines, or to an engine (ports, names, health checks, limits, restart policies), is left
out of account; what would change the machine itself (several services, mounts, privileges, a command that starts
something) is refused with one line.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from claw_envs.core.errors import UserError
from claw_envs.terminal.formats.config import Config, expand, read_yaml

NAMES = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")

_HONOURED = ("build", "image", "environment", "working_dir", "command", "entrypoint", "volumes")
_WITHOUT_EFFECT = (
    "container_name", "cpus", "deploy", "expose", "healthcheck", "hostname", "init", "labels", "logging", "mem_limit",
    "memswap_limit", "network_mode", "networks", "platform", "ports", "profiles", "pull_policy", "restart", "shm_size",
    "stdin_open", "stop_grace_period", "stop_signal", "tty", "user",
)  # fmt: skip
_BUILD_KEYS = ("context", "dockerfile", "cache_from", "labels", "network", "no_cache", "platforms", "pull", "tags")
_IDLE = re.compile(
    r"(?:(?:/bin/)?(?:ba|da)?sh (?:-l?c )?)?(?:exec )?"
    r"(?:sleep (?:infinity|inf|\d+[smhd]?)|tail -f /dev/null|(?:/bin/)?(?:ba|da)?sh)?"
)
_BARE = re.compile(r"(?<!\$)\$([A-Za-z_]\w*)")


class Service(NamedTuple):
    """The one machine."""

    build: Path | None
    """Folder with a `Dockerfile`."""
    image: str | None
    """Name of a ready image, where there is no build folder."""
    workdir: str | None
    env: dict[str, str]


def compose_file(folder: Path) -> Path | None:
    """The compose file in `folder`, if there is one."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def read_compose(path: Path, *, known: Mapping[str, str] | None = None) -> Service:
    """Read the compose file at `path`.

    Args:
        known: values of the variables that the format defines.

    Raises:
        UserError: if it describes something else than one machine.
    """
    return _Reader(path, known or {}).read()


class _Reader:
    def __init__(self, path: Path, known: Mapping[str, str]) -> None:
        self.path = path
        self.known = known

    def read(self) -> Service:
        try:
            service = self._service(self._filled(read_yaml(self.path)))
        except RecursionError:
            raise UserError(f"{self.path}: nested too deep, or within itself") from None
        for key in service:
            if key not in (*_HONOURED, *_WITHOUT_EFFECT) and not str(key).startswith("x-"):
                raise UserError(f"{self.path}: `{key}` cannot be honoured")
        for key in ("command", "entrypoint"):
            self._check_idle(key, service.get(key))
        volumes = service.get("volumes") or []
        if not isinstance(volumes, list):
            raise UserError(f"{self.path}: volumes must be a list, got {volumes!r}")
        for volume in volumes:
            if not any(volume == f"{self.known[a]}:{self.known[b]}" for a, b in _LOG_MOUNTS if a in self.known):
                raise UserError(f"{self.path}: volume {volume!r} cannot be mounted, copy it in the Dockerfile")
        config = Config(f"{self.path}:", service)
        image = config.text("image")
        build = self._build(service["build"]) if service.get("build") else None if image else self.path.parent
        return Service(build, None if build else image, config.text("working_dir"), self._environment(service))

    def _service(self, data: Any) -> dict[str, Any]:
        services = data.get("services") if isinstance(data, dict) else None
        if not isinstance(services, dict) or not services:
            raise UserError(f"{self.path}: no services there")
        if len(services) > 1:
            raise UserError(f"{self.path}: several services ({', '.join(map(str, services))}); only one machine is run")
        if "include" in data:
            raise UserError(f"{self.path}: `include` cannot be honoured")
        [service] = services.values()
        if not isinstance(service, dict | None):
            raise UserError(f"{self.path}: a service must be a mapping, got {service!r}")
        return service or {}

    def _filled(self, value: Any) -> Any:
        """`value` with the variables in its strings replaced."""
        if isinstance(value, dict):
            return {key: self._filled(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._filled(entry) for entry in value]
        if not isinstance(value, str):
            return value
        return expand(_BARE.sub(r"${\1}", value), self.known, where=f"{self.path}:").replace("$$", "$")

    def _check_idle(self, key: str, command: Any) -> None:
        words = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
        if not _IDLE.fullmatch(" ".join(re.sub("['\"]", "", words).split())):
            raise UserError(f"{self.path}: {key} {words!r} would run beside the agent, which is not supported")

    def _build(self, build: Any) -> Path:
        build = {"context": build} if isinstance(build, str) else build
        if not isinstance(build, dict):
            raise UserError(f"{self.path}: build must be a folder or a mapping, got {build!r}")
        if unknown := [key for key in build if key not in _BUILD_KEYS]:
            raise UserError(f"{self.path}: build: `{unknown[0]}` cannot be honoured")
        config = Config(f"{self.path}: build:", build)
        if Path(config.text("dockerfile") or "Dockerfile") != Path("Dockerfile"):
            raise UserError(f"{self.path}: build: the Dockerfile must be named Dockerfile, in the context's folder")
        context = (self.path.parent / (config.text("context") or ".")).resolve()
        if not context.is_relative_to(self.path.parent.resolve()):
            raise UserError(f"{self.path}: build: context {build['context']!r} is outside of the task's folder")
        return context

    def _environment(self, service: dict[str, Any]) -> dict[str, str]:
        given = service.get("environment") or {}
        if not isinstance(given, dict | list):
            raise UserError(f"{self.path}: environment must be a mapping or a list, got {given!r}")
        pairs = [str(entry).partition("=")[::2] if "=" in str(entry) else (str(entry), None) for entry in given]
        values = dict(given.items() if isinstance(given, dict) else pairs)
        if missing := [name for name, value in values.items() if value is None]:
            raise UserError(f"{self.path}: environment {missing[0]} has no value, host variables are never passed in")
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


_LOG_MOUNTS = (
    ("T_BENCH_TASK_LOGS_PATH", "T_BENCH_CONTAINER_LOGS_PATH"),
    ("T_BENCH_TASK_AGENT_LOGS_PATH", "T_BENCH_CONTAINER_AGENT_LOGS_PATH"),
)
"""Where Terminal-Bench's own harness mounts folders for recordings."""
