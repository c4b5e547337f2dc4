"""The name of a call, in any vocabulary, and the act that it stands for with its arguments. Nothing here raises.

`computer_use` (Anthropic's `computer`) and `computer_13` are tools of many actions, which may also be called by their
own names. Of names that several vocabularies have, such as `click` and `scroll`, the action on elements is meant unless
a point comes with it.
"""

import json
from typing import Any, NamedTuple

import msgspec

from claw_envs.gui import acts
from claw_envs.gui.actions import computer_13, computer_use, elements
from claw_envs.gui.actions.frame import Frame
from claw_envs.wire.calls import Malformed
from claw_envs.wire.toolset import Tools

ELEMENTS: Tools[elements.Tool] = Tools(elements.TOOLS, problem=lambda _: None)
COMPUTER_USE = Tools(
    {"computer_use": (computer_use.ComputerUse, computer_use.example_of("left_click"))}, problem=lambda _: None
)
COMPUTER_13 = Tools({"computer_13": (computer_13.Computer13, computer_13.example_of("CLICK"))}, problem=lambda _: None)
NAMES = ("computer_use", "computer_13", *elements.TOOLS)


class Parsed(NamedTuple):
    """One thing that a message asks for."""

    act: acts.Act | Malformed
    id: str | None = None
    """Of an OpenAI tool call, empty where it came without one; None in the other forms."""
    name: str = "malformed"
    """The action's."""


def is_element_call(name: str) -> bool:
    """Whether an action on elements has that name."""
    return name in elements.TOOLS or name in elements.OTHER


def named_act(name: str, arguments: dict[str, Any], frame: Frame, *, strict: bool = True) -> Parsed:
    """The call of `name`.

    Args:
        frame: what coordinates mean.
        strict: False where the wire form has no types.
    """
    if name in ("computer_use", "computer"):
        return _computer_use(arguments, frame, strict=strict)
    if name == "computer_13":
        return _computer_13(arguments, frame, strict=strict)
    if computer_13.is_kind(name):
        return _computer_13({**arguments, "action_type": name}, frame, strict=strict)
    pointed = "coordinate" in arguments or {"x", "y"} <= arguments.keys()
    if is_element_call(name) and not pointed:
        return _element(elements.OTHER.get(name, name), arguments, strict=strict)
    if computer_use.is_action(name):
        return _computer_use({**arguments, "action": name}, frame, strict=strict)
    example = ELEMENTS.example("click")
    return Parsed(Malformed(f"There is no tool {name[:60]!r}; the tools are {', '.join(NAMES)}. Write: {example}"))


def _element(name: str, arguments: dict[str, Any], *, strict: bool) -> Parsed:
    tool = ELEMENTS.read(name, arguments, strict=strict)
    if isinstance(tool, Malformed):
        return Parsed(tool)
    try:
        return Parsed(elements.act_of(tool), name=name)
    except ValueError as error:
        return Parsed(Malformed(f"{name}: {error}. Write: {ELEMENTS.example(name)}"))


def _computer_use(arguments: dict[str, Any], frame: Frame, *, strict: bool) -> Parsed:
    given = computer_use.plain(arguments)
    try:
        tool = msgspec.convert(given, computer_use.ComputerUse, strict=strict)
        return Parsed(computer_use.act_of(tool, frame), name=tool.action)
    except (ValueError, RecursionError) as error:  # msgspec's own are ValueErrors
        right = {"name": "computer_use", "arguments": computer_use.example_of(given.get("action"))}
        return Parsed(Malformed(f"computer_use: {error}. Write: <tool_call>{json.dumps(right)}</tool_call>"))


def _computer_13(value: dict[str, Any], frame: Frame, *, strict: bool) -> Parsed:
    given = computer_13.plain(value)
    try:
        tool = msgspec.convert(given, computer_13.Computer13, strict=strict)
        return Parsed(computer_13.act_of(tool, frame), name=tool.action_type)
    except (ValueError, RecursionError) as error:
        right = computer_13.example_of(given.get("action_type"))
        return Parsed(Malformed(f"computer_13: {error}. Write: {json.dumps(right)}"))
