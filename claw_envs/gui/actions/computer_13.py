"""`computer_13`: OSWorld's actions as objects, `{"action_type": "CLICK", "x": 640, "y": 360}`.

The parameters, their values and what happens without them are OSWorld's; they may stand in `parameters`. `dx` and `dy`
of SCROLL are notches of the wheel, positive to the right and up. ANSWER, with a `text`, is an addition: OSWorld's tasks
ask no questions, others do.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from claw_envs.gui import acts
from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.actions.keys import key_of, keys_of
from claw_envs.gui.actions.limits import text, wheel

Kind = Literal[
    "MOVE_TO",
    "CLICK",
    "MOUSE_DOWN",
    "MOUSE_UP",
    "RIGHT_CLICK",
    "DOUBLE_CLICK",
    "DRAG_TO",
    "SCROLL",
    "TYPING",
    "PRESS",
    "KEY_DOWN",
    "KEY_UP",
    "HOTKEY",
    "WAIT",
    "FAIL",
    "DONE",
    "ANSWER",
]


class Computer13(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Use the mouse and the keyboard of the computer."""

    action_type: Annotated[
        Kind,
        Meta(
            description="MOVE_TO(x, y), CLICK(button?, x?, y?, num_clicks?), MOUSE_DOWN(button?), MOUSE_UP(button?), "
            "RIGHT_CLICK(x?, y?), DOUBLE_CLICK(x?, y?), DRAG_TO(x, y), SCROLL(dx, dy), TYPING(text), PRESS(key), "
            "KEY_DOWN(key), KEY_UP(key), HOTKEY(keys), WAIT(), FAIL() where the task cannot be done, DONE(), "
            "ANSWER(text) where the task asks a question."
        ),
    ]
    x: float | None = None
    y: float | None = None
    button: acts.Button | None = None
    num_clicks: Literal[1, 2, 3] | None = None
    dx: Annotated[float | None, Meta(description="Notches of the wheel, positive to the right.")] = None
    dy: Annotated[float | None, Meta(description="Notches of the wheel, positive up.")] = None
    text: str | None = None
    key: str | None = None
    keys: list[str] | None = None


EXAMPLES: dict[str, dict[str, Any]] = {
    "MOVE_TO": {"x": 500, "y": 300},
    "CLICK": {"x": 500, "y": 300},
    "MOUSE_DOWN": {"button": "left"},
    "MOUSE_UP": {"button": "left"},
    "RIGHT_CLICK": {"x": 500, "y": 300},
    "DOUBLE_CLICK": {"x": 500, "y": 300},
    "DRAG_TO": {"x": 500, "y": 300},
    "SCROLL": {"dx": 0, "dy": -5},
    "TYPING": {"text": "two words"},
    "PRESS": {"key": "enter"},
    "KEY_DOWN": {"key": "shift"},
    "KEY_UP": {"key": "shift"},
    "HOTKEY": {"keys": ["ctrl", "c"]},
    "WAIT": {},
    "FAIL": {},
    "DONE": {},
    "ANSWER": {"text": "42"},
}
"""Action type -> an example of its parameters."""
_TAKES: dict[str, tuple[str, ...]] = {
    **{kind: tuple(example) for kind, example in EXAMPLES.items()},
    "CLICK": ("button", "x", "y", "num_clicks"),
}
_NEEDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("MOVE_TO", "DRAG_TO"), ("x", "y")),
    **dict.fromkeys(("TYPING", "ANSWER"), ("text",)),
    **dict.fromkeys(("PRESS", "KEY_DOWN", "KEY_UP"), ("key",)),
    "HOTKEY": ("keys",),
}


def is_kind(name: Any) -> bool:
    """Whether that is an action type."""
    return isinstance(name, str) and name in EXAMPLES


def kind_of(name: Any) -> Any:
    """An action type, whatever its case; what is none as it is."""
    return name.upper() if isinstance(name, str) and is_kind(name.upper()) else name


def example_of(kind: Any) -> dict[str, Any]:
    """A right object of an action type; for one that does not exist a click."""
    known = kind if is_kind(kind) else "CLICK"
    return {"action_type": known} | EXAMPLES[known]


def plain(value: dict[str, Any]) -> dict[str, Any]:
    """The action with its parameters beside its type, in upper case; what is null counts as not given."""
    given = {key: item for key, item in value.items() if item is not None}
    if isinstance(given.get("parameters"), dict):
        inner = given.pop("parameters")
        given |= {key: item for key, item in inner.items() if item is not None and key != "action_type"}
    return given if "action_type" not in given else given | {"action_type": kind_of(given["action_type"])}


def act_of(tool: Computer13, frame: Frame) -> acts.Act:
    """The act that an object stands for.

    Raises:
        ValueError: if its parameters are not right; in words for the agent.
    """
    _check(tool)
    x, y = frame.point(tool.x, tool.y) if tool.x is not None and tool.y is not None else (None, None)
    button: acts.Button = tool.button or "left"
    match tool:
        case Computer13(action_type="CLICK"):
            return acts.Click(x, y, button, tool.num_clicks or 1)
        case Computer13(action_type="RIGHT_CLICK"):
            return acts.Click(x, y, "right")
        case Computer13(action_type="DOUBLE_CLICK"):
            return acts.Click(x, y, "left", 2)
        case Computer13(action_type="MOUSE_DOWN"):
            return acts.ButtonDown(button)
        case Computer13(action_type="MOUSE_UP"):
            return acts.ButtonUp(button)
        case Computer13(action_type="SCROLL"):
            return acts.Scroll(wheel(tool.dx or 0), -wheel(tool.dy or 0))
        case Computer13(action_type="TYPING", text=str(said)):
            return acts.Type(text(said, empty=False))
        case Computer13(action_type="ANSWER", text=str(said)):
            return acts.Answer(text(said, empty=False))
        case Computer13(action_type="HOTKEY", keys=list(keys)):
            return acts.Hotkey(keys_of(keys))
        case Computer13(action_type="WAIT"):
            return acts.Wait()
        case Computer13(action_type="FAIL"):
            return acts.Fail()
        case Computer13(action_type="DONE"):
            return acts.Done()
    if tool.key is not None:
        return _key(tool.action_type, key_of(tool.key))
    assert x is not None
    assert y is not None
    return acts.Move(x, y) if tool.action_type == "MOVE_TO" else acts.Drag(x, y)


def _key(kind: Kind, key: str) -> acts.Act:
    match kind:
        case "KEY_DOWN":
            return acts.KeyDown(key)
        case "KEY_UP":
            return acts.KeyUp(key)
        case _:
            return acts.Hotkey((key,))


def _check(tool: Computer13) -> None:
    kind, takes = tool.action_type, _TAKES[tool.action_type]
    given = [name for name in tool.__struct_fields__[1:] if getattr(tool, name) is not None]
    if missing := [name for name in _NEEDED.get(kind, ()) if name not in given]:
        raise ValueError(f"{kind} needs `{missing[0]}`")
    if extra := [name for name in given if name not in takes]:
        raise ValueError(f"{kind} takes {', '.join(f'`{name}`' for name in takes) or 'nothing'}, not `{extra[0]}`")
    if (tool.x is None) != (tool.y is None):
        raise ValueError(f"{kind} takes `x` and `y` together, or neither")
    if kind == "SCROLL" and not given:
        raise ValueError("SCROLL needs `dx` or `dy`")
