"""Pictures of the screen, with the pointer in them, out of the framebuffer file that Xvfb keeps (`-fbdir`).

Not covered: a screen whose size or depth changes while it runs.
"""

import io
import mmap
import struct
from pathlib import Path

from PIL import Image
from Xlib.ext import xfixes  # noqa: F401 - gives displays their xfixes methods

from claw_envs.gui.desktop.inside.x import Input

_HEADER = struct.Struct(">25I")  # of an XWD file
_HEADER_SIZE, _WIDTH, _HEIGHT, _STRIDE, _COLORS = 0, 4, 5, 12, 19  # places in it
_COLOR_BYTES = 12


class Camera:
    """Takes pictures of one display.

    Args:
        framebuffer: Xvfb's file.
    """

    def __init__(self, screen: Input, framebuffer: Path) -> None:
        self._screen = screen
        with framebuffer.open("rb") as file:
            self._memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        head = _HEADER.unpack_from(self._memory)
        self._start = head[_HEADER_SIZE] + head[_COLORS] * _COLOR_BYTES
        self._stride = head[_STRIDE]
        self.size = head[_WIDTH], head[_HEIGHT]
        with screen.lock:
            screen.display.xfixes_query_version()

    def picture(self, *, pointer: bool = True) -> Image.Image:
        """The screen as it is now."""
        with self._screen.lock:
            # its answer says that the server has drawn what it was asked to before
            cursor = self._screen.display.xfixes_get_cursor_image(self._screen.root)
        length = self._stride * self.size[1]
        pixels = self._memory[self._start : self._start + length]
        image = Image.frombuffer("RGB", self.size, pixels, "raw", "BGRX", self._stride, 1)
        if pointer and cursor.width and cursor.height:
            image = image.copy() if image.readonly else image
            self._draw(image, cursor)
        return image

    @staticmethod
    def _draw(image: Image.Image, cursor: object) -> None:
        size = cursor.width, cursor.height  # type: ignore[attr-defined]
        raw = struct.pack(f"<{size[0] * size[1]}I", *cursor.cursor_image)  # type: ignore[attr-defined]
        shape = Image.frombuffer("RGBA", size, raw, "raw", "BGRA", 0, 1)  # its colours are premultiplied
        x, y = cursor.x - cursor.xhot, cursor.y - cursor.yhot  # type: ignore[attr-defined]
        under = image.crop((x, y, x + size[0], y + size[1])).convert("RGBA")
        image.paste(Image.alpha_composite(under, shape).convert("RGB"), (x, y))

    def raw(self) -> bytes:
        """Red, green and blue of every pixel, row by row from the top."""
        return self.picture().tobytes()

    def png(self) -> bytes:
        """The screen as a PNG file."""
        file = io.BytesIO()
        self.picture().save(file, "PNG", compress_level=1)
        return file.getvalue()
