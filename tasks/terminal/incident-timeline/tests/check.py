"""The timeline, exactly."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


WANTED = """2024-03-01T00:59:59Z db checkpoint failed
2024-03-01T10:15:12Z db connection lost
2024-03-01T10:15:12Z web upstream closed
2024-03-01T10:15:13Z app session dropped
2024-03-01T10:15:30Z app job 7 failed: WARN ignored
2024-03-01T10:30:00Z app cache cold
2024-03-01T10:30:00Z db slow commit
2024-03-01T10:30:00Z web queue at 80%
"""


def timeline():
    same("timeline.txt", WANTED)


grade(timeline)
