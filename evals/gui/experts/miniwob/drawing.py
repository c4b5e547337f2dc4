"""Pages with shapes: points are found between them, lines drawn, shapes dragged and named."""

import math

from evals.gui.experts.miniwob.calls import Point, box_of, click, click_at, drag, inside, middle, stroke
from evals.gui.experts.miniwob.filling import submit
from evals.gui.experts.miniwob.registry import solves
from evals.gui.experts.miniwob.seen import Moves, Seen
from evals.gui.experts.page import Node

_TAGS = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@solves("ascending-numbers")
def numbers_in_order(seen: Seen) -> Moves:
    yield [click_at(middle(seen.one("graphics-symbol", str(number)))) for number in range(1, 6)]


@solves("circle-center")
def center(seen: Seen) -> Moves:
    yield [click_at(middle(seen.matching("circle .*")[0])), submit(seen)]


@solves("find-midpoint")
def midpoint(seen: Seen) -> Moves:
    (a, b), (c, d) = map(middle, seen.matching("circle black"))
    yield [click_at(((a + c) // 2, (b + d) // 2)), submit(seen)]


@solves("right-angle")
def right_angle(seen: Seen) -> Moves:
    corner, other = middle(seen.one(None, "circle blue")), middle(seen.one(None, "circle black"))
    angle = math.atan2(other[1] - corner[1], other[0] - corner[0]) + math.pi / 2
    yield [click_at(_far_from(seen, corner, angle)), submit(seen)]


@solves("bisect-angle")
def bisect_angle(seen: Seen) -> Moves:
    corner = middle(seen.one(None, "circle blue"))
    ends = map(middle, seen.all(None, "circle black"))
    first, second = (math.atan2(y - corner[1], x - corner[0]) for x, y in ends)
    between = math.atan2(math.sin(second - first), math.cos(second - first)) / 2
    yield [click_at(_far_from(seen, corner, first + between, both=False)), submit(seen)]


@solves("drag-circle", "drag-single-shape")
def shape_in_a_direction(seen: Seen) -> Moves:
    right, down = _WAYS[seen.asked("(left|right|up|down)")[0]]
    shape = seen.all("graphics-symbol")[0]
    yield [drag(middle(shape), inside(shape, 0.5 + right, 0.5 + down)), submit(seen)]


@solves("drag-shapes")
def shapes_into_a_box(seen: Seen) -> Moves:
    tag = _TAGS[seen.asked("Drag all (.*) into")[0]]
    place = middle(seen.one(None, "rect none"))
    yield [*(drag(middle(shape), place) for shape in _shapes(seen) if shape.name.startswith(tag)), submit(seen)]


@solves("drag-shapes-2")
def shapes_into_two_boxes(seen: Seen) -> Moves:
    wanted = seen.asked("Drag all (.*?)(?: shapes)? into")[0]
    left, right = map(middle, seen.all(None, "rect none"))
    calls = []
    for shape in _shapes(seen):
        is_wanted = shape.name.split(" ")["s" not in wanted[-1:]] == _TAGS.get(wanted, wanted)
        calls.append(drag(middle(shape), left if is_wanted else right))
    yield [*calls, submit(seen)]


@solves("draw-line")
def line(seen: Seen) -> Moves:
    dot = seen.matching("circle .*")[0]
    right, down = (4, 0) if "horizontal" in seen.task else (0, 3)
    ends = [inside(dot, 0.5 + sign * right, 0.5 + sign * down) for sign in (-1, 1)]
    yield [*stroke([ends[0], middle(dot), ends[1]]), submit(seen)]


@solves("draw-circle")
def circle(seen: Seen) -> Moves:
    dot = seen.matching("circle .*")[0]
    turns = [math.pi + 2 * math.pi * step / 16 for step in range(17)]  # from the left, where there is always room
    yield [*stroke([inside(dot, 0.5 + 3 * math.cos(turn), 0.5 + 3 * math.sin(turn)) for turn in turns]), submit(seen)]


@solves("identify-shape")
def kind_of_figure(seen: Seen) -> Moves:
    name = seen.all("graphics-symbol")[0].name
    kinds = {"rect": "Rectangle", "circle": "Circle", "polygon": "Triangle"}
    other = "Number" if name.isdigit() else "Letter"
    yield [click(seen.one("button", kinds.get(name.split(" ")[0], other)))]


def _shapes(seen: Seen) -> list[Node]:
    return [node for node in seen.all("graphics-symbol") if not node.name.endswith("none")]


def _far_from(seen: Seen, corner: Point, angle: float, *, both: bool = True) -> Point:
    """The point that is farthest from `corner` in a direction (or against it) and still above the button."""
    unit = box_of(seen.one("button", "Submit"))[3] / 31
    best = corner
    for sign in (1, -1) if both else (1,):
        for distance in range(1, 200):
            x, y = (corner[i] + sign * distance * unit * trig(angle) for i, trig in enumerate((math.cos, math.sin)))
            if not (2 * unit < x < 150 * unit and 52 * unit < y < 175 * unit):
                break
            if distance * unit > math.dist(best, corner):
                best = (round(x), round(y))
    return best
