"""Staleness is bounded at admission, not by throwing work away.

In flight plus queued never exceeds (max_staleness + 1) x batch_size samples, so that what is being sampled now is
trained at most `max_staleness` updates later.
"""

import asyncio
from collections import deque


class Pacer:
    """First come, first served slots for samples, held from admission until the sample is trained or let go."""

    def __init__(self, capacity: int, *, held: int = 0) -> None:
        """
        Args:
            capacity: largest number of samples in flight plus queued.
            held: samples already queued (from the store, after a restart); may exceed the capacity.
        """
        self.capacity = capacity
        self.held = held
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def acquire(self, samples: int = 1) -> None:
        """Wait until `samples` more may be in flight.

        Raises:
            ValueError: if they could never fit.
        """
        if samples > self.capacity:
            raise ValueError(f"{samples} samples at once exceed the capacity of {self.capacity}")
        if not self._waiting and self.held + samples <= self.capacity:
            self.held += samples
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (samples, future)
        self._waiting.append(entry)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.release(samples)
            else:
                self._waiting.remove(entry)
                self._wake()
            raise

    def release(self, samples: int = 1) -> None:
        """`samples` were trained, or turned out to carry no signal."""
        self.held -= samples
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.held + self._waiting[0][0] <= self.capacity:
            samples, future = self._waiting.popleft()
            if not future.cancelled():
                self.held += samples
                future.set_result(None)
