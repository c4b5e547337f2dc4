"""Commands, and programs that stay.

Calls of pyautogui, as `python -c`, are carried out by our own interpreter, and answered once the screen has settled. A
command may have its own `timeout` in seconds, which OSWorld's server does not know.
"""

import importlib.util
import re
import shlex
import shutil
import time
from collections.abc import Sequence
from typing import Any

from claw_envs.gui.desktop.inside import run
from claw_envs.gui.desktop.inside.osworld.answers import (
    BAD,
    FAULT,
    Answer,
    Desk,
    Handler,
    Request,
    as_json,
    as_text,
    failed,
)

_TIMEOUT, _LONGEST = 120.0, 3600.0
_PYTHON_TIMEOUT, _SCRIPT_TIMEOUT = 30.0, 100.0
_SETTLE = 2.0
_PYTHON = "/usr/bin/python3"
_HANDS = {"pyautogui", "time"}
"""What the interpreter knows."""


def gestures(command: Any) -> str | None:
    """The code of a `python -c` that imports pyautogui; None where Python itself can run what the interpreter cannot.

    >>> gestures(["python", "-c", "import pyautogui; pyautogui.click(1, 2)"])
    'import pyautogui; pyautogui.click(1, 2)'
    >>> gestures(["python", "-c", "import platform"]), gestures("ls")
    (None, None)
    """
    if not isinstance(command, list) or len(command) != 3 or command[1] != "-c" or "python" not in str(command[0]):
        return None
    code = str(command[2])
    lines = re.findall(r"\bimport +([\w, ]+)", code)
    imported = {name.strip() for line in lines for name in line.split(",")}
    known = imported <= _HANDS or importlib.util.find_spec("pyautogui") is None
    return code if "pyautogui" in imported and known else None


def _ended(ended: run.Ended) -> dict[str, Any]:
    return {"status": "success", "output": ended.output, "error": ended.error, "returncode": ended.code}


def _carried_out(desk: Desk, body: dict[str, Any]) -> dict[str, Any] | Answer:
    """What a command of a request did, or what its server says where it did not run to its end."""
    shell = bool(body.get("shell", False))
    command = body.get("command", "" if shell else [])
    timeout = min(float(body.get("timeout", _TIMEOUT)), _LONGEST)
    code = gestures(command)
    if code is not None:
        said = desk.machine.code(code, timeout)
        desk.machine.settle(_SETTLE)
        return _ended(run.Ended("", said or "", int(said is not None)))
    try:
        ended = desk.machine.execute(_with_python(command), shell=shell, timeout=timeout)
    except (OSError, ValueError) as error:
        return failed(str(error))
    if ended.timed_out:
        return failed(f"Command {command!r} timed out after {timeout:g} seconds")
    return _ended(ended)


def _with_python(command: Any) -> Any:
    """`command` with a Python that there is: Debian has none of the name `python`."""
    words: Sequence[str] = shlex.split(command) if isinstance(command, str) else command
    if not isinstance(command, str) and words and words[0] == "python" and shutil.which("python") is None:
        return [_PYTHON, *words[1:]]
    return command


def _execute(desk: Desk, request: Request) -> Answer:
    done = _carried_out(desk, request.json())
    return done if isinstance(done, Answer) else as_json(done)


def _execute_with_verification(desk: Desk, request: Request) -> Answer:
    body = request.json()
    done = _carried_out(desk, body)
    wanted = body.get("verification") or {}
    if isinstance(done, Answer) or not wanted:
        return done if isinstance(done, Answer) else as_json(done)
    begun, longest = time.monotonic(), float(body.get("max_wait_time", 10))
    while not _verified(desk, wanted):
        if time.monotonic() - begun > longest:
            said = {"status": "verification_failed", "verification": "failed", "wait_time": longest}
            return as_json(done | said, FAULT)
        time.sleep(float(body.get("check_interval", 1)))
    return as_json(done | {"verification": "passed", "wait_time": time.monotonic() - begun})


def _verified(desk: Desk, wanted: dict[str, Any]) -> bool:
    title = wanted.get("window_exists")
    if title is not None and desk.machine.windows.find(str(title)) is None:
        return False
    command = wanted.get("command_success")
    return command is None or desk.machine.execute(str(command), shell=True, timeout=5.0).code == 0


def _launch(desk: Desk, request: Request) -> Answer:
    body = request.json()
    shell = bool(body.get("shell", False))
    command = body.get("command", "" if shell else [])
    try:
        desk.machine.launch(command, shell=shell)
    except (OSError, ValueError) as error:
        return failed(str(error))
    return as_text(f"{command if isinstance(command, str) else ' '.join(map(str, command))} launched successfully")


def _run_python(desk: Desk, request: Request) -> Answer:
    code = request.json().get("code")
    if not code:
        return failed("Code not supplied!", BAD)
    ended = desk.machine.execute([_PYTHON, "-c", str(code)], timeout=_PYTHON_TIMEOUT)
    said = {"message": ended.output + ended.error, "output": ended.output, "error": ended.error, "need_more": False}
    if ended.timed_out:
        return as_json(said | {"status": "error", "output": None, "error": "TimeoutExpired"}, FAULT)
    return as_json(said | {"status": "error" if ended.code else "success", "return_code": ended.code})


def _run_bash_script(desk: Desk, request: Request) -> Answer:
    body = request.json()
    script, folder = body.get("script"), body.get("working_dir")
    if not script:
        return _script("Script not supplied!", -1, BAD)
    timeout = min(float(body.get("timeout", _SCRIPT_TIMEOUT)), _LONGEST)
    place = f"cd -- {shlex.quote(str(folder))} || exit\n" if folder else ""
    ended = desk.machine.execute(f"exec 2>&1\n{place}{script}", shell=True, timeout=timeout)
    if ended.timed_out:
        return _script(f"Script execution timed out after {timeout:g} seconds", -1, FAULT)
    return _script(ended.output, ended.code)


def _script(output: str, code: int, status: int = 200) -> Answer:
    said = {"status": "error" if code else "success", "output": output, "error": "", "returncode": code}
    return as_json(said, status)


ROUTES: dict[tuple[str, str], Handler] = {
    ("POST", "/execute"): _execute,
    ("POST", "/setup/execute"): _execute,
    ("POST", "/execute_with_verification"): _execute_with_verification,
    ("POST", "/setup/execute_with_verification"): _execute_with_verification,
    ("POST", "/setup/launch"): _launch,
    ("POST", "/run_python"): _run_python,
    ("POST", "/run_bash_script"): _run_bash_script,
}
