"""The accessibility tree of what is on the screen, walked level by level within bounds of time and number.

Only what is showing is walked. What an application has not answered in time is left out: where it answers nothing at
all, it is named as hanging, and the rest of the tree is as good as ever. Of tables that make their cells only when
asked for them the visible ones are asked for (`cells`). What nodes hold is asked for in the end (`contents`).
"""

import time
from collections.abc import Sequence
from typing import Any

from claw_envs.gui.desktop.inside.bus import PATIENCE, Bus
from claw_envs.gui.desktop.inside.calls import ACCESSIBLE, COMPONENT, PROPERTIES, REGISTRY, ROOT, Call, Ref, get
from claw_envs.gui.desktop.inside.cells import visible_cells
from claw_envs.gui.desktop.inside.contents import fill_in
from claw_envs.gui.desktop.inside.node import APPLICATION, MENU_BAR, Node, Tree, descendants
from claw_envs.gui.desktop.inside.places import Places, seen
from claw_envs.gui.desktop.inside.roles import state_names

_APPLICATION = "org.a11y.atspi.Application"
_OFFICE = "soffice"
_MOST_CHILDREN = 400
"""Of one node; a list that is longer is asked for what it shows."""
MOST_NODES, WALK_TIMEOUT = 3000, 8.0
_OFF = 1 << 20
"""Coordinates beyond are those of what is not laid out."""


class Walker:
    """Walks the tree of one bus."""

    def __init__(self, bus: Bus, places: Places) -> None:
        self._bus, self._places = bus, places
        self._names: dict[str, str] = {}
        """Of applications, by bus name: told once, as one that hangs tells nothing."""
        self._toolkits: dict[str, str] = {}

    def walk(self, *, most: int = MOST_NODES, timeout: float = WALK_TIMEOUT) -> Tree:
        """The tree as it is now."""
        walk = _Walk(self, self._bus, self._places, most=most, deadline=time.monotonic() + timeout)
        return walk.run()

    def name(self, ref: Ref) -> str:
        """Name of the application of `ref`, as far as it is known."""
        return self._names.get(ref.bus, "an application")

    def toolkit(self, ref: Ref) -> str:
        """Name of the toolkit of `ref`, with its version."""
        return self._toolkits.get(ref.bus, "")

    def meet(self, refs: Sequence[Ref], *, deadline: float) -> list[Ref]:
        """Learn the names of applications; those of them that answer or have answered before."""
        new = [ref for ref in refs if ref.bus not in self._names]
        calls = [get(ref, *what) for ref in new for what in ((ACCESSIBLE, "Name"), (_APPLICATION, "ToolkitName"))]
        calls += [get(ref, _APPLICATION, "Version") for ref in new]
        answers = self._bus.ask(calls, deadline=deadline)
        for place, ref in enumerate(new):
            name, toolkit, version = answers[2 * place], answers[2 * place + 1], answers[2 * len(new) + place]
            if name:
                self._names[ref.bus] = str(name[0])
                self._toolkits[ref.bus] = f"{toolkit[0] if toolkit else ''} {version[0] if version else ''}"
        return [ref for ref in refs if ref.bus in self._names]


class _Walk:
    """One walk."""

    def __init__(self, walker: Walker, bus: Bus, places: Places, *, most: int, deadline: float) -> None:
        self._walker, self._bus, self._places = walker, bus, places
        self._most, self._deadline = most, deadline
        self._count = 0
        self._dead: set[str] = set()
        self._cut = False

    def run(self) -> Tree:
        """Walk."""
        (answer,) = self._ask([Call(Ref(REGISTRY, ROOT), ACCESSIBLE, "GetChildren")])
        refs = [Ref(*child) for child in answer[0]] if answer else []
        known = self._walker.meet(refs, deadline=self._deadline)
        self._dead = {ref.bus for ref in refs if ref not in known}
        applications = [Node(ref, role=APPLICATION, name=self._walker.name(ref)) for ref in known]
        self._places.renew()
        level = applications
        while level and not self._over():
            level = self._next(level)
        windows = [window for application in applications for window in application.children]
        fill_in([node for window in windows for node in descendants(window)], self._ask)
        names = sorted({self._walker.name(Ref(bus, ROOT)) for bus in self._dead})
        return Tree(windows, applications, names, self._cut)

    def _over(self) -> bool:
        over = self._count >= self._most or time.monotonic() >= self._deadline
        self._cut = self._cut or over
        return over

    def _ask(self, calls: Sequence[Call]) -> list[Any]:
        """Ask those that are not known to hang; who answers nothing of all that it was asked, in time, hangs."""
        asked = [call for call in calls if call.to.bus not in self._dead]
        begun = time.monotonic()
        found = iter(self._bus.ask(asked, deadline=self._deadline))
        answers = [next(found) if call.to.bus not in self._dead else None for call in calls]
        if time.monotonic() - begun >= PATIENCE:
            silent = {call.to.bus for call in asked}
            silent -= {call.to.bus for call, answer in zip(calls, answers, strict=True) if answer is not None}
            self._dead |= silent
        return answers

    def _next(self, level: list[Node]) -> list[Node]:
        """Find the children of a level that are showing."""
        parents = [node for node in level if node.child_count or node.role == APPLICATION]
        plain = [node for node in parents if node.child_count <= _MOST_CHILDREN and not _makes_cells(node)]
        lists = self._ask([Call(node.ref, ACCESSIBLE, "GetChildren") for node in plain])
        found: list[tuple[Node, Node]] = []
        for parent, answer in zip(plain, lists, strict=True):
            found += [(parent, Node(Ref(*child))) for child in (answer[0] if answer else ())]
        for parent in parents:
            if parent not in plain and (part := seen(parent)) is not None:
                cells = visible_cells(self._ask, parent.ref, part, self._places.coordinates(parent.toolkit))
                found += [(parent, Node(cell.ref, key=cell.key)) for cell in cells]
        found = found[: max(0, self._most - self._count)]
        self._count += len(found)
        self._describe([node for _, node in found])
        for parent, node in found:
            if parent.role == APPLICATION:
                node.toolkit = self._walker.toolkit(node.ref)
                self._places.place_window(node, self._bus, deadline=self._deadline)
            else:
                node.toolkit = parent.toolkit
            self._places.place(node, parent)
        shown = [(parent, node) for parent, node in found if _shows(node)]
        for parent, node in shown:
            parent.children.append(node)
        return [node for _, node in shown]

    def _describe(self, nodes: list[Node]) -> None:
        """Ask for what is needed of every node."""
        calls: list[Call] = []
        for node in nodes:
            kind = self._places.coordinates(self._walker.toolkit(node.ref))
            calls += (
                Call(node.ref, ACCESSIBLE, "GetState"),
                Call(node.ref, ACCESSIBLE, "GetRole"),
                Call(node.ref, PROPERTIES, "GetAll", "(s)", (ACCESSIBLE,)),
                Call(node.ref, COMPONENT, "GetExtents", "(u)", (kind,)),
            )
        answers = self._ask(calls)
        for place, node in enumerate(nodes):
            state, role, said, box = answers[4 * place : 4 * place + 4]
            node.states = state_names(state[0]) if state else frozenset()
            node.role = int(role[0]) if role else 0
            about = said[0] if said else {}
            node.name = " ".join(str(about.get("Name", "")).split())
            node.description = str(about.get("Description", ""))
            node.child_count = int(about.get("ChildCount", 0))
            if box and box[0][2] > 0 and box[0][3] > 0 and abs(box[0][0]) < _OFF and abs(box[0][1]) < _OFF:
                node.told = tuple(box[0])
        of_office = [node for node in nodes if self._walker.name(node.ref) == _OFFICE]
        attributes = self._ask([Call(node.ref, ACCESSIBLE, "GetAttributes") for node in of_office])
        for node, answer in zip(of_office, attributes, strict=True):
            node.native = bool(answer) and "toolkit" in answer[0]


def _shows(node: Node) -> bool:
    """Whether a node can be seen.

    GTK 4 knows only whether it would be, in a window that is. A menu bar or a cell without a place cannot.
    """
    if node.told is None and (node.role == MENU_BAR or node.key is not None):
        return False
    return "showing" in node.states or (node.toolkit.startswith("GTK 4") and "visible" in node.states)


def _makes_cells(node: Node) -> bool:
    return "manages-descendants" in node.states
