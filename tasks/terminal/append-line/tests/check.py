"""The old lines, then the new one."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


def appended():
    same("fruits.txt", "apple\nbanana\ncherry\nblueberry\n")


grade(appended)
