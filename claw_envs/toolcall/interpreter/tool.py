"""The tool `python`: an episode's interpreter, in its sandbox."""

from typing import Any

from claw_envs.core.errors import UserError
from claw_envs.sandbox.lease import Lease
from claw_envs.toolcall.interpreter.session import Interpreter
from claw_envs.toolcall.tools.arguments import ArgumentCheck
from claw_envs.toolcall.tools.base import Tool, ToolResult

NAME = "python"
SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": (
            "Run Python code. Variables, functions and imports are kept for later calls. What the code prints is "
            "shown, and the value of its last line where that is an expression."
        ),
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The code to run."}},
            "required": ["code"],
            "additionalProperties": False,
        },
    },
}


class PythonTool:
    """A `Tool`. Made by `PythonTools`."""

    name = NAME
    schema = SCHEMA

    def __init__(self, interpreter: Interpreter, arguments: ArgumentCheck) -> None:
        self._interpreter, self._arguments = interpreter, arguments

    def check(self, arguments: dict[str, Any]) -> str | None:
        """See `Tool.check`."""
        problem = self._arguments.problem(arguments)
        if problem is None and not arguments["code"].strip():
            return "the code is empty."
        return problem

    async def call(self, arguments: dict[str, Any], *, timeout: float) -> ToolResult:
        """See `Tool.call`. Takes some seconds longer than `timeout` where the interpreter must be replaced."""
        result = await self._interpreter.run(arguments["code"], timeout=timeout)
        head = f"stopped after {timeout:.3g} s" if result.timed_out else None
        return ToolResult(result.text, result.error, head)


class PythonTools:
    """A `ToolSource`: one fresh interpreter for each episode."""

    def __init__(self) -> None:
        self._interpreter: Interpreter | None = None
        self._arguments = ArgumentCheck(NAME, SCHEMA["function"]["parameters"])

    async def start(self, lease: Lease) -> list[Tool]:
        """See `ToolSource.start`."""
        await self.close()
        if lease.sandbox is None:
            raise UserError("the tool `python` needs a sandbox: give the task a `sandbox`")
        self._interpreter = Interpreter(lease.sandbox)
        await self._interpreter.start()
        return [PythonTool(self._interpreter, self._arguments)]

    async def close(self) -> None:
        """See `ToolSource.close`."""
        interpreter, self._interpreter = self._interpreter, None
        if interpreter is not None:
            await interpreter.close()
