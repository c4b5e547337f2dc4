"""The script on hidden texts."""

import collections
import re
import sys

sys.path.insert(0, "/tests")
from answers import grade, need, read, run  # noqa: E402


TEXTS = {
    "simple": ("b a a c b a", 2),
    "case_and_signs": ("Don't stop, DON'T stop! 3d x_y\nstop\n\n", 10),
    "ties": ("zeta alpha Zeta beta alpha beta gamma", 3),
    "many": (" ".join(f"w{chr(97 + i % 26)}{chr(97 + i * i % 26)}" for i in range(500)), 7),
}


def ranked(text, limit):
    counts = collections.Counter(re.findall("[a-z]+", text.lower()))
    return "".join(f"{n} {word}\n" for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit])


def case(name):
    def check():
        text, limit = TEXTS[name]
        script = {"wordfreq.sh": read("wordfreq.sh")}
        _, output, _ = run(["/bin/bash", "wordfreq.sh", str(limit)], files=script, stdin=text)
        need(output == ranked(text, limit), f"printed {output!r}")

    check.__name__ = name
    return check


grade(*(case(name) for name in TEXTS))
