"""Where the agent of one episode works: a sandbox with the repository, its shell, its files."""

import re

from claw_envs.core.errors import InfrastructureError
from claw_envs.core.results import Result
from claw_envs.sandbox.acting import command_result
from claw_envs.sandbox.base import Sandbox, Shell
from claw_envs.swe.editor import Editor
from claw_envs.swe.instance import REPOSITORY
from claw_envs.swe.tools import Bash, Edit, Submit, Tool, View, Write

_FIND_START = f"cd {REPOSITORY} && git rev-parse --verify 'HEAD^{{tree}}'"
_TREE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_GIT_TIMEOUT = 60.0


class Workplace:
    """See the module. Use `Workplace.open`."""

    def __init__(self, sandbox: Sandbox, shell: Shell, start: str) -> None:
        self.sandbox = sandbox
        self.start = start
        """Id of the tree that the repository began with."""
        self._shell, self._editor = shell, Editor(sandbox)
        self._cwd = REPOSITORY

    @classmethod
    async def open(cls, sandbox: Sandbox, shell: Shell) -> "Workplace":
        """Begin to work.

        Raises:
            InfrastructureError: if there is no repository, or the sandbox is gone.
        """
        found = await shell.run(_FIND_START, timeout=_GIT_TIMEOUT)
        start = found.output.strip()
        if not _TREE.fullmatch(start):
            raise InfrastructureError(f"no repository at {REPOSITORY}: {start[-500:] or 'git does not answer'}")
        return cls(sandbox, shell, start)

    async def do(self, tool: Tool, limit: float) -> Result:
        """Carry out one call within `limit` seconds.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        match tool:
            case Bash():
                result = await self._shell.run(tool.command, timeout=limit)
                self._cwd = result.cwd or self._cwd
                return command_result(result, timeout=limit)
            case View():
                return await self._editor.view(tool, cwd=self._cwd, limit=limit)
            case Edit():
                return await self._editor.edit(tool, cwd=self._cwd, limit=limit)
            case Write():
                return await self._editor.write(tool, cwd=self._cwd, limit=limit)
            case Submit():
                return Result("submitted", "The repair is being tested.", ran=False)
