"""The totals as parsed CSV."""

import csv
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


WANTED = [
    ["name", "total"],
    ["Lima & Sons", "1000.00"],
    ["Okoye Ltd", "250.55"],
    ["Brandt, Ida", "100.00"],
    ['Quote "Q" Inc.', "100.00"],
    ["Zhao Wei", "0.00"],
]


def totals():
    rows = list(csv.reader(read("totals.csv").splitlines(), strict=True))
    need(rows == WANTED, f"rows read: {rows}")


grade(totals)
