"""Screenshots as OSWorld's servers send them, PNG or JPEG, as arrays."""

import io
from typing import TYPE_CHECKING

import numpy as np

from claw_envs.core.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORMATS = ("PNG", "JPEG")


def decoded(data: bytes, size: tuple[int, int]) -> "NDArray[np.uint8]":
    """The pixels of an image, uint8 of shape (height, width, 3).

    Args:
        size: width and height that it should have, in pixels.

    Raises:
        ValueError: if it is no whole image of that size.
        UserError: if pillow is missing.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise UserError('screenshots of OSWorld machines need pillow: pip install "claw-envs[gui]"') from error
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if image.size != size:
                raise ValueError(f"it has {image.size[0]}x{image.size[1]} pixels in place of {size[0]}x{size[1]}")
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"it is no whole image: {error}") from error
