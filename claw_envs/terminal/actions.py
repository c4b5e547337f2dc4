"""The agent's message, read as what to do in the terminal; its forms are those of `claw_envs.wire.toolset`.

The tools are those of `claw_envs.terminal.tools`.
"""

from typing import Any

from claw_envs.core.env import Action
from claw_envs.terminal.tools import TOOLSET, Tool
from claw_envs.wire.toolset import Call


def parse(action: Action | Any) -> list[Call[Tool]]:
    """What `action` asks for, in order; at least one entry.

    >>> parse("I look first.\\n```bash\\nls\\n```")
    [Call(tool=Run(command='ls', timeout=None), id=None)]
    """
    return TOOLSET.parse(action)
