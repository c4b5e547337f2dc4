"""What the agent's calls do in a sandbox: the persistent shell, programs on terminals, files.

All of it happens as the agent's user inside, so that permissions, links and disk limits are the agent's.
"""

from claw_envs.core.results import Result, not_run
from claw_envs.sandbox.acting import command_result, write_file
from claw_envs.sandbox.base import Sandbox, Shell
from claw_envs.terminal.keys import encode_keys
from claw_envs.terminal.programs import Programs
from claw_envs.terminal.tools import Finish, Press, Run, Start, Stop, Tool, Type, View, Write


class Machine:
    """A started sandbox as the agent of one episode uses it."""

    def __init__(self, sandbox: Sandbox, shell: Shell) -> None:
        self.sandbox = sandbox
        self._shell = shell
        self._programs = Programs(sandbox)
        self._cwd = sandbox.workdir

    async def do(self, tool: Tool, limit: float) -> Result:
        """Carry out one call within `limit` seconds.

        Raises:
            InfrastructureError: if the sandbox is gone.
        """
        match tool:
            case Run():
                return await self._run(tool, limit)
            case Start():
                return await self._programs.start(tool.command, cwd=self._cwd, limit=limit)
            case View():
                return await self._programs.view(tool.process, wait=tool.wait, limit=limit)
            case Type():
                return await self._programs.type(tool.process, tool.text.encode(), limit=limit)
            case Press():
                return await self._programs.type(tool.process, encode_keys(tool.keys), limit=limit)
            case Stop():
                return await self._programs.stop(tool.process)
            case Write():
                return await self._write(tool, limit)
            case Finish():
                return Result("submitted", "The work is being checked.", ran=False)

    async def _run(self, call: Run, limit: float) -> Result:
        timeout = min(call.timeout or limit, limit)
        result = await self._shell.run(call.command, timeout=timeout)
        self._cwd = result.cwd or self._cwd
        return command_result(result, timeout=timeout)

    async def _write(self, call: Write, limit: float) -> Result:
        content = call.content.encode()
        try:
            result = await write_file(self.sandbox, call.path, content, cwd=self._cwd, timeout=limit)
        except OSError as error:
            return not_run(f"The file cannot be written: {error}")
        return command_result(result, timeout=limit)

    async def close(self) -> None:
        """End the programs; the shell goes with the sandbox's agent."""
        await self._programs.close()
