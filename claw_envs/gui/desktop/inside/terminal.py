"""The text of terminals: over AT-SPI where they tell it, and of xterm by having it print.

xterm prints all of its text, scrolled out too, to a pipe when it is sent a key that no keyboard has; our `Xdefaults`
say so. Not covered: an xterm that was started with other resources.
"""

import contextlib
import os
import select
from pathlib import Path

from claw_envs.gui.desktop.inside.node import TERMINAL, Tree, descendants
from claw_envs.gui.desktop.inside.x import Input

XTERM = "XTerm"
"""Its class."""
_KEY = "f35"
_READ = 1 << 16
_LONGEST = 1 << 20


def terminal_text(tree: Tree) -> str | None:
    """What the terminal of the active window shows; None where there is none that says so."""
    for window in tree.windows:
        if "active" in window.states:
            for node in descendants(window):
                if node.role == TERMINAL:
                    return node.value
    return None


def xterm_text(hands: Input, pipe: Path, *, timeout: float) -> str | None:
    """What the active window, an xterm, shows; None where it does not print.

    Args:
        pipe: a name for the pipe that our resources make it print to.
        timeout: seconds that it gets to begin, and to go on.
    """
    with contextlib.suppress(FileExistsError):
        os.mkfifo(pipe, 0o600)
    fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    said = b""
    try:
        hands.hotkey(_KEY)
        while len(said) < _LONGEST and select.select([fd], [], [], timeout)[0]:
            data = os.read(fd, _READ)
            if not data:
                break
            said += data
    finally:
        os.close(fd)
    return said.decode("utf-8", "replace").rstrip() if said else None
