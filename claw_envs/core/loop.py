"""One asyncio loop on one background thread, on which the synchronous Gymnasium face drives the asynchronous core."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=1)
def _loop_of(pid: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="claw-envs-loop", daemon=True).start()
    return loop


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run `coroutine` on the shared background loop and wait for its result.

    Raises:
        RuntimeError: if called from the loop itself, which would wait for ever; await `areset`/`astep` there.
    """
    loop = _loop_of(os.getpid())  # threads do not survive a fork: a child process gets a loop of its own
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is loop:
        coroutine.close()
        raise RuntimeError("reset/step/close called on the environments' own loop: await areset/astep/aclose instead")
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise
