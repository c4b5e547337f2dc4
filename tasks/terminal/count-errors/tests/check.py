"""The number of lines of level ERROR."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


def counted():
    need(read("errors.txt").strip() == "22", "not the number of ERROR lines")


grade(counted)
