"""The link, and what is left of the plug-ins."""

import os
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


def current():
    need(os.path.islink("/app/current"), "/app/current: not a symbolic link")
    target = os.readlink("/app/current")
    need(os.path.normpath(target) == "releases/1.10.1", f"/app/current points at {target}")
    need(read("releases/1.10.1/VERSION") == "1.10.1\n", "the release was changed")


def plugins():
    need(sorted(os.listdir("/app/plugins")) == ["good", "pinned", "real.txt"], "not the entries that should be left")
    need(read("plugins/real.txt") == "code\n", "real.txt was changed")
    need(os.readlink("/app/plugins/good") == "real.txt", "good was changed")
    need(os.readlink("/app/plugins/pinned") == "../releases/1.2.0/VERSION", "pinned was changed")


grade(current, plugins)
