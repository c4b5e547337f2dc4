"""OSWorld's set-up steps by name, and how a list of them is carried out.

Exit codes of commands count for nothing, as in OSWorld; but a program that cannot be started, a window that is not
there, or a file that is missing mean that the task's first state was not reached, which is no episode.
"""

import asyncio
import inspect
import re
import shlex
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.acts import Code
from claw_envs.gui.osworld.format import ConfigStep
from claw_envs.gui.osworld.place import Place
from claw_envs.gui.osworld.setup.browser import close_tabs, open_tabs
from claw_envs.gui.osworld.setup.placeholders import Command, filled

_UNTIL_TIMEOUT = 60.0
"""Seconds until a command's end is as it should be."""
_PAUSE = 0.2
"""Seconds between looks at what does not tell by itself."""
_COMMAND_TIMEOUT = 120.0
_PYTHONS = ("python", "python3")
_IMPORTED = re.compile(r"\bimport +(\w+)")
_Step = Callable[..., Awaitable[None]]


class _MistakeError(Exception):
    """What the task asks for makes no sense; the message says why."""


async def carry_out(steps: Sequence[ConfigStep], place: Place, *, timeout: float, strict: bool = True) -> None:
    """Carry out steps in order.

    Args:
        timeout: seconds for all of them.
        strict: False before the evaluation, where the agent may have taken away what a step needs: such a step is
            passed over.

    Raises:
        InfrastructureError: if the machine is lost, the time is over, or a step does not do what it should.
        UserError: if the task names a step that there is not, or asks one for what it cannot do.
    """
    number, part = 0, "its set-up" if strict else "what comes before its evaluation"
    try:
        async with asyncio.timeout(timeout):
            for number, step in enumerate(steps, 1):
                run = bound(step, place)
                try:
                    await run()
                except _MistakeError as error:
                    raise UserError(_said(place, number, part, step, str(error))) from error
                except OSError as error:
                    if strict:
                        raise InfrastructureError(_said(place, number, part, step, str(error))) from error
    except TimeoutError as error:
        said = _said(place, number, part, steps[number - 1], f"not done after {timeout:g} s")
        raise InfrastructureError(said) from error


def bound(step: ConfigStep, place: Place) -> Callable[[], Awaitable[None]]:
    """A step with its arguments.

    Raises:
        UserError: if there is no such step, or it does not take them.
    """
    function = STEPS.get(step.type)
    if function is None:
        raise UserError(f"task {place.task.id}: there is no step {step.type!r}; there are: {', '.join(STEPS)}")
    try:
        inspect.signature(function).bind(place, **step.parameters)
    except TypeError as error:
        raise UserError(f"task {place.task.id}: step {step.type!r}: {error}") from None
    return lambda: function(place, **step.parameters)


def _said(place: Place, number: int, part: str, step: ConfigStep, reason: str) -> str:
    return f"task {place.task.id}: step {number} of {part}, {step.type}: {reason}"


async def launch(place: Place, command: Command, shell: Any = False) -> None:
    """Start a program that stays."""
    await place.machine.launch(filled(_words(command, shell), place), shell=_yes(shell))


async def execute(
    place: Place,
    command: Command,
    shell: Any = False,
    stdout: str = "",
    stderr: str = "",
    until: dict[str, Any] | None = None,
) -> None:
    """Run a command to its end; again and again where `until` names an exit code or a text to wait for.

    Calls of pyautogui are carried out as an agent's are, which any machine can.
    """
    if (code := _gestures(command)) is not None:
        said = await place.machine.do(Code(str(filled(code, place))), timeout=_COMMAND_TIMEOUT)
        if said is not None:
            raise OSError(said)
        return
    command = _words(command, shell)
    end = time.monotonic() + _UNTIL_TIMEOUT
    while True:
        ran = await place.machine.execute(filled(command, place), shell=_yes(shell), timeout=_COMMAND_TIMEOUT)
        for name, text in ((stdout, ran.output), (stderr, ran.error)):
            if name:
                place.keep(name, text.encode())
        if not until or ran.code == until.get("returncode"):
            return
        if any(until[key] in text for key, text in (("stdout", ran.output), ("stderr", ran.error)) if key in until):
            return
        if time.monotonic() > end:
            raise OSError(f"{command} did not end as it should within {_UNTIL_TIMEOUT:g} s")
        await asyncio.sleep(_PAUSE)


async def sleep(place: Place, seconds: float) -> None:
    """Wait, as the task says."""
    try:
        await asyncio.sleep(float(seconds))
    except (TypeError, ValueError) as error:
        raise _MistakeError(str(error)) from error


async def download(place: Place, files: list[dict[str, str]]) -> None:
    """Put files of the web onto the machine, from the user's cache folder."""
    for file in files:
        found = place.cached(file["url"], file["path"])
        await place.machine.write_file(file["path"], await asyncio.to_thread(found.read_bytes))


async def upload_file(place: Place, files: list[dict[str, str]]) -> None:
    """Put files of this side onto the machine: of the task's own folder, or of the user's cache folder."""
    for file in files:
        source = _local(place, file["local_path"])
        await place.machine.write_file(file["path"], await asyncio.to_thread(source.read_bytes))


def _local(place: Place, path: str) -> Path:
    """A file that a task brings along: what somebody else's task names elsewhere is not for its machine."""
    folder = place.task.folder()
    allowed = [folder, *([place.cache.folder] if place.cache else [])]
    source = (folder / path).resolve()
    if not any(source.is_relative_to(each.resolve()) for each in allowed):
        raise _MistakeError(f"{path} is neither in the task's folder nor in the cache folder")
    if not source.is_file():
        raise _MistakeError(f"{source}: no such file")
    return source


async def open_path(place: Place, path: str) -> None:
    """Open a file as a double click does, and wait for the window that has its name."""
    await place.machine.open_path(path)
    if "://" not in path:
        await activate_window(place, PurePosixPath(path).stem)


async def activate_window(place: Place, window_name: str, strict: bool = False, by_class: bool = False) -> None:
    """Bring a window to the front, once it is there: programs that were launched take time to open one."""
    end = time.monotonic() + place.patience
    while True:
        try:
            return await place.machine.activate_window(window_name, strict=strict, by_class=by_class)
        except OSError:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(_PAUSE)


async def close_window(place: Place, window_name: str, strict: bool = False, by_class: bool = False) -> None:
    """Close a window as its user would."""
    await place.machine.close_window(window_name, strict=strict, by_class=by_class)


async def change_wallpaper(place: Place, path: str) -> None:
    """Put an image of the machine's on the desktop's background."""
    await place.machine.change_wallpaper(path)


async def chrome_open_tabs(place: Place, urls_to_open: list[str]) -> None:
    """Open tabs in the browser that runs, in place of its first one."""
    await open_tabs(place, urls_to_open)


async def chrome_close_tabs(place: Place, urls_to_close: list[str]) -> None:
    """Close tabs by what they show."""
    await close_tabs(place, urls_to_close)


def _words(command: Command, shell: Any) -> Command:
    """The arguments of a command that no shell reads."""
    if not isinstance(command, str) or _yes(shell):
        return command
    try:
        return shlex.split(command)
    except ValueError as error:
        raise _MistakeError(f"{error}: {command}") from error


def _gestures(command: Command) -> str | None:
    """The code of `python -c` that calls pyautogui and imports nothing but that and `time`."""
    if isinstance(command, str) or len(command) != 3 or command[1] != "-c" or command[0] not in _PYTHONS:
        return None
    imported = set(_IMPORTED.findall(command[2]))
    return command[2] if "pyautogui" in imported and imported <= {"pyautogui", "time"} else None


def _yes(value: Any) -> bool:
    """Some tasks write "true" as text."""
    return str(value).lower() == "true"


STEPS: dict[str, _Step] = {
    "launch": launch,
    "execute": execute,
    "command": execute,
    "sleep": sleep,
    "download": download,
    "upload_file": upload_file,
    "open": open_path,
    "activate_window": activate_window,
    "close_window": close_window,
    "change_wallpaper": change_wallpaper,
    "chrome_open_tabs": chrome_open_tabs,
    "chrome_close_tabs": chrome_close_tabs,
}
BROWSER_STEPS = ("chrome_open_tabs", "chrome_close_tabs")
ACCOUNT_STEPS = ("googledrive", "login")
