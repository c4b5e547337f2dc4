"""An episode as an animated GIF: each step's screen with what the agent did on it, and at last the final screen.

Where it clicked there is a circle, and below the picture a line says what was done, and what was wrong with it.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from claw_envs.core.errors import UserError
from claw_envs.gui.acting import Carried
from claw_envs.gui.actions import Parsed
from claw_envs.gui.acts import Act
from claw_envs.gui.axtree import quoted
from claw_envs.gui.gif import Gif, Point
from claw_envs.gui.screen import Element, View
from claw_envs.wire.calls import Malformed


class Recorder:
    """Records one episode after the other, each into a file of its own."""

    def __init__(self, folder: Path) -> None:
        """
        Args:
            folder: for the files; made if missing.

        Raises:
            UserError: if it cannot be made.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"record: the folder {folder} cannot be made ({error.strerror}); name another") from error
        self._folder = folder
        self._gif: Gif | None = None

    def begin(self, name: str) -> None:
        """Begin an episode; one that was not ended is forgotten.

        Args:
            name: for the file's name.
        """
        self._gif = Gif(self._folder, name)

    async def step(self, before: View, calls: Sequence[Parsed], done: Carried) -> None:
        """Add what the agent did on the screen that it saw."""
        if self._gif is None or before.screenshot is None:
            return
        acts = [call.act for call in calls if not isinstance(call.act, Malformed)]
        elements = before.elements or ()
        words = "; ".join(in_words(act, elements) for act in acts) or "a message that could not be read"
        errors = [result.head for result in done.results if result.ran and result.head != "ok"]
        points = [point for act in acts for point in points_of(act, elements)]
        await asyncio.to_thread(self._gif.add, before.screenshot, " - ".join([words, *errors]), points)

    async def end(self, last: View, caption: str) -> str | None:
        """Write the file, with the final screen.

        Returns:
            Its path; None where there is nothing to see, or the episode's is written already.

        Raises:
            UserError: if it cannot be written.
        """
        gif, self._gif = self._gif, None
        if gif is None:
            return None
        if last.screenshot is not None:
            await asyncio.to_thread(gif.add, last.screenshot, caption)
        path = await asyncio.to_thread(gif.save)
        return None if path is None else str(path)


def in_words(act: Act, elements: Sequence[Element]) -> str:
    """What an act does, for a caption.

    Args:
        elements: that it may name.
    """
    said = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(act).__name__).lower()]
    for field in msgspec.structs.fields(act):
        value = getattr(act, field.name)
        if field.name in ("id", "onto"):
            found = _find(elements, value)
            said.append(f"[{value}]")
            if found is not None:
                said += [found.role, quoted(found.name)] if found.name else [found.role]
        elif value != field.default:
            said.append(quoted(value) if field.name in ("text", "code") else _plain(value))
    return " ".join(said)


def points_of(act: Act, elements: Sequence[Element]) -> Iterator[Point]:
    """Where on the screen an act takes place."""
    for x, y in (("from_x", "from_y"), ("x", "y")):
        if getattr(act, x, None) is not None:
            yield getattr(act, x), getattr(act, y)
    for name in ("id", "onto"):
        found = _find(elements, getattr(act, name, None))
        if found is not None and found.box is not None:
            left, top, width, height = found.box
            yield left + width // 2, top + height // 2


def _find(elements: Sequence[Element], element_id: str | None) -> Element | None:
    return next((element for element in elements if element.id == element_id), None)


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
