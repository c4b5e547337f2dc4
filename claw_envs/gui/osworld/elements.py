"""OSWorld's accessibility XML as the elements that an agent is shown, chosen as on our own desktop.

Ids stay with a node as long as the way to it, by roles, names and places among its like, stays the same. Not covered:
the names of roles on systems other than Linux, which are left as they are.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element as Xml

import msgspec

from claw_envs.gui.desktop.inside.calls import Ref
from claw_envs.gui.desktop.inside.elements import Elements as Chosen
from claw_envs.gui.desktop.inside.elements import focused
from claw_envs.gui.desktop.inside.node import APPLICATION, Box, Node, Tree, Window
from claw_envs.gui.desktop.inside.roles import ROLES
from claw_envs.gui.osworld.metrics.tree import NAMESPACES
from claw_envs.gui.screen import Element

_SYSTEMS = ("ubuntu", "windows", "macos")
_NUMBERS = {name.replace(" ", "-"): number for number, name in enumerate(ROLES)}
_NUMBERS |= {"button": _NUMBERS["push-button"]}  # as newer versions of AT-SPI call it
_UNKNOWN = _NUMBERS["unknown"]
_PAIR = re.compile(r"\((-?\d+), *(-?\d+)\)")
_DEEPEST, _MOST = 64, 5000
"""Levels and nodes of a tree that are read."""
_MACHINE = "machine"
"""Stands for every application's name on the bus, which the XML does not tell."""


class Elements:
    """Numbers the nodes of a machine's trees, and remembers those that were shown last."""

    def __init__(self) -> None:
        self._chosen = Chosen()
        self.shown: dict[str, Element] = {}
        self.focused = ""
        """The focused one, in words."""

    def listed(self, root: Xml, windows: Sequence[Window], terminals: Mapping[int, str | None]) -> list[Element]:
        """The elements of a tree depth first, those of the active window first.

        Args:
            windows: the lowest first.
            terminals: id of a window that tells nothing -> its text.
        """
        found = self._chosen.listed(_tree(root), windows, terminals)
        self.focused = focused(found)
        elements = msgspec.convert(found, list[Element])
        self.shown = {element.id: element for element in elements}
        return elements


def _tree(root: Xml) -> Tree:
    """A tree as our own desktop finds it, without what does not show."""
    top = Node(Ref(_MACHINE, ""), role=APPLICATION)
    waiting, count = deque([(root, top, 0, "showing")]), 0
    while waiting:
        xml, node, depth, shown = waiting.popleft()
        for child, way in _ways(xml, node.ref.path):
            states = _states(child)
            if (depth == 0 or shown in states) and depth < _DEEPEST and count < _MOST:
                count += 1
                made = _node(child, way, states)
                node.children.append(made)
                waiting.append((child, made, depth + 1, _shown(child) if depth == 1 else shown))
    return Tree([window for application in top.children for window in application.children], top.children)


def _shown(window: Xml) -> str:
    """The state of what shows in a window: some toolkits, as GTK 4 at first, say only what is visible."""
    return "showing" if any("showing" in _states(each) for each in window.iterfind(".//*")) else "visible"


def _node(xml: Xml, way: str, states: frozenset[str]) -> Node:
    number = _attribute(xml, "val", "value")
    box = _box(xml)
    return Node(
        Ref(_MACHINE, way),
        role=_NUMBERS.get(xml.tag, _UNKNOWN),
        name=" ".join(xml.get("name", "").split()),
        description=_attribute(xml, "attr", "description"),
        states=states,
        told=box,
        box=box,
        child_count=len(xml),
        value=(xml.text or "").strip("\n") if (xml.text or "").strip() else "",
        number=float(number) if number.replace(".", "", 1).lstrip("-").isdigit() else None,
    )


def _ways(xml: Xml, above: str) -> Iterator[tuple[Xml, str]]:
    """Children, each with the way to it."""
    seen: Counter[tuple[str, str]] = Counter()
    for child in xml:
        like = (child.tag, child.get("name", ""))
        yield child, f"{above}/{like[0]}={like[1]}#{seen[like]}"
        seen[like] += 1


def _states(xml: Xml) -> frozenset[str]:
    prefixes = tuple(f"{{{NAMESPACES['st'].format(system)}}}" for system in _SYSTEMS)
    names = [name for name, value in xml.items() if value == "true" and name.startswith(prefixes)]
    return frozenset(name.partition("}")[2].replace("_", "-") for name in names)


def _attribute(xml: Xml, prefix: str, name: str) -> str:
    for system in _SYSTEMS:
        found = xml.get(f"{{{NAMESPACES[prefix].format(system)}}}{name}")
        if found is not None:
            return found
    return ""


def _box(xml: Xml) -> Box | None:
    place = _PAIR.fullmatch(_attribute(xml, "cp", "screencoord"))
    size = _PAIR.fullmatch(_attribute(xml, "cp", "size"))
    if place is None or size is None or int(size[1]) <= 0 or int(size[2]) <= 0:
        return None
    return int(place[1]), int(place[2]), int(size[1]), int(size[2])
