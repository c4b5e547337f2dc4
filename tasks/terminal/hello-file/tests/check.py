"""hello.txt holds exactly the greeting."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


def greeting():
    same("hello.txt", "Hello, world!\n")


grade(greeting)
