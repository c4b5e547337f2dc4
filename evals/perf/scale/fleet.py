"""All engines: a request goes to the one with the least in flight; new weights go to all of them at once."""

from collections.abc import Callable

from evals.perf.scale.clock import Clock
from evals.perf.scale.curve import Curve
from evals.perf.scale.engine import Engine, Limits, Request


class Fleet:
    """Engines of one kind."""

    def __init__(self, clock: Clock, curve: Curve, limits: Limits, count: int) -> None:
        self.engines = [Engine(clock, curve, limits, self._ended) for _ in range(count)]
        self._load = [0] * count
        self._levels: list[set[int]] = [set(range(count))]
        """Engines by the number of their requests in flight."""
        self._lowest = 0
        self._drained: Callable[[], None] | None = None

    def submit(self, request: Request) -> None:
        """Queue a request at the engine with the least in flight."""
        while not self._levels[self._lowest]:
            self._lowest += 1
        request.engine = self._levels[self._lowest].pop()
        self._move(request.engine, 1)
        self.engines[request.engine].submit(request)

    def pause(self) -> None:
        """Every engine stands still."""
        for engine in self.engines:
            engine.pause()

    def drain(self, drained: Callable[[], None]) -> None:
        """Start nothing more, and call `drained` once every response has ended."""
        self._drained = drained
        for engine in self.engines:
            engine.closed = True
            engine.emptied = self._check
        self._check()

    def resume(self) -> None:
        """Serve again."""
        for engine in self.engines:
            engine.emptied = None
            engine.resume()

    def areas(self) -> tuple[float, float]:
        """Integrals over time of the sequences in all batches, and of the batches that are not empty."""
        pairs = [engine.areas() for engine in self.engines]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def _check(self) -> None:
        if self._drained is not None and not any(engine.batch for engine in self.engines):
            drained, self._drained = self._drained, None
            drained()

    def _ended(self, request: Request) -> None:
        self._move(request.engine, -1)
        request.done(request.owner)

    def _move(self, index: int, by: int) -> None:
        load = self._load[index]
        self._levels[load].discard(index)
        load += by
        self._load[index] = load
        if load == len(self._levels):
            self._levels.append(set())
        self._levels[load].add(index)
        self._lowest = min(self._lowest, load)
