"""Programs of the host that making a layer needs: pip, git, interpreters."""

import os
import shutil
from collections.abc import Mapping, Sequence

from claw_envs.core.errors import UserError
from claw_envs.sandbox.process.child import communicate
from claw_envs.sandbox.process.output import Capture

_MOST_SAID = 1 << 20
_NOT_THEIRS = ("PYTHON", "VIRTUAL_ENV", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""What our own process has for itself."""


async def run(argv: Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> tuple[int | None, str]:
    """Run a program in the user's environment.

    Args:
        env: what is added to it.

    Returns:
        Exit code, None where it was stopped by the time-out; and what it printed.

    Raises:
        UserError: if there is no such program.
    """
    if shutil.which(argv[0]) is None:
        raise UserError(f"recipes need `{argv[0]}`: install it")
    said = Capture(_MOST_SAID)
    theirs = {key: value for key, value in os.environ.items() if not key.startswith(_NOT_THEIRS)}
    code = await communicate(list(argv), env=theirs | dict(env or {}), stdin=b"", timeout=timeout, stdout=said.feed)
    return code, said.take()[0]


def last_words(code: int | None, said: str) -> str:
    """Why a program failed, in a line."""
    if code is None:
        return "it ran over its time"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if line.lower().startswith(("error", "fatal"))]
    return (telling or lines or [f"exit code {code}"])[-1]
