"""The way to one worker: a process in the Python that has `bfcl-eval`, asked over pipes with a line of JSON at a time.

A worker that does not answer in time, or dies, is killed with what it started; the next request starts another, which
knows nothing of the episode. It ends with this process, whose end of the pipe it reads.
"""

import asyncio
import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.process.child import Child, drain, first_of, open_pairs, read_into, write_all
from claw_envs.toolcall.bfcl.environment import directory, interpreter

_TIMEOUT = 60.0


class Unanswered(InfrastructureError):  # noqa: N818 - of a worker, which may be in the right
    """The worker did not answer in time, and was killed."""


class Worker:
    """One worker, started when it is first asked. Use on one event loop."""

    def __init__(self) -> None:
        self._process: _Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, op: str, *, timeout: float = _TIMEOUT, **request: Any) -> Any:
        """The result of a request; see `claw_envs.toolcall.bfcl.worker`. Several wait for each other.

        Args:
            timeout: seconds.

        Raises:
            Unanswered: if there is no answer in time.
            InfrastructureError: if the worker died, or failed.
        """
        async with self._turn:
            if self._process is None:
                self._process = _Process(await asyncio.to_thread(interpreter))
            try:
                answer = await self._process.ask({"op": op, **request}, timeout)
            except BaseException:  # an answer may still come, and would be taken for the next one's
                await self.close()
                raise
        if "failure" in answer:
            raise InfrastructureError(f"the BFCL checker failed:\n{answer['failure']}")
        return answer["result"]

    async def close(self) -> None:
        """Kill the worker. May be called again; a later request starts another."""
        process, self._process = self._process, None
        if process is not None:
            await process.close()


class _Process:
    """A worker that runs, and the pipes to it."""

    def __init__(self, python: Path) -> None:
        pipes = open_pairs(os.pipe, os.pipe)
        (stdin, self._requests), (self._responses, stdout) = pipes
        for fd in (self._requests, self._responses):
            os.set_blocking(fd, False)
        try:
            self._child = Child(command(python), env=variables(), stdin=stdin, stdout=stdout, stderr=2)
        except BaseException:
            os.close(self._requests)
            os.close(self._responses)
            raise
        finally:
            os.close(stdin)
            os.close(stdout)
        self._received = bytearray()
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        stop = functools.partial(self._loop.remove_reader, self._responses)
        self._loop.add_reader(self._responses, read_into, self._responses, self._receive, stop)

    def _receive(self, data: bytes) -> None:
        self._received += data
        if data.endswith(b"\n"):
            self._news.set()

    async def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        self._received.clear()
        self._news.clear()
        try:
            async with asyncio.timeout(timeout):
                await write_all(self._requests, json.dumps(request).encode() + b"\n")
                news = asyncio.ensure_future(self._news.wait())
                try:
                    await first_of(news, self._child.ended)
                finally:
                    news.cancel()
        except TimeoutError as error:
            raise Unanswered(f"the BFCL checker did not answer within {timeout:.3g} s") from error
        drain(self._responses, self._receive)
        if not self._received.endswith(b"\n"):
            raise InfrastructureError("the BFCL checker ended without an answer")
        answer: dict[str, Any] = json.loads(self._received)
        return answer

    async def close(self) -> None:
        """Kill it with what it started."""
        self._child.kill_tree()
        await self._child.ended
        self._loop.remove_reader(self._responses)
        os.close(self._requests)
        os.close(self._responses)


def ask_once(op: str, category: str) -> Any:
    """The result of a request, from a worker of its own; blocks.

    Raises:
        UserError: if `bfcl-eval` cannot be had.
        InfrastructureError: if the worker failed.
    """
    request = json.dumps({"op": op, "category": category}) + "\n"
    argv = command(interpreter())
    try:
        done = subprocess.run(argv, env=variables(), input=request, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise InfrastructureError(f"the BFCL checker did not answer within {_TIMEOUT:.0f} s") from error
    answer = json.loads(done.stdout or "{}")
    if "result" not in answer:
        raise InfrastructureError(f"the BFCL checker failed:\n{answer.get('failure', done.stderr)}")
    return answer["result"]


def command(python: Path) -> list[str]:
    """The worker as `python` runs it, without this package's modules or the user's on its path."""
    return [str(python), "-I", str(Path(__file__).with_name("worker.py"))]


def variables() -> dict[str, str]:
    """The whole environment of a worker. The package makes a folder for results wherever it is imported."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "BFCL_PROJECT_ROOT": str(directory() / "project")}
