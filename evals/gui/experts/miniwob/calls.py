"""The tool calls that experts write: on elements by their ids, and on points in the observation's own coordinates."""

from collections.abc import Sequence

from claw_envs.wire import Call
from evals.gui.experts.page import Node

Point = tuple[int, int]
Box = tuple[int, int, int, int]
_CLICKS = {1: "left_click", 2: "double_click", 3: "triple_click"}


def click(node: Node) -> Call:
    """Click an element."""
    return Call("click", {"id": node.id})


def hover(node: Node) -> Call:
    """Move the pointer onto an element."""
    return Call("hover", {"id": node.id})


def fill(node: Node, text: str) -> Call:
    """Replace what a field holds."""
    return Call("fill", {"id": node.id, "text": text})


def choose(node: Node, options: Sequence[str]) -> Call:
    """Choose options of a list."""
    return Call("choose", {"id": node.id, "options": list(options)})


def scroll(node: Node, direction: str, notches: float) -> Call:
    """Turn the wheel over an element."""
    return Call("scroll", {"id": node.id, "direction": direction, "amount": notches})


def write(text: str) -> Call:
    """Type a text where the focus is."""
    return Call("type", {"text": text})


def press(*keys: str) -> Call:
    """Press a key, or several together."""
    return Call("press", {"keys": list(keys)})


def wait(seconds: float) -> Call:
    """Do nothing for a while."""
    return Call("wait", {"seconds": seconds})


def click_at(point: Point, *, count: int = 1) -> Call:
    """Click a point once, twice or three times."""
    return Call("computer_use", {"action": _CLICKS[count], "coordinate": list(point)})


def move_to(point: Point) -> Call:
    """Move the pointer to a point."""
    return Call("computer_use", {"action": "mouse_move", "coordinate": list(point)})


def drag(start: Point, end: Point) -> Call:
    """Drag from one point to another."""
    return Call("computer_use", {"action": "left_click_drag", "start_coordinate": list(start), "coordinate": list(end)})


def stroke(points: Sequence[Point]) -> list[Call]:
    """Draw with the button held, from point to point."""
    start, *others = points
    down, up = (Call("computer_use", {"action": f"left_mouse_{way}"}) for way in ("down", "up"))
    return [move_to(start), down, *map(move_to, others), up]


def middle(node: Node) -> Point:
    """The middle of an element."""
    return inside(node, 0.5, 0.5)


def inside(node: Node, right: float, down: float) -> Point:
    """A point of an element's box, by shares of its width and height."""
    x, y, width, height = box_of(node)
    return round(x + width * right), round(y + height * down)


def box_of(node: Node) -> Box:
    """The box of an element that has one."""
    assert node.box is not None, f"{node.role} {node.name!r} is not laid out"
    return node.box
