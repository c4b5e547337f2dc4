"""Coordinates as an agent writes and reads them, and the pixels of the screen that they stand for.

On the `grid` both axes run from 0 to 999, as Qwen-VL's `computer_use` has them: 0 is the first pixel and 999 the last,
what lies between is rounded to the nearest pixel, and a half goes up. `pixels` are pixels.

>>> frame = Frame((1280, 720), "grid")
>>> frame.point(999, 500)
(1279, 360)
>>> frame.shown(1279, 360)
(999, 500)
"""

import math
from typing import Literal, NamedTuple, get_args

Coordinates = Literal["grid", "pixels"]
COORDINATES: tuple[Coordinates, ...] = get_args(Coordinates)
GRID = 999
"""The last point of the grid."""


class Frame(NamedTuple):
    """A screen of `size` pixels (width, height) and what its coordinates mean."""

    size: tuple[int, int]
    coordinates: Coordinates

    @property
    def last(self) -> tuple[int, int]:
        """The largest x and y that an agent may write."""
        return (GRID, GRID) if self.coordinates == "grid" else (self.size[0] - 1, self.size[1] - 1)

    def point(self, x: float, y: float) -> tuple[int, int]:
        """The pixel that an agent means.

        Raises:
            ValueError: if it lies outside; in words for the agent.
        """
        last_x, last_y = self.last
        if not (0 <= x <= last_x and 0 <= y <= last_y):
            what = "on the grid" if self.coordinates == "grid" else "in pixels"
            raise ValueError(
                f"the point ({x:g}, {y:g}) is not on the screen: "
                f"x is between 0 and {last_x}, y between 0 and {last_y}, {what}"
            )
        if self.coordinates == "pixels":
            return math.floor(x + 0.5), math.floor(y + 0.5)
        return _to_pixel(x, self.size[0]), _to_pixel(y, self.size[1])

    def shown(self, x: int, y: int) -> tuple[int, int]:
        """A pixel as an agent reads it; also one outside of the screen."""
        if self.coordinates == "pixels":
            return x, y
        return _to_grid(x, self.size[0]), _to_grid(y, self.size[1])

    def shown_box(self, box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """x, y, width and height of a box as an agent reads them."""
        x, y, width, height = box
        left, top = self.shown(x, y)
        right, bottom = self.shown(x + width, y + height)
        return left, top, right - left, bottom - top


def _to_pixel(value: float, length: int) -> int:
    # for whole numbers no half occurs: 2 * value * (length - 1) is even, an odd multiple of 999 is not
    return math.floor(value * (length - 1) / GRID + 0.5)


def _to_grid(pixel: int, length: int) -> int:
    last = max(length - 1, 1)
    return (2 * pixel * GRID + last) // (2 * last)
