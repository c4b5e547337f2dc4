"""Driving tools in tests."""

import asyncio
from typing import Any

from claw_envs.toolcall.tools.base import Tool, ToolResult

PATIENT = 60.0


def called(tool: Tool, timeout: float = PATIENT, **arguments: Any) -> ToolResult:
    """What a call of the tool gave, on a loop of its own."""
    assert tool.check(arguments) is None
    return asyncio.run(tool.call(arguments, timeout=timeout))
