"""`ComputeGate`: one heavy torch operation at a time in a process, decoding first.

Two OpenMP teams that share the cores spin at each other's barriers and slow each other several times over, so threads
take turns. Turns are granted, never preempted: an operation that has begun runs to its end. Between processes there is
no gate.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class ComputeGate:
    """Turns between decoding threads and learning threads.

    A decoder keeps its turn over many steps and offers it up between two of them; a learner takes one turn for each
    micro-batch. While both want the machine, a learner waits for at most `burst` decode steps (of all decoders
    together) and the operation in progress, and a decoder for at most one micro-batch every `burst` steps. Within
    each kind, first come, first served.
    """

    def __init__(self, *, burst: int = 16) -> None:
        """
        Args:
            burst: decode steps between two micro-batches, at least 1.
        """
        self._burst = burst
        self._lock = threading.Lock()
        self._held = False
        self._steps = 0  # decode steps since a learner last had its turn
        self._decoders: deque[threading.Event] = deque()
        self._learners: deque[threading.Event] = deque()
        self._busy = {"decode": 0.0, "learn": 0.0}

    @contextmanager
    def decode(self) -> Iterator[Callable[[], None]]:
        """Hold the machine for decoding.

        Yields:
            A function to call after every step: it hands over where others are due and returns with the turn regained.
        """
        self._take(self._decoders)
        began = time.perf_counter()

        def pause() -> None:
            nonlocal began
            self._count("decode", began)
            with self._lock:
                self._steps += 1
                wanted = bool(self._decoders) or (bool(self._learners) and self._steps >= self._burst)
            if wanted:
                self._give()
                self._take(self._decoders)
            began = time.perf_counter()

        try:
            yield pause
        finally:
            self._count("decode", began)
            self._give()

    @contextmanager
    def learn(self) -> Iterator[None]:
        """Hold the machine for one micro-batch. Never wait for a policy's answer inside: it needs the machine too."""
        self._take(self._learners)
        began = time.perf_counter()
        try:
            yield
        finally:
            self._count("learn", began)
            with self._lock:
                self._steps = 0
            self._give()

    def busy(self) -> dict[str, float]:
        """Seconds that `decode` and `learn` have held the machine up to their latest finished operation."""
        with self._lock:
            return dict(self._busy)

    def _take(self, queue: deque[threading.Event]) -> None:
        with self._lock:
            if not self._held:
                self._held = True
                return
            ticket = threading.Event()
            queue.append(ticket)
        try:
            ticket.wait()
        except BaseException:  # an interrupt while waiting must not leave a ticket that nobody collects
            with self._lock:
                waiting = ticket in queue
                if waiting:
                    queue.remove(ticket)
            if not waiting:
                self._give()
            raise

    def _give(self) -> None:
        with self._lock:
            learner_due = self._learners and (not self._decoders or self._steps >= self._burst)
            queue = self._learners if learner_due else self._decoders
            if queue:
                queue.popleft().set()
            else:
                self._held = False

    def _count(self, user: str, began: float) -> None:
        with self._lock:
            self._busy[user] += time.perf_counter() - began
