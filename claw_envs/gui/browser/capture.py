"""Screenshots: chromium's picture of a tab as an array.

PNG with `optimizeForSpeed`, as it is lossless and as fast to make and read as JPEG at this size; decoded off the loop.
"""

import asyncio
import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ViewportSize

_OPTIONS = {"format": "png", "optimizeForSpeed": True}


async def capture(cdp: "CDPSession", size: "ViewportSize", scale: float) -> NDArray[np.uint8]:
    """What the tab of a session shows, of shape (height, width, 3).

    Args:
        size: of the page, in its own pixels.
        scale: pixels of the picture that one of the page takes.
    """
    clip = {} if scale == 1.0 else {"clip": {**await _scrolled(cdp), **size, "scale": scale}}
    answer = await cdp.send("Page.captureScreenshot", {**_OPTIONS, **clip})
    return await asyncio.to_thread(_decoded, answer["data"])


async def _scrolled(cdp: "CDPSession") -> dict[str, float]:
    """Where the part of the page that is shown begins."""
    shown = (await cdp.send("Page.getLayoutMetrics"))["cssVisualViewport"]
    return {"x": shown["pageX"], "y": shown["pageY"]}


def _decoded(data: str) -> NDArray[np.uint8]:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(data)), formats=("PNG",)) as image:
        image.load()  # before its array is asked for, or it is made twice
        return np.array(image if image.mode == "RGB" else image.convert("RGB"))
