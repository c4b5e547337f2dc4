import asyncio
from collections.abc import Awaitable, Callable

import pytest

from trainers.pacer import Pacer


def scenario(run: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await run()

    asyncio.run(bounded())


def test_admission_stops_at_the_capacity_and_goes_on_in_order() -> None:
    async def run() -> None:
        pacer, admitted = Pacer(3), []

        async def want(name: str, samples: int) -> None:
            await pacer.admit(samples)
            admitted.append(name)

        first = await pacer.admit(2)
        tasks = [asyncio.create_task(want(*job)) for job in (("b", 2), ("c", 1))]
        await asyncio.sleep(0)
        assert admitted == []  # c would fit, but b came first
        pacer.let_go(first)
        await asyncio.gather(*tasks)
        assert admitted == ["b", "c"]
        assert pacer.in_flight == 3

    scenario(run)


def test_what_is_queued_takes_room_until_it_is_trained() -> None:
    async def run() -> None:
        pacer = Pacer(2)
        for _ in range(2):
            pacer.accept(await pacer.admit())
        waiter = asyncio.create_task(pacer.admit())
        await asyncio.sleep(0)
        assert not waiter.done()
        assert pacer.queued == 2
        pacer.train(1)
        await waiter

    scenario(run)


@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_a_straggler_is_trained_within_the_bound_while_others_flow_past(staleness: int) -> None:
    async def run() -> None:
        batch, trained = 2, 0
        pacer = Pacer((staleness + 1) * batch)
        straggler = await pacer.admit()
        for _ in range(50):
            other = asyncio.create_task(pacer.admit())
            await asyncio.sleep(0)
            if not other.done():
                other.cancel()
                await asyncio.gather(other, return_exceptions=True)
                break
            pacer.accept(other.result())
            if pacer.queued >= batch:
                pacer.train(batch)
                trained += 1
        assert trained == staleness
        pacer.accept(straggler)
        assert pacer.queued <= batch  # the next batch holds it

    scenario(run)


def test_turns_that_carry_no_signal_never_close_admission_for_good() -> None:
    async def run() -> None:
        pacer = Pacer(4)
        pacer.accept(await pacer.admit())  # waits in the queue: a batch is 4
        for _ in range(100):
            pacer.let_go(await pacer.admit())
        for _ in range(3):
            pacer.accept(await pacer.admit())
        assert pacer.queued == 4

    scenario(run)


def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    async def run() -> None:
        pacer = Pacer(2)
        held = await pacer.admit(2)
        first, second = asyncio.create_task(pacer.admit(2)), asyncio.create_task(pacer.admit(1))
        await asyncio.sleep(0)
        first.cancel()
        pacer.let_go(held)  # before the cancellation is delivered
        await asyncio.gather(first, return_exceptions=True)
        await second
        assert pacer.in_flight == 1

    scenario(run)


def test_a_waiter_cancelled_after_it_was_admitted_gives_its_room_back() -> None:
    async def run() -> None:
        pacer = Pacer(1)
        held = await pacer.admit()
        waiter = asyncio.create_task(pacer.admit())
        await asyncio.sleep(0)
        pacer.let_go(held)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        assert pacer.in_flight == 0

    scenario(run)


def test_samples_queued_before_a_restart_count() -> None:
    async def run() -> None:
        pacer = Pacer(2, queued=3)
        waiter = asyncio.create_task(pacer.admit())
        await asyncio.sleep(0)
        assert not waiter.done()
        pacer.train(2)
        await waiter

    scenario(run)


def test_what_never_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity of 2"):
        asyncio.run(Pacer(2).admit(3))
