"""What nodes of the tree hold and are called: texts, numbers, labels that stand beside them."""

from collections.abc import Callable, Sequence
from typing import Any

from claw_envs.gui.desktop.inside.calls import ACCESSIBLE, Call, Ref, get
from claw_envs.gui.desktop.inside.node import Node
from claw_envs.gui.desktop.inside.roles import WITH_NUMBER, WITH_TEXT

_TEXT, _VALUE = "org.a11y.atspi.Text", "org.a11y.atspi.Value"
_LONGEST_TEXT = 2000
_EMBEDDED = "\ufffc"
"""Stands in a text for an object in it."""
_LABELLED_BY = 2
_LABELLED = frozenset({"textbox", "combobox", "spinbutton", "slider", "listbox", "grid", "treegrid", "tree"})

_BY_CHOICE = "combobox"
"""Is named after what is chosen in it, where nothing else is said."""

Ask = Callable[[Sequence[Call]], list[Any]]


def fill_in(nodes: Sequence[Node], ask: Ask) -> None:
    """Ask for what those of `nodes` hold that may hold something, and for the labels of those without a name."""
    texts = [node for node in nodes if node.aria in WITH_TEXT or not (node.name or node.children)]
    numbers = [node for node in nodes if node.aria in WITH_NUMBER]
    nameless = [node for node in nodes if node.aria in _LABELLED and (not node.name or node.aria == _BY_CHOICE)]
    calls = [get(node.ref, _TEXT, "CharacterCount") for node in texts]
    calls += [get(node.ref, _VALUE, "CurrentValue") for node in numbers]
    calls += [Call(node.ref, ACCESSIBLE, "GetRelationSet") for node in nameless]
    answers = ask(calls)
    for node, answer in zip(numbers, answers[len(texts) :], strict=False):
        node.number = float(answer[0]) if answer else None
    _read([(node, int(count[0])) for node, count in zip(texts, answers, strict=False) if count], ask)
    _name(nameless, answers[len(texts) + len(numbers) :], nodes)


def _read(texts: Sequence[tuple[Node, int]], ask: Ask) -> None:
    """Ask for texts of so many characters; who is asked for more than there are may answer nothing."""
    lengths = [(node, min(count, _LONGEST_TEXT)) for node, count in texts if count > 0]
    answers = ask([Call(node.ref, _TEXT, "GetText", "(ii)", (0, length)) for node, length in lengths])
    for (node, _), answer in zip(lengths, answers, strict=True):
        node.value = answer[0].replace(_EMBEDDED, "") if answer else ""


def _name(nameless: Sequence[Node], relations: Sequence[Any], nodes: Sequence[Node]) -> None:
    """Name nodes after the labels that stand beside them."""
    names = {node.ref: node.name or node.value for node in nodes}
    for node, answer in zip(nameless, relations, strict=True):
        targets = dict(answer[0]).get(_LABELLED_BY, ()) if answer else ()
        labels = [names.get(Ref(*target), "") for target in targets]
        label = " ".join(filter(None, labels)).rstrip(":")
        if label:
            node.name, node.value = label, node.value or node.name
