"""Screenshots for models that see: in which messages of a conversation, and as what.

A screenshot stands with the message of its observation, as an OpenAI image part (`data:image/png;base64,…`). Only the
last few are shown; where an older one stood, a text says so. What is shown may thus differ from one prompt to the next
beyond what was added: such a prompt doesn't extend the one before. Messages that are kept (`Turn.messages`) hold no
images: those lie in the observations. Not covered: images in what an agent says.
"""

import asyncio
import base64
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from claw_envs.core.episode import Message, Observation
from claw_envs.core.errors import UserError

if TYPE_CHECKING:
    from PIL import Image

LEFT_OUT = "[screenshot left out]"


def png(screenshot: NDArray[np.uint8]) -> bytes:
    """A uint8 array of shape (height, width, 3) as a PNG file, at its fastest compression.

    Raises:
        UserError: if Pillow is not installed.
    """
    file = BytesIO()
    _image(screenshot).save(file, "PNG", compress_level=1)
    return file.getvalue()


def jpeg(screenshot: NDArray[np.uint8], *, width: int, quality: int = 50) -> bytes:
    """The same as a JPEG file, no wider than `width` pixels."""
    image = _image(screenshot)
    from PIL.Image import Resampling

    image.thumbnail((width, image.height), Resampling.BOX)
    file = BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def _image(screenshot: NDArray[np.uint8]) -> "Image.Image":
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError('screenshots as images need Pillow: pip install "claw-envs[gui]"') from error
    return Image.fromarray(screenshot)


def image_part(data: bytes, kind: str) -> dict[str, object]:
    """An image file as an OpenAI content part.

    Args:
        kind: `png` or `jpeg`.
    """
    url = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


class Screenshots:
    """Those of one conversation, of which the last few are shown."""

    def __init__(self, last: int) -> None:
        """
        Args:
            last: how many are shown; 0 for a model that does not see.
        """
        self._last = last
        self._parts: dict[int, dict[str, object] | None] = {}  # by the message's index; None once it is left out

    async def add(self, index: int, observation: Observation) -> None:
        """Take an observation's screenshot, where it has one, whose last message has `index` in the conversation."""
        if self._last and observation.screenshot is not None:
            self._parts[index] = image_part(await asyncio.to_thread(png, observation.screenshot), "png")
            for old in list(self._parts)[: -self._last]:
                self._parts[old] = None

    def shown(self, messages: Sequence[Message]) -> list[Message]:
        """`messages` with their screenshots."""
        shown: list[Message] = []
        for i, message in enumerate(messages):
            part = self._parts.get(i, {}) or {"type": "text", "text": LEFT_OUT}
            shown += with_part(message, part) if i in self._parts else [message]
        return shown


def with_part(message: Message, part: dict[str, object]) -> list[Message]:
    """A message of text with one more part; after the answer to a call, which is text alone, it is the user's."""
    if message["role"] != "user":
        return [message, {"role": "user", "content": [part]}]
    return [{**message, "content": [{"type": "text", "text": message["content"]}, part]}]
