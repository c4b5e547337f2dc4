"""Names of AT-SPI's roles and states by number, and the ARIA names that agents see."""

ROLES = (
    "invalid", "accelerator label", "alert", "animation", "arrow", "calendar", "canvas", "check box",
    "check menu item", "color chooser", "column header", "combo box", "date editor", "desktop icon", "desktop frame",
    "dial", "dialog", "directory pane", "drawing area", "file chooser", "filler", "focus traversable", "font chooser",
    "frame", "glass pane", "html container", "icon", "image", "internal frame", "label", "layered pane", "list",
    "list item", "menu", "menu bar", "menu item", "option pane", "page tab", "page tab list", "panel", "password text",
    "popup menu", "progress bar", "push button", "radio button", "radio menu item", "root pane", "row header",
    "scroll bar", "scroll pane", "separator", "slider", "spin button", "split pane", "status bar", "table",
    "table cell", "table column header", "table row header", "tearoff menu item", "terminal", "text", "toggle button",
    "tool bar", "tool tip", "tree", "tree table", "unknown", "viewport", "window", "extended", "header", "footer",
    "paragraph", "ruler", "application", "autocomplete", "editbar", "embedded", "entry", "chart", "caption",
    "document frame", "heading", "page", "section", "redundant object", "form", "link", "input method window",
    "table row", "tree item", "document spreadsheet", "document presentation", "document text", "document web",
    "document email", "comment", "list box", "grouping", "image map", "notification", "info bar", "level bar",
    "title bar", "block quote", "audio", "video", "definition", "article", "landmark", "log", "marquee", "math",
    "rating", "timer", "static", "math fraction", "math root", "subscript", "superscript", "description list",
    "description term", "description value", "footnote", "content deletion", "content insertion", "mark", "suggestion",
    "push button menu",
)  # fmt: skip
"""As AT-SPI numbers them."""
STATES = (
    "invalid", "active", "armed", "busy", "checked", "collapsed", "defunct", "editable", "enabled", "expandable",
    "expanded", "focusable", "focused", "has-tooltip", "horizontal", "iconified", "modal", "multi-line",
    "multiselectable", "opaque", "pressed", "resizable", "selectable", "selected", "sensitive", "showing",
    "single-line", "stale", "transient", "vertical", "visible", "manages-descendants", "indeterminate", "required",
    "truncated", "animated", "invalid-entry", "supports-autocompletion", "selectable-text", "is-default", "visited",
    "checkable", "has-popup", "read-only",
)  # fmt: skip
"""As AT-SPI numbers them."""
_ARIA = {
    "autocomplete": "combobox", "block quote": "blockquote", "check box": "checkbox",
    "check menu item": "menuitemcheckbox", "column header": "columnheader", "combo box": "combobox",
    "date editor": "textbox", "desktop icon": "button", "document email": "document", "document frame": "document",
    "document presentation": "document", "document spreadsheet": "document", "document text": "document",
    "document web": "document", "editbar": "textbox", "entry": "textbox", "file chooser": "dialog", "filler": "generic",
    "font chooser": "dialog", "color chooser": "dialog", "frame": "window", "grouping": "group", "icon": "button",
    "image": "img", "info bar": "status", "label": "text", "layered pane": "listbox", "level bar": "meter",
    "list": "listbox", "list box": "listbox", "list item": "option", "menu": "menuitem", "menu bar": "menubar",
    "menu item": "menuitem", "notification": "alert", "option pane": "group", "page tab": "tab",
    "page tab list": "tablist", "panel": "group", "password text": "textbox", "popup menu": "menu",
    "progress bar": "progressbar", "push button": "button", "push button menu": "button", "radio button": "radio",
    "radio menu item": "menuitemradio", "row header": "rowheader", "scroll bar": "scrollbar", "scroll pane": "group",
    "section": "group", "slider": "slider", "spin button": "spinbutton", "split pane": "group", "static": "text",
    "status bar": "status", "table": "grid", "table cell": "gridcell", "table column header": "columnheader",
    "table row": "row", "table row header": "rowheader", "tearoff menu item": "menuitem", "terminal": "textbox",
    "text": "textbox", "title bar": "banner", "toggle button": "button", "tool bar": "toolbar", "tool tip": "tooltip",
    "tree": "tree", "tree item": "treeitem", "tree table": "treegrid", "unknown": "generic", "viewport": "group",
}  # fmt: skip
_SHOWN_STATES = ("focused", "checked", "selected", "expanded", "pressed", "modal", "indeterminate", "read-only")
WRAPPERS = frozenset({"generic", "group", "redundant object", "root pane", "glass pane", "widget", "page", "embedded"})
"""Roles that mean nothing by themselves: where they have no name, what is in them stands in their place."""
WITH_TEXT = frozenset({"textbox", "spinbutton", "combobox", "paragraph", "text", "gridcell", "status", "heading"})
"""Roles that may hold a text."""
WITH_NUMBER = frozenset({"slider", "spinbutton", "progressbar", "meter", "scrollbar", "dial"})
"""Roles that may hold a number."""


def role_name(number: int) -> str:
    """AT-SPI's name.

    >>> role_name(43), role_name(999)
    ('push button', 'unknown')
    """
    return ROLES[number] if 0 <= number < len(ROLES) else "unknown"


def aria_role(number: int) -> str:
    """ARIA's name.

    >>> aria_role(43), aria_role(79), aria_role(23), aria_role(16)
    ('button', 'textbox', 'window', 'dialog')
    """
    name = role_name(number)
    return _ARIA.get(name, name)


def state_names(words: list[int]) -> frozenset[str]:
    """AT-SPI's names of the states in a bit set of two words.

    >>> sorted(state_names([1 << 25 | 1 << 12, 0]))
    ['focused', 'showing']
    """
    bits = words[0] | (words[1] << 32 if len(words) > 1 else 0)
    return frozenset(name for number, name in enumerate(STATES) if bits >> number & 1)


def shown_states(states: frozenset[str]) -> list[str]:
    """Those that an agent is told, in ARIA's words.

    >>> shown_states(frozenset({"focused", "enabled", "sensitive"})), shown_states(frozenset({"checkable"}))
    (['focused'], ['disabled'])
    """
    shown = [name for name in _SHOWN_STATES if name in states]
    if not states & {"enabled", "sensitive"}:
        shown.append("disabled")
    if "expandable" in states and "expanded" not in states:
        shown.append("collapsed")
    return shown
