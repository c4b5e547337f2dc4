"""The holder: one process that owns a sandbox's namespaces, and PID 1 of everything that runs inside.

It is a bash in new user, mount, pid, ipc and (unless the network is granted) net namespaces. It sees the host's
files with the sandbox's first id, never with the owner's, and executes what the owner sends: mounts, kills. Its
standard input is the sandbox's life line: when the owner is gone, killed too, it ends, and the kernel kills all that is
in the pid namespace and drops the mounts, whichever thread started it (a parent-death signal would follow the thread).

Not covered: a child that the owner forks without exec keeps the line open unless Python made the fork.
"""

import asyncio
import errno
import os
import re
import signal
import sys
import weakref
from pathlib import Path

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.sandbox.namespace import idmap
from claw_envs.sandbox.namespace.host import AGENT_UID, ROOT_UID, TOOL_PATH, Identity, tools
from claw_envs.sandbox.process.child import (
    Child,
    children,
    communicate,
    drain,
    first_of,
    open_pairs,
    read_into,
    send_signal,
    write_all,
)
from claw_envs.sandbox.process.output import Capture

NAMESPACES_FIX = (
    "this machine lets this user make no namespaces: `sysctl -w user.max_user_namespaces=15000 "
    "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0`, in a container `--privileged`"
)
_BUSY = (os.strerror(errno.EAGAIN), os.strerror(errno.ENOMEM))
"""What `unshare` says where the machine has no room for one more process, which is nobody's mistake."""
_LOOPBACK = """import fcntl, socket, struct
with socket.socket() as s: fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x41))"""  # SIOCSIFFLAGS up, running
_lines: "weakref.WeakSet[Holder]" = weakref.WeakSet()


class Holder:
    """Starts, commands and ends the holder process."""

    def __init__(self, *, identity: Identity, network: bool) -> None:
        self._identity = identity
        self._network = network
        self._lock = asyncio.Lock()
        self._replies = bytearray()
        self._waiting: asyncio.Future[str] | None = None
        self._number = 0
        self._fds: list[int] = []
        self._child: Child | None = None
        self.pid = -1
        """Host pid of the process whose namespaces are entered."""

    @property
    def alive(self) -> bool:
        """Whether the namespaces still stand."""
        return self._child is not None and self._child.alive

    async def start(self) -> None:
        """Make the namespaces.

        Raises:
            UserError: if this host does not allow them.
            InfrastructureError: if it is too busy to answer.
            OSError: if it has run out of something.
        """
        tool = tools()
        command = [tool["unshare"], "-U", "-m", "-p", "-i", *([] if self._network else ["-n"])]
        command += ["--fork", "--kill-child", tool["bash"], "--norc", "--noprofile"]
        if self._identity.privileged:
            ids = [f"--reuid={ROOT_UID}", f"--regid={ROOT_UID}", "--clear-groups"]
            command = [tool["setpriv"], *ids, *command]
        (line_read, line), (replies, replies_write) = open_pairs(os.pipe, os.pipe)
        os.set_blocking(line, False)
        os.set_blocking(replies, False)
        self._fds = [line, replies]
        try:
            self._child = Child(
                command, env={"PATH": TOOL_PATH}, stdin=line_read, stdout=replies_write, stderr=replies_write
            )
        finally:
            os.close(line_read)
            os.close(replies_write)
        asyncio.get_running_loop().add_reader(replies, read_into, replies, self._feed, self._ended)
        _lines.add(self)
        try:
            await self.command("true")
            self._map_ids(self._child.pid)
            await self._send_line(f"exec {tool['bash']} --norc --noprofile")  # only now an exec makes it root inside
        except (InfrastructureError, OSError) as error:
            busy = any(words in str(error) for words in _BUSY)
            refused = not busy and (isinstance(error, PermissionError) or not self._child.alive)
            await self.close()
            if refused:
                raise UserError(f"{NAMESPACES_FIX} ({str(error).strip()})") from error
            raise
        inside = children(self._child.pid)
        if not inside:
            raise InfrastructureError("the sandbox has died")
        self.pid = inside[0]
        await self._loopback()

    def _map_ids(self, pid: int) -> None:
        if not self._identity.privileged:
            Path(f"/proc/{pid}/setgroups").write_text("deny")
        Path(f"/proc/{pid}/uid_map").write_text(self._identity.uid_map)
        Path(f"/proc/{pid}/gid_map").write_text(self._identity.gid_map)

    async def _loopback(self) -> None:
        if self._network:
            return
        code, _ = await self.command("command -v ip >/dev/null && ip link set lo up", check=False)
        if code == 0:
            return
        enter = [tools()["nsenter"], f"--net=/proc/{self.pid}/ns/net"]
        if not self._identity.privileged:
            enter += [f"--user=/proc/{self.pid}/ns/user", "--preserve-credentials"]
        command = [*enter, sys.executable, "-I", "-S", "-c", _LOOPBACK]
        ended = await communicate(command, env={}, stdin=b"", timeout=20.0, stdout=lambda _: None)
        if ended != 0:
            raise InfrastructureError("the loopback interface of the sandbox could not be brought up")

    async def bind(self, source: Path, target: Path, *, mapped: bool) -> None:
        """Bind a root file system inside; for a privileged owner.

        Args:
            mapped: whether its owners on disk are already the sandbox's, else they are shifted (see `idmap`).

        Raises:
            UserError: if the kernel or the file system cannot shift owners.
            InfrastructureError: if there is nothing to be bound.
        """
        how = [tools()["mount"], "-n", "--bind"] if mapped else [sys.executable, "-I", "-S", idmap.__file__]
        command = [tools()["nsenter"], f"--mount=/proc/{self.pid}/ns/mnt", *how, str(source), str(target)]
        command += [] if mapped else [str(ROOT_UID), str(AGENT_UID)]
        said = Capture(4096)
        ended = await communicate(command, env={}, stdin=b"", timeout=20.0, stdout=said.feed)
        if ended != 0:
            reason = (said.take()[0].strip().splitlines() or ["timed out"])[-1]
            if mapped:
                raise InfrastructureError(f"image {source} cannot be bound: {reason}")
            raise UserError(
                f"rootfs {source} cannot be bound with its owners shifted, move it to ext4 or xfs: {reason}"
            )

    async def command(self, script: str, *, check: bool = True, timeout: float = 30.0) -> tuple[int, str]:
        """Run a line of shell in the holder: exit code and output.

        Raises:
            InfrastructureError: if the holder has gone, hangs, or (with `check`) the script failed.
        """
        async with self._lock:
            if self._child is None or not self._child.alive:
                raise InfrastructureError("the sandbox has died")
            self._number += 1  # a late reply to a command that was cancelled is not this one's
            self._replies.clear()
            self._waiting = waiting = asyncio.get_running_loop().create_future()
            text = f"{{ {script}\n}} </dev/null 2>&1; printf '\\0%s %s\\0' {self._number} $?"
            try:
                async with asyncio.timeout(timeout):
                    await self._send_line(text)
                    await first_of(waiting, self._child.ended)
                    if self._fds:  # else it was closed meanwhile
                        drain(self._fds[1], self._feed)
            except TimeoutError:
                self.kill()
                raise InfrastructureError(f"the sandbox does not answer: {script}") from None
            finally:
                self._waiting = None
            said = self._replies.decode(errors="replace")
            if not waiting.done():
                raise InfrastructureError(f"the sandbox has died: {said.strip()}")
            output, code = said[: -len(waiting.result())], int(waiting.result().split()[1].strip("\0"))
            if check and code != 0:
                raise InfrastructureError(f"{script}: {output.strip()}")
            return code, output

    async def _send_line(self, text: str) -> None:
        await write_all(self._fds[0], f"{text}\n".encode())

    def _feed(self, data: bytes) -> None:
        self._replies += data
        end = re.search(rb"\x00%d \d+\x00$" % self._number, self._replies)
        if end and self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(end[0].decode())

    def _ended(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fds[1])

    def kill(self) -> None:
        """Kill the namespaces with all that runs in them."""
        if self._child is not None and self._child.alive:
            for pid in children(self._child.pid):
                send_signal(pid, signal.SIGKILL)
            self._child.kill()

    async def close(self) -> None:
        """Kill it and wait until it has gone."""
        self.kill()
        if self._child is not None:
            await self._child.ended
        if self._fds:
            asyncio.get_running_loop().remove_reader(self._fds[1])
        self.close_line()

    def close_line(self) -> None:
        """Give up the life line."""
        while self._fds:
            os.close(self._fds.pop())


def _forget_in_fork() -> None:
    for holder in list(_lines):
        holder.close_line()


os.register_at_fork(after_in_child=_forget_in_fork)
