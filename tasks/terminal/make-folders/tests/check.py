"""Each part of the layout counts; anything extra spoils it all."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, tree  # noqa: E402


LAYOUT = {"css/": None, "js/": None, "img/": None, "img/icons/": None, "index.html": ""}


def has(name):
    def check():
        found = tree("site")
        need(set(found) <= set(LAYOUT), f"unexpected: {sorted(set(found) - set(LAYOUT))}")
        need(name in found and found[name] == LAYOUT[name], f"{name}: missing or not empty")

    check.__name__ = name
    return check


grade(has("css/"), has("js/"), has("img/icons/"), has("index.html"))
