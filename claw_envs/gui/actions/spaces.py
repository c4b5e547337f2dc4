"""The action spaces, what can be done in each, and right messages: what an agent is shown whose own cannot be read.

An example is in the form that a space's prompt teaches: a block of calls for `elements`, `<tool_call>` for
`computer_use`, JSON for `computer_13`, a block of code for `pyautogui`.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, get_args

from claw_envs.gui.actions import computer_13, computer_use, elements

Space = Literal["elements", "computer_use", "computer_13", "pyautogui"]
SPACES: tuple[Space, ...] = get_args(Space)
CODE = "\n```python\npyautogui.click(640, 360)\n```"


def element_example(name: str) -> str:
    """A right call of an action on elements, in a block."""
    arguments = elements.TOOLS[name][1].values()
    return f"\n```\n{name}({', '.join(json.dumps(value) for value in arguments)})\n```"


def computer_use_example(action: Any) -> str:
    """A right call of an action of `computer_use`; of one that does not exist a click."""
    call = {"name": "computer_use", "arguments": computer_use.example_of(action)}
    return f" <tool_call>{json.dumps(call)}</tool_call>"


def computer_13_example(kind: Any) -> str:
    """A right object of `computer_13`; of an action that does not exist a click."""
    return f" {json.dumps(computer_13.example_of(kind))}"


def right(space: Space) -> str:
    """What to write in an action space: a click."""
    match space:
        case "elements":
            return f"Write one call a line in a block, as in:{element_example('click')}"
        case "computer_use":
            return f"Write:{computer_use_example('left_click')}"
        case "computer_13":
            return f"Write:{computer_13_example('CLICK')}"
        case "pyautogui":
            return f"Write code, as in:{CODE}"


def names(space: Space, *, browser: bool) -> Sequence[str]:
    """The actions of a space.

    Args:
        browser: whether the screen is one.
    """
    match space:
        case "elements":
            return [name for name in elements.TOOLS if browser or name not in elements.BROWSER_ONLY]
        case "computer_use":
            return get_args(computer_use.Action)
        case "computer_13":
            return tuple(computer_13.EXAMPLES)
        case "pyautogui":
            return ("calls of pyautogui", "WAIT", "DONE", "FAIL")
