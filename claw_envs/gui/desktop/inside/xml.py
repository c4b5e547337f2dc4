"""The accessibility tree as OSWorld's protocol gives it: an XML document that its evaluators search by selectors.

An element's tag is its AT-SPI role. States, what it can do and where it is are attributes in namespaces of their own.
"""

from xml.etree import ElementTree as ET

from claw_envs.gui.desktop.inside.node import Node, Tree
from claw_envs.gui.desktop.inside.roles import role_name

_HOST = "https://accessibility.ubuntu.example.org/ns"
NAMESPACES = {name: f"{_HOST}/{end}" for name, end in (
    ("st", "state"), ("attr", "attributes"), ("cp", "component"), ("doc", "document"),
    ("docattr", "document/attributes"), ("txt", "text"), ("val", "value"), ("act", "action"),
)}  # fmt: skip
_LONGEST_TAG = 1000


def as_xml(tree: Tree) -> str:
    """The document."""
    for name, address in NAMESPACES.items():
        ET.register_namespace(name, address)
    top = ET.Element("desktop-frame", {"name": "main"})
    for application in tree.applications:
        top.append(_element(application))
    return ET.tostring(top, encoding="unicode")


def _element(node: Node) -> ET.Element:
    made = ET.Element(role_name(node.role).replace(" ", "-"), {"name": _plain(node.name)})
    for state in sorted(node.states):
        made.set(f"{{{NAMESPACES['st']}}}{state.replace('-', '_')}", "true")
    if node.box is not None:
        x, y, width, height = node.box
        made.set(f"{{{NAMESPACES['cp']}}}coordtype", "screen")
        made.set(f"{{{NAMESPACES['cp']}}}screencoord", f"({x}, {y})")
        made.set(f"{{{NAMESPACES['cp']}}}size", f"({width}, {height})")
    if node.number is not None:
        made.set(f"{{{NAMESPACES['val']}}}value", f"{node.number:g}")
    if node.description:
        made.set(f"{{{NAMESPACES['attr']}}}description", _plain(node.description))
    if node.toolkit:
        made.set(f"{{{NAMESPACES['attr']}}}toolkit", node.toolkit.strip())
    if node.value:
        made.text = _plain(node.value)
    made.extend(_element(child) for child in node.children)
    return made


def _plain(text: str) -> str:
    """`text` without what XML cannot hold."""
    return "".join(
        c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
    )
