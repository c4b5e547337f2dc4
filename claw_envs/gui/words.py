"""What an agent reads of a view, beside the accessibility tree: what happened, where it is, what has the focus."""

from collections.abc import Iterator, Sequence

from claw_envs.gui.actions.frame import Frame
from claw_envs.gui.axtree import quoted, tree_text
from claw_envs.gui.screen import Pane, View

_LONGEST = 500
_MOST_NOTES, _MOST_PANES = 20, 20


def view_text(view: View, frame: Frame, *, max_characters: int) -> tuple[str, str]:
    """`view` for the agent, and of it the tree; both without what was not made.

    Args:
        max_characters: of the tree.
    """
    tree = ""
    if view.elements is not None:
        tree = tree_text(view.elements, frame, max_characters=max_characters)
    tree = valid(tree)
    lines = [*map(valid, _around(view)), *([tree] if tree else [])]
    return "\n".join(lines), tree


def turns_left(count: int) -> str:
    """The last line of every observation but the last: how many messages the agent may still write."""
    return f"[{count} turn{'' if count == 1 else 's'} left]"


def one_line(text: str) -> str:
    """A text that a page may have made up, so that it cannot pass for lines of ours."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def valid(text: str) -> str:
    """`text` without halves of surrogate pairs, which a page can make and no message may hold."""
    return text.encode(errors="replace").decode()


def _around(view: View) -> Iterator[str]:
    yield from (f"Note: {one_line(note)}" for note in view.notes[:_MOST_NOTES])
    if len(view.notes) > _MOST_NOTES:
        yield f"Note: {len(view.notes) - _MOST_NOTES} more notes are left out."
    if view.url is not None:
        yield f"URL: {one_line(view.url)}"
        yield from (f"Title: {one_line(pane.title)}" for pane in view.panes if pane.active and pane.title)
        if len(view.panes) > 1:
            yield f"Tabs: {_panes(view.panes)}"
    else:
        yield f"Windows: {_panes(view.panes) or 'none'}"
    if view.focused:
        yield f"Focused: {one_line(view.focused)}"


def _panes(panes: Sequence[Pane]) -> str:
    shown = [f"{i} {quoted(pane.title)}{' (active)' * pane.active}" for i, pane in enumerate(panes[:_MOST_PANES])]
    more = [f"and {len(panes) - _MOST_PANES} more"] if len(panes) > _MOST_PANES else []
    return ", ".join([*shown, *more])
