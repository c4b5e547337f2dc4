"""The learn loop in virtual time: a batch, an update, new weights in the engines, then the next batch."""

from collections import Counter, deque
from collections.abc import Callable

from evals.perf.scale.clock import Clock
from evals.perf.scale.rollout import Unit


class Learner:
    """Trains units in the order of their acceptance, a batch at a time."""

    def __init__(
        self,
        clock: Clock,
        *,
        batch: int,
        update: Callable[[float, float], float],
        publish: Callable[[Callable[[], None]], None],
        trained: Callable[[int, int], None],
    ) -> None:
        """
        Args:
            batch: samples an update.
            update: its seconds, from the tokens of the batch and of its longest sequence.
            publish: brings the weights into the engines and calls what it is given once they are there.
            trained: told the new version and the samples that are in it.
        """
        self._clock, self._batch, self._update, self._publish, self._trained = clock, batch, update, publish, trained
        self._queue: deque[Unit] = deque()
        self._busy = False
        self._units: list[Unit] = []
        self.queued = self.samples = self.version = 0
        self.tokens = self.seconds = 0.0
        """Tokens trained; seconds from the begin of an update until its weights were in the engines, all together."""
        self._begun = 0.0
        self.staleness: Counter[int] = Counter()
        """Samples by the updates that passed between their first token and the update that trained them."""

    def offer(self, unit: Unit) -> None:
        """A unit is accepted."""
        self._queue.append(unit)
        self.queued += unit.samples
        self._begin()

    def _begin(self) -> None:
        if self._busy or self.queued < self._batch:
            return
        self._busy = True
        self._units, filled = [], 0
        while filled < self._batch:
            self._units.append(self._queue.popleft())
            filled += self._units[-1].samples
        self.queued -= filled
        tokens = sum(unit.tokens for unit in self._units)
        seconds = self._update(tokens, max(unit.longest for unit in self._units))
        self.tokens += tokens
        self._begun = self._clock.now
        self._clock.after(seconds, lambda _: self._publish(self._published))

    def _published(self) -> None:
        for unit in self._units:
            self.staleness[self.version - unit.version] += unit.samples
        samples = sum(unit.samples for unit in self._units)
        self.seconds += self._clock.now - self._begun
        self.version += 1
        self.samples += samples
        self._trained(self.version, samples)
        self._busy = False
        self._begin()
