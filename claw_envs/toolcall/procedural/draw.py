"""Random draws that are the same on every machine and in every version of Python.

Only `random.Random(text).random()` is used: Python promises that its sequence for a seed never changes, and promises
nothing of the kind for `randrange`, `choice` and `shuffle`.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws.

    >>> [Draw("a seed").between(1, 100) for _ in range(2)]
    [40, 40]
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1; `bound` is far below 2**53, so that each is as likely."""
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def digits(self, count: int) -> int:
        """A whole number of `count` digits."""
        return self.between(10 ** (count - 1), 10**count - 1)

    def choice(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.below(len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """`count` different ones of `options`, in random order."""
        places: dict[int, None] = {}
        while len(places) < count:
            places[self.below(len(options))] = None
        return [options[place] for place in places]

    def numbers(self, count: int, low: int, high: int) -> list[int]:
        """`count` whole numbers from `low` to `high`, which may repeat."""
        return [self.between(low, high) for _ in range(count)]
