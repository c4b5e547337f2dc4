"""Sandboxes kept ready between episodes, so that one begins at once while the last one's is cleaned up behind it.

Not covered: files of the host that change while a sandbox is parked (it has them as they were when it started), and a
bound on how many are leased at a time.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Coroutine
from typing import Any, NamedTuple, Self, TypeVar

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import make_sandbox
from claw_envs.sandbox.base import Sandbox, Shell

_RESET_TIMEOUT = 60.0
_ANSWER_TIMEOUT = 5.0
_Kind = tuple[str, bytes]
_T = TypeVar("_T")


class _Ready(NamedTuple):
    """A sandbox in its first state with a shell that waits."""

    sandbox: Sandbox
    shell: Shell


_Task = asyncio.Task[_Ready | None]


class SandboxPool:
    """Hands out sandboxes as they are just after `start`. Use on one event loop.

    ```python
    async with SandboxPool(capacity=32) as pool:
        await pool.warm(spec, "namespace", count=8)  # optional: before the first episodes
        sandbox = await pool.lease(spec, "namespace")  # a parked one of an equal spec, else a fresh start
        shell = await pool.shell(sandbox)  # the one that was started ahead
        ...
        await pool.give_back(sandbox)  # at once: reset and parked in the background; not to be touched any more
    ```

    An environment that is given a pool leases where it would make and start a sandbox, and gives back where it would
    reset or close it. Who gives a sandbox back need not have closed its shells; a dead one may be given back too.

    Args:
        capacity: sandboxes that are parked at most, of all kinds together; beyond, those of the kind that was asked for
            the longest ago are closed.
    """

    def __init__(self, *, capacity: int = 32) -> None:
        if capacity < 0:
            raise UserError(f"capacity must not be below 0, got {capacity}")
        self._capacity = capacity
        self._parked: OrderedDict[_Kind, deque[_Task]] = OrderedDict()
        """By kind, least recently used first; a task that is not done is still being started or reset."""
        self._leased: dict[Sandbox, tuple[_Kind, Shell | None]] = {}
        self._awaited: set[_Task] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __deepcopy__(self, memo: object) -> Self:
        """The pool itself: Gymnasium copies the arguments that an environment was made with."""
        return self

    async def lease(self, spec: SandboxSpec, backend: str = "namespace") -> Sandbox:
        """A sandbox that nobody else has, in its first state.

        Raises:
            InfrastructureError: if none can be started, or the pool is closed.
            UserError: if the spec asks for something that this backend cannot do.
        """
        kind = _kind(spec, backend)
        while not self._closed:
            parked = self._take(kind)
            task = parked or self._spawn(_start(spec, backend))
            self._awaited.add(task)
            try:
                ready = await self._ready(kind, task)
            finally:
                self._awaited.discard(task)
            if ready is not None and not self._closed:
                self._leased[ready.sandbox] = (kind, ready.shell)
                return ready.sandbox
            if parked is None and not self._closed:
                raise InfrastructureError("a sandbox that was just started does not answer")
        raise InfrastructureError("the pool of sandboxes is closed")

    async def _ready(self, kind: _Kind, task: _Task) -> _Ready | None:
        """What the task brought, if that lives; who is cancelled leaves the task to others."""
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            self._park(kind, task)
            raise
        ready = None if task.cancelled() else task.result()
        if ready is None:
            return None
        alive = False
        try:
            alive = (await ready.shell.run(":", timeout=_ANSWER_TIMEOUT)).exit_code == 0
        except InfrastructureError:
            return None
        finally:
            if not alive:
                self._spawn(ready.sandbox.close())
        return ready if alive else None

    async def shell(self, sandbox: Sandbox) -> Shell:
        """A shell of a leased sandbox: first the one that was started ahead, then new ones.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        kind, shell = self._leased[sandbox]
        self._leased[sandbox] = (kind, None)
        return shell or await sandbox.shell()

    async def give_back(self, sandbox: Sandbox) -> None:
        """Take a leased sandbox back, without waiting for anything; nothing happens where the pool is closed.

        Raises:
            KeyError: if it was not leased here.
        """
        if not self._closed:
            kind, _ = self._leased.pop(sandbox)
            self._park(kind, self._spawn(_reset(sandbox)))

    async def warm(self, spec: SandboxSpec, backend: str = "namespace", count: int = 1) -> None:
        """Wait until `count` sandboxes of a kind are parked.

        Raises:
            UserError: if the pool keeps fewer, or see `lease`.
            InfrastructureError: if one cannot be started.
        """
        if count > self._capacity:
            raise UserError(f"the pool keeps {self._capacity} sandboxes, {count} cannot be warm: raise its capacity")
        kind = _kind(spec, backend)
        ready = [task for task in self._parked.pop(kind, ()) if not _failed(task)]
        for task in (*ready, *(self._spawn(_start(spec, backend)) for _ in range(count - len(ready)))):
            self._park(kind, task)
        tasks = list(self._parked.get(kind, ()))
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            task.result()

    async def close(self) -> None:
        """Close every sandbox, leased ones too. May be called again."""
        self._closed = True
        parked = [task for tasks in self._parked.values() for task in tasks]
        for task in (*parked, *self._awaited):
            self._spawn(_discard(task))
        for sandbox in self._leased:
            self._spawn(sandbox.close())
        self._parked.clear()
        self._leased.clear()
        while self._background:
            await asyncio.wait(set(self._background))

    def _take(self, kind: _Kind) -> _Task | None:
        """The one that is parked the longest, but none whose start has failed: whoever asked for that was told."""
        tasks = self._parked.pop(kind, deque())
        while tasks:
            task = tasks.popleft()
            if not _failed(task):
                if tasks:
                    self._parked[kind] = tasks
                return task
        return None

    def _park(self, kind: _Kind, task: _Task) -> None:
        self._parked.setdefault(kind, deque()).append(task)
        self._parked.move_to_end(kind)
        while self._parked and (self._closed or sum(map(len, self._parked.values())) > self._capacity):
            oldest, tasks = next(iter(self._parked.items()))
            self._spawn(_discard(tasks.popleft()))
            if not tasks:
                del self._parked[oldest]

    def _spawn(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


def _failed(task: _Task) -> bool:
    """Whether its sandbox could not be started, or not be reset."""
    return task.done() and (task.exception() is not None or task.result() is None)


def _kind(spec: SandboxSpec, backend: str) -> _Kind:
    return backend, msgspec.json.encode(spec)


async def _start(spec: SandboxSpec, backend: str) -> _Ready:
    sandbox = make_sandbox(spec, backend)
    try:
        await sandbox.start()
        return _Ready(sandbox, await sandbox.shell())
    except BaseException:
        await sandbox.close()
        raise


async def _reset(sandbox: Sandbox) -> _Ready | None:
    """None where it cannot be used again; it is closed then."""
    shell = None
    try:
        async with asyncio.timeout(_RESET_TIMEOUT):
            await sandbox.reset()
            shell = await sandbox.shell()
    except (InfrastructureError, TimeoutError):
        return None
    finally:
        if shell is None:
            await sandbox.close()
    return _Ready(sandbox, shell)


async def _discard(task: _Task) -> None:
    task.cancel()
    await asyncio.wait((task,))
    if not task.cancelled() and task.exception() is None and (ready := task.result()) is not None:
        await ready.sandbox.close()
