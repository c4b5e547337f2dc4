"""`DesktopScreen`: a desktop of its own for each episode, in a sandbox, as a `Machine`.

Nothing of the host's is in it: no display, bus, home or network. Not covered: what an application does after the screen
has settled; sound; more than one screen.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import Task
from claw_envs.gui.acts import ScreenAct
from claw_envs.gui.desktop.client import Client, RefusedError
from claw_envs.gui.desktop.machine import spec_of
from claw_envs.gui.screen import Element, Pane, Parts, Ran, View
from claw_envs.sandbox.lease import Lease
from claw_envs.sandbox.pool import SandboxPool

SMALLEST, LARGEST = 200, 8192
"""Pixels of a screen's side."""
_ANSWER_TIMEOUT = 30.0
_FILE_TIMEOUT = 120.0
_GRACE = 10.0
"""Seconds beyond its own that the machine gets to answer: it is the one that stops what runs over."""


class DesktopScreen:
    """See the module. One episode at a time, on one event loop.

    Args:
        size: width and height of the screen in pixels.
        sandbox: `namespace` (the host's own programs, or the image's where the task names one) or `docker`.
        pool: where sandboxes are taken from and given back to; None: one of its own.

    Raises:
        UserError: if there is no such sandbox, or no screen of that size.
    """

    def __init__(
        self, *, size: Sequence[int] = (1280, 720), sandbox: str = "namespace", pool: SandboxPool | None = None
    ) -> None:
        if len(size) != 2 or not all(SMALLEST <= side <= LARGEST for side in size):
            raise UserError(f"size must be a width and a height of {SMALLEST} to {LARGEST} pixels, got {size}")
        if sandbox not in ("namespace", "docker"):
            raise UserError(f"a desktop runs in sandbox 'namespace' or 'docker', got {sandbox!r}")
        self.size = int(size[0]), int(size[1])
        self._lease = Lease(sandbox, pool)
        self._client: Client | None = None

    async def open(self, task: Task) -> None:
        """See `Screen.open`."""
        await self._leave()
        sandbox = await self._lease.take(spec_of(self._lease.backend, task.sandbox))
        try:
            self._client = await Client.start(sandbox, self.size)
        except BaseException:
            await self.close()
            raise

    async def do(self, act: ScreenAct, *, timeout: float) -> str | None:
        """See `Screen.do`."""
        with _never_refused():
            acted = msgspec.to_builtins(act)
            said: str | None = await self._ask("do", limit=timeout + _GRACE, act=acted, timeout=timeout)
        return said

    async def look(self, parts: Parts) -> View:
        """See `Screen.look`."""
        packed = self._lease.backend == "docker"  # an engine copies what passes through it many times
        with _never_refused():
            seen, raw = await self._ask_bytes("look", screenshot=parts.screenshot, axtree=parts.axtree, packed=packed)
        if packed:
            raw = zlib.decompress(raw)
        width, height = self.size
        return View(
            screenshot=np.frombuffer(raw, np.uint8).reshape(height, width, 3) if parts.screenshot else None,
            elements=msgspec.convert(seen["elements"], list[Element] | None),
            panes=msgspec.convert(seen["panes"], list[Pane]),
            focused=seen["focused"],
            notes=seen["notes"],
        )

    async def close(self) -> None:
        """See `Screen.close`."""
        await self._leave()
        await self._lease.give_back()

    async def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(self, request: str, *, limit: float = _ANSWER_TIMEOUT, **arguments: Any) -> Any:
        return (await self._ask_bytes(request, limit=limit, **arguments))[0]

    async def _ask_bytes(
        self, request: str, *, limit: float = _ANSWER_TIMEOUT, body: bytes = b"", **arguments: Any
    ) -> tuple[Any, bytes]:
        try:
            return await self._opened.ask(request, limit=limit, body=body, **arguments)
        except RefusedError as error:
            raise OSError(f"the desktop cannot {request.replace('_', ' ')}: {error}") from error

    @property
    def _opened(self) -> Client:
        if self._client is None:
            raise InfrastructureError("the desktop is not open")
        return self._client

    async def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> Ran:
        """See `Machine.execute`. What runs over is killed; one that cannot be started has exit code 127."""
        try:
            (output, error, code, timed_out), _ = await self._opened.ask(
                "execute", limit=timeout + _GRACE, command=_plain(command), shell=shell, timeout=timeout
            )
        except RefusedError as refused:
            return Ran("", str(refused), 127)
        if timed_out:
            raise OSError(f"the command ran longer than {timeout:g} s: {command}")
        return Ran(output, error, code)

    async def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """See `Machine.launch`."""
        await self._ask("launch", command=_plain(command), shell=shell)

    async def read_file(self, path: str) -> bytes:
        """See `Machine.read_file`."""
        try:
            _, data = await self._opened.ask("read_file", limit=_FILE_TIMEOUT, path=path)
        except RefusedError as error:
            if error.kind in ("FileNotFoundError", "NotADirectoryError"):
                raise FileNotFoundError(path) from error
            raise OSError(f"{path} cannot be read: {error}") from error
        return data

    async def write_file(self, path: str, data: bytes) -> None:
        """See `Machine.write_file`."""
        await self._ask("write_file", limit=_FILE_TIMEOUT, body=data, path=path)

    async def list_directory(self, path: str) -> dict[str, Any] | None:
        """See `Machine.list_directory`."""
        found: dict[str, Any] | None = await self._ask("list_directory", path=path)
        return found

    async def accessibility(self) -> str:
        """See `Machine.accessibility`."""
        return str(await self._ask("xml"))

    async def terminal_output(self) -> str | None:
        """See `Machine.terminal_output`."""
        said: str | None = await self._ask("terminal_output")
        return said

    async def window_size(self, window_class: str) -> tuple[int, int] | None:
        """See `Machine.window_size`."""
        found = await self._ask("window_size", window_class=window_class)
        return None if found is None else (found[0], found[1])

    async def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """See `Machine.activate_window`."""
        await self._ask("activate_window", name=name, strict=strict, by_class=by_class)

    async def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """See `Machine.close_window`."""
        await self._ask("close_window", name=name, strict=strict, by_class=by_class)

    async def open_path(self, path: str) -> None:
        """See `Machine.open_path`."""
        await self._ask("open_path", path=path)

    async def wallpaper(self) -> bytes:
        """See `Machine.wallpaper`."""
        return (await self._ask_bytes("wallpaper"))[1]

    async def change_wallpaper(self, path: str) -> None:
        """Put an image of the machine's on the desktop's background."""
        await self._ask("change_wallpaper", path=path)

    async def platform(self) -> str:
        """See `Machine.platform`."""
        return str(await self._ask("platform"))

    async def cursor_position(self) -> tuple[int, int]:
        """See `Machine.cursor_position`."""
        x, y = await self._ask("cursor_position")
        return int(x), int(y)


@contextmanager
def _never_refused() -> Iterator[None]:
    """For what every desktop can do: one that refuses it is broken."""
    try:
        yield
    except OSError as error:
        raise InfrastructureError(str(error)) from error


def _plain(command: str | Sequence[str]) -> str | list[str]:
    return command if isinstance(command, str) else list(command)
