"""The commit's id, and its files, from a store built anew."""

import pathlib
import tempfile
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read, tree  # noqa: E402


import store  # noqa: E402

COMMITS = store.build(pathlib.Path(tempfile.mkdtemp()))


def commit():
    need(read("commit.txt").strip() == COMMITS[1], "not the id of the commit before the newest")


def files():
    found = {path: text for path, text in tree("restored").items() if text is not None}
    need(found == store.SECOND, f"restored: {sorted(found)}")


grade(commit, files)
