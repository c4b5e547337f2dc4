"""One serving engine: continuous batching as processor sharing, exact between two events.

Every sequence in the batch advances by one token a step. So the engine has a clock of its own that counts steps, a
sequence ends when that clock has gone on by the length of its response, and only joining and leaving change its speed.
Context enters with its mean over a response, which keeps the speed constant in between.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NamedTuple

from evals.perf.scale.clock import Clock
from evals.perf.scale.curve import Curve

_ALMOST = 1e-6
"""Of a step: what floating point leaves of a response that has ended."""


class Limits(NamedTuple):
    """What an engine can hold."""

    sequences: int
    tokens: float


class Request:
    """A response to be sampled."""

    __slots__ = ("begun", "context", "done", "engine", "new", "owner", "response")

    def __init__(
        self,
        owner: Any,
        *,
        new: float,
        context: float,
        response: float,
        begun: Callable[[Any], None],
        done: Callable[[Any], None],
    ) -> None:
        """
        Args:
            owner: whose it is.
            new: tokens to read first.
            context: tokens before the response, whether new or kept from earlier.
            response: tokens to sample.
            begun: called with the owner when the engine begins with it.
            done: called with the owner when the last token is there.
        """
        self.owner, self.new, self.context, self.response = owner, new, context, response
        self.begun, self.done = begun, done
        self.engine = 0
        """Number of the engine that has it."""


class Engine:
    """Serves in the order of arrival as many requests as fit. Memory is reserved for a whole response."""

    def __init__(self, clock: Clock, curve: Curve, limits: Limits, ended: Callable[[Request], None]) -> None:
        """
        Args:
            ended: called with each request whose last token is there.
        """
        self._clock, self._curve, self._limits, self._ended = clock, curve, limits, ended
        self._waiting: deque[Request] = deque()
        self._batch: list[tuple[float, int, Request]] = []
        self._number = 0
        self._reserved = self._cached = 0.0
        self._steps = self._at = self._stalled = 0.0
        self._step = curve.step(0, 0.0)
        self._due: float | None = None
        self._paused = False
        self._sequence_area = self._busy_area = 0.0
        self.closed = False
        """Whether requests only wait: what is in the batch goes on."""
        self.emptied: Callable[[], None] | None = None
        """Called when the last sequence has left."""

    @property
    def in_flight(self) -> int:
        """Requests in the batch and before it."""
        return len(self._batch) + len(self._waiting)

    @property
    def batch(self) -> int:
        """Sequences that are being sampled."""
        return len(self._batch)

    def submit(self, request: Request) -> None:
        """Queue a request."""
        self._waiting.append(request)
        self._advance()
        self._admit()
        self._plan()

    def pause(self) -> None:
        """Stand still; sequences keep their place."""
        self._advance()
        self._stalled = max(0.0, self._stalled - self._clock.now)
        self._paused, self._due = True, None

    def resume(self) -> None:
        """Go on, and take requests again."""
        self._advance()
        if self._paused:
            self._stalled += self._clock.now
        self._paused = self.closed = False
        self._admit()
        self._plan()

    def areas(self) -> tuple[float, float]:
        """Integrals over time of the sequences in the batch, and of its being not empty."""
        self._advance()
        return self._sequence_area, self._busy_area

    def _advance(self) -> None:
        """Bring the engine's own clock up to now."""
        now, batch = self._clock.now, len(self._batch)
        if batch:
            self._sequence_area += batch * (now - self._at)
            self._busy_area += now - self._at
            if not self._paused:
                begin = max(self._at, self._stalled)
                if now > begin:
                    self._steps += (now - begin) / self._step
        self._at = now

    def _admit(self) -> None:
        if self.closed or self._paused:
            return
        while self._waiting:
            request = self._waiting[0]
            whole = request.context + request.response
            full = len(self._batch) >= self._limits.sequences or self._reserved + whole > self._limits.tokens
            if full and self._batch:
                return
            self._waiting.popleft()
            if not self._batch:
                self._steps = self._reserved = self._cached = 0.0
            self._reserved += whole
            self._cached += request.context + request.response / 2
            self._stalled = max(self._clock.now, self._stalled) + request.new * self._curve.prefill
            self._number += 1
            heappush(self._batch, (self._steps + request.response, self._number, request))
            self._step = self._curve.step(len(self._batch), self._cached)
            request.begun(request.owner)

    def _plan(self) -> None:
        """See to it that the engine is looked at when the next sequence ends; an earlier look does no harm."""
        if not self._batch or self._paused:
            return
        due = max(self._clock.now, self._stalled) + (self._batch[0][0] - self._steps) * self._step
        if self._due is None or due < self._due:
            self._due = due
            self._clock.at(max(due, self._clock.now), self._look, due)

    def _look(self, due: float) -> None:
        if due != self._due:
            return
        self._due = None
        self._advance()
        ended = []
        while self._batch and self._batch[0][0] <= self._steps + _ALMOST:
            _, _, request = heappop(self._batch)
            self._reserved -= request.context + request.response
            self._cached -= request.context + request.response / 2
            ended.append(request)
        self._step = self._curve.step(len(self._batch), self._cached)
        self._admit()
        self._plan()
        for request in ended:
            self._ended(request)
        if ended and not self._batch and self.emptied is not None:
            self.emptied()
