"""Each letter counts."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, same  # noqa: E402


ROWS = {
    "17": ("Ada Stone", "Stone & Co", "Dock 4/B", "$3.50"),
    "23": ("Ravi Nair", "Nair\\Partners", "Hall [2]", "$0"),
    "31": ("Mia Holt", "{{place}}", "Gate 9", "$12.00"),
}


def letter(key):
    def check():
        name, company, place, fee = ROWS[key]
        body = f"your parcel for {company} waits at {place}.\nPlease bring {fee} in cash, {name}.\n"
        same(f"letters/{key}.txt", f"Dear {name},\n\n{body}")

    check.__name__ = f"letter_{key}"
    return check


grade(*(letter(key) for key in ROWS))
