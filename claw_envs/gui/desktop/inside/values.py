"""The values that an agent's code may make, and what of Python there is to make them with. All of it is bounded."""

import ast
import operator
import re
from collections.abc import Callable, Collection
from typing import Any

from claw_envs.gui.desktop.inside.arguments import CodeError
from claw_envs.gui.desktop.inside.gestures import Holding

MOST_LENGTH = 50_000
"""Characters of a text."""
_MOST_ENTRIES = MOST_LENGTH // 10
_MOST_NUMBER = 10**15
_MOST_DIGITS = 20
_SPEC = re.compile(r"[<>^=+ -]?\d{0,3}(?:\.\d{1,2})?[bcdeEfFgGnosxX%]?")

_OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_METHODS: dict[type, Collection[str]] = {
    str: (
        *("capitalize", "count", "endswith", "find", "isalpha", "isdigit", "join", "lower", "lstrip", "replace"),
        *("rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
    ),
    list: ("append", "count", "index", "pop", "reverse"),
    tuple: ("count", "index"),
}


def guarded(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What a function of Python's gives; what it does not like is the agent's error."""
    try:
        return function(*args, **named)
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise CodeError(str(error)) from None


def bounded(value: Any) -> Any:
    """`value`, where it is of a kind that there is, and not too large."""
    if isinstance(value, str) and len(value) > MOST_LENGTH:
        raise CodeError(f"a text has at most {MOST_LENGTH} characters")
    if isinstance(value, list | tuple):
        _weigh(value)
    if isinstance(value, int | float) and not abs(value) <= _MOST_NUMBER:
        raise CodeError("the number is too large")
    if value is not None and not isinstance(value, str | int | float | list | tuple | Holding):
        raise CodeError(f"there are no values such as {type(value).__name__} here")
    return value


def _weigh(value: Any) -> None:
    """Refuse a list that would be too long as a text, with all that is in it, or that holds itself."""
    waiting, weight = [value], 0
    while waiting:
        part = waiting.pop()
        weight += len(part) if isinstance(part, str) else 8
        if isinstance(part, list | tuple):
            weight += len(part)
            if weight <= MOST_LENGTH:
                waiting.extend(part)
        if weight > MOST_LENGTH:
            raise CodeError(f"a list has at most {_MOST_ENTRIES} entries, and {MOST_LENGTH} characters in them")


def operation(sign: ast.operator, left: Any, right: Any) -> Any:
    """`left sign right`."""
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    kind = type(sign)
    if kind not in _OPERATIONS or not (numbers or kind in (ast.Add, ast.Mult)):
        raise CodeError(f"there is no such operation here: {kind.__name__} of {_kind(left)} and {_kind(right)}")
    if kind is ast.Mult and not numbers:
        many, count = (right, left) if isinstance(left, int) else (left, right)
        if not isinstance(many, str | list | tuple) or not isinstance(count, int) or len(many) * count > MOST_LENGTH:
            raise CodeError("only texts and lists can be repeated, and not so often")
    return bounded(guarded(_OPERATIONS[kind], left, right))


def method(owner: Any, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """`owner.name(...)`."""
    kind = next((kind for kind in _METHODS if isinstance(owner, kind)), None)
    if kind is None or name not in _METHODS[kind]:
        raise CodeError(f"there is no .{name[:40]}() of {_kind(owner)} here")
    if name in ("join", "replace"):
        parts = args[0] if name == "join" and args and isinstance(args[0], list | tuple) else owner
        longest = max(len(text) for text in [owner, *args] if isinstance(text, str))
        if (len(parts) + 1) * (longest + 1) > 100 * MOST_LENGTH:  # it is made before it can be measured
            raise CodeError("the text would be too long")
    value = bounded(guarded(getattr(owner, name), *args, **named))
    bounded(owner)
    return value


def formatted(value: Any, spec: str, conversion: int) -> str:
    """A part of an f-string."""
    if not _SPEC.fullmatch(spec):
        raise CodeError(f"there is no format {spec[:20]!r} here")
    shown = repr(bounded(value)) if conversion == ord("r") else bounded(value)
    return str(guarded(format, shown, spec))


def _kind(value: Any) -> str:
    return type(value).__name__.strip("_").lower()


def _range(*bounds: Any) -> list[int]:
    found = range(*bounds)
    if len(found) > _MOST_ENTRIES:
        raise CodeError(f"a range has at most {_MOST_ENTRIES} numbers")
    return list(found)


def _round(value: Any, digits: Any = None) -> Any:
    if digits is not None and not abs(digits) <= _MOST_DIGITS:
        raise CodeError(f"numbers are rounded to at most {_MOST_DIGITS} digits")
    return round(value, digits)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "bool": bool,
    "enumerate": lambda *args: list(enumerate(*args)),
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "print": lambda *_: None,
    "range": _range,
    "reversed": lambda value: list(reversed(value)),
    "round": _round,
    "sorted": sorted,
    "str": str,
    "sum": sum,
    "tuple": tuple,
    "zip": lambda *args: list(zip(*args, strict=False)),
}
"""Python's own functions that there are."""
