"""Reading what an agent may have written: None where it cannot be read as what it should be."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, ref: bool(value == ref),
    "ne": lambda value, ref: bool(value != ref),
    "le": lambda value, ref: bool(value <= ref),
    "lt": lambda value, ref: bool(value < ref),
    "ge": lambda value, ref: bool(value >= ref),
    "gt": lambda value, ref: bool(value > ref),
}
_BOUNDS = {"e": _OPERATORS["le"], "t": _OPERATORS["lt"]}
_FLAGS = {"I": re.I, "IGNORECASE": re.I, "M": re.M, "MULTILINE": re.M, "S": re.S, "DOTALL": re.S, "A": re.A, "X": re.X}


def text_of(path: Any) -> str | None:
    """The text of a file."""
    try:
        return Path(path).read_text(errors="replace") if isinstance(path, str) else None
    except (OSError, ValueError):  # a NUL in the path
        return None


def json_of(text: str | None) -> Any:
    """The value that a JSON text stands for."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def matches(value: Any, rule: dict[str, Any]) -> bool:
    """Whether a value is as a rule of `{"method", "ref"}` wants it.

    Methods: `eq`, `ne`, `le`, `lt`, `ge`, `gt`; `re` and `re.<FLAG>`; `approx:<threshold>`; `range.<e|t><e|t>` (bounds
    that are included or not); `str_list_eq`, `str_set_eq` (of comma-separated text).

    Raises:
        ValueError: if there is no such method.
    """
    method, ref = str(rule["method"]), rule["ref"]
    try:
        if method in _OPERATORS:
            return _OPERATORS[method](value, ref)
        if method.startswith("range."):
            return _BOUNDS[method[6]](ref[0], value) and _BOUNDS[method[7]](value, ref[1])
    except TypeError:  # the agent's value cannot be compared with the task's
        return False
    if method.partition(".")[0] == "re":
        flags = re.RegexFlag(0)
        for name in method.split(".")[1:]:
            flags |= _FLAGS[name]
        return isinstance(value, str) and re.search(ref, value, flags) is not None
    if method.startswith("approx:"):
        try:
            return bool(abs(float(value) - ref) <= float(method.partition(":")[2]))
        except (TypeError, ValueError):
            return False
    if method in ("str_list_eq", "str_set_eq"):
        kind = list if method == "str_list_eq" else set
        return isinstance(value, str) and kind(value.strip("\"'").split(",")) == kind(ref)
    raise ValueError(f"there is no method {method!r}")
