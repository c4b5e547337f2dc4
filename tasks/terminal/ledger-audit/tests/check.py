"""The entry, and the ledger as it was booked."""

import json
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read  # noqa: E402


import ledger  # noqa: E402


def altered():
    need(read("altered.txt").strip() == str(ledger.ALTERED), "not the altered entry")


def repaired():
    found = [json.loads(line) for line in read("repaired.jsonl").splitlines()]
    wanted = [entry | {"hash": code} for entry, code in zip(ledger.entries(), ledger.chain(ledger.entries()))]
    need(found == wanted, "not the ledger as it was booked")


grade(altered, repaired)
