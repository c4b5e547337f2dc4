"""The tools of one episode by name, and the carrying out of a message's calls."""

import difflib
import json
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.core.results import Result, not_run
from claw_envs.toolcall.tools.base import Tool
from claw_envs.toolcall.tools.calling import failure
from claw_envs.toolcall.tools.schema import example, typed
from claw_envs.wire.calls import Call, Malformed


class Toolbox:
    """Tools by name. Use on one event loop.

    Raises:
        UserError: if two have one name.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        uses = Counter(tool.name for tool in tools)
        if repeated := sorted(name for name, count in uses.items() if count > 1):
            raise UserError(f"tools must have names of their own, repeated: {', '.join(repeated)}")
        self._tools = {tool.name: tool for tool in tools}
        self.schemas: tuple[dict[str, Any], ...] = tuple(tool.schema for tool in tools)
        """As OpenAI function schemas."""

    async def run(self, calls: Sequence[Call | Malformed], *, timeout: float) -> list[Result]:
        """Carry out calls one after the other.

        Args:
            calls: in the order in which they are carried out.
            timeout: seconds that all of them may take together.

        Returns:
            A result for each call, also where it could not be carried out.

        Raises:
            InfrastructureError: if what a tool runs on is gone.
        """
        deadline = time.monotonic() + timeout
        return [await self._run(call, timeout=deadline - time.monotonic()) for call in calls]

    async def _run(self, call: Call | Malformed, *, timeout: float) -> Result:
        if isinstance(call, Malformed):
            return not_run(call.problem)
        if timeout <= 0:
            return not_run("this message's time was used up; send it again")
        tool = self._tools.get(call.name)
        if tool is None:
            return not_run(self._unknown(call.name))
        parameters = tool.schema["function"]["parameters"]
        arguments = call.arguments if call.typed else typed(call.arguments, parameters)
        try:
            if problem := tool.check(arguments):
                return not_run(f"{tool.name}: {problem} Write: {json.dumps(example(parameters), ensure_ascii=False)}")
            result = await tool.call(arguments, timeout=timeout)
        except InfrastructureError:
            raise
        except Exception as error:  # a bug in a user's tool costs the agent a call, not the run
            result = failure(error)
        head = result.head or ("error" if result.error else "ok")
        return Result(head, result.text, exit_code=int(result.error))

    def _unknown(self, name: str) -> str:
        if not self._tools:
            return "there are no tools here"
        near = difflib.get_close_matches(name[:128], self._tools, n=1, cutoff=0.5)
        meant = f" Did you mean {near[0]}?" if near else ""
        return f"there is no tool {name[:128]!r}; the tools are {', '.join(self._tools)}.{meant}"
