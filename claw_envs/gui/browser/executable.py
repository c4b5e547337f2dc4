"""Which chromium there is: the one that the user names, Debian's, or Playwright's own.

`chromium-headless-shell` comes first where both are installed: it starts and opens tabs in a third of the time.
Not covered: other browsers than chromium, and one with a window on a display.
"""

import os
import shutil
from pathlib import Path

from claw_envs.core.errors import UserError

VARIABLE = "CLAW_CHROMIUM"
_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PLAYWRIGHTS = ("chromium_headless_shell-*/*/headless_shell", "chromium_headless_shell-*/*/chrome-headless-shell",
                "chromium-*/*/chrome")  # fmt: skip
_FIX = f"`apt install chromium`, or `playwright install chromium`, or set {VARIABLE} to the path of one"


def find_chromium(executable: str | None = None) -> str:
    """The path of a chromium.

    Args:
        executable: a path or a name on the search path; None: `CLAW_CHROMIUM`, else the first that is installed.

    Raises:
        UserError: if there is none.
    """
    named = executable or os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise UserError(f"no program {named!r}: {_FIX}")
        return found
    for name in _NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    for pattern in _PLAYWRIGHTS:
        for path in sorted(_playwright_browsers().glob(pattern), reverse=True):
            return str(path)
    raise UserError(f"no chromium: {_FIX}")


def _playwright_browsers() -> Path:
    """Where `playwright install` puts browsers on Linux."""
    return Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
