"""Screens with captions as an animated GIF, bounded in size.

Pictures are narrowed; of many every other one is left out, and again while the file is too large. What the captions say
is `claw_envs.gui.recording`'s business.
"""

import re
import uuid
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.errors import UserError

if TYPE_CHECKING:
    from PIL import Image, ImageFont

WIDTH = 640
"""Pixels that a picture is narrowed to, or that a small one is multiplied up to."""
MOST_FRAMES = 120
MOST_BYTES = 4_000_000
_STEP_MS, _LAST_MS = 900, 2500
_COLOURS = 128
_CAPTION, _LONGEST_CAPTION = 24, 100  # height in pixels, characters
_FONT_SIZE = 12
_RADIUS = 9
_RED = (220, 30, 50)

Point = tuple[int, int]


class Gif:
    """The pictures of one file. Its methods compute for some ten milliseconds: call them in a thread."""

    def __init__(self, folder: Path, name: str) -> None:
        """
        Args:
            folder: made if missing.
            name: the file's name begins with it, and is used by nobody else.
        """
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80]
        self.path = folder / f"{plain}-{uuid.uuid4().hex[:12]}.gif"
        self._frames: list[Image.Image] = []

    def add(self, screen: NDArray[np.uint8], caption: str, points: Sequence[Point] = ()) -> None:
        """A picture.

        Args:
            screen: uint8 array of shape (height, width, 3).
            caption: one line.
            points: of the screen, in pixels, that get a circle.
        """
        if len(self._frames) >= MOST_FRAMES:
            del self._frames[1::2]
        self._frames.append(_drawn(screen, caption, points))

    def save(self) -> Path | None:
        """Write the file, with fewer pictures where it would be too large.

        Returns:
            Its path; None where there is no picture.

        Raises:
            UserError: if it cannot be written.
        """
        frames = self._frames
        if not frames:
            return None
        data = _gif(frames)
        while len(data) > MOST_BYTES and len(frames) > 2:
            frames = [*frames[:-1:2], frames[-1]]
            data = _gif(frames)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(data)
        except OSError as error:
            raise UserError(f"record: {self.path} cannot be written ({error.strerror})") from error
        return self.path


def _drawn(screen: NDArray[np.uint8], caption: str, points: Sequence[Point]) -> "Image.Image":
    from PIL import Image, ImageDraw

    height, width = screen.shape[:2]
    scale = WIDTH / width if width > WIDTH else WIDTH // width
    size = max(1, round(width * scale)), max(1, round(height * scale))
    shown = Image.fromarray(screen).resize(size, Image.Resampling.BOX if scale < 1 else Image.Resampling.NEAREST)
    frame = Image.new("RGB", (max(size[0], WIDTH), size[1] + _CAPTION), (24, 24, 28))
    frame.paste(shown)
    draw = ImageDraw.Draw(frame)
    for x, y in points:
        x, y = round(x * scale), round(y * scale)
        draw.ellipse((x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS), outline=_RED, width=3)
    text = caption if len(caption) <= _LONGEST_CAPTION else caption[: _LONGEST_CAPTION - 1] + "…"
    draw.text((6, size[1] + 4), text, fill=(240, 240, 240), font=_font())
    return frame.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


@cache
def _font() -> "ImageFont.FreeTypeFont | ImageFont.ImageFont":
    """The usual font of Linux desktops, which knows more signs than Pillow's own."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype("DejaVuSans.ttf", _FONT_SIZE)
    except OSError:
        return ImageFont.load_default(_FONT_SIZE)


def _gif(frames: "Sequence[Image.Image]") -> bytes:
    file = BytesIO()
    pauses = [_STEP_MS] * (len(frames) - 1) + [_LAST_MS]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=pauses, loop=0, optimize=False)
    return file.getvalue()
