"""Questions to accessible objects, as AT-SPI has them on D-Bus."""

from typing import Any, NamedTuple

ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
PROPERTIES = "org.freedesktop.DBus.Properties"
REGISTRY = "org.a11y.atspi.Registry"
ROOT = "/org/a11y/atspi/accessible/root"


class Ref(NamedTuple):
    """An object of an application's."""

    bus: str
    """The application's name on the bus."""
    path: str


class Call(NamedTuple):
    """One question."""

    to: Ref
    interface: str
    method: str
    signature: str = ""
    arguments: tuple[Any, ...] = ()


def get(to: Ref, interface: str, name: str) -> Call:
    """Ask for one property."""
    return Call(to, PROPERTIES, "Get", "(ss)", (interface, name))
