"""What an expert works with: the page's request, and the elements below it."""

import re
from collections.abc import Callable, Generator, Sequence

from claw_envs.wire import Call
from evals.gui.experts.page import Node, Page
from evals.gui.experts.policy import Stuck

Moves = Generator[Sequence[Call], "Seen", None]
"""An episode: each message's calls are answered by what is seen then."""
Part = Generator[Sequence[Call], "Seen", "Seen"]
"""A part of an episode, which ends with what is seen then."""
Expert = Callable[["Seen"], Moves]


class Seen:
    """One observation of a page.

    Attributes:
        task: what the page asks for.
        nodes: its elements, without those of the request itself.
    """

    def __init__(self, page: Page, task: str) -> None:
        self.task = task
        self.nodes = _below_request(page.nodes, task)

    def all(self, role: str | None = None, name: str | None = None) -> list[Node]:
        """The elements of that role and name, in order."""
        return [
            node for node in self.nodes if (role is None or node.role == role) and (name is None or node.name == name)
        ]

    def maybe(self, role: str | None = None, name: str | None = None, *, nth: int = 0) -> Node | None:
        """The `nth` element of that role and name, from 0; None where there is none."""
        found = self.all(role, name)
        return found[nth] if -len(found) <= nth < len(found) else None

    def one(self, role: str | None = None, name: str | None = None, *, nth: int = 0) -> Node:
        """As `maybe`.

        Raises:
            Stuck: if there is none.
        """
        node = self.maybe(role, name, nth=nth)
        if node is None:
            raise Stuck(f"{self.task!r}: no {role or 'element'} {name or ''!r} among {self.nodes}")
        return node

    def first(self, test: Callable[[Node], bool]) -> Node:
        """The first element that passes a test.

        Raises:
            Stuck: if there is none.
        """
        for node in self.nodes:
            if test(node):
                return node
        raise Stuck(f"{self.task!r}: nothing fits among {self.nodes}")

    def again(self, node: Node) -> Node:
        """An element of an earlier observation as it is now.

        Raises:
            Stuck: if it is gone.
        """
        return self.first(lambda each: each.id == node.id)

    def matching(self, pattern: str, role: str | None = None) -> list[Node]:
        """The elements whose whole name fits a pattern."""
        return [node for node in self.all(role) if re.fullmatch(pattern, node.name)]

    def asked(self, pattern: str) -> tuple[str, ...]:
        """The groups of a pattern in the request.

        Raises:
            Stuck: if it is not there.
        """
        found = re.search(pattern, self.task)
        if found is None:
            raise Stuck(f"cannot read {self.task!r}")
        return found.groups()

    def quoted(self) -> list[str]:
        """What stands in quotes in the request."""
        return re.findall(r'"([^"]*)"', self.task)


def _below_request(nodes: Sequence[Node], task: str) -> list[Node]:
    """`nodes` without those at the top that only repeat the request."""
    wanted, read = _squeezed(task), ""
    for index, node in enumerate(nodes):
        if read == wanted:
            return list(nodes[index:])
        if wanted.startswith(read + _squeezed(node.name)):
            read += _squeezed(node.name)
    return list(nodes)


def _squeezed(text: str) -> str:
    return "".join(text.split())
