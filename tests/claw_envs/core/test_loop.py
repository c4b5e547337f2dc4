"""The one loop that all synchronous calls share."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from claw_envs.core import loop
from claw_envs.core.loop import run_sync


async def running() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_two_first_callers_get_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made wide open: the second caller arrives while the first one is making the loop."""
    made: list[asyncio.AbstractEventLoop] = []
    both = threading.Barrier(2, timeout=60)
    make = asyncio.new_event_loop

    def slowly() -> asyncio.AbstractEventLoop:
        second.start()
        second.join(timeout=0.2)  # it waits for the lock; without one it would make a loop of its own now
        made.append(make())
        return made[-1]

    def call() -> None:
        found.append(run_sync(running()))
        both.wait()

    found: list[asyncio.AbstractEventLoop] = []
    second = threading.Thread(target=call)
    monkeypatch.setattr(loop, "_shared", None)
    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    call()
    second.join()
    assert len(made) == 1
    assert found == made * 2
    made[0].call_soon_threadsafe(made[0].stop)


def test_every_thread_and_call_uses_one_loop() -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda _: run_sync(running()), range(32)))) == 1


def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    run_sync(running())
    child = os.fork()
    if child == 0:
        os._exit(0 if run_sync(asyncio.sleep(0, 7)) == 7 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_waiting_on_the_loop_for_the_loop_is_refused() -> None:
    async def nested() -> None:
        run_sync(running())

    with pytest.raises(RuntimeError, match="await areset"):
        run_sync(nested())


def test_a_finalizer_may_need_the_loop_while_its_thread_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> None:
        with loop._lock:  # as if the garbage collector ran here
            found.append(run_sync(running()))

    found: list[asyncio.AbstractEventLoop] = []
    monkeypatch.setattr(loop, "_lock", type(loop._lock)())
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert found
