"""The merged settings, exactly."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


WANTED = """COLOR=#ff8800
EMPTY=
GREETING=hello = world
HOST=db.internal
LEGACY=2
PORT= 9000 
TOKEN=a=b=c
ZONE=eu # west
_X=1
"""


def merged():
    same("effective.env", WANTED)


grade(merged)
