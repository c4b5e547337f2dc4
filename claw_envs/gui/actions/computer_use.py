"""`computer_use`: one tool, whose `action` says what is done at a `coordinate`.

Its vocabulary is that of Qwen-VL. The plain names of `ALIASES` are read too, and so is what Anthropic's `computer`
names in another way (`left_mouse_down`, `scroll_direction` and `scroll_amount`, `text` for keys, `duration`).

`pixels` of a scroll are notches of the wheel, as in OSWorld, whose agents hand the number to pyautogui: positive up,
and with `hscroll` positive to the right. Not covered: `hold_key`, `cursor_position`, `zoom`.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claw_envs.gui import acts
from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.actions.keys import keys_of
from claw_envs.gui.actions.limits import seconds, text, wheel

Action = Literal[
    "key",
    "type",
    "mouse_move",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "scroll",
    "hscroll",
    "left_mouse_down",
    "left_mouse_up",
    "wait",
    "screenshot",
    "terminate",
    "answer",
]
ALIASES = {
    "click": "left_click",
    "double": "double_click",
    "triple": "triple_click",
    "drag": "left_click_drag",
    "move": "mouse_move",
    "hover": "mouse_move",
    "press": "key",
    "hotkey": "key",
    "done": "terminate",
    "fail": "terminate",
}
"""Plain names -> those of the tool."""
_STATUS = {"done": "success", "fail": "failure"}
_Point = Annotated[list[float], Meta(min_length=2, max_length=2)]


class ComputerUse(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Use the mouse and the keyboard of the computer that the screenshots show."""

    action: Annotated[
        Action,
        Meta(
            description="key: press `keys` together. type: type `text`. mouse_move, left_click, right_click, "
            "middle_click, double_click, triple_click: at `coordinate`, or where the pointer is. left_click_drag: "
            "from `start_coordinate`, or where the pointer is, to `coordinate`. scroll, hscroll: turn the wheel by "
            "`pixels`. left_mouse_down, left_mouse_up: press and let go of the button. wait: for `time` seconds. "
            "screenshot: only look. terminate: end with `status`. answer: end with the answer `text`."
        ),
    ]
    coordinate: Annotated[_Point | None, Meta(description="[x, y]")] = None
    start_coordinate: Annotated[_Point | None, Meta(description="[x, y] where a drag begins.")] = None
    keys: Annotated[
        str | list[str] | None, Meta(description="For key: what is pressed. For clicks and scrolls: held meanwhile.")
    ] = None
    text: str | None = None
    pixels: Annotated[
        float | None, Meta(description="Notches of the wheel: positive up, for hscroll positive to the right.")
    ] = None
    time: Annotated[float | None, Meta(description="Seconds.")] = None
    status: Literal["success", "failure"] | None = None


EXAMPLES: dict[str, dict[str, Any]] = {
    "key": {"keys": ["ctrl", "c"]},
    "type": {"text": "two words"},
    "left_click_drag": {"start_coordinate": [100, 200], "coordinate": [300, 200]},
    "scroll": {"coordinate": [500, 500], "pixels": -5},
    "hscroll": {"coordinate": [500, 500], "pixels": 5},
    "left_mouse_down": {},
    "left_mouse_up": {},
    "wait": {"time": 2},
    "screenshot": {},
    "terminate": {"status": "success"},
    "answer": {"text": "42"},
}
"""Action -> an example of its arguments; the others take a coordinate."""
_CLICKS: dict[str, tuple[acts.Button, int]] = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
_TAKES: dict[str, tuple[str, ...]] = {
    "key": ("keys",),
    "type": ("text",),
    "mouse_move": ("coordinate",),
    "left_click_drag": ("coordinate", "start_coordinate"),
    **dict.fromkeys(_CLICKS, ("coordinate", "keys")),
    "scroll": ("pixels", "coordinate", "keys"),
    "hscroll": ("pixels", "coordinate", "keys"),
    "wait": ("time",),
    "terminate": ("status",),
    "answer": ("text",),
}
"""Action -> what it takes; those that are not here take nothing."""
_NEEDED = {
    "key": "keys",
    "type": "text",
    "mouse_move": "coordinate",
    "left_click_drag": "coordinate",
    "scroll": "pixels",
    "hscroll": "pixels",
    "terminate": "status",
    "answer": "text",
}


def is_action(name: str) -> bool:
    """Whether that is an action's name."""
    return name in ALIASES or name in _TAKES or name in EXAMPLES


def example_of(action: Any) -> dict[str, Any]:
    """Right arguments for an action; for one that does not exist those of a click."""
    action = ALIASES.get(action.lower(), action.lower()) if isinstance(action, str) else None
    known = action if isinstance(action, str) and is_action(action) else "left_click"
    return {"action": known} | EXAMPLES.get(known, {"coordinate": [500, 300]})


def plain(arguments: dict[str, Any]) -> dict[str, Any]:
    """`arguments` in the tool's own words; what is null counts as not given."""
    given = {key: value for key, value in arguments.items() if value is not None}
    action = given.get("action")
    if not isinstance(action, str):
        return given
    action = action.lower() if is_action(action.lower()) else action
    if action in _STATUS:
        given.setdefault("status", _STATUS[action])
    given["action"] = action = ALIASES.get(action, action)
    if {"x", "y"} <= given.keys() and "coordinate" not in given:
        given["coordinate"] = [given.pop("x"), given.pop("y")]
    for other, own in (("duration", "time"), ("key", "keys")):
        if other in given and own not in given:
            given[own] = given.pop(other)
    if "keys" not in given and "text" in given and "keys" in _TAKES.get(action, ()):
        given["keys"] = given.pop("text")
    return _anthropic_scroll(given) if action == "scroll" else given


def _anthropic_scroll(given: dict[str, Any]) -> dict[str, Any]:
    direction, amount = given.get("scroll_direction"), given.get("scroll_amount", 5)
    if direction not in ("up", "down", "left", "right") or "pixels" in given:
        return given
    rest = {key: value for key, value in given.items() if not key.startswith("scroll_")}
    if isinstance(amount, int | float) and not isinstance(amount, bool) and direction in ("down", "left"):
        amount = -amount
    return rest | {"action": "scroll" if direction in ("up", "down") else "hscroll", "pixels": amount}


def act_of(tool: ComputerUse, frame: Frame) -> acts.Act:
    """The act that a call stands for.

    Raises:
        ValueError: if its arguments are not right; in words for the agent.
    """
    _check(tool)
    x, y = frame.point(*tool.coordinate) if tool.coordinate is not None else (None, None)
    held = keys_of(tool.keys) if tool.keys else ()
    if tool.action in _CLICKS:
        button, count = _CLICKS[tool.action]
        return acts.Click(x, y, button, count, held)
    match tool:
        case ComputerUse(action="key", keys=keys) if keys is not None:
            return acts.Hotkey(keys_of(keys))
        case ComputerUse(action="type", text=str(said)):
            return acts.Type(text(said, empty=False))
        case ComputerUse(action="answer", text=str(said)):
            return acts.Answer(text(said, empty=False))
        case ComputerUse(action="scroll" | "hscroll", pixels=float(pixels)):
            if held:
                raise ValueError("keys cannot be held while the wheel turns; hold them with a click, or leave them out")
            notches = wheel(pixels)
            return acts.Scroll(0.0, -notches, x, y) if tool.action == "scroll" else acts.Scroll(notches, 0.0, x, y)
        case ComputerUse(action="wait"):
            return acts.Wait(seconds(1.0 if tool.time is None else tool.time))
        case ComputerUse(action="terminate"):
            return acts.Done() if tool.status == "success" else acts.Fail()
        case ComputerUse(action="left_mouse_down"):
            return acts.ButtonDown()
        case ComputerUse(action="left_mouse_up"):
            return acts.ButtonUp()
        case ComputerUse(action="screenshot"):
            return acts.Wait(0.0)
    assert x is not None
    assert y is not None
    if tool.action == "mouse_move":
        return acts.Move(x, y)
    start = frame.point(*tool.start_coordinate) if tool.start_coordinate is not None else (None, None)
    return acts.Drag(x, y, *start)


def _check(tool: ComputerUse) -> None:
    takes = _TAKES.get(tool.action, ())
    needed = _NEEDED.get(tool.action)
    given = [name for name in tool.__struct_fields__[1:] if getattr(tool, name) is not None]
    if needed is not None and needed not in given:
        raise ValueError(f"{tool.action} needs `{needed}`")
    if extra := [name for name in given if name not in takes]:
        what = ", ".join(f"`{name}`" for name in takes) or "nothing more"
        raise ValueError(f"{tool.action} takes {what}, not `{extra[0]}`")
