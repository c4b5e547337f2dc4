"""The embedded engine's one worker thread: continuous batching, scoring and weight updates on one model.

Between two tokens it installs new weights, drops cancelled rows, lets new requests join, and now and then scores a
micro-batch; so no request ever waits for another to end.
"""

import atexit
import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

import torch

from claw_envs.core.errors import InfrastructureError
from trainers.logprobs import token_logprobs
from trainers.policies.batch import Batch, Row
from trainers.policies.gate import ComputeGate
from trainers.policies.linear import serve_weights
from trainers.policies.model import configure_torch

_TOKENS = 1024  # of one round of prefills or one scoring micro-batch: bounds memory and how long decoding stands still
_SCORE_EVERY = 8  # decode steps between two scoring micro-batches while both have work


class ScoreItem(NamedTuple):
    """Ids, the last `scored` of which are to be scored."""

    ids: list[int]
    scored: int
    future: Future[list[float]]


class Update(NamedTuple):
    """New weights to put in place."""

    state: Mapping[str, Any]
    version: int
    future: Future[None]


class Engine:
    """Owns the model. `submit` is safe from any thread; results come through the futures of what was submitted."""

    def __init__(self, model: Any, batch: Batch, *, max_batch: int, threads: int | None, gate: ComputeGate) -> None:
        """Start the worker; see `EmbeddedPolicy.load` for the arguments."""
        self.version = 0
        self._model, self._batch, self._gate = model, batch, gate
        self._max_batch, self._threads = max_batch, threads
        self._waiting: deque[Row] = deque()
        self._scores: deque[ScoreItem] = deque()
        self._updates: deque[Update] = deque()
        self._open: set[Future[Any]] = set()  # whatever happens, each of them is answered
        self._changed = threading.Condition()
        self._gone: str | None = None  # why nothing is served any more
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="embedded-policy", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a daemon thread inside torch while the interpreter goes away would crash it

    def submit(self, job: Row | ScoreItem | Update) -> None:
        """Queue a job.

        Raises:
            InfrastructureError: if the engine was closed or its worker died.
        """
        with self._changed:
            if self._gone is not None:
                raise InfrastructureError(self._gone)
            self._open.add(job.future)
            job.future.add_done_callback(self._open.discard)
            match job:
                case Row():
                    self._waiting.append(job)
                case ScoreItem():
                    self._scores.append(job)
                case Update():
                    self._updates.append(job)
            self._changed.notify()

    def close(self) -> None:
        """Stop the worker; whatever is pending fails with InfrastructureError. May be called again."""
        atexit.unregister(self.close)
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        reason, cause = "the embedded policy was closed", None
        try:
            configure_torch(self._threads)
            with torch.inference_mode():
                serve_weights(self._model)
                while self._wait():
                    self._run()
        except BaseException as error:  # its traceback goes to everyone who waits
            reason, cause = f"the embedded policy's worker died: {type(error).__name__}: {error}", error
        with self._changed:
            self._gone = reason
        for future in list(self._open):
            if future.running() or future.set_running_or_notify_cancel():
                failure = InfrastructureError(reason)
                failure.__cause__ = cause
                future.set_exception(failure)

    def _wait(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._busy())
            return not self._closing

    def _busy(self) -> bool:
        return bool(self._batch.rows or self._waiting or self._scores or self._updates)

    def _run(self) -> None:
        """Work until there is nothing left to do."""
        steps = 0
        with self._gate.decode() as pause:
            while self._busy() and not self._closing:
                self._install_weights()
                self._batch.drop_finished(self.version)
                self._admit()
                if self._batch.rows:
                    self._batch.step(self.version)
                    steps += 1
                if self._scores and (not self._batch.rows or steps % _SCORE_EVERY == 0):
                    self._score()
                pause()

    def _install_weights(self) -> None:
        while self._updates:
            update = self._updates.popleft()
            if update.future.set_running_or_notify_cancel():  # not cancelled: its tensors may be read
                self._batch.install(update.state)
                self.version = update.version
                update.future.set_result(None)

    def _admit(self) -> None:
        joining: list[Row] = []
        prompts: set[tuple[int, ...]] = set()
        while self._waiting and len(self._batch.rows) + len(joining) < self._max_batch:
            row = self._waiting.popleft()
            if not row.future.cancelled():
                joining.append(row)
                prompts.add(tuple(row.prompt_ids))
            if sum(map(len, prompts)) >= _TOKENS:
                break
        if joining:
            self._batch.join(joining, self.version)

    def _score(self) -> None:
        items: list[ScoreItem] = []
        longest = 0
        while self._scores:
            longest = max(longest, len(self._scores[0].ids))
            if items and longest * (len(items) + 1) > _TOKENS:
                break
            item = self._scores.popleft()
            if item.future.set_running_or_notify_cancel():
                items.append(item)
        if items:
            wanted = [range(len(item.ids) - item.scored, len(item.ids)) for item in items]
            logprobs = token_logprobs(self._model, [item.ids for item in items], wanted).logprobs
            for item, own in zip(items, torch.split(logprobs, [item.scored for item in items]), strict=True):
                item.future.set_result(own.tolist())
