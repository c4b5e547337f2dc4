"""Staleness is bounded at admission, not by throwing work away.

A sample that is admitted while the policy has version v is trained at most `max_staleness` updates later than the first
that could train it, however slow it is: samples are trained in the order of their acceptance, so what is admitted after
it must not fill more than `max_staleness` further batches while it is in flight.
"""

import asyncio
from collections import deque
from typing import NamedTuple


class Ticket(NamedTuple):
    """Admission of some samples; held until they are accepted into the queue or let go."""

    number: int
    samples: int
    trained: int
    """Samples trained when it was given."""


class Pacer:
    """First come, first served admission: accepted + in flight <= trained when the oldest was admitted + capacity.

    Without stragglers that is: in flight + queued <= capacity. For one event loop.
    """

    def __init__(self, capacity: int, *, queued: int = 0) -> None:
        """
        Args:
            capacity: (max_staleness + 1) x batch size, in samples.
            queued: samples accepted before a restart and not yet trained.
        """
        self.capacity = capacity
        self._accepted = queued
        self._trained = 0
        self._flying: dict[int, Ticket] = {}
        self._waiting: deque[tuple[int, asyncio.Future[Ticket]]] = deque()
        self._number = 0

    @property
    def queued(self) -> int:
        """Samples accepted and not yet trained."""
        return self._accepted - self._trained

    @property
    def in_flight(self) -> int:
        """Samples admitted and neither accepted nor let go."""
        return sum(ticket.samples for ticket in self._flying.values())

    async def admit(self, samples: int = 1) -> Ticket:
        """Wait until `samples` more may be in flight.

        Raises:
            ValueError: if they could never fit.
        """
        if samples > self.capacity:
            raise ValueError(f"{samples} samples at once exceed the capacity of {self.capacity}")
        future: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._waiting.append((samples, future))
        self._wake()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.let_go(future.result())
            self._wake()
            raise

    def accept(self, ticket: Ticket) -> None:
        """The samples of `ticket` are in the queue."""
        del self._flying[ticket.number]
        self._accepted += ticket.samples
        self._wake()

    def let_go(self, ticket: Ticket) -> None:
        """The samples of `ticket` will not be trained."""
        del self._flying[ticket.number]
        self._wake()

    def train(self, samples: int) -> None:
        """The oldest `samples` of the queue are in the weights now."""
        self._trained += samples
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            samples, future = self._waiting[0]
            if not future.cancelled():
                oldest = next(iter(self._flying.values())).trained if self._flying else self._trained
                if self._accepted + self.in_flight + samples > oldest + self.capacity:
                    return
                self._number += 1
                ticket = self._flying[self._number] = Ticket(self._number, samples, self._trained)
                future.set_result(ticket)
            self._waiting.popleft()
