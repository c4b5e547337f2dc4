"""The desktop's background: a colour, or an image.

A pixmap is drawn once and given to the root window, as programs that set backgrounds do.
"""

import io

from PIL import Image, ImageOps
from Xlib import X, Xatom

from claw_envs.gui.desktop.inside.x import Input

COLOR = (58, 80, 107)
_ROWS = 16
"""Rows of an image that one request carries, of the 256 KiB that it may hold."""


class Background:
    """The background of one display."""

    def __init__(self, screen: Input) -> None:
        self._screen = screen
        self._file = b""
        self.fill(Image.new("RGB", screen.size, COLOR))

    def file(self) -> bytes:
        """The image on it, as it was given; one of its colour as PNG where none was."""
        if self._file:
            return self._file
        made = io.BytesIO()
        Image.new("RGB", self._screen.size, COLOR).save(made, "PNG")
        return made.getvalue()

    def show(self, data: bytes) -> None:
        """Put an image on it, as large as the screen, what does not fit cut off.

        Raises:
            OSError: if it is no image.
        """
        with Image.open(io.BytesIO(data)) as image:
            fitted = ImageOps.fit(image.convert("RGB"), self._screen.size)
        self.fill(fitted)
        self._file = data

    def fill(self, image: Image.Image) -> None:
        """Draw an image of the screen's size."""
        width, height = image.size
        raw = image.convert("RGBX").tobytes("raw", "BGRX")
        with self._screen.lock:
            root, display = self._screen.root, self._screen.display
            pixmap = root.create_pixmap(width, height, 24)
            context = pixmap.create_gc()
            for top in range(0, height, _ROWS):
                rows = min(_ROWS, height - top)
                part = raw[top * width * 4 : (top + rows) * width * 4]
                pixmap.put_image(context, 0, top, width, rows, X.ZPixmap, 24, 0, part)
            root.change_attributes(background_pixmap=pixmap)
            root.clear_area(0, 0, 0, 0)
            root.change_property(display.intern_atom("_XROOTPMAP_ID"), Xatom.PIXMAP, 32, [pixmap.id])
            context.free()
            display.sync()
