"""Machines that the user lists in a file, JSON or TOML: a command line has no room for their reset commands."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claw_envs.core.errors import UserError

SUFFIXES = (".json", ".toml")
_KEY = "machines"


def read_machines(path: str) -> Sequence[str | Mapping[str, Any]]:
    """Addresses, and objects with the fields of `listed.Listed`, under the key `machines`; JSON may be the list itself.

    Raises:
        UserError: if there is no such file, or no such list in it.
    """
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
        found = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"machines={path} cannot be read: {error}") from None
    listed = found.get(_KEY) if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise UserError(f"machines={path}: no list `{_KEY}` in it, of addresses or of objects with an url")
    return listed
