"""Reads how a user names a set of procedural problems: `SPLIT,key=value,…`, every part of it optional.

Keys: `families` and `levels` (joined by `+`, levels also as a range `1-3`), `count`, `seed`.
"""

from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.core.task import Task
from claw_envs.toolcall.procedural.generator import SPLITS, generate

_EXAMPLE = "procedural:heldout,families=product+gcd,levels=1-2,count=64,seed=3"


def tasks_of(named: str) -> list[Task]:
    """The tasks that `named` stands for; all families at levels 1 to 3 where it is empty.

    Raises:
        UserError: if it is not written so, or `generate` refuses it.
    """
    options: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in named.split(","))):
        key, equals, value = part.partition("=")
        if not equals and part in SPLITS:
            key, value = "split", part
        if key in options:
            raise UserError(f"{key} is given twice in {named!r}")
        options[key] = _value(key, value, part)
    return generate(**options)


def _value(key: str, value: str, part: str) -> Any:
    if key == "split":
        return value
    if key == "families":
        return value.split("+")
    if key == "levels":
        return [level for piece in value.split("+") for level in _range(piece, part)]
    if key in ("count", "seed"):
        return _whole(value, part)
    raise UserError(f"{part!r} is neither a split ({', '.join(SPLITS)}) nor an option; write it like {_EXAMPLE}")


def _range(piece: str, part: str) -> range:
    low, dash, high = piece.partition("-")
    return range(_whole(low, part), _whole(high if dash else low, part) + 1)


def _whole(value: str, part: str) -> int:
    if not value.isdecimal():
        raise UserError(f"{part!r}: {value!r} is not a whole number; write it like {_EXAMPLE}")
    return int(value)
