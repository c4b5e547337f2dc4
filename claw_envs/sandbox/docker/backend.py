"""The `docker` backend: containers of any engine that speaks Docker's interface, Podman's too.

Isolates as `create` says. The agent is the user that its image names, the verifier is root; where the image's user is
root too, nothing but the verifier's fresh processes and files keeps them apart, and the agent can end its own sandbox.

Where this process is root on the engine's host, an episode's files lie in a layer of limited size (`root`), which a
reset drops in some milliseconds. Elsewhere there is no limit on what is written to disk, and a reset replaces the
container by a new one, which takes as long as a start.

Does not isolate: the kernel itself, and time. An image that names volumes gets none of them where the root is swapped.
"""

import asyncio
import errno
import functools
import logging
import os
import posixpath
from collections.abc import Callable
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.docker.account import Account, find_account
from claw_envs.sandbox.docker.build import find_image
from claw_envs.sandbox.docker.container import ROOT, Container
from claw_envs.sandbox.docker.create import create, discard
from claw_envs.sandbox.docker.engine import Engine, connect
from claw_envs.sandbox.docker.link import ExecPipe, ExecTerminal, exec_link
from claw_envs.sandbox.docker.root import Root, SwapError
from claw_envs.sandbox.docker.stream import Command
from claw_envs.sandbox.docker.sweep import sweep_once
from claw_envs.sandbox.egress import Egress
from claw_envs.sandbox.process.child import to_the_end
from claw_envs.sandbox.process.files import FILE_TIMEOUT, GET, PUT, UNPACK, archive, check_get, check_put
from claw_envs.sandbox.process.output import Capture
from claw_envs.sandbox.process.setup import set_up
from claw_envs.sandbox.process.shell import BashShell
from claw_envs.sandbox.process.tty import TERM

_log = logging.getLogger(__name__)
_MAKE_WORKDIR = '[ -d "$1" ] || { mkdir -p -- "$1" && chown "$2" -- "$1"; }'
# the size is set before the program begins, so that it never sees another
_IN_TERMINAL = 'stty rows "$0" columns "$1"; exec /bin/bash -c "$2"'
_LONGEST_ARGUMENT, _MOST_ARGUMENTS = 128 << 10, 2 << 20
"""Bytes that Linux lets a program have."""


class DockerSandbox:
    """See the module. Use on one event loop."""

    def __init__(self, spec: SandboxSpec) -> None:
        self.spec = spec
        self.workdir = spec.workdir
        self._engine: Engine | None = None
        self._image: dict[str, Any] = {}
        self._container: Container | None = None
        self._account = Account(ROOT, 0, 0, {})
        self._egress: Egress | None = None
        self._env: dict[str, str] = {}
        self._shells: list[BashShell | ExecTerminal | ExecPipe] = []

    @property
    def resets_in_place(self) -> bool:
        """Whether, once started, a reset is a matter of milliseconds and the disk is limited."""
        return self._container is not None and self._container.root is not None

    async def start(self) -> None:
        """See `Sandbox.start`."""
        self._engine = await asyncio.to_thread(connect)
        await self._engine.call(sweep_once, self._engine)
        self._image = await find_image(self._engine, self.spec)
        workdir = self.spec.workdir or (self._image["Config"] or {}).get("WorkingDir") or "/"
        self.workdir = posixpath.normpath(posixpath.join("/", workdir))
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> None:
        assert self._engine is not None
        container = await create(self._engine, self._image["Id"], self.spec)
        self._container = container
        self._account = await find_account(container, self._image)
        if not isinstance(self.spec.network, str):
            await self._open_egress(self.spec.network)
        await self._adopt(container)
        if self.spec.files:
            await self._copy_files()
        await set_up(self)
        if container.root is not None and (self.spec.files or self.spec.setup):
            await container.root.freeze()

    async def _open_egress(self, hosts: tuple[str, ...]) -> None:
        assert self._container is not None
        if self._container.host_pid is None:
            raise UserError("an allow-list of hosts needs root on the engine's host: use network none or full")
        self._egress = Egress(hosts)
        await self._egress.start(self._container.host_pid)
        self._env = self._egress.env

    async def _adopt(self, container: Container) -> None:
        """Take the root over where that can be done, and make the working directory."""
        account = self._account
        if container.host_pid is not None:
            try:
                container.root = await Root.adopt(
                    container.host_pid,
                    disk_mb=self.spec.disk_mb,
                    workdir=self.workdir,
                    uid=account.uid,
                    gid=account.gid,
                )
                return
            except SwapError as error:
                _warn(str(error))
        argv = ["/bin/sh", "-c", _MAKE_WORKDIR, "sh", self.workdir, f"{account.uid}:{account.gid}"]
        await self._check_done("the working directory", argv)

    async def _copy_files(self) -> None:
        content = archive(self.spec.files, uid=self._account.uid, gid=self._account.gid)
        await self._check_done("the task's files", UNPACK, stdin=content)

    async def _check_done(self, what: str, argv: list[str], *, stdin: bytes = b"") -> None:
        result = await self.exec(argv, timeout=FILE_TIMEOUT, user="verifier", cwd="/", stdin=stdin)
        if result.exit_code != 0:
            how = "timed out" if result.timed_out else f"exit code {result.exit_code}"
            raise InfrastructureError(f"{what}: {how}: {result.output[-2000:].strip()}")

    def _running(self) -> Container:
        if self._container is None:
            raise InfrastructureError("the sandbox is not running")
        return self._container

    def _command(
        self,
        argv: list[str],
        *,
        user: str,
        env: dict[str, str] | None,
        cwd: str | None,
        stdin: bytes | None = b"",
        tty: bool = False,
        joined: bool = True,
        raw: bool = False,
    ) -> Command:
        _check_arguments(argv)
        own = self._env | (self.spec.env if user == "agent" else {}) | (env or {})
        return Command(
            argv,
            user=ROOT if user == "verifier" else self._account.user,
            env=self._account.env(user, own),
            cwd=cwd or self.workdir,
            strict=cwd is not None,
            stdin=stdin,
            tty=tty,
            joined=joined,
            raw=raw,
        )

    async def exec(
        self,
        argv: list[str],
        *,
        timeout: float,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        user: str = "agent",
        stdin: bytes = b"",
    ) -> ExecResult:
        """See `Sandbox.exec`."""
        container = self._running()
        capture = Capture(self.spec.output_bytes)
        command = self._command(argv, user=user, env=env, cwd=cwd, stdin=stdin)
        code = await container.run(command, timeout=timeout, stdout=capture.feed)
        output, missing = capture.take()
        return ExecResult(output, code, code is None, missing, cwd or self.workdir)

    async def shell(self) -> BashShell:
        """See `Sandbox.shell`."""
        container = self._running()
        command = self._command([], user="agent", env=None, cwd=None)
        connect = exec_link(container, user=command.user, env=command.env, cwd=command.cwd)
        shell = BashShell(connect, output_bytes=self.spec.output_bytes, recover=self._recover)
        await shell.start()
        self._shells.append(shell)
        return shell

    async def _recover(self) -> None:
        """Free what the agent holds, process slots above all."""
        container = self._running()
        await container.check()
        await container.kill_all()

    async def terminal(
        self, command: str, *, sink: Callable[[bytes], None], cwd: str | None = None, rows: int = 24, columns: int = 80
    ) -> ExecTerminal:
        """See `Sandbox.terminal`.

        Raises:
            OSError: if the command cannot be passed to a program.
        """
        container = self._running()
        argv = ["/bin/sh", "-c", _IN_TERMINAL, str(rows), str(columns), command]
        wanted = self._command(argv, user="agent", env={"TERM": TERM}, cwd=cwd, stdin=None, tty=True)
        terminal = await ExecTerminal.open(container, wanted, sink)
        self._shells.append(terminal)
        return terminal

    async def pipe(
        self,
        argv: list[str],
        *,
        sink: Callable[[bytes], None],
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        user: str = "agent",
    ) -> ExecPipe:
        """See `Sandbox.pipe`."""
        container = self._running()
        command = self._command(argv, user=user, env=env, cwd=cwd, stdin=None, joined=False, raw=True)
        pipe = await ExecPipe.open(container, command, sink)
        self._shells.append(pipe)
        return pipe

    async def put(self, path: str, data: bytes, *, mode: int = 0o644, user: str = "agent") -> None:
        """See `Sandbox.put`."""
        argv = ["/bin/sh", "-c", PUT, "sh", path, f"{mode:o}"]
        result = await self.exec(argv, timeout=FILE_TIMEOUT, user=user, stdin=data)
        check_put(path, result)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """See `Sandbox.get`."""
        content = bytearray()
        errors = Capture(4096)
        argv = ["/bin/sh", "-c", GET, "sh", path, str(max_bytes)]
        command = self._command(argv, user="verifier", env=None, cwd=None, joined=False)
        code = await self._running().run(
            command._replace(strict=False), timeout=FILE_TIMEOUT, stdout=content.extend, stderr=errors.feed
        )
        check_get(path, code, errors)
        return bytes(content)

    async def stop_agent(self) -> None:
        """See `Sandbox.stop_agent`. Where its disk is limited, what the agent filled leaves room for the verifier."""
        container = self._running()
        await container.kill_all()
        if container.root is not None:
            await container.root.grow()
        await self._close_shells()

    async def reset(self) -> None:
        """See `Sandbox.reset`. In place where the root is swapped; else a new container takes the old one's."""
        container = self._running()
        if container.root is not None:
            await container.root.reset()
            await self._close_shells()
            return
        await self._stop()
        await self._start()

    async def _close_shells(self) -> None:
        shells, self._shells = self._shells, []
        await asyncio.gather(*(shell.close() for shell in shells))

    async def _stop(self) -> None:
        if self._egress is not None:
            await self._egress.close()
            self._egress = None
        container, self._container = self._container, None
        if container is not None:
            await discard(container)
        await self._close_shells()

    async def close(self) -> None:
        """See `Sandbox.close`."""
        await to_the_end(self._stop())


@functools.cache
def _warn(reason: str) -> None:
    """Say it once."""
    _log.warning("no limit on disk, and slow resets: %s", reason)


def _check_arguments(argv: list[str]) -> None:
    try:
        sizes = [len(word.encode()) for word in argv]
    except UnicodeEncodeError as error:
        raise OSError(errno.EINVAL, f"not an argument: {error}") from error
    if any("\0" in word for word in argv):
        raise OSError(errno.EINVAL, "not an argument: it holds a NUL byte")
    if max(sizes, default=0) >= _LONGEST_ARGUMENT or sum(sizes) >= _MOST_ARGUMENTS:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
