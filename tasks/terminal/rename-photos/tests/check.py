"""Every photograph has its new name and its old content."""

import sys

sys.path.insert(0, "/tests")
from answers import grade, need, tree  # noqa: E402


WANTED = {
    "cat.jpg": "1\n",
    "two words.jpg": "2\n",
    "summer trip/": None,
    "summer trip/day 1.jpg": "3\n",
    "2023/": None,
    "2023/raw/": None,
    "2023/raw/x.jpg": "4\n",
    "2023/y.jpg": "5\n",
    "readme.jpeg.txt": "6\n",
    "2023/archive.jpeg.jpg": "7\n",
    "jpeg": "8\n",
}


def renamed():
    found = tree("photos")
    need(found == WANTED, f"names now: {sorted(found)}")


grade(renamed)
