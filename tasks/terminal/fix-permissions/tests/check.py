"""Each entry has exactly its permissions, and each file its content."""

import os
import stat
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, same  # noqa: E402


CONTENTS = {
    "start.sh": "#!/bin/sh\necho up\n",
    "settings.env": "KEY=1\n",
    "public/index.html": "home\n",
    "public/img/dot.txt": "pixel\n",
}


def mode(path, wanted, folder=False):
    def check():
        status = os.lstat(f"/app/deploy/{path}")
        need(stat.S_ISDIR(status.st_mode) if folder else stat.S_ISREG(status.st_mode), f"{path}: another kind of entry")
        need(stat.S_IMODE(status.st_mode) == wanted, f"{path}: {stat.S_IMODE(status.st_mode):o}, not {wanted:o}")
        if not folder:
            same(f"deploy/{path}", CONTENTS[path])

    check.__name__ = path
    return check


grade(
    mode("start.sh", 0o700),
    mode("settings.env", 0o640),
    mode("public", 0o755, folder=True),
    mode("public/img", 0o755, folder=True),
    mode("public/index.html", 0o644),
    mode("public/img/dot.txt", 0o644),
)
