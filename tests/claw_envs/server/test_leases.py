"""The server's books: executed once, in order, within bounds, and closed when nobody cares any more."""

import asyncio
from typing import Any

import msgspec
import pytest

from claw_envs.core.env import Action, Step
from claw_envs.core.episode import Observation
from claw_envs.server import wire
from claw_envs.server.leases import BusyError, Lease, Leases

from ..core.echo import EchoEnv, echo_task


class Env(EchoEnv):
    """Counts its steps; `wait` waits for `go`, `half` answers what cannot be encoded."""

    def __init__(self) -> None:
        super().__init__([echo_task("a", max_steps=100)])
        self.go = asyncio.Event()
        self.steps = self.closed = 0

    async def _act(self, action: Action) -> Step:
        self.steps += 1
        if action == "wait":
            await self.go.wait()
        if action == "half":
            return Step(Observation(role="tool", text="\ud800"))
        return await super()._act(action)

    async def _stop(self) -> None:
        self.closed += 1


async def leased(*, ttl: float = 60.0, most: int = 4, most_running: int = 4) -> tuple[Leases, Lease, Env]:
    leases, env = Leases(most=most, most_running=most_running, ttl=ttl), Env()
    async with leases.place() as keep:
        lease = keep(env)
    await lease.call(wire.Reset(key=1, seed=0))
    return leases, lease, env


def read(data: bytes | None) -> Any:
    assert data is not None
    return wire.read_reply(data)


def step(key: int, action: str) -> wire.Act:
    return wire.Act(key=key, action=action)


def test_a_repeated_key_gets_the_same_reply_also_while_it_runs() -> None:
    async def main() -> None:
        leases, lease, env = await leased()
        first, second = (asyncio.create_task(lease.call(step(2, "wait"))) for _ in range(2))
        await asyncio.sleep(0)
        env.go.set()
        replies = [await first, await second, await lease.call(step(2, "wait"))]
        assert (env.steps, leases.counts.repeated, len(set(replies))) == (1, 2, 1)
        await leases.end_all()

    asyncio.run(main())


def test_a_reply_that_was_dropped_is_not_made_again() -> None:
    async def main() -> None:
        leases, lease, env = await leased()
        for key in range(2, 12):
            await lease.call(step(key, "x"))
        reply = read(await lease.call(step(2, "x")))
        assert (reply.kind, reply.text) == ("infrastructure", "that request is out of turn")
        assert env.steps == 10
        await leases.end_all()

    asyncio.run(main())


def test_calls_of_one_lease_run_one_by_one_and_are_bounded() -> None:
    async def main() -> None:
        leases, lease, env = await leased()
        calls = [asyncio.create_task(lease.call(step(key, "wait"))) for key in range(2, 12)]
        await asyncio.sleep(0)
        env.go.set()
        kinds = [type(read(await call)) for call in calls]
        assert kinds == [wire.Result] * 4 + [wire.Fault] * 6
        assert env.steps == 4
        await leases.end_all()

    asyncio.run(main())


def test_a_call_without_a_turn_is_told_to_come_back_and_then_executed() -> None:
    async def main() -> None:
        leases, lease, env = await leased(most_running=1)
        async with leases.turns.turn():
            busy = read(await lease.call(step(2, "x")))
        assert (busy.kind, busy.retry_after, env.steps) == ("busy", 1.0, 0)
        assert isinstance(read(await lease.call(step(2, "x"))), wire.Result)
        assert (env.steps, leases.counts.refused) == (1, 1)
        await leases.end_all()

    asyncio.run(main())


def test_places_are_counted_until_an_environment_is_closed() -> None:
    async def main() -> None:
        leases, lease, env = await leased(most=1)
        with pytest.raises(BusyError):
            async with leases.place():
                pass
        await leases.end(lease.id)
        await leases.end(lease.id)
        assert (len(leases), leases.find(lease.id), env.closed) == (0, None, 1)
        with pytest.raises(msgspec.ValidationError):
            async with leases.place():
                raise msgspec.ValidationError  # no environment came of it
        assert len(leases) == 0

    asyncio.run(main())


def test_a_lease_that_has_ended_begins_nothing() -> None:
    async def main() -> None:
        leases, lease, env = await leased()
        await leases.end(lease.id)
        assert await lease.call(wire.Reset(key=2, seed=0)) is None
        assert await lease.call(step(3, "x")) is None
        assert (env.steps, leases.counts.calls) == (0, 1)

    asyncio.run(main())


def test_a_lease_ends_when_its_client_falls_silent_even_within_a_step() -> None:
    async def main() -> None:
        leases, lease, env = await leased(ttl=0.05)
        assert await lease.call(step(2, "wait")) is None
        await leases.end_all()
        assert (leases.counts.expired, env.closed, len(leases)) == (1, 1, 0)

    asyncio.run(main())


def test_what_was_heard_while_the_loop_was_held_up_counts() -> None:
    async def main() -> None:
        leases, lease, _ = await leased(ttl=60.0)
        lease._until = 0.0  # as if the loop had not run for a minute
        lease._check()
        lease.touch()
        lease._check()
        assert leases.counts.expired == 0
        lease._until = 0.0
        lease._check()
        lease._check()
        assert leases.counts.expired == 1
        await leases.end_all()

    asyncio.run(main())


@pytest.mark.parametrize(("action", "named"), [("bug", "KeyError"), ("half", "UnicodeEncodeError")])
def test_a_bug_is_an_answer_too(action: str, named: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        leases, lease, _ = await leased()
        reply = read(await lease.call(step(2, action)))
        assert reply.kind == "bug"
        assert named in reply.text
        await leases.end_all()

    asyncio.run(main())
    assert named in caplog.text


def test_an_aborted_episode_is_counted() -> None:
    async def main() -> None:
        leases, lease, _ = await leased()
        reply = read(await lease.call(step(2, "crash")))
        assert (reply.info["status"], reply.truncated, leases.counts.aborted) == ("ABORTED", True, 1)
        await leases.end_all()

    asyncio.run(main())


def test_an_environment_that_does_not_close_does_not_keep_others_open(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Env):
        async def _stop(self) -> None:
            raise KeyError("broken")

    async def main() -> None:
        leases, _, env = await leased()
        async with leases.place() as keep:
            keep(Broken())
        await leases.end_all()
        assert (env.closed, len(leases)) == (1, 0)

    asyncio.run(main())
    assert "could not be closed" in caplog.text
