"""A task's settings with checked access, whatever file they came from: TOML, YAML, or one row of a JSONL file.

Every complaint names the file, the table and the key. Host variables are never passed into a sandbox: `${NAME}` is
refused, `${NAME:-default}` is its default. What the keys mean is the formats' business.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from claw_envs.core.errors import UserError
from claw_envs.core.task import Limits, SandboxSpec

Network = Literal["none", "full"] | tuple[str, ...]

_LIMITS = Limits(max_steps=50, step_timeout=120.0)
"""Where a task states none: public formats count time only, and their commands install and compile."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)(?::?-([^}]*))?\}")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG])(?:i?B)?", re.IGNORECASE)
_MEGABYTES = {"K": 1 / 1024, "M": 1.0, "G": 1024.0}


class Config:
    """One table of settings.

    Args:
        where: what a complaint begins with: the file, and the table where it is not the whole file.
        data: the settings; unknown keys are left alone.
    """

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self.where = where
        self.data = data

    def table(self, name: str) -> "Config":
        """The table `[name]`; empty where there is none."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, dict):
            raise UserError(f"{self.where} {name} must be a table, written as [{name}]")
        return Config(f"{self.where} [{name}]", value or {})

    def text(self, key: str) -> str | None:
        """The text at `key`; None where there is none."""
        value = self.data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise UserError(f"{self.where} {key} must be text, got {value!r}")
        return value

    def number(self, key: str, default: float) -> float:
        """The finite number above 0 at `key`."""
        value = self.data.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise UserError(f"{self.where} {key} must be a number above 0, got {value!r}")
        return float(value)

    def flag(self, key: str) -> bool:
        """Whether `key` is there and true."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            raise UserError(f"{self.where} {key} must be true or false, got {value!r}")
        return bool(value)

    def megabytes(self, key: str, default: int) -> int:
        """MiB from `key_mb` (a number), or from `key` (text such as "2G", as older files have it)."""
        text = self.data.get(key)
        if text is None or f"{key}_mb" in self.data:
            return max(1, int(self.number(f"{key}_mb", default)))
        found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
        if not found or not float(found[1]):
            raise UserError(f'{self.where} {key} must be a size such as "512M" or "2G", got {text!r}')
        return max(1, int(float(found[1]) * _MEGABYTES[found[2].upper()]))

    def env(self) -> dict[str, str]:
        """The table `env`: names and plain strings."""
        values = self.data.get("env") or {}
        where = f"{self.where.removesuffix(']')}.env]"
        if not isinstance(values, dict):
            raise UserError(f"{where} must be a table of strings")
        for key, value in values.items():
            if not isinstance(value, str):
                raise UserError(f"{where} {key} must be a plain string, got {value!r}")
            if not key or "=" in key or "\0" in key + value:
                raise UserError(f"{where} {key!r}: no variable can have such a name, or a NUL byte")
        return {key: expand(value, where=f"{where} {key}") for key, value in values.items()}

    def network(self, *, default: Network = "none") -> Network:
        """The policy that `network_mode` and `allowed_hosts` state; `allow_internet` is its older form."""
        mode = self.data.get("network_mode")
        if mode is None:
            internet = self.data.get("allow_internet")
            return default if internet is None else "full" if self.flag("allow_internet") else "none"
        if mode == "allowlist":
            hosts = self.data.get("allowed_hosts", [])
            if not isinstance(hosts, list) or not all(isinstance(host, str) and host.strip() for host in hosts):
                raise UserError(f"{self.where} allowed_hosts must be a list of host names, got {hosts!r}")
            return tuple(hosts)
        if mode not in ("no-network", "public"):
            raise UserError(f"{self.where} network_mode must be no-network, public or allowlist, got {mode!r}")
        return "full" if mode == "public" else "none"

    def resources(self, default: SandboxSpec) -> dict[str, Any]:
        """`cpus`, `memory` and `storage` by the names of `SandboxSpec`; `default` where they are not stated."""
        return {
            "cpus": self.number("cpus", default.cpus),
            "memory_mb": self.megabytes("memory", default.memory_mb),
            "disk_mb": self.megabytes("storage", default.disk_mb),
        }

    def limits(self, *, episode_timeout: float) -> Limits:
        """Limits with `max_steps` and `step_timeout_sec`, two keys of ours."""
        return Limits(
            max_steps=max(1, int(self.number("max_steps", _LIMITS.max_steps))),
            step_timeout=self.number("step_timeout_sec", _LIMITS.step_timeout),
            episode_timeout=episode_timeout,
        )


def read_toml(path: Path) -> Config:
    """The settings in a TOML file.

    Raises:
        UserError: if it is not one.
    """
    try:
        return Config(f"{path}:", tomllib.loads(read_text(path)))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None


def read_yaml(path: Path) -> Any:
    """What a YAML file holds.

    Raises:
        UserError: if it is not valid, or PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise UserError(f'{path}: reading YAML needs PyYAML: pip install "claw-envs[formats]"') from None
    try:
        return yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None


def read_text(path: Path) -> str:
    """The UTF-8 text of a file.

    Raises:
        UserError: if it is missing or something else.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as text: {error}") from None


def expand(text: str, known: Mapping[str, str] | None = None, *, where: str) -> str:
    """`text` with `${NAME}` and `${NAME:-default}` replaced.

    Raises:
        UserError: if a variable is not `known` and has no default.

    >>> expand("${A}/${B:-b}", {"A": "a"}, where="here")
    'a/b'
    """

    def value(found: re.Match[str]) -> str:
        if found[1] in (known or {}):
            return (known or {})[found[1]]
        if found[2] is None:
            raise UserError(f"{where}: ${{{found[1]}}} has no value, host variables are never passed in: write it out")
        return found[2]

    return _VARIABLE.sub(value, text)
