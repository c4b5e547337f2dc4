"""Processes that compare answers symbolically, bounded in number, shared by all who ask.

Each is driven by a thread of its own, so that `submit` works from any thread and any event loop; a forked child begins
with no workers. A worker ends with the process that started it.
"""

import os
import queue
import threading
import weakref
from concurrent.futures import Future

from claw_envs.core.errors import UserError
from claw_envs.toolcall.answers.link import Gone, Limits, Worker, forget_workers
from claw_envs.toolcall.answers.verdict import Verdict

__all__ = ["Limits", "Pool"]

Question = tuple["Future[Verdict]", str, str]


class Pool:
    """Bounded workers, started as they are needed and kept.

    Args:
        workers: at most so many at once; what comes in while all are busy waits its turn.
    """

    def __init__(self, workers: int = 2, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._bound = workers
        self.begin()
        _pools.add(self)

    def begin(self) -> None:
        """Start over without workers, as a forked child must."""
        self._lock = threading.Lock()
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._drivers = 0

    def submit(self, gold: str, answer: str) -> "Future[Verdict]":
        """Have `answer` compared with `gold`; from any thread.

        Returns:
            A future with the verdict. An answer that runs over a limit or ends its worker is not correct. It raises
            `UserError` where `gold` cannot be read, `InfrastructureError` where this machine can run no worker.
        """
        future: Future[Verdict] = Future()
        with self._lock:
            self._questions.put((future, gold, answer))
            if not self._idle.acquire(blocking=False) and self._drivers < self._bound:
                self._drivers += 1
                _Driver(self._questions, self._idle, self._limits).start()
        return future

    def close(self) -> None:
        """End the workers once what was submitted is done. The pool can be used again."""
        with self._lock:
            for _ in range(self._drivers):
                self._questions.put(None)
            self.begin()


class _Driver(threading.Thread):
    """Asks one worker at a time, until it is told None."""

    def __init__(
        self, questions: "queue.SimpleQueue[Question | None]", idle: threading.Semaphore, limits: Limits
    ) -> None:
        super().__init__(name="claw-answers", daemon=True)
        self._questions, self._idle, self._limits = questions, idle, limits
        self._worker: Worker | None = None

    def run(self) -> None:
        while (question := self._next()) is not None:
            future, gold, answer = question
            if not future.set_running_or_notify_cancel():
                continue
            try:
                verdict = self._settle(gold, answer)
            except Exception as error:  # whoever asked is told
                self._drop()
                future.set_exception(error)
            else:
                future.set_result(verdict)
        self._drop()

    def _next(self) -> Question | None:
        try:
            return self._questions.get_nowait()
        except queue.Empty:
            self._idle.release()
            return self._questions.get()

    def _settle(self, gold: str, answer: str) -> Verdict:
        """A worker that ends may have been worn out, or killed by another's hand: then a fresh one is asked again."""
        try:
            return self._ask(gold, answer)
        except Gone as gone:
            if gone.conclusive:
                return self._blame(gone, gold)
        try:
            return self._ask(gold, answer)
        except Gone as gone:
            return self._blame(gone, gold)

    def _ask(self, gold: str, answer: str) -> Verdict:
        self._worker = self._worker or Worker(self._limits)
        try:
            return self._worker.ask(gold, answer)
        except Gone:
            self._worker = None
            raise

    def _blame(self, gone: Gone, gold: str) -> Verdict:
        if gone.gold_read:
            return Verdict(False, f"comparing the answer {gone.why}")
        raise UserError(f"the expected answer {gold[:200]!r} cannot be read: it {gone.why}") from None

    def _drop(self) -> None:
        if self._worker:
            self._worker.close()
        self._worker = None


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _forget() -> None:
    forget_workers()
    for pool in list(_pools):
        pool.begin()


os.register_at_fork(after_in_child=_forget)
