"""Who takes part, and what each needs: an interpreter, a browser, and the page."""

import sys
from pathlib import Path

from evals.perf.entries import Entry, make_entry
from evals.perf.gui.subject import POINT, SIZE, Subject
from evals.perf.process import Program

INSTALL = "python3 -m venv peers && peers/bin/pip install browsergym-core"
_SCRIPTS = Path(__file__).parent / "contestants"

ENTRIES = (
    make_entry("cdp", "Playwright, bare calls of CDP", _SCRIPTS / "cdp.py", "cdp", baseline=True),
    make_entry("claw", "claw-envs browser", _SCRIPTS / "claw.py", "browser", ours=True),
    make_entry("browsergym", "BrowserGym as shipped", _SCRIPTS / "browsergym.py", "shipped"),
    make_entry("browsergym-fast", "BrowserGym, no delays", _SCRIPTS / "browsergym.py", "fast"),
    make_entry("browsergym-parts", "BrowserGym, no delays, chosen parts", _SCRIPTS / "browsergym.py", "parts"),
)


async def programs(entry: Entry, *, python: str, executable: str, subject: Subject) -> list[Program]:
    """How to run `entry`: one way.

    Args:
        executable: path of the browser, the same for everybody.
    """
    settings = {
        "application": str(subject.application),
        "address": subject.address,
        "executable": executable,
        "size": SIZE,
        "point": POINT,
    }
    return [Program(python if entry.peer else sys.executable, entry.script, entry.kind, settings)]
