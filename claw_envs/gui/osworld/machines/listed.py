"""Machines that the user lists: each is lent to one episode at a time in this process.

Before each episode a machine is brought into its first state by the user's command, where there is one, and probed. One
that failed is set aside: it is lent again only when no other is free, and when it answers. Not covered: what an episode
leaves on a machine that has no such command, and other processes that use the same machines.
"""

import asyncio
import contextlib
import threading
from collections import deque
from urllib.parse import urlsplit

import msgspec

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.osworld.format import plan_of
from claw_envs.gui.osworld.machines.answering import come_up, probe
from claw_envs.gui.osworld.machines.base import Lent
from claw_envs.reason import reason

_LEASE_TIMEOUT = 3600.0
"""Seconds that an episode waits for a machine, as others may hold them all."""
_RESET_TIMEOUT = 600.0
_BROWSER_PORT = 9222
"""That OSWorld's tasks open."""
_TAIL = 500


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine of the user's."""

    url: str
    reset: tuple[str, ...] = ()
    """Command that brings it into its first state, on this side; `{snapshot}`, `{url}`, `{host}` are filled in."""
    browser: str | None = None
    """Address of a browser's debugging port; None: port 9222 of the machine."""

    @property
    def host(self) -> str:
        """Its name or address."""
        return str(urlsplit(self.url).hostname)


class ListedMachines:
    """See the module, and `base.Provider`."""

    web = True

    def __init__(self, machines: tuple[Listed, ...]) -> None:
        """
        Raises:
            UserError: if there is none, one is listed twice, or an address is none.
        """
        if not machines or len({each.url for each in machines}) < len(machines):
            raise UserError("machines must be a list of OSWorld machines, each of them once")
        for each in machines:
            if urlsplit(each.url).scheme not in ("http", "https") or not urlsplit(each.url).hostname:
                raise UserError(f"machines: {each.url!r} is no address; write it as http://10.0.0.5:5000")
        self._urls = [each.url for each in machines]
        self._lock = threading.Lock()
        self._free = deque(machines)
        self._aside: deque[Listed] = deque()
        self._lent: dict[str, Listed] = {}
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def lease(self, task: Task) -> Lent:
        """See `base.Provider.lease`."""
        try:
            async with asyncio.timeout(_LEASE_TIMEOUT):
                return await self._lease(plan_of(task).snapshot)
        except TimeoutError as error:
            said = f"no OSWorld machine was free and ready within {_LEASE_TIMEOUT:g} s, of {', '.join(self._urls)}"
            raise InfrastructureError(said) from error

    async def _lease(self, snapshot: str) -> Lent:
        tried: set[str] = set()
        while True:
            machine = await self._take(tried)
            tried.add(machine.url)
            ready = False
            try:
                await _make_ready(machine, snapshot)
                ready = True
            except InfrastructureError as error:
                fault = error
            finally:
                if not ready:
                    self._put(machine, failed=True)
            if ready:
                return Lent(machine.url, browser=machine.browser or f"http://{machine.host}:{_BROWSER_PORT}")
            if not self._others(tried):
                raise fault

    async def give_back(self, lent: Lent, *, failed: bool) -> None:
        """See `base.Provider.give_back`."""
        machine = self._lent.get(lent.url)
        if machine is not None:
            self._put(machine, failed=failed)

    async def _take(self, tried: set[str]) -> Listed:
        """A machine that was not tried: one that works, else one that was set aside; waits while all are lent."""
        while True:
            with self._lock:
                for group in (self._free, self._aside):
                    for machine in group:
                        if machine.url not in tried:
                            group.remove(machine)
                            self._lent[machine.url] = machine
                            return machine
                loop = asyncio.get_running_loop()
                freed: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, freed))
            await freed

    def _others(self, tried: set[str]) -> bool:
        """Whether there is a machine that may still be tried, now or once it is given back."""
        with self._lock:
            return any(machine.url not in tried for machine in (*self._free, *self._aside, *self._lent.values()))

    def _put(self, machine: Listed, *, failed: bool) -> None:
        with self._lock:
            del self._lent[machine.url]
            (self._aside if failed else self._free).append(machine)
            waiting, self._waiting = self._waiting, deque()
        for loop, freed in waiting:
            with contextlib.suppress(RuntimeError):  # its loop has been closed
                loop.call_soon_threadsafe(_wake, freed)


def _wake(freed: "asyncio.Future[None]") -> None:
    if not freed.done():
        freed.set_result(None)


async def _make_ready(machine: Listed, snapshot: str) -> None:
    if not machine.reset:
        return await probe(machine.url)
    values = {"{snapshot}": snapshot, "{url}": machine.url, "{host}": machine.host}
    words = list(machine.reset)
    for name, value in values.items():
        words = [word.replace(name, value) for word in words]
    await _run(words)
    return await come_up(machine.url, timeout=_RESET_TIMEOUT)


async def _run(words: list[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as error:
        raise UserError(f"machines: the reset command {words[0]} cannot be started: {reason(error)}") from error
    try:
        async with asyncio.timeout(_RESET_TIMEOUT):
            output, _ = await process.communicate()
    except TimeoutError:
        raise InfrastructureError(f"the reset command {words[0]} did not end within {_RESET_TIMEOUT:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        said = output[-_TAIL:].decode(errors="replace").strip()
        raise InfrastructureError(f"the reset command {words[0]} ended with exit code {process.returncode}: {said}")
