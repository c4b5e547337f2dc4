"""Evaluators that are in OSWorld's own package only, run by the Python that the user installed it in.

A subprocess for each check: JSON in, JSON out, a time limit of its own, nothing of our environment but what a program
needs to start. What its libraries print never mixes with the verdict.

Not covered: isolation. The package reads the agent's documents with the rights of this user, so metrics that run code
of the agent's are refused.
"""

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.osworld.format import Check
from claw_envs.gui.osworld.place import Place

RUN_CODE = ("check_python_file_by_test_suite",)
"""Metrics that run what the agent wrote."""
_CHILD = Path(__file__).with_name("vendor_child.py")
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE")
"""Of our environment."""
_TAIL = 2_000
"""Bytes of what it complained that an error shows."""


class Vendor:
    """OSWorld's own package, in a Python of the user's."""

    def __init__(self, python: str, *, timeout: float = 300.0) -> None:
        """
        Args:
            python: of the environment that has `desktop_env`.
            timeout: seconds for one check; importing the package alone may take half a minute.

        Raises:
            UserError: if there is no such program.
        """
        self._python = Path(python).expanduser()
        if not os.access(self._python, os.X_OK):
            raise UserError(f"desktop_env={python}: no such program; name the python that has OSWorld's package")
        self._timeout = timeout

    async def score(self, check: Check, values: dict[str, Any], place: Place) -> float:
        """What one of its metrics gives.

        Args:
            values: what our getters found, by `result` and `expected`; its own getters look for the rest.

        Raises:
            InfrastructureError: if there is no verdict.
            UserError: if it lacks the metric, a getter, or a library that they need.
        """
        if check.metric in RUN_CODE:
            raise UserError(f"task {place.task.id}: {check.metric} would run the agent's code on this machine")
        request = {"metric": check.metric, "options": check.options, "values": values}
        answer = await self._ask(request | {"getters": _getters(check, values)}, place)
        if not isinstance(answer, int | float):
            raise InfrastructureError(f"task {place.task.id}: {check.metric} of desktop_env gave {answer!r}, no number")
        return float(answer)

    async def get(self, config: dict[str, Any], place: Place) -> Any:
        """What one of its getters finds; see `score`."""
        return await self._ask({"metric": None, "options": {}, "values": {}, "getters": {"result": config}}, place)

    async def _ask(self, request: dict[str, Any], place: Place) -> Any:
        machine = urlsplit(place.address) if place.address else None
        if machine is None and request["getters"]:
            name = next(iter(request["getters"].values()))["type"]
            raise UserError(f"task {place.task.id}: the getter {name} of desktop_env needs an OSWorld machine")
        request["machine"] = {
            "ip": machine and machine.hostname,
            "port": machine and machine.port,
            "browser_port": urlsplit(place.browser).port if place.browser else None,
            "cache_dir": str(place.folder),
            "password": place.password,
            "width": place.machine.size[0],
            "height": place.machine.size[1],
        }
        with tempfile.TemporaryFile() as complaints:
            output = await self._run(json.dumps(request).encode(), place, complaints.fileno())
            complaints.seek(max(complaints.seek(0, os.SEEK_END) - _TAIL, 0))
            said = complaints.read().decode(errors="replace").strip()
        try:
            answer = json.loads(output)
        except ValueError:
            raise InfrastructureError(f"task {place.task.id}: desktop_env gave no verdict: {said}") from None
        if "lacks" in answer:
            raise UserError(f"the desktop_env at {self._python} lacks {answer['lacks']}: install it there")
        if "error" in answer:
            raise InfrastructureError(f"task {place.task.id}: desktop_env's evaluator fails: {answer['error']}")
        return answer["value"]

    async def _run(self, request: bytes, place: Place, complaints: int) -> bytes:
        process = await asyncio.create_subprocess_exec(
            str(self._python),
            "-I",
            str(_CHILD),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            cwd=place.folder,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._timeout):
                output, _ = await process.communicate(request)
        except TimeoutError:
            raise InfrastructureError(f"task {place.task.id}: desktop_env took over {self._timeout:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return output


def _getters(check: Check, values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Those that are still to be asked."""
    named = {"result": check.result, "expected": check.expected}
    return {name: config for name, config in named.items() if config is not None and name not in values}
