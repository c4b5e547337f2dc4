"""Exactly the first file of each content is left."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, tree  # noqa: E402


KEPT = {
    "B/": None,
    "B/1.txt": "one\n",
    "a/": None,
    "a/2.txt": "two\n",
    "a/empty": "",
    "a/one": "one",
    "with space/": None,
    "with space/last": "last\n",
    "z/": None,
    "z/2.txt": "two \n",
    "z/deep/": None,
    "z/deep/u.txt": "unique\n",
}


def deduplicated():
    found = tree("inbox")
    need(found == KEPT, f"left: {sorted(found)}")


grade(deduplicated)
