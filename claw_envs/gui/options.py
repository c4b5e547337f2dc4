"""What a user may choose of an environment's screens, checked."""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from claw_envs.core.errors import UserError
from claw_envs.gui.actions import SPACES
from claw_envs.gui.actions.frame import COORDINATES
from claw_envs.sandbox.pool import SandboxPool

Backend = Literal["browser", "desktop", "osworld"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
SANDBOXES = ("namespace", "docker")
OBSERVED = ("axtree", "screenshot")
_SIDES = (64, 8192)  # pixels
_MOST_IMAGES = 100
_LEAST_CHARACTERS = 200


class Options(NamedTuple):
    """Of all screens of an environment; see `GuiEnv`."""

    size: tuple[int, int]
    backend: Backend | None = None
    executable: str | None = None
    sandbox: str = "namespace"
    machines: str | Sequence[str | Mapping[str, Any]] | None = None
    pool: SandboxPool | None = None
    desktop_env: str | None = None
    cache: str | Path | None = None
    password: str = "password"


def size_of(size: Any) -> tuple[int, int]:
    """Width and height in pixels, out of a list, a tuple, or a text such as `1280x720`.

    Raises:
        UserError: if it is no size.
    """
    least, most = _SIDES
    written = re.fullmatch(r"(\d{1,5})x(\d{1,5})", size) if isinstance(size, str) else None
    sides = list(map(int, written.groups())) if written else list(size) if isinstance(size, list | tuple) else []
    if len(sides) != 2 or not all(_whole(side, least, most) for side in sides):
        raise UserError(
            f"size must be [width, height] or 1280x720, whole numbers from {least} to {most}, got {size!r:.100}"
        )
    return sides[0], sides[1]


def observed(observe: Any, images: Any, max_characters: Any) -> Sequence[str]:
    """The parts to observe, out of a list or a text with commas.

    Raises:
        UserError: if there is no such part, or too much of one.
    """
    observe = [name.strip() for name in observe.split(",")] if isinstance(observe, str) else observe
    if not isinstance(observe, list | tuple) or not set(observe) <= set(OBSERVED):
        raise UserError(f"observe must be a list of {', '.join(OBSERVED)}, got {observe!r:.100}")
    if not _whole(images, 0, _MOST_IMAGES):
        raise UserError(f"images must be a whole number from 0 to {_MOST_IMAGES}, got {images!r:.100}")
    if images and "screenshot" not in observe:
        raise UserError('images needs "screenshot" among what is observed')
    if not _whole(max_characters, _LEAST_CHARACTERS, 10**6):
        raise UserError(
            f"max_characters must be a whole number from {_LEAST_CHARACTERS} on, got {max_characters!r:.100}"
        )
    return observe


def warn_of_blindness(observe: Sequence[str], images: int, actions: str) -> None:
    """Say what an agent cannot see that acts all the same; who only records or judges may want that."""
    if "axtree" in observe:
        return
    if not images:
        unseen = "nothing of the screen: add axtree to observe, or set images=1 for one that sees pictures"
    elif actions == "elements":
        unseen = 'no ids of elements, which it is told to name: add axtree to observe, or set actions="computer_use"'
    else:
        return
    warnings.warn(f"the agent is shown {unseen}", stacklevel=3)


def check_words(*, actions: Any, coordinates: Any, backend: Any, sandbox: Any) -> None:
    """
    Raises:
        UserError: if one of them is none that there is.
    """
    for name, value, known in (
        ("actions", actions, SPACES),
        ("coordinates", coordinates, COORDINATES),
        ("backend", backend, (None, *BACKENDS)),
        ("sandbox", sandbox, SANDBOXES),
    ):
        if value not in known:
            said = ", ".join(str(each) for each in known if each is not None)
            raise UserError(f"{name} must be one of {said}, got {value!r:.100}")


def _whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most
