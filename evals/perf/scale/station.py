"""Cores and judges: jobs that hold a share of a capacity for a time, first come, first served (G/G/c)."""

from collections import deque
from collections.abc import Callable
from typing import Any

from evals.perf.scale.clock import Clock

_Job = tuple[float, float, Callable[[Any], None], Any, Callable[[Any], None] | None]


class Station:
    """Starts jobs in the order they came, as soon as the first of them fits."""

    def __init__(self, clock: Clock, capacity: float, *, room: float = float("inf")) -> None:
        """
        Args:
            capacity: loads that run at once, together.
            room: jobs that may wait; who brings more is told later that the job was taken.
        """
        self.capacity = capacity
        self.used = 0.0
        self.done = 0
        self._clock, self._room = clock, room
        self._queue: deque[_Job] = deque()
        self._outside: deque[_Job] = deque()
        self._area = self._since = 0.0

    @property
    def waiting(self) -> int:
        """Jobs that have not begun."""
        return len(self._queue) + len(self._outside)

    def submit(
        self,
        seconds: float,
        load: float,
        done: Callable[[Any], None],
        argument: Any,
        taken: Callable[[Any], None] | None = None,
    ) -> None:
        """Bring a job.

        Args:
            load: share of the capacity that it holds; more than all of it counts as all.
            done: called with `argument` when it has run.
            taken: called with `argument` when there was room for it.
        """
        job = (seconds, min(load, self.capacity), done, argument, taken)
        if len(self._queue) >= self._room:
            self._outside.append(job)
            return
        self._queue.append(job)
        if taken is not None:
            taken(argument)
        self._start()

    def area(self) -> float:
        """Integral of the load in use over time, in capacity-seconds."""
        return self._area + self.used * (self._clock.now - self._since)

    def _start(self) -> None:
        queue = self._queue
        while queue and self.used + queue[0][1] <= self.capacity * (1 + 1e-9):
            job = queue.popleft()
            self._hold(job[1])
            self._clock.after(job[0], self._end, job)
            if self._outside:
                moved = self._outside.popleft()
                queue.append(moved)
                if moved[4] is not None:
                    moved[4](moved[3])

    def _end(self, job: _Job) -> None:
        self._hold(-job[1])
        self.done += 1
        self._start()
        job[2](job[3])

    def _hold(self, load: float) -> None:
        now = self._clock.now
        self._area += self.used * (now - self._since)
        self._since = now
        self.used = max(0.0, self.used + load)
