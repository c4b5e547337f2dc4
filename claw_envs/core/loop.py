"""One asyncio loop on one background thread, on which the synchronous Gymnasium face drives the asynchronous core."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


# reentrant, as the garbage collector may run a finalizer that needs the loop while its own thread is in here
_lock = threading.RLock()
_shared: asyncio.AbstractEventLoop | None = None


def _loop() -> asyncio.AbstractEventLoop:
    """The shared loop, begun by whichever thread needs it first."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = asyncio.new_event_loop()
            threading.Thread(target=_shared.run_forever, name="claw-envs-loop", daemon=True).start()
        return _shared


def _forget() -> None:
    """Threads do not survive a fork: a child process gets a loop, and a lock that nobody holds, of its own."""
    global _lock, _shared
    _lock, _shared = threading.RLock(), None


os.register_at_fork(after_in_child=_forget)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` on the shared background loop and wait for its result.

    Raises:
        RuntimeError: if called from the loop itself, which would wait for ever; await `areset`/`astep` there.
    """
    loop = _loop()
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is loop:
        coroutine.close()
        raise RuntimeError("reset/step/close called on the environments' own loop: await areset/astep/aclose instead")
    future = begin_on_shared(coroutine)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


def begin_on_shared(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Run `coroutine` on the shared background loop without waiting for it; from any thread."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


async def on_shared(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await `coroutine` on the shared background loop, from any loop: it goes on while the caller's is held up."""
    if asyncio.get_running_loop() is _loop():
        return await coroutine
    return await asyncio.wrap_future(begin_on_shared(coroutine))
