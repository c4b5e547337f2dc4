"""What an agent reads of a screen: the observation's text, taken apart again.

Experts find elements here as a model would, by role and name in the lines of the accessibility tree. Nothing else of
the environment is looked at.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_LINE = re.compile(
    r"(?P<indent> *)\[(?P<id>[^\]\s]+)\] (?P<role>[\w-]+)(?: (?P<name>\"(?:[^\"\\]|\\.)*\"))?"
    r"(?: = (?P<value>\"(?:[^\"\\]|\\.)*\"))?(?: \((?P<box>-?\d+,-?\d+,\d+,\d+)\))?(?P<states>(?: [^\s\"]+)*)"
)
_HEADER = re.compile(r"\[(?:\d+/\d+ )?(?:[\w.]+ \| )?error: (?P<error>.*)\]")


class Node(NamedTuple):
    """A line of the accessibility tree."""

    id: str
    role: str
    name: str
    value: str
    box: tuple[int, int, int, int] | None
    """x, y, width, height in the agent's coordinates."""
    states: tuple[str, ...]
    depth: int


class Target(NamedTuple):
    """An element in words."""

    role: str
    name: str | None = None
    nth: int = 1
    """Among those that fit, from 1 in the order of the tree; from -1 backwards."""
    within: "Target | None" = None
    """What it is in; fits by its name, or by what something in it is called."""

    def __str__(self) -> str:
        said = self.role + ("" if self.name is None else f' "{self.name}"') + ("" if self.nth == 1 else f" {self.nth}")
        return f"{said} in {self.within}" if self.within else said


class Page(NamedTuple):
    """One observation."""

    text: str
    nodes: Sequence[Node]
    error: str
    """Of the last action; empty where it was carried out."""

    def find(self, target: Target) -> Node | None:
        """The element that `target` says; None where nothing fits.

        Names are compared exactly, then without regard to case; what has none is known by its value. A scope may also
        be named by a part of its name, or by the name of something in it.
        """
        nodes: Sequence[Node] = self.nodes
        if target.within is not None:
            scope = self._scope(target.within)
            if scope is None:
                return None
            nodes = self.inside(scope)
        return _nth(_called(nodes, target), target.nth)

    def inside(self, scope: Node) -> list[Node]:
        """All that stands in `scope`, which the indentation tells."""
        start = self.nodes.index(scope) + 1
        found: list[Node] = []
        for node in self.nodes[start:]:
            if node.depth <= scope.depth:
                break
            found.append(node)
        return found

    def _scope(self, target: Target) -> Node | None:
        if exact := self.find(target):
            return exact
        if target.name is None:
            return None
        nodes = self.nodes
        if target.within is not None:
            outer = self._scope(target.within)
            nodes = self.inside(outer) if outer else []
        wanted = target.name.casefold()
        alike = [node for node in nodes if node.role == target.role]
        holding = [node for node in alike if any(wanted == each.name.casefold() for each in self.inside(node))]
        return _nth(holding or [node for node in alike if wanted in node.name.casefold()], target.nth)


def read_page(text: str) -> Page:
    """`text` of an observation, taken apart; lines that are no element are left out of the nodes."""
    nodes = list(_nodes(text.splitlines()))
    error = next((found["error"] for line in text.splitlines() if (found := _HEADER.fullmatch(line))), "")
    return Page(text, nodes, error)


def _nodes(lines: Sequence[str]) -> Iterator[Node]:
    for line in lines:
        if found := _LINE.fullmatch(line):
            box = tuple(map(int, found["box"].split(","))) if found["box"] else None
            yield Node(
                id=found["id"],
                role=found["role"],
                name=_unquoted(found["name"]),
                value=_unquoted(found["value"]),
                box=box,  # type: ignore[arg-type]  # four, as the pattern says
                states=tuple(found["states"].split()),
                depth=len(found["indent"]) // 2,
            )


def _unquoted(text: str | None) -> str:
    return str(json.loads(text)) if text else ""


def _called(nodes: Sequence[Node], target: Target) -> list[Node]:
    alike = [node for node in nodes if node.role == target.role]
    if target.name is None:
        return alike
    name = target.name
    tests: list[Callable[[Node], bool]] = [
        lambda node: node.name == name,
        lambda node: node.name.casefold() == name.casefold(),
        lambda node: not node.name and node.value == name,
    ]
    return next((found for test in tests if (found := [node for node in alike if test(node)])), [])


def _nth(nodes: Sequence[Node], nth: int) -> Node | None:
    index = nth - 1 if nth > 0 else nth
    return nodes[index] if -len(nodes) <= index < len(nodes) else None
