"""Settings that a user wrote, in a file or on the command line, as a struct; a mistake is named with what is right."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from claw_envs.core.errors import UserError

T = TypeVar("T")


def read_settings(given: Mapping[str, Any], kind: type[T], *, said: str, strict: bool = True) -> T:
    """`given` as a `kind`.

    Args:
        kind: a msgspec struct; its fields may be structs themselves.
        said: where the user wrote them, for the complaint.
        strict: False where every value is text.

    Raises:
        UserError: naming the setting that is wrong, and what may be chosen where it has names to choose from.
    """
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise UserError(f"{said}: {error}{_choices(kind, str(error))}") from None


def _choices(kind: Any, complaint: str) -> str:
    """What may be chosen for the setting that msgspec complains about."""
    for name in complaint.rpartition("`$.")[2].rstrip("`").split("."):
        kind = get_type_hints(kind).get(name) if isinstance(kind, type) else None
    names = [name for part in (kind, *get_args(kind)) if get_origin(part) is Literal for name in get_args(part)]
    return f"; there are: {', '.join(map(str, names))}" if names else ""
