"""How busy each loop is: the share of wall-clock time during which it had at least one item in hand."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class BusyMeter:
    """Counts the time with one or more items in hand; overlapping items count once. For one thread."""

    def __init__(self) -> None:
        self._items = 0
        self._busy = 0.0
        self._since = 0.0

    @contextmanager
    def busy(self) -> Iterator[None]:
        """An item is in hand for the length of the block."""
        if self._items == 0:
            self._since = time.perf_counter()
        self._items += 1
        try:
            yield
        finally:
            self._items -= 1
            if self._items == 0:
                self._busy += time.perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """Busy seconds so far."""
        return self._busy + (time.perf_counter() - self._since if self._items else 0.0)
