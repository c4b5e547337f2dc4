import asyncio
import os
import select
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox import pool as module
from claw_envs.sandbox.base import ExecResult, Sandbox
from claw_envs.sandbox.namespace.backend import NamespaceSandbox
from claw_envs.sandbox.pool import SandboxPool


class FakeShell:
    """Answers while its sandbox lives."""

    def __init__(self, sandbox: "Fake") -> None:
        self._sandbox = sandbox

    async def run(self, command: str, *, timeout: float) -> ExecResult:
        if self._sandbox.dead or self._sandbox.closed:
            raise InfrastructureError("gone")
        return ExecResult("", 0)


class Fake:
    """A sandbox that counts what is done to it, and waits where the test says so."""

    made: list["Fake"] = []
    gate: asyncio.Event | None = None
    error: Exception | None = None

    def __init__(self, spec: SandboxSpec) -> None:
        self.spec = spec
        self.dead = self.closed = self.dirty = False
        self.shells = 0
        Fake.made.append(self)

    async def _pass(self) -> None:
        if Fake.gate is not None:
            await Fake.gate.wait()
        if Fake.error is not None:
            raise Fake.error
        if self.dead:
            raise InfrastructureError("gone")

    async def start(self) -> None:
        await self._pass()

    async def reset(self) -> None:
        await self._pass()
        self.dirty = False

    async def shell(self) -> FakeShell:
        self.shells += 1
        return FakeShell(self)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> list[Fake]:
    """All fake sandboxes that the pool makes."""
    Fake.made, Fake.gate, Fake.error = [], None, None
    monkeypatch.setattr(module, "make_sandbox", lambda spec, backend: Fake(spec))
    return Fake.made


A, B, C = (SandboxSpec(workdir=f"/{name}") for name in "abc")


def _run(body: Callable[[SandboxPool], Coroutine[Any, Any, Any]], capacity: int = 2) -> Any:
    async def main() -> Any:
        async with asyncio.timeout(30), SandboxPool(capacity=capacity) as pool:
            result = await body(pool)
        assert not pool._background
        return result

    result = asyncio.run(main())
    assert all(fake.closed for fake in Fake.made)
    return result


def _fake(sandbox: Sandbox) -> Fake:
    assert isinstance(sandbox, Fake)
    return sandbox


def test_a_sandbox_comes_back_reset_for_an_equal_spec_and_backend_only(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        first = await pool.lease(A)
        _fake(first).dirty = True
        await pool.give_back(first)
        assert await pool.lease(B) is not first
        assert await pool.lease(A, "docker") is not first
        again = await pool.lease(SandboxSpec(workdir="/a"))
        assert again is first
        assert not _fake(again).dirty
        assert await pool.lease(A) is not first

    _run(body)


def test_the_first_shell_was_started_ahead(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        sandbox = await pool.lease(A)
        assert _fake(sandbox).shells == 1
        first = await pool.shell(sandbox)
        assert _fake(sandbox).shells == 1
        assert await pool.shell(sandbox) is not first
        assert _fake(sandbox).shells == 2

    _run(body)


def test_beyond_the_capacity_the_kind_that_was_asked_for_the_longest_ago_goes(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        first, second, third = [await pool.lease(spec) for spec in (A, B, C)]
        for sandbox in (first, second):
            await pool.give_back(sandbox)
        again = await pool.lease(A)
        await pool.give_back(again)
        await pool.give_back(third)
        assert await pool.lease(A) is first
        assert await pool.lease(C) is third
        assert await pool.lease(B) is not second
        assert _fake(second).closed

    _run(body, capacity=2)


def test_a_pool_of_no_capacity_parks_nothing(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        first = await pool.lease(A)
        await pool.give_back(first)
        assert await pool.lease(A) is not first

    _run(body, capacity=0)


def test_one_that_died_while_it_was_parked_is_not_leased(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        await pool.warm(A, count=2)
        fakes[0].dead = True
        assert await pool.lease(A) is fakes[1]

    _run(body)


def test_one_that_is_given_back_dead_is_closed(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        first = await pool.lease(A)
        _fake(first).dead = True
        await pool.give_back(first)
        assert await pool.lease(A) is not first
        assert _fake(first).closed

    _run(body)


def test_warm_starts_what_is_missing(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        await pool.warm(A, count=1)
        await pool.warm(A, count=2)
        assert len(fakes) == 2
        assert {await pool.lease(A), await pool.lease(A)} == set(fakes)
        with pytest.raises(UserError, match="capacity"):
            await pool.warm(A, count=3)

    _run(body)


def test_who_comes_during_a_reset_waits_for_it(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        first = await pool.lease(A)
        Fake.gate = asyncio.Event()
        await pool.give_back(first)
        lease = asyncio.ensure_future(pool.lease(A))
        await asyncio.sleep(0)
        assert not lease.done()
        Fake.gate.set()
        assert await lease is first
        assert len(fakes) == 1

    _run(body)


def test_a_start_that_fails_is_told_to_the_one_who_asked_and_to_nobody_else(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        Fake.error = UserError("a bad spec")
        with pytest.raises(UserError, match="a bad spec"):
            await pool.lease(A)
        with pytest.raises(UserError, match="a bad spec"):
            await pool.warm(A, count=1)
        Fake.error = None
        assert await pool.lease(A) is fakes[-1]

    _run(body)


def test_starts_that_failed_are_neither_counted_nor_left_in_the_way(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        Fake.error = InfrastructureError("busy")
        with pytest.raises(InfrastructureError, match="busy"):
            await pool.warm(A, count=2)
        Fake.error = None
        await pool.warm(A, count=2)
        assert len(fakes) == 4
        Fake.error = InfrastructureError("busy")
        with pytest.raises(InfrastructureError, match="busy"):
            await pool.warm(B, count=2)
        Fake.error = None
        leased = [await pool.lease(spec) for spec in (B, C, C, C)]
        for sandbox in leased:
            await pool.give_back(sandbox)

    _run(body)


def test_a_new_one_that_does_not_answer_is_not_replaced_for_ever(
    fakes: list[Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(self: FakeShell, command: str, *, timeout: float) -> ExecResult:
        raise InfrastructureError("gone")

    async def body(pool: SandboxPool) -> None:
        with pytest.raises(InfrastructureError, match="does not answer"):
            await pool.lease(A)

    monkeypatch.setattr(FakeShell, "run", run)
    _run(body)
    assert len(fakes) == 1


def test_what_a_cancelled_lease_waited_for_is_parked(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        Fake.gate = asyncio.Event()
        lease = asyncio.ensure_future(pool.lease(A))
        for _ in range(4):
            await asyncio.sleep(0)
        assert len(fakes) == 1
        lease.cancel()
        with pytest.raises(asyncio.CancelledError):
            await lease
        Fake.gate.set()
        assert await pool.lease(A) is fakes[0]

    _run(body)


@pytest.mark.parametrize("turns", range(8))
def test_closing_ends_what_is_leased_parked_started_and_reset(fakes: list[Fake], turns: int) -> None:
    async def body(pool: SandboxPool) -> None:
        leased, returned = await pool.lease(A), await pool.lease(A)
        await pool.warm(B, count=1)
        Fake.gate = asyncio.Event()
        await pool.give_back(returned)
        lease = asyncio.ensure_future(pool.lease(C))
        for _ in range(turns):
            await asyncio.sleep(0)
        await pool.close()
        with pytest.raises(InfrastructureError, match="closed"):
            await lease
        await pool.give_back(leased)
        with pytest.raises(InfrastructureError, match="closed"):
            await pool.lease(A)

    _run(body, capacity=4)


def test_a_sandbox_of_somebody_else_is_not_taken(fakes: list[Fake]) -> None:
    async def body(pool: SandboxPool) -> None:
        stranger = Fake(A)
        with pytest.raises(KeyError):
            await pool.give_back(stranger)  # type: ignore[arg-type]
        await stranger.close()

    _run(body)


def test_a_capacity_below_nothing() -> None:
    with pytest.raises(UserError, match="capacity"):
        SandboxPool(capacity=-1)


def test_real_sandboxes(in_sandbox: Callable[..., Any]) -> None:
    async def body(_: NamespaceSandbox) -> list[str]:
        seen = []
        async with SandboxPool() as pool:
            for _ in range(3):
                sandbox = await pool.lease(SandboxSpec())
                shell = await pool.shell(sandbox)
                seen.append((await shell.run("ls; pwd; echo > left; (sleep 1000 &)", timeout=30)).output)
                await pool.give_back(sandbox)
            sandbox = await pool.lease(SandboxSpec())
            await pool.give_back(sandbox)
            await pool.warm(SandboxSpec(), count=1)
            assert isinstance(sandbox, NamespaceSandbox)
            with os.fdopen(os.pidfd_open(sandbox._holder.pid)) as holder:
                os.kill(sandbox._holder.pid, signal.SIGKILL)
                assert select.select([holder], [], [], 30)[0]
            replaced = await pool.lease(SandboxSpec())
            assert replaced is not sandbox
            seen.append((await (await pool.shell(replaced)).run("pwd", timeout=30)).output)
        return seen

    assert in_sandbox(body) == ["/app\n"] * 4
