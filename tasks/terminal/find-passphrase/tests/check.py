"""The hidden words."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


def found():
    need(read("answer.txt").strip() == "copper lantern seventeen", "not the passphrase")


grade(found)
