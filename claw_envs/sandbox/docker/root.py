"""Swap the root of containers whose engine runs on this host, for an owner that is root: a reset in milliseconds, and a
limit on what an episode writes. `root_helper` does it, in one process for all containers of this one.

Not covered: an engine elsewhere, or whose containers have a user namespace; an engine that itself lies on an overlay,
whose containers cannot have another on top. There a container keeps the root that its engine gave it.
"""

import atexit
import contextlib
import errno
import functools
import itertools
import json
import os
import select
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from claw_envs.core.errors import InfrastructureError
from claw_envs.sandbox.docker import root_helper
from claw_envs.sandbox.docker.engine import in_thread

_VERIFIER_MB = 128
"""What the verifier may write on top of a disk that the agent has filled."""
_ANSWER_TIMEOUT = 30.0
_CANNOT = {errno.EINVAL, errno.EPERM, errno.ENOSYS, errno.ENODEV, errno.EOPNOTSUPP, errno.ELOOP}
_keys = itertools.count()


class SwapError(InfrastructureError):
    """The kernel cannot do it with this container."""


class Root:
    """The layers of one container's root. Use `Root.adopt`."""

    def __init__(self, *, disk_mb: int) -> None:
        self._helper = helper()
        self._key = f"c{next(_keys)}"
        self._disk_mb = disk_mb

    @classmethod
    async def adopt(cls, host_pid: int, *, disk_mb: int, workdir: str, uid: int, gid: int) -> "Root":
        """Put a layer of at most `disk_mb` MiB over the root of a container that has just started.

        Args:
            host_pid: of its first process.
            workdir: made where it is missing, owned by `uid` and `gid`.

        Raises:
            SwapError: if the kernel cannot do it; the container then is as it was.
            InfrastructureError: if it fails, or there is no helper to do it.
        """
        root = cls(disk_mb=disk_mb)
        try:
            await root._ask("adopt", pid=host_pid, disk_mb=disk_mb, workdir=workdir, uid=uid, gid=gid)
        except BaseException:
            await root.drop()
            raise
        return root

    async def kill(self) -> None:
        """Kill every process of the container but its first."""
        await self._ask("kill")

    async def freeze(self) -> None:
        """Kill all; what was written so far is where `reset` goes back to."""
        await self._ask("freeze")

    async def reset(self) -> None:
        """Kill all, and drop what was written."""
        await self._ask("reset")

    async def grow(self) -> None:
        """Give the verifier room."""
        await self._ask("grow", disk_mb=self._disk_mb + _VERIFIER_MB)

    async def drop(self) -> None:
        """Forget the container."""
        with contextlib.suppress(InfrastructureError):  # the helper has gone, and the layers with it
            await self._ask("drop")

    async def _ask(self, do: str, **request: Any) -> None:
        await self._helper.request(do=do, key=self._key, **request)


class _Helper:
    """The process that swaps. It answers one request after the other, each within some milliseconds."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, "roots")
        command = [sys.executable, "-I", "-S", root_helper.__file__]
        try:
            self._process = subprocess.Popen(
                command, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise InfrastructureError(f"no process could be started: {error}") from error
        atexit.register(self._end, os.getpid())

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    async def request(self, **request: Any) -> None:
        """Ask and wait for the answer.

        Raises:
            SwapError: if the kernel cannot do it.
            InfrastructureError: if the helper fails, hangs or is gone.
        """
        await in_thread(self._threads, functools.partial(self._request, request))

    def _request(self, request: dict[str, Any]) -> None:
        asks, answers = self._process.stdin, self._process.stdout
        assert asks is not None
        assert answers is not None
        answer = b""
        with contextlib.suppress(BrokenPipeError):
            asks.write(json.dumps(request).encode() + b"\n")
            if not select.select([answers], [], [], _ANSWER_TIMEOUT)[0]:
                self._process.kill()
            answer = answers.readline()
        if not answer:
            raise InfrastructureError("the helper that swaps the roots of containers is gone")
        said = json.loads(answer)
        if "error" in said:
            kind = SwapError if said["errno"] in _CANNOT else InfrastructureError
            raise kind(f"{request['do']} of a container's root: {said['error']}")

    def let_go(self) -> None:
        """Close our ends of its pipes; without the owner's it ends."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _end(self, owner: int) -> None:
        if os.getpid() == owner:
            self.let_go()
            self._process.wait()


_running: list[_Helper] = []
"""The helper of this process, once it was needed."""


def helper() -> _Helper:
    """The helper of this process; a new one where it has gone, for the containers to come."""
    if not (_running and _running[0].alive):
        _running[:] = [_Helper()]
    return _running[0]


def _forget_in_fork() -> None:
    for inherited in _running:
        inherited.let_go()
    _running.clear()


os.register_at_fork(after_in_child=_forget_in_fork)
