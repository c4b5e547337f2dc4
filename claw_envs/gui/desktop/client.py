"""The host's end of a desktop: requests to the program inside, over its standard input and output."""

import asyncio
from pathlib import Path
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.gui.desktop.inside.frames import FrameError, Frames, pack
from claw_envs.sandbox.base import Pipe, Sandbox

PROGRAM = Path(__file__).parent / "inside"
PLACE = "/opt/claw-envs"
"""Where the program lies inside."""
START_TIMEOUT = 60.0


class RefusedError(Exception):
    """The machine answered that it cannot do what it was asked for.

    Attributes:
        kind: name of the exception inside.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Client:
    """Talks to one program inside. Use `Client.start`, on one event loop."""

    def __init__(self) -> None:
        self._frames = Frames()
        self._pipe: Pipe
        self._number = 0
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}
        self._broken = ""
        self.home = ""
        """Home directory of the machine's user."""

    @classmethod
    async def start(cls, sandbox: Sandbox, size: tuple[int, int]) -> "Client":
        """Start the program, and wait until its desktop runs.

        Raises:
            InfrastructureError: if it does not.
        """
        client = cls()
        client._waiting[0] = asyncio.get_running_loop().create_future()
        client._pipe = await sandbox.pipe(
            ["/usr/bin/python3", "-m", "claw_envs.gui.desktop.inside", f"{size[0]}x{size[1]}"],
            sink=client._feed,
            env={"PYTHONPATH": PLACE, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd="/",
        )
        client._pipe.ended.add_done_callback(lambda _: client._fail("it has ended"))
        try:
            said, _ = await client._answer(0, START_TIMEOUT, "start")
        except BaseException:
            await client.close()
            raise
        client.home = said["home"]
        return client

    async def ask(self, request: str, *, limit: float, body: bytes = b"", **arguments: Any) -> tuple[Any, bytes]:
        """What the machine answers to a request within `limit` seconds.

        Raises:
            RefusedError: if it cannot do what it was asked for.
            InfrastructureError: if it is lost, or does not answer in time.
        """
        if self._broken or self._pipe.ended.done():
            raise self._lost()
        self._number += 1
        number = self._number
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(limit):
                await self._pipe.write(pack(arguments | {"id": number, "request": request}, body))
                return await self._waiting[number]
        except TimeoutError:
            raise InfrastructureError(f"the desktop did not answer to {request} within {limit:g} s") from None
        finally:
            self._waiting.pop(number, None)

    async def _answer(self, number: int, timeout: float, request: str) -> tuple[Any, bytes]:
        try:
            async with asyncio.timeout(timeout):
                return await self._waiting[number]
        except TimeoutError:
            raise InfrastructureError(f"the desktop did not {request} within {timeout:g} s") from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the program. May be called again."""
        await self._pipe.close()

    def _feed(self, data: bytes) -> None:
        if self._broken:
            return
        try:
            for header, body in self._frames.feed(data):
                self._hear(header, body)
        except FrameError as error:
            self._fail(f"it answers nonsense: {error}")

    def _hear(self, header: dict[str, Any], body: bytes) -> None:
        waiting = self._waiting.get(header.get("id", -1))
        if waiting is None or waiting.done():
            return  # whoever asked has gone
        error = header.get("error")
        if error:
            waiting.set_exception(RefusedError(error["kind"], error["text"]))
        else:
            waiting.set_result((header.get("result"), body))

    def _fail(self, reason: str) -> None:
        self._broken = self._broken or reason
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._lost())

    def _lost(self) -> InfrastructureError:
        said = self._pipe.errors().strip().splitlines()
        return InfrastructureError(f"the desktop is lost: {said[-1] if said else self._broken or 'it has ended'}")
