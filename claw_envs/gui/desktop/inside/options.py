"""The options of a list or combo box, as far as AT-SPI tells them, whether it is open or not."""

from typing import NamedTuple

from claw_envs.gui.desktop.inside.bus import Bus
from claw_envs.gui.desktop.inside.calls import ACCESSIBLE, Call, Ref, get
from claw_envs.gui.desktop.inside.roles import aria_role

_MOST, _DEEPEST = 500, 4
_OPTIONS = ("option", "menuitem", "gridcell", "treeitem", "radio", "tab", "text")


class Option(NamedTuple):
    """One option, and where it is chosen."""

    name: str
    place: int
    """Among its list's options, as AT-SPI's Selection counts."""


def options_of(bus: Bus, top: Ref, deadline: float) -> list[Option]:
    """The options below `top`; empty where it does not tell any."""
    found: list[Option] = []
    level = [top]
    for _ in range(_DEEPEST):
        below: list[Ref] = []
        lists = bus.ask([Call(ref, ACCESSIBLE, "GetChildren") for ref in level], deadline=deadline)
        for answer in lists:
            children = [Ref(*child) for child in (answer[0] if answer else ())][:_MOST]
            names = bus.ask([get(child, ACCESSIBLE, "Name") for child in children], deadline=deadline)
            roles = bus.ask([Call(child, ACCESSIBLE, "GetRole") for child in children], deadline=deadline)
            for place, (child, name, role) in enumerate(zip(children, names, roles, strict=True)):
                if role and aria_role(int(role[0])) in _OPTIONS and name and name[0]:
                    found.append(Option(str(name[0]), place))
                else:
                    below.append(child)
        if found or not below:
            break
        level = below[:_MOST]
    return found
