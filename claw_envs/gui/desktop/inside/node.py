"""Accessible objects and their tree, as a walk finds them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from claw_envs.gui.desktop.inside.calls import Ref
from claw_envs.gui.desktop.inside.roles import aria_role

Box = tuple[int, int, int, int]
"""x, y, width and height in pixels."""
APPLICATION, FRAME, MENU, MENU_BAR, POPUP_MENU, ROOT_PANE = 75, 23, 33, 34, 41, 46
SCROLL_PANE, TERMINAL, VIEWPORT, WINDOW = 49, 60, 68, 69
"""Roles, as AT-SPI numbers them."""


@dataclass(eq=False)
class Node:
    """One accessible object as it was found."""

    ref: Ref
    role: int = 0
    name: str = ""
    description: str = ""
    states: frozenset[str] = frozenset()
    told: Box | None = None
    """Where its application says that it is."""
    box: Box | None = None
    """Where it is on the screen."""
    view: Box | None = None
    """The part of the screen through which it is seen, where it is in something that scrolls."""
    child_count: int = 0
    value: str = ""
    """What a field holds."""
    number: float | None = None
    """What a slider or the like stands at."""
    toolkit: str = ""
    """Its application's toolkit, with the version."""
    native: bool = True
    """Whether it is an object of that toolkit itself, not one of LibreOffice's own inside of it."""
    key: Ref | None = None
    """What it is known by where its reference is another one at each walk."""
    children: "list[Node]" = field(default_factory=list)

    @property
    def aria(self) -> str:
        """Its role as ARIA names it."""
        return aria_role(self.role)


@dataclass
class Tree:
    """What was found."""

    windows: list[Node]
    """The top of it, in the order of the applications."""
    applications: list[Node]
    hanging: list[str] = field(default_factory=list)
    """Applications that do not answer, by name."""
    cut: bool = False
    """Whether the bounds were reached."""


def overlap(one: Box, other: Box) -> Box:
    """Where two boxes overlap; its width or height is 0 where they do not.

    >>> overlap((0, 0, 10, 10), (5, 2, 20, 4)), overlap((0, 0, 1, 1), (5, 5, 1, 1))
    ((5, 2, 5, 4), (5, 5, 0, 0))
    """
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[0] + one[2], other[0] + other[2]), min(one[1] + one[3], other[1] + other[3])
    return left, top, max(0, right - left), max(0, bottom - top)


def descendants(node: Node) -> list[Node]:
    """A node and all below it, depth first."""
    found, waiting = [], [node]
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(found[-1].children)
    return found


class Window(NamedTuple):
    """One window as it is now."""

    id: int
    title: str
    name: str
    """First part of its class: the instance."""
    window_class: str
    pid: int
    box: Box
    """x, y, width and height of its content, without the window manager's frame."""
    frame: Box
    """The same with the window manager's frame."""
    active: bool
