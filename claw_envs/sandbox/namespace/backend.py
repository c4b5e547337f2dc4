"""The `namespace` backend: Linux namespaces and bubblewrap over an overlay; no daemon, root or not.

Isolates: files (of the host only its programs, read-only, or with an exported image not even those), processes, network
(none, hosts that the spec allows through a proxy, or with `full` the host's own), ipc, host name, environment,
descriptors; limits memory, tasks, cpu (`cgroup`), disk (`overlay`) and output. The agent is uid 1000 without
capabilities. Owned by root, agent and verifier have host ids of their own; owned by an ordinary user both are that
user's id, and what keeps them apart is that the agent is stopped before the verifier runs.

Does not isolate: the kernel itself (no virtual machine; `seccomp` denies what no agent needs), time, and, with
`network="full"`, whatever the host can reach, its loopback and abstract sockets too. In an image the agent may change
every file, programs that the verifier runs among them, as root may in a container.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.egress import Egress
from claw_envs.sandbox.namespace.bwrap import LAUNCHER_ENV, command_line
from claw_envs.sandbox.namespace.cgroup import Limiter
from claw_envs.sandbox.namespace.holder import Holder
from claw_envs.sandbox.namespace.host import AGENT_UID, Identity, identity
from claw_envs.sandbox.namespace.overlay import Layers
from claw_envs.sandbox.namespace.root import Root, find_root
from claw_envs.sandbox.namespace.state import State
from claw_envs.sandbox.namespace.sweep import sweep_once
from claw_envs.sandbox.process.child import Child, communicate, to_the_end
from claw_envs.sandbox.process.files import FILE_TIMEOUT, GET, PUT, UNPACK, archive, check_get, check_put
from claw_envs.sandbox.process.link import child_link
from claw_envs.sandbox.process.output import Capture
from claw_envs.sandbox.process.pipe import ChildPipe
from claw_envs.sandbox.process.setup import set_up
from claw_envs.sandbox.process.shell import BashShell
from claw_envs.sandbox.process.tty import TERM, Tty, program

_KILL_ALL = """until kill -9 -1 2>/dev/null; alive=0
for process in /proc/[1-9]*; do
    { read -rd '' stat || [ "$stat" ]; } 2>/dev/null <$process/stat || continue
    set -- ${stat##*) }
    [ "$1 ${18}" = "Z 1" ] || alive=$((alive + 1))
done
[ $alive = 1 ]; do :; done"""
"""In the holder, which is PID 1: every process of the sandbox but itself, at one stroke, until all have gone. What
has ended, its last thread too, has gone: its parent may be outside of the sandbox, and take its time to notice."""
_SILENT_ROUTE = "ip route add 10.255.255.1 dev lo src 127.0.0.1"
"""To where nobody ever answers, as tests of time-outs take for granted; anywhere else a program is told at once that
there is no network. Only where the host has `ip`."""
_KEEP_TIMEOUT = 600.0
_SHELL_DEPTH = 2
"""nsenter, bubblewrap, bash."""


class NamespaceSandbox:
    """See the module. Use on one event loop."""

    def __init__(self, spec: SandboxSpec) -> None:
        self.spec = spec
        self.workdir = spec.workdir
        self._identity = identity()
        self._network = spec.network == "full"
        self._holder = Holder(identity=self._identity, network=self._network)
        self._state: State | None = None
        self._layers: Layers | None = None
        self._limiter: Limiter | None = None
        self._egress: Egress | None = None
        self._filter: Path | None = None
        self._env: dict[str, str] = {}
        self._shells: list[BashShell | Tty | ChildPipe] = []

    async def start(self) -> None:
        """See `Sandbox.start`."""
        root = await asyncio.to_thread(_prepare, self.spec, self._identity)
        try:
            await self._start(root)
        except BaseException as error:
            await self.close()
            if isinstance(error, OSError):
                raise InfrastructureError(f"the sandbox could not be started: {error}") from error
            raise

    async def _start(self, root: Root) -> None:
        self.workdir, self._env = root.workdir, dict(root.env)
        self._state = State.create(self._identity)
        self._filter = self._state.filter()
        self._layers = self._make_layers(self._state, root)
        self._limiter = Limiter(self._state.name, spec=self.spec)
        await self._holder.start()
        self._state.label(holder=self._holder.pid, groups=self._limiter.groups)
        if self.spec.network == "none":
            await self._holder.command(_SILENT_ROUTE, check=False)
        if not isinstance(self.spec.network, str):
            self._egress = Egress(self.spec.network)
            await self._egress.start(self._holder.pid)
            self._env |= self._egress.env
        for bound in self._layers.bound:
            await self._holder.bind(bound.source, bound.point, mapped=bound.mapped)
        await self._holder.command(self._layers.mount())
        if self.spec.files:
            await self._copy_files()
        await set_up(self)
        if self.spec.files or self.spec.setup:
            await self._holder.command(f"{_KILL_ALL}; {self._layers.freeze()}")

    def _make_layers(self, state: State, root: Root) -> Layers:
        layers = Layers(
            state.path,
            base=root.base or state.base(),
            whole=root.base is not None,
            mapped=root.mapped,
            layers=root.layers,
            workdir=root.workdir,
            disk_mb=self.spec.disk_mb,
            agent_owns=self._identity.privileged,
        )
        for directory in layers.directories():
            directory.mkdir(mode=0o755)
        return layers

    async def _copy_files(self) -> None:
        owner = AGENT_UID if self._identity.privileged else 0
        content = archive(self.spec.files, uid=owner, gid=owner)
        result = await self._run(UNPACK, user="verifier", cwd="/", stdin=content, timeout=FILE_TIMEOUT)
        if result.exit_code != 0:
            raise InfrastructureError(f"the task's files could not be copied in: {result.output[-2000:].strip()}")

    def _check(self) -> None:
        if self._state is None or not self._holder.alive:
            raise InfrastructureError("the sandbox has died" if self._state else "the sandbox is not running")

    async def _check_lives(self, code: int | None) -> None:
        """After a failed command: a dying sandbox kills the command first and itself last, so ask it."""
        self._check()
        if code != 0:
            await self._holder.command("true")

    def _command(self, argv: list[str], *, user: str, env: dict[str, str], cwd: str | None) -> list[str]:
        """The command line for `argv`; without `cwd` in the working directory, or in `/` where the agent removed it."""
        self._check()
        if cwd is None:
            argv = ["/bin/sh", "-c", 'cd -- "$0" 2>/dev/null; exec "$@"', self.workdir, *argv]
        assert self._layers is not None
        assert self._limiter is not None
        line = command_line(
            self._limiter.inside(argv),
            holder=self._holder.pid,
            identity=self._identity,
            layers=self._layers,
            user=user,
            base_env=self._env,
            env=env,
            cwd=cwd or "/",
            network=self._network,
            filtered=self._filter is not None,
        )
        return self._limiter.enter(line, opened=self._filter)

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
        """See `Sandbox.exec`. The verifier gets nothing of the spec's environment.

        Raises:
            OSError: if `argv` cannot be passed to a program.
        """
        own = self._env_of(user, env)
        return await self._run(argv, user=user, cwd=cwd, stdin=stdin, timeout=timeout, env=own)

    async def _run(
        self,
        argv: list[str],
        *,
        user: str,
        stdin: bytes,
        timeout: float,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
    ) -> ExecResult:
        capture = Capture(self.spec.output_bytes)
        line = self._command(argv, user=user, env=env or {}, cwd=cwd)
        code = await communicate(line, env=LAUNCHER_ENV, stdin=stdin, timeout=timeout, stdout=capture.feed)
        await self._check_lives(code)
        output, missing = capture.take()
        return ExecResult(output, code, code is None, missing, cwd or self.workdir)

    async def shell(self) -> BashShell:
        """See `Sandbox.shell`."""
        connect = child_link(self._spawn_shell, depth=_SHELL_DEPTH)
        shell = BashShell(connect, output_bytes=self.spec.output_bytes, recover=self._recover)
        await shell.start()
        self._shells.append(shell)
        return shell

    async def _recover(self) -> None:
        """Free what the agent holds, process slots above all."""
        self._check()
        await self._holder.command(_KILL_ALL)

    def _spawn_shell(self, argv: list[str], stdin: int, stdout: int, stderr: int) -> Child:
        line = self._command(argv, user="agent", env=self.spec.env, cwd=None)
        return Child(line, env=LAUNCHER_ENV, stdin=stdin, stdout=stdout, stderr=stderr)

    async def terminal(
        self, command: str, *, sink: Callable[[bytes], None], cwd: str | None = None, rows: int = 24, columns: int = 80
    ) -> Tty:
        """See `Sandbox.terminal`.

        Raises:
            OSError: if the command cannot be passed to a program.
        """
        line = self._command(
            program(command, cwd or self.workdir), user="agent", env=self.spec.env | {"TERM": TERM}, cwd="/"
        )
        terminal = Tty(
            lambda fd: Child(line, env=LAUNCHER_ENV, stdin=fd, stdout=fd, stderr=fd),
            sink=sink,
            check=self._check_lives,
            rows=rows,
            columns=columns,
            owner=self._identity.agent if self._identity.privileged else None,
        )
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
    ) -> ChildPipe:
        """See `Sandbox.pipe`.

        Raises:
            OSError: if `argv` cannot be passed to a program.
        """
        line = self._command(argv, user=user, env=self._env_of(user, env), cwd=cwd)
        pipe = ChildPipe(
            lambda stdin, stdout, stderr: Child(line, env=LAUNCHER_ENV, stdin=stdin, stdout=stdout, stderr=stderr),
            sink=sink,
            check=self._check_lives,
        )
        self._shells.append(pipe)
        return pipe

    def _env_of(self, user: str, extra: dict[str, str] | None) -> dict[str, str]:
        """What a command gets beside the sandbox's own; the verifier nothing of the spec's."""
        return (self.spec.env if user == "agent" else {}) | (extra or {})

    async def put(self, path: str, data: bytes, *, mode: int = 0o644, user: str = "agent") -> None:
        """See `Sandbox.put`.

        Raises:
            OSError: if the file cannot be written inside.
        """
        argv = ["/bin/sh", "-c", PUT, "sh", path, f"{mode:o}"]
        result = await self._run(argv, user=user, stdin=data, timeout=FILE_TIMEOUT)
        check_put(path, result)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """See `Sandbox.get`. Of a longer file the first `max_bytes` come back.

        Raises:
            OSError: if it is not a regular file.
        """
        content, errors = bytearray(), Capture(4096)
        argv = ["/bin/sh", "-c", GET, "sh", path, str(max_bytes)]
        line = self._command(argv, user="verifier", env={}, cwd=None)
        code = await communicate(
            line, env=LAUNCHER_ENV, stdin=b"", timeout=FILE_TIMEOUT, stdout=content.extend, stderr=errors.feed
        )
        await self._check_lives(code)
        check_get(path, code, errors)
        return bytes(content)

    async def keep(self, target: Path) -> None:
        """Kill all processes and copy what was written since `start` to a new directory, a layer for other sandboxes.

        Owners, links, and marks of what was removed are kept as they are.

        Args:
            target: on the host; must not exist.

        Raises:
            InfrastructureError: if it cannot be copied.
        """
        self._check()
        assert self._layers is not None
        await self._holder.command(_KILL_ALL)
        await self._close_shells()
        written, said = f"/proc/{self._holder.pid}/root{self._layers.written}", Capture(4096)
        command = ["cp", "-a", "--no-target-directory", written, str(target)]
        code = await communicate(command, env=LAUNCHER_ENV, stdin=b"", timeout=_KEEP_TIMEOUT, stdout=said.feed)
        if code != 0:
            reason = (said.take()[0].strip() or "timed out").splitlines()[0]
            raise InfrastructureError(f"what the sandbox has written cannot be copied to {target}: {reason}")

    async def stop_agent(self) -> None:
        """See `Sandbox.stop_agent`. What the agent filled its disk with leaves room for the verifier."""
        self._check()
        assert self._layers is not None
        await self._holder.command(f"{_KILL_ALL}; {self._layers.grow()}")
        await self._close_shells()

    async def reset(self) -> None:
        """See `Sandbox.reset`."""
        self._check()
        assert self._layers is not None
        assert self._state is not None
        self._state.renew()
        await self._holder.command(f"{_KILL_ALL}; {self._layers.reset()}")
        await self._close_shells()

    async def _close_shells(self) -> None:
        shells, self._shells = self._shells, []
        await asyncio.gather(*(shell.close() for shell in shells))

    async def close(self) -> None:
        """See `Sandbox.close`."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        await self._holder.close()
        await self._close_shells()
        if self._egress is not None:
            await self._egress.close()
        if self._limiter is not None:
            self._limiter.close()
        self._limiter = self._layers = self._egress = None
        if self._state is not None and self._state.remove():
            self._state = None


def _prepare(spec: SandboxSpec, owner: Identity) -> Root:
    """What may block: the first sandbox waits for the death of others, and a large folder is hashed."""
    sweep_once()
    return find_root(spec, owner)
