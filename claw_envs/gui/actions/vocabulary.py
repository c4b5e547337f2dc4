"""The name of a call, in any vocabulary, and the act that it stands for with its arguments. Nothing here raises.

`computer_use` (Anthropic's `computer`) and `computer_13` are tools of many actions, which may also be called by their
own names. Names are read whatever their case. Of those that several vocabularies have, such as `click` and `scroll`,
the action on elements is meant unless a point comes with it.
"""

from typing import Any, NamedTuple

import msgspec

from claw_envs.gui import acts
from claw_envs.gui.actions import computer_13, computer_use, elements
from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.actions.spaces import (
    Space,
    computer_13_example,
    computer_use_example,
    element_example,
    names,
    right,
)
from claw_envs.wire.calls import Malformed
from claw_envs.wire.toolset import Tools

ELEMENTS: Tools[elements.Tool] = Tools(elements.TOOLS, problem=lambda _: None)
COMPUTER_USE = Tools(
    {"computer_use": (computer_use.ComputerUse, computer_use.example_of("left_click"))}, problem=lambda _: None
)
COMPUTER_13 = Tools({"computer_13": (computer_13.Computer13, computer_13.example_of("CLICK"))}, problem=lambda _: None)


class Taught(NamedTuple):
    """What an agent was told, for the complaints about what it writes."""

    space: Space = "elements"
    browser: bool = True
    """Whether the screen is one."""

    def unknown(self, name: str) -> str:
        """There is no action of that name."""
        there = ", ".join(names(self.space, browser=self.browser))
        return f"There is no {name[:60]!r}; there are {there}. {right(self.space)}"


class Parsed(NamedTuple):
    """One thing that a message asks for."""

    act: acts.Act | Malformed
    id: str | None = None
    """Of an OpenAI tool call, empty where it came without one; None in the other forms."""
    name: str = "malformed"
    """The action's."""


def element_call(name: str) -> str | None:
    """The action on elements of that name; None where there is none."""
    name = name.lower()
    return elements.OTHER.get(name, name if name in elements.TOOLS else None)


def named_act(name: str, arguments: dict[str, Any], frame: Frame, taught: Taught, *, strict: bool = True) -> Parsed:
    """The call of `name`.

    Args:
        frame: what coordinates mean.
        strict: False where the wire form has no types.
    """
    given, name = name, name if computer_13.is_kind(name) and "id" not in arguments else name.lower()
    if name in ("computer_use", "computer"):
        return _computer_use(arguments, frame, strict=strict)
    if name == "computer_13":
        return _computer_13(arguments, frame, strict=strict)
    if computer_13.is_kind(name):
        return _computer_13({**arguments, "action_type": name}, frame, strict=strict)
    pointed = "coordinate" in arguments or {"x", "y"} <= arguments.keys()
    if (element := element_call(name)) and not pointed:
        return _element(element, arguments, strict=strict)
    if computer_use.is_action(name):
        return _computer_use({**arguments, "action": name}, frame, strict=strict)
    if computer_13.is_kind(computer_13.kind_of(name)):
        return _computer_13({**arguments, "action_type": name}, frame, strict=strict)
    return Parsed(Malformed(taught.unknown(given)))


def _element(name: str, arguments: dict[str, Any], *, strict: bool) -> Parsed:
    kind = elements.TOOLS[name][0]
    try:
        return Parsed(elements.act_of(msgspec.convert(arguments, kind, strict=strict)), name=name)
    except (ValueError, RecursionError) as error:  # msgspec's own are ValueErrors
        takes = ", ".join(kind.__struct_fields__) or "nothing"
        return Parsed(Malformed(f"{name}: {error}. It takes {takes}. Write:{element_example(name)}"))


def _computer_use(arguments: dict[str, Any], frame: Frame, *, strict: bool) -> Parsed:
    given = computer_use.plain(arguments)
    try:
        tool = msgspec.convert(given, computer_use.ComputerUse, strict=strict)
        return Parsed(computer_use.act_of(tool, frame), name=tool.action)
    except (ValueError, RecursionError) as error:
        action = given.get("action")
        known = isinstance(action, str) and computer_use.is_action(action)
        there = "" if known else f"; there are {', '.join(names('computer_use', browser=True))}"
        return Parsed(Malformed(f"computer_use: {error}{there}. Write:{computer_use_example(action)}"))


def _computer_13(value: dict[str, Any], frame: Frame, *, strict: bool) -> Parsed:
    given = computer_13.plain(value)
    try:
        tool = msgspec.convert(given, computer_13.Computer13, strict=strict)
        return Parsed(computer_13.act_of(tool, frame), name=tool.action_type)
    except (ValueError, RecursionError) as error:
        kind = given.get("action_type")
        there = "" if computer_13.is_kind(kind) else f"; there are {', '.join(computer_13.EXAMPLES)}"
        return Parsed(Malformed(f"computer_13: {error}{there}. Write:{computer_13_example(kind)}"))
