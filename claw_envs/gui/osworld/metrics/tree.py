"""Metrics over the accessibility tree, as OSWorld's XML."""

from typing import Any

from claw_envs.core.errors import InfrastructureError, UserError
from claw_envs.gui.osworld.metrics.values import similarity

NAMESPACES = {
    short: f"https://accessibility.{{}}.example.org/ns/{long}"
    for short, long in {
        "st": "state",
        "attr": "attributes",
        "cp": "component",
        "doc": "document",
        "docattr": "document/attributes",
        "txt": "text",
        "val": "value",
        "act": "action",
        "class": "class",
        "role": "role",
    }.items()
}
"""Of attributes in the XML by prefix, for a system's name (`ubuntu`, `windows`, `macos`)."""
_LEFT_PANEL = "Slides View"


def check_accessibility_tree(result: Any, rules: list[dict[str, Any]], osname: str = "ubuntu") -> float:
    """For each rule, elements of an `xpath` or of CSS `selectors` are there; with `text`, how well the best fits."""
    root = _root(result)
    if root is None:
        return 0.0
    namespaces = {short: address.format(osname) for short, address in NAMESPACES.items()}
    score = 1.0
    for rule in rules:
        found = _select(root, rule, namespaces)
        if not found:
            return 0.0
        if "text" in rule:
            score *= max(_fit(rule, element.text or "") for element in found)
    return score


def check_left_panel(result: Any) -> float:
    """The presentation program shows its panel of slides."""
    root = _root(result)
    found = () if root is None else root.iter("document-frame")
    return float(any(frame.get("name") == _LEFT_PANEL for frame in found))


def _fit(rule: dict[str, Any], text: str) -> float:
    return float(rule["text"] == text) if rule.get("exact", True) else similarity(rule["text"], text)


def _select(root: Any, rule: dict[str, Any], namespaces: dict[str, str]) -> list[Any]:
    from lxml.cssselect import CSSSelector, SelectorError
    from lxml.etree import XPathError

    try:
        if "xpath" in rule:
            return list(root.xpath(rule["xpath"], namespaces=namespaces))
        return list(CSSSelector(", ".join(rule["selectors"]), namespaces=namespaces)(root))
    except (XPathError, SelectorError) as error:
        raise ValueError(f"{rule}: {error}") from error


def _root(xml: Any) -> Any:
    if not isinstance(xml, str):
        return None
    try:
        import cssselect  # noqa: F401
        from lxml import etree
    except ImportError as error:
        raise UserError('this evaluator needs lxml and cssselect: pip install "claw-envs[gui]"') from error
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(xml.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise InfrastructureError(f"the machine's accessibility tree is not XML: {error}") from error


ALL = (check_accessibility_tree, check_left_panel)
