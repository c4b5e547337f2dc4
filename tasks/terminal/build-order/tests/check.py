"""The one order that follows the rule."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


WANTED = "cache clock log disk socket http store app tool bench".split()


def ordered():
    need(read("order.txt").split() == WANTED, "not the order that the rule gives")


grade(ordered)
