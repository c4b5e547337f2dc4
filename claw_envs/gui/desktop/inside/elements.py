"""The tree as an agent is shown it: what matters of it, under ids that last as long as the objects.

What only wraps others is left out, its children stand in its place; so are texts that repeat what their element is
called, and what lies under other windows. Windows that tell nothing over AT-SPI are there by themselves.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from claw_envs.gui.desktop.inside.calls import Ref
from claw_envs.gui.desktop.inside.node import FRAME, ROOT_PANE, TERMINAL, Box, Node, Tree, Window, descendants
from claw_envs.gui.desktop.inside.roles import WRAPPERS, shown_states

_SKIPPED = frozenset({"separator", "scrollbar", "ruler"})
"""With all that is in them: an agent scrolls with the wheel."""
_NAMED = frozenset({"button", "checkbox", "link", "menuitem", "option", "radio"})
"""Roles that take over what a label in them says, without a name of their own."""
_FIELDS = _NAMED | {"combobox", "spinbutton", "textbox"}
"""Those that take over what their group is called."""
_GROUPS = frozenset({"group", "toolbar", "combobox"})
_CLASS = re.compile(r"(Gtk|Adw)[A-Z]\w*")
"""GTK 4's name for what has none: its class."""
_TWICE = re.compile(r"(.+) \1")
"""GTK 4's name for what has a label and a tooltip that say the same."""
_LONGEST_NAME, _LONGEST_VALUE = 300, 2000
"""Characters; of a terminal the last."""
_MOST_IN_GROUP = 2
_NO_APPLICATION = "x"


class Elements:
    """Numbers the objects of a desktop, and remembers those that were shown last."""

    def __init__(self) -> None:
        self._ids: dict[Ref, str] = {}
        self._shown: dict[str, Node] = {}

    def find(self, number: str) -> Node | None:
        """The element of that id, if it was there at the last look."""
        return self._shown.get(number)

    def listed(
        self, tree: Tree, windows: Sequence[Window], terminals: Mapping[int, str | None]
    ) -> list[dict[str, Any]]:
        """The elements depth first, those of the active window first; see `screen.Element`.

        Args:
            windows: the lowest first.
            terminals: id of a window that tells nothing -> its text.
        """
        self._shown = {}
        known = {node.name for node in tree.windows}
        silent = [_bare(window, terminals.get(window.id)) for window in windows if window.title not in known]
        found: list[dict[str, Any]] = []
        for node in sorted([*tree.windows, *silent], key=lambda node: "active" not in node.states):
            self._list(node, 0, None, _above(node, windows), found)
        return found

    def _list(self, node: Node, depth: int, parent: Node | None, above: list[Box], found: list[dict[str, Any]]) -> None:
        """List `node` and what is in it, below the element `parent`, unless it lies under one of `above`."""
        role, name = node.aria, _name(node, parent)
        if role in _SKIPPED:
            return
        says = "focused" in node.states or not (_wraps(node, role, name) or _repeats(node, role, parent))
        if says and (parent is None or not _covered(node, above)):
            node.name = name
            found.append(self._element(node, role, depth))
            depth, parent = depth + 1, node
        for child in node.children:
            self._list(child, depth, parent, above, found)

    def _element(self, node: Node, role: str, depth: int) -> dict[str, Any]:
        key = node.key or node.ref
        number = self._ids.setdefault(key, str(len(self._ids) + 1))
        self._shown[number] = node
        value = node.value if node.number is None or node.value else f"{node.number:g}"
        return {
            "id": number,
            "role": role,
            "name": node.name[:_LONGEST_NAME],
            "value": "" if value == node.name else value[:_LONGEST_VALUE],
            "box": node.box,
            "states": shown_states(node.states),
            "depth": depth,
        }


def focused(elements: Sequence[dict[str, Any]]) -> str:
    """The innermost focused element of the first window, in words; empty where there is none."""
    said = ""
    for place, element in enumerate(elements):
        if place and element["depth"] == 0:
            break
        if "focused" in element["states"]:
            said = f'[{element["id"]}] {element["role"]} "{element["name"]}"'
    return said


def _name(node: Node, parent: Node | None) -> str:
    """What an element is called, by itself, by what is in it or by its group."""
    name = "" if _CLASS.fullmatch(node.name) else node.name
    twice = _TWICE.fullmatch(name)
    name = twice[1] if twice else name or node.description
    if not name and node.aria in _NAMED:
        name = " ".join(filter(None, (_text(below) for below in descendants(node))))
    if name or node.aria not in _FIELDS or parent is None or parent.aria not in _GROUPS:
        return name
    return parent.name if len(parent.children) <= _MOST_IN_GROUP else ""


def _text(node: Node) -> str:
    if _CLASS.fullmatch(node.name):
        return node.value
    return node.name or node.value


def _wraps(node: Node, role: str, name: str) -> bool:
    """Whether an element says nothing by itself."""
    if node.role == ROOT_PANE or role == "generic":
        return True
    if role in WRAPPERS and len(node.children) == 1 and not node.name:
        return True
    return not name and not node.value and (role in WRAPPERS or node.box is None)


def _repeats(node: Node, role: str, parent: Node | None) -> bool:
    if role != "text" or node.children:
        return False
    said = _text(node)
    return not said or (parent is not None and said in parent.name)


def _above(node: Node, windows: Sequence[Window]) -> list[Box]:
    """Boxes of the windows that lie over the one of `node`; none over menus and other windows that are not kept."""
    titles = [window.title for window in windows]
    if node.name not in titles or node.aria not in ("window", "dialog"):
        return []
    return [window.frame for window in windows[titles.index(node.name) + 1 :]]


def _covered(node: Node, above: list[Box]) -> bool:
    """Whether the middle of an element, where it would be clicked on, is under another window, or scrolled away."""
    if node.box is None:
        return False
    x, y = node.box[0] + node.box[2] // 2, node.box[1] + node.box[3] // 2
    if node.view is not None and not node.children and not _contains(node.view, x, y):
        return True
    return any(_contains(box, x, y) for box in above)


def _contains(box: Box, x: int, y: int) -> bool:
    left, top, width, height = box
    return left <= x < left + width and top <= y < top + height


def _bare(window: Window, text: str | None) -> Node:
    """A window whose application has no accessibility, with the text of the terminal in it."""
    states = {"enabled", "sensitive", "showing", "active" if window.active else "visible"}
    ref = Ref(_NO_APPLICATION, str(window.id))
    node = Node(ref, role=FRAME, name=window.title, states=frozenset(states), box=window.box)
    if text is not None:
        shown = frozenset(states | {"focused"})
        inner = Ref(_NO_APPLICATION, f"{window.id}/text")
        node.children.append(Node(inner, role=TERMINAL, value=text[-_LONGEST_VALUE:], states=shown, box=window.box))
    return node
