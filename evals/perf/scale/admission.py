"""The trainer's pacer in virtual time; a test holds it against `trainers.pacer.Pacer`, decision by decision."""

from collections import deque
from collections.abc import Callable


class Ticket:
    """Admission of some samples; held until they are accepted into the queue or let go."""

    __slots__ = ("flying", "samples", "trained")

    def __init__(self, samples: int, trained: int) -> None:
        self.samples = samples
        self.trained = trained
        """Samples trained when it was given."""
        self.flying = True


class Admission:
    """First come, first served: accepted + in flight <= trained when the oldest was admitted + capacity."""

    def __init__(self, capacity: int) -> None:
        """
        Args:
            capacity: (max_staleness + 1) x batch size, in samples.
        """
        self.capacity = capacity
        self.accepted = self.trained = self.in_flight = 0
        self._flying: deque[Ticket] = deque()
        self._waiting: deque[tuple[int, Callable[[Ticket], None]]] = deque()

    def request(self, samples: int, granted: Callable[[Ticket], None]) -> None:
        """Call `granted` with a ticket once `samples` more may be in flight."""
        self._waiting.append((samples, granted))
        self._wake()

    def accept(self, ticket: Ticket) -> None:
        """The samples of `ticket` are in the queue."""
        self.accepted += ticket.samples
        self.let_go(ticket)

    def let_go(self, ticket: Ticket) -> None:
        """The samples of `ticket` are not in flight any more."""
        ticket.flying = False
        self.in_flight -= ticket.samples
        while self._flying and not self._flying[0].flying:
            self._flying.popleft()
        self._wake()

    def train(self, samples: int) -> None:
        """The oldest `samples` of the queue are in the weights now."""
        self.trained += samples
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            samples, granted = self._waiting[0]
            oldest = self._flying[0].trained if self._flying else self.trained
            if self.accepted + self.in_flight + samples > oldest + self.capacity:
                return
            self._waiting.popleft()
            ticket = Ticket(samples, self.trained)
            self._flying.append(ticket)
            self.in_flight += samples
            granted(ticket)
