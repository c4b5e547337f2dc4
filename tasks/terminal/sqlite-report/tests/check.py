"""Revenue by month, as integers."""

import json
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


WANTED = {"2024-01": 2500, "2024-02": 9799, "2024-04": 4550, "2024-05": -50}


def revenue():
    found = json.loads(read("revenue.json"))
    need(found == WANTED and all(type(value) is int for value in found.values()), f"found {found}")


grade(revenue)
