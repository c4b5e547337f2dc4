"""A running container and the processes in it: start, interrupt and kill them.

Where this process is root on the engine's own host, signals go straight to the processes, by their host pids. Elsewhere
they are sent by a command inside, which cannot tell when a process was started: stopping a shell's command then also
stops what the shell still has in the background; and killing every process is a restart of the container.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from pathlib import Path
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.docker.engine import Engine, NotThereError
from claw_envs.sandbox.docker.root import Root
from claw_envs.sandbox.docker.stream import Command, Sink, Stream
from claw_envs.sandbox.process.child import children, first_of, halted, interrupt_since, send_signal

ROOT = "0:0"
_BEGIN_TIMEOUT = 30.0
_KILL_TIMEOUT = 20.0
_LAST_WORDS = 2.0
"""Seconds that the stream of a killed command gets to end; an engine that still has input for it never ends it."""
_TREE = (
    'tree() { for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$child"; tree "$child"; done; }; '
)
_INTERRUPT = (
    _TREE + 'for shell in $(cat /proc/"$1"/task/*/children); do kill -INT "$shell"; kill -"$2" $(tree "$shell"); done'
)
_KILL = _TREE + 'kill -KILL $(tree "$1") "$1"'


def _ignore(data: bytes) -> None:
    pass


class Container:
    """See the module.

    Args:
        host_pid: of the container's first process, where this process is root on the engine's host.
    """

    def __init__(self, engine: Engine, container_id: str, *, host_pid: int | None) -> None:
        self.engine, self.id, self.host_pid = engine, container_id, host_pid
        self.root: Root | None = None
        """Swaps its root, where that can be done."""

    async def check(self) -> None:
        """Raise `InfrastructureError` where the container does not run any more."""
        state = (await self.engine.call(self.engine.api.inspect_container, self.id))["State"]
        if not state["Running"]:
            raise InfrastructureError(f"the sandbox has died: its container is {state['Status']}")

    async def open(self, command: Command, *, stdout: Sink, stderr: Sink = _ignore, message: Sink = _ignore) -> Stream:
        """Start a command and wait until it runs.

        Args:
            message: gets the messages in the stream that are not the stream's own.

        Raises:
            InfrastructureError: if it cannot be started.
        """
        opening = asyncio.ensure_future(self._open(command, stdout, stderr, message))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                await self.kill(opening.result())
            raise

    async def _open(self, command: Command, stdout: Sink, stderr: Sink, message: Sink) -> Stream:
        mark = secrets.token_hex(8)
        exec_id = await self._create(command.wrapped(mark), command)
        said = bytearray()

        def hear(data: bytes) -> None:
            (stdout if stream.pid.done() else said.extend)(data)

        stream = Stream(exec_id, mark, tty=command.tty, raw=command.raw, stdout=hear, stderr=stderr, message=message)
        body = json.dumps({"Detach": False, "Tty": command.tty}).encode()
        await self.engine.stream(f"/exec/{exec_id}/start", body, lambda: stream)
        await first_of(stream.pid, stream.ended, timeout=_BEGIN_TIMEOUT)
        if not stream.pid.done():
            await stream.close()
            await self.check()
            reason = said.decode(errors="replace").strip() or "it does not answer"
            raise InfrastructureError(f"no process could be started in the container: {reason}")
        if command.stdin:  # an engine loses what it is sent before it has answered
            stream.write(command.stdin)
        if command.raw:
            stream.write(b"\n")
        return stream

    async def _create(self, argv: list[str], command: Command) -> str:
        made: dict[str, Any] = await self.engine.call(
            self.engine.api.exec_create,
            self.id,
            argv,
            user=command.user,
            environment=command.env,
            workdir="/",
            stdin=command.stdin != b"",
            tty=command.tty,
        )
        return str(made["Id"])

    async def run(self, command: Command, *, timeout: float, stdout: Sink, stderr: Sink = _ignore) -> int | None:
        """Run a command to its end, with its output given to the sinks as it comes.

        Ends when the command ends, also where something that it left behind still holds its output open.

        Returns:
            Exit code, 128 + signal for a signal; None where it was stopped by the time-out.

        Raises:
            InfrastructureError: if the container, or its engine, is gone.
        """
        stream = None
        try:
            async with asyncio.timeout(timeout):
                stream = await self.open(command, stdout=stdout, stderr=stderr)
                code = await asyncio.shield(stream.ended)
                return await self.exit_code(stream) if code is None else code
        except TimeoutError:
            return None
        finally:
            if stream is not None:
                await self.kill(stream)

    async def exit_code(self, stream: Stream) -> int:
        """Exit code of a command that ended without a word: it was killed, and its shell with it.

        Raises:
            InfrastructureError: if the container died, which its engine may not have noticed yet.
        """
        asked = await self._open(Command(["true"], user=ROOT, env={}, cwd="/", stdin=b""), *[_ignore] * 3)
        await first_of(asked.ended, timeout=_BEGIN_TIMEOUT)
        await asked.close()
        if asked.ended.done() and asked.ended.result() != 0:
            raise InfrastructureError("the sandbox has died")
        found = await self.engine.call(self.engine.api.exec_inspect, stream.exec_id)
        return 128 + signal.SIGKILL if found["ExitCode"] is None else int(found["ExitCode"])

    async def interrupt(self, stream: Stream, means: signal.Signals, *, since: float) -> None:
        """Interrupt the shell of `stream`, and send `means` to what it has started since (seconds after boot)."""
        if stream.ended.done():
            return
        if self.host_pid is None:
            await self._signal(_INTERRUPT, stream, means.name.removeprefix("SIG"))
            return
        for shell in children(await self._pid(stream)):
            interrupt_since(shell, means, since)

    async def kill(self, stream: Stream) -> None:
        """Kill a command with what descends from it, and let go of it. Nothing happens where it has ended."""
        if not stream.ended.done():
            with contextlib.suppress(InfrastructureError):  # then it is gone with its container
                if self.host_pid is None:
                    await self._signal(_KILL, stream)
                else:
                    pid = await self._pid(stream)
                    for process in halted(pid):
                        send_signal(process, signal.SIGKILL)
                await first_of(stream.closed, timeout=_LAST_WORDS)
        await stream.close()

    async def _pid(self, stream: Stream) -> int:
        """Host pid of the shell around a command that runs."""
        assert self.host_pid is not None
        if stream.host_pid is None:
            stream.host_pid = await asyncio.to_thread(_host_pid, self.host_pid, await stream.pid)
        return stream.host_pid

    async def _signal(self, script: str, stream: Stream, *arguments: str) -> None:
        argv = ["/bin/sh", "-c", script, "sh", str(stream.pid.result()), *arguments]
        command = Command(argv, user=ROOT, env={}, cwd="/", stdin=b"")
        control = await self._open(command, _ignore, _ignore, _ignore)
        await first_of(control.ended, timeout=_KILL_TIMEOUT)
        await control.close()

    async def kill_all(self) -> None:
        """Kill every process of the container but its first; its files stay."""
        if self.root is not None:
            await self.root.kill()
        else:
            await self.engine.call(self.engine.api.restart, self.id, timeout=0)

    async def remove(self) -> None:
        """Remove the container with all that belongs to it. May be called again."""
        if self.root is not None:
            await self.root.drop()
            self.root = None
        with contextlib.suppress(NotThereError):
            await self.engine.call(self.engine.api.remove_container, self.id, force=True, v=True)


def _host_pid(neighbour: int, pid: int) -> int:
    """Host pid of the process that is `pid` in the pid namespace of `neighbour`.

    The engine knows it too, but only some time after the process has begun.
    """
    try:
        namespace = os.stat(f"/proc/{neighbour}/ns/pid").st_ino
    except OSError as error:
        raise InfrastructureError("the sandbox has died") from error
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}/ns/pid").st_ino == namespace:
                status = Path(f"/proc/{name}/status").read_text()
                if status.partition("NSpid:")[2].partition("\n")[0].split()[-1] == str(pid):
                    return int(name)
    raise InfrastructureError("the process has ended")
