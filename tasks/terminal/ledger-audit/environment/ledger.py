"""A ledger whose entries are chained by hashes, with one entry altered after the fact."""

import hashlib
import json
import pathlib
import sys

NAMES = ["mill", "bakery", "harbour", "school", "forge"]
ALTERED = 23


def digest(previous, entry):
    """Hash of an entry that follows the hash `previous`."""
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{previous}|{body}".encode()).hexdigest()


def entries():
    """The entries as they were booked."""
    return [{"no": i, "to": NAMES[i * 7 % 5], "cents": (i * 7919) % 10007 + 100} for i in range(1, 41)]


def tampered():
    """The same with one amount altered."""
    found = entries()
    found[ALTERED - 1] = found[ALTERED - 1] | {"cents": 999999}
    return found


def chain(booked):
    """Hashes of the entries in order."""
    found = ["0" * 64]
    for entry in booked:
        found.append(digest(found[-1], entry))
    return found[1:]


if __name__ == "__main__":
    lines = [json.dumps(entry | {"hash": code}) for entry, code in zip(tampered(), chain(entries()))]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")
