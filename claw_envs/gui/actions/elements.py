"""Actions on elements, named by the ids that the accessibility tree shows: what each takes, and the act it stands for.

Wheels turn by notches. `scroll` takes a direction and how many, or `dx` and `dy` in pixels, positive to the right and
down, as BrowserGym's does; 100 pixels are a notch. Names of BrowserGym's that mean the same are read too (`OTHER`).
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claw_envs.gui import acts
from claw_envs.gui.actions.keys import keys_of
from claw_envs.gui.actions.limits import element_id, seconds, text, wheel

_PIXELS_A_NOTCH = 100
_Id = Annotated[str | int, Meta(description="The element's id, as the tree shows it in brackets.")]
_Keys = Annotated[
    str | list[str], Meta(description='Key names such as enter, ctrl, pageup, f5, or characters: ["ctrl", "c"].')
]


class Click(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Click an element, with the left, middle or right button."""

    id: _Id
    button: acts.Button = "left"
    double: Annotated[bool, Meta(description="Click twice.")] = False
    keys: Annotated[str | list[str] | None, Meta(description="Keys held meanwhile.")] = None


class Fill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replace what a field holds by a text."""

    id: _Id
    text: str


class Choose(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Choose in a list (combobox, listbox) by what the options show."""

    id: _Id
    options: Annotated[str | list[str], Meta(description="The option, or all that are to be chosen.")]


class Hover(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Move the pointer over an element."""

    id: _Id


class Drag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Drag an element onto another."""

    id: _Id
    onto: Annotated[str | int, Meta(description="The id of the other.")]


class Scroll(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Turn the wheel, over an element or where the pointer is: up, down, left or right, or by pixels."""

    direction: Literal["up", "down", "left", "right"] | None = None
    amount: Annotated[float, Meta(description="Notches of the wheel in that direction.")] = 5
    dx: Annotated[float, Meta(description="Pixels to the right, in place of a direction.")] = 0
    dy: Annotated[float, Meta(description="Pixels down, in place of a direction.")] = 0
    id: _Id | None = None


class Press(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Press a key, or several together: "enter", "ctrl+a"."""

    keys: _Keys


class Type(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Type a text where the keyboard's focus is; a line break is Enter."""

    text: str


class Goto(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Open an address in this tab."""

    url: str


class Back(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Go back to the page before."""


class Forward(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Go forward to the page after."""


class Reload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Load the page again."""


class NewTab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Open a tab and change to it."""

    url: str = "about:blank"


class SwitchTab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change to another tab."""

    index: Annotated[int, Meta(ge=0, le=999, description="The tab's number, from 0.")]


class CloseTab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Close this tab."""


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do nothing for some seconds, while something loads."""

    seconds: float = 1.0


class Done(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say that the task is done. It is checked then."""


class Fail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say that the task cannot be done at all. It ends there."""

    reason: str = ""


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answer the question that the task asks. It ends there."""

    text: str


Tool = (
    Click | Fill | Choose | Hover | Drag | Scroll | Press | Type | Goto | Back | Forward | Reload | NewTab | SwitchTab
    | CloseTab | Wait | Done | Fail | Answer
)  # fmt: skip

TOOLS: dict[str, tuple[type[Tool], dict[str, Any]]] = {
    "click": (Click, {"id": "12"}),
    "fill": (Fill, {"id": "7", "text": "two words"}),
    "choose": (Choose, {"id": "9", "options": ["Large"]}),
    "hover": (Hover, {"id": "12"}),
    "drag": (Drag, {"id": "12", "onto": "15"}),
    "scroll": (Scroll, {"direction": "down"}),
    "press": (Press, {"keys": ["ctrl", "a"]}),
    "type": (Type, {"text": "two words"}),
    "goto": (Goto, {"url": "http://shop.test/"}),
    "back": (Back, {}),
    "forward": (Forward, {}),
    "reload": (Reload, {}),
    "new_tab": (NewTab, {}),
    "switch_tab": (SwitchTab, {"index": 1}),
    "close_tab": (CloseTab, {}),
    "wait": (Wait, {"seconds": 2}),
    "done": (Done, {}),
    "fail": (Fail, {"reason": "there is no such article"}),
    "answer": (Answer, {"text": "42"}),
}
"""Name -> its struct and an example of its arguments."""
BROWSER_ONLY = ("goto", "back", "forward", "reload", "new_tab", "switch_tab", "close_tab")
OTHER = {
    "select_option": "choose",
    "drag_and_drop": "drag",
    "keyboard_press": "press",
    "keyboard_type": "type",
    "go_back": "back",
    "go_forward": "forward",
    "tab_focus": "switch_tab",
    "tab_close": "close_tab",
    "send_msg_to_user": "answer",
    "report_infeasible": "fail",
}
"""Names of BrowserGym's -> ours; their arguments stand in the same order."""


def fields_of(name: str, positional: Sequence[Any]) -> Sequence[str]:
    """The arguments of a tool in the order in which they may stand without their names.

    Args:
        positional: those that do; where the first of `scroll` is a number, they are `dx` and `dy`.
    """
    numbers = name == "scroll" and positional and isinstance(positional[0], int | float)
    return ("dx", "dy", "id") if numbers else TOOLS[name][0].__struct_fields__


def act_of(tool: Tool) -> acts.Act:
    """The act that a call stands for.

    Raises:
        ValueError: if its arguments are not right; in words for the agent.
    """
    match tool:
        case Click():
            held = keys_of(tool.keys) if tool.keys else ()
            return acts.ClickElement(element_id(tool.id), tool.button, 2 if tool.double else 1, held)
        case Fill():
            return acts.Fill(element_id(tool.id), text(tool.text))
        case Choose():
            return acts.Choose(element_id(tool.id), _options(tool.options))
        case Hover():
            return acts.HoverElement(element_id(tool.id))
        case Drag():
            return acts.DragElement(element_id(tool.id), element_id(tool.onto))
        case Scroll():
            return _scroll(tool)
        case Press():
            return acts.Hotkey(keys_of(tool.keys))
        case Type():
            return acts.Type(text(tool.text, empty=False))
        case Wait():
            return acts.Wait(seconds(tool.seconds))
        case Fail():
            return acts.Fail(text(tool.reason))
        case Answer():
            return acts.Answer(text(tool.text, empty=False))
        case _:
            return _of_the_browser(tool)


def _of_the_browser(tool: Goto | Back | Forward | Reload | NewTab | SwitchTab | CloseTab | Done) -> acts.Act:
    match tool:
        case Goto():
            return acts.Goto(text(tool.url, empty=False).strip())
        case NewTab():
            return acts.NewTab(text(tool.url, empty=False).strip())
        case SwitchTab():
            return acts.SwitchTab(tool.index)
        case Back():
            return acts.Back()
        case Forward():
            return acts.Forward()
        case Reload():
            return acts.Reload()
        case CloseTab():
            return acts.CloseTab()
        case Done():
            return acts.Done()


def _options(options: str | Sequence[str]) -> tuple[str, ...]:
    chosen = (options,) if isinstance(options, str) else tuple(options)
    if not chosen or len(chosen) > 100:
        raise ValueError("`options` names between 1 and 100 options by what they show")
    return tuple(text(option) for option in chosen)


def _scroll(tool: Scroll) -> acts.Scroll | acts.ScrollElement:
    if tool.direction is None:
        dx, dy = wheel(tool.dx / _PIXELS_A_NOTCH), wheel(tool.dy / _PIXELS_A_NOTCH)
    else:
        if tool.dx or tool.dy:
            raise ValueError("write either `direction` or `dx` and `dy`")
        amount = wheel(tool.amount)
        sideways = tool.direction in ("left", "right")
        signed = -amount if tool.direction in ("up", "left") else amount
        dx, dy = (signed, 0.0) if sideways else (0.0, signed)
    if not dx and not dy:
        raise ValueError("nothing was to be scrolled; name a `direction`")
    return acts.Scroll(dx, dy) if tool.id is None else acts.ScrollElement(element_id(tool.id), dx, dy)
