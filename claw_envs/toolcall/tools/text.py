"""What a tool's value is to the agent: a text of bounded length."""

import json
from typing import Any

import msgspec
import numpy as np

MAX_TEXT = 20_000
"""Characters of one result that are kept (head and tail)."""


def text_of(value: Any) -> str:
    """A text as it is, else JSON where there is one, else the value's `repr`; bounded.

    >>> text_of({"high": 21.5, "wind": None})
    '{"high": 21.5, "wind": null}'
    """
    if isinstance(value, str):
        return bounded(value)
    try:
        plain = msgspec.to_builtins(value, builtin_types=(bytes, bytearray), enc_hook=_numpy)
        return bounded(json.dumps(plain, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return bounded(repr(value))


def bounded(text: str, limit: int = MAX_TEXT) -> str:
    """`text` as UTF-8 can encode it, its middle replaced by a count where it is longer than `limit` characters."""
    if len(text) > limit:
        head, tail = limit // 2, limit - limit // 2
        text = f"{text[:head]}\n[... {len(text) - limit} characters omitted ...]\n{text[-tail:]}"
    return text.encode("utf-8", "replace").decode("utf-8")


def inline(text: object, limit: int = 200) -> str:
    """`text` in one line of at most `limit` characters, for messages that quote what an agent or a server sent.

    >>> inline("a\\nb " * 3, limit=6)
    'a b… b'
    """
    line = " ".join(str(text).split())
    if len(line) > limit:
        line = f"{line[: limit // 2]}…{line[limit // 2 + 1 - limit :]}"
    return line.encode("utf-8", "replace").decode("utf-8")


def _numpy(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON")
