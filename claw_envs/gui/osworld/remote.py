"""What set-up and evaluation reach on a machine, through OSWorld's protocol.

A machine that refuses what it was asked for (no such program, window or file) raises OSError.
"""

from collections.abc import Sequence
from typing import Any

from claw_envs.gui.osworld.client import TIMEOUT, OsworldClient, RefusedError
from claw_envs.gui.osworld.getters import tree_of
from claw_envs.gui.screen import Ran

_COMMAND_GRACE = 10.0
"""Seconds beyond a command's own."""
_TREE_TIMEOUT = 60.0
_OPEN_TIMEOUT = 120.0
"""Seconds until a file's window is there."""
_NOT_FOUND = 404


class Remote:
    """The half of a `Machine` that no agent reaches; see `claw_envs.gui.screen.Machine`."""

    def __init__(self) -> None:
        self._client = OsworldClient("http://not-open")

    async def execute(self, command: str | Sequence[str], *, shell: bool = False, timeout: float = 120.0) -> Ran:
        """See `Machine.execute`.

        Raises:
            OSError: if it cannot be started, or was stopped by the machine itself.
        """
        body = {"command": _plain(command), "shell": shell, "timeout": timeout}  # only our server knows the last
        try:
            return await self._client.act("/setup/execute", body, self._ran, timeout=timeout + _COMMAND_GRACE)
        except TimeoutError:
            raise self._client.lost(f"a command took over {timeout:g} s") from None
        except RefusedError as error:
            raise OSError(str(error)) from error

    def _ran(self, answer: bytes) -> Ran:
        said = self._client.read_object(answer)
        try:
            return Ran(str(said["output"]), str(said["error"]), int(said["returncode"]))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            raise self._client.fault(f"it answers {answer[:60]!r} to a command") from None

    async def launch(self, command: str | Sequence[str], *, shell: bool = False) -> None:
        """See `Machine.launch`."""
        await self._set_up("/setup/launch", {"command": _plain(command), "shell": shell})

    async def read_file(self, path: str) -> bytes:
        """See `Machine.read_file`."""
        try:
            return await self._client.ask("/file", bytes, form={"file_path": path})
        except RefusedError as error:
            if error.status == _NOT_FOUND:
                raise FileNotFoundError(f"{path}: {error}") from error
            raise OSError(f"{path}: {error}") from error

    async def write_file(self, path: str, data: bytes) -> None:
        """See `Machine.write_file`."""
        try:
            await self._client.upload(path, data)
        except RefusedError as error:
            raise OSError(f"{path}: {error}") from error

    async def list_directory(self, path: str) -> dict[str, Any] | None:
        """See `Machine.list_directory`."""
        try:
            found = await self._client.ask("/list_directory", self._client.read_object, body={"path": path})
        except RefusedError:
            return None
        tree: dict[str, Any] | None = found.get("directory_tree")
        return tree

    async def accessibility(self) -> str:
        """See `Machine.accessibility`."""
        return await self._client.get("/accessibility", self._xml, timeout=_TREE_TIMEOUT)

    def _xml(self, body: bytes) -> str:
        xml = str(self._client.read_object(body).get("AT"))
        tree_of(xml)
        return xml

    async def terminal_output(self) -> str | None:
        """See `Machine.terminal_output`."""
        shown = (await self._client.get("/terminal", self._client.read_object)).get("output")
        return None if shown is None else str(shown)

    async def window_size(self, window_class: str) -> tuple[int, int] | None:
        """See `Machine.window_size`."""
        try:
            form = {"app_class_name": window_class}
            return await self._client.ask("/window_size", self._client.read_size, form=form)
        except RefusedError:  # OSWorld's own server fails where there is no such window
            return None

    async def activate_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """See `Machine.activate_window`."""
        await self._set_up("/setup/activate_window", {"window_name": name, "strict": strict, "by_class": by_class})

    async def close_window(self, name: str, *, strict: bool = False, by_class: bool = False) -> None:
        """See `Machine.close_window`."""
        await self._set_up("/setup/close_window", {"window_name": name, "strict": strict, "by_class": by_class})

    async def open_path(self, path: str) -> None:
        """See `Machine.open_path`."""
        await self._set_up("/setup/open_file", {"path": path}, timeout=_OPEN_TIMEOUT)

    async def wallpaper(self) -> bytes:
        """See `Machine.wallpaper`."""
        try:
            return await self._client.ask("/wallpaper", bytes, body={})
        except RefusedError as error:
            raise OSError(f"the desktop's background: {error}") from error

    async def change_wallpaper(self, path: str) -> None:
        """See `Machine.change_wallpaper`."""
        await self._set_up("/setup/change_wallpaper", {"path": path})

    async def platform(self) -> str:
        """See `Machine.platform`."""
        return (await self._client.get("/platform", bytes)).decode(errors="replace").strip()

    async def cursor_position(self) -> tuple[int, int]:
        """See `Machine.cursor_position`."""
        return await self._client.get("/cursor_position", self._client.read_point)

    async def _set_up(self, path: str, body: dict[str, Any], *, timeout: float = TIMEOUT) -> None:
        try:
            await self._client.act(path, body, bytes, timeout=timeout)
        except TimeoutError:
            raise self._client.lost(f"no answer to {path} within {timeout:g} s") from None
        except RefusedError as error:
            raise OSError(str(error)) from error


def _plain(command: str | Sequence[str]) -> str | list[str]:
    return command if isinstance(command, str) else list(command)
