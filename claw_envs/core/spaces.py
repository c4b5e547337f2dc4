"""`Unicode`: a Gymnasium space of any valid text, which `spaces.Text` (a fixed character set) cannot describe."""

from typing import Any

import numpy as np
from gymnasium import spaces

_SAMPLED = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    " \n\t.,:;!?'\"`()[]{}<>/\\|@#$%^&*-_=+~" + "äéñøŁЖλ中文あ한🙂"
)


class Unicode(spaces.Space[str]):
    """All strings of at most `max_length` characters that UTF-8 can encode (no lone surrogates).

    Batched by Gymnasium's vector utilities as a tuple of strings, so that text crosses a vector environment intact.

    >>> "naïve\\n" in Unicode(16)
    True
    >>> "\\ud800" in Unicode(16)
    False
    """

    def __init__(self, max_length: int = 1_000_000, *, seed: int | np.random.Generator | None = None) -> None:
        """
        Args:
            max_length: largest number of characters, inclusive.
            seed: for sampling.

        Raises:
            ValueError: if `max_length` is negative.
        """
        if max_length < 0:
            raise ValueError(f"max_length must be at least 0, got {max_length}")
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no fixed-size array form."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A string of at most 64 characters: short enough to read, mixed enough to find encoding faults."""
        if mask is not None or probability is not None:
            raise ValueError("Unicode.sample takes neither mask nor probability")
        length = int(self.np_random.integers(0, min(self.max_length, 64) + 1))
        return "".join(_SAMPLED[i] for i in self.np_random.integers(0, len(_SAMPLED), size=length))

    def contains(self, x: Any) -> bool:
        """Whether `x` is such a string."""
        if not isinstance(x, str) or len(x) > self.max_length:
            return False
        try:
            x.encode()
        except UnicodeEncodeError:
            return False
        return True

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.max_length == self.max_length
