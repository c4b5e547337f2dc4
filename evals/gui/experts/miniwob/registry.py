"""Which expert plays which page."""

from collections.abc import Callable

from evals.gui.experts.miniwob.seen import Expert

EXPERTS: dict[str, Expert] = {}
"""Page -> its expert; filled when the modules of experts are imported."""


def solves(*pages: str) -> Callable[[Expert], Expert]:
    """Enter the decorated function as the expert of `pages`."""

    def enter(expert: Expert) -> Expert:
        EXPERTS.update(dict.fromkeys(pages, expert))
        return expert

    return enter
