"""What an agent is told about how it acts, for each action space, and the tools as OpenAI function schemas.

Every form is read whichever is taught (`claw_envs.gui.actions.parse`). Code means pixels, so that with `pyautogui` the
observation is to show pixels too.
"""

from typing import Any

from claw_envs.gui.actions.elements import BROWSER_ONLY
from claw_envs.gui.actions.frame import Coordinates, Frame
from claw_envs.gui.actions.spaces import Space
from claw_envs.gui.actions.vocabulary import COMPUTER_13, COMPUTER_USE, ELEMENTS

_ROLE = """You carry out a task {where}. After each of your messages you are shown the screen as it is then.
In each message say in a sentence or two what you see and what you do next, then {how}"""
_ELEMENTS = """call one or more tools in one block, one call a line:

```
click("12")
```

An element is named by its id, the number in brackets before it, which is what click takes. Its box is (x, y, width, \
height){points}.{windows}
The calls are:

{signatures}

Several calls of one message are carried out in order, until one goes wrong."""
_COMPUTER_USE = """call the tool in <tool_call>:

<tool_call>
{{"name": "computer_use", "arguments": {{"action": "left_click", "coordinate": [{x}, {y}]}}}}
</tool_call>

A coordinate is [x, y]{points}. Its actions are:

- left_click, right_click, middle_click, double_click, triple_click (coordinate?, keys?): click; `keys` are held \
meanwhile, as in ["ctrl"].
- mouse_move (coordinate): move the pointer.
- left_click_drag (coordinate, start_coordinate?): drag to a point, from another or from where the pointer is.
- left_mouse_down, left_mouse_up: press the button, and let it go.
- scroll (pixels, coordinate?): turn the wheel, up where positive, down where negative; 5 is about half a screen.
- hscroll (pixels, coordinate?): turn the wheel to the right where positive, to the left where negative.
- type (text): type where the keyboard's focus is; a line break is Enter.
- key (keys): press keys together, as in ["ctrl", "c"] or ["enter"].
- wait (time): do nothing for some seconds.
- answer (text): answer the question that the task asks. It ends there.
- terminate (status): "success" where the task is done; "failure" where it cannot be done at all. It ends there."""
_COMPUTER_13 = """write one action as a JSON object in a block:

```json
{{"action_type": "CLICK", "x": {x}, "y": {y}}}
```

x and y are{points}. The actions are:

- MOVE_TO (x, y); CLICK (x?, y?, button?, num_clicks?), where button is left, right or middle; RIGHT_CLICK (x?, y?); \
DOUBLE_CLICK (x?, y?); DRAG_TO (x, y), from where the pointer is.
- MOUSE_DOWN (button?), MOUSE_UP (button?).
- SCROLL (dx, dy): notches of the wheel, positive to the right and up.
- TYPING (text), where a line break is Enter; PRESS (key); KEY_DOWN (key); KEY_UP (key); HOTKEY (keys), as in \
["ctrl", "c"].
- WAIT: do nothing for a moment. DONE: the task is done. FAIL: it cannot be done at all. These take nothing; DONE and \
FAIL end your work.{answer}"""
_WINDOWS = " A click on an element of a window brings it to the front."
_ANSWER = "\n- ANSWER (text): answer the question that the task asks. It ends your work."
_PYAUTOGUI = """write Python code that calls pyautogui in one block:

```python
pyautogui.click({x}, {y})
```

x and y are{points}. Of Python there are variables, arithmetic, strings, lists, if, for and time.sleep; of pyautogui \
its functions of the mouse and the keyboard. Nothing else can be imported, and you cannot read the screen by code. \
Every message's code stands for itself.

In place of code a block may hold one word: WAIT to do nothing for a moment, DONE where the task is done, FAIL where \
it cannot be done at all. DONE and FAIL end your work:

```
DONE
```"""
_GRID = "on a grid over the screen"
_BODIES: dict[Space, str] = {
    "elements": _ELEMENTS,
    "computer_use": _COMPUTER_USE,
    "computer_13": _COMPUTER_13,
    "pyautogui": _PYAUTOGUI,
}


def prompt(
    space: Space, coordinates: Coordinates, size: tuple[int, int], *, browser: bool = True
) -> tuple[str, tuple[dict[str, Any], ...]]:
    """The system prompt of an action space, and its tools.

    Args:
        space: which one is taught.
        coordinates: what the agent writes and reads; `pyautogui` means pixels always.
        size: of the screen in pixels.
        browser: whether the screen is one; a desktop has no calls for tabs and addresses.
    """
    frame = Frame(size, "pixels" if space == "pyautogui" else coordinates)
    x, y = frame.shown(size[0] // 2, size[1] // 2)
    schemas = tools_of(space, browser=browser)
    body = _BODIES[space].format(
        x=x, y=y, points=_points(frame), signatures=_signatures(schemas),
        windows="" if browser else _WINDOWS, answer=_ANSWER if browser else "",
    )  # fmt: skip
    where = "in a web browser" if browser else "on a computer with a graphical desktop"
    return _ROLE.format(where=where, how=body), schemas


def tools_of(space: Space, *, browser: bool = True) -> tuple[dict[str, Any], ...]:
    """The tools of an action space as OpenAI function schemas; `pyautogui` has none."""
    match space:
        case "elements":
            left_out = () if browser else BROWSER_ONLY
            return tuple(schema for schema in ELEMENTS.schemas if schema["function"]["name"] not in left_out)
        case "computer_use":
            return COMPUTER_USE.schemas
        case "computer_13":
            return COMPUTER_13.schemas
        case "pyautogui":
            return ()


def coordinates_of(text: str) -> Coordinates:
    """Which coordinates a system prompt of `prompt` taught."""
    return "grid" if _GRID in text else "pixels"


def _points(frame: Frame) -> str:
    last_x, last_y = frame.last
    if frame.coordinates == "pixels":
        return f" in pixels from the top left corner: x is 0 to {last_x}, y is 0 to {last_y}"
    return f" {_GRID}, from 0, 0 at the top left corner to {last_x}, {last_y} at the bottom right"


def _signatures(schemas: tuple[dict[str, Any], ...]) -> str:
    return "\n".join(_signature(schema["function"]) for schema in schemas)


def _signature(function: dict[str, Any]) -> str:
    return f"- {function['name']}({_arguments(function['parameters'])}): {function['description']}"


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(name if name in required else f"{name}?" for name in schema["properties"])
