"""Virtual time: a heap of what happens next.

A few lines instead of a library: simpy needs four times as long for an event, and there are tens of millions.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Clock:
    """Calls what was asked for, in the order of time; at the same time, in the order it was asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        """Seconds."""
        self.events = 0
        self._heap: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._number = 0

    def after(self, seconds: float, call: Callable[[Any], None], argument: Any = None) -> None:
        """Call `call(argument)` in `seconds` from now."""
        self.at(self.now + seconds, call, argument)

    def at(self, when: float, call: Callable[[Any], None], argument: Any = None) -> None:
        """Call `call(argument)` at `when`, which is not over yet."""
        self._number += 1
        heappush(self._heap, (when, self._number, call, argument))

    def run(self, going: Callable[[], bool] = lambda: True) -> None:
        """Go on while `going()` and something is left to happen."""
        heap = self._heap
        while heap and going():
            self.now, _, call, argument = heappop(heap)
            self.events += 1
            call(argument)
