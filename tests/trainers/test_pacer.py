import asyncio

import pytest

from trainers.pacer import Pacer


def test_admission_stops_at_the_capacity_and_goes_on_in_order() -> None:
    async def scenario() -> None:
        pacer, admitted = Pacer(3), []

        async def want(name: str, samples: int) -> None:
            await pacer.acquire(samples)
            admitted.append(name)

        tasks = [asyncio.create_task(want(*job)) for job in (("a", 2), ("b", 2), ("c", 1))]
        await asyncio.sleep(0)
        assert admitted == ["a"]  # c would fit, but b came first
        pacer.release(1)
        await tasks[1]
        assert admitted == ["a", "b"]
        assert pacer.held == 3
        pacer.release(2)
        await tasks[2]
        assert pacer.held == 2

    asyncio.run(scenario())


def test_a_cancelled_waiter_leaves_no_slot_behind() -> None:
    async def scenario() -> None:
        pacer = Pacer(2)
        await pacer.acquire(2)
        first, second = asyncio.create_task(pacer.acquire(2)), asyncio.create_task(pacer.acquire(1))
        await asyncio.sleep(0)
        pacer.release(1)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await second
        assert pacer.held == 2

    asyncio.run(scenario())


def test_a_waiter_cancelled_after_it_was_admitted_gives_its_slots_back() -> None:
    async def scenario() -> None:
        pacer = Pacer(1)
        await pacer.acquire()
        waiter = asyncio.create_task(pacer.acquire())
        await asyncio.sleep(0)
        pacer.release()
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        assert pacer.held == 0

    asyncio.run(scenario())


def test_samples_queued_before_a_restart_count() -> None:
    async def scenario() -> None:
        pacer = Pacer(2, held=3)
        waiter = asyncio.create_task(pacer.acquire())
        await asyncio.sleep(0)
        assert not waiter.done()
        pacer.release(2)
        await waiter

    asyncio.run(scenario())


def test_what_never_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity of 2"):
        asyncio.run(Pacer(2).acquire(3))
