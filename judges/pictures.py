"""Screenshots for a judge's model that sees: small, and with a ring around where the agent acted.

What a page draws cannot be neutralised as text is; the judges' instructions say that it is the page's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.images import image_part, jpeg
from judges.screens import Look

WIDTH = 1024
"""Pixels; wider screenshots are made smaller."""
_QUALITY = 60
_RING = ((9, 12, (255, 255, 255)), (12, 16, (255, 0, 0)))
"""Pixels of the screen: rings from one radius to another, in a colour."""


def pictures(look: Look) -> list[dict[str, Any]]:
    """The screenshots before and after a step as OpenAI content parts, each after a line that says which it is."""
    parts: list[dict[str, Any]] = []
    if look.before is not None and look.before.screenshot is not None:
        points = look.points
        where = "; red rings mark where it acted" if points else ""
        parts += _shown(f"The screen before the action{where}:", ringed(look.before.screenshot, points))
    after = look.turn.observation
    if after is not None and after.screenshot is not None:
        parts += _shown("The screen after the action:", after.screenshot)
    return parts


def ringed(screenshot: NDArray[np.uint8], points: Sequence[tuple[int, int]]) -> NDArray[np.uint8]:
    """A screenshot with a ring around each point."""
    if not points:
        return screenshot
    drawn = screenshot.copy()
    rows, columns = np.ogrid[: drawn.shape[0], : drawn.shape[1]]
    for x, y in points:
        distance = (columns - x) ** 2 + (rows - y) ** 2
        for inner, outer, colour in _RING:
            drawn[(distance >= inner**2) & (distance < outer**2)] = colour
    return drawn


def _shown(title: str, screenshot: NDArray[np.uint8]) -> list[dict[str, Any]]:
    data = jpeg(screenshot, width=WIDTH, quality=_QUALITY)
    return [{"type": "text", "text": title}, image_part(data, "jpeg")]
