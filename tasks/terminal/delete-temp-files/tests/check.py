"""Exactly the temporary files are gone."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, tree  # noqa: E402


KEPT = {
    "a/": None,
    "a/b/": None,
    "a/plan.txt": "plan\n",
    "c d/": None,
    "c d/old file.txt": "keep\n",
    "cache.tmp.d/": None,
    "cache.tmp.d/inner.txt": "inner\n",
    "notes.tmp.md": "notes\n",
    "tmp": "keep\n",
}


def cleaned():
    found = tree("work")
    need(
        found == KEPT,
        f"differs in {sorted(k for k in found.keys() | KEPT.keys() if found.get(k, 0) != KEPT.get(k, 0))}",
    )


grade(cleaned)
