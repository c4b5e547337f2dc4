"""A machine that speaks OSWorld's protocol, as a `Machine`: any VM, container or cloud host with its server.

Acts are sent as calls of pyautogui. What a look finds is asked for side by side. A machine that is lost, answers
wrongly or was started anew in mid-episode raises InfrastructureError, and is set aside when the screen closes.

Not covered: acts of browsers; choosing from a list by name, which the protocol has no way for; and on a machine without
our own server, typing what is not ASCII, which pyautogui cannot.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from claw_envs.core.task import Task
from claw_envs.gui.acts import Code, ScreenAct, Type, Wait
from claw_envs.gui.osworld.client import OsworldClient, RefusedError
from claw_envs.gui.osworld.elements import Elements
from claw_envs.gui.osworld.getters import tree_of
from claw_envs.gui.osworld.hands import ActError, plain
from claw_envs.gui.osworld.machines.base import Lent
from claw_envs.gui.osworld.machines.find import Machines, provider_of
from claw_envs.gui.osworld.picture import decoded
from claw_envs.gui.osworld.remote import Remote
from claw_envs.gui.osworld.script import MARK, script
from claw_envs.gui.osworld.state import State, state_command
from claw_envs.gui.screen import Parts, View

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GRACE = 15.0
"""Seconds beyond an act's own that a machine gets, as a slow one takes some for anything."""
_SETTLE, _SETTLE_PAUSE = 2.0, 0.05
"""Seconds that a machine without our own server gets until its picture no longer changes."""
_LONGEST_COMPLAINT = 300


class OsworldScreen(Remote):
    """See the module. One episode at a time.

    Attributes:
        size: of the machine's screen, once it is open.
    """

    def __init__(self, machines: Machines, *, size: Sequence[int] = (1920, 1080)) -> None:
        """
        Args:
            machines: who provides them; see `machines.find`.
            size: width and height in pixels, for machines that are made anew.

        Raises:
            UserError: if there is no such provider.
        """
        super().__init__()
        self.size = int(size[0]), int(size[1])
        self._provider = provider_of(machines, self.size)
        self._lent: Lent | None = None
        self._elements = Elements()
        self._boot = ""

    @property
    def web(self) -> bool:
        """Whether its machines may reach the web."""
        return self._provider.web

    @property
    def lent(self) -> Lent | None:
        """The machine that it has; None while it is not open."""
        return self._lent

    async def open(self, task: Task) -> None:
        """See `Screen.open`."""
        await self.close()
        self._lent = await self._provider.lease(task)
        self._client = OsworldClient(self._lent.url, secret=self._lent.secret)
        self._elements = Elements()
        try:
            self.size = await self._screen_size()
            self._boot = (await self._state()).boot
        except BaseException:
            await self.close()
            raise

    async def _screen_size(self) -> tuple[int, int]:
        try:
            size = await self._client.ask("/screen_size", self._client.read_size, body={})
        except RefusedError as error:
            raise self._client.lost(f"it does not tell its screen's size: {error}") from error
        if size is None:
            raise self._client.lost("it does not tell its screen's size")
        return size

    async def do(self, act: ScreenAct, *, timeout: float) -> str | None:
        """See `Screen.do`."""
        if isinstance(act, Wait):
            await asyncio.sleep(min(act.seconds, timeout))
            return None
        try:
            calls = plain(act, self._elements.shown, self.size)
        except ActError as error:
            return str(error)
        for call in calls:
            if isinstance(call, Type) and not call.text.isascii() and self._client.identity is None:
                return "this machine's keyboard types ASCII only"
            said = await self._carry_out(script(call), timeout, free=isinstance(call, Code))
            if said is not None:
                return said
        return None

    async def _carry_out(self, code: str, timeout: float, *, free: bool) -> str | None:
        """Run calls of pyautogui.

        Args:
            free: whether they are the agent's own, and may take as long as they like.
        """
        limit = timeout if free and self._client.identity is None else timeout + _GRACE
        body = {"command": ["python", "-c", code], "shell": False, "timeout": timeout}  # only our server knows the last
        try:
            ran = await self._client.act("/execute", body, self._ran, timeout=limit)
        except TimeoutError:
            if not free:
                raise self._client.lost(f"an act took over {limit:g} s") from None
            await self.execute(["pkill", "-f", MARK], timeout=_GRACE)  # a machine that does not answer now is lost
            return f"the code was stopped after {timeout:g} s"
        except RefusedError as error:
            return f"the machine refuses: {error}"
        if self._client.identity is None:
            await self._settle()
        complaint = ran.error.strip().rpartition("\n")[2][:_LONGEST_COMPLAINT]
        return complaint or f"exit code {ran.code}" if ran.code else None

    async def _settle(self) -> None:
        """Wait until two pictures in a row are the same; our own server waits by itself."""
        before = b""
        try:
            async with asyncio.timeout(_SETTLE):
                while (now := await self._client.get("/screenshot", bytes)) != before:
                    before = now
                    await asyncio.sleep(_SETTLE_PAUSE)
        except TimeoutError:  # something on it always moves
            return

    async def look(self, parts: Parts) -> View:
        """See `Screen.look`."""
        state, picture, xml = await asyncio.gather(
            self._state(),
            self._client.get("/screenshot", self._whole) if parts.screenshot else _nothing(),
            self.accessibility() if parts.axtree else _nothing(),
        )
        view = View(screenshot=picture, panes=state.panes)
        if xml is not None:
            text = await self._terminal(state, tree_of(xml))
            view.elements = await asyncio.to_thread(self._elements.listed, tree_of(xml), state.stacked, text)
            view.focused = self._elements.focused
        return view

    async def _terminal(self, state: State, root: Element) -> dict[int, str | None]:
        """What the active window shows where it tells nothing of itself, as some terminals do not."""
        told = {window.get("name") for application in root for window in application}
        silent = [window.id for window in state.windows if window.active and window.title not in told]
        return {number: await self.terminal_output() for number in silent}

    def _whole(self, body: bytes) -> "NDArray[np.uint8]":
        try:
            return decoded(body, self.size)
        except ValueError as error:
            raise self._client.fault(f"its screenshot is broken: {error}") from error

    async def _state(self) -> State:
        """Windows and boot; a machine that has booted since the episode began is lost."""
        try:
            answer = await self._client.ask("/execute", self._client.read_object, body=state_command())
        except RefusedError:  # it has no shell, as Windows has none
            return State("", ())
        state = State.read(str(answer.get("output", "")))
        if self._boot and state.boot != self._boot:
            raise self._client.lost("it was booted in mid-episode")
        return state

    async def close(self) -> None:
        """See `Screen.close`."""
        lent, self._lent = self._lent, None
        self._boot = ""
        if lent is not None:
            await self._provider.give_back(lent, failed=self._client.failed)


async def _nothing() -> Any:
    return None
