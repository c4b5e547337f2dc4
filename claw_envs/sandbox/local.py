"""The `local` backend: plain processes of this user in a temporary directory. It isolates nothing.

For trusted commands where no other backend runs. Absolute paths are the host's own; `spec.files` and `put` with an
absolute target go below the temporary directory, which is also where commands start; reset copies the seed back.
No limits but the output's, no users, and stopping the agent stops what its shells and commands started. Not covered:
verifying, which writes to places that here are the host's.
"""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.task import SandboxSpec
from claw_envs.sandbox.base import ExecResult
from claw_envs.sandbox.namespace.host import TOOL_PATH
from claw_envs.sandbox.process.child import Child, communicate, start_time, to_the_end
from claw_envs.sandbox.process.link import child_link
from claw_envs.sandbox.process.output import Capture
from claw_envs.sandbox.process.pipe import ChildPipe
from claw_envs.sandbox.process.setup import set_up
from claw_envs.sandbox.process.shell import BashShell
from claw_envs.sandbox.process.tty import TERM, Tty, program

PREFIX = "claw-envs-local-"
"""Of its directories; pid and start time of the owner follow."""


class LocalSandbox:
    """See the module."""

    def __init__(self, spec: SandboxSpec) -> None:
        if spec.image or spec.build or spec.rootfs or spec.layers:
            raise UserError("the local sandbox runs no image, no rootfs and no layers: use the namespace sandbox")
        warnings.warn("the local sandbox isolates nothing: commands run as you, on this machine", stacklevel=3)
        self.spec = spec
        self.workdir = spec.workdir or "/"
        self._directory: Path | None = None
        self._shells: list[BashShell | Tty | ChildPipe] = []

    async def start(self) -> None:
        """See `Sandbox.start`."""
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{start_time(os.getpid())}-"))
        seed, self._root = self._directory / "seed", self._directory / "root"
        self._root.mkdir()
        self._inside(self.workdir).mkdir(parents=True, exist_ok=True)
        for target, source in self.spec.files.items():
            self._copy_in(target, Path(source))
        await set_up(self)
        shutil.copytree(self._root, seed, symlinks=True)

    def _copy_in(self, target: str, source: Path) -> None:
        if not source.exists():
            raise UserError(f"sandbox file {target}: {source} does not exist")
        place = self._inside(target)
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy(source, place)

    def _check(self) -> None:
        if self._directory is None or not self._root.is_dir():
            raise InfrastructureError("the sandbox is not running")

    def _inside(self, path: str) -> Path:
        if Path(path).is_relative_to(self._root):  # as a shell names its working directory
            path = f"/{Path(path).relative_to(self._root)}"
        place = self._root / PurePosixPath("/", self.workdir, path).relative_to("/")
        if place != self._root and not place.parent.resolve().is_relative_to(self._root.resolve()):
            raise OSError(f"{path} leads out of the sandbox")
        return place

    def _env(self, extra: dict[str, str] | None) -> dict[str, str]:
        fixed = {"PATH": TOOL_PATH, "HOME": str(self._root), "LANG": "C.UTF-8", "TERM": "dumb"}
        return fixed | self.spec.env | (extra or {})

    @staticmethod
    def _at(cwd: Path, argv: list[str]) -> list[str]:
        return ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(cwd), *argv]

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
        """See `Sandbox.exec`. Both users would be you, so there is no verifier.

        Raises:
            UserError: if the verifier is to run.
        """
        self._check()
        _check_user(user)
        place = self._inside(cwd or self.workdir)
        capture = Capture(self.spec.output_bytes)
        code = await communicate(
            self._at(place, argv), env=self._env(env), stdin=stdin, timeout=timeout, stdout=capture.feed
        )
        output, missing = capture.take()
        return ExecResult(output, code, code is None, missing, str(place))

    async def shell(self) -> BashShell:
        """See `Sandbox.shell`."""
        self._check()
        shell = BashShell(child_link(self._spawn, depth=0), output_bytes=self.spec.output_bytes, recover=self._recover)
        await shell.start()
        self._shells.append(shell)
        return shell

    async def _recover(self) -> None:
        self._check()

    def _spawn(self, argv: list[str], stdin: int, stdout: int, stderr: int) -> Child:
        line = self._at(self._inside(self.workdir), argv)
        return Child(line, env=self._env(None), stdin=stdin, stdout=stdout, stderr=stderr)

    async def terminal(
        self, command: str, *, sink: Callable[[bytes], None], cwd: str | None = None, rows: int = 24, columns: int = 80
    ) -> Tty:
        """See `Sandbox.terminal`."""
        self._check()
        line = program(command, str(self._inside(cwd or self.workdir)))
        env = self._env({"TERM": TERM})
        terminal = Tty(
            lambda fd: Child(line, env=env, stdin=fd, stdout=fd, stderr=fd),
            sink=sink,
            check=self._check_lives,
            rows=rows,
            columns=columns,
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
        """See `Sandbox.pipe`. There is no verifier.

        Raises:
            UserError: if the verifier is to run.
        """
        self._check()
        _check_user(user)
        line, own = self._at(self._inside(cwd or self.workdir), argv), self._env(env)
        pipe = ChildPipe(
            lambda stdin, stdout, stderr: Child(line, env=own, stdin=stdin, stdout=stdout, stderr=stderr),
            sink=sink,
            check=self._check_lives,
        )
        self._shells.append(pipe)
        return pipe

    async def _check_lives(self, code: int) -> None:
        self._check()

    async def put(self, path: str, data: bytes, *, mode: int = 0o644, user: str = "agent") -> None:
        """See `Sandbox.put`."""
        self._check()
        place = self._inside(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """See `Sandbox.get`."""
        self._check()
        place = self._inside(path)
        if not place.resolve().is_relative_to(self._root.resolve()):
            raise OSError(f"{path} leads out of the sandbox")
        with place.open("rb") as file:
            return file.read(max_bytes)

    async def stop_agent(self) -> None:
        """See `Sandbox.stop_agent`."""
        shells, self._shells = self._shells, []
        for shell in shells:
            await shell.close()

    async def reset(self) -> None:
        """See `Sandbox.reset`."""
        self._check()
        assert self._directory is not None
        await self.stop_agent()
        shutil.rmtree(self._root)
        shutil.copytree(self._directory / "seed", self._root, symlinks=True)

    async def close(self) -> None:
        """See `Sandbox.close`."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        await self.stop_agent()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None


def _check_user(user: str) -> None:
    if user == "verifier":
        raise UserError(
            "the local sandbox cannot verify: tests would replace /tests and /logs/verifier of this machine; "
            "use the namespace or docker sandbox"
        )
