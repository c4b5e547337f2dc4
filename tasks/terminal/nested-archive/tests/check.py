"""The report of the right day, and no litter."""

import os
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, same  # noqa: E402


def report():
    same("report.txt", "report of 2024-02-29\ntotal 3973\n")


def tidy():
    need(sorted(os.listdir("/app")) == ["backup.tar.gz", "report.txt"], f"/app holds {sorted(os.listdir('/app'))}")


grade(report, tidy)
