"""The ranking, exactly."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


WANTED = ["address,requests", "10.0.4.17,61", "10.0.9.2,44", "172.16.0.8,44"]


def ranking():
    need(read("top.csv").split() == WANTED, "not the three clients in order")


grade(ranking)
