"""A machine's windows, and the boot that it is in, by one command: the protocol has no way to ask for either."""

import re
from typing import Any, NamedTuple

from claw_envs.gui.desktop.inside.node import Window
from claw_envs.gui.screen import Pane

_SCRIPT = (
    "cat /proc/sys/kernel/random/boot_id; "
    "xprop -root _NET_ACTIVE_WINDOW 2>/dev/null || xdotool getactivewindow 2>/dev/null || echo; "
    "xprop -root _NET_CLIENT_LIST_STACKING 2>/dev/null || echo; "
    "wmctrl -lxG 2>/dev/null"
)
_WINDOW = re.compile(r"(0x[0-9a-f]+) +(-?\d+) +(-?\d+) +(-?\d+) +(\d+) +(\d+) +(\S+) +\S+ ?(.*)")
_NUMBER = re.compile(r"\b0x[0-9a-f]+\b|\b\d+\b")
_ON_ALL = "-1"
"""The desktop of panels and the like, which are no windows of an application's."""


class State(NamedTuple):
    """What the command tells."""

    boot: str
    """Another after each boot; empty where the machine does not say."""
    windows: tuple[Window, ...]
    """In the order in which they were opened."""
    order: tuple[int, ...] = ()
    """Ids of windows, the lowest first; empty where the machine does not say."""

    @classmethod
    def read(cls, output: str) -> "State":
        """From the command's output."""
        boot, active, stacking, *listed = (*output.split("\n"), "", "", "")
        numbers = _numbers(active)
        on_top = numbers[0] if numbers else 0
        found = [match for match in map(_WINDOW.fullmatch, listed) if match and match[2] != _ON_ALL]
        return cls(boot.strip(), tuple(_window(match, on_top) for match in found), tuple(_numbers(stacking)))

    @property
    def panes(self) -> list[Pane]:
        """The windows as an agent is shown them."""
        return [Pane(title=window.title, active=window.active) for window in self.windows]

    @property
    def stacked(self) -> list[Window]:
        """The windows, the lowest first."""
        places = {number: place for place, number in enumerate(self.order)}
        return sorted(self.windows, key=lambda window: places.get(window.id, -1))


def _window(match: re.Match[str], on_top: int) -> Window:
    x, y, width, height = (int(match[place]) for place in (3, 4, 5, 6))
    name, _, kind = match[7].partition(".")
    box = x, y, width, height
    return Window(int(match[1], 16), match[8], name, kind, 0, box, box, int(match[1], 16) == on_top)


def _numbers(text: str) -> list[int]:
    return [int(number, 0) for number in _NUMBER.findall(text)]


def state_command() -> dict[str, Any]:
    """The request for `/execute`."""
    return {"command": _SCRIPT, "shell": True}
